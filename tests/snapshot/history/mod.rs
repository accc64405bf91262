//! Tests snapshots with all versions: compares answers at a date, between two moments and about changes with those of
//! the reference over its attic data.
//!
//! `village.txt` has queries over the made-up `village.osh` with the reference's answers. `niue.txt` has random queries
//! over the shared history of Niue with fingerprints of the reference's answers, which do not reveal the data. The
//! reference loaded the versions of each day with one `update_database --keep-attic`.
//!
//! The order of an element's tags is not compared: for a query at a date, the reference's order follows no known rule.
//!
//! `tools/differ` generates such queries for a history file.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use crate::common::place;
use crate::common::skip::{Need, skipped};
use terrapin::load::{Entities, LoadError, LoadOptions, Quiet, load, load_entities};
use terrapin::osm::history::{History, StateSettings};
use terrapin::osm::{CACHE_BYTES, ElementType, Osm};
use terrapin::overpass::{Limits, OverpassCode, parse, run};
use terrapin::snapshot::Snapshot;

/// Lines with these texts are about the program that answers.
const HEAD: [&str; 5] = ["<?xml", "<osm version=", "<note>", "\"generator\":", "\"copyright\":"];

fn folder() -> PathBuf {
    place::root().join("tests/snapshot/history")
}

fn options(osm: &Path, out: &Path) -> LoadOptions {
    LoadOptions { osm: Some(osm.to_owned()), history: true, memory: 1 << 26, ..LoadOptions::new(out.to_owned()) }
}

fn open(out: &Path) -> Arc<Osm> {
    Arc::new(Osm::open(Arc::new(Snapshot::open(out).expect("a snapshot"))).expect("its elements"))
}

/// Loads a history file with all versions.
fn with_history(osm: &Path) -> Arc<Osm> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("history.terrapin");
    load(&options(osm, &out), &Quiet).expect("it loads");
    open(&out)
}

fn answer(osm: &Osm, query: &str) -> String {
    let mut body = Vec::new();
    if let Err(failure) = parse(query).and_then(|script| run(osm, &script, &Limits::default(), &mut body)) {
        return failure.to_string();
    }
    String::from_utf8(body).expect("UTF-8")
}

/// Returns an answer without its head and empty lines, with the tags of each element sorted.
fn plain(answer: &str) -> String {
    let (mut lines, mut tags) = (String::new(), Vec::new());
    for line in answer.lines().chain([""]) {
        let begins = |head: &str| line.trim_start().starts_with(head);
        if line.contains("<tag k=") {
            tags.push(line);
        } else if !HEAD.iter().any(|head| begins(head)) {
            tags.sort_unstable();
            tags.drain(..).chain([line]).filter(|line| !line.is_empty()).for_each(|line| {
                let _ = writeln!(lines, "{line}");
            });
        }
    }
    lines
}

/// FNV-1a.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn a_made_up_village_answers_as_the_reference_at_every_date() {
    let osm = with_history(&folder().join("village.osh"));
    let cases = std::fs::read_to_string(folder().join("village.txt")).expect("the cases");
    let cases: Vec<&str> = cases.split("== ").skip(1).collect();
    assert!(cases.len() > 70);
    for case in cases {
        let (query, expected) = case.split_once('\n').expect("a query and an answer");
        assert_eq!(plain(&answer(&osm, query)), plain(expected), "{query}");
    }
}

#[test]
fn random_queries_over_niue_are_answered_as_by_the_reference() {
    let file = place::shared().join("data/osm/niue.osh.pbf");
    if !file.is_file() {
        return skipped(Need::Shared, "there is no history of Niue (set TERRAPIN_SHARED)");
    }
    let osm = with_history(&file);
    let vectors = std::fs::read_to_string(folder().join("niue.txt")).expect("the vectors");
    let vectors: Vec<&str> = vectors.lines().collect();
    let wrong: Vec<&str> = vectors
        .par_iter()
        .filter(|line| {
            let (expected, query) = line.split_once(' ').expect("a fingerprint and a query");
            format!("{:016x}", fingerprint(&plain(&answer(&osm, query)))) != expected
        })
        .copied()
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), vectors.len(), wrong.join("\n"));
}

#[test]
fn every_state_is_the_load_of_that_moment() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = self::folder().join("village.osh");
    let osm = with_history(&file);
    let history = History::of(&osm).expect("its versions");
    let all = "nwr(10,20,10.01,20.01);out meta geom;";
    for day in 1..=16 {
        let moment = 1_577_836_800 + (day - 1) * 86_400;
        let out = folder.path().join("at.terrapin");
        load(&LoadOptions { at: Some(moment), history: false, ..options(&file, &out) }, &Quiet).expect("it loads");
        let loaded = open(&out);
        let state = history.state(&osm, moment).expect("a state");
        let state = state.as_deref().unwrap_or(&osm);
        for kind in ElementType::ALL {
            assert_eq!(state.count(kind), loaded.count(kind), "day {day}");
        }
        assert_eq!(plain(&answer(state, all)).lines().skip(1).collect::<Vec<_>>(), {
            plain(&answer(&loaded, all)).lines().skip(1).map(str::to_owned).collect::<Vec<_>>()
        });
    }
}

#[test]
fn the_current_state_is_the_same_with_and_without_versions() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (with, without) = (folder.path().join("with.terrapin"), folder.path().join("without.terrapin"));
    let file = self::folder().join("village.osh");
    let with = load(&options(&file, &with), &Quiet).expect("it loads");
    let without = load(&LoadOptions { history: false, ..options(&file, &without) }, &Quiet).expect("it loads");
    assert_eq!(with.manifest.content, without.manifest.content);
    let sections = |loaded: &terrapin::load::Loaded| -> Vec<(String, [u8; 32])> {
        let current = loaded.manifest.sections.iter().filter(|section| !section.name.starts_with("history."));
        current.map(|section| (section.name.clone(), section.checksum)).collect()
    };
    assert_eq!(sections(&with), sections(&without));
}

#[test]
fn a_file_of_one_state_has_no_history() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let world = place::root().join("tests/cases/overpass/world.osm");
    let refused = load(&options(&world, &folder.path().join("world.terrapin")), &Quiet);
    assert!(matches!(refused, Err(LoadError::NoHistory { .. })), "{refused:?}");
}

/// Writes a history in which the second version of node 7 is redacted: it has no position and no tags, as in the API's
/// history and in libosmium. `last` is added at the end of the document.
fn redacted(folder: &Path, last: &str) -> PathBuf {
    let version = |number: u32, rest: &str| {
        format!("<node id=\"7\" version=\"{number}\" timestamp=\"2020-01-0{number}T00:00:00Z\" visible=\"true\"{rest}")
    };
    let text = format!(
        "<osm version=\"0.6\">{}{}{}<node id=\"8\" version=\"1\" timestamp=\"2020-01-01T00:00:00Z\" visible=\"true\" \
         lat=\"1\" lon=\"1\"/><node id=\"8\" version=\"2\" timestamp=\"2020-01-02T00:00:00Z\" visible=\"false\"/>{last}</osm>",
        version(1, " lat=\"10\" lon=\"20\"><tag k=\"name\" v=\"first\"/></node>"),
        version(2, "/>"),
        version(3, " lat=\"10\" lon=\"20\"><tag k=\"name\" v=\"third\"/></node>"),
    );
    let path = folder.join("redacted.osh");
    std::fs::write(&path, text).expect("written");
    path
}

#[test]
fn of_a_redacted_version_nothing_is_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, out) = (redacted(folder.path(), ""), folder.path().join("a.terrapin"));
    let loaded = load(&options(&source, &out), &Quiet).expect("it loads");
    let remark = "1 older version of a node without a position, as redacted ones are: there the node does not exist";
    assert!(loaded.manifest.remarks.iter().any(|said| said == remark), "{:?}", loaded.manifest.remarks);
    let osm = open(&out);
    let names = |day: u32| answer(&osm, &format!("[date:\"2020-01-0{day}T12:00:00Z\"];node(7);out;"));
    assert!(names(1).contains("first") && names(3).contains("third"));
    assert!(!names(2).contains("<node"), "{}", names(2));
    assert!(answer(&osm, "timeline(node,7);out;").matches("<timeline").count() >= 2);
    // A load of the newest state ignores the redacted version.
    let plain = load(&LoadOptions { history: false, ..options(&source, &out) }, &Quiet).expect("it loads");
    assert_eq!(plain.manifest.counts.nodes, 1);
    assert!(answer(&open(&out), "node(7);out;").contains("third"));
}

#[test]
fn a_newest_version_without_a_position_is_an_error_or_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let way = "<node id=\"9\" version=\"1\"/><way id=\"1\" version=\"1\"><nd ref=\"7\"/><nd ref=\"9\"/></way>";
    let (source, out) = (redacted(folder.path(), way), folder.path().join("a.terrapin"));
    let plain = LoadOptions { history: false, ..options(&source, &out) };
    let error = load(&plain, &Quiet).expect_err("refused").to_string();
    assert_eq!(error, "node 9: its newest version has no position; --skip-bad leaves such nodes out");
    assert!(!out.exists());
    let skipping = Entities { skip_bad: true, ..Entities::default() };
    let loaded = load_entities(&plain, &skipping, &Quiet).expect("it loads");
    assert!(loaded.manifest.remarks.iter().any(|said| said == "1 node without a position left out"));
    // The way with that node is like a way in an extract without complete ways.
    assert_eq!((loaded.manifest.counts.nodes, loaded.manifest.counts.missing[0]), (1, 1));
}

/// Tests duplicate keys in one element, which occur in three test files of osmosis.
#[test]
fn a_key_that_comes_twice_is_counted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, out) = (folder.path().join("twice.osm"), folder.path().join("a.terrapin"));
    let tags = "<tag k='a' v='1'/><tag k='b' v='2'/><tag k='a' v='3'/><tag k='a' v='4'/>";
    let text = format!("<osm version='0.6'><node id='1' lat='1' lon='1'>{tags}</node><foo/></osm>");
    std::fs::write(&source, text).expect("written");
    let loaded = load(&LoadOptions { history: false, ..options(&source, &out) }, &Quiet).expect("it loads");
    let expected = ["1 element has a key more than once: the first value of each key was kept"];
    assert_eq!(loaded.manifest.remarks, expected);
    assert!(loaded.warnings[0].ends_with("1 tag that is no part of the format left out: <foo> in line 1"));
    assert!(answer(&open(&out), "node(1);out;").contains("k=\"a\" v=\"1\""));
}

/// Returns the code and the text of a query's error.
fn failure(osm: &Osm, query: &str) -> (OverpassCode, String) {
    let script = parse(query).expect("a query");
    let failure = run(osm, &script, &Limits::default(), &mut std::io::sink()).expect_err("no answer");
    (failure.diagnostics[0].code, failure.to_string())
}

const THEN: &str = "[date:\"2020-01-05T00:00:00Z\"];node(7);out;";

#[test]
fn a_folder_that_takes_no_files_has_an_error_of_its_own() {
    let osm = with_history(&folder().join("village.osh"));
    let nowhere = PathBuf::from("/proc/no/such/folder");
    osm.set_states(StateSettings { folder: nowhere, memory: 512 << 20, cache: 8 << 20, disk: u64::MAX });
    let (code, text) = failure(&osm, THEN);
    assert_eq!(code, OverpassCode::Temporary, "{text}");
    assert!(text.starts_with("runtime error: cannot write temporary files: "), "{text}");
    // The snapshot is not reported as damaged, and queries without a date are answered.
    assert!(osm.check().is_ok());
    assert!(answer(&osm, "node(7);out;").contains("restaurant"));
}

#[test]
fn a_state_stays_within_the_memory_that_there_is_for_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("history.terrapin");
    load(&options(&self::folder().join("village.osh"), &out), &Quiet).expect("it loads");
    let within = |memory| {
        let osm = open(&out);
        osm.set_states(StateSettings { folder: folder.path().to_owned(), memory, cache: 8 << 20, disk: u64::MAX });
        osm
    };
    let (code, text) = failure(&within(4096), THEN);
    assert_eq!(code, OverpassCode::Memory, "{text}");
    assert!(text.contains("run out of memory"), "{text}");
    // A failed state is built again for the next query, and with enough memory it succeeds.
    let small = within(4096);
    assert_eq!((failure(&small, THEN).0, failure(&small, THEN).0), (OverpassCode::Memory, OverpassCode::Memory));
    assert!(answer(&within(64 << 20), THEN).contains("<node id=\"7\""));
}

/// As a trial beside other queries: it would keep them from being tried.
#[test]
fn an_impatient_query_has_no_state_made_and_uses_one_that_is() {
    let osm = with_history(&folder().join("village.osh"));
    let script = parse(THEN).expect("a query");
    let limits = Limits { impatient: true, ..Limits::default() };
    let ask = || run(&osm, &script, &limits, &mut std::io::sink()).map_err(|failure| failure.diagnostics[0].code);
    assert_eq!(ask().err(), Some(OverpassCode::Timeout));
    assert!(answer(&osm, THEN).contains("<node id=\"7\""));
    assert_eq!(ask().err(), None);
}

/// Each state that a query opens has a file and memory of its own, which nothing else bounds.
#[test]
fn a_query_opens_256_states_and_no_more() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let moment = |number: u32| format!("2020-01-01T{:02}:{:02}:00Z", number / 60, number % 60);
    let version = |number: u32| {
        let moment = moment(number);
        format!(
            "<node id=\"1\" version=\"{}\" timestamp=\"{moment}\" visible=\"true\" lat=\"1\" lon=\"1\">\
             <tag k=\"n\" v=\"{number}\"/></node>",
            number + 1
        )
    };
    let file = folder.path().join("many.osh");
    let versions: String = (0..300).map(version).collect();
    // What is deleted makes it a history.
    let deleted = "<node id=\"2\" version=\"2\" timestamp=\"2020-01-02T00:00:00Z\" visible=\"false\"/>";
    std::fs::write(&file, format!("<osm version=\"0.6\">{versions}{deleted}</osm>")).expect("written");
    let osm = with_history(&file);
    let retro = |count: u32| -> String {
        let block = |number: u32| format!("retro(\"{}\"){{node(1);out;}}", moment(number));
        (0..count).map(block).collect()
    };
    let text = answer(&osm, &retro(256));
    let numbers = (0..256).map(|number| format!("<tag k=\"n\" v=\"{number}\"/>"));
    assert!(numbers.into_iter().all(|tag| text.contains(&tag)), "{text}");
    // Those of before are looked at again.
    assert_eq!(answer(&osm, &retro(256).repeat(2)).matches("<node ").count(), 512);
    let (code, text) = failure(&osm, &retro(257));
    assert_eq!(code, OverpassCode::Memory, "{text}");
    assert!(text.contains("more than 256 states of the data in one query"), "{text}");
}

#[test]
fn damaged_versions_are_told_and_the_current_state_is_not_touched() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let out = folder.path().join("history.terrapin");
    let loaded = load(&options(&self::folder().join("village.osh"), &out), &Quiet).expect("it loads");
    let mut bytes = std::fs::read(&out).expect("the snapshot");
    for section in loaded.manifest.sections.iter().filter(|s| s.name == "history.ways" || s.name == "history.nodes") {
        let middle = (section.offset + section.len / 2) as usize;
        bytes[middle..middle + 4].iter_mut().for_each(|byte| *byte ^= 0x5a);
    }
    let broken = folder.path().join("broken.terrapin");
    std::fs::write(&broken, bytes).expect("written");
    let snapshot = Arc::new(Snapshot::open(&broken).expect("it opens"));
    let osm = Osm::open_with(snapshot, CACHE_BYTES).expect("its elements");
    assert!(answer(&osm, "node(7);out;").contains("restaurant"));
    for query in [
        "[date:\"2020-01-05T00:00:00Z\"];node(7);out;",
        "timeline(node,7);out;",
        "way(changed:\"2020-01-05T00:00:00Z\");out;",
    ] {
        let told = answer(&Osm::open(Arc::new(Snapshot::open(&broken).expect("it opens"))).expect("elements"), query);
        assert!(told.contains("damaged"), "{query}: {told}");
    }
    // Damage that is found while a state is built is then known for the whole snapshot.
    let osm = open(&broken);
    assert!(osm.check().is_ok());
    assert_eq!(failure(&osm, THEN).0, OverpassCode::Damaged);
    assert!(osm.check().is_err());
}
