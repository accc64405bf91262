#!/usr/bin/env python3
"""Triples of OpenStreetMap's elements beside those that osm2rdf itself writes of the same extracts.

    tests/osm2rdf/run.py EXTRACT...
    tests/osm2rdf/run.py --tags EXTRACT...      without how elements lie to each other, which takes gigabytes of a country

OSM2RDF is the program to compare with, TERRAPIN the one that is compared (else the release build). Prints a table of each
extract: predicate, triples of osm2rdf, triples of a snapshot, those that are equal. Exit status 77: what is needed is not
here; the last line says what.

Coordinates are compared as they are written, rings wherever they begin and whichever way they run, lines in one direction;
centroids to 0.00001 degrees, lengths and areas to half a per cent. Members are compared by element, place and role, whatever
their blank nodes are called; articles with underscores for spaces, which no IRI has. EXAMPLES=n prints so many differences
of each predicate.
"""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
from tools import skip  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = os.environ.get("TERRAPIN", str(TARGET / "release" / "terrapin"))
EXAMPLES = int(os.environ.get("EXAMPLES", "0"))
ROWS = "20000000"

PREFIXES = {
    "osmkey": "https://www.openstreetmap.org/wiki/Key:",
    "osmmeta": "https://www.openstreetmap.org/meta/",
    "osmchangeset": "https://www.openstreetmap.org/changeset/",
    "osmnode": "https://www.openstreetmap.org/node/",
    "osmway": "https://www.openstreetmap.org/way/",
    "osmrel": "https://www.openstreetmap.org/relation/",
    "osm2rdfkey": "https://osm2rdf.cs.uni-freiburg.de/rdf/key#",
    "osm2rdfgeom": "https://osm2rdf.cs.uni-freiburg.de/rdf/geom#",
    "osm2rdfmeta": "https://osm2rdf.cs.uni-freiburg.de/rdf/meta#",
    "osm2rdf": "https://osm2rdf.cs.uni-freiburg.de/rdf#",
    "ogc": "http://www.opengis.net/rdf#",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
}
TYPE = f"<{PREFIXES['rdf']}type>"
CLASSES = [f"<https://www.openstreetmap.org/{kind}>" for kind in ("node", "way", "relation")]
RELATIONS = ["Contains", "Covers", "Crosses", "Equals", "Intersects", "Overlaps", "Touches"]
# Of routes and other relations that are no areas, whose geometries are collections, for which no standard says it all.
OF_COLLECTIONS = ", of relations without area"
# Shares of the triples of either that have to be in both; all where nothing is said.
LEAST = {
    "geo:hasGeometry/geo:asWKT": 0.999,
    "geo:hasCentroid/geo:asWKT": 0.999,
    "osm2rdf:length": 0.999,
    "osmmeta:version": 0.999,
    "ogc:sfContains": 0.99,
    "ogc:sfCovers": 0.99,
    "ogc:sfCrosses": 0.85,
    "ogc:sfEquals": 0.25,
    "ogc:sfIntersects": 0.999,
    "ogc:sfOverlaps": 0.97,
    "ogc:sfTouches": 0.94,
    **{f"ogc:sf{name}{OF_COLLECTIONS}": 0.0 for name in RELATIONS},
    f"ogc:sfIntersects{OF_COLLECTIONS}": 0.99,
    f"ogc:sfCovers{OF_COLLECTIONS}": 0.95,
}

TRIPLE = re.compile(r"^(\S+) (\S+) (.*) \.$")
POINT = re.compile(r"-?[0-9.]+ -?[0-9.]+")


def short(iri):
    """An IRI in angle brackets with its usual prefix."""
    best = max((p for p in PREFIXES if iri[1:].startswith(PREFIXES[p])), key=lambda p: len(PREFIXES[p]), default=None)
    return iri if best is None else f"{best}:{iri[1 + len(PREFIXES[best]):-1]}"


def unescaped(term):
    """A term without the escapes that need not be there."""
    term = re.sub(r"\\u([0-9A-Fa-f]{4})", lambda m: chr(int(m[1], 16)), term)
    return re.sub(r"\\U([0-9A-Fa-f]{8})", lambda m: chr(int(m[1], 16)), term)


def triples(lines, without="<>"):
    """Triples, but for those whose predicates begin with that."""
    for line in lines:
        match = TRIPLE.match(line.rstrip("\n"))
        if match and not match[2].startswith(without):
            subject, predicate, object_ = match.groups()
            if predicate.endswith("wikipedia>") and object_[0] == "<":
                object_ = object_.replace("\\u0020", "_")
            yield sys.intern(subject), sys.intern(unescaped(predicate)), sys.intern(unescaped(object_))


def theirs(program, extract, folder, with_relations):
    """What osm2rdf writes: pairs by predicate."""
    out = Path(folder) / "theirs.nt"
    relations = [] if with_relations else ["--write-ogc-geo-triples", "none"]
    form = ["--add-hascentroid", "--output-format", "nt", "--output-compression", "none"]
    options = [*relations, *form, "-t", folder, "-o", out]
    done = subprocess.run([program, *options, extract], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 and out.exists(), done.stdout[-2000:]
    found = defaultdict(set)
    with open(out, encoding="utf-8") as lines:
        for subject, predicate, object_ in triples(lines, "<" + PREFIXES["osm2rdfmeta"]):
            if with_relations or not predicate.startswith("<" + PREFIXES["ogc"]):
                found[predicate].add((subject, object_))
    out.unlink()
    return found


def terrapin(*args):
    done = subprocess.run([PROGRAM, *map(str, args)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == 0, (args[-1][:300], done.stderr[-2000:])
    return done.stdout


def ask(snapshot, query, form):
    declared = "".join(f"PREFIX {prefix}: <{iri}> " for prefix, iri in PREFIXES.items())
    limits = ["--max-rows", ROWS, "--timeout", 3000]
    return terrapin("query", snapshot, "--lang", "sparql", "--format", form, *limits, declared + query)


def legal(iri):
    """An IRI with percent signs for what none may have."""
    return re.sub(r'(?<=.)[\x00-\x20"{}|^`\\<](?=.)', lambda m: f"%{ord(m[0]):02X}", iri)


def named(object_):
    """The variable ?o, which an object that is given is named by."""
    return "" if object_ == "?o" else f"BIND({object_} AS ?o)"


def ours(snapshot, predicates):
    """What a snapshot answers: pairs by predicate."""
    found = {predicate: set() for predicate in predicates}
    for begin in range(0, len(predicates), 100):
        # Types are those of elements where a class says so.
        objects = lambda p: CLASSES if p == TYPE else ["?o"]
        asked = {legal(p): p for p in predicates[begin:begin + 100]}
        parts = [f"{{ ?s {p} {o} BIND({p} AS ?p) {named(o)} }}" for p in asked for o in objects(p)]
        answer = ask(snapshot, f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ {' UNION '.join(parts)} }}", "nt")
        for subject, predicate, object_ in triples(answer.split("\n")):
            found[asked[predicate]].add((subject, object_))
    return found


def members_of(snapshot, kind, role):
    """Members as a snapshot has them: parent, element, place, role."""
    said = f"osm{kind}:member_id ?id; osm{kind}:member_pos ?pos" + (f"; osm{kind}:member_role ?role" if role else "")
    query = f"SELECT ?of ?id ?pos ?role {{ ?of osm{kind}:member ?m . ?m {said} }}"
    rows = csv.reader(io.StringIO(ask(snapshot, query, "csv")))
    next(rows)
    return {tuple(row) for row in rows}


def their_members(found, kind):
    """The same of what osm2rdf writes."""
    name = lambda what: f"<{PREFIXES['osm' + kind]}{what}>"
    text = lambda term: re.match(r'"(.*)"', term)[1].replace('\\"', '"').replace("\\\\", "\\")
    value = lambda term: term[1:-1] if term[0] == "<" else text(term)
    parent = {member: of for of, member in found.pop(name("member"), ())}
    said = {what: dict(found.pop(name(what), ())) for what in ("member_id", "member_pos", "member_role")}
    return {
        (value(of), *(value(said[what][member]) if member in said[what] else "" for what in said))
        for member, of in parent.items()
    }


def ring(points):
    """A ring, wherever it begins and whichever way it runs."""
    points = tuple(points[:-1])
    at = min(range(len(points)), key=points.__getitem__)
    forth = points[at:] + points[:at]
    return min(forth, forth[:1] + forth[:0:-1])


def same(wkt):
    """A geometry as something that is equal where it is the same."""
    text = wkt[1:wkt.rindex('"')].strip()
    kind, _, rest = text.partition("(")
    kind, rest = kind.strip(), rest[:-1]
    if kind == "GEOMETRYCOLLECTION":
        parts = re.findall(r"[A-Z]+\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", rest)
        return kind, tuple(sorted(map(repr, (same(f'"{part}"') for part in parts))))
    rings = [tuple(POINT.findall(part)) for part in re.findall(r"[^()]+", text) if POINT.search(part)]
    if kind == "MULTIPOLYGON":
        polygons = re.findall(r"\((?:[^()]|\([^()]*\))*\)", rest)
        rings_of = lambda polygon: [POINT.findall(part) for part in re.findall(r"[^()]+", polygon) if POINT.search(part)]
        rings = [tuple(sorted(map(ring, rings_of(polygon)))) for polygon in polygons]
        return ("POLYGON", rings[0]) if len(rings) == 1 else (kind, tuple(sorted(rings)))
    if kind == "POLYGON":
        return kind, tuple(sorted(map(ring, rings)))
    return kind, tuple(rings)


def number(term):
    return float(re.match(r'"(.*?)"', term)[1])


def close(a, b):
    """Centroids that are."""
    a, b = ([float(n) for n in re.findall(r"-?[0-9.]+", term.split(")")[0])] for term in (a, b))
    return max(abs(x - y) for x, y in zip(a, b)) <= 0.00001


def alike(a, b):
    """Sizes that are: osm2rdf rounds them to centimetres."""
    return abs(number(a) - number(b)) <= max(0.005 * abs(number(a)), 0.005)


def joined(pairs, texts):
    """What is said of an element through the name of a geometry."""
    texts = dict(texts)
    return {(element, texts[name]) for element, name in pairs if name in texts}


class Table:
    def __init__(self):
        self.short = []
        print("| predicate | osm2rdf | a snapshot | equal |\n|---|---|---|---|", flush=True)

    def row(self, name, theirs, ours, equal=None):
        """A row of pairs of what is spoken of and what is said; `equal` says which are, where it is not the same."""
        if equal is None:
            both = len(theirs & ours)
            other = (theirs - ours, ours - theirs)
        else:
            left, right = dict(theirs), dict(ours)
            is_equal = {s for s in left.keys() & right.keys() if equal(left[s], right[s])}
            both = len(is_equal)
            other = tuple({pair for pair in pairs if pair[0] not in is_equal} for pairs in (theirs, ours))
        print(f"| `{name}` | {len(theirs):,} | {len(ours):,} | {both:,} |", flush=True)
        for side, pairs in zip(("osm2rdf", "a snapshot"), other):
            for pair in sorted(pairs)[:EXAMPLES]:
                print(f"    only {side}: {pair}"[:400], flush=True)
        if both < LEAST.get(name, 1.0) * max(len(theirs), len(ours)):
            self.short.append(name)


def compare(program, extract, folder, with_relations):
    print(f"\n{extract.name}\n", flush=True)
    snapshot = Path(folder) / "s.terrapin"
    terrapin("load", "--osm", extract, "--out", snapshot)
    their = theirs(program, extract, folder, with_relations)
    table = Table()
    for kind, role in (("way", False), ("rel", True)):
        name = f"osm{kind}:member, _id, _pos{', _role' if role else ''}"
        table.row(name, their_members(their, kind), members_of(snapshot, kind, role))
    geometry, centroid, wkt = (f"<{PREFIXES['geo']}{name}>" for name in ("hasGeometry", "hasCentroid", "asWKT"))
    our = ours(snapshot, [geometry, centroid, wkt])
    collections = set()
    for pairs, equal in ((geometry, lambda a, b: same(a) == same(b)), (centroid, close)):
        table.row(short(pairs), their[pairs], our[pairs])
        texts = joined(their.pop(pairs), their[wkt])
        collections |= {element for element, text in texts if text.startswith('"GEOMETRYCOLLECTION')}
        table.row(f"{short(pairs)}/geo:asWKT", texts, joined(our[pairs], our[wkt]), equal)
    del their[wkt]
    tags = [predicate for predicate in their if short(predicate).startswith("osmkey:")]
    our = ours(snapshot, tags)
    each = lambda found: {(s, (p, o)) for p in tags for s, o in found.get(p, ())}
    table.row("osmkey: (all keys)", each(their), each(our))
    related = [f"<{PREFIXES['ogc']}sf{name}>" for name in RELATIONS]
    for predicate in sorted(set(their) - set(tags) - set(related), key=short):
        sizes = short(predicate) in ("osm2rdf:area", "osm2rdf:length")
        table.row(short(predicate), their[predicate], ours(snapshot, [predicate])[predicate], alike if sizes else None)
    of_collections = lambda pair: pair[0] in collections or pair[1] in collections
    for predicate in related if with_relations else ():
        both = their[predicate], ours(snapshot, [predicate])[predicate]
        table.row(short(predicate), *({pair for pair in pairs if not of_collections(pair)} for pairs in both))
        table.row(short(predicate) + OF_COLLECTIONS, *(set(filter(of_collections, pairs)) for pairs in both))
    return table.short


def main():
    program = os.environ.get("OSM2RDF")
    if not program or not Path(program).exists():
        skip("OSM2RDF is not the path of an osm2rdf")
    short_of = []
    with_relations = "--tags" not in sys.argv
    for extract in (Path(given) for given in sys.argv[1:] if given != "--tags"):
        if not extract.exists():
            skip(f"no {extract}")
        with tempfile.TemporaryDirectory() as folder:
            short_of += [f"{extract.name}: {name}" for name in compare(program, extract, folder, with_relations)]
    assert not short_of, "differs too much: " + "; ".join(short_of)
    print("ok")


main()
