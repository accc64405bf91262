//! The XML form of Overpass queries: parsed, and converted to the other form and back.

use std::fmt::Write;

use terrapin::overpass::convert::{ConversionForm, convert};
use terrapin::overpass::parse;

pub const WORDS: &[&str] = &[
    "<osm-script output=\"json\" timeout=\"25\">",
    "</osm-script>",
    "<union into=\"a\">",
    "</union>",
    "<query type=\"node\">",
    "</query>",
    "<has-kv k=\"a\" regv=\"b\" case=\"ignore\"/>",
    "<bbox-query s=\"1\" w=\"2\" n=\"3\" e=\"4\"/>",
    "<id-query ref=\"1\"/>",
    "<around radius=\"10\"/>",
    "<polygon-query bounds=\"1 2 3 4 5 6\"/>",
    "<recurse type=\"down\"/>",
    "<print mode=\"body\"/>",
    "<foreach>",
    "</foreach>",
    "<item set=\"_\"/>",
    "<make type=\"a\">",
    "<set-prop k=\"k\">",
    "<eval-fixed v=\"1\"/>",
    "&amp;",
    "&#0;",
    "&#x10ffff;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?xml version=\"1.0\"?>",
    "<!DOCTYPE a [<!ENTITY a \"&a;&a;\">]>",
    "xmlns:a=\"b\"",
];

pub fn seeds() -> Vec<Vec<u8>> {
    super::texts(&[
        "<osm-script output=\"json\" timeout=\"25\"><union><query type=\"node\"><has-kv k=\"amenity\" v=\"cafe\"/><bbox-query s=\"1\" w=\"2\" n=\"3\" e=\"4\"/></query><query type=\"way\"><around from=\"_\" radius=\"10\"/><item set=\"a\"/></query></union><recurse type=\"down\" into=\"x\"/><print mode=\"meta\" order=\"quadtile\" limit=\"5\" geometry=\"full\"/></osm-script>",
        "<osm-script><foreach from=\"a\" into=\"b\"><make type=\"t\"><set-prop k=\"k\" from=\"_\"><eval-prefix operator=\"minus\"><eval-fixed v=\"1\"/></eval-prefix></set-prop></make><if><condition><eval-std-count/></condition><print/></if></foreach><difference><id-query type=\"area\" ref=\"3600000001\"/><is-in lat=\"1\" lon=\"2\"/></difference><for><group><eval-key key=\"a\"/></group><convert type=\"x\"/></for></osm-script>",
        "<osm-script date=\"2020-01-01T00:00:00Z\" bbox=\"1,2,3,4\"><query type=\"relation\"><has-kv regk=\"^a\" regv=\".\" case=\"ignore\"/><user name=\"ann\" uid=\"7\"/><newer than=\"2020-01-01T00:00:00Z\"/><changed since=\"2019-01-01T00:00:00Z\"/><polygon-query bounds=\"1 2 3 4 5 6\"/><pivot from=\"a\"/><id-query lower=\"1\" upper=\"9\"/></query><print mode=\"ids_only\"/></osm-script>",
    ])
}

pub fn check(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    if let Err(failure) = parse(&text) {
        let mut out = String::new();
        let _ = write!(out, "{failure}");
        for span in failure.diagnostics.iter().filter_map(|diagnostic| diagnostic.span) {
            assert!(span.start <= span.end && span.end <= text.len() + 1, "{span:?} of {}", text.len());
        }
    }
    for form in [ConversionForm::Compact, ConversionForm::Xml] {
        if let Ok(converted) = convert(&text, form) {
            let _ = parse(&converted.text);
        }
    }
}
