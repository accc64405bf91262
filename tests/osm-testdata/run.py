#!/usr/bin/env python3
"""The areas of osm-testdata's grid (https://github.com/osmcode/osm-testdata), from SPARQL and as GeoJSON.

    tests/osm-testdata/run.py CHECKOUT

CHECKOUT is a checkout of osm-testdata. TERRAPIN is the program (else the release build). An area passes if it is what any of
the test's variants expects; INVALID expects no polygon. A test of an old multipolygon, whose tags are on its ways, may have
the way's id. Exit status 77: what is needed is not here; the last line says what.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
from tools import programs, skip  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = os.environ.get("TERRAPIN", str(TARGET / "release" / "terrapin"))


def python():
    """A Python that has shapely."""
    return programs("osm-testdata", "shapely", "shapely==2.2.0") / "python"


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}: {done.stderr}")
    return done.stdout


def geometries(snapshot):
    """Of each way and relation, by the form that they are asked for in."""
    import shapely
    from shapely.geometry import shape

    query = "SELECT ?e ?wkt { VALUES ?type { osm:way osm:relation } ?e a ?type ; geo:hasGeometry/geo:asWKT ?wkt }"
    rows = json.loads(run("query", snapshot, query, "--lang", "sparql", "--format", "json"))["results"]["bindings"]
    name = lambda iri: re.search(r"(way|relation)/(\d+)$", iri).group(0)
    sparql = {name(row["e"]["value"]): shapely.from_wkt(row["wkt"]["value"]) for row in rows}
    answer = json.loads(run("query", snapshot, "nwr(0,0,90,180);out geom;", "--format", "geojson"))
    # Only tags that tell areas from lines make an area in GeoJSON; those of the grid's closed ways do not always.
    geojson = {feature["id"]: shape(feature["geometry"]) for feature in answer["features"]}
    return {"SPARQL": sparql, "GeoJSON": geojson}


def is_area(geometry):
    return geometry is not None and geometry.geom_type in ("Polygon", "MultiPolygon")


def main(checkout):
    import shapely

    tests = json.loads((checkout / "grid/data/tests.json").read_text())
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        snapshot = str(Path(folder) / "grid.terrapin")
        run("load", "--osm", str(checkout / "grid/data/all.osm"), "--out", snapshot)
        for form, found in geometries(snapshot).items():
            passed, checked = 0, 0
            for test in tests:
                variants = {k: v for k, v in test.get("areas", {}).items() if isinstance(v, list)}
                names = sorted({f"{a['from_type']}/{a['from_id']}" for areas in variants.values() for a in areas})
                for name in names:
                    expected = [a["wkt"] for areas in variants.values() for a in areas
                                if f"{a['from_type']}/{a['from_id']}" == name]
                    one = found.get(name)
                    others = [g for other, g in found.items() if other.startswith(f"way/{test['test_id']}8") and is_area(g)]
                    ok = lambda g, wkt: (
                        not is_area(g) if wkt == "INVALID"
                        else is_area(g) and g.is_valid and g.normalize().equals(shapely.from_wkt(wkt).normalize()))
                    checked += 1
                    if any(ok(one, wkt) for wkt in expected) or (
                            one is None and any(ok(g, wkt) for g in others for wkt in expected if wkt != "INVALID")):
                        passed += 1
                    else:
                        print(f"{form}: {name}: {test['description']}: {one}")
            print(f"{form}: {passed} of {checked} areas as expected")
            failed += checked - passed
            invalid = [name for name, g in found.items() if is_area(g) and not g.is_valid]
            if invalid:
                print(f"{form}: invalid: {' '.join(invalid)}")
                failed += len(invalid)
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1], "grid/data/tests.json").is_file():
        skip("osm-testdata: name a checkout of github.com/osmcode/osm-testdata")
    try:
        import shapely  # noqa: F401
    except ImportError:
        sys.exit(subprocess.call([str(python()), __file__, *sys.argv[1:]]))
    sys.exit(main(Path(sys.argv[1])))
