//! A snapshot that lost or changed bytes is always found out by `verify`, and no query over it panics or gives another
//! answer as if nothing were wrong.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use terrapin::geocoder::{Question, Search, search};
use terrapin::load::Quiet;
use terrapin::load::{Options, load};
use terrapin::osm::Osm;
use terrapin::overpass::{Limits, parse, run};
use terrapin::snapshot::{Snapshot, verify};

/// A town of a few streets, houses, a bus line and a boundary.
fn extract() -> String {
    let mut xml = String::from("<osm version=\"0.6\">\n");
    for i in 0..3000_i64 {
        let (lat, lon) = (35.8 + (i / 60) as f64 * 1e-3, 14.4 + (i % 60) as f64 * 1e-3);
        let _ = write!(xml, r#"<node id="{}" lat="{lat:.7}" lon="{lon:.7}" version="{}""#, i * 7 + 1, 1 + i % 4);
        let _ =
            write!(xml, r#" timestamp="2020-01-01T00:00:{:02}Z" changeset="{}" uid="{1}" user="u{1}">"#, i % 60, i % 9);
        if i % 11 == 0 {
            let _ = write!(xml, r#"<tag k="amenity" v="cafe"/><tag k="name" v="Café {i}"/>"#);
        }
        if i % 2 == 0 {
            xml.push_str(r#"<tag k="natural" v="tree"/>"#);
        }
        xml.push_str("</node>\n");
    }
    for w in 0..600_i64 {
        let _ = write!(xml, r#"<way id="{}" version="1">"#, w + 1);
        for n in 0..5 {
            let _ = write!(xml, r#"<nd ref="{}"/>"#, (w * 5 + n) * 7 + 1);
        }
        let _ = write!(xml, r#"<tag k="highway" v="residential"/><tag k="name" v="Street {w}"/></way>"#);
    }
    let corners = [0, 59, 2999, 2940, 0].map(|i| format!(r#"<nd ref="{}"/>"#, i * 7 + 1)).concat();
    let _ = write!(xml, r#"<way id="9000">{corners}<tag k="boundary" v="administrative"/></way>"#);
    xml.push_str(
        r#"<relation id="1"><member type="way" ref="9000" role="outer"/><member type="node" ref="1" role="label"/>
           <member type="way" ref="777" role="elsewhere"/><member type="node" ref="2" role=""/>
           <member type="relation" ref="2" role=""/>"#,
    );
    xml.push_str(
        r#"<tag k="type" v="boundary"/><tag k="name" v="Town"/><tag k="admin_level" v="8"/></relation></osm>"#,
    );
    xml
}

const QUERIES: [&str; 9] = [
    "[out:json];area[name=Town];nwr(area)[amenity];out meta center;",
    "[out:json];way(35.8,14.4,35.81,14.41)[highway];(._;>;);out meta geom;",
    "[out:json];node(1);<;>>;out geom;",
    "[out:json];nwr[name~\"9$\"];out ids;",
    "[out:json];node(35.81,14.41,35.82,14.42)(if:version()>1);out count;",
    "[out:json];node[natural=tree](35.81,14.41,35.82,14.42);out ids;node[natural=tree];out ids;",
    "[out:json];node(user:u7)[natural](35.8,14.4,35.81,14.44);out meta;rel(br)->.r;way(r:\"outer\");out;rel(1);out meta;",
    "[out:json];way(5);out;way[highway](35.8,14.4,35.81,14.41);rel(bw);rel(1);rel(br);out ids;rel(1);out;",
    "[out:json];is_in(35.81,14.41);out;way(user:nobody);out;node[natural!=tree](35.83,14.4,35.84,14.46);out count;",
];

const SEARCHES: [&str; 3] = ["street", "CAFE 2992", "Street 5, Town"];

/// The answers, or `None` where one was refused.
fn answers(path: &Path) -> Option<Vec<Vec<u8>>> {
    let osm = Osm::open(Arc::new(Snapshot::open(path).ok()?)).ok()?;
    let answers = QUERIES.iter().map(|query| {
        let mut out = Vec::new();
        run(&osm, &parse(query).unwrap(), &Limits::default(), &mut out).ok().map(|_| out)
    });
    let mut answers: Vec<Vec<u8>> = answers.collect::<Option<_>>()?;
    let mut places = String::new();
    for text in SEARCHES {
        let question = Question::Text(text.to_owned());
        let asked = Search::of(&question, 10, &|_| None);
        search(&osm, &asked).iter().for_each(|hit| writeln!(places, "{:?} {}", hit.element, hit.label(&[])).unwrap());
    }
    osm.check().ok()?;
    answers.push(places.into_bytes());
    Some(answers)
}

/// A snapshot of the town.
fn town(folder: &Path) -> std::path::PathBuf {
    let (source, path) = (folder.join("town.osm"), folder.join("town.terrapin"));
    std::fs::write(&source, extract()).unwrap();
    let options = Options { osm: Some(source), memory: 1 << 30, ..Options::new(path.clone()) };
    load(&options, &Quiet).unwrap();
    path
}

/// Every section is read by some query, or else nothing would tell that it is damaged: bytes at its start, in its middle
/// and at its end are changed one by one.
#[test]
fn no_section_is_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let path = town(folder.path());
    let good = std::fs::read(&path).unwrap();
    let expected = answers(&path).unwrap();
    let sections = Snapshot::open(&path).unwrap().manifest().unwrap().sections.clone();
    let broken = folder.path().join("broken.terrapin");
    let mut unread = Vec::new();
    for section in sections.iter().filter(|section| section.len > 0) {
        let mut refused = false;
        for at in [0, section.len / 3, section.len / 2, section.len - 1] {
            let mut bytes = good.clone();
            bytes[(section.offset + at) as usize] ^= 0x10;
            std::fs::write(&broken, bytes).unwrap();
            assert!(verify(&broken).is_err(), "byte {at} of {}", section.name);
            match answers(&broken) {
                Some(answers) => assert!(answers == expected, "byte {at} of {}", section.name),
                None => refused = true,
            }
        }
        if !refused {
            unread.push(section.name.as_str());
        }
    }
    assert!(unread.is_empty(), "sections that no query reads: {unread:?}");
}

#[test]
fn flips_and_cuts_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let path = town(folder.path());
    verify(&path).unwrap();
    let good = std::fs::read(&path).unwrap();
    let expected = answers(&path).unwrap();
    assert!(expected.iter().all(|a| a.len() > 300), "every query finds something");

    let broken = folder.path().join("broken.terrapin");
    let mut random = 88172645463325252_u64;
    let mut refused = 0;
    for round in 0..200 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let at = (random % good.len() as u64) as usize;
        let bytes = if round % 5 == 0 {
            good[..at].to_vec()
        } else {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << (random >> 60 & 7);
            bytes
        };
        std::fs::write(&broken, bytes).unwrap();
        assert!(verify(&broken).is_err(), "byte {at} of round {round}");
        match answers(&broken) {
            // What no query read may be damaged; what they read must be right.
            Some(answers) => assert!(answers == expected, "byte {at} of round {round}"),
            None => refused += 1,
        }
    }
    assert!(refused > 50, "only {refused} of 200 were met by the queries");
}
