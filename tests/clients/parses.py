"""Parses a program by its tree-sitter grammar and fails at the first error: parses.py LANGUAGE FILE."""

import importlib
import sys
from pathlib import Path

from tree_sitter import Language, Parser

grammar = importlib.import_module(f"tree_sitter_{sys.argv[1]}")
source = Path(sys.argv[2]).read_bytes()
tree = Parser(Language(grammar.language())).parse(source)


def errors(node):
    if node.type == "ERROR" or node.is_missing:
        yield node
    for child in node.children:
        yield from errors(child)


for node in errors(tree.root_node):
    sys.exit(f"line {node.start_point[0] + 1}: {source[node.start_byte:node.end_byte][:80]!r}")
# A `$` that was not quoted would be a part of the program.
if b"interpolation" in str(tree.root_node).encode():
    sys.exit("a string has an interpolation")
