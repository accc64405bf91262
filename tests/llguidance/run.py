#!/usr/bin/env python3
"""The grammars of `terrapin grammar` in llguidance, in both formats, on the shared gold queries: `run.py`.

llguidance is installed into an environment in ~/.cache/terrapin-llguidance (XDG_CACHE_HOME). TERRAPIN is the program, else the
release build; TERRAPIN_SHARED is the folder of the gold queries, else ../shared. LIMIT is the number of queries of each set;
default: all. Queries that the program does not parse do not count. Exit status 77: something is not here.
"""

import gzip
import json
import os
import subprocess
import sys
import venv
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "terrapin-llguidance"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path.home() / ".cache" / "terrapin-target"))
PROGRAM = Path(os.environ.get("TERRAPIN", TARGET / "release" / "terrapin"))
SHARED = Path(os.environ.get("TERRAPIN_SHARED", TOP.parent / "shared"))
LIMIT = int(os.environ.get("LIMIT", 0)) or None
INSIDE = "TERRAPIN_LLGUIDANCE_INSIDE"
# One gold query nests aggregates, one has `!~` between evaluators. Both parse, and have no meaning.
MOST_REFUSED = {"overpassql": 1, "sparql": 1}


def skip(why):
    print(f"skipped: llguidance: {why}")
    sys.exit(77)


def run_in_environment():
    """Runs this file again in an environment with llguidance."""
    python = CACHE / "bin" / "python"
    if not python.exists():
        venv.create(CACHE, with_pip=True)
    needs = Path(__file__).with_name("requirements.txt")
    installed = subprocess.run([python, "-m", "pip", "install", "-q", "-r", needs], capture_output=True, text=True)
    if installed.returncode:
        skip("its package cannot be installed: " + (installed.stderr.strip().splitlines() or ["no message"])[-1])
    sys.exit(subprocess.run([python, __file__], env={**os.environ, INSIDE: "1"}).returncode)


def golds(language):
    if language == "overpassql":
        for split in ("train", "dev"):
            path = SHARED / "data" / "overpassnl" / f"dataset.{split}.query"
            yield from (line.strip() for line in path.read_text().splitlines()[:LIMIT])
        return
    for path in ("data/instruct-to-sparql/queries.jsonl.gz", "conformance/sparql/vectors.jsonl.gz"):
        with gzip.open(SHARED / path, "rt") as lines:
            yield from [json.loads(line)["query"].strip() for line in lines][:LIMIT]


def is_parsed(language, query):
    command = [PROGRAM, "fmt", "--lang", language]
    return subprocess.run(command, input=query, capture_output=True, text=True).returncode == 0


def check(language, form):
    """Returns the queries that parse and that the grammar refuses."""
    from llguidance import LLMatcher, LLTokenizer
    from llguidance.gbnf_to_lark import gbnf_to_lark

    written = subprocess.run(
        [PROGRAM, "grammar", "--lang", language, "--format", form], capture_output=True, text=True, check=True
    ).stdout
    grammar = LLMatcher.grammar_from_lark(gbnf_to_lark(written) if form == "gbnf" else written)
    tokenizer = LLTokenizer("byte")
    wrong = LLMatcher.validate_grammar(grammar, tokenizer)
    if wrong:
        sys.exit(f"{language}, {form}: llguidance does not take the grammar: {wrong}")
    count, refused = 0, []
    for query in golds(language):
        count += 1
        matcher = LLMatcher(tokenizer, grammar, log_level=0)
        is_accepted = matcher.consume_tokens(tokenizer.tokenize_str(query)) and matcher.is_accepting()
        if not is_accepted and is_parsed(language, query):
            refused.append(query)
    print(f"{language}, {form}: {count} queries, {len(refused)} that parse are refused", flush=True)
    return refused


def main():
    if not PROGRAM.is_file():
        skip(f"no program at {PROGRAM}: `make build`, or set TERRAPIN")
    if not (SHARED / "data" / "overpassnl").is_dir():
        skip(f"no gold queries in {SHARED}")
    if INSIDE not in os.environ:
        run_in_environment()
    is_wrong = False
    for language, most in MOST_REFUSED.items():
        for form in ("lark", "gbnf"):
            refused = check(language, form)
            # The conversion of GBNF joins numbers with a full stop behind them, among others.
            if len(refused) > (most if form == "lark" else most + 20):
                is_wrong = True
                print("\n".join(f"--- {query[:1000]}" for query in refused[:20]))
    sys.exit(is_wrong)


if __name__ == "__main__":
    main()
