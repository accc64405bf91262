#!/usr/bin/env python3
"""Reads vector tiles with another decoder and by the specification's own messages, and holds neighbours against each other.

    tests/tiles/check.py EXTRACT|SNAPSHOT|URL [LON LAT]     around a place, or the middle of the data

At every zoom a tile and those around it are read. Messages: versions, extents, numbers of keys and values, commands, points
within the margin, no step of no length, rings with an area and the outer one first. Seams: what has a vertex within the
margins of both neighbours has it in both, and what crosses the seam crosses it in both, in the same place within a unit. The
sea is counted apart and may differ ten times as often: at the edge of an extract, a coast crosses one tile and ends in the
middle of the next one. How many polygons cross themselves is told. TERRAPIN is the program (else the release build). Exit
status 1: a tile is broken, or a seam shows; 77: what is needed is not here, and the last line says what.
"""

import gzip
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter, defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "common"))
from tools import programs, skip  # noqa: E402

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = os.environ.get("TERRAPIN", str(TARGET / "release" / "terrapin"))
EXTENT, MARGIN = 4096, 64
# Tiles around the one with the place, on each side.
AROUND = 2
# Crossings may differ by so many units: what begins beyond the margin is cut there, to a whole unit.
NEAR = 1.0
POINT, LINE, POLYGON = 1, 2, 3


def python():
    """A Python that reads tiles."""
    return programs("tiles", "readers of tiles", requirements=HERE / "requirements.txt") / "python"


def paths(commands):
    """The paths of a geometry: each its points, whether it is closed, and how many steps have no length."""
    x = y = at = 0
    found = []
    while at < len(commands):
        command, count = commands[at] & 7, commands[at] >> 3
        at += 1
        if command == 7:
            found[-1][1] = True
            continue
        for _ in range(count):
            dx, dy = ((n >> 1) ^ -(n & 1) for n in commands[at:at + 2])
            at += 2
            x, y = x + dx, y + dy
            if command == 1:
                found.append([[(x, y)], False, 0])
            else:
                found[-1][2] += dx == 0 and dy == 0
                found[-1][0].append((x, y))
    return found


def twice_area(ring):
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(ring, ring[1:] + ring[:1]))


class Tile:
    """A tile, and what is wrong with it."""

    def __init__(self, server, z, x, y):
        import mapbox_vector_tile
        from mapbox_vector_tile.Mapbox import vector_tile_pb2

        request = urllib.request.Request(f"{server}/tiles/{z}/{x}/{y}.mvt", headers={"Accept-Encoding": "gzip"})
        began = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            packed = answer.read()
        self.milliseconds = (time.perf_counter() - began) * 1000
        self.name = f"{z}/{x}/{y}"
        data = gzip.decompress(packed)
        mapbox_vector_tile.decode(data)
        self.message = vector_tile_pb2.tile()
        self.message.ParseFromString(data)
        self.wrong, self.polygons, self.crossing = [], 0, 0
        # Layer, attributes, type, paths.
        self.features = []
        names = [layer.name for layer in self.message.layers]
        self.expect(len(names) == len(set(names)), "a layer twice")
        for layer in self.message.layers:
            self.read(layer)

    def expect(self, fine, what, *more):
        if not fine:
            self.wrong.append(f"{self.name} {what} {more}"[:300])

    def read(self, layer):
        name = layer.name
        self.expect(layer.version == 2 and layer.extent == EXTENT, "version, extent", name)
        values = [value.SerializeToString() for value in layer.values]
        used = Counter()
        for feature in layer.features:
            tags = list(feature.tags)
            keys, told = tags[::2], tags[1::2]
            known = all(key < len(layer.keys) for key in keys) and all(value < len(values) for value in told)
            self.expect(len(keys) == len(told) == len(set(keys)) and known, "attributes", name, tags)
            used.update(("key", key) for key in keys)
            used.update(("value", value) for value in told)
            drawn = paths(list(feature.geometry))
            attributes = tuple(sorted((layer.keys[key], values[value]) for key, value in zip(keys, told)))
            self.features.append((name, attributes, feature.type, drawn))
            self.draw(name, feature.type, drawn)
        fine = len(set(layer.keys)) == len(layer.keys) and len(set(values)) == len(values)
        self.expect(fine and len(used) == len(layer.keys) + len(values), "keys or values twice, or not used", name)

    def draw(self, layer, kind, drawn):
        from shapely import Polygon

        self.expect(drawn, "nothing", layer)
        polygons = []
        for points, closed, still in drawn:
            low, high = (0, EXTENT - 1) if kind == POINT else (-MARGIN, EXTENT + MARGIN)
            self.expect(all(low <= c <= high for point in points for c in point), "beyond the margin", layer, points[:5])
            self.expect(not still, "a step of no length", layer, points[:5])
            least, most = {POINT: (1, 1), LINE: (2, math.inf), POLYGON: (3, math.inf)}[kind]
            self.expect(closed == (kind == POLYGON) and least <= len(points) <= most, "a path", layer, points[:5])
            if kind == POLYGON:
                area = twice_area(points)
                self.expect(area and (area > 0 or polygons) and points[0] != points[-1], "a ring", layer, points[:5])
                if area > 0 or not polygons:
                    polygons.append((points, []))
                else:
                    polygons[-1][1].append(points)
        self.polygons += len(polygons)
        self.crossing += sum(not Polygon(*polygon).is_valid for polygon in polygons if len(polygon[0]) > 2)

    def vertices(self, axis, seam):
        """The vertices of lines and areas within the margins of both sides of a seam, seen from it."""
        found = Counter()
        for layer, attributes, kind, drawn in self.features:
            for points, _, _ in drawn if kind != POINT else ():
                for point in points:
                    across, along = point[axis] - seam, point[1 - axis]
                    # The cut at the edge of the margin is rounded; borders that it makes cross get a point a unit further in.
                    if abs(across) < MARGIN - 1 and -MARGIN + 1 < along < EXTENT + MARGIN - 1:
                        found[layer, attributes, across, along] += 1
        return found

    def crossings(self, axis, seam):
        """Where lines and borders of areas cross a seam."""
        found = defaultdict(list)
        for layer, attributes, kind, drawn in self.features:
            for points, closed, _ in drawn if kind != POINT else ():
                for a, b in zip(points, points[1:] + points[:1] if closed else points[1:]):
                    if (a[axis] < seam) != (b[axis] < seam):
                        part = (seam - a[axis]) / (b[axis] - a[axis])
                        place = a[1 - axis] + part * (b[1 - axis] - a[1 - axis])
                        if 1 <= place <= EXTENT - 1:
                            found[layer, attributes].append(place)
        return found


def seam(first, second, axis):
    """How many things were compared at the seam of two tiles, and what differs."""
    here, there = first.vertices(axis, EXTENT), second.vertices(axis, 0)
    compared = sum((here | there).values())
    # What is put together in each tile may end elsewhere.
    differing = [f"{first.name} {second.name} a vertex: {what}" for what in ((here - there) + (there - here)) if what[0] != "ocean"]
    here, there = first.crossings(axis, EXTENT), second.crossings(axis, 0)
    for what in here.keys() | there.keys():
        a, b = sorted(here.get(what, [])), sorted(there.get(what, []))
        compared += max(len(a), len(b))
        if len(a) != len(b) or any(abs(p - q) > NEAR for p, q in zip(a, b)):
            differing.append(f"{first.name} {second.name} a crossing: {what} {a} {b}"[:300])
    return compared, differing


def numbers(lon, lat, z):
    side = 2**z
    y = (1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2
    return int((lon + 180) / 360 * side), int(y * side)


def check(server, place):
    about = json.load(urllib.request.urlopen(f"{server}/tiles.json"))
    west, south, east, north = about["bounds"]
    lon, lat = place or ((west + east) / 2, (south + north) / 2)
    known = {layer["id"]: set(layer["fields"]) for layer in about["vector_layers"]}
    wrong, compared, differing = [], 0, []
    for z in range(0, 15):
        side, (x, y) = 2**z, numbers(lon, lat, z)
        near = [(x + dx, y + dy) for dx in range(-AROUND, AROUND + 1) for dy in range(-AROUND, AROUND + 1)]
        tiles = {at: Tile(server, z, *at) for at in near if 0 <= at[0] < side and 0 <= at[1] < side}
        for (x, y), tile in tiles.items():
            wrong += tile.wrong
            for layer, attributes, _, _ in tile.features:
                unknown = {key for key, _ in attributes} - known.get(layer, set())
                if layer not in known or unknown:
                    wrong.append(f"{tile.name} {layer}: {unknown} is not in tiles.json")
            for axis, beside in ((0, (x + 1, y)), (1, (x, y + 1))):
                if beside in tiles:
                    count, differ = seam(tile, tiles[beside], axis)
                    compared, differing = compared + count, differing + differ
        features = sum(len(tile.features) for tile in tiles.values())
        polygons, crossing = (sum(getattr(tile, what) for tile in tiles.values()) for what in ("polygons", "crossing"))
        middle = statistics.median(tile.milliseconds for tile in tiles.values())
        print(f"zoom {z}: {len(tiles)} tiles, median {middle:.1f} ms; {features} features, {polygons} polygons, "
              f"of which {crossing} cross themselves")
    sea = [what for what in differing if "('ocean', ())" in what]
    print(f"{compared} vertices and crossings at seams, {len(differing)} differ, {len(sea)} of them in the sea; "
          f"{len(wrong)} features are wrong")
    print("\n".join((wrong + differing)[:20]))
    others = len(differing) - len(sea)
    return 1 if wrong or others > 0.0005 * compared or len(sea) > 0.005 * compared else 0


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    given, place = sys.argv[1], tuple(map(float, sys.argv[2:])) or None
    if "READERS" not in os.environ:
        os.environ["READERS"] = "1"
        reader = python()
        os.execv(reader, [reader, *sys.argv])
    if given.startswith("http"):
        return check(given.rstrip("/"), place)
    if not Path(given).exists():
        skip(f"{given} is not here")
    if not Path(PROGRAM).exists():
        skip(f"{PROGRAM} is not built")
    with tempfile.TemporaryDirectory() as folder:
        snapshot = given
        if not given.endswith(".terrapin"):
            snapshot = Path(folder) / "extract.terrapin"
            subprocess.run([PROGRAM, "load", "--osm", given, "--out", snapshot], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        server = subprocess.Popen([PROGRAM, "serve", snapshot, "--bind", "127.0.0.1:0", "--json"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            return check(json.loads(server.stdout.readline())["url"], place)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
