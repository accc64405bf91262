"""The twelve questions of growth.tsv that databases without OverpassQL can answer, in their languages.

SQL returns the id and what the query's `out` prints: tags, and the geometry where it prints that. `osmium` is a list of
steps on the extract, each a command's arguments that reads the step before; its output is counted.
"""

WEST, SOUTH, EAST, NORTH = 7.415, 43.735, 7.425, 43.742
BOX = f"{WEST},{SOUTH},{EAST},{NORTH}"
RING = "7.415 43.735, 7.415 43.742, 7.425 43.740, 7.425 43.735, 7.415 43.735"
FRAME = f"{WEST} {SOUTH}, {EAST} {SOUTH}, {EAST} {NORTH}, {WEST} {NORTH}, {WEST} {SOUTH}"
DUCKDB_BOX = f"ST_Intersects(geom, ST_GeomFromText('POLYGON(({FRAME}))'))"
POSTGIS_BOX = f"ST_Intersects(geom, ST_MakeEnvelope({BOX}, 4326))"
EXTRACT = ["extract", "-b", BOX, "-s", "simple", "{}"]
UNTAGGED = "osm2pgsql hands over tagged nodes only"
GEODESK_UNTAGGED = "a GOL has no untagged nodes, unless built with ids of way nodes"


def tags(*steps):
    return [EXTRACT, *(["tags-filter", "-R", *step] for step in steps)]


RELATIONS = (" UNION ALL SELECT id, tags::VARCHAR{more} FROM relation WHERE {where} AND id IN (SELECT relation FROM "
             "(SELECT id AS relation, unnest(refs) AS ref, unnest(ref_types) AS kind FROM relation WHERE {where}) m WHERE "
             f"(kind = 'node' AND ref IN (SELECT id FROM node WHERE {DUCKDB_BOX})) OR "
             f"(kind = 'way' AND ref IN (SELECT id FROM way WHERE {DUCKDB_BOX})))")


def both(columns, types, where, box):
    """One type after the other, in SQL."""
    return " UNION ALL ".join(f"SELECT id, {columns} FROM {kind} WHERE {where} AND {box}" for kind in types)


QUESTIONS = {
    "nodes of a box": {
        "duckdb": f"SELECT id, tags::VARCHAR, ST_AsText(geom) FROM node WHERE {DUCKDB_BOX}",
        "postgis": {"cannot": UNTAGGED},
        "osmium": [EXTRACT, ["cat", "-t", "node", "{}"]],
        "geodesk": {"cannot": GEODESK_UNTAGGED},
    },
    "tag in a box": {
        "duckdb": both("tags::VARCHAR, ST_AsText(ST_Centroid(geom))", ["node", "way"], "tags['amenity'] = 'cafe'", DUCKDB_BOX)
                  + RELATIONS.replace("{more}", ", NULL").replace("{where}", "tags['amenity'] = 'cafe'"),
        "postgis": both("tags, ST_AsText(ST_Centroid(geom))", ["nodes", "ways", "relations"],
                        """tags @> '{"amenity": "cafe"}'""", POSTGIS_BOX),
        "osmium": tags(["{}", "amenity=cafe"]),
        "geodesk": {"goql": "*[amenity=cafe]", "box": [WEST, SOUTH, EAST, NORTH]},
    },
    "frequent key in a box": {
        "duckdb": f"SELECT id, tags::VARCHAR, ST_AsText(geom) FROM way WHERE tags['building'] IS NOT NULL AND {DUCKDB_BOX}",
        "postgis": f"SELECT id, tags, ST_AsText(geom) FROM ways WHERE tags ? 'building' AND {POSTGIS_BOX}",
        "osmium": tags(["{}", "w/building"]),
        "geodesk": {"goql": "w[building],a[building]", "box": [WEST, SOUTH, EAST, NORTH]},
    },
    "frequent key in a box, counted": {
        "duckdb": f"SELECT count(*) FROM way WHERE tags['building'] IS NOT NULL AND {DUCKDB_BOX}",
        "postgis": f"SELECT count(*) FROM ways WHERE tags ? 'building' AND {POSTGIS_BOX}",
        "osmium": tags(["{}", "w/building"]),
        "geodesk": {"goql": "w[building],a[building]", "box": [WEST, SOUTH, EAST, NORTH]},
    },
    "frequent value in a box": {
        "duckdb": f"SELECT id FROM way WHERE tags['highway'] = 'residential' AND {DUCKDB_BOX}",
        "postgis": f"""SELECT id FROM ways WHERE tags @> '{{"highway": "residential"}}' AND {POSTGIS_BOX}""",
        "osmium": tags(["{}", "w/highway=residential"]),
        "geodesk": {"goql": "w[highway=residential],a[highway=residential]", "box": [WEST, SOUTH, EAST, NORTH]},
    },
    "expression in a box": {
        "duckdb": both("tags::VARCHAR", ["node", "way"], "regexp_matches(tags['name'], 'e$')", DUCKDB_BOX)
                  + RELATIONS.replace("{more}", "").replace("{where}", "regexp_matches(tags['name'], 'e$')"),
        "postgis": both("tags", ["nodes", "ways", "relations"], "tags->>'name' ~ 'e$'", POSTGIS_BOX),
        "osmium": {"cannot": "tags-filter has no regular expressions"},
        "geodesk": {"goql": "*[name=*e]", "box": [WEST, SOUTH, EAST, NORTH]},
    },
    "what a box lacks": {
        "duckdb": f"SELECT id FROM way WHERE tags['building'] IS NOT NULL AND tags['building'] != 'yes' "
                  f"AND tags['name'] IS NULL AND {DUCKDB_BOX}",
        "postgis": f"SELECT id FROM ways WHERE tags ? 'building' AND tags->>'building' != 'yes' AND NOT tags ? 'name' "
                   f"AND {POSTGIS_BOX}",
        "osmium": tags(["{}", "w/building!=yes"], ["-i", "{}", "w/name"]),
        "geodesk": {"goql": "w[building][building!=yes][!name],a[building][building!=yes][!name]",
                    "box": [WEST, SOUTH, EAST, NORTH]},
    },
    "node by id": {
        "duckdb": "SELECT id, tags::VARCHAR, ST_AsText(geom) FROM node WHERE id = 1306034043",
        "postgis": "SELECT id, tags, ST_AsText(geom) FROM nodes WHERE id = 1306034043",
        "osmium": [["getid", "{}", "n1306034043"]],
        "geodesk": {"cannot": "a GOL has no index of ids"},
    },
    "ways of a node": {
        "duckdb": "SELECT id, tags::VARCHAR, refs FROM way WHERE id IN (SELECT way FROM way_node WHERE node = 21912099)",
        "postgis": "SELECT id, tags, nodes FROM ways WHERE nodes @> ARRAY[21912099::int8]",
        "osmium": [["getparents", "{}", "n21912099"], ["cat", "-t", "way", "{}"]],
        "geodesk": {"cannot": "a GOL has no index of ids"},
    },
    "tag in an area by id": {
        "duckdb": "SELECT id, tags::VARCHAR, ST_AsText(geom) FROM node WHERE tags['amenity'] IS NOT NULL AND ST_Intersects(geom, "
                  "(SELECT ST_BuildArea(ST_Collect(list(w.geom))) FROM (SELECT unnest(refs) AS id FROM relation WHERE id = 36990) m "
                  "JOIN way w ON w.id = m.id))",
        "postgis": "SELECT n.id, n.tags, ST_AsText(n.geom) FROM nodes n JOIN areas a ON ST_Intersects(n.geom, a.geom) "
                   "WHERE a.id = 36990 AND n.tags ? 'amenity'",
        "osmium": {"cannot": "needs the border as a file first"},
        "geodesk": {"cannot": "a GOL has no index of ids"},
    },
    "around a place": {
        "duckdb": "SELECT id, tags::VARCHAR, ST_AsText(geom) FROM node WHERE tags['name'] IS NOT NULL "
                  "AND ST_Intersects(geom, ST_MakeEnvelope(7.4145, 43.7345, 7.4265, 43.7425)) "
                  "AND ST_Distance_Sphere(ST_FlipCoordinates(geom), ST_Point(43.7385, 7.4205)) <= 300",
        "postgis": "SELECT id, tags, ST_AsText(geom) FROM nodes WHERE tags ? 'name' "
                   "AND geom && ST_MakeEnvelope(7.4145, 43.7345, 7.4265, 43.7425, 4326) "
                   "AND ST_DistanceSphere(geom, ST_SetSRID(ST_MakePoint(7.4205, 43.7385), 4326)) <= 300",
        "osmium": {"cannot": "has no distances"},
        "geodesk": {"goql": "n[name]", "around": [43.7385, 7.4205, 300]},
    },
    "polygon": {
        "duckdb": f"SELECT id FROM way WHERE tags['highway'] IS NOT NULL AND ST_Intersects(geom, ST_GeomFromText('POLYGON(({RING}))'))",
        "postgis": f"SELECT id FROM ways WHERE tags ? 'highway' AND ST_Intersects(geom, ST_GeomFromText('POLYGON(({RING}))', 4326))",
        "osmium": {"cannot": "needs the polygon as a file"},
        "geodesk": {"cannot": "the package takes a polygon as a Shapely object, which is not timed here"},
    },
}
