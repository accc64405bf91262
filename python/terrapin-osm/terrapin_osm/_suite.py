"""Execution accuracy over a suite of snapshots, like `terrapin eval --suite`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._snapshot import Snapshot

# The fields of a counterexample that are left out if they are empty.
_OPTIONAL = ("error", "missing", "extra")


def score_suite(
    records: list[dict[str, Any]],
    pairs: Sequence[Any],
    bbox: Sequence[str | None] | None,
    suite: Sequence[Snapshot],
    options: Mapping[str, Any],
) -> None:
    """Adds `suite` and `counterexample` to the records of pairs, which were scored with the same options."""
    open_pairs = []
    for at, record in enumerate(records):
        right = _is_right(record)
        if right is not None:
            record["suite"] = int(right)
            if right:
                open_pairs.append(at)
    for snapshot in suite:
        if not open_pairs:
            break
        others = snapshot.score_batch(
            [pairs[at] for at in open_pairs],
            bbox=None if bbox is None else [bbox[at] for at in open_pairs],
            similarity=False,
            **options,
        )
        refuted = set()
        for at, other in zip(open_pairs, others, strict=True):
            found = _difference(other)
            if found is not None:
                refuted.add(at)
                records[at]["suite"] = 0
                kept = {name: found[name] for name in _OPTIONAL if found.get(name)}
                records[at]["counterexample"] = {
                    "name": snapshot.path.replace("\\", "/").rsplit("/", 1)[-1],
                    "snapshot": snapshot.digest,
                    "ref_n": found.get("ref_n"),
                    "pred_n": found.get("pred_n"),
                    **kept,
                }
        open_pairs = [at for at in open_pairs if at not in refuted]


def _is_right(record: Mapping[str, Any]) -> bool | None:
    """Returns whether a prediction is right on one snapshot; `None` if a limit made its rows arbitrary."""
    strict = record.get("strict")
    if strict is None:
        return record["ex"] == 1 if "ex" in record else None
    if "multiset" not in strict:
        return None
    return bool(strict["multiset"] == 1 and strict.get("ref_n"))


def _difference(record: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Returns the results of both queries if they differ. If the gold query fails, nothing is known."""
    results = record.get("strict", record)
    if "ref_error" in results:
        return None
    if "strict" in record:
        return results if results.get("multiset") == 0 else None
    return None if record["ex"] == 1 or record.get("multiset") == 1 else results
