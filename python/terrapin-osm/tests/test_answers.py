"""Answers to OverpassQL in all formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import shared

from terrapin_osm import Snapshot

BOX = "43.72,7.40,43.76,7.45"
QUERIES = [
    f"[out:json];node[amenity=cafe]({BOX});out;",
    f"[out:json];nwr[leisure]({BOX});out meta geom;",
    f"[out:json];(way[building]({BOX});>;);out body qt;",
    f"[out:json];rel[type=multipolygon]({BOX});out geom;",
    f"[out:json];way[highway]({BOX});out ids center;out count;",
    f"[out:json];nwr[shop]({BOX});out tags bb;",
    f"[out:json];nwr[natural]({BOX});convert thing ::id=id(),::geom=geom(),name=t[\"name\"];out geom;",
    f"[out:json];node({BOX});out noids;",
    '[out:json];area[name="Monaco"];out;',
    "[out:json];node(1);out;",
]


@pytest.mark.parametrize("query", QUERIES)
def test_every_form_has_the_same_elements(monaco: Snapshot, query: str) -> None:
    answer = monaco.overpass(query)
    whole = json.loads(answer.bytes)
    elements = whole["elements"]
    assert list(answer) == elements == answer.json()["elements"]
    assert len(answer) == len(elements)
    assert answer.ids == [(e["type"], e["id"]) for e in elements if "id" in e and e["type"] != "count"]
    rows = answer.to_arrow().to_pyarrow().to_pylist()
    assert [row["type"] for row in rows] == [e["type"] for e in elements]
    assert [row["id"] for row in rows] == [e.get("id") for e in elements]
    for row, element in zip(rows, elements):
        assert dict(row["tags"]) == element.get("tags", {})
        at = element if "lat" in element else element.get("center", {})
        if at:
            # The text of a centre is rounded.
            exact = 1e-12 if "lat" in element else 1e-7
            assert (row["lat"], row["lon"]) == pytest.approx((at["lat"], at["lon"]), abs=exact)
        else:
            assert row["lat"] is row["lon"] is None
        assert row["nodes"] == element.get("nodes")
        assert row["version"] == element.get("version")
        members = [{"type": m["type"], "ref": m["ref"], "role": m["role"]} for m in element.get("members", [])]
        assert (row["members"] or []) == members


def test_the_format_is_the_querys(monaco: Snapshot) -> None:
    xml = monaco.overpass("node[amenity=cafe];out;")
    assert xml.content_type == "application/osm3s+xml" and xml.bytes.startswith(b"<?xml")
    assert xml.xml().encode() == xml.bytes
    csv = monaco.overpass('[out:csv(::id,name)];node[amenity=cafe][name];out;')
    assert csv.content_type == "text/csv; charset=utf-8"
    assert csv.bytes.decode().splitlines()[0] == "@id\tname"
    # The same elements, regardless of the output format.
    named = monaco.overpass("[out:json];node[amenity=cafe][name];out;")
    assert list(csv) == list(named) and len(named) > 5


def test_large_answers_come_in_parts(monaco: Snapshot) -> None:
    answer = monaco.overpass("[out:json];node(-90,-180,90,180);out;")
    assert len(answer) > 10_000
    ids = [element["id"] for element in answer]
    assert ids == sorted(ids) == [i for _, i in answer.ids]
    table = answer.to_arrow().to_pyarrow()
    assert table.num_rows == len(answer) and table["id"].to_pylist() == ids


def test_geojson_and_frames(monaco: Snapshot) -> None:
    parks = monaco.overpass(f"[out:json];wr[leisure=park]({BOX});out geom;")
    features = parks.to_geojson()
    assert features["type"] == "FeatureCollection"
    kinds = {feature["geometry"]["type"] for feature in features["features"]}
    assert kinds & {"Polygon", "MultiPolygon"}
    frame = parks.to_geodataframe()
    assert len(frame) == len(parks)
    assert frame.crs is not None and frame.crs.to_epsg() in (4326, None)
    assert frame.geometry.notna().all() and frame.geometry.is_valid.mean() > 0.9
    bounds = frame.total_bounds
    assert 7.3 < bounds[0] < bounds[2] < 7.5 and 43.6 < bounds[1] < bounds[3] < 43.9


def test_other_libraries_take_tables_as_they_are(monaco: Snapshot) -> None:
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    cafes = monaco.overpass("[out:json];node[amenity=cafe];out meta;").to_arrow()
    assert duckdb.sql("select count(*) from cafes").fetchall() == [(len(cafes),)]
    assert polars.DataFrame(cafes).height == len(cafes)
    assert len(cafes.to_pandas()) == len(cafes)
    # Again: reading the rows does not consume them.
    assert duckdb.sql("select count(distinct id) from cafes").fetchall() == [(len(cafes),)]


def test_shortcuts(monaco: Snapshot) -> None:
    answer = monaco.overpass("[out:json];node[shop]({{bbox}});out;", bbox=BOX)
    assert answer.ids == monaco.overpass(f"[out:json];node[shop]({BOX});out;").ids
    there = monaco.overpass(
        "[out:json];node[shop]({{geocodeBbox:Home}});out;",
        places={"Home_bbox": {"bbox": ["43.72", "43.76", "7.40", "7.45"]}},
    )
    assert there.ids == answer.ids


def test_notebooks(monaco: Snapshot) -> None:
    shown = monaco.overpass("[out:json];nwr[amenity];out geom;")._repr_html_()
    assert "<svg" in shown and "<table>" in shown and "http://" not in shown.replace("http://www.w3.org/2000/svg", "")
    assert "<script" not in shown and len(shown) < 2_000_000
    assert "<svg" not in monaco.overpass("[out:json];node(1);out;")._repr_html_()


def test_what_mappers_wrote_is_no_page(monaco: Snapshot) -> None:
    answer = monaco.overpass('[out:json];make x y="<script>alert(1)</script>";out;')
    assert "<script" not in answer._repr_html_() and "&lt;script" in answer._repr_html_()


def test_snapshots_without_metadata(folder: Path) -> None:
    extract = shared("data/osm/niue.osm.pbf")
    query = "[out:json];node[amenity](-20,-170,-18,-169);out meta;"
    bare = Snapshot.load(osm=extract, out=folder / "bare.terrapin", metadata=False).overpass(query)
    whole = Snapshot.load(osm=extract, out=folder / "whole.terrapin").overpass(query)
    assert bare.ids == whole.ids and len(whole) > 5
    assert whole.to_arrow().to_pyarrow()["version"].null_count == 0
    assert bare.to_arrow().to_pyarrow()["version"].null_count == len(bare)


def test_many_queries(monaco: Snapshot) -> None:
    queries = [f"[out:json];node({n});out;" for n in range(1, 500)] + [QUERIES[0], "nonsense", QUERIES[1]]
    answers = monaco.overpass_many(queries, errors="return")
    assert len(answers) == len(queries)
    assert answers[-1].ids == monaco.overpass(QUERIES[1]).ids  # type: ignore[union-attr]
    assert answers[-2].code == "unknown-statement"  # type: ignore[union-attr]
    assert answers[-3].bytes == monaco.overpass(QUERIES[0]).bytes  # type: ignore[union-attr]
    with pytest.raises(Exception, match="nonsense"):
        monaco.overpass_many(queries)
    assert monaco.overpass_many([]) == []
