"""DuckDB with its spatial extension: `duckdb_worker.py DATABASE [EXTRACT]`.

With an extract, loads it into a new database and ends. Otherwise answers lines of JSON: {"sql": ...} gives {"count": rows}.
"""

import importlib.util
import json
import sys
from pathlib import Path

import duckdb

TABLES = """
CREATE TABLE osm AS SELECT * FROM ST_ReadOSM('{extract}');
CREATE TABLE node AS SELECT id, tags, ST_Point(lon, lat) AS geom FROM osm WHERE kind = 'node';
CREATE TABLE way_node AS SELECT id AS way, unnest(refs) AS node, generate_subscripts(refs, 1) AS position
    FROM osm WHERE kind = 'way';
CREATE TABLE way AS SELECT w.id, w.tags, w.refs, g.geom FROM osm w LEFT JOIN (
    SELECT way, ST_MakeLine(list(geom ORDER BY position)) AS geom FROM way_node JOIN node ON node.id = way_node.node
    GROUP BY way HAVING count(*) > 1) g ON g.way = w.id WHERE w.kind = 'way';
CREATE TABLE relation AS SELECT id, tags, refs, ref_types, ref_roles FROM osm WHERE kind = 'relation';
DROP TABLE osm;
CREATE INDEX node_geom ON node USING RTREE (geom);
CREATE INDEX way_geom ON way USING RTREE (geom);
CREATE INDEX node_id ON node (id);
CREATE INDEX way_id ON way (id);
CREATE INDEX relation_id ON relation (id);
CREATE INDEX way_node_node ON way_node (node);
CHECKPOINT;
"""


def connect(path):
    connection = duckdb.connect(path)
    package = Path(list(importlib.util.find_spec("duckdb_extension_spatial").submodule_search_locations)[0])
    [extension] = package.rglob("spatial.duckdb_extension")
    connection.execute(f"LOAD '{extension}'")
    return connection


def main():
    connection = connect(sys.argv[1])
    if len(sys.argv) > 2:
        for statement in TABLES.format(extract=sys.argv[2]).split(";"):
            connection.execute(statement)
        return
    print(json.dumps({"threads": connection.execute("SELECT current_setting('threads')").fetchone()[0]}), flush=True)
    for line in sys.stdin:
        try:
            found = connection.execute(json.loads(line)["sql"]).fetchall()
            print(json.dumps({"count": len(found), "value": found[0][0] if len(found) == 1 else None}, default=str), flush=True)
        except duckdb.Error as error:
            print(json.dumps({"error": str(error).splitlines()[0]}), flush=True)


if __name__ == "__main__":
    main()
