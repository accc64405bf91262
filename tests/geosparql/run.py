#!/usr/bin/env python3
"""The GeoSPARQL Compliance Benchmark (https://github.com/OpenLinkSoftware/GeoSPARQLBenchmark).

    tests/geosparql/run.py CHECKOUT

CHECKOUT is a checkout of the benchmark. TERRAPIN is the program (default: the release build). Loads the benchmark's data, runs its
206 queries, and compares each answer with the expected one and its alternatives as the benchmark does: spaces and case of WKT do
not count, GML is canonical XML, everything else is equal as text. The weights are the benchmark's: each requirement has the same,
and so has each function in it; of the four queries of a function with two geometries, the two that mix WKT and GML have half the
weight of the others. Requirement 17 has no query and counts as met.

Each requirement runs under the entailment regime that its text in the standard names: 1 to 24 under simple entailment, 25 to 27
under RDFS, 28 to 30 under GeoSPARQL's rules. ONE=simple or ONE=geosparql runs all requirements but 25 to 27 under one regime. No
regime can pass both 4 to 6 and 28 to 30: they have contradicting answers for the same patterns.

The second score also accepts the same geometry with another first corner, direction or order of parts, in WKT or GML, with or
without the IRI of CRS84. SHOW=1 prints the failed queries with their answers. Exits with status 1 if the first score is below 90.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = os.environ.get("TERRAPIN", str(TARGET / "release" / "terrapin"))
ENOUGH = 90.0
REQUIREMENTS = 30
GEO = "http://www.opengis.net/ont/geosparql#"
CRS84 = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
RESULTS = "{http://www.w3.org/2005/sparql-results#}"


def expected(path):
    """The variables and rows of an answer in SPARQL's XML format."""
    root = ElementTree.parse(path).getroot()
    names = [variable.get("name") for variable in root.iter(f"{RESULTS}variable")]
    rows = []
    for result in root.iter(f"{RESULTS}result"):
        row = {}
        for binding in result:
            term = binding[0]
            kind = {"uri": "uri", "bnode": "bnode"}.get(term.tag.removeprefix(RESULTS), "literal")
            row[binding.get("name")] = (kind, term.text or "", term.get("datatype"))
        rows.append(row)
    return names, rows


def answered(text):
    """The variables and rows of an answer in SPARQL's JSON format."""
    answer = json.loads(text)
    rows = [{name: (term["type"], term["value"], term.get("datatype")) for name, term in row.items()}
            for row in answer["results"]["bindings"]]
    return answer["head"]["vars"], rows


def as_text(term):
    """A term as the benchmark compares it."""
    kind, value, datatype = term
    if datatype == f"{GEO}wktLiteral":
        value = re.sub("[ \n]", "", value).strip().lower()
    elif datatype == f"{GEO}gmlLiteral":
        try:
            value = ElementTree.canonicalize(value)
        except ElementTree.ParseError:
            pass
    return kind, value, datatype


def numbers(text):
    return [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?", text)]


def ring(coordinates, closed):
    """Positions from the smallest corner, in the direction of the smaller second one if they are a ring."""
    positions = list(zip(coordinates[::2], coordinates[1::2]))
    if not closed or len(positions) < 2 or positions[0] != positions[-1]:
        return tuple(min(positions, positions[::-1]))
    positions.pop()
    at = positions.index(min(positions))
    forward = positions[at:] + positions[:at]
    return tuple(min(forward, [forward[0]] + forward[:0:-1]))


def of_wkt(text):
    system, text = re.fullmatch(r"\s*(?:<([^>]*)>)?(.*)", text, re.DOTALL).groups()
    kind = re.match(r"\s*([A-Za-z]+)", text)
    parts = re.findall(r"\(([^()]*)\)", text)
    if not kind or not parts:
        return None
    is_area = "POLYGON" in kind[1].upper()
    return system or CRS84, is_area, tuple(sorted(ring(numbers(part), True) for part in parts))


def of_gml(text):
    try:
        root = ElementTree.fromstring(text.strip())
    except ElementTree.ParseError:
        return None
    local = [(element.tag.rpartition("}")[2], element) for element in root.iter()]
    lists = [element.text or "" for name, element in local if name in ("posList", "pos", "coordinates")]
    is_area = any(name in ("Polygon", "Surface") for name, _ in local)
    return root.get("srsName") or CRS84, is_area, tuple(sorted(ring(numbers(part), True) for part in lists))


def as_geometry(term):
    """A term with its geometry in place of its text, if it is one."""
    _, value, datatype = term
    read = {f"{GEO}wktLiteral": of_wkt, f"{GEO}gmlLiteral": of_gml}.get(datatype)
    return (read and read(value)) or as_text(term)


def same(answer, other, form):
    return answer[0] == other[0] and [{name: form(term) for name, term in row.items()} for row in answer[1]] == \
        [{name: form(term) for name, term in row.items()} for row in other[1]]


def run(snapshot, query, requirement):
    regime = os.environ.get("ONE") or ("geosparql" if requirement in (28, 29, 30) else "simple")
    if requirement in (25, 26, 27):
        regime = "rdfs"
    command = [PROGRAM, "query", str(snapshot), "--file", str(query), "--format", "json"]
    if regime != "simple":
        command += ["--entailment", regime]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def weights(names):
    """The share of a requirement that each of its queries has, by the numbers in their names."""
    groups = {}
    for name in names:
        parts = name.split("-")[2:]
        is_pair = len(parts) == 2 or name.startswith("query-r21")
        groups.setdefault(parts[0] if len(parts) == 2 else "" if is_pair else name, []).append(name)
    of = {}
    for group in groups.values():
        shares = [1 / 3, 1 / 3, 1 / 6, 1 / 6] if len(group) == 4 else [1 / len(group)] * len(group)
        of.update({name: share / len(groups) for name, share in zip(group, shares)})
    return of


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    resources = Path(sys.argv[1]) / "src/main/resources"
    queries = sorted(resources.glob("gsb_queries/query-r*.rq"), key=lambda path: numbers(path.stem.replace("-", " ")[7:]))
    if len(queries) != 206:
        sys.exit(f"{resources}/gsb_queries has {len(queries)} queries, not 206: pass a checkout of the benchmark")
    passed = {}
    with tempfile.TemporaryDirectory() as folder:
        snapshot = Path(folder) / "benchmark.terrapin"
        subprocess.run([PROGRAM, "load", "--rdf", str(resources / "gsb_dataset/dataset.rdf"), "--out", str(snapshot)],
                       check=True, stdout=subprocess.DEVNULL)
        for query in queries:
            requirement = int(query.stem.split("-")[1][1:])
            answers = sorted(resources.glob(f"gsb_answers/{query.stem}.srx")) + \
                sorted(resources.glob(f"gsb_answers/{query.stem}-alternative-*.srx"))
            ran = run(snapshot, query, requirement)
            answer = answered(ran.stdout) if ran.returncode == 0 else None
            right = [answer is not None and any(same(answer, expected(path), form) for path in answers)
                     for form in (as_text, as_geometry)]
            passed.setdefault(requirement, {})[query.stem] = (right[0], right[0] or right[1])
            if os.environ.get("SHOW") and not right[0]:
                state = "the same geometry" if right[1] else "wrong"
                print(f"{query.stem}: {state}: {ran.stderr.strip() or ran.stdout.strip()}")
    total = [1.0, 1.0]
    print("requirement  queries  as text  as geometry")
    for requirement, queries in sorted(passed.items()):
        share = weights(queries)
        counts = [sum(right[form] for right in queries.values()) for form in (0, 1)]
        total = [sum_ + sum(share[name] for name in queries if queries[name][form]) for form, sum_ in enumerate(total)]
        print(f"R{requirement:<11} {len(queries):>7} {counts[0]:>8} {counts[1]:>12}")
    every = [right for queries in passed.values() for right in queries.values()]
    print(f"passed       {len(every):>7} {sum(right[0] for right in every):>8} {sum(right[1] for right in every):>12}")
    scores = [100 * sum_ / REQUIREMENTS for sum_ in total]
    print(f"score        {'':>7} {scores[0]:>8.1f} {scores[1]:>12.1f}")
    sys.exit(scores[0] < ENOUGH)


main()
