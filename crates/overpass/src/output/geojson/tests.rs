//! Tests answers of made-up elements against the output of osmtogeojson for the same answer in JSON.

use super::*;
use crate::output::{AnswerWriter, ItemTags, MemberGeometry, MemberItem, OutputItem, OutputMeta};
use crate::set::{DegreePosition, DerivedGeometry};
use terrapin_osm::{BoundingBox, Coord, ElementType};

const HEADER: OutputHeader = OutputHeader { data_time: 0, areas_time: None, bounds: None };

fn tags(all: &[(&str, &str)]) -> ItemTags {
    let mut tags = ItemTags::default();
    all.iter().for_each(|(key, value)| tags.push(key, value));
    tags
}

/// Returns the lines of an answer, without its head and its end.
fn lines(layout: GeoJsonLayout, write: impl FnOnce(&mut dyn AnswerWriter)) -> Vec<String> {
    let mut out = Vec::new();
    let mut answer = GeoJson::new(layout, None, HEADER, &mut out);
    write(&mut answer);
    answer.complete().unwrap();
    answer.finish().unwrap();
    drop(answer);
    let text = String::from_utf8(out).unwrap();
    text.lines().filter(|line| line.contains("\"Feature\"")).map(|line| line.trim_end_matches(',').to_owned()).collect()
}

fn features(write: impl FnOnce(&mut dyn AnswerWriter)) -> Vec<String> {
    lines(GeoJsonLayout::Collection, write)
}

fn node(answer: &mut dyn AnswerWriter, id: i64, (lat, lon): (i32, i32), tags: Option<&ItemTags>) {
    let position = Some(Coord { lat: lat * 10_000_000, lon: lon * 10_000_000 });
    answer.element(&OutputItem { type_name: "node", id: Some(id), position, tags, ..OutputItem::default() }).unwrap();
}

fn way(answer: &mut dyn AnswerWriter, id: i64, nodes: &[i64], tags: Option<&ItemTags>) {
    let nodes = Some(nodes);
    answer.element(&OutputItem { type_name: "way", id: Some(id), nodes, tags, ..OutputItem::default() }).unwrap();
}

/// Writes the corners of a square, the nodes 1 to 4.
fn corners(answer: &mut dyn AnswerWriter) {
    for (id, at) in (1..).zip([(0, 0), (0, 1), (1, 1), (1, 0)]) {
        node(answer, id, at, None);
    }
}

const SQUARE: [i64; 5] = [1, 2, 3, 4, 1];

#[test]
fn ways_are_areas_or_lines_by_their_tags_and_take_their_nodes_with_them() {
    let building = tags(&[("building", "yes")]);
    let road = tags(&[("highway", "residential")]);
    let gate = tags(&[("barrier", "gate")]);
    let found = features(|answer| {
        way(answer, 7, &SQUARE, Some(&building));
        way(answer, 8, &SQUARE, Some(&road));
        way(answer, 9, &[3, 5], None);
        corners(answer);
        node(answer, 2, (0, 1), Some(&gate));
    });
    assert_eq!(
        found,
        [
            r#"{"type":"Feature","id":"way/7","properties":{"type":"way","id":7,"tags":{"building":"yes"},"relations":[],"meta":{}},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}}"#,
            r#"{"type":"Feature","id":"way/8","properties":{"type":"way","id":8,"tags":{"highway":"residential"},"relations":[],"meta":{}},"geometry":{"type":"LineString","coordinates":[[0,0],[1,0],[1,1],[0,1],[0,0]]}}"#,
            r#"{"type":"Feature","id":"node/2","properties":{"type":"node","id":2,"tags":{"barrier":"gate"},"relations":[],"meta":{}},"geometry":{"type":"Point","coordinates":[1,0]}}"#,
        ]
    );
}

fn member(kind: ElementType, id: i64, role: &'static str) -> MemberItem<'static> {
    MemberItem { kind, id, role, geometry: MemberGeometry::None }
}

#[test]
fn a_multipolygon_is_put_together_and_its_borders_are_no_features() {
    let lake = tags(&[("natural", "water"), ("type", "multipolygon")]);
    let members = [
        member(ElementType::Way, 7, "outer"),
        member(ElementType::Way, 8, "outer"),
        member(ElementType::Way, 9, "inner"),
        member(ElementType::Node, 2, "label"),
    ];
    let found = features(|answer| {
        let relation = OutputItem { type_name: "relation", id: Some(5), tags: Some(&lake), ..OutputItem::default() };
        answer.element(&OutputItem { members: Some(&members), ..relation }).unwrap();
        way(answer, 7, &[1, 2, 3], None);
        way(answer, 8, &[3, 4, 1], None);
        corners(answer);
    });
    assert_eq!(
        found,
        [
            r#"{"type":"Feature","id":"relation/5","properties":{"type":"relation","id":5,"tags":{"natural":"water","type":"multipolygon"},"relations":[],"meta":{},"tainted":true},"geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}}"#
                .to_owned(),
            r#"{"type":"Feature","id":"node/2","properties":{"type":"node","id":2,"tags":{},"relations":[{"role":"label","rel":5,"reltags":{"natural":"water","type":"multipolygon"}}],"meta":{}},"geometry":{"type":"Point","coordinates":[1,0]}}"#
                .to_owned(),
        ]
    );
}

#[test]
fn a_place_comes_from_whatever_the_answer_says_of_it() {
    let bounds = BoundingBox { south: 0, west: 0, north: 10_000_000, east: 20_000_000 };
    let line = [Coord { lat: 0, lon: 0 }, Coord::MISSING, Coord { lat: 5, lon: 0 }];
    let meta = OutputMeta { version: 2, timestamp: 0, changeset: 3, uid: 4, user: "\"u\"" };
    let shape =
        DerivedGeometry::Line(vec![DegreePosition { lat: 1.5, lon: 2.0 }, DegreePosition { lat: 0.0, lon: -1.0 }]);
    let whole = [
        OutputItem {
            type_name: "way",
            id: Some(1),
            geometry: Some(&line),
            nodes: Some(&[1, 2, 3]),
            ..Default::default()
        },
        OutputItem { type_name: "way", id: Some(2), bounds: Some(bounds), nodes: Some(&[8, 9]), ..Default::default() },
        OutputItem {
            type_name: "way",
            id: Some(3),
            center: Some(DegreePosition { lat: 0.5, lon: 1.25 }),
            ..Default::default()
        },
        OutputItem { type_name: "node", id: Some(4), position: Some(line[0]), meta: Some(meta), ..Default::default() },
        OutputItem { type_name: "area", id: Some(5), ..Default::default() },
        OutputItem { type_name: "made", id: Some(6), shape: Some(&shape), ..Default::default() },
        OutputItem { type_name: "way", id: Some(7), nodes: Some(&[8, 9]), ..Default::default() },
    ];
    let found = features(|answer| whole.iter().for_each(|item| answer.element(item).unwrap()));
    assert_eq!(
        found,
        [
            r#"{"type":"Feature","id":"way/2","properties":{"type":"way","id":2,"tags":{},"relations":[],"meta":{},"geometry":"bounds"},"geometry":{"type":"Polygon","coordinates":[[[0,0],[2,0],[2,1],[0,1],[0,0]]]}}"#,
            r#"{"type":"Feature","id":"way/1","properties":{"type":"way","id":1,"tags":{},"relations":[],"meta":{},"tainted":true},"geometry":{"type":"LineString","coordinates":[[0,0],[0,0.0000005]]}}"#,
            r#"{"type":"Feature","id":"node/4","properties":{"type":"node","id":4,"tags":{},"relations":[],"meta":{"timestamp":"0000-00-00T00:00:00Z","version":2,"changeset":3,"user":"\"u\"","uid":4}},"geometry":{"type":"Point","coordinates":[0,0]}}"#,
            r#"{"type":"Feature","id":"way/3","properties":{"type":"way","id":3,"tags":{},"relations":[],"meta":{},"geometry":"center"},"geometry":{"type":"Point","coordinates":[1.25,0.5]}}"#,
            r#"{"type":"Feature","id":"made/6","properties":{"type":"made","id":6,"tags":{},"relations":[],"meta":{}},"geometry":{"type":"LineString","coordinates":[[2,1.5],[-1,0]]}}"#,
        ]
    );
    let rendered = features(|answer| {
        let renderer = answer.renderer().unwrap();
        let mut nowhere = io::sink();
        let mut buffer = Buffer::new(&mut nowhere);
        whole.iter().for_each(|item| (renderer.element)(&mut buffer, item));
        answer.rendered(&buffer.into_bytes(), whole.len() as u64).unwrap();
    });
    assert_eq!(rendered, found);
}

#[test]
fn answers_are_whole_objects_however_they_end() {
    let text = |layout, cut: bool| {
        let mut out = Vec::new();
        let mut answer = GeoJson::new(layout, None, HEADER, &mut out);
        corners(&mut answer);
        if cut {
            // Simulates a limit that is reached within a feature.
            answer.to.begin();
            answer.to.buffer.text(",\n{\"type\":");
            answer.remark("runtime error: \"x\"").unwrap();
        } else {
            answer.complete().unwrap();
        }
        answer.finish().unwrap();
        drop(answer);
        String::from_utf8(out).unwrap()
    };
    let head = concat!(
        r#"{"type":"FeatureCollection","generator":"Terrapin "#,
        env!("CARGO_PKG_VERSION"),
        r#"","copyright":"The data included in this document is from www.openstreetmap.org. The data is made available under ODbL.","timestamp":"1970-01-01T00:00:00Z","features":["#
    );
    let whole = text(GeoJsonLayout::Collection, false);
    assert!(whole.starts_with(&format!("{head}\n{{\"type\":\"Feature\",\"id\":\"node/1\"")), "{whole}");
    assert!(whole.ends_with("\"coordinates\":[0,1]}}\n]}\n"), "{whole}");
    assert_eq!(text(GeoJsonLayout::Collection, true), format!("{head}\n],\"remark\":\"runtime error: \\\"x\\\"\"}}\n"));
    let sequence = text(GeoJsonLayout::Sequence, false);
    assert_eq!(sequence.lines().filter(|line| line.starts_with("\u{1e}{\"type\":\"Feature\"")).count(), 4);
    let cut = "\u{1e}{\"type\":\"FeatureCollection\",\"features\":[],\"remark\":\"runtime error: \\\"x\\\"\"}\n";
    assert_eq!(text(GeoJsonLayout::Sequence, true), cut);
}
