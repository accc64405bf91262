#!/usr/bin/env python3
"""The share of queries that `terrapin convert` translates to another dialect of SPARQL with the same rows.

    TERRAPIN=target/release/terrapin benches/translations.py wikidata.terrapin queries.jsonl.gz scholia/app/templates

Each query is translated to QLever's dialect and to SPARQL 1.1. The translation to QLever's is translated back (`back`).
Original and translations run on one server. Answers are equal if they have the same rows as a multiset, with numbers by their value; if the query has
no result, that shows only that the translation is a valid query.

Sources are JSON lines with `query`, `sparql` or `gold`, files `.sparql` and `.rq`, or folders of these. Scholia's
templates are filled in by jinja2 with the items of --item. Prints the counts and the reasons; --out writes a line for
each query that has no translation with the same rows.
"""

import argparse
import collections
import concurrent.futures
import datetime
import gzip
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

TERRAPIN = os.environ.get("TERRAPIN", str(Path.home() / ".cache/terrapin-target/release/terrapin"))
# The dialect to read a translation in, and the dialect and text from which it is made.
TARGETS = {"qlever": ("qlever", None), "standard": ("standard", None), "back": ("wdqs", "qlever")}
XSD = "http://www.w3.org/2001/XMLSchema#"
FIELDS = ("query", "sparql", "sparql_query", "gold")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("snapshot", type=Path)
    parser.add_argument("sources", nargs="+", type=Path)
    parser.add_argument("--step", type=int, default=1, help="use every n-th query only")
    parser.add_argument("--timeout", type=float, default=10, help="seconds of a query")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--item", action="append", help="an item for templates [default: Q42, Q5, Q30]")
    parser.add_argument("--out", type=Path, help="a file for the queries without an equal translation")
    return parser.parse_args()


def templates(folder, items):
    """Returns the filled templates of a folder."""
    try:
        import jinja2
    except ImportError:
        sys.exit(f"{folder}: templates need jinja2: pip install jinja2")
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(str(folder)))
    values = {"q": items[0], "qs": items, "languages": ["en"], "language": "en", "limit": 10, "p": "P31"}
    values |= {f"q{number}": item for number, item in enumerate(items, 1)} | {"datetime": datetime}
    for path in sorted(folder.glob("*.sparql")):
        if "helpers" not in path.name:
            yield path.name, environment.get_template(path.name).render(values)


def queries(source, items):
    """Returns pairs of a name and a query."""
    if source.is_dir():
        if any("{{" in path.read_text() for path in source.glob("*.sparql")):
            yield from templates(source, items)
            return
        for path in sorted(source.iterdir()):
            if path.suffix in (".sparql", ".rq", ".jsonl", ".gz"):
                yield from queries(path, items)
    elif source.suffix in (".sparql", ".rq"):
        yield source.name, source.read_text()
    else:
        with (gzip.open if source.suffix == ".gz" else open)(source, "rt") as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                text = next((row[field] for field in FIELDS if isinstance(row.get(field), str)), None)
                if text is not None:
                    yield str(row.get("id", number)), text


def value(term):
    """Returns a term of SPARQL's JSON for comparison: a number without its datatype, with twelve digits."""
    if (term or {}).get("datatype", "").removeprefix(XSD) in ("integer", "int", "decimal", "double", "float"):
        return f"{float(term['value']):.12g}"
    return term


class Server:
    """`terrapin serve` on a free port."""

    def __init__(self, snapshot, threads):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        command = [TERRAPIN, "serve", str(snapshot), "--bind", self.address, "--max-queries", str(threads)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while self.process.poll() is None:
            try:
                urllib.request.urlopen(f"http://{self.address}/healthz", timeout=5).close()
                return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        sys.exit(f"{' '.join(command)}: ended with status {self.process.returncode}")

    def ask(self, query, dialect, timeout):
        """Returns the sorted rows and None, or None and the reason."""
        form = urllib.parse.urlencode({"query": query, "dialect": dialect, "timeout": timeout}).encode()
        headers = {"Accept": "application/sparql-results+json, application/n-triples;q=0.9"}
        request = urllib.request.Request(f"http://{self.address}/sparql", data=form, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=timeout + 60) as answer:
                body = answer.read()
                if "json" not in answer.headers["Content-Type"]:
                    return sorted(body.decode().splitlines()), None
        except http.client.IncompleteRead:
            return None, "the answer was cut"
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace").strip()
            return None, f"{error.code} {text.splitlines()[0] if text else ''}"
        answer = json.loads(body)
        if "boolean" in answer:
            return [str(answer["boolean"])], None
        names = sorted(answer["head"]["vars"])
        rows = answer["results"]["bindings"]
        return sorted(json.dumps([value(row.get(name)) for name in names], sort_keys=True) for row in rows), None


def convert(query, to, source):
    """Returns the translation and None, or None and the reason."""
    command = [TERRAPIN, "convert", "--to", to, "--json", "-"] + (["--from", source] if source else [])
    run = subprocess.run(command, input=query, capture_output=True, text=True)
    if run.returncode == 0:
        return run.stdout, None
    try:
        error = json.loads(run.stderr)
        error = error.get("error", error)
        problem = (error.get("diagnostics") or [error])[0]
        return None, f"{problem.get('code')}: {problem.get('message')}"
    except (json.JSONDecodeError, AttributeError):
        return None, run.stderr.strip().splitlines()[0]


def reason(message):
    """Returns a reason without the names of one query."""
    return re.sub(r"\?[A-Za-z_]\w*", "?v", re.sub(r"P\d+|Q\d+", "…", message))[:110]


def compare(server, query, timeout):
    """Returns for each target the outcome and a detail."""
    outcomes, made = {}, {}
    original = None
    for target, (to, source) in TARGETS.items():
        text = made.get(source) if source else query
        if text is None:
            continue
        made[target], why = convert(text, to, source)
        if made[target] is None:
            outcomes[target] = ("refused" if why.startswith("untranslatable") else "not a query", reason(why), None)
            continue
        original = original or server.ask(query, "wdqs", timeout)
        if original[0] is None:
            outcomes[target] = ("original fails", reason(original[1]), None)
            continue
        rows, why = server.ask(made[target], to, timeout)
        if rows is None:
            outcomes[target] = ("translation fails", reason(why), made[target])
        elif rows == original[0]:
            outcomes[target] = ("same rows" if rows else "both empty", "", None)
        else:
            outcomes[target] = ("other rows", f"{len(rows)} for {len(original[0])}", made[target])
    return outcomes


def main():
    args = arguments()
    items = args.item or ["Q42", "Q5", "Q30"]
    out = args.out.open("w") if args.out else None
    # The server ends with this process.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    server = Server(args.snapshot, args.threads)
    total = collections.defaultdict(collections.Counter)
    reasons = collections.defaultdict(collections.Counter)
    try:
        for source in args.sources:
            pairs = list(queries(source, items))[:: args.step]
            counts = collections.defaultdict(collections.Counter)
            with concurrent.futures.ThreadPoolExecutor(args.threads) as pool:
                found = pool.map(lambda pair: (pair, compare(server, pair[1], args.timeout)), pairs)
                for (name, query), outcomes in found:
                    for target, (outcome, detail, text) in outcomes.items():
                        counts[target][outcome] += 1
                        if outcome in ("same rows", "both empty"):
                            continue
                        if outcome != "other rows":
                            reasons[target][f"{outcome}: {detail}"] += 1
                        if out:
                            row = {"source": source.name, "id": name, "to": target, "outcome": outcome}
                            out.write(json.dumps(row | {"detail": detail, "query": query, "translation": text}) + "\n")
            print(f"{source.name}: {len(pairs)} queries")
            for target, outcomes in counts.items():
                total[target] += outcomes
                print(f"  {target:9} {dict(outcomes.most_common())}", flush=True)
    finally:
        server.process.terminate()
    for target, outcomes in total.items():
        equal = outcomes["same rows"] + outcomes["both empty"]
        tried = sum(outcomes.values()) - outcomes["original fails"] - outcomes["not a query"]
        print(f"{target}: {equal} of {tried} equal ({equal / max(1, tried):.1%}), {outcomes['same rows']} with rows")
        for why, count in reasons[target].most_common(30):
            print(f"  {count:5} {why}")


if __name__ == "__main__":
    main()
