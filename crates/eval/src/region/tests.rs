use super::*;

/// OverpassNL's table has names; Malta's box is given to test a border.
fn table() -> PlaceTable {
    PlaceTable::parse(
        br#"{"Malta": {"osm_id": 365307, "osm_type": "relation"},
             "Malta_bbox": {"bbox": ["35.6", "36.3", "13.9", "14.8"]},
             "Gozo": {"osm_id": 5, "osm_type": "relation"}}"#,
    )
    .unwrap()
}

fn of(query: &str, bbox: Option<&str>) -> QueryRegion {
    let table = table();
    let pair = GoldPair {
        line: 1,
        split: "dev".to_owned(),
        query: query.to_owned(),
        bbox: bbox.map(str::to_owned),
        ..GoldPair::default()
    };
    let sources =
        RegionSources { engine: None, table: Some(&table), margin: 0.0, largest: 1e6, timeout: Duration::from_secs(1) };
    survey(&[pair], &sources, &|| ()).queries.remove(0)
}

fn kind(query: &str) -> RegionKind {
    of(query, None).kind
}

#[test]
fn boxes_come_from_settings_filters_and_the_pair() {
    for query in [
        "[bbox:1,2,3,4];node[a];out;",
        "node[a](1,2,3,4);out;",
        "node[a](poly:\"1 2 3 4 1 4\");out;",
        "node(1,2,3,4)->.a;way(bn.a);<;out geom;",
        "(node[a](1,2,3,4);way[a](1,2,3,4););out;>;out;",
        "node[a](-90,-180,90,180)(1,2,3,4);out;",
        "way[a](0,0,10,10)(1,2,3,4);out;",
    ] {
        let found = of(query, None);
        assert_eq!((found.kind, found.boxes), (RegionKind::Box, vec![[1.0, 2.0, 3.0, 4.0]]), "{query}");
    }
    assert_eq!(of("node[a]({{bbox}});out;", Some("1,2,3,4")).boxes, [[1.0, 2.0, 3.0, 4.0]]);
    assert_eq!(kind("node[a]({{bbox}});out;"), RegionKind::Unresolved);
    let filters = of("node[a](1,2,3,4);way[b](5,6,7,8);out;", None);
    assert_eq!(filters.boxes, [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
}

/// A circle of 1000 m around a point on the equator: 1000 / 111195 = 0.009 degrees.
#[test]
fn around_widens_its_center() {
    let [south, west, north, east] = of("node(around:1000,0,10)[a];out;", None).boxes[0];
    for (found, wanted) in [(south, -0.009), (west, 9.991), (north, 0.009), (east, 10.009)] {
        assert!((found - wanted).abs() < 1e-4, "{found} {wanted}");
    }
    let chain = of("node[a](0,10,0,10)->.a;way(around.a:1000)->.b;node(around.b:1000);out;", None);
    let last = chain.boxes.iter().map(|area| area[2]).fold(0.0, f64::max);
    assert!((last - 0.018).abs() < 1e-4, "{last}");
    assert_eq!(kind("node[a]->.a;node(around.a:9);out;"), RegionKind::Global);
}

#[test]
fn areas_have_the_box_of_their_place() {
    for query in [
        "{{geocodeArea:Malta}}->.a;node(area.a)[b];out;",
        "area(3600365307)->.a;node(area.a)[b];out;",
        "node(area:3600365307)[b];out;",
        "area[name=Malta]->.a;(node(area.a)[b];way(area.a)[b];);out;",
    ] {
        let found = of(query, None);
        assert_eq!((found.kind, found.boxes), (RegionKind::Area, vec![[35.6, 13.9, 36.3, 14.8]]), "{query}");
        assert_eq!(found.areas, [RegionArea { id: 3_600_365_307, known: true }]);
    }
    let gozo = of("{{geocodeArea:Gozo}}->.a;node(area.a)[b];out;", None);
    assert_eq!((gozo.kind, &*gozo.reason), (RegionKind::Unresolved, "area 3600000005"));
    let other = of("area[name=Sicily]->.a;node(area.a)[b];out;", None);
    assert_eq!(other.kind, RegionKind::Unresolved);
    assert!(other.reason.starts_with("area[name=Sicily]"), "{}", other.reason);
    // The place of a set with an unknown part is not known, but a box limits it.
    let parts = "(area[name=Sicily];area[name=Malta];)->.a;";
    assert_eq!(kind(&format!("{parts}node(area.a)[b];out;")), RegionKind::Unresolved);
    assert_eq!(of(&format!("{parts}node(area.a)[b](1,2,3,4);out;"), None).boxes, [[1.0, 2.0, 3.0, 4.0]]);
}

/// Without a run, the elements of these sets are not known.
#[test]
fn sets_of_unknown_extent_are_reported() {
    for (query, reason) in [
        ("is_in(35.9,14.5)->.a;node(area.a)[amenity];out;", "is_in(35.9,14.5)->.a"),
        ("rel(365307);map_to_area->.a;node(area.a)[amenity];out;", "map_to_area->.a"),
        ("rel(365307);node(around:1000)[amenity];out;", "rel(365307)"),
        ("rel(365307);(._;>;);node(around:1000)[amenity];out;", "rel(365307)"),
        ("rel(365307);is_in->.a;out;", "rel(365307)"),
        ("rel(365307);foreach(node(around:1000)[amenity];);out;", "rel(365307)"),
    ] {
        let found = of(query, None);
        assert_eq!(found.kind, RegionKind::Unresolved, "{query}");
        assert!(found.reason.starts_with(reason) && !found.reason.contains("; "), "{query}: {}", found.reason);
    }
    // A written box limits a search, whatever else does.
    for first in ["rel(365307);map_to_area->.a;", "is_in(1,2)->.a;", "rel(365307)->.a;"] {
        let filter = if first.contains("area") || first.contains("is_in") { "area.a" } else { "around.a:1000" };
        let found = of(&format!("{first}node({filter})[amenity](1,2,3,4);out;"), None);
        assert_eq!((found.kind, found.boxes.last()), (RegionKind::Box, Some(&[1.0, 2.0, 3.0, 4.0])), "{first}");
    }
    // A run knows them.
    let needs = observed("rel(365307);node(around:0)[amenity];out;", &[("rel", degrees(1, 2, 1, 2))]);
    assert_eq!((needs.boxes, needs.unresolved.len()), (vec![degrees(1, 2, 1, 2)], 0));
    assert!(observed("rel(365307);map_to_area->.a;node(area.a)[amenity];out;", &[]).unresolved.is_empty());
}

/// Knowledge from a run: the extents of statements by their texts; areas that the snapshot lacks.
struct Observed<'a> {
    text: &'a str,
    extents: &'a [(&'a str, BoundingBox)],
}

impl flow::AreaKnowledge for Observed<'_> {
    fn boxes_of(&self, _: i64) -> Option<Vec<BoundingBox>> {
        Some(Vec::new())
    }

    fn area_named(&self, _: &str) -> Option<i64> {
        None
    }

    fn found_by(&self, _: SourceSpan) -> Option<Vec<i64>> {
        Some(Vec::new())
    }

    fn extent_of(&self, (start, end): (usize, usize)) -> Option<Vec<BoundingBox>> {
        let own = self.text.get(start..end)?;
        Some(self.extents.iter().filter(|(text, _)| own.starts_with(text)).map(|(_, area)| *area).collect())
    }
}

fn observed(text: &str, extents: &[(&str, BoundingBox)]) -> RegionNeeds {
    let script = terrapin_overpass::parse(text).unwrap();
    needs_of(text, &script, &Observed { text, extents })
}

fn degrees(south: i32, west: i32, north: i32, east: i32) -> BoundingBox {
    let [south, west, north, east] = [south, west, north, east].map(|side| side * 10_000_000);
    BoundingBox { south, west, north, east }
}

#[test]
fn an_area_that_is_known_to_be_absent_needs_nothing() {
    for query in ["node(area:3600000001)[b];out;", "area(3600000001)->.a;node(area.a)[b];out;"] {
        let needs = observed(query, &[]);
        assert_eq!(needs.global, [""; 0], "{query}");
        assert!(needs.unresolved.is_empty() && needs.boxes.is_empty(), "{query}");
    }
}

#[test]
fn a_set_has_the_elements_of_both_branches() {
    let boxes = |query: &str| of(query, None).boxes;
    let branches =
        "if(count(nodes)>0){node[a](1,2,3,4)->.a;}else{node[a](5,6,7,8)->.a;}way(bn.a);node(around.a:0)[b];out;";
    assert_eq!(boxes(branches), [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
    // Without an else, the set may stay what it was.
    let one = "node[a](1,2,3,4)->.a;if(count(nodes)>0){way[a](5,6,7,8)->.a;}node(around.a:0)[b];out;";
    assert_eq!(boxes(one), [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]);
    // The extents are those of both statements.
    let needs = observed(branches, &[("node[a](1", degrees(1, 2, 1, 2)), ("node[a](5", degrees(5, 6, 5, 6))]);
    assert!(needs.boxes.contains(&degrees(1, 2, 1, 2)) && needs.boxes.contains(&degrees(5, 6, 5, 6)), "{needs:?}");
    // A copy of a set has an extent of its own.
    let copy = "node[a](1,2,3,4)->.a;.a->.b;node(around.b:0)[b];out;";
    let needs = observed(copy, &[(".a", degrees(1, 2, 1, 2))]);
    assert!(needs.boxes.contains(&degrees(1, 2, 1, 2)), "{needs:?}");
}

#[test]
fn loops_are_followed_until_no_set_grows() {
    // The third round reads what the second wrote.
    let chain = "node[a](1,2,3,4)->.a;foreach.x->.y(node(around.c:0)[b]->.d;node(around.b:0)->.c;node(around.a:0)->.b;);node(around.d:100000);out;";
    let found = of(chain, None);
    assert_eq!((found.kind, found.boxes.len()), (RegionKind::Box, 2), "{found:?}");
    // A set that grows in each round may be anywhere.
    let endless = "node[a](0,10,0,10)->.a;foreach.a->.b(node(around.a:1000)->.a;);out;";
    assert_eq!(kind(endless), RegionKind::Global);
    assert_eq!(
        kind("node[a](0,10,0,10)->.a;foreach.a->.b(foreach.a->.c(node(around.a:1000)->.a;););out;"),
        RegionKind::Global
    );
    // A run knows its extents.
    assert!(observed(endless, &[("node", degrees(0, 10, 0, 10))]).global.is_empty());
    // A limited number of rounds limits a set: the limit and one more, each by 0.009 degrees.
    let limited = of("node[a](0,10,0,10);complete(2){node(around:1000);}out;", None);
    let north = limited.boxes.iter().map(|area| area[2]).fold(0.0, f64::max);
    assert!((north - 0.027).abs() < 1e-4, "{north}");
    // A loop within it runs more often: 101 times in each of two rounds, or once for each element.
    for inner in ["complete(100){node(around:1000);};", "foreach->.b(node(around:1000););"] {
        for wrapped in [inner.to_owned(), format!("if(count(nodes)>0){{{inner}}}")] {
            let query = format!("node[a](0,10,0,10);complete(1){{{wrapped}}};out;");
            assert_eq!(kind(&query), RegionKind::Global, "{query}");
        }
    }
    // After 100,000 statements, a set that still grows may be anywhere.
    let long = chain.replace("foreach.x->.y(", &format!("foreach.x->.y({}", ".z->.z;".repeat(60_000)));
    assert_eq!(kind(&long), RegionKind::Global);
    // The work does not double with each level.
    let nested = format!("{}node[a](1,2,3,4);{}out;", "foreach(".repeat(40), ");".repeat(40));
    assert_eq!(of(&nested, None).boxes, [[1.0, 2.0, 3.0, 4.0]]);
    // What a block at another date assigns does not leave it.
    let retro = "node[a](1,2,3,4)->.a;retro(\"2020-01-01T00:00:00Z\"){node[a](5,6,7,8)->.a;}node(around.a:100000);out;";
    assert!(of(retro, None).boxes.iter().any(|area| area[0] < 0.2), "{:?}", of(retro, None));
}

/// `around` counts 10,000 km from the equator to a pole.
#[test]
fn boxes_are_widened_on_the_globe() {
    let widened = |area: BoundingBox, degrees: f64| {
        let found = widened(&area, degrees * 10_000_000.0 / 90.0);
        [found.south, found.west, found.north, found.east].map(|side| (f64::from(side) / 1e6).round() / 10.0)
    };
    assert_eq!(widened(degrees(0, 10, 0, 20), 5.0), [-5.0, 5.0, 5.0, 25.0]);
    assert_eq!(widened(degrees(0, 178, 0, 179), 5.0), [-5.0, 173.0, 5.0, -176.0]);
    assert_eq!(widened(degrees(0, 179, 0, -179), 5.0), [-5.0, 174.0, 5.0, -174.0]);
    // Wider than the globe: at once, by the margin, and across the antimeridian.
    assert_eq!(widened(degrees(0, -180, 0, 180), 5.0), [-5.0, -180.0, 5.0, 180.0]);
    assert_eq!(widened(degrees(0, -177, 0, 177), 5.0), [-5.0, -180.0, 5.0, 180.0]);
    assert_eq!(widened(degrees(0, -174, 0, 174), 5.0), [-5.0, -179.0, 5.0, 179.0]);
    assert_eq!(widened(degrees(0, 4, 0, -4), 5.0), [-5.0, -180.0, 5.0, 180.0]);
    // Over a pole.
    assert_eq!(widened(degrees(86, 10, 87, 20), 5.0), [81.0, -180.0, 90.0, 180.0]);
    assert_eq!(widened(degrees(-87, 10, 20, 20), 5.0), [-90.0, -180.0, 25.0, 180.0]);
    assert!(super::flow::widened(&BoundingBox::EMPTY, 9.0).is_empty());
}

#[test]
fn queries_without_a_place_are_named() {
    let found = of("[out:json];\nnode[amenity=cafe][!b];out;", None);
    assert_eq!((found.kind, &*found.reason), (RegionKind::Global, "line 2: node[amenity=cafe][!b]"));
    assert_eq!(kind("node[a];way(1,2,3,4)[b];out;"), RegionKind::Global);
    assert_eq!(kind("foreach.x->.y(node[a];);out;"), RegionKind::Global);
    let large = of("node[a](0,0,50,50);out;", None);
    assert_eq!((large.kind, large.boxes.len()), (RegionKind::Global, 0));
    assert!(large.reason.starts_with("a region of 2"), "{}", large.reason);
    assert_eq!(kind("make stat number=1;out;"), RegionKind::Nothing);
    assert_eq!(kind("node[a"), RegionKind::Unread);
    let ids = of("rel(12);>;out;nwr(5);out;", None);
    assert_eq!((ids.kind, ids.ids.join(" ")), (RegionKind::Ids, "node/5 relation/12 relation/5 way/5".to_owned()));
}
