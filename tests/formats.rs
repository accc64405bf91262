//! Files of older formats open and answer as they did. `tests/formats/1.terrapin` was written by the last version that
//! wrote format 1, of a town and places that were made up for it; `1.jsonl` has what was answered over it before there
//! was another format; `is_in` has found closed ways across 180 degrees since. `2.terrapin` has the same content, written by the last version that wrote format 2, before there was an
//! index of names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use terrapin::load::content;
use terrapin::snapshot::{Snapshot, hex, verify};

use crate::common::server::Server;
use crate::common::terrapin;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/formats").join(name)
}

#[test]
fn older_formats_answer_as_they_did() {
    let recorded = std::fs::read_to_string(file("1.jsonl")).unwrap();
    let formats = ["1.terrapin", "2.terrapin"].map(file);
    for (snapshot, line) in formats.iter().flat_map(|snapshot| recorded.lines().map(move |line| (snapshot, line))) {
        let line: Value = serde_json::from_str(line).unwrap();
        let query = line["query"].as_str().unwrap();
        let answer = terrapin().arg("query").arg(snapshot).arg(query).output().unwrap();
        assert!(answer.status.success(), "{query}: {}", String::from_utf8_lossy(&answer.stderr));
        assert_eq!(String::from_utf8_lossy(&answer.stdout), line["answer"].as_str().unwrap(), "{query}");
    }
}

/// Everything that there is to read, read.
#[test]
fn format_1_has_the_content_that_it_had() {
    let snapshot = Arc::new(verify(&file("1.terrapin")).unwrap());
    let manifest = snapshot.manifest().unwrap();
    assert_eq!((manifest.format_version, manifest.content), (1, None));
    let content = content::digest(&snapshot).unwrap();
    assert_eq!(hex(&content), "19f0590d5627bbe6cee8e8b38a6d54d738afe1e4d7b540e7171bf16dc93d4dc0");
}

#[test]
fn format_2_has_the_same_content_and_finds_areas_by_their_names() {
    let snapshot = Arc::new(verify(&file("2.terrapin")).unwrap());
    let manifest = snapshot.manifest().unwrap();
    let content = content::digest(&snapshot).unwrap();
    assert_eq!((manifest.format_version, manifest.content), (2, Some(content)));
    assert_eq!(hex(&content), "19f0590d5627bbe6cee8e8b38a6d54d738afe1e4d7b540e7171bf16dc93d4dc0");
    let server = Server::of(&file("2.terrapin"), &[]);
    let found = |name: &str| {
        let answer = server.get(&format!("/search?q={name}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        serde_json::from_str::<Value>(&answer.text()).unwrap()
    };
    assert_eq!(found("Town")[0]["osm_id"], 1);
    assert_eq!(found("town"), serde_json::json!([]));
}

#[test]
fn format_1_that_is_damaged_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.terrapin");
    let good = std::fs::read(file("1.terrapin")).unwrap();
    let sections = Snapshot::open(&file("1.terrapin")).unwrap().manifest().unwrap().sections.clone();
    for section in sections.iter().filter(|section| section.len > 0) {
        let mut bytes = good.clone();
        bytes[(section.offset + section.len / 2) as usize] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(verify(&path).is_err(), "{}", section.name);
        let read = Snapshot::open(&path).map(Arc::new).map(|snapshot| content::digest(&snapshot));
        // What the content does not depend on: where things are and who refers to whom.
        let beside = ["boxes", "first", "ids", "up", "postings", "long", "areas", "index", "starts"];
        if !beside.iter().any(|part| section.name.contains(part)) && !section.name.starts_with("rdf") {
            assert!(!matches!(read, Ok(Ok(_))), "{}", section.name);
        }
    }
}
