"""The small groups: tiles, geocoder, GeoJSON, scoring, reward, GeoSPARQL."""

import http.server
import importlib.util
import json
import os
import shutil
import threading
import urllib.parse
from pathlib import Path

import measure
import peers
import product
from measure import Failed, cpu_of, run, summary
from overpass import OURS, start
from results import Group, Table

ROOT = Path(__file__).resolve().parent.parent.parent

def alternating(options, askers):
    """Long runs in turn, without a warm one."""
    return measure.interleaved(askers, 1 if options.quick else options.rounds, warm=0)


# Tiles ---------------------------------------------------------------------------------------------------------------

BOX = "14.1,35.75,14.65,36.15"


def tilemaker_test():
    """The comparison of tests/tilemaker/run.py, which has the configuration."""
    spec = importlib.util.spec_from_file_location("tilemaker_run", ROOT / "tests" / "tilemaker" / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tiles(options):
    group = Group("Tiles", "All tiles of Malta in the Shortbread schema, zooms 5 to 14. Terrapin draws tiles when they are "
                  "requested: its time is that of loading the extract and of answering one request for each tile that "
                  "tilemaker writes. tilemaker has one thread.")
    extract = options.extract("niue" if options.quick else "malta-2024")
    if options.quick:
        snapshot = options.snapshot(extract)
        with product.Server(snapshot) as server:
            took = server.request("GET", "/tiles/10/20/570.mvt")
        group.tables.append(Table("One tile", [{"name": "zoom 10", "cells": {OURS: summary([took])}}]))
        return group
    group.missing["planetiler"] = "its jar is published with its sources only, not as a package"
    if not start(group, "tilemaker", lambda: peers.program("tilemaker")):
        return group
    beside = tilemaker_test()
    try:
        drawn = options.folder / "tilemaker"
        shutil.rmtree(drawn, ignore_errors=True)
        drawn.mkdir()
        beside.shortbread()
        before = measure.children()
        folder = beside.draw(extract, BOX, drawn)
        theirs = [measure.children(before)]
    except SystemExit:
        group.missing["tilemaker"] = "its configuration for Shortbread cannot be fetched: set SHORTBREAD to a checkout"
        return group
    group.versions["tilemaker"] = peers.version(["tilemaker", "--help"])
    paths = [path for zoom in range(5, 15) for path in sorted((folder / str(zoom)).glob("*/*.pbf"))]
    ours = product.load(extract, options.folder / "tiles.terrapin")
    with product.Server(options.folder / "tiles.terrapin") as server:
        asked = [server.request("GET", f"/tiles/{path.parent.parent.name}/{path.parent.name}/{path.stem}.mvt") for path in paths]
    drawing = {key: sum(one[key] for one in asked) for key in ("cpu", "wall")}
    total = {key: ours[key] + drawing[key] for key in drawing}
    rows = [{"name": f"load and {len(paths)} tiles", "cells": {OURS: summary([total]), "tilemaker": summary(theirs)}},
            {"name": "the tiles alone", "cells": {OURS: summary([drawing]), "tilemaker": {"cannot": "one run does both"}}}]
    group.tables.append(Table(extract.name, rows))
    return group


# GeoJSON -------------------------------------------------------------------------------------------------------------

CONVERT = """
const osmtogeojson = require(process.argv[2] + '/node_modules/osmtogeojson');
console.log('{}');
require('readline').createInterface({input: process.stdin}).on('line', line => {
  const answer = osmtogeojson(JSON.parse(JSON.parse(line).answer));
  console.log(JSON.stringify({count: answer.features.length, bytes: JSON.stringify(answer).length}));
});
"""
GEOJSON = [("museums", "[out:json];nwr[tourism=museum];out geom;"), ("buildings", "[out:json];way[building];out geom;"),
           ("borders", "[out:json];rel[boundary=administrative];out geom;"), ("roads", "[out:json];way[highway];(._;>;);out;")]


def geojson(options):
    group = Group("GeoJSON", "The same answer as GeoJSON: Terrapin writes it instead of JSON; osmtogeojson converts Terrapin's JSON, "
                  "read from and written as text in a running process of Node. The time of osmtogeojson is without the query.")
    snapshot = options.snapshot(options.extract("niue" if options.quick else "malta-2024"))
    queries = GEOJSON[:1] if options.quick else GEOJSON
    worker = None
    if not options.quick and start(group, "osmtogeojson", lambda: peers.program("node")):
        worker = start(group, "osmtogeojson", lambda: converter(options))
    table = Table(snapshot.name)
    with product.Server(snapshot) as server:
        for name, text in queries:
            body = urllib.parse.urlencode({"data": text})

            def ours():
                took = server.request("POST", "/api/interpreter", body, Accept="application/geo+json",
                                      Content_Type="application/x-www-form-urlencoded")
                return {**took, "count": len(json.loads(took.pop("body"))["features"])}

            askers = {OURS: ours}
            if worker:
                plain = server.request("POST", "/api/interpreter", urllib.parse.urlencode({"data": text}),
                                       Content_Type="application/x-www-form-urlencoded")["body"].decode()
                askers["osmtogeojson"] = lambda: worker.ask(answer=plain)
            table.rows.append({"name": name, "query": text, "cells": measure.interleaved(askers, options.rounds)})
    if worker:
        group.versions["osmtogeojson"] = "osmtogeojson " + json.loads(
            (peers.geojson_folder() / "node_modules" / "osmtogeojson" / "package.json").read_text())["version"]
        worker.stop()
    group.tables.append(table)
    return group


def converter(options):
    script = options.folder / "convert.cjs"
    script.write_text(CONVERT)
    return measure.Worker([peers.program("node"), script, peers.geojson_folder()], limit=120)


# Scoring -------------------------------------------------------------------------------------------------------------

def scoring(options):
    group = Group("Scoring", "OverpassNL's EX, EX_soft, OQS and their parts, of the same gold queries and predictions. The authors' "
                  "script runs unchanged against `terrapin serve`, since it needs a server, whose time is given apart. Both give the same "
                  "scores. No results are taken from caches.")
    benchmark = options.shared / "conformance" / "malta-benchmark"
    if not benchmark.exists():
        group.missing["all"] = "the benchmark is in no public place: set TERRAPIN_SHARED"
        return group
    number = 5 if options.quick else 200
    snapshot = options.snapshot(options.extract("malta-2016"))
    folder = options.folder / "scoring"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in ("gold.query", "pred.query"):
        (folder / name).write_text("".join((benchmark / name).read_text().splitlines(keepends=True)[:number]))
    command = [product.PROGRAM, "eval", "overpassnl", snapshot, "--gold", folder / "gold.query", "--pred", folder / "pred.query",
               "--out", folder / "out", "--no-cache"]
    table = Table(f"{number} pairs on malta-2016", scale=1.0, heading="processor time, s")
    askers = {OURS: lambda: run(command)}
    checkout = os.environ.get("OVERPASSNL")
    if options.quick:
        table.rows.append({"name": "all scores", "cells": alternating(options, askers)})
    elif not checkout:
        group.missing["OverpassNL's evaluation"] = "set OVERPASSNL to a checkout of its repository"
        table.rows.append({"name": "all scores", "cells": alternating(options, askers)})
    else:
        with product.Server(snapshot) as server:
            askers["the authors' script"] = lambda: script(folder, Path(checkout), server)
            cells = alternating(options, askers)
        table.rows.append({"name": "all scores, the script alone", "cells": cells})
        theirs = cells["the authors' script"]
        if "cannot" not in theirs:
            table.text = f"The server took another {script.server:.1f} s of processor time in the last run of the script."
    group.tables.append(table)
    return group


def script(folder, checkout, server):
    """The authors' run_evaluation.py, with an empty cache but their table of places."""
    work = folder / "authors"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(checkout / "evaluation", work)
    shutil.copy(folder / "pred.query", work / "pred.query")
    lines = (folder / "gold.query").read_text().splitlines()
    (work / "ref.malta.query").write_text("\n".join(lines) + "\n")
    (work / "ref.malta.nl").write_text("question\n" * len(lines))
    (work / "ref.malta.bbox").write_text("35.78,14.18,36.09,14.58\n" * len(lines))
    before = cpu_of(server.process.pid)
    took = run([peers.python(), "run_evaluation.py", "--ref_file", work / "ref.malta", "--model_output_file", work / "pred.query",
                "--cache_dir", work / "cache", "--overpass_url", server.url + "/api/interpreter", "--nominatim_url",
                server.url + "/search.php", "--convert_url", server.url + "/api/convert"], cwd=work, limit=600)
    script.server = cpu_of(server.process.pid) - before
    return took


# Reward --------------------------------------------------------------------------------------------------------------

OVERPY = """
import json, sys, overpy
api = overpy.Overpass(url=sys.argv[1], max_retry_count=0)
def ids(query):
    answer = api.query(query)
    return {(type(one).__name__, one.id) for kind in (answer.nodes, answer.ways, answer.relations) for one in kind}
print("{}", flush=True)
for line in sys.stdin:
    pair = json.loads(line)
    try:
        gold, pred = ids(pair["gold"]), ids(pair["pred"])
        score = 2 * len(gold & pred) / max(1, len(gold) + len(pred))
        print(json.dumps({"count": round(score, 6)}), flush=True)
    except Exception as error:
        print(json.dumps({"error": type(error).__name__}), flush=True)
"""


AGAIN, PEER = "Terrapin, the same pairs again", "overpy, Overpass API"


def reward(options):
    group = Group("Reward", "The F1 of a prediction's elements, as a trainer asks for it: `POST /score` beside overpy with a "
                  "server of Overpass API. One client, one pair at a time, each pair once. `/score` keeps results in memory: the "
                  "second row asks for the same pairs again, whose results it still has.")
    snapshot = options.snapshot(options.extract("malta-2016"))
    pairs = benchmark_pairs(options)
    if not pairs:
        group.missing["the pairs of the Malta benchmark"] = "in no public place: set TERRAPIN_SHARED"
        pairs = [("[out:json];node[amenity=cafe];out;", "[out:json];node[amenity=bar];out;")]
    overpass = None if options.quick else start(group, "overpy with Overpass API", peers.Overpass)
    with product.Server(snapshot) as server:
        def ours(gold, pred):
            took = server.request("POST", "/score?similarity=false", json.dumps({"gold": gold, "pred": pred}) + "\n",
                                  Content_Type="application/x-ndjson")
            answer = json.loads(took.pop("body"))
            return {**took, "count": round(answer.get("f1") or 0, 6)}

        for gold, pred in benchmark_pairs(options)[-5:]:
            ours(gold, pred)  # warms the server up
        pairs = pairs[:-5] or pairs
        if not overpass:
            runs = [ours(*pair) for pair in pairs]
            group.tables.append(rates([{"cells": {OURS: summary([one])}} for one in runs], [OURS]))
            return group
        group.versions["overpy"] = f"overpy {peers.package_version('overpy')}"
        database = options.overpass_database(overpass, options.extract("malta-2016"))
        with OverpassServer(overpass, database) as peer, measure.Worker([peers.python(), "-c", OVERPY, peer.url], 60) as worker:
            def theirs(gold, pred):
                before = peer.cpu
                took = worker.ask(gold=gold, pred=pred)
                return {**took, "cpu": took["cpu"] + peer.cpu - before}

            runs = [{"name": gold, "cells": measure.interleaved(
                {OURS: lambda: ours(gold, pred), AGAIN: lambda: ours(gold, pred), PEER: lambda: theirs(gold, pred)}, 1, warm=0)}
                    for gold, pred in pairs]
    good = [one for one in runs if all("cannot" not in cell for cell in one["cells"].values())]
    group.tables.append(rates(good, [OURS, AGAIN, PEER]))
    same = sum(len({cell.get("count") for cell in one["cells"].values()}) == 1 for one in good)
    group.notes.append(f"Of {len(runs)} pairs, overpy answered {len(good)}, which count here; the F1 is the same in {same} of these. overpy reads "
                       "answers in JSON or XML with elements only.")
    return group


def rates(runs, programs):
    table = Table(f"{len(runs)} pairs of the Malta benchmark", listed=True, heading="requests a second of processor", scale=1.0,
                  unit="rate", rest=[("wall_rate", "requests a second of wall", "{:.1f}"), ("median", "median wall, ms", "{:.1f}")])
    for name in programs:
        cells = [one["cells"][name] for one in runs]
        walls = sorted(cell["wall"] for cell in cells)
        table.rows.append({"name": name, "cells": {name: {
            "rate": len(cells) / sum(cell["cpu"] for cell in cells), "wall_rate": len(cells) / sum(walls),
            "median": 1000 * walls[len(walls) // 2], "runs": len(cells), "cpu": sum(cell["cpu"] for cell in cells)}}})
    table.higher = True
    return table


def benchmark_pairs(options):
    folder = options.shared / "conformance" / "malta-benchmark"
    if not folder.exists():
        return []
    gold, pred = ((folder / f"{name}.query").read_text().splitlines() for name in ("gold", "pred"))
    plain = [(one, two) for one, two in zip(gold, pred) if "[out:json]" in one and "[out:json]" in two]
    return plain[: 8 if options.quick else 105]


class OverpassServer:
    """A web server on loopback that starts a process of Overpass API for each request, as CGI does."""

    def __init__(self, overpass, database):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                data = urllib.parse.parse_qs(body).get("data", [body])[0]
                try:
                    took = overpass.query(database, data)
                    status, answer = 200, took["out"].encode()
                    outer.cpu += took["cpu"]
                except Failed as error:
                    status, answer = 400, str(error).encode()
                kind = "application/json" if answer.lstrip().startswith(b"{") else "application/osm3s+xml"
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.cpu = 0.0
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/api/interpreter"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
