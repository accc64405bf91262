"""Writes docs/reference/compare.md and compare.json of what was measured."""

import json
import os
import statistics
from pathlib import Path

# What is known of the rows where Terrapin is not first: (group, row, program). Others have no profile.
REASONS = json.loads(Path(__file__).with_name("reasons.json").read_text())

HEAD = """# Comparison with other programs

`make compare` measures Terrapin beside other programs on one machine and writes this page; the figures of all runs are in
[compare.json](compare.json). It is one run on one machine: the ratios depend on it, on the versions and on the data.

- Times are medians of processor time (user and system) of the process that answers, and of its children. Wall times of a
  shared machine depend on the others' load and are in the JSON only, except for loads.
- Programs run in turn, one query at a time, on the same data, with everything in the page cache.
- A ratio is the other program's figure over Terrapin's: 5x means that it took five times as long. **Bold**: less than
  Terrapin's.
- A cell with another number of results than Terrapin's has that number.
- PostgreSQL: 1 GB of shared buffers, no parallel workers, no JIT. All other programs have their default settings.
"""


def as_json(group, before, load_after, seconds):
    """A group in the form of compare.json."""
    tables = []
    for table in group.tables:
        tables.append({key: getattr(table, key) for key in
                       ("title", "text", "rows", "unit", "scale", "heading", "higher", "listed", "rest")}
                      | {"raw": [{"name": row["name"], "cells": row["cells"]} for row in table.raw]})
    return {"title": group.title, "text": group.text, "tables": tables, "missing": group.missing, "notes": group.notes,
            "versions": group.versions, "machine": before, "load_after": round(load_after, 1), "seconds": round(seconds)}


def write(folder, groups, order):
    """Writes both files; groups that were not measured now are kept as they are in the JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "compare.json"
    known = json.loads(data.read_text()) if data.exists() else {}
    known = {name: {**known, **groups}[name] for name in order if name in known or name in groups}
    text = json.dumps(rounded(known), separators=(",", ":"), default=str)
    data.write_text(text.replace('},{"name"', '},\n{"name"') + "\n")
    render_page(folder, known)


def render_page(folder, known):
    (folder / "compare.md").write_text(render(known, folder))


def rounded(value):
    """Times to the microsecond, to keep the file small."""
    if isinstance(value, float):
        return round(value, 6) if value < 1000 else round(value)
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    return [rounded(part) for part in value] if isinstance(value, list) else value


def render(groups, folder):
    parts = [HEAD]
    parts.append("| group | date | load average before and after | seconds |\n|---|---|---|---|\n" + "".join(
        f"| [{group['title']}](#{anchor(group['title'])}) | {group['machine']['date']} | {group['machine']['load']} and "
        f"{group['load_after']} | {group['seconds']} |\n" for group in groups.values()))
    machine = next(iter(groups.values()))["machine"]
    parts.append(wrapped(f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB of memory, "
                 f"{machine['system']}, {machine['terrapin']}. A load average above the number of cores means that the machine was "
                 "shared with other work: processor times are then higher than on an idle one, for all programs.") + "\n")
    parts.append(overview(groups))
    for name, group in groups.items():
        parts.append(section(name, group))
    parts.append(further(folder))
    return "\n".join(parts)


def overview(groups):
    """One line for each program and table: how many questions both answered alike, and the ratios."""
    lines = ["## Overview\n", "| group | program | questions | Terrapin first | median ratio | lowest ratio |", "|---|---|---|---|---|---|"]
    for group in groups.values():
        ratios = {}
        for table in group["tables"]:
            if table["listed"]:
                rows = [{"cells": {key: cell for row in table["rows"] for key, cell in row["cells"].items()}}]
            else:
                rows = table["raw"] or table["rows"]
            for program, found in compared(rows, table):
                ratios.setdefault(program, []).extend(found)
        for program, found in ratios.items():
            found.sort()
            lines.append(f"| {group['title']} | {program} | {len(found)} | {sum(one >= 1 for one in found)} | "
                         f"{ratio(statistics.median(found))} | {ratio(found[0])} |")
    return "\n".join(lines) + "\n"


def compared(rows, table):
    """For each other program its ratios to Terrapin, of the questions that both answered with as many results."""
    ratios = {}
    for row in rows:
        ours = next(iter(row["cells"]))
        first = row["cells"][ours]
        for program, found in row["cells"].items():
            if program.startswith(ours) or "cannot" in first or "cannot" in found or not same_results(first, found):
                continue
            one, other = first[table["unit"]], found[table["unit"]]
            ratios.setdefault(program, []).append(one / max(other, 1e-9) if table["higher"] else other / max(one, 1e-9))
    return ratios.items()


def anchor(title):
    return title.lower().replace(" ", "-")


def section(name, group):
    parts = [f"## {group['title']}\n\n{wrapped(group['text'])}\n"]
    if group["versions"]:
        parts.append("Versions: " + "; ".join(group["versions"].values()) + ".\n")
    for table in group["tables"]:
        parts.append(f"### {table['title']}\n")
        if table["text"]:
            parts.append(wrapped(table["text"]) + "\n")
        parts.append(listed(name, table) if table["listed"] else matrix(name, table))
    if group["notes"]:
        parts.append("\n".join(wrapped(note) for note in group["notes"]) + "\n")
    if group["missing"]:
        parts.append("Not run:\n\n" + "".join(f"- {peer}: {why}.\n" for peer, why in group["missing"].items()))
    return "\n".join(parts)


def wrapped(text, width=120):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "\n".join([*lines, line])


def number(value):
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(value):
    return f"{value:.0f}x" if value >= 10 else f"{value:.1f}x"


def matrix(name, table):
    """Questions as rows, programs as columns."""
    programs = list(dict.fromkeys(program for row in table["rows"] for program in row["cells"]))
    ours = programs[0]
    lines = [f"| {table['heading']} | {' | '.join(programs)} |", "|---|" + "---|" * len(programs)]
    notes, reasons = [], []
    for row in table["rows"]:
        cells = [cell(table, row, program, ours, notes) for program in programs]
        lines.append(f"| {row['name']} | {' | '.join(cells)} |")
        reasons += [why(name, row["name"], program) for program in programs if faster(table, row, program, ours)]
    return ending(lines, notes, reasons)


def faster(table, row, program, ours):
    """If a program is before Terrapin in a row."""
    first, other = row["cells"].get(ours), row["cells"].get(program)
    if program.startswith(ours) or not first or not other or "cannot" in first or "cannot" in other:
        return False
    return other[table["unit"]] < first[table["unit"]] and same_results(first, other)


def same_results(first, other):
    """If two programs gave the same number of results, as far as that is known."""
    return "count" not in first or "count" not in other or first["count"] == other["count"]


def cell(table, row, program, ours, notes):
    found = row["cells"].get(program)
    if not found:
        return ""
    if "cannot" in found:
        why = found["cannot"]
        return why if why.startswith("over ") else "not possible " + mark(notes, why)
    value = found[table["unit"]]
    text = number(value * table["scale"])
    first = row["cells"].get(ours)
    if program != ours and first and "cannot" not in first:
        if not same_results(first, found):
            return f"{text}, {found['count']} results, not {first['count']}"
        text += f" ({ratio(value / max(first[table['unit']], 1e-9))})"
        if faster(table, row, program, ours):
            text = f"**{text}**"
    return text


def mark(notes, text):
    """The number of a note under the table."""
    if text not in notes:
        notes.append(text)
    return f"[{notes.index(text) + 1}]"


def why(name, row, program):
    known = REASONS.get(f"{name}/{row}/{program}") or REASONS.get(f"{name}/*/{program}")
    return f"{row}: {program} is before Terrapin. {known or 'The reason is not known.'}"


def ending(lines, notes, reasons):
    text = "\n".join(lines) + "\n"
    if notes:
        text += "\n" + "".join(f"{'' if at == 1 else ' '}[{at}] {note}." for at, note in enumerate(notes, 1)) + "\n"
    if reasons:
        text += "\n" + "".join(f"- {reason}\n" for reason in reasons)
    return text


def listed(name, table):
    """Programs as rows."""
    ours = next(iter(table["rows"][0]["cells"]))
    first = table["rows"][0]["cells"][ours]
    rest = table["rest"]
    lines = [f"| program | {table['heading']} | ratio | " + " | ".join(title for _, title, _ in rest) + " |",
             "|---|---|---|" + "---|" * len(rest)]
    reasons = []
    for row in table["rows"]:
        [(program, found)] = row["cells"].items()
        if "cannot" in found:
            lines.append(f"| {program} | {found['cannot']} |  | " + " | ".join("" for _ in rest) + " |")
            continue
        value, unit = found[table["unit"]], table["unit"]
        relation = first[unit] / value if table["higher"] else value / first[unit]
        before = not program.startswith(ours) and relation < 1
        again = program != ours and program.startswith(ours)
        shown = f"**{number(value)}**" if before else number(value)
        lines.append(f"| {program} | {shown} | {'' if again else ratio(relation)} | "
                     + " | ".join(form.format(found[key]) for key, _, form in rest) + " |")
        if before:
            reasons.append(why(name, table["title"], program))
        for key, title, _ in rest:
            if not program.startswith(ours) and key in ("rss_mb", "size_mb") and found[key] < first[key]:
                reasons.append(f"{title.partition(',')[0]}: {program} needs less than Terrapin. "
                               + REASONS.get(f"{name}/{key}/{program}", "The reason is not known."))
    return ending(lines, [], reasons)


def link(folder, name, anchor=""):
    """A link to a page of the documentation, wherever it is in the folder above."""
    docs = folder.parent
    found = next(iter(sorted(docs.rglob(f"{name}.md"))), docs / f"{name}.md")
    return os.path.relpath(found, folder) + anchor


def further(folder):
    return f"""## Measured elsewhere

- **Geocoder.** Of Nominatim's own scenarios (`test/bdd`), translated, 111 of 134 of `db` pass, and 307 of the 330 of `api`
  that apply: [geocoder]({link(folder, "geocoder")}). Photon was not run.
- **GeoSPARQL.** The compliance benchmark scores Terrapin at 94.1. Published are 82.75 for GeoSPARQL Fuseki, 69.75 for GraphDB
  and 88.5 for Sparkles, under different conditions: [GeoSPARQL]({link(folder, "geosparql", "#scores-of-other-engines")}).
- **Instruct-to-SPARQL.** Its evaluation is compared by its scores only, since its model of sentences is in no registry:
  [Instruct-to-SPARQL]({link(folder, "instruct-to-sparql")}).
- **Tiles.** The content of the tiles, layer by layer, next to tilemaker's:
  [tiles]({link(folder, "tiles", "#comparison-with-tilemaker")}).
- **SPARQL.** All 2,045 recorded queries inside both processes, without HTTP and text:
  [SPARQL]({link(folder, "sparql", "#speed")}).

## Commands

`benches/compare/` has all of them, and the versions of the Python packages.

| program | load | query |
|---|---|---|
| Terrapin | `terrapin load --osm FILE --out SNAPSHOT`, `--rdf FILES` for triples | HTTP requests to `terrapin serve SNAPSHOT`, or `terrapin query SNAPSHOT QUERY` |
| Overpass API | `osmium cat FILE -f osm`, `update_database --db-dir=FOLDER --meta`, `osm3s_query --rules < areas.osm3s` | `osm3s_query --db-dir=FOLDER`, a process each |
| PostGIS | `osm2pgsql -O flex -S osm2pgsql.lua FILE`, and indexes of tags and nodes | SQL of `questions.py`, by psycopg |
| DuckDB | SQL of `duckdb_worker.py`: `ST_ReadOSM`, lines, R-trees | SQL of `questions.py`, in the process |
| osmium | `osmium cat FILE -o COPY` | `osmium extract`, `tags-filter`, `getid`, `getparents` |
| GeoDesk | `gol build` | GOQL of `questions.py`, in the process |
| Oxigraph | `Store.bulk_load`, `optimize` | `Store.query(...).serialize(TSV)` |
| rdflib | `Graph.parse` | `Graph.query(...).serialize(csv)` |
| Apache Jena | `tdb2.tdbloader` | `JenaWorker.java` |
| tilemaker | | `tilemaker --threads 1`, with shortbread-tilemaker's configuration |
| OverpassNL's evaluation | | `run_evaluation.py` with the addresses of `terrapin serve` |
"""
