"""The display of answers in a notebook: a table of the first rows and a small map, without scripts or network
access.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._results import Answer, Solutions

_ROWS = 10
_DRAWN = 2000
_POINTS = 20_000
"""Maximum number of points that are drawn."""
_LONGEST = 120
_WIDTH, _HEIGHT, _MARGIN = 360.0, 240.0, 8.0

_Point = tuple[float, float]


def answer_html(answer: Answer) -> str:
    """Returns the HTML for an answer to OverpassQL."""
    elements = list(islice(answer, _DRAWN))
    rows = [
        (element["type"], element.get("id", ""), _tags(element.get("tags", {})))
        for element in elements[:_ROWS]
    ]  # fmt: skip
    return _page(_svg(elements), ("type", "id", "tags"), rows, len(answer), "elements")


def solutions_html(solutions: Solutions) -> str:
    """Returns the HTML for an answer to SPARQL."""
    if solutions.boolean is not None:
        return f"<code>{str(solutions.boolean).lower()}</code>"
    names = solutions.variables
    rows = [[str(row.get(name, "")) for name in names] for row in islice(solutions, _ROWS)]
    return _page("", names, rows, len(solutions), "rows")


def _tags(tags: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in tags.items())


def _page(drawing: str, names: Sequence[str], rows: Iterable[Sequence[object]], count: int, what: str) -> str:
    def cell(value: object) -> str:
        text = str(value)
        return escape(text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "...")

    head = "".join(f"<th>{cell(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>" for row in rows)
    more = f", the first {_ROWS}" if count > _ROWS else ""
    return f"<div>{drawing}<table><caption>{count:,} {what}{more}</caption><tr>{head}</tr>{body}</table></div>"


def _shapes(element: dict[str, Any]) -> Iterator[list[_Point]]:
    """Yields lines and points, as pairs of longitude and latitude."""

    def line(vertices: Sequence[dict[str, float] | None]) -> list[_Point]:
        return [(vertex["lon"], vertex["lat"]) for vertex in vertices if vertex]

    geometry = element.get("geometry")
    if "lat" in element:
        yield [(element["lon"], element["lat"])]
    elif isinstance(geometry, list):
        yield line(geometry)
    elif isinstance(geometry, dict) and geometry.get("type") == "Point":
        lon, lat = geometry["coordinates"]
        yield [(lon, lat)]
    elif any("geometry" in member for member in element.get("members", ())):
        for member in element["members"]:
            yield line(member.get("geometry", ()))
    elif "center" in element:
        yield [(element["center"]["lon"], element["center"]["lat"])]
    elif "bounds" in element:
        box = element["bounds"]
        west, south, east, north = box["minlon"], box["minlat"], box["maxlon"], box["maxlat"]
        yield [(west, south), (east, south), (east, north), (west, north), (west, south)]


def _svg(elements: Iterable[dict[str, Any]]) -> str:
    shapes: list[list[_Point]] = []
    points = 0
    for element in elements:
        for shape in _shapes(element):
            if shape and points < _POINTS:
                shapes.append(shape)
                points += len(shape)
    if not shapes:
        return ""
    everywhere = [point for shape in shapes for point in shape]
    south, north = min(lat for _, lat in everywhere), max(lat for _, lat in everywhere)
    west, east = min(lon for lon, _ in everywhere), max(lon for lon, _ in everywhere)
    narrow = math.cos(math.radians((south + north) / 2)) or 1.0
    # A single point is shown with some hundred metres around it.
    across, high = max((east - west) * narrow, 0.002), max(north - south, 0.002)
    scale = min((_WIDTH - 2 * _MARGIN) / across, (_HEIGHT - 2 * _MARGIN) / high)

    def place(point: _Point) -> str:
        x = _WIDTH / 2 + (point[0] - (west + east) / 2) * narrow * scale
        y = _HEIGHT / 2 - (point[1] - (south + north) / 2) * scale
        return f"{x:.1f},{y:.1f}"

    drawn = []
    for shape in shapes:
        if len(shape) == 1:
            x, y = place(shape[0]).split(",")
            drawn.append(f'<circle cx="{x}" cy="{y}" r="2.5" fill="#2563eb" fill-opacity="0.7"/>')
        else:
            path = " ".join(map(place, shape))
            fill = "#2563eb" if shape[0] == shape[-1] else "none"
            drawn.append(
                f'<polyline points="{path}" fill="{fill}" fill-opacity="0.2" stroke="#1d4ed8" stroke-width="1"/>'
            )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="map" width="{_WIDTH:.0f}" '
        f'height="{_HEIGHT:.0f}" style="background:#f8fafc;border:1px solid #cbd5e1">{"".join(drawn)}</svg>'
    )
