//! Tests OSM XML in its three packings, and documents that are not OSM XML.

use crate::{place, skip};
use std::io::Write;
use terrapin_loaders::{LoaderError, NO_COORDINATE, ReadOptions, SourceElement, SourceHeader, header, read};

const DOCUMENT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!-- <node id="9" lat="1" lon="1"/> -->
<osm version="0.6" generator="A &amp; B">
 <note>The data is <b>open</b>.</note>
 <meta osm_base="2024-03-13T21:21:12Z"/>
 <bounds minlat="35.5" minlon="-14.25" maxlat="36" maxlon="1.4E1"/>
 <node id="-1" lat="35.8999999" lon="14.5" version="3" timestamp="2012-09-12T06:55:00Z" changeset="7" uid="5" user="J&#252;rgen &quot;x&quot;" visible="true"/>
 <node id="2" lat="1" lon="2"><tag k="name" v="Ħal &lt;Far&gt;&#10;2"/><tag k='note' v='"quoted"
line'/></node>
 <node id="2" version="4" visible="false"/>
 <way id="5"><nd ref="2"/><nd ref="-1"/><nd ref="2"/><tag k="highway" v="path"/></way>
 <way id="6"><bounds minlat="1" minlon="1" maxlat="2" maxlon="2"/><nd ref="2" lat="1" lon="2"/><nd ref="3"/></way>
 <way id="7"/>
 <relation id="8"><member type="way" ref="5" role="outer"><nd lat="1" lon="2"/></member><member type="node" ref="2" role=""/><member type="relation" ref="8"/><tag k="type" v="multipolygon"/></relation>
</osm>
"#;

const EXPECTED: &str = r#"Node(SourceNode { id: -1, lat: 358999999, lon: 145000000, tags: [], meta: Some(SourceMeta { version: 3, timestamp: 1347432900, changeset: 7, uid: 5, user: "Jürgen \"x\"", visible: true }) })
Node(SourceNode { id: 2, lat: 10000000, lon: 20000000, tags: [("name", "Ħal <Far>\n2"), ("note", "\"quoted\" line")], meta: None })
Node(SourceNode { id: 2, lat: 2147483647, lon: 2147483647, tags: [], meta: Some(SourceMeta { version: 4, timestamp: 0, changeset: 0, uid: 0, user: "", visible: false }) })
Way(Way { id: 5, refs: [2, -1, 2], locations: None, tags: [("highway", "path")], meta: None })
Way(Way { id: 6, refs: [2, 3], locations: Some([(10000000, 20000000), (2147483647, 2147483647)]), tags: [], meta: None })
Way(Way { id: 7, refs: [], locations: None, tags: [], meta: None })
Relation(SourceRelation { id: 8, members: [SourceMember { kind: Way, id: 5, role: "outer" }, SourceMember { kind: Node, id: 2, role: "" }, SourceMember { kind: Relation, id: 8, role: "" }], tags: [("type", "multipolygon")], meta: None })
"#;

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    file
}

fn elements(bytes: &[u8]) -> Result<(String, SourceHeader), LoaderError> {
    let file = file(bytes);
    let mut all = String::new();
    let header = read::<_, LoaderError>(
        file.path(),
        &ReadOptions::default(),
        |block| {
            let mut text = String::new();
            block.for_each(|element| text.push_str(&format!("{element:?}\n")))?;
            Ok(text)
        },
        |text, _| {
            all.push_str(&text);
            Ok(())
        },
    )?;
    Ok((all, header))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn the_same_in_three_packings() {
    assert_eq!(NO_COORDINATE, 2_147_483_647);
    let expected = SourceHeader {
        bbox: Some([355_000_000, -142_500_000, 360_000_000, 140_000_000]),
        replication_timestamp: Some(1_710_364_872),
        writing_program: Some("A & B".to_owned()),
        history: true,
        ..SourceHeader::default()
    };
    let with_mark = [b"\xef\xbb\xbf", DOCUMENT.as_bytes()].concat();
    let (first, second) = DOCUMENT.as_bytes().split_at(500);
    let in_parts = [gzip(first), gzip(second)].concat();
    for bytes in
        [DOCUMENT.as_bytes().to_vec(), with_mark, gzip(DOCUMENT.as_bytes()), in_parts, bzip2(DOCUMENT.as_bytes())]
    {
        let (all, header) = elements(&bytes).unwrap();
        assert_eq!(all, EXPECTED);
        assert_eq!(header, expected);
    }
    // Whether there are deleted elements is known only after reading.
    assert_eq!(header(file(DOCUMENT.as_bytes()).path()).unwrap(), SourceHeader { history: false, ..expected });
}

#[test]
fn many_chunks_stay_in_order() {
    let mut text = "<osm version='0.6'>".to_owned();
    for id in 0..50_000 {
        text.push_str(&format!("<node id='{id}' lat='1' lon='1'><tag k='a' v='{id}'/></node>"));
    }
    text.push_str("</osm>");
    let file = file(&gzip(text.as_bytes()));
    let (mut next, mut last) = (0, Default::default());
    read::<_, LoaderError>(
        file.path(),
        &ReadOptions::default(),
        |block| {
            let mut ids = Vec::new();
            block.for_each(|element| match element {
                SourceElement::Node(node) => {
                    assert_eq!(node.tags, [("a", node.id.to_string().as_str())]);
                    ids.push(node.id);
                }
                _ => panic!("only nodes were written"),
            })?;
            Ok(ids)
        },
        |ids, progress| {
            for id in ids {
                assert_eq!(id, next);
                next += 1;
            }
            last = progress;
            Ok(())
        },
    )
    .unwrap();
    assert_eq!(next, 50_000);
    assert_eq!((last.blocks, last.bytes_read), (7, last.bytes_total));
}

/// Returns an element as XML, with all its data.
fn xml(element: &SourceElement<'_>) -> String {
    let text = |text: &str| quick_xml::escape::escape(text).replace('\n', "&#10;").replace('\t', "&#9;");
    let degrees = |value: i32| {
        let size = value.unsigned_abs();
        format!("{}{}.{:07}", if value < 0 { "-" } else { "" }, size / 10_000_000, size % 10_000_000)
    };
    let (name, id, tags, meta) = match element {
        SourceElement::Node(n) => ("node", n.id, n.tags, n.meta),
        SourceElement::Way(w) => ("way", w.id, w.tags, w.meta),
        SourceElement::Relation(r) => ("relation", r.id, r.tags, r.meta),
    };
    let mut out = format!("<{name} id='{id}'");
    if let Some(m) = meta {
        let (days, seconds) = (m.timestamp / 86_400, m.timestamp % 86_400);
        let (mut year, mut day) = (1970, days);
        let length = |year: i64| if year % 4 == 0 { 366 } else { 365 };
        while day >= length(year) {
            day -= length(year);
            year += 1;
        }
        let mut month = 0;
        let months = [31, length(year) - 337, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        while day >= months[month] {
            day -= months[month];
            month += 1;
        }
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        let time = format!("{year}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", month + 1, day + 1);
        let (version, changeset, uid, user, visible) = (m.version, m.changeset, m.uid, text(m.user), m.visible);
        out.push_str(&format!(" version='{version}' timestamp='{time}' changeset='{changeset}'"));
        out.push_str(&format!(" uid='{uid}' user='{user}' visible='{visible}'"));
    }
    match element {
        SourceElement::Node(n) if n.lat != NO_COORDINATE => {
            out.push_str(&format!(" lat='{}' lon='{}'>", degrees(n.lat), degrees(n.lon)));
        }
        SourceElement::Node(_) => out.push('>'),
        SourceElement::Way(w) => {
            out.push('>');
            w.refs.iter().for_each(|id| out.push_str(&format!("<nd ref='{id}'/>")));
        }
        SourceElement::Relation(r) => {
            out.push('>');
            for member in r.members {
                let kind = format!("{:?}", member.kind).to_lowercase();
                out.push_str(&format!("<member type='{kind}' ref='{}' role='{}'/>", member.id, text(member.role)));
            }
        }
    }
    tags.iter().for_each(|(key, value)| out.push_str(&format!("<tag k='{}' v='{}'/>", text(key), text(value))));
    out.push_str(&format!("</{name}>\n"));
    out
}

#[test]
fn real_extracts_are_the_same_as_xml() {
    let shared = place::shared();
    for name in ["niue.osm.pbf", "niue.osh.pbf"] {
        let path = shared.join("data/osm").join(name);
        let Ok(bytes) = std::fs::read(path) else {
            skip::skipped(skip::Need::Shared, format_args!("no {name}"));
            continue;
        };
        let mut document = "<osm version='0.6'>\n".to_owned();
        let file = file(&bytes);
        let map = |block: &terrapin_loaders::ElementBlock| {
            let mut text = String::new();
            block.for_each(|element| text.push_str(&xml(&element)))?;
            Ok(text)
        };
        let collect = |text: String, _| {
            document.push_str(&text);
            Ok(())
        };
        read::<_, LoaderError>(file.path(), &ReadOptions::default(), map, collect).unwrap();
        document.push_str("</osm>");
        let (from_pbf, header) = elements(&bytes).unwrap();
        let (from_xml, xml_header) = elements(document.as_bytes()).unwrap();
        assert_eq!(xml_header.history, header.history, "{name}");
        assert_eq!(from_pbf.lines().count(), from_xml.lines().count(), "{name}");
        for (from_pbf, from_xml) in from_pbf.lines().zip(from_xml.lines()) {
            assert_eq!(from_pbf, from_xml, "{name}");
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    for (text, expected) in [
        ("", "the file is empty"),
        ("hello", "neither PBF nor OSM XML"),
        ("PK\x03\x04", "zip files are not supported"),
        ("<osmChange version='0.6'><delete/></osmChange>", "line 1, byte 0: this is an osmChange document"),
        ("<osm version='0.6'>\n<delete>", "line 2, byte 20: this is an osmChange document"),
        ("<html/>", "an HTML page, not data"),
        ("<gpx/>", "the document is a <gpx>, not an <osm>"),
        ("<osm version='0.5'/>", "version \"0.5\" of the format is not supported"),
        ("<osm>\n\n<node id='1' lat='1' lon='2'>", "line 3, byte 36: the text ends before </osm>"),
        ("<osm><node id='1' lat='1' ", "tag not closed"),
        ("<osm></osm><osm/>", "unexpected content after </osm>"),
        ("<osm><node id='x' lat='1' lon='2'/></osm>", "id=\"x\" is out of range or not of the right form"),
        ("<osm><node id='1' lat='90.1' lon='2'/></osm>", "lat=\"90.1\" is out of range"),
        ("<osm><node id='1' lon='2'/></osm>", "the attribute lat is missing"),
        ("<osm><way/></osm>", "the attribute id is missing"),
        ("<osm><way id='1' timestamp='now'/></osm>", "timestamp=\"now\""),
        ("<osm><way id='1' visible='no'/></osm>", "visible=\"no\""),
        ("<osm><relation id='1'><member type='area' ref='1'/></relation></osm>", "type=\"area\""),
        ("<osm><way id='1'><tag k='a'/></way></osm>", "the attribute v is missing"),
        ("<osm><way id='1'><tag k='a' v='&nbsp;'/></way></osm>", "unrecognized entity"),
        ("<osm><way id='1'></node></osm>", "expected `</way>`"),
        ("<?xml version='1.0' encoding='ISO-8859-1'?><osm/>", "the encoding \"ISO-8859-1\" is not supported"),
    ] {
        let error = elements(text.as_bytes()).map(|(all, _)| all).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    let deep = format!("<osm>{}", "<a>".repeat(1000));
    assert!(elements(deep.as_bytes()).unwrap_err().to_string().contains("nested too deeply"));
    assert!(elements(b"<osm><way id='\xff'/></osm>").unwrap_err().to_string().contains("not well-formed"));
    let packed = gzip(DOCUMENT.as_bytes());
    let error = elements(packed.get(..packed.len() / 2).unwrap()).unwrap_err().to_string();
    assert!(error.contains("cannot be read"), "{error}");
    assert!(elements(&gzip(&[0; 100])).unwrap_err().to_string().contains("packed as a whole, but not OSM XML"));
}

/// Documents of osm-testdata (`xml/data/123` to `125`) that its expectations call invalid, and similar ones.
#[test]
fn parts_of_other_elements_are_errors() {
    for (text, expected) in [
        ("<node id='36966060' lat='-79.4' lon='0.3'><nd ref='123'/></node>", "a <nd> is not allowed in a <node>"),
        (
            "<way id='21'><nd ref='12'/><member type='n' ref='16' role='foobar'/></way>",
            "a <member> is not allowed in a <way>",
        ),
        ("<relation id='17'><nd ref='12'/><tag k='xyz' v='new'/></relation>", "a <nd> is not allowed in a <relation>"),
        (
            "<node id='1' lat='1' lon='1'><member type='node' ref='1' role=''/></node>",
            "a <member> is not allowed in a <node>",
        ),
    ] {
        let error = elements(format!("<osm version='0.6'>{text}</osm>").as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// Among others `xml/data/106` of osm-testdata: tags that are not part of the format are counted, with the position of
/// the first.
#[test]
fn unknown_tags_are_counted() {
    let warnings = |text: &str| elements(format!("<osm version='0.6'>{text}</osm>").as_bytes()).unwrap().1.warnings;
    let known = "<note>a</note><meta osm_base='2024-03-13T21:21:12Z'/><bounds minlat='1'/><bound box='1,1,1,1'/>\
                 <changeset id='1'><tag k='a' v='b'/></changeset><way id='1'><bounds/><center lat='1' lon='1'/></way>";
    assert_eq!(warnings(known), [""; 0]);
    assert_eq!(warnings("\n<foo>\n<osm/></foo>"), ["1 tag that is no part of the format left out: <foo> in line 2"]);
    let several = "<node id='1' lat='1' lon='1'>\n<x/></node><y><z/></y><way id='1'><w/></way>";
    let expected = "3 tags that are no part of the format left out, the first <x> in line 2";
    assert_eq!(warnings(several), [expected]);
    let cut_off = warnings("<node id='1' lat='1' lon='1'/><remark> runtime error: Query timed out</remark>");
    assert!(cut_off[0].contains("<remark>") && cut_off.len() == 1, "{cut_off:?}");
    let diff = elements(b"<osm version='0.6'><action type='create'><node id='1' lat='1' lon='1'/></action></osm>");
    assert!(diff.unwrap_err().to_string().contains("this is an augmented diff"));
}

/// libosmium writes a node without a location without `lat` and `lon`; redacted versions have neither.
#[test]
fn a_node_may_be_without_a_position() {
    let (all, header) =
        elements(b"<osm version='0.6'><node id='1' version='2'/><node id='2' visible='true'/></osm>").unwrap();
    assert_eq!(all.matches("lat: 2147483647, lon: 2147483647").count(), 2, "{all}");
    assert!(!header.history);
}

#[test]
fn empty_files_are_named_so() {
    for (bytes, expected) in [
        (Vec::new(), "the file is empty"),
        (gzip(b""), "the file is empty once it is unpacked"),
        (bzip2(b""), "the file is empty once it is unpacked"),
    ] {
        let file = file(&bytes);
        let error = header(file.path()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(file.path().to_str().unwrap()), "{error}");
    }
}

fn changes(text: &str) -> Result<String, String> {
    let file = file(format!("<osmChange version='0.6'>{text}</osmChange>").as_bytes());
    let mut all = String::new();
    let read = terrapin_loaders::read_changes::<_, LoaderError>(
        file.path(),
        &ReadOptions::default(),
        |block| {
            let mut text = String::new();
            block.for_each(|element| text.push_str(&format!("{element:?}\n")))?;
            Ok(text)
        },
        |text, _| {
            all.push_str(&text);
            Ok(())
        },
    );
    read.map(|_| all).map_err(|error| error.to_string())
}

/// In osmChange, editors write `version="0"` for created elements (see the wiki page "OsmChange"); all others have a
/// version.
#[test]
fn what_is_created_may_have_version_0() {
    let node =
        |block: &str, version: &str| changes(&format!("<{block}><node id='-1' lat='1' lon='2'{version}/></{block}>"));
    assert!(node("create", " version='0'").unwrap().contains("version: 0"));
    assert!(node("create", " version='3'").unwrap().contains("version: 3"));
    for block in ["modify", "delete"] {
        let error = node(block, " version='0'").unwrap_err();
        assert!(error.contains("version=\"0\" of a changed or deleted element"), "{error}");
    }
    for block in ["create", "modify", "delete"] {
        assert!(node(block, "").unwrap_err().contains("the attribute version is missing"));
    }
}

#[test]
fn unknown_blocks_of_changes_are_errors() {
    for (text, name) in [
        ("<upsert><node id='1' version='2' lat='1' lon='1'/></upsert>", "upsert"),
        ("<modify><area id='1' version='2'/></modify>", "area"),
        ("<create><upsert/></create>", "upsert"),
        ("<action type='modify'/>", "action"),
    ] {
        let error = changes(text).unwrap_err();
        assert!(error.contains(&format!("unknown tag <{name}>")), "{text}: {error}");
    }
    assert_eq!(changes("<note>a</note><bounds/><delete/>").unwrap(), "");
}

#[test]
fn a_part_without_end_is_refused_before_memory_is_full() {
    // An attribute of 100 MB in a file of 100 kB.
    let bomb = gzip(format!("<osm><node id='1' lat='1' lon='1' user='{}", "x".repeat(100_000_000)).as_bytes());
    let error = elements(&bomb).unwrap_err().to_string();
    assert!(error.contains("a part of more than 33554432 bytes"), "{error}");
    let tags = "<tag k='1' v='1'/>".repeat(2_000_000);
    let bomb = gzip(format!("<osm><node id='1' lat='1' lon='1'>{tags}").as_bytes());
    let error = elements(&bomb).unwrap_err().to_string();
    assert!(error.contains("an element of more than 65536 tags"), "{error}");
}
