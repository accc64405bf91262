"""The interface of the compiled module. Internal: it may change without notice."""

from collections.abc import Iterator
from os import PathLike
from typing import final

from typing_extensions import CapsuleType

from .errors import QueryError

ENGINE: str
__version__: str

@final
class Stop:
    def __new__(cls) -> Stop: ...
    def set(self) -> None: ...

@final
class Table:
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> CapsuleType: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> CapsuleType: ...

@final
class Answer:
    def __len__(self) -> int: ...
    @property
    def content_type(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    def written(self, form: str, stop: Stop | None = None) -> bytes: ...
    def parts(self, most: int) -> Iterator[bytes]: ...
    def ids(self) -> list[tuple[str, int]]: ...
    def to_arrow(self, stop: Stop | None = None) -> Table: ...

@final
class Solutions:
    def __len__(self) -> int: ...
    @property
    def form(self) -> str: ...
    @property
    def variables(self) -> list[str]: ...
    @property
    def boolean(self) -> bool | None: ...
    def parts(self, most: int) -> Iterator[str]: ...
    def written(self, format: str, stop: Stop | None = None) -> bytes: ...
    def to_arrow(self, terms: bool) -> Table: ...

@final
class Snapshot:
    @staticmethod
    def open(path: str | PathLike[str], cache: int | None = None) -> Snapshot: ...
    @property
    def digest(self) -> str: ...
    @property
    def has_triples(self) -> bool: ...
    def info(self) -> str: ...
    def overpass(
        self,
        query: str,
        timeout: float | None = None,
        max_memory: int | None = None,
        bbox: str | None = None,
        places: str | None = None,
        stop: Stop | None = None,
    ) -> Answer: ...
    def overpass_many(
        self,
        queries: list[str],
        timeout: float | None = None,
        max_memory: int | None = None,
        bbox: str | None = None,
        places: str | None = None,
        threads: int | None = None,
        stop: Stop | None = None,
    ) -> list[Answer | QueryError]: ...
    def sparql(
        self,
        query: str,
        timeout: float | None = None,
        max_memory: int | None = None,
        max_rows: int | None = None,
        language: str = "en",
        dialect: str = "auto",
        stop: Stop | None = None,
    ) -> Solutions: ...
    def feedback(
        self,
        query: str,
        lang: str | None = None,
        bbox: str | None = None,
        places: str | None = None,
        sample: int = 5,
        timeout: float | None = None,
        max_memory: int | None = None,
        dialect: str = "auto",
        stop: Stop | None = None,
    ) -> str: ...
    def search_tags(
        self, text: str, limit: int = 10, timeout: float | None = None, stop: Stop | None = None
    ) -> str: ...
    def search_entities(
        self,
        text: str,
        kind: str = "item",
        language: str = "en",
        limit: int = 8,
        timeout: float | None = None,
        stop: Stop | None = None,
    ) -> str: ...
    def geocode(self, name: str, timeout: float | None = None, stop: Stop | None = None) -> str: ...
    def score_batch(
        self,
        gold: list[str],
        pred: list[str],
        bbox: list[str | None] | None = None,
        lang: str = "overpassql",
        places: str | None = None,
        timeout: float | None = None,
        max_memory: int | None = None,
        similarity: bool = True,
        summary: bool = False,
        extract: bool = False,
        first: int = 1,
        threads: int | None = None,
        dialect: str = "auto",
        stop: Stop | None = None,
    ) -> list[str]: ...

def convert(query: str, form: str, strict: bool) -> tuple[str, QueryError | None]: ...
def format(query: str, lang: str | None = None) -> str: ...
def run_command_line(arguments: list[str]) -> int: ...
def query_of(reply: str, lang: str | None = None) -> str: ...
def load(
    out: str | PathLike[str],
    osm: str | PathLike[str] | None = None,
    wikidata: list[str | PathLike[str]] = ...,
    rdf: list[str | PathLike[str]] = ...,
    at: int | None = None,
    history: bool = False,
    metadata: bool = True,
    memory: int = ...,
    stop: Stop | None = None,
) -> str: ...
