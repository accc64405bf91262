"""Runs the programs of the page's "Code": each sends exactly the query that it was made for, and prints its answer.

A recorder lies between the programs and the server, and keeps what they send. Missing interpreters are named and skipped; R
needs httr2 and jsonlite. Julia is not run, as no package registry has it: its programs are parsed by tree-sitter. Vite, which
builds the programs, is installed by npm if it is missing.
"""

import http.client
import json
import os
import shutil
import subprocess
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
WEB = HERE.parent.parent / "web"
SECONDS = 120
NO_SNAPSHOT = "left out: no snapshot"
# What ends a literal early, is read as an escape or as a substitution, or is changed by a reader of lines.
HOSTILE = "it's \"\"\"q\"\"\" '''s''' `b` $x ${y} $(z) \\\\ \\n #{c} )\" )-\" %d & = + Ħal Għaxaq 日本語 🐢"
OVERPASS = f"""[out:json];
// {HOSTILE}
\tnode[place=town](1);
    node[name="Valletta"][place];
out tags; // "ends with a quote\""""
SPARQL = f"""# {HOSTILE}
SELECT ?echo WHERE {{
    BIND("V\\u0061lletta $x ${{y}} `b` 'q' \\\\\\"" AS ?echo)
}} # \""""
QUERIES = [
    ("overpassql", OVERPASS, "Valletta"),
    ("overpassql", "[out:csv(name; false)];node[name=Valletta][place];out;", "Valletta"),
    ("sparql", SPARQL, "Valletta $x ${y}"),
    ("sparql", "ASK { FILTER(1 = 1) } # it's", "rue"),
    ("sparql", "CONSTRUCT { <http://a.example/> <http://b.example/> 'it\\'s' } WHERE {}", "it's"),
]


class Recorder(ThreadingHTTPServer):
    """Passes requests on to the server, and keeps the query of each."""

    def __init__(self, address):
        self.host = urllib.parse.urlsplit(address).netloc
        self.queries = []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        # overpy sends the query as the body itself.
        fields = urllib.parse.parse_qs(body.decode(), keep_blank_values=True)
        self.server.queries.append((fields.get("query") or fields.get("data") or [body.decode()])[0])
        upstream = http.client.HTTPConnection(self.server.host, timeout=SECONDS)
        kept = {name: value for name, value in self.headers.items() if name.lower() in ("accept", "content-type", "user-agent")}
        upstream.request("POST", self.path, body, kept)
        answer = upstream.getresponse()
        text = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.getheader("Content-Type", "text/plain"))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def r_is_here():
    return shutil.which("Rscript") and subprocess.run(["Rscript", "-e", "library(httr2); library(jsonlite)"], capture_output=True).returncode == 0


def has_module(python, name, environment):
    return subprocess.run([python, "-c", f"import {name}"], capture_output=True, env=environment).returncode == 0


def wheel():
    """Returns the wheel of terrapin-osm, or None: WHEEL, else the newest of `scripts/wheel`."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
    wheels = sorted((target / "wheels").glob("terrapin_osm-*.whl"), key=lambda file: file.stat().st_mtime)
    return os.environ.get("WHEEL") or (wheels[-1] if wheels else None)


def environment_of(folder, python, program):
    """Returns the environment of the programs: the program and the wheel are found, and no proxy is."""
    path = os.pathsep.join([str(folder), os.environ["PATH"]])
    if program:
        (folder / "terrapin").symlink_to(Path(program).resolve())
    modules = folder / "modules"
    if wheel():
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--target", modules, wheel()], capture_output=True)
    paths = [str(modules), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "NO_PROXY": "*", "no_proxy": "*", "PATH": path, "LC_ALL": "C.UTF-8", "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def runners(python, program, snapshot, environment):
    """Returns for each program of the page how it is run, or why it is not, beginning with "skipped" or "left out"."""
    found = {
        "python": [python] if has_module(python, "terrapin_osm", environment) else "skipped: no wheel of terrapin-osm: make wheel",
        "overpy": [python],
        "sparqlwrapper": [python],
        "r": ["Rscript"] if r_is_here() else "skipped: no R with httr2 and jsonlite",
        "javascript": ["node"],
        "julia": [python, HERE / "parses.py", "julia"] if has_module(python, "tree_sitter_julia", environment) else "skipped: no Julia, and no tree-sitter-julia",
        "curl": ["sh"] if shutil.which("curl") else "skipped: no curl",
        "terrapin": ["sh"],
    }
    # Over a server that runs already there is no snapshot to open, and nothing is missing.
    return found if program and snapshot else {**found, "python": NO_SNAPSHOT, "terrapin": NO_SNAPSHOT}


def missing_tools():
    """Returns why the programs cannot be built, or an empty text. Vite is installed if it is missing."""
    if (WEB / "node_modules" / "vite").is_dir():
        return ""
    done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=WEB, capture_output=True, text=True)
    first = (done.stderr or done.stdout).strip().splitlines()[:3]
    return "" if done.returncode == 0 else "npm cannot install web/node_modules: " + " / ".join(first)


def snippets(asked, folder):
    file = folder / "asked.json"
    file.write_text(json.dumps(asked))
    done = subprocess.run(["node", HERE / "snippets.mjs", file], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def run(server, folder, python, program, snapshot, digest):
    """Returns a list of (name, problem): empty for a program that did well, "skipped: ..." if something is missing, "left out: ..." if it does not apply."""
    missing = missing_tools()
    if missing:
        return [("code", f"skipped: {missing}")]
    recorder = Recorder(server)
    asked = [
        {"language": language, "query": query, "origin": recorder.address, "snapshot": snapshot or "a.terrapin", "digest": digest or "", "token": False}
        for language, query, _ in QUERIES
    ]
    environment = environment_of(folder, python, program)
    found = runners(python, program, snapshot, environment)
    results = {}
    for (_, query, expected), programs in zip(QUERIES, snippets(asked, folder)):
        for snippet in programs:
            name = f"code: {snippet['id']}"
            command = found[snippet["id"]]
            if isinstance(command, str):
                results[name] = command
                continue
            file = folder / snippet["file"]
            file.write_text(snippet["text"], newline="")
            recorder.queries.clear()
            done = subprocess.run([*command, file], capture_output=True, text=True, timeout=SECONDS, env=environment, cwd=folder)
            problem = results.get(name, "")
            if done.returncode != 0:
                problem = problem or done.stderr.strip()[-500:] or f"exit status {done.returncode}"
            elif snippet["id"] == "julia":
                pass
            elif expected.lower() not in done.stdout.lower():
                problem = problem or f"printed {done.stdout[:200]!r}, without {expected!r}"
            elif snippet["id"] not in ("python", "terrapin") and recorder.queries != [query]:
                problem = problem or f"sent {recorder.queries!r}, not {query!r}"
            results[name] = problem
    recorder.shutdown()
    return list(results.items())
