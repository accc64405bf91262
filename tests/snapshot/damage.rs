//! Tests damaged snapshots: `verify` detects every lost or changed byte, and no query panics or returns a different
//! answer without an error.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use terrapin::geocoder::{PlaceQuery, PlaceSearch, search};
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::osm::Osm;
use terrapin::overpass::{Limits, parse, run};
use terrapin::snapshot::{ElementCounts, Manifest, Snapshot, SnapshotWriter, verify};

/// Returns a town of a few streets, houses, a bus line and a boundary.
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

/// Returns the answers, or `None` if one query failed.
fn answers(path: &Path) -> Option<Vec<Vec<u8>>> {
    let osm = Osm::open(Arc::new(Snapshot::open(path).ok()?)).ok()?;
    let answers = QUERIES.iter().map(|query| {
        let mut out = Vec::new();
        run(&osm, &parse(query).unwrap(), &Limits::default(), &mut out).ok().map(|_| out)
    });
    let mut answers: Vec<Vec<u8>> = answers.collect::<Option<_>>()?;
    let mut places = String::new();
    for text in SEARCHES {
        let question = PlaceQuery::Text(text.to_owned());
        let asked = PlaceSearch::of(&question, 10, &|_| None);
        search(&osm, &asked).iter().for_each(|hit| writeln!(places, "{:?} {}", hit.element, hit.label(&[])).unwrap());
    }
    osm.check().ok()?;
    answers.push(places.into_bytes());
    Some(answers)
}

/// Loads the town and returns the path of its snapshot.
fn town(folder: &Path) -> std::path::PathBuf {
    let (source, path) = (folder.join("town.osm"), folder.join("town.terrapin"));
    std::fs::write(&source, extract()).unwrap();
    let options = LoadOptions { osm: Some(source), memory: 1 << 30, ..LoadOptions::new(path.clone()) };
    load(&options, &Quiet).unwrap();
    path
}

/// Changes single bytes at the start, in the middle and at the end of every section. Some query must read each section,
/// because otherwise damage in it would go unnoticed.
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
            // The damage may be in a part that no query reads; answers from the rest must be right.
            Some(answers) => assert!(answers == expected, "byte {at} of round {round}"),
            None => refused += 1,
        }
    }
    assert!(refused > 50, "only {refused} of 200 were met by the queries");
}

/// Writes the same sections with a changed manifest and correct checksums, as an attacker could.
fn signed_anew(path: &Path, to: &Path, change: impl FnOnce(&mut Manifest)) {
    let snapshot = Snapshot::open(path).unwrap();
    let mut manifest = snapshot.manifest().unwrap().clone();
    change(&mut manifest);
    let mut writer = SnapshotWriter::create(to).unwrap();
    for section in &snapshot.manifest().unwrap().sections {
        writer.section(&section.name, snapshot.unchecked(&section.name)).unwrap();
    }
    writer.finish(manifest).unwrap();
}

/// Returns every count of a manifest with its name.
fn counts(counts: &mut ElementCounts) -> Vec<(&'static str, &mut u64)> {
    let [nodes, ways, relations] = &mut counts.missing;
    vec![
        ("nodes", &mut counts.nodes),
        ("ways", &mut counts.ways),
        ("relations", &mut counts.relations),
        ("areas", &mut counts.areas),
        ("keys", &mut counts.keys),
        ("tags", &mut counts.tags),
        ("users", &mut counts.users),
        ("missing nodes", nodes),
        ("missing ways", ways),
        ("missing relations", relations),
    ]
}

/// Counts determine the size of tables and loops. The values are those of an attack (`counts.users = 2^32` took 4 GiB,
/// `counts.nodes = 2^32 - 1` made `verify` run for minutes) and the limits of the field.
#[test]
fn counts_that_the_sections_do_not_hold_are_damage_before_anything_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let (path, hostile) = (town(folder.path()), folder.path().join("hostile.terrapin"));
    signed_anew(&path, &hostile, |_| {});
    let right = Osm::open(Arc::new(Snapshot::open(&hostile).unwrap()));
    assert!(right.is_ok());
    let names: Vec<&str> = counts(&mut ElementCounts::default()).into_iter().map(|(name, _)| name).collect();
    for (at, name) in names.into_iter().enumerate() {
        let values: [fn(u64) -> u64; 8] =
            [|_| u64::MAX, |_| 1 << 63, |_| 1 << 32, |_| (1 << 32) - 1, |n| n + 512, |n| n + 1, |n| n - 1, |_| 0];
        for value in values {
            let mut changed = (0, 0);
            signed_anew(&path, &hostile, |manifest| {
                let count = counts(&mut manifest.counts).remove(at).1;
                changed = (*count, if *count == 0 { value(1) } else { value(*count) });
                *count = changed.1;
            });
            if changed.0 == changed.1 {
                continue;
            }
            // All checksums are correct.
            let snapshot = Arc::new(verify(&hostile).unwrap());
            match Osm::open(snapshot.clone()) {
                Err(error) => assert!(error.to_string().contains("section manifest: its "), "{name}: {error}"),
                // A difference within the last page is found only when that page is read.
                Ok(osm) => {
                    assert!(changed.0.abs_diff(changed.1) == 1, "{name}: {} for {}", changed.1, changed.0);
                    drop(osm);
                    assert!(answers(&hostile).is_none(), "{name}: {} for {}", changed.1, changed.0);
                }
            }
        }
    }
}

#[test]
fn times_beyond_all_dates_are_damage() {
    let folder = tempfile::tempdir().unwrap();
    let (path, hostile) = (town(folder.path()), folder.path().join("hostile.terrapin"));
    for time in [i64::MAX, i64::MIN, 253_402_300_800, 1 << 40] {
        for of_replication in [true, false] {
            signed_anew(&path, &hostile, |manifest| match of_replication {
                true => manifest.replication_timestamp = time,
                false => manifest.data_timestamp = time,
            });
            let error = Snapshot::open(&hostile).err().expect("refused").to_string();
            assert!(error.contains("a time out of range"), "{error}");
        }
    }
}
