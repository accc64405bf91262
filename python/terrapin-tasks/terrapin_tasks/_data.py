"""Readers of datasets in the formats of their authors. No dataset is included: pass the path of its files."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Item:
    """A question with its gold query."""

    id: str
    question: str
    gold: str
    lang: str = "overpassql"
    """`overpassql` or `sparql`."""
    bbox: str | None = None
    """The value of `{{bbox}}`: south,west,north,east."""

    def row(self) -> dict[str, Any]:
        """Returns the item as a row for datasets of harnesses; a missing text is empty."""
        return asdict(self) | {"bbox": self.bbox or ""}

    @classmethod
    def of(cls, row: Any) -> Item:
        """Returns the item of such a row."""
        return cls(row["id"], row["question"], row["gold"], row["lang"], row["bbox"] or None)


def overpassnl(folder: str | Path, split: str = "dev") -> list[Item]:
    """Reads OverpassNL's files: `dataset.dev.nl`, `.query` and, if it exists, `.bbox`."""
    folder = Path(folder)
    questions, golds = (_lines(folder / f"dataset.{split}.{name}") for name in ("nl", "query"))
    boxes = folder / f"dataset.{split}.bbox"
    bbox: list[str] = _lines(boxes) if boxes.exists() else [""] * len(golds)
    if not len(questions) == len(golds) == len(bbox):
        raise ValueError(f"{folder}: {len(questions)} questions, {len(golds)} queries, {len(bbox)} boxes")
    numbered = enumerate(zip(questions, golds, bbox), 1)
    return [Item(str(n), question, gold, bbox=box or None) for n, (question, gold, box) in numbered]


def instruct_to_sparql(path: str | Path) -> list[Item]:
    """Reads a JSONL export of Instruct-to-SPARQL: one item for the first instruction of each query."""
    items = []
    for place, row in _rows(path):
        given = row.get("instructions") or []
        gold = row.get("query") or row.get("sparql_query")
        if given and gold:
            items.append(Item(str(row.get("id", place)), given[0], gold, "sparql"))
    return items


def jsonl(path: str | Path) -> list[Item]:
    """Reads JSON lines with `question` (or `nl`, `instruction`), `gold` (or `reference`, `target`), and optionally
    `id`, `lang` and `bbox`."""
    items = []
    for place, row in _rows(path):
        question = _first(row, ("question", "nl", "instruction", "input"), path, place)
        gold = _first(row, ("gold", "reference", "ref", "target", "query"), path, place)
        items.append(Item(str(row.get("id", place)), question, gold, row.get("lang") or "overpassql", row.get("bbox")))
    return items


def _first(row: dict[str, Any], names: tuple[str, ...], path: str | Path, place: int) -> str:
    for name in names:
        if isinstance(row.get(name), str):
            return str(row[name])
    raise ValueError(f"{path}: line {place} has no {names[0]!r}; it has {', '.join(row)}")


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def _rows(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    path = Path(path)
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as lines:
        for place, line in enumerate(lines, 1):
            if line.strip():
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise ValueError(f"{path}: line {place} is no object")
                yield place, row
