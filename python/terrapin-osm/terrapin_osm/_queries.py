"""Queries as texts: OverpassQL and its XML form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from . import _native

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def parse(query: str) -> Element:
    """The tree of a query, in OverpassQL or XML: the elements of the language's XML form, with their attributes.

    Only a query that could be run has one.

    >>> tree = parse("node[amenity=cafe];out;")
    >>> [element.tag for element in tree]
    ['query', 'print']
    >>> tree.find("query/has-kv").attrib
    {'k': 'amenity', 'modv': '', 'v': 'cafe'}
    """
    from xml.etree.ElementTree import fromstring

    return fromstring(_native.convert(query, "xml", True)[0])


def format(query: str) -> str:
    """A query in the layout of OverpassQL that people read.

    >>> print(format("node[amenity=cafe](35.8,14.4,36.0,14.6);out   ids;").strip())
    node
      ["amenity"="cafe"]
      (35.8,14.4,36,14.6);
    out ids;
    """
    return convert(query, "ql")


def query_of(reply: str, lang: Literal["overpassql", "sparql"] | None = None) -> str:
    """The query in a language model's reply: in a fence, JSON, inline code, quotes or among sentences, outside of
    `<think>`; of several the last. `docs/replies.md` has the rules. A reply without a query is returned as it is.

    >>> query_of("<think>cafes</think>Sure:\\n```overpassql\\nnode[amenity=cafe];out;\\n```\\nIt finds cafes.")
    'node[amenity=cafe];out;'
    """
    return _native.query_of(reply, lang)


def convert(query: str, target: Literal["xml", "ql", "compact"]) -> str:
    """A query in another form: `xml`, `ql` over several lines, `compact` on one.

    Less is checked than where a query is run. What is broken raises `QueryError`, whose `converted` is what could be
    understood of it.

    >>> convert('<query type="node"><has-kv k="shop"/></query><print/>', "compact")
    'node["shop"];out;'
    """
    text, problem = _native.convert(query, target, False)
    if problem is not None:
        problem.converted = text
        raise problem
    return text
