//! Tests the three formats on made-up elements against the reference's layout.

use super::*;
use crate::set::{DegreePosition, DerivedGeometry};
use crate::syntax::{CsvField, CsvSettings, PopupBlock, PopupTest, PopupValue};
use terrapin_osm::{BoundingBox, Coord, ElementType};

const BOX: BoundingBox =
    BoundingBox { south: -190_764_210, west: -1_699_273_307, north: -190_762_292, east: -1_699_271_172 };

fn written(format: &OutputFormat, header: OutputHeader, write: impl FnOnce(&mut dyn AnswerWriter)) -> String {
    let mut out = Vec::new();
    {
        let mut answer = answer(AnswerFormat::Asked(format), header, &mut out).unwrap();
        write(answer.as_mut());
        answer.finish().unwrap();
    }
    String::from_utf8(out).unwrap().replace(env!("CARGO_PKG_VERSION"), "VERSION")
}

fn header() -> OutputHeader {
    OutputHeader { data_time: 1_672_656_402, areas_time: None, bounds: None }
}

/// Writes elements and a remark.
fn everything(answer: &mut dyn AnswerWriter) {
    elements(answer);
    answer.remark("runtime error: \"x\"").unwrap();
}

/// Writes a way with all parts, a relation with every kind of member, a derived element and a count.
fn elements(answer: &mut dyn AnswerWriter) {
    let mut tags = ItemTags::default();
    tags.push("name", "a \"b\" <c> & \\d\n\u{1}");
    let way = OutputItem {
        type_name: "way",
        id: Some(7),
        meta: Some(OutputMeta { version: 3, timestamp: 0, changeset: 5, uid: 6, user: "u,v" }),
        bounds: Some(BOX),
        label: Some(DegreePosition { lat: 1.0, lon: 2.0 }),
        nodes: Some(&[1, 2]),
        geometry: Some(&[Coord { lat: 0, lon: 10_000_000 }, Coord::MISSING]),
        tags: Some(&tags),
        ..OutputItem::default()
    };
    answer.element(&way).unwrap();
    let line = [Coord { lat: 1, lon: -1 }, Coord::MISSING];
    let member = |kind, geometry| MemberItem { kind, id: 9, role: "r", geometry };
    let members = [
        member(ElementType::Node, MemberGeometry::Point(line[0])),
        member(ElementType::Way, MemberGeometry::Line(&line)),
        member(ElementType::Way, MemberGeometry::Line(&[])),
        member(ElementType::Relation, MemberGeometry::None),
    ];
    let relation = OutputItem { type_name: "relation", id: Some(8), members: Some(&members), ..OutputItem::default() };
    answer.element(&relation).unwrap();
    let point = DerivedGeometry::Point(DegreePosition { lat: 1.5, lon: -2.0 });
    answer
        .element(&OutputItem { type_name: "made", id: Some(-5), shape: Some(&point), ..OutputItem::default() })
        .unwrap();
    answer.count(&OutCounts { with_id: true, nodes: 1, ways: 2, relations: 3, areas: Some(0) }).unwrap();
}

#[test]
fn what_was_recorded_is_written_as_what_came() {
    let mut page = ItemTags::default();
    page.push("", "");
    let polygon = vec![vec![DegreePosition { lat: 1.0, lon: 2.0 }], Vec::new()];
    let shape = DerivedGeometry::Collection(vec![DerivedGeometry::Line(Vec::new()), DerivedGeometry::Polygon(polygon)]);
    let more = |answer: &mut dyn AnswerWriter| {
        elements(answer);
        let seen = OutputItem {
            type_name: "node",
            id: Some(-3),
            visible: Some(false),
            position: Some(Coord { lat: -5, lon: 7 }),
            center: Some(DegreePosition { lat: 0.5, lon: 0.25 }),
            tags: Some(&page),
            ..OutputItem::default()
        };
        answer.element(&seen).unwrap();
        answer.element(&OutputItem { type_name: "made", shape: Some(&shape), ..OutputItem::default() }).unwrap();
        answer.count(&OutCounts::default()).unwrap();
    };
    let mut recording = Recording::new(header(), OutputFormat::Xml);
    more(&mut recording);
    assert_eq!(recording.written(), 7);
    for format in [OutputFormat::Xml, OutputFormat::Json, OutputFormat::Custom] {
        let replayed = written(&format, header(), |answer| {
            let mut cursor = RecordingCursor::default();
            recording.replay(&mut cursor, 3, answer).unwrap();
            recording.replay(&mut cursor, u64::MAX, answer).unwrap();
        });
        assert_eq!(replayed, written(&format, header(), more));
    }
    // Like the result of printing on several threads.
    let renderer = recording.renderer().unwrap();
    let mut nowhere = std::io::sink();
    let mut buffer = Buffer::new(&mut nowhere);
    (renderer.element)(&mut buffer, &OutputItem { type_name: "node", id: Some(1), ..OutputItem::default() });
    recording.rendered(&buffer.into_bytes(), 1).unwrap();
    let mut kinds = Vec::new();
    for piece in recording.pieces() {
        let looked: Result<(), ()> = recording.each(piece, |entry| {
            kinds.push(match entry {
                RecordingEntry::Element(item) => item.type_name.to_owned(),
                RecordingEntry::Count(counts) => counts.total().to_string(),
                RecordingEntry::Action(_) => String::new(),
            });
            Ok(())
        });
        looked.unwrap();
    }
    assert_eq!(kinds, ["way", "relation", "made", "6", "node", "made", "0", "node"]);
}

#[test]
fn json() {
    let text = written(&OutputFormat::Json, header(), everything);
    let expected = r#"{
  "version": 0.6,
  "generator": "Terrapin VERSION",
  "osm3s": {
    "timestamp_osm_base": "2023-01-02T10:46:42Z",
    "copyright": "The data included in this document is from www.openstreetmap.org. The data is made available under ODbL."
  },
  "elements": [

{
  "type": "way",
  "id": 7,
  "timestamp": "0000-00-00T00:00:00Z",
  "version": 3,
  "changeset": 5,
  "user": "u,v",
  "uid": 6,
  "bounds": {
    "minlat": -19.0764210,
    "minlon": -169.9273307,
    "maxlat": -19.0762292,
    "maxlon": -169.9271172
  },
  "nodes": [
    1,
    2
  ],
  "geometry": [
    { "lat": 0.0000000, "lon": 1.0000000 },
    null
  ],
  "tags": {
    "name": "a \"b\" <c> & \\d\n?"
  }
},
{
  "type": "relation",
  "id": 8,
  "members": [
    {
      "type": "node",
      "ref": 9,
      "role": "r",
      "lat": 0.0000001,
      "lon": -0.0000001
    },
    {
      "type": "way",
      "ref": 9,
      "role": "r",
      "geometry": [
         { "lat": 0.0000001, "lon": -0.0000001 },
         null
      ]
    },
    {
      "type": "way",
      "ref": 9,
      "role": "r",
      "geometry": [
      ]
    },
    {
      "type": "relation",
      "ref": 9,
      "role": "r"
    }
  ]
},
{
  "type": "made",
  "id": 18446744073709551611,
  "geometry": {
    "type": "Point",
    "coordinates": [ -2.0000000, 1.5000000 ]
  }
},
{
  "type": "count",
  "id": 0,
  "tags": {
    "nodes": "1",
    "ways": "2",
    "relations": "3",
    "areas": "0",
    "total": "6"
  }
}

  ],
"remark": "runtime error: \"x\""
}
"#;
    assert_eq!(text, expected);
    let empty = written(&OutputFormat::Json, header(), |_| {});
    assert!(empty.ends_with("  \"elements\": [\n\n\n\n  ]\n}\n"), "{empty}");
}

#[test]
fn xml() {
    let header = OutputHeader { areas_time: Some(0), bounds: Some(BOX), ..header() };
    let expected = r#"<?xml version="1.0" encoding="UTF-8"?>
<osm version="0.6" generator="Terrapin VERSION">
<note>The data included in this document is from www.openstreetmap.org. The data is made available under ODbL.</note>
<meta osm_base="2023-01-02T10:46:42Z" areas="1970-01-01T00:00:00Z"/>

  <bounds minlat="-19.0764210" minlon="-169.9273307" maxlat="-19.0762292" maxlon="-169.9271172"/>

  <way id="7" version="3" timestamp="0000-00-00T00:00:00Z" changeset="5" uid="6" user="u,v">
    <bounds minlat="-19.0764210" minlon="-169.9273307" maxlat="-19.0762292" maxlon="-169.9271172"/>
    <nd ref="1" lat="0.0000000" lon="1.0000000"/>
    <nd ref="2"/>
    <tag k="name" v="a &quot;b&quot; &lt;c&gt; &amp; \d&#x0a;?"/>
  </way>
  <relation id="8">
    <member type="node" ref="9" role="r" lat="0.0000001" lon="-0.0000001"/>
    <member type="way" ref="9" role="r">
      <nd lat="0.0000001" lon="-0.0000001"/>
      <nd/>
    </member>
    <member type="way" ref="9" role="r"/>
    <member type="relation" ref="9" role="r"/>
  </relation>
  <made id="18446744073709551611">
    <point lat="1.5000000" lon="-2.0000000"/>
  </made>
  <count id="0">
    <tag k="nodes" v="1"/>
    <tag k="ways" v="2"/>
    <tag k="relations" v="3"/>
    <tag k="areas" v="0"/>
    <tag k="total" v="6"/>
  </count>
<remark> runtime error: &quot;x&quot; </remark>

</osm>
"#;
    assert_eq!(written(&OutputFormat::Xml, header, everything), expected);
}

#[test]
fn csv() {
    let special = |name: &str| CsvField::Special(name.to_owned());
    let fields =
        ["id", "otype", "lat", "user", "count:ways"].map(special).into_iter().chain([CsvField::Tag("name".to_owned())]);
    let settings = CsvSettings { fields: fields.collect(), header: true, separator: ";".to_owned() };
    let expected = "@id;@otype;@lat;@user;@count:ways;name\n\
        7;2;1.0000000;\"u,v\";;\"a \"\"b\"\" <c> & \\d\n\u{1}\"\n\
        8;3;;;;\n\
        18446744073709551611;4;;;;\n\
        0;4;;;2;\n";
    assert_eq!(written(&OutputFormat::Csv(settings), header(), everything), expected);
}

#[test]
fn a_reader_that_went_away_is_an_error() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut gone = Gone;
    let mut answer = answer(AnswerFormat::Asked(&OutputFormat::Json), header(), &mut gone).unwrap();
    let item = OutputItem { type_name: "node", id: Some(1), ..OutputItem::default() };
    let failed = (0..100_000).any(|_| answer.element(&item).is_err());
    assert!(failed || answer.finish().is_err());
}

/// The reference's results for these tags.
#[test]
fn the_name_in_a_popup_leads_to_an_address() {
    let test = PopupTest { key: "t".to_owned(), value: PopupValue::Any, negated: true };
    let block = PopupBlock { title: "A".to_owned(), tests: vec![test], title_key: String::new() };
    for (values, href) in [
        (["x", "http:/y"], None),
        (["see http://1", "www.2"], Some("see http://1")),
        (["http://1", "http://2"], Some("http://2")),
        (["https://1", "http://2"], Some("https://1")),
        (["www.1", "a www.2"], Some("http://a www.2")),
    ] {
        let mut tags = ItemTags::default();
        ["k", "l"].into_iter().zip(values).for_each(|(key, value)| tags.push(key, value));
        let item = OutputItem { type_name: "node", id: Some(1), tags: Some(&tags), ..OutputItem::default() };
        let text =
            written(&OutputFormat::Popup(vec![block.clone()]), header(), |answer| answer.element(&item).unwrap());
        let name = href.map_or("<p><strong>Node 1</strong><br/>".to_owned(), |href| {
            format!("<p><a href=\"{href}\" target=\"_blank\"><strong>Node 1</strong></a><br/>")
        });
        assert!(text.contains(&name), "{text}");
    }
}
