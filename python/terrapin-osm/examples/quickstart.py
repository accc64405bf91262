"""The examples of the README on any extract: `python quickstart.py extract.osm.pbf out.terrapin`."""

import sys

from terrapin_osm import QueryError, Snapshot


def main(extract: str, out: str) -> None:
    snapshot = Snapshot.load(osm=extract, out=out)
    cafes = snapshot.overpass("[out:json];node[amenity=cafe];out;")
    print(len(cafes), "cafes, the first:", next(iter(cafes), None))
    print(len(cafes.to_geojson()["features"]), "features;", cafes.to_arrow())
    try:
        snapshot.overpass("node[amenity=cafe]out;")
    except QueryError as error:
        print(f"{error.code} in line {error.line}, column {error.column}:\n{error}")
    print(snapshot.feedback("[out:json];node[amenty=cafe];out;")["text"])
    record = snapshot.score("node[amenity=cafe];out;", 'node["amenity"="cafe"];out;')
    print({metric: record[metric] for metric in ("ex", "ex_soft", "f1", "oqs")})


if __name__ == "__main__":
    main(*sys.argv[1:])
