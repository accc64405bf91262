#!/usr/bin/env python3
"""TEXT2SPARQL's own client against our server, our client against its server, and the scores of its code and of
T2S-Metrics beside ours on the same answers.

The client is installed from PyPI into ~/.cache/terrapin-clients (XDG_CACHE_HOME). T2S_METRICS is a checkout of
github.com/Wimmics/t2s-metrics with its requirements in the Python T2S_PYTHON; CHALLENGE and CK25 are checkouts of
github.com/AKSW/text2sparql.aksw.org (2025) and github.com/eccenca/ck25-dataset, for the published evaluations of nine
systems. Parts without their checkout are skipped and said so. TERRAPIN is the program. Exit status 77: no client.
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "terrapin-clients" / "text2sparql"
# The client needs pytrec-eval, whose build fetches the source of trec_eval; the fork has wheels of the same module.
PACKAGES = ["click", "fastapi", "uvicorn", "pyyaml", "pydantic-settings", "requests", "loguru", "tqdm", "SPARQLWrapper",
            "numpy", "scipy", "setuptools<81", "pytrec-eval-terrier==0.5.11"]
CLIENT = "text2sparql-client==2.1.0"

DATASET = "https://text2sparql.aksw.org/2025/corporate/"
DATA = """\
@prefix : <http://example.org/> .
:a :name "Anna" ; :age 42 ; :in :x . :b :name "Ben" ; :age 17 ; :in :x . :c :name "Cleo" ; :age 30 ; :in :y .
:x :label "Sales" . :y :label "Test"@en .
"""
P = "PREFIX : <http://example.org/> "
# Question, gold query, the query of the scripted model, and whether the order matters.
QUESTIONS = [
    ("Who works here?", "SELECT ?n { ?p :name ?n }", "SELECT ?who { ?p :name ?who }", False),
    ("Who is in Sales?", 'SELECT ?n { ?p :name ?n ; :in/:label "Sales" }', "SELECT ?n { ?p :name ?n }", False),
    ("Who is in Test?", "SELECT ?n { ?p :name ?n ; :in :y }", "SELECT ?n { ?p :name ?n ; :in :x }", False),
    ("Names and ages?", "SELECT ?n ?a { ?p :name ?n ; :age ?a }", "SELECT ?a { ?p :age ?a }", False),
    ("Is anybody 42?", "ASK { ?p :age 42 }", "ASK { ?p :age 42 }", False),
    ("Is somebody 43?", "ASK { ?p :age 42 }", "ASK { ?p :age 43 }", False),
    ("Is there a child?", "ASK { ?p :age 7 }", "ASK { ?p :age 7 }", False),
    ("Who is oldest first?", "SELECT ?n { ?p :name ?n ; :age ?a } ORDER BY DESC(?a)", "SELECT ?n { ?p :age ?a ; :name ?n } ORDER BY ?a LIMIT 2", True),
    ("Who is youngest?", "SELECT ?n { ?p :name ?n ; :age ?a } ORDER BY ?a LIMIT 1", "SELECT ?n { ?p :age ?a ; :name ?n } ORDER BY ?a", True),
    ("Who weighs a ton?", "SELECT ?n { ?p :weight ?n }", "SELECT ?n { ?p :name ?n }", False),
    ("How heavy is Ben?", "SELECT ?n { :b :age ?n }", "SELECT ?n { :b :weight ?n }", False),
]
SCORES = {"set_P": "text2sparql.precision", "set_recall": "text2sparql.recall", "set_F": "text2sparql.f1", "ndcg": "text2sparql.ndcg"}
# T2S-Metrics' names and ours. Two empty answers and answers with unbound cells differ: docs/guides/published.md.
T2S = {"answerset_precision": "gerbil.precision", "answerset_recall": "gerbil.recall", "answerset_f1": "gerbil.f1",
       "f1_qald": "gerbil.f1", "f1_spinach": "spinach.f1"}
# T2S-Metrics' recall of a gold answer without values is 1, that of GERBIL 0.
KNOWN = {("t:10-en", "answerset_recall")}
SYSTEMS = ("AIFB", "FRANZ", "IIS-L", "IIS-Q", "INFAI", "LABIC", "LACODAM", "MIPT", "WSE")
# Gold queries that fail or are empty on the challenge's own server, and queries with xsd:int, which is not a cast of
# SPARQL 1.1: their answers differ, not the scores.
OTHER_ANSWERS = {25, 41, 37, 42}


class Model(BaseHTTPRequestHandler):
    """A scripted model that knows the query of each question."""

    def do_POST(self):
        text = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["messages"][-1]["content"]
        known = [pred for question, _, pred, _ in QUESTIONS if question in text]
        words = "{}" if text.startswith("Say what this question mentions") or not known else f"```sparql\n{P}{known[0]}\n```"
        choice = {"index": 0, "message": {"role": "assistant", "content": words}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def client():
    """The client's program, installed once."""
    program = CACHE / "bin" / "text2sparql"
    note = CACHE / "installed.txt"
    wanted = "\n".join([sys.version, CLIENT, *PACKAGES])
    if not note.exists() or note.read_text() != wanted:
        pip = [CACHE / "bin" / "pip", "install", "-q", "--disable-pip-version-check"]
        for command in ([sys.executable, "-m", "venv", CACHE], [*pip, *PACKAGES], [*pip, "--no-deps", CLIENT]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                print("skipped: text2sparql-client cannot be installed: " + " / ".join(done.stderr.strip().splitlines()[-2:]))
                sys.exit(77)
        note.write_text(wanted)
    return program


def run(*command, cwd=None, **more):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, **more)
    if done.returncode != 0:
        sys.exit(f"wrong: {' '.join(map(str, command[:3]))}: status {done.returncode}: {done.stderr[-800:]}{done.stdout[-400:]}")
    return done.stdout


def serve(command, ready):
    """Starts a server; returns the process when a line of its output has the address."""
    server = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in server.stdout:
        if ready in line:
            threading.Thread(target=server.stdout.read, daemon=True).start()
            return server, line
    sys.exit(f"wrong: {command[0]} ended")


def records(folder):
    return {row["id"]: row for row in map(json.loads, (folder / "results.jsonl").read_text().splitlines())}


def compare(ours, theirs, names, left_out=()):
    """Returns the number of compared scores, and the different ones."""
    count, wrong = 0, []
    for question, scores in theirs.items():
        if question.startswith("average") or question in left_out:
            continue
        for their, our in names.items():
            if their not in scores:
                continue
            count += 1
            if abs((ours[question].get(our) if ours[question].get(our) is not None else -1) - scores[their]) > 1e-9:
                wrong.append((question, their, scores[their], ours[question].get(our)))
    return count, wrong


def report(what, count, wrong):
    print(f"{what}: {count - len(wrong)} of {count} scores are equal", flush=True)
    if wrong or not count:
        sys.exit(f"wrong: {what}: {wrong[:10]}")


def t2s_metrics(folder, lines, endpoint):
    """The scores of T2S-Metrics, by question."""
    checkout = Path(os.environ["T2S_METRICS"])
    out = folder / "t2s"
    out.mkdir()
    run(os.environ.get("T2S_PYTHON", sys.executable), "-m", "t2smetrics.cli", "run", "-d", "x", "-j", lines, "-m", *T2S,
        "-ee", endpoint, "-eq", "-ep", f"{out}/", cwd=checkout)
    found = {}
    for row in json.loads(next(out.glob("*.json")).read_text())[0]["per_query_results"]:
        found.setdefault(row["id"], {})[row["metric"]] = row["score"]
    return found


def published(terrapin, folder):
    """The published evaluations of nine systems on CK25."""
    challenge, ck25 = Path(os.environ["CHALLENGE"]), Path(os.environ["CK25"])
    snapshot = folder / "ck25.terrapin"
    run(terrapin, "load", "--rdf", challenge / "docs/data/prod-inst.ttl", "--rdf", challenge / "docs/data/prod-vocab.ttl", "--out", snapshot)
    count, wrong = 0, []
    for system in SYSTEMS:
        answers = challenge / "docs/results" / system / "ck25_answers.json"
        out = folder / system
        run(terrapin, "eval", "text2sparql", snapshot, "--gold", ck25 / "questions.yml", "--pred", answers, "--out", out, "--no-cache")
        theirs = json.loads((challenge / "docs/results" / system / "ck25_eval.json").read_text())
        left_out = {f"ck25:{number}-en" for number in OTHER_ANSWERS}
        more, other = compare(records(out), theirs, SCORES, left_out)
        count, wrong = count + more, wrong + [(system, *row) for row in other]
    print(f"published evaluations of CK25: {count - len(wrong)} of {count} scores are equal; {wrong[:12]}")


def main():
    program, terrapin = client(), os.environ.get("TERRAPIN", TARGET / "release" / "terrapin")
    model = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data.ttl").write_text(DATA)
        entries = [
            {"id": number, "question": {"en": question}, "features": ["RESULT_ORDER_MATTERS"] if ordered else ["SELECT"], "query": {"sparql": P + gold}}
            for number, (question, gold, _, ordered) in enumerate(QUESTIONS, 1)
        ]
        questions = folder / "questions.yml"
        # JSON is YAML.
        questions.write_text(json.dumps({"dataset": {"id": DATASET, "prefix": "t"}, "questions": entries}))
        run(terrapin, "load", "--rdf", folder / "data.ttl", "--out", folder / "data.terrapin")
        options = ["--model-url", f"http://127.0.0.1:{model.server_port}/v1", "--model-name", "scripted", "--model-whole", "--repairs", "0"]
        server, line = serve([terrapin, "serve", folder / "data.terrapin", "--bind", "127.0.0.1:0", "--json", "--dataset", DATASET, *options], '"url"')
        try:
            url = json.loads(line)["url"]
            run(program, "ask", questions, f"{url}/text2sparql", "-o", folder / "answers.json", "--retries", 0, cwd=folder)
            answers = json.loads((folder / "answers.json").read_text())
            expected = [(f"t:{number}-en", P + pred) for number, (_, _, pred, _) in enumerate(QUESTIONS, 1)]
            if [(answer["qname"], answer["query"]) for answer in answers] != expected:
                sys.exit(f"wrong: the client got other queries: {answers}")
            print(f"its client, our server: {len(answers)} of {len(QUESTIONS)} questions are answered")
            run(program, "query", questions, "-e", f"{url}/sparql", "-o", folder / "true.json", cwd=folder)
            run(program, "query", questions, "-a", folder / "answers.json", "-e", f"{url}/sparql", "-o", folder / "pred.json", cwd=folder)
            run(program, "evaluate", "ours", folder / "true.json", folder / "pred.json", "-o", folder / "eval.json", cwd=folder)
            run(terrapin, "eval", "text2sparql", folder / "data.terrapin", "--gold", questions, "--pred", folder / "answers.json", "--out", folder / "run", "--no-cache")
            ours = records(folder / "run")
            report("scores of the client", *compare(ours, json.loads((folder / "eval.json").read_text()), SCORES))
            run(terrapin, "eval", "ask", folder / "data.terrapin", questions, "--system", f"{url}/text2sparql", "--out", folder / "asked", "--no-cache")
            rows = [json.loads(text) for text in (folder / "asked" / "asked.jsonl").read_text().splitlines()[1:]]
            if [row["query"] for row in rows] != [query for _, query in expected]:
                sys.exit("wrong: our evaluation got other queries of our server")
            print("our evaluation, our server: the same queries")
            if os.environ.get("T2S_METRICS"):
                lines = [{"id": f"t:{n}-en", "golden": P + gold, "generated": P + pred, "order_matters": ordered}
                         for n, (_, gold, pred, ordered) in enumerate(QUESTIONS, 1)]
                (folder / "lines.jsonl").write_text("".join(json.dumps(row) + "\n" for row in lines))
                theirs = t2s_metrics(folder, folder / "lines.jsonl", f"{url}/sparql")
                count, wrong = compare(ours, theirs, T2S)
                differences = {(question, score) for question, score, _, _ in wrong}
                if differences != KNOWN:
                    sys.exit(f"wrong: scores of T2S-Metrics: {wrong}")
                print(f"scores of T2S-Metrics: {count - len(wrong)} of {count} scores are equal, the other differs as documented")
            else:
                print("skipped: T2S-Metrics: set T2S_METRICS to a checkout")
        finally:
            server.terminate()
        # Its reference server answers every question with the same query.
        other, _ = serve([program, "serve", "--port", "18931", "--sleep", "0"], "Uvicorn running")
        try:
            run(terrapin, "eval", "ask", folder / "data.terrapin", questions, "--system", "http://127.0.0.1:18931/", "--out", folder / "theirs", "--no-cache")
            rows = [json.loads(text) for text in (folder / "theirs" / "asked.jsonl").read_text().splitlines()[1:]]
            if not all("?resource a ?class" in row["query"] for row in rows):
                sys.exit(f"wrong: queries of its server: {rows[0]}")
            print(f"our evaluation, its server: {len(rows)} questions are answered")
        finally:
            other.terminate()
        if os.environ.get("CHALLENGE") and os.environ.get("CK25"):
            published(terrapin, folder)
        else:
            print("skipped: published evaluations: set CHALLENGE and CK25 to checkouts")


if __name__ == "__main__":
    main()
