#!/usr/bin/env python3
"""The XML tests of JTS (https://github.com/locationtech/jts) as calls of GeoSPARQL's functions.

    tests/jts/run.py CHECKOUT

CHECKOUT is a checkout of JTS. TERRAPIN is the program (else the release build). Asked are `relate`, the eight predicates of simple
features, the four set operations of two geometries, `convexHull`, `getboundary` and `getCentroid`; not those with a fixed
precision, of one argument, or without an expected geometry. Geometries are compared as point sets, to 10^-6. Fails where fewer
than 99.5 % are as expected. SHOW=n prints the first n others. Exit status 77: what is needed is not here; the last line says
what.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
from tools import programs, skip  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = os.environ.get("TERRAPIN", str(TARGET / "release" / "terrapin"))
TESTS = "modules/tests/src/test/resources/testxml"
ENOUGH = 0.995
BATCH = 100

PREDICATES = {name.lower(): f"sf{name}" for name in
              ["Contains", "Crosses", "Disjoint", "Equals", "Intersects", "Overlaps", "Touches", "Within"]}
PREDICATES["equalstopo"] = "sfEquals"
OVERLAYS = {f"{name.lower()}{suffix}": name for name in ["difference", "intersection", "symDifference", "union"]
            for suffix in ("", "ng")}
OF_ONE = {"convexhull": "convexHull", "getboundary": "boundary", "getcentroid": "centroid"}


def python():
    """A Python that has shapely."""
    return programs("jts", "shapely", "shapely==2.2.0") / "python"


def geometry(text):
    """Well-known text, of well-known binary as well."""
    import shapely

    text = " ".join((text or "").split())
    if re.fullmatch("[0-9A-Fa-f ]+", text):
        return shapely.to_wkt(shapely.from_wkb(bytes.fromhex(text.replace(" ", ""))), rounding_precision=-1)
    return text or None


def operations(folder):
    """File, function, arguments and expected text of each operation that is asked."""
    for path in sorted(folder.rglob("*.xml")):
        if path.parent.name == "failure":
            continue
        root = ElementTree.parse(path).getroot()
        precision = root.find("precisionModel")
        if precision is not None and (precision.get("type") == "FIXED" or precision.get("scale")):
            continue
        for case in root.findall("case"):
            given = {"a": geometry(case.findtext("a")), "b": geometry(case.findtext("b"))}
            for op in case.iter("op"):
                name, expected = op.get("name").lower(), " ".join((op.text or "").split())
                function = {"relate": "relate", **PREDICATES, **OVERLAYS, **OF_ONE}.get(name)
                if not function or not expected or (name == "union" and not op.get("arg2")):
                    continue
                names = [op.get("arg1") or "A"] + ([] if name in OF_ONE else [op.get("arg2") or "B"])
                arguments = [given.get(argument.lower()) for argument in names]
                if None in arguments:
                    continue
                if name == "relate":
                    arguments.append(op.get("arg3") or "")
                yield f"{path.parent.name}/{path.name}", function, arguments, expected


def asked(snapshot, some):
    """What the functions give."""
    terms = lambda function, arguments: ", ".join(
        json.dumps(text) + ("" if function == "relate" and at == 2 else "^^geo:wktLiteral") for at, text in enumerate(arguments))
    columns = [f"(geof:{function}({terms(function, arguments)}) AS ?v{at})" for at, (_, function, arguments, _) in enumerate(some)]
    query = f"SELECT {' '.join(columns)} {{}}"
    with tempfile.NamedTemporaryFile("w", suffix=".rq") as file:
        file.write(query)
        file.flush()
        done = subprocess.run([PROGRAM, "query", snapshot, "--lang", "sparql", "--file", file.name, "--format", "json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    row = json.loads(done.stdout)["results"]["bindings"][0]
    return [row.get(f"v{at}", {}).get("value") for at in range(len(some))]


def is_same(function, expected, got):
    import shapely

    if got is None:
        return False
    if function == "relate" or function.startswith("sf"):
        return expected.lower() == got.lower()
    expected, got = shapely.from_wkt(geometry(expected)), shapely.from_wkt(got)
    if expected.is_empty or got.is_empty:
        return expected.is_empty and got.is_empty
    expected, got = (shapely.normalize(shapely.make_valid(g)) for g in (expected, got))
    kind = lambda g: g.geom_type.replace("Multi", "")
    far = 1e-6 * max(1, *map(abs, expected.bounds))
    return expected.equals_exact(got, 1e-6) or expected.equals(got) or (
        kind(expected) == kind(got) and expected.hausdorff_distance(got) < far)


def main(checkout):
    show = int(os.environ.get("SHOW", "0"))
    passed, failed = Counter(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        source, snapshot = Path(folder) / "one.nt", str(Path(folder) / "one.terrapin")
        source.write_text("<urn:a> <urn:b> <urn:c> .\n")
        subprocess.run([PROGRAM, "load", "--rdf", str(source), "--out", snapshot], check=True, capture_output=True)
        every = list(operations(checkout / TESTS))
        for first in range(0, len(every), BATCH):
            some = every[first:first + BATCH]
            for (file, function, arguments, expected), got in zip(some, asked(snapshot, some)):
                if is_same(function, expected, got):
                    passed[function] += 1
                    continue
                failed[function] += 1
                if sum(failed.values()) <= show:
                    print(f"{file}: {function}({', '.join(arguments)[:300]}): {expected[:200]}: {str(got)[:200]}")
    for function in sorted(passed | failed):
        print(f"{function}: {passed[function]} of {passed[function] + failed[function]}")
    share = passed.total() / max(1, passed.total() + failed.total())
    print(f"{passed.total()} of {passed.total() + failed.total()}, {100 * share:.2f} %")
    return 0 if share >= ENOUGH else 1


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1], TESTS).is_dir():
        skip("jts: name a checkout of github.com/locationtech/jts")
    try:
        import shapely  # noqa: F401
    except ImportError:
        sys.exit(subprocess.call([str(python()), __file__, *sys.argv[1:]]))
    sys.exit(main(Path(sys.argv[1])))
