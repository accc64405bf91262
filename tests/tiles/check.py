#!/usr/bin/env python3
"""Reads a server's vector tiles with another decoder, and holds neighbours against each other at their seams.

    pip install -r tests/tiles/requirements.txt
    tests/tiles/check.py http://127.0.0.1:8080                   times, sizes, seams around the middle of the data
    tests/tiles/check.py http://127.0.0.1:8080 14.51 35.9        around a place

Ends with status 1 where a tile is broken or a seam shows.
"""

import gzip
import json
import math
import statistics
import sys
import time
import urllib.request

import mapbox_vector_tile
from shapely.geometry import shape
from shapely.validation import make_valid

EXTENT = 4096
# What lies within so many units of each other is the same place: clipping rounds.
NEAR = 1.5


class Tile:
    def __init__(self, server, z, x, y):
        request = urllib.request.Request(f"{server}/tiles/{z}/{x}/{y}.mvt", headers={"Accept-Encoding": "gzip"})
        began = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            packed = answer.read()
        self.milliseconds = (time.perf_counter() - began) * 1000
        self.bytes = len(packed)
        self.layers = mapbox_vector_tile.decode(gzip.decompress(packed), default_options={"y_coord_down": True})
        self.name = f"{z}/{x}/{y}"

    def features(self):
        for layer, content in self.layers.items():
            assert content["version"] == 2 and content["extent"] == EXTENT, (self.name, layer)
            for feature in content["features"]:
                yield layer, feature["properties"], shape(feature["geometry"])

    def broken(self):
        """What a map would draw wrong."""
        for layer, properties, geometry in self.features():
            low_x, low_y, high_x, high_y = geometry.bounds
            if min(low_x, low_y) < -65 or max(high_x, high_y) > EXTENT + 65:
                yield f"{self.name} {layer} {properties}: beyond the margin"
            if geometry.is_empty:
                yield f"{self.name} {layer} {properties}: empty"

    def cut(self, axis, at):
        """Where lines cross a line across the tile, and how much of that each layer's areas cover."""
        crossings, covered = {}, {}
        for layer, properties, geometry in self.features():
            if geometry.geom_type.endswith("LineString"):
                for line in getattr(geometry, "geoms", [geometry]):
                    for a, b in zip(line.coords, line.coords[1:]):
                        if (a[axis] < at) != (b[axis] < at):
                            part = (at - a[axis]) / (b[axis] - a[axis])
                            place = a[1 - axis] + part * (b[1 - axis] - a[1 - axis])
                            if 0 <= place <= EXTENT:
                                crossings.setdefault((layer, properties.get("kind")), []).append(place)
            elif geometry.geom_type.endswith("Polygon"):
                section = make_valid(geometry).intersection(shape({"type": "LineString", "coordinates": [
                    (at, 0) if axis == 0 else (0, at), (at, EXTENT) if axis == 0 else (EXTENT, at)]}))
                key = (layer, properties.get("kind"))
                covered[key] = covered.get(key, 0) + section.length
        return crossings, covered


def seam(first, second, axis):
    """What differs on both sides of a seam; how much was compared."""
    (lines, areas), (other_lines, other_areas) = first.cut(axis, EXTENT), second.cut(axis, 0)
    compared, differing = 0, []
    for key in lines.keys() | other_lines.keys():
        left, right = lines.get(key, []), list(other_lines.get(key, []))
        compared += max(len(left), len(right))
        for place in left:
            near = [other for other in right if abs(other - place) <= NEAR]
            if near:
                right.remove(near[0])
            else:
                differing.append(f"{first.name} {key}: a line at {place:.1f} ends")
        differing += [f"{second.name} {key}: a line at {place:.1f} begins" for place in right]
    for key in areas.keys() | other_areas.keys():
        a, b = areas.get(key, 0), other_areas.get(key, 0)
        compared += 1
        if abs(a - b) > 4 + 0.01 * max(a, b):
            differing.append(f"{first.name} {key}: covers {a:.0f} of the seam, {b:.0f} beyond it")
    return compared, differing


def numbers(lon, lat, z):
    side = 2**z
    y = (1 - math.asinh(math.tan(math.radians(lat))) / math.pi) / 2
    return int((lon + 180) / 360 * side), int(y * side)


def main():
    server = sys.argv[1].rstrip("/")
    about = json.load(urllib.request.urlopen(f"{server}/tiles.json"))
    west, south, east, north = about["bounds"]
    lon, lat = map(float, sys.argv[2:4]) if len(sys.argv) > 3 else ((west + east) / 2, (south + north) / 2)
    known = {layer["id"]: set(layer["fields"]) for layer in about["vector_layers"]}
    wrong, compared, differing = [], 0, []
    for z in range(0, 15):
        x, y = numbers(lon, lat, z)
        tile = Tile(server, z, x, y)
        again = Tile(server, z, x, y)
        counts = {layer: len(content["features"]) for layer, content in tile.layers.items()}
        print(f"{tile.name}: {tile.milliseconds:.1f} ms, then {again.milliseconds:.1f}; {tile.bytes} bytes; {counts}")
        wrong += tile.broken()
        for layer, properties, _ in tile.features():
            unknown = set(properties) - known.get(layer, set())
            if layer not in known or unknown:
                wrong.append(f"{tile.name} {layer}: {unknown} is not in tiles.json")
        last = 2**z - 1
        for axis, beside in ((0, (min(x + 1, last), y)), (1, (x, min(y + 1, last)))):
            if beside != (x, y):
                count, differ = seam(tile, Tile(server, z, *beside), axis)
                compared, differing = compared + count, differing + differ
    x, y = numbers(lon, lat, 14)
    around = [Tile(server, 14, x + dx, y + dy) for dx in range(-10, 11) for dy in range(-10, 11)]
    times = sorted(tile.milliseconds for tile in around)
    print(f"zoom 14, {len(times)} tiles: median {statistics.median(times):.1f} ms, 95 % {times[int(0.95 * len(times))]:.1f}, most {times[-1]:.1f}")
    for tile in around:
        wrong += tile.broken()
    for tile in around[:-21]:
        beside = around[around.index(tile) + 21]
        count, differ = seam(tile, beside, 0)
        compared, differing = compared + count, differing + differ
    print(f"{compared} places on seams, {len(differing)} differ; {len(wrong)} features wrong")
    print("\n".join((wrong + differing)[:20]))
    return 1 if wrong or len(differing) > 0.001 * compared else 0


if __name__ == "__main__":
    sys.exit(main())
