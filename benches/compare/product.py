"""The program that is compared with others, as a command and as a server."""

import http.client
import json
import os
import subprocess
import time
import urllib.parse
from pathlib import Path

from measure import Failed, cpu_of, run

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = Path(os.environ.get("TERRAPIN", TARGET / "release" / "terrapin"))


def load(extract, out, *more):
    """Loads an extract; what it took, with the size of the snapshot."""
    took = run([PROGRAM, "load", "--osm", extract, "--out", out, *more])
    return {**took, "size": Path(out).stat().st_size}


def query(snapshot, text):
    """One query by a process of its own."""
    took = run([PROGRAM, "query", snapshot, text], limit=120)
    return {**took, "count": elements(took.pop("out"))}


def elements(answer):
    """The number of elements of a JSON answer; of `out count`, the number that it reports."""
    try:
        found = json.loads(answer)["elements"]
    except ValueError:
        return None
    if len(found) == 1 and found[0]["type"] == "count":
        return int(found[0]["tags"]["total"])
    return len(found)


class Server:
    """`terrapin serve` with a client that keeps its connection."""

    def __init__(self, snapshot, *more):
        command = [PROGRAM, "serve", snapshot, "--bind", "127.0.0.1:0", "--json", *more]
        self.process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True)
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{PROGRAM} serve {snapshot} does not start")
        self.url = json.loads(line)["url"].rstrip("/")
        self.connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=300)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.process.terminate()
        self.process.wait()

    def request(self, method, path, body=None, **headers):
        """The answer to a request, and the times of the server until its last byte."""
        before, began = cpu_of(self.process.pid), time.monotonic()
        self.connection.request(method, path, body, {key.replace("_", "-"): value for key, value in headers.items()})
        response = self.connection.getresponse()
        content = response.read()
        took = {"wall": time.monotonic() - began, "cpu": cpu_of(self.process.pid) - before}
        if response.status >= 400:
            raise Failed(f"status {response.status}: {content[:160].decode(errors='replace')}")
        return {**took, "body": content}

    def overpass(self, text):
        took = self.request("POST", "/api/interpreter", urllib.parse.urlencode({"data": text}),
                            Content_Type="application/x-www-form-urlencoded")
        return {**took, "count": elements(took.pop("body"))}

    def sparql(self, text, accept="text/tab-separated-values"):
        took = self.request("POST", "/sparql", text.encode(), Content_Type="application/sparql-query", Accept=accept)
        return {**took, "count": rows(took.pop("body"))}


def rows(table):
    """The number of rows of a table of tab-separated values with a header, or of the truth value of an ASK."""
    if table.strip() in (b"true", b"false"):
        return table.strip().decode()
    return max(0, table.count(b"\n") - 1)
