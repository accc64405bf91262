#!/usr/bin/env python3
"""The tiles of `terrapin serve` beside those of tilemaker, another program for Shortbread's layers, of one extract.

    tests/tilemaker/run.py EXTRACT WEST,SOUTH,EAST,NORTH

Of each layer and kind, zoom by zoom, the points are counted, the lines measured and the areas, in units of a tile, in all tiles
that tilemaker draws of the box from zoom 5 on; where both differ by more than a tenth, `EXPLAINED` has to say why. TERRAPIN is
the program (else the release build), SHORTBREAD a checkout of shortbread-tilemaker as it was for tilemaker 2 (else it is fetched).
SHOW=1 prints everything. Exit status 1: a difference that nothing explains; 77: what is needed is not here, and the last line
says what.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
from tools import install, once, programs, skip  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = os.environ.get("TERRAPIN", str(TARGET / "release" / "terrapin"))
SOURCE = "https://github.com/shortbread-tiles/shortbread-tilemaker"
# The last one before the functions of tilemaker 3.
COMMIT = "c922c7fd6030c4d41d560de7b4f10fccf01178cd"
ZOOMS = range(5, 15)
EXTENT = 4096
# What is less may differ: a house more, a corner cut.
FEW = {"points": 3, "lines": 400, "areas": 4000}
SAME = 0.10
# The tags that symbols have instead of a kind.
POIS = ["amenity", "leisure", "tourism", "shop", "man_made", "historic", "emergency", "highway", "office"]
# Made there of files that no extract has; not compared.
FOREIGN = ["ocean", "ocean-low", "boundary_labels", "landform_labels"]
# Why what is drawn differs: layers, kinds, zooms, reason. `*` is any.
EXPLAINED = [
    ("public_transport", "bus_station|bus_stop|ferry_terminal|helipad", (11, 13),
     "the schema has stops from zoom 12, 13 or 14 on; there all are drawn from 11 on"),
    ("water_polygons_labels", "*", (4, 13), "the schema names all water that is drawn; there from zoom 14 on"),
    ("water_lines", "drain|stream", (13, 14), "the schema has no drains, and streams from zoom 14 on; there from 13 on"),
    ("water_lines_labels", "drain|river", (12, 14), "the schema has no drains, and names of rivers from zoom 12 on; there from 13 on"),
    ("streets", "service", (13, 13), "the schema has service roads from zoom 13 on; there from 14 on"),
    ("street_labels", "runway|taxiway", (11, 14), "the schema has labels of runways; there only roads have any"),
    ("streets_polygons_labels", "pedestrian|service", (14, 14), "squares without a name have a label there"),
    ("pois", "surveillance|tower|windmill|lighthouse|wastewater_plant|water_well|watermill|water_works", (14, 14),
     "there man_made is mixed up with historic"),
    ("pois", "archaeological_site", (14, 14), "misspelt there"),
    ("pois", "diplomatic", (14, 14), "there offices are looked up among values of highway"),
    ("sites", "sports_centre", (14, 14), "there only leisure=sports_center is read"),
    ("boundaries", "4", (7, 8), "lines are straightened more there"),
    ("land", "forest|grass", (10, 11), "areas of less than a quarter of a pixel are left out here"),
]


def python():
    """A Python that reads tiles."""
    return programs("tiles", "readers of tiles", requirements=HERE.parent / "tiles" / "requirements.txt") / "python"


def shortbread():
    """The layers' description for tilemaker."""
    given = os.environ.get("SHORTBREAD")
    if given:
        return Path(given)

    def make(folder):
        install(["git", "clone", "--quiet", SOURCE, folder], "shortbread-tilemaker")
        install(["git", "-C", folder, "checkout", "--quiet", COMMIT], "shortbread-tilemaker")

    return once("shortbread", SOURCE + COMMIT, make)


def draw(extract, box, into):
    """Draws the box with tilemaker; a folder of tiles."""
    source = shortbread()
    config = json.loads((source / "config.json").read_text())
    for layer in FOREIGN:
        config["layers"].pop(layer, None)
    config["settings"]["compress"] = "none"
    (into / "config.json").write_text(json.dumps(config))
    # Newer versions take an order of a byte, and the order is not looked at.
    process = re.sub(r"(?m)^\s*\w+:ZOrder\(.*$", "", (source / "process.lua").read_text())
    (into / "process.lua").write_text(process)
    command = ["tilemaker", "--input", extract, "--output", into / "tiles", "--config", into / "config.json",
               "--process", into / "process.lua", "--bbox", box, "--threads", "1"]
    install(command, "tiles of tilemaker 2")
    return into / "tiles"


def measured(tile, into):
    """Adds what a tile has to sums by (layer, kind, what)."""
    import mapbox_vector_tile
    from shapely import box, unary_union
    from shapely.geometry import shape
    from shapely.validation import make_valid

    seen = box(0, 0, EXTENT, EXTENT)
    areas = defaultdict(list)
    for layer, content in mapbox_vector_tile.decode(tile).items():
        assert content["extent"] == EXTENT, "tiles of another extent"
        if layer in FOREIGN:
            continue
        for feature in content["features"]:
            told = feature["properties"]
            kind = next((told[key] for key in ["kind", *POIS] if told.get(key)), told.get("admin_level", ""))
            geometry = shape(feature["geometry"])
            # Numbers are whole here and broken there.
            name = (layer, f"{kind:g}" if isinstance(kind, float) else str(kind))
            if geometry.geom_type.endswith("Point"):
                points = getattr(geometry, "geoms", [geometry])
                into[(*name, "points")] += sum(0 <= p.x < EXTENT and 0 <= p.y < EXTENT for p in points)
            elif geometry.geom_type.endswith("LineString"):
                into[(*name, "lines")] += geometry.intersection(seen).length
            else:
                areas[name].append(make_valid(geometry))
    for name, shapes in areas.items():
        into[(*name, "areas")] += unary_union(shapes).intersection(seen).area


def served(snapshot, tiles):
    """Measures the tiles of both; sums by zoom, each of what is here and what is there."""
    server = subprocess.Popen([PROGRAM, "serve", snapshot, "--bind", "127.0.0.1:0", "--json"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        url = json.loads(server.stdout.readline())["url"]
        sums = {}
        for zoom in ZOOMS:
            here, there = defaultdict(float), defaultdict(float)
            for path in sorted((tiles / str(zoom)).glob("*/*.pbf")):
                measured(path.read_bytes(), there)
                address = f"{url}/tiles/{zoom}/{path.parent.name}/{path.stem}.mvt"
                request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})
                with urllib.request.urlopen(request) as answer:
                    measured(gzip.decompress(answer.read()), here)
            sums[zoom] = here, there
        return sums
    finally:
        server.terminate()
        server.wait()


def reason(zoom, layer, kind):
    fits = lambda wanted, given: wanted == "*" or given in wanted.split("|")
    return next((why for layers, kinds, (low, high), why in EXPLAINED
                 if fits(layers, layer) and fits(kinds, kind) and low <= zoom <= high), None)


def compare(sums):
    """Prints what differs; how many sums nothing explains."""
    same, explained, unexplained = 0, defaultdict(list), 0
    for zoom, (here, there) in sums.items():
        for layer, kind, what in sorted({*here, *there}):
            a, b = here[(layer, kind, what)], there[(layer, kind, what)]
            differs = abs(a - b) > FEW[what] and abs(a - b) > SAME * max(a, b)
            line = f"z{zoom:<2} {layer:24} {kind:22} {what:6} {a:12.0f} here {b:12.0f} there"
            why = reason(zoom, layer, kind) if differs else None
            if os.environ.get("SHOW"):
                print(line, "" if not differs else why or "UNEXPLAINED")
            if not differs:
                same += 1
            elif why:
                explained[why].append(line)
            else:
                unexplained += 1
                print(line)
    total = same + unexplained + sum(map(len, explained.values()))
    print(f"{total} sums: {same} are the same within a tenth, {unexplained} differ without a reason, and of the others")
    for why, lines in explained.items():
        print(f"{len(lines):5} {why}")
    return unexplained


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    extract, box = Path(sys.argv[1]).resolve(), sys.argv[2]
    if not extract.exists():
        skip(f"{extract} is not here")
    if not shutil.which("tilemaker"):
        skip("tilemaker is not here (apt-get install tilemaker)")
    if not Path(PROGRAM).exists():
        skip(f"{PROGRAM} is not built")
    if "READERS" not in os.environ:
        os.environ["READERS"] = "1"
        reader = python()
        os.execv(reader, [reader, *sys.argv])
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        snapshot = folder / "extract.terrapin"
        subprocess.run([PROGRAM, "load", "--osm", extract, "--out", snapshot], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        sys.exit(1 if compare(served(snapshot, draw(extract, box, folder))) else 0)


if __name__ == "__main__":
    main()
