"""The exceptions.

A query that is rejected or stopped raises `QueryError`. Its text is that of the command line: each error with its line,
the underlined position, and a hint if there is one.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

__all__ = [
    "Problem",
    "QueryError",
    "QueryLimitError",
    "QuerySyntaxError",
    "SnapshotError",
    "TerrapinError",
]


class TerrapinError(Exception):
    """The base class of all exceptions of this package. `code` is for programs, `message` for people."""

    code: str
    message: str


class SnapshotError(TerrapinError):
    """A snapshot or a source file that cannot be used."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


class Problem(NamedTuple):
    """One error in a query."""

    kind: str
    """`parse error`, `static error` or `runtime error`."""
    code: str
    """The error code, such as `unknown-statement`."""
    message: str
    line: int | None
    """The line, from 1; `None` if unknown."""
    column: int | None
    """The character in the line, from 1."""
    start: int | None
    """The first byte of the position in the UTF-8 of the text."""
    end: int | None
    """The byte after the last one of the position."""
    hint: str | None
    """A suggestion: the likely intention, or what to do."""


class QueryError(TerrapinError):
    """A query that was rejected or stopped.

    `problems` has all errors in order; `code`, `kind`, `message`, `line`, `column` and `hint` are those of the first.
    `query` is the text that they refer to, with shortcuts replaced. After a failed `convert`, `converted` is the
    converted valid part of the query.
    """

    def __init__(self, problems: tuple[Problem, ...], query: str, shown: str) -> None:
        super().__init__(problems, query, shown)
        self.problems = problems
        self.query = query
        self.shown = shown
        self.converted: str | None = None
        first = problems[0]
        self.kind = first.kind
        self.code = first.code
        self.message = first.message
        self.line = first.line
        self.column = first.column
        self.hint = first.hint

    def __str__(self) -> str:
        return self.shown


class QuerySyntaxError(QueryError):
    """A query that does not follow the grammar, or has a value that its statement does not allow."""


class QueryLimitError(QueryError):
    """A query that reached a limit (time, memory, work, rows) or was cancelled."""


_LIMITS = frozenset({"timeout", "memory", "work", "rows", "cancelled"})


def _problem(found: dict[str, Any]) -> Problem:
    place = found.get("position", {})
    return Problem(
        kind=found["class"],
        code=found["code"],
        message=found["message"],
        line=place.get("line", found.get("line")),
        column=place.get("column"),
        start=place.get("start"),
        end=place.get("end"),
        hint=found.get("help"),
    )


def _query_error(problems: str, query: str, shown: str) -> QueryError:
    """Makes the exception for problems given as JSON. Called by the compiled module."""
    found = tuple(map(_problem, json.loads(problems)))
    if found[0].code in _LIMITS:
        return QueryLimitError(found, query, shown)
    if found[0].kind == "runtime error":
        return QueryError(found, query, shown)
    return QuerySyntaxError(found, query, shown)
