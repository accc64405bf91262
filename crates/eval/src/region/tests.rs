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
    assert_eq!((other.kind, &*other.reason), (RegionKind::Unresolved, "area[name=Sicily]"));
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
