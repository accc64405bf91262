#!/usr/bin/env python3
"""What `terrapin export --geoparquet` writes, read by DuckDB, GeoPandas and SedonaDB, and asked in SQL what OverpassQL and the API
for tags are asked.

    tests/geoparquet/run.py EXTRACT

EXTRACT is one of Malta. TERRAPIN is the program (else the release build). Exit status 77: what is needed is not here; the
last line says what.
"""

import json
import os
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
from tools import programs, skip  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = os.environ.get("TERRAPIN", str(TARGET / "release" / "terrapin"))

BOX = (35.885, 14.49, 35.905, 14.52)  # south, west, north, east, in degrees
SOUTH_WEST_NORTH_EAST = ",".join(map(str, BOX))
ENVELOPE = "POLYGON(({1} {0}, {3} {0}, {3} {2}, {1} {2}, {1} {0}))".format(*BOX)
TRIANGLE = [(35.885, 14.49), (35.905, 14.505), (35.885, 14.52)]
BORDER = "POLYGON((" + ", ".join(f"{lon} {lat}" for lat, lon in [*TRIANGLE, TRIANGLE[0]]) + "))"
IN_ORDER = " ".join(f"{lat} {lon}" for lat, lon in TRIANGLE)
NEAR = "bbox.xmin <= {3} AND bbox.xmax >= {1} AND bbox.ymin <= {2} AND bbox.ymax >= {0}".format(*BOX)

# A name, a type, OverpassQL, and the condition that SQL has for it. A closed way is a polygon here and a line to OverpassQL.
SAME = [
    ("a tag in a box", "node", f"node[amenity=cafe]({SOUTH_WEST_NORTH_EAST});",
     f"tags['amenity'] = 'cafe' AND {NEAR} AND ST_Intersects(g, ST_GeomFromText('{ENVELOPE}'))"),
    ("a key in a box", "way", f"way[building]({SOUTH_WEST_NORTH_EAST});",
     f"tags['building'] IS NOT NULL AND {NEAR} AND ST_Intersects({{line}}, ST_GeomFromText('{ENVELOPE}'))"),
    ("a polygon", "way", f'way[highway](poly:"{IN_ORDER}");',
     f"tags['highway'] IS NOT NULL AND {NEAR} AND ST_Intersects({{line}}, ST_GeomFromText('{BORDER}'))"),
    ("an expression", "node", 'node[name~"[aeiou]$"];', "regexp_matches(tags['name'], '[aeiou]$')"),
    ("an area", "node", 'area[name="Valletta"][admin_level]->.a; node[amenity](area.a);',
     # One node is right on the border, where arithmetic in degrees cannot tell.
     "tags['amenity'] IS NOT NULL AND ST_DWithin(g, (SELECT ST_GeomFromWKB(geometry) FROM relation"
     " WHERE tags['name'] = 'Valletta' AND tags['admin_level'] IS NOT NULL), 0.0000001)"),
    ("ways of nodes", "way", "node[highway=crossing]; way(bn);",
     "len(list_intersect(nodes, (SELECT list(id) FROM node WHERE tags['highway'] = 'crossing'))) > 0"),
    ("members of relations", "way", "rel[route]; way(r);",
     "id IN (SELECT m.ref FROM (SELECT unnest(members) AS m FROM relation WHERE tags['route'] IS NOT NULL) WHERE m.type = 'way')"),
]


# A name, what SPARQL asks of the first, how they lie to each other, what it asks of the second, and what SQL asks of both.
JOINS = [
    ("shops in any area", "?a osm2rdf:area ?m .", "Contains", "?b osmkey:shop ?s .",
     "a.is_area", "b.tags['shop'] IS NOT NULL"),
    ("parks and footways", "?a osmkey:leisure 'park' .", "Intersects", "?b osmkey:highway 'footway' .",
     "a.tags['leisure'] = 'park'", "b.tags['highway'] = 'footway'"),
    ("municipalities and their neighbours", "?a osmkey:admin_level 8 .", "Touches", "?b osmkey:admin_level 8 .",
     "a.tags['admin_level'] = '8'", "b.tags['admin_level'] = '8'"),
    ("farmland and meadows", "?a osmkey:landuse 'farmland' .", "Overlaps", "?b osmkey:landuse 'meadow' .",
     "a.tags['landuse'] = 'farmland'", "b.tags['landuse'] = 'meadow'"),
    ("footways through buildings", "?a osmkey:highway 'footway' .", "Crosses", "?b osmkey:building ?s .",
     "a.tags['highway'] = 'footway'", "b.tags['building'] IS NOT NULL"),
]


def python():
    """A Python that has the readers."""
    return programs("geoparquet", "the readers", requirements=HERE / "requirements.txt") / "python"


def terrapin(*args):
    return subprocess.run([PROGRAM, *map(str, args)], check=True, text=True, stdout=subprocess.PIPE).stdout


def ids(snapshot, query):
    """What OverpassQL finds."""
    return {int(line) for line in terrapin("query", snapshot, f"[out:csv(::id;false)];{query}out ids;").split()}


def database(folder, counts):
    """DuckDB with a view of each type."""
    import duckdb
    import duckdb_extension_spatial

    [extension] = Path(duckdb_extension_spatial.__file__).parent.rglob("spatial.duckdb_extension")
    db = duckdb.connect(config={"allow_unsigned_extensions": True})
    db.load_extension(str(extension))
    for kind in counts:
        db.execute(f"CREATE VIEW {kind} AS SELECT * FROM read_parquet('{folder}/type={kind}/*.parquet')")
    return db


def duckdb_reads(db, snapshot, counts):
    for kind, count in counts.items():
        [[rows, different]] = db.execute(f"SELECT count(*), count(DISTINCT id) FROM {kind}").fetchall()
        assert rows == different == count, (kind, rows, different, count)
    # DuckDB makes its own type of a column that the file calls geometry.
    geometry = "geometry" if "GEOMETRY" in str(db.execute("DESCRIBE node").fetchall()) else "ST_GeomFromWKB(geometry)"
    line = "CASE WHEN ST_GeometryType(g) = 'POLYGON' THEN ST_Boundary(g) ELSE g END"
    for name, kind, query, condition in SAME:
        condition = condition.replace("{line}", line).replace("ST_GeomFromWKB(geometry)", geometry)
        found = db.execute(f"SELECT id FROM (SELECT *, {geometry} AS g FROM {kind}) WHERE {condition}").fetchall()
        found, expected = {id for (id,) in found}, ids(snapshot, query)
        assert expected, f"{name}: nothing to compare"
        assert found == expected, (name, sorted(found ^ expected)[:10], len(found), len(expected))
        print(f"DuckDB: {name}: {len(found)} as in OverpassQL")


def joins(db, snapshot):
    """How elements lie to each other: pairs in SPARQL, and in a spatial join of what is exported."""
    # DuckDB makes its own type of a column that the file calls geometry.
    geometry = "geometry" if "GEOMETRY" in str(db.execute("DESCRIBE node").fetchall()) else "ST_GeomFromWKB(geometry)"
    each = " UNION ALL ".join(f"SELECT '{kind}/' || id AS e, tags, {geometry} AS g FROM {kind} WHERE tags IS NOT NULL"
                              for kind in ("node", "way", "relation"))
    db.execute(f"CREATE TABLE place AS SELECT *, ST_GeometryType(g) IN ('POLYGON', 'MULTIPOLYGON') AS is_area FROM ({each})"
               " WHERE g IS NOT NULL AND NOT ST_IsEmpty(g) AND ST_GeometryType(g) <> 'GEOMETRYCOLLECTION' AND ST_IsValid(g)"
               # A closed way is an area in SPARQL whatever its tags, as osm2rdf has it.
               " AND CASE WHEN ST_GeometryType(g) = 'LINESTRING' THEN NOT ST_IsClosed(g) ELSE true END")
    # A relation that the extract has a part of is none there.
    whole = terrapin("query", snapshot, "--lang", "sparql", "--format", "csv",
                     "SELECT ?r { ?r a osm:relation; geo:hasGeometry ?g }").split()[1:]
    db.execute("DELETE FROM place WHERE e LIKE 'relation/%' AND e NOT IN (SELECT unnest(?))",
               [[relation.replace("https://www.openstreetmap.org/", "") for relation in whole]])
    valid = {e for (e,) in db.execute("SELECT e FROM place").fetchall()}
    for name, first, how, second, a, b in JOINS:
        query = f"SELECT ?a ?b {{ {first} ?a ogc:sf{how} ?b . {second} }}"
        rows = terrapin("query", snapshot, "--lang", "sparql", "--format", "csv", query).split()[1:]
        found = {tuple(row.replace("https://www.openstreetmap.org/", "").split(",")) for row in rows}
        found = {pair for pair in found if set(pair) <= valid}
        join = f"SELECT a.e, b.e FROM place a JOIN place b ON ST_{how}(a.g, b.g) WHERE a.e <> b.e AND {a} AND {b}"
        expected = set(db.execute(join).fetchall())
        assert expected, f"{name}: nothing to compare"
        assert found == expected, (name, sorted(found ^ expected)[:10], len(found), len(expected))
        print(f"DuckDB: {name}: {len(found)} pairs as in SPARQL")


def tags_are_counted(db, snapshot):
    """The API for tags counts what SQL does."""
    serve = [PROGRAM, "serve", snapshot, "--bind", "127.0.0.1:0", "--json"]
    server = subprocess.Popen(list(map(str, serve)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = json.loads(server.stdout.readline())["url"].rstrip("/")

        def ask(path, **query):
            with urllib.request.urlopen(f"{url}/api/4/{path}?{urllib.parse.urlencode(query)}") as answer:
                return json.load(answer)["data"]

        kinds = ("node", "way", "relation")
        rows = " UNION ALL ".join(f"SELECT '{kind}' AS kind, tags FROM {kind}" for kind in kinds)
        db.execute(f"CREATE TABLE element AS SELECT row_number() OVER () AS n, * FROM ({rows})")
        db.execute("CREATE TABLE tag AS SELECT n, kind, e.key, e.value FROM (SELECT n, kind, unnest(map_entries(tags)) AS e"
                   " FROM element WHERE tags IS NOT NULL)")
        each = ", ".join(f"count(*) FILTER (kind = '{kind}')" for kind in kinds)
        fields = ("key", "count_all", "count_nodes", "count_ways", "count_relations", "values_all")
        expected = set(db.execute(f"SELECT key, count(*), {each}, count(DISTINCT value) FROM tag GROUP BY key").fetchall())
        found = {tuple(row[field] for field in fields) for row in ask("keys/all")}
        assert found == expected, sorted(found ^ expected)[:10]
        keys = [key for (key,) in db.execute("SELECT key FROM tag GROUP BY key ORDER BY count(*) DESC, key").fetchall()]
        values = together = 0
        for key in keys[:40] + keys[40::25]:
            expected = set(db.execute("SELECT value, count(*) FROM tag WHERE key = ? GROUP BY value", [key]).fetchall())
            found = {(row["value"], row["count"]) for row in ask("key/values", key=key)}
            assert found == expected, (key, sorted(found ^ expected)[:10])
            values += len(found)
            others = db.execute("SELECT o.key, count(*) FROM tag t JOIN tag o ON o.n = t.n AND o.key <> t.key"
                                " WHERE t.key = ? GROUP BY o.key", [key]).fetchall()
            found = {(row["other_key"], row["together_count"]) for row in ask("key/combinations", key=key)}
            assert found == set(others), (key, sorted(found ^ set(others))[:10])
            together += len(found)
        print(f"DuckDB: {len(keys)} keys, {values} values and {together} keys together counted as the API for tags does")
    finally:
        server.terminate()


def geopandas_reads(folder, counts):
    import geopandas

    south, west, north, east = BOX
    for kind, count in counts.items():
        [file] = (Path(folder) / f"type={kind}").iterdir()
        table = geopandas.read_parquet(file)
        assert len(table) == count and table.crs.to_epsg() in (4326, None) and table.crs.is_geographic, table.crs
        wrong = table[~(table.geometry.is_valid | table.geometry.isna())]
        part = geopandas.read_parquet(file, bbox=(west, south, east, north))
        # What the boxes of rows select is what their geometries say.
        bounds = table.bounds
        inside = (bounds.minx <= east) & (bounds.maxx >= west) & (bounds.miny <= north) & (bounds.maxy >= south)
        assert 0 < len(part) < count and set(part.id) == set(table.id[inside])
        print(f"GeoPandas: {count} of type {kind}, {len(part)} in a box, {table.geometry.isna().sum()} without geometry,"
              f" {len(wrong)} that cross themselves")


def sedona_reads(folder, snapshot, counts):
    import sedonadb

    sedona = sedonadb.connect()
    for kind, count in counts.items():
        sedona.read_parquet(f"{folder}/type={kind}/part-00000.parquet").to_view(kind)
        [rows] = sedona.sql(f"SELECT count(*) AS n FROM {kind}").to_pandas().n
        assert rows == count, (kind, rows, count)
    condition = f"ST_Intersects(geometry, ST_SetSRID(ST_GeomFromText('{ENVELOPE}'), 4326))"
    found = set(sedona.sql(f"SELECT id FROM node WHERE {condition}").to_pandas().id)
    expected = ids(snapshot, f"node({SOUTH_WEST_NORTH_EAST});")
    assert found == expected, sorted(found ^ expected)[:10]
    print(f"SedonaDB: nodes in a box: {len(found)} as in OverpassQL")


def main():
    extract = Path(sys.argv[1])
    if not extract.exists():
        skip(f"no {extract}")
    interpreter = python()
    if Path(sys.prefix) != interpreter.parent.parent:
        os.execv(interpreter, [interpreter, __file__, *sys.argv[1:]])
    with tempfile.TemporaryDirectory() as folder:
        snapshot, out = Path(folder) / "s.terrapin", Path(folder) / "parquet"
        terrapin("load", "--osm", extract, "--out", snapshot)
        written = json.loads(terrapin("export", snapshot, "--geoparquet", out, "--json"))
        counts = {kind: written[f"{kind}s"] for kind in ("node", "way", "relation")}
        db = database(out, counts)
        duckdb_reads(db, snapshot, counts)
        joins(db, snapshot)
        tags_are_counted(db, snapshot)
        geopandas_reads(out, counts)
        sedona_reads(out, snapshot, counts)
    print("ok")


main()
