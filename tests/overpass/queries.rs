//! Tests queries over a few made-up elements: the result of each filter and statement, and the limits of queries.

use std::sync::Arc;
use std::time::Instant;

use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::osm::Osm;
use terrapin::overpass::Limits;
use terrapin::overpass::{OverpassFailure, parse, run};
use terrapin::snapshot::Snapshot;

/// A square of about 111 m with a node in it, a street along one side that continues beyond it, and two relations that
/// are members of each other.
const DATA: &str = r#"<osm version="0.6">
<node id="1" lat="0" lon="0" version="1" timestamp="2020-01-01T00:00:00Z" uid="7" user="ada" changeset="1">
  <tag k="amenity" v="cafe"/><tag k="name" v="Alpha"/></node>
<node id="2" lat="0" lon="0.001" version="1" timestamp="2020-01-01T00:00:00Z"/>
<node id="3" lat="0.001" lon="0.001" version="1" timestamp="2020-01-01T00:00:00Z"/>
<node id="4" lat="0.001" lon="0" version="1" timestamp="2020-01-01T00:00:00Z"/>
<node id="5" lat="0.0005" lon="0.0005" version="1" timestamp="2021-01-01T00:00:00Z" uid="8" user="bob" changeset="2">
  <tag k="amenity" v="bar"/><tag k="name" v="Beta"/></node>
<node id="6" lat="0.002" lon="0.002" version="1" timestamp="2022-01-01T00:00:00Z"><tag k="amenity" v="bar"/></node>
<way id="10" version="1" timestamp="2020-01-01T00:00:00Z">
  <nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="4"/><nd ref="1"/><tag k="building" v="yes"/></way>
<way id="11" version="1" timestamp="2020-01-01T00:00:00Z">
  <nd ref="2"/><nd ref="3"/><nd ref="6"/><tag k="highway" v="residential"/><tag k="name" v="Main"/></way>
<way id="12" version="1" timestamp="2020-01-01T00:00:00Z">
  <nd ref="6"/><nd ref="99"/><tag k="highway" v="service"/></way>
<relation id="20" version="1" timestamp="2020-01-01T00:00:00Z">
  <member type="way" ref="10" role="outer"/><tag k="type" v="multipolygon"/><tag k="name" v="Park"/></relation>
<relation id="21" version="1" timestamp="2020-01-01T00:00:00Z">
  <member type="way" ref="11" role=""/><member type="node" ref="1" role="stop"/>
  <member type="relation" ref="22" role=""/><tag k="type" v="route"/></relation>
<relation id="22" version="1" timestamp="2020-01-01T00:00:00Z">
  <member type="node" ref="5" role=""/><member type="relation" ref="21" role=""/><tag k="type" v="site"/></relation>
</osm>"#;

fn data() -> Arc<Osm> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (osm, out) = (folder.path().join("made-up.osm"), folder.path().join("made-up.terrapin"));
    std::fs::write(&osm, DATA).expect("written");
    load(&LoadOptions { osm: Some(osm), memory: 1 << 26, ..LoadOptions::new(out.clone()) }, &Quiet).expect("it loads");
    Arc::new(Osm::open(Arc::new(Snapshot::open(&out).expect("a snapshot"))).expect("its elements"))
}

fn ask(osm: &Osm, query: &str, limits: &Limits) -> Result<String, OverpassFailure> {
    let mut body = Vec::new();
    let settings = "[out:csv(::type,::id;false;\"\")]";
    let query = if query.starts_with('[') { format!("{settings}{query}") } else { format!("{settings};{query}") };
    run(osm, &parse(&query)?, limits, &mut body)?;
    Ok(String::from_utf8(body).expect("UTF-8").replace("node", "n").replace("way", "w").replace("relation", "r"))
}

#[test]
fn finds_what_is_asked_for() {
    let osm = data();
    for (query, expected) in [
        // tags
        ("node[amenity];out;", "n1 n5 n6"),
        ("node[amenity=bar];out;", "n5 n6"),
        ("node[amenity][amenity!=bar];out;", "n1"),
        ("node[amenity~\"^(bar|pub)$\"];out;", "n5 n6"),
        ("node[amenity~\"A\",i];out;", "n1 n5 n6"),
        ("node[amenity][name!~\"a$\"];out;", "n6"),
        ("node[amenity][!name];out;", "n6"),
        ("node[~\"^am\"~\"af\"];out;", "n1"),
        ("node[amenity=pub];out;", ""),
        ("nwr[name];out;", "n1 n5 w11 r20"),
        // ids and places
        ("node(id:5,1,77);out;", "n1 n5"),
        ("node(0.0004,0.0004,0.0006,0.0006);out;", "n5"),
        ("way(0.0004,0.0009,0.0006,0.0011);out;", "w10 w11"),
        ("rel(0.0004,0.0009,0.0006,0.0011);out;", "r20 r21"),
        ("way(5,5,6,6);out;", ""),
        ("node(around:10,0.0005,0.0005);out;", "n5"),
        ("way(11);node(around:1);out;", "n2 n3 n6"),
        ("node(area:3600000020);out;", "n1 n2 n3 n4 n5"),
        ("node(poly:\"-1 -1 -1 1 0.0001 1 0.0001 -1\");out;", "n1 n2"),
        ("is_in(0.0005,0.0005);out;", "w10 area3600000020"),
        ("rel(20);map_to_area;rel(pivot);out;", "r20"),
        ("[bbox:-0.1,-0.1,0.0001,0.1];node[amenity];out;", "n1"),
        ("[bbox:-0.1,-0.1,0.0001,0.1];node(6);out;", "n6"),
        // who and when
        ("node(user:bob);out;", "n5"),
        ("node(uid:7,8);out;", "n1 n5"),
        ("node[amenity](newer:\"2021-01-01T00:00:00Z\");out;", "n5 n6"),
        ("node(changed:\"2020-06-01T00:00:00Z\",\"2021-06-01T00:00:00Z\");out;", "n5"),
        ("[date:\"2021-06-01T00:00:00Z\"];node[amenity];out;", "n1 n5"),
        ("node[amenity]->.a;retro(\"2021-06-01T00:00:00Z\"){node.a->.a;.a out;}.a out;", "n1 n5 n1 n5 n6"),
        ("timeline(way,11);out;", "timeline1"),
        // from element to element
        ("way(11);>;out;", "n2 n3 n6"),
        ("rel(21);>;out;", "n1 n2 n3 n6 w11"),
        ("rel(21);>>;out;", "n1 n2 n3 n5 n6 w11 r21 r22"),
        ("node(2);<;out;", "w10 w11 r20 r21"),
        ("node(5);<<;out;", "r21 r22"),
        ("way(11);node(w:1);out;", "n2"),
        ("way(11);node(w:-1);out;", "n6"),
        ("rel(21);node(r:\"stop\");out;", "n1"),
        ("rel(21);node(r:\"start\");out;", ""),
        ("way(10);rel(bw:\"outer\");out;", "r20"),
        ("node(6);way(bn:1);out;", "w12"),
        ("way[highway];node(w)(way_cnt:2-);out;", "n6"),
        // sets
        ("(node[amenity];-node[name];);out;", "n6"),
        ("(node(6);way(12);>;);out;", "n6 w12"),
        ("node[name]->.a;node[amenity=bar]->.b;node.a.b;out;", "n5"),
        ("nwr[name];foreach->.x{.x out;}", "n1 n5 w11 r20"),
        ("node[name];foreach->.x{node(around.x:1);}out;.x out;", "n5"),
        ("way(12);complete{node(w);way(bn);};out;", "w10 w11 w12"),
    ] {
        let answer = ask(&osm, query, &Limits::default());
        let answer = answer.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        assert_eq!(answer.as_deref(), Ok(expected), "{query}");
    }
}

#[test]
fn says_why_it_stops() {
    let osm = data();
    let code = |query: &str, limits: &Limits| {
        ask(&osm, query, limits).expect_err(query).diagnostics.first().map(|d| d.code.name()).expect("a diagnostic")
    };
    let free = Limits::default();
    assert_eq!(code("node[amenity!=pub];out;", &free), "too-weak");
    assert_eq!(code("[adiff:\"2020-01-01T00:00:00Z\"];node(1);out;", &free), "diff-format");
    let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    assert_eq!(code("node(1);out;", &late), "timeout");
    let small = Limits { work: Some(2), ..Limits::default() };
    assert_eq!(code("node(-1,-1,1,1);out;", &small), "work");
    assert_eq!(code("[maxsize:8];node(-1,-1,1,1);out;", &free), "memory");
    let gone = Limits::default();
    gone.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(code("node(1);out;", &gone), "cancelled");
}
