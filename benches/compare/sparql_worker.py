"""Libraries that answer SPARQL: `sparql_worker.py oxigraph STORE` or `sparql_worker.py rdflib FILE.nt.gz...`.

`sparql_worker.py oxigraph-load STORE FILE.nt.gz...` makes a store. Lines of {"query": ...} give {"count": rows} once the
whole answer is written as text: tab-separated values, from rdflib CSV.
"""

import gzip
import io
import json
import sys


def load(folder, files):
    import pyoxigraph

    store = pyoxigraph.Store(folder)
    for file in files:
        with gzip.open(file) as triples:
            store.bulk_load(triples, format=pyoxigraph.RdfFormat.N_TRIPLES)
    store.optimize()


def oxigraph(folder):
    import pyoxigraph

    store = pyoxigraph.Store.read_only(folder)

    def ask(query):
        answer = store.query(query)
        if isinstance(answer, pyoxigraph.QueryBoolean):
            return str(bool(answer)).lower()
        return max(0, answer.serialize(format=pyoxigraph.QueryResultsFormat.TSV).count(b"\n") - 1)

    return ask


def rdflib(files):
    import rdflib

    graph = rdflib.Graph()
    for file in files:
        with gzip.open(file) as triples:
            graph.parse(triples, format="nt")

    def ask(query):
        answer = graph.query(query)
        if answer.type == "ASK":
            return str(bool(answer)).lower()
        text = io.BytesIO()
        answer.serialize(text, format="csv")
        return len(answer)

    return ask


def main():
    kind, *rest = sys.argv[1:]
    if kind == "oxigraph-load":
        return load(rest[0], rest[1:])
    ask = oxigraph(rest[0]) if kind == "oxigraph" else rdflib(rest)
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        try:
            print(json.dumps({"count": ask(json.loads(line)["query"])}), flush=True)
        except Exception as error:  # whatever the library raises is for the table
            print(json.dumps({"error": str(error) or type(error).__name__}), flush=True)


if __name__ == "__main__":
    main()
