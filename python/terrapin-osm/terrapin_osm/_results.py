"""The results of queries."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native

if TYPE_CHECKING:
    import geopandas  # type: ignore[import-untyped,unused-ignore]
    import pandas  # type: ignore[import-untyped,unused-ignore]
    import pyarrow  # type: ignore[import-untyped,unused-ignore]

_PART = 1000


class Table:
    """Rows for other libraries, through Arrow's PyCapsule interface and without copies.

    `pyarrow.table(t)`, `polars.DataFrame(t)`, `duckdb.sql("from t")` and `pandas.DataFrame.from_arrow(t)` accept it.
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {', '.join(self.column_names)}>"

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    def __arrow_c_schema__(self) -> object:
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def to_pyarrow(self) -> pyarrow.Table:
        """Returns a pyarrow table. Requires pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a pandas DataFrame. Requires pyarrow and pandas."""
        return self.to_pyarrow().to_pandas(maps_as_pydicts="strict")


class Answer:
    """The answer to an OverpassQL query. Iterating yields its elements as in Overpass's JSON.

    The content depends on the query's `out` statements: positions with `out geom` or `out center`, metadata with
    `out meta`.
    """

    def __init__(self, native: _native.Answer) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self._native)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for part in self._native.parts(_PART):
            yield from json.loads(part)["elements"]

    def __repr__(self) -> str:
        return f"<Answer of {len(self)} elements>"

    def _repr_html_(self) -> str:
        from ._display import answer_html

        return answer_html(self)

    @cached_property
    def ids(self) -> list[tuple[str, int]]:
        """Type and id of each element with an id, in order."""
        return self._native.ids()

    @property
    def content_type(self) -> str:
        """The media type of `bytes`."""
        return self._native.content_type

    @property
    def nbytes(self) -> int:
        """Size of the answer in memory, in bytes."""
        return self._native.nbytes

    @cached_property
    def bytes(self) -> bytes:
        """The answer as a server sends it, in the format of the query's `[out:...]`."""
        return self._native.written("asked")

    def json(self) -> Any:
        """Returns the answer in Overpass's JSON, regardless of the query's `[out:...]`."""
        return json.loads(self._native.written("json"))

    def xml(self) -> str:
        """Returns the answer in Overpass's XML, regardless of the query's `[out:...]`."""
        return self._native.written("xml").decode()

    def to_geojson(self) -> Any:
        """Returns a GeoJSON FeatureCollection, by the rules in `docs/reference/geojson.md`."""
        return json.loads(self._native.written("geojson"))

    def to_arrow(self) -> Table:
        """Returns the elements as rows: type, id, lat, lon, tags, metadata, nodes, members, bbox, and geometry as
        WKB.
        """
        return Table(self._native.to_arrow())

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the rows of `to_arrow` as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_geodataframe(self) -> geopandas.GeoDataFrame:
        """Returns the rows of `to_arrow` as a GeoDataFrame. Requires GeoPandas and pyarrow."""
        import geopandas

        frame = geopandas.GeoDataFrame.from_arrow(self.to_arrow(), geometry="geometry")
        frame["tags"] = frame["tags"].map(dict)
        return frame

    def explore(self, **options: Any) -> Any:
        """Returns an interactive map by GeoPandas and folium, which loads its tiles from the network."""
        return self.to_geodataframe().explore(**options)


_XSD = "http://www.w3.org/2001/XMLSchema#"
_INTEGERS = frozenset(
    _XSD + name
    for name in (
        "integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
        "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte",
    )
)  # fmt: skip
_FLOATS = frozenset({_XSD + "double", _XSD + "float"})


class Term(NamedTuple):
    """An RDF term in an answer to SPARQL. `str` returns its `value`."""

    kind: str
    """`uri`, `literal`, `bnode` or `triple`."""
    value: str
    """The IRI, the lexical form, the label, or a triple term in N-Triples."""
    datatype: str | None
    lang: str | None
    """The language, with `--ltr` or `--rtl` if the literal has a base direction."""

    def __str__(self) -> str:
        return self.value

    def json(self) -> dict[str, str]:
        """Returns the term as in SPARQL's JSON."""
        made = {"type": self.kind, "value": self.value}
        if self.lang is not None:
            made["xml:lang"], _, direction = self.lang.partition("--")
            if direction:
                made["its:dir"] = direction
        elif self.datatype is not None and self.datatype != _XSD + "string":
            made["datatype"] = self.datatype
        return made

    @property
    def python(self) -> Any:
        """The value as `int`, `float`, `Decimal`, `bool` or `str`, by its datatype."""
        if self.datatype in _INTEGERS:
            return int(self.value)
        if self.datatype in _FLOATS:
            return float(self.value.replace("INF", "inf"))
        if self.datatype == _XSD + "boolean":
            return self.value in ("true", "1")
        if self.datatype == _XSD + "decimal":
            from decimal import Decimal

            return Decimal(self.value)
        return self.value


class Solutions:
    """The answer to a SPARQL query. Iterating yields rows: dictionaries from bound variables to terms.

    The triples of a CONSTRUCT or DESCRIBE are rows of `subject`, `predicate` and `object`. An ASK has `boolean`.
    """

    def __init__(self, native: _native.Solutions) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self._native)

    def __bool__(self) -> bool:
        boolean = self._native.boolean
        return len(self) > 0 if boolean is None else boolean

    def __iter__(self) -> Iterator[dict[str, Term]]:
        names = self.variables
        for part in self._native.parts(_PART):
            for row in json.loads(part):
                yield {name: Term(*term) for name, term in zip(names, row) if term is not None}

    def __repr__(self) -> str:
        boolean = self._native.boolean
        return f"<Solutions: {len(self)} of {self.variables}>" if boolean is None else f"<Solutions: {boolean}>"

    def _repr_html_(self) -> str:
        from ._display import solutions_html

        return solutions_html(self)

    @property
    def form(self) -> str:
        """`select`, `ask` or `graph`."""
        return self._native.form

    @property
    def variables(self) -> list[str]:
        """The names of the columns."""
        return self._native.variables

    @property
    def boolean(self) -> bool | None:
        """The answer of an ASK; `None` for other forms."""
        return self._native.boolean

    @property
    def rows(self) -> list[dict[str, Term]]:
        """All rows."""
        return list(self)

    def bytes(self, format: str = "json") -> bytes:
        """Returns the answer in a format of the SPARQL Protocol: json, xml, csv, tsv; for a graph ttl, nt, rdf."""
        return self._native.written(format)

    def json(self) -> Any:
        """Returns the answer in SPARQL's JSON. The triples of a graph are bindings of `subject`, `predicate` and
        `object`.
        """
        if self.form != "graph":
            return json.loads(self.bytes("json"))
        bindings = [{name: term.json() for name, term in row.items()} for row in self]
        return {"head": {"vars": self.variables}, "results": {"bindings": bindings}}

    def to_arrow(self, *, terms: bool = False) -> Table:
        """Returns the rows as columns of texts: IRIs and lexical forms.

        With `terms=True`, each value is a struct of kind, value, datatype and language.
        """
        return Table(self._native.to_arrow(terms))

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the rows of `to_arrow` as a pandas DataFrame."""
        return self.to_arrow().to_pandas()
