"""What goes wrong, as exceptions.

A query that is refused or stopped raises `QueryError`; its text is what the terminal shows: each error with its line, the
place underlined, and a hint where there is one.
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
    """Whatever Terrapin raises of its own. `code` is what programs know it by, `message` is for people."""

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
    """One thing that is wrong with a query."""

    kind: str
    """`parse error`, `static error` or `runtime error`."""
    code: str
    """What programs know it by, such as `unknown-statement`."""
    message: str
    line: int | None
    """The line, from 1, where it is known."""
    column: int | None
    """The character in the line, from 1."""
    start: int | None
    """The first byte of the place in the UTF-8 of the text."""
    end: int | None
    """The byte behind its last."""
    hint: str | None
    """What was probably meant, or what to do."""


class QueryError(TerrapinError):
    """A query that was refused or stopped.

    `problems` has all that is wrong, in order; `code`, `kind`, `message`, `line`, `column` and `hint` are those of the
    first. `query` is the text that they refer to, with shortcuts replaced. `converted` is, where a broken query was to be
    written in another form, what could be understood of it.
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
    """The text is not in the language, or a value is not one that its statement takes."""


class QueryLimitError(QueryError):
    """A bound was reached: time, memory, work, rows, or somebody stopped it."""


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
    """Called by the compiled part: the exception for what is wrong, given as JSON."""
    found = tuple(map(_problem, json.loads(problems)))
    if found[0].code in _LIMITS:
        return QueryLimitError(found, query, shown)
    if found[0].kind == "runtime error":
        return QueryError(found, query, shown)
    return QuerySyntaxError(found, query, shown)
