"""Answers as tables of other libraries: `python tables.py snapshot.terrapin`. Requires duckdb and polars."""

import sys

import duckdb
import polars

from terrapin_osm import Snapshot


def main(path: str) -> None:
    snapshot = Snapshot.open(path)
    streets = snapshot.overpass("way[highway];out meta geom;").to_arrow()
    frame = polars.DataFrame(streets)
    print(frame.select(polars.col("nodes").list.len().sum()))
    kinds = "select tags['highway'] as kind, count(*) from streets group by kind order by 2 desc limit 3"
    print(duckdb.execute(kinds).fetchall())


if __name__ == "__main__":
    main(*sys.argv[1:])
