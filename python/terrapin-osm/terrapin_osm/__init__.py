"""Pinned OpenStreetMap snapshots in process: OverpassQL and SPARQL, Arrow tables, scores of text-to-query systems.

    from terrapin_osm import Snapshot

    snapshot = Snapshot.open("malta.terrapin")
    answer = snapshot.overpass("[out:json];node[amenity=cafe];out;")
    answer.to_geojson()
    snapshot.score("node[amenity=cafe];out;", "node[amenity=bar];out;")["ex"]
"""

from ._native import ENGINE, Stop, __version__
from ._queries import convert, format, parse, query_of
from ._results import Answer, Solutions, Table, Term
from ._snapshot import Snapshot
from .errors import Problem, QueryError, QueryLimitError, QuerySyntaxError, SnapshotError, TerrapinError

__all__ = [
    "ENGINE",
    "Answer",
    "Problem",
    "QueryError",
    "QueryLimitError",
    "QuerySyntaxError",
    "Snapshot",
    "SnapshotError",
    "Solutions",
    "Stop",
    "Table",
    "Term",
    "TerrapinError",
    "__version__",
    "convert",
    "format",
    "parse",
    "query_of",
]
