"""Functions on query texts: parsing, formatting, conversion, extraction from replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from . import _native

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def parse(query: str) -> Element:
    """Returns the tree of an OverpassQL query (QL or XML): the elements of its XML form, with their attributes.

    A query that could not be run raises `QueryError`.

    >>> tree = parse("node[amenity=cafe];out;")
    >>> [element.tag for element in tree]
    ['query', 'print']
    >>> tree.find("query/has-kv").attrib
    {'k': 'amenity', 'modv': '', 'v': 'cafe'}
    """
    from xml.etree.ElementTree import fromstring

    return fromstring(_native.convert(query, "xml", True)[0])


def format(query: str, lang: Literal["overpassql", "sparql"] | None = None) -> str:
    """Formats a query, as `terrapin fmt` does: only white space changes, and in SPARQL the case of keywords. Comments
    and `{{shortcuts}}` stay. Without `lang`, the language is detected. A broken query raises `QueryError`.

    >>> print(format("[out:json];node [ amenity=cafe ] ;(._;>;);out   ids; // cafes"), end="")
    [out:json];
    node[amenity=cafe];
    (._; >;);
    out ids; // cafes
    >>> print(format("select?x{?x wdt:P31 wd:Q5}limit 3"), end="")
    SELECT ?x {
      ?x wdt:P31 wd:Q5
    }
    LIMIT 3
    """
    return _native.format(query, lang)


def query_of(reply: str, lang: Literal["overpassql", "sparql"] | None = None) -> str:
    """Extracts the query from a language model's reply: from a fence, JSON, inline code, quotes or sentences, outside
    of `<think>`. Of several queries the last counts. The rules are in `docs/reference/replies.md`. If there is no query, the
    reply is returned (of a reply with fences, the content of the last one).

    >>> query_of("<think>cafes</think>Sure:\\n```overpassql\\nnode[amenity=cafe];out;\\n```\\nIt finds cafes.")
    'node[amenity=cafe];out;'
    """
    return _native.query_of(reply, lang)


def convert(query: str, target: Literal["xml", "ql", "compact"]) -> str:
    """Converts a query to another form: `xml`, `ql` (several lines) or `compact` (one line).

    Fewer checks run than before an execution. A broken query raises `QueryError`; its `converted` is the converted
    valid part.

    >>> convert('<query type="node"><has-kv k="shop"/></query><print/>', "compact")
    'node["shop"];out;'
    """
    text, problem = _native.convert(query, target, False)
    if problem is not None:
        problem.converted = text
        raise problem
    return text
