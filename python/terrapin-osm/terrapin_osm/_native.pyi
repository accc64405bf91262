"""The compiled part. What people call is in the package."""

from collections.abc import Iterator, Sequence
from os import PathLike

from .errors import QueryError

__version__: str
ENGINE: str

class Stop:
    def __init__(self) -> None: ...
    def set(self) -> None: ...

class Table:
    def __len__(self) -> int: ...
    @property
    def column_names(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

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

class Solutions:
    def __len__(self) -> int: ...
    @property
    def form(self) -> str: ...
    @property
    def variables(self) -> list[str]: ...
    @property
    def boolean(self) -> bool | None: ...
    def written(self, format: str, stop: Stop | None = None) -> bytes: ...
    def parts(self, most: int) -> Iterator[str]: ...
    def to_arrow(self, terms: bool) -> Table: ...

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
        queries: Sequence[str],
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
        stop: Stop | None = None,
    ) -> str: ...
    def score_batch(
        self,
        gold: Sequence[str],
        pred: Sequence[str],
        bbox: Sequence[str | None] | None = None,
        lang: str = "overpassql",
        places: str | None = None,
        timeout: float | None = None,
        max_memory: int | None = None,
        similarity: bool = True,
        threads: int | None = None,
        stop: Stop | None = None,
    ) -> list[str]: ...

def load(
    out: str | PathLike[str],
    osm: str | PathLike[str] | None = None,
    wikidata: Sequence[str | PathLike[str]] = (),
    rdf: Sequence[str | PathLike[str]] = (),
    at: int | None = None,
    history: bool = False,
    metadata: bool = True,
    memory: int = ...,
    stop: Stop | None = None,
) -> str: ...
def convert(query: str, form: str, strict: bool) -> tuple[str, QueryError | None]: ...
