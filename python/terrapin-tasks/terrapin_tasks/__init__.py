"""Text-to-query tasks on pinned snapshots: datasets from their authors' files, and answers of models scored in process
by `terrapin-osm`. One module per harness: `inspect_tasks`, `verifiers`, `lm_eval`, `evaluate`, `trl`, `dspy`.

    from terrapin_tasks import Scorer, overpassnl

    scorer = Scorer("malta.terrapin")
    items = scorer.usable(overpassnl("OverpassNL/dataset", "dev"))
    scorer.score(items[0], "```\\nnode[amenity=cafe];out;\\n```")["f1"]
"""

from terrapin_osm import query_of

from ._data import Item, instruct_to_sparql, jsonl, overpassnl
from ._prompt import system_prompt
from ._scores import METRICS, TIMEOUT, Scorer

__all__ = ["METRICS", "TIMEOUT", "Item", "Scorer", "instruct_to_sparql", "jsonl", "overpassnl", "query_of", "system_prompt"]
