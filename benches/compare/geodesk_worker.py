"""GeoDesk: `geodesk_worker.py FILE.gol`. Lines of {"goql": ..., "box": [west, south, east, north] | null, ...} give {"count": n}."""

import json
import sys

from geodesk import Box, Coordinate, Features


def main():
    world = Features(sys.argv[1])
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            found = world(request["goql"])
            if request.get("box"):
                west, south, east, north = request["box"]
                found = found(Box(west=west, south=south, east=east, north=north))
            if request.get("around"):
                lat, lon, metres = request["around"]
                found = found.around(Coordinate(lon=lon, lat=lat), meters=metres)
            rows = [(feature.id, dict(feature.tags)) for feature in found]
            print(json.dumps({"count": len(rows)}), flush=True)
        except Exception as error:  # whatever the library raises is for the table
            print(json.dumps({"error": str(error) or type(error).__name__}), flush=True)


if __name__ == "__main__":
    main()
