//! Tests that files in the formats of past releases open and give the same answers. `tests/snapshot/formats/3.terrapin` is a
//! made-up town with places, in the first supported format; `3.jsonl` has queries and their answers. Older formats are
//! rejected.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use terrapin::load::content;
use terrapin::snapshot::{Arrival, Error, FORMAT_VERSION, OLDEST_FORMAT, Snapshot, hex, verify};

use crate::common::server::TestServer;
use crate::common::terrapin;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshot/formats").join(name)
}

#[test]
fn format_3_answers_unchanged() {
    let recorded = std::fs::read_to_string(file("3.jsonl")).unwrap();
    for line in recorded.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let query = line["query"].as_str().unwrap();
        let answer = terrapin().arg("query").arg(file("3.terrapin")).arg(query).output().unwrap();
        assert!(answer.status.success(), "{query}: {}", String::from_utf8_lossy(&answer.stderr));
        assert_eq!(String::from_utf8_lossy(&answer.stdout), line["answer"].as_str().unwrap(), "{query}");
    }
}

#[test]
fn format_3_has_its_content_and_finds_names() {
    let snapshot = Arc::new(verify(&file("3.terrapin")).unwrap());
    let manifest = snapshot.manifest().unwrap();
    let content = content::digest(&snapshot).unwrap();
    assert_eq!((manifest.format_version, manifest.content), (3, Some(content)));
    assert_eq!(hex(&content), "19f0590d5627bbe6cee8e8b38a6d54d738afe1e4d7b540e7171bf16dc93d4dc0");
    let server = TestServer::of(&file("3.terrapin"), &[]);
    let answer = server.get("/search?q=Town");
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(serde_json::from_str::<Value>(&answer.text()).unwrap()[0]["osm_id"], 1);
}

/// Returns the fixture with another format version in its header.
fn with_version(version: u32) -> Vec<u8> {
    let mut bytes = std::fs::read(file("3.terrapin")).unwrap();
    bytes[8..12].copy_from_slice(&version.to_le_bytes());
    let checksum = blake3::hash(&bytes[..56]);
    bytes[56..64].copy_from_slice(&checksum.as_bytes()[..8]);
    bytes
}

#[test]
fn other_formats_are_rejected_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.terrapin");
    for version in [1, 2, OLDEST_FORMAT - 1, FORMAT_VERSION + 1] {
        let bytes = with_version(version);
        std::fs::write(&path, &bytes).unwrap();
        let error = Snapshot::open(&path).err().unwrap();
        let expected = format!(
            "{}: snapshot format {version}, written by terrapin 0.1.0; this build reads format 3; load the extract again",
            path.display()
        );
        assert!(matches!(&error, Error::Version { found, .. } if *found == version));
        assert_eq!(error.to_string(), expected);
        let told = terrapin().arg("info").arg(&path).output().unwrap();
        assert!(!told.status.success());
        assert!(String::from_utf8_lossy(&told.stderr).contains(&expected), "{}", String::from_utf8_lossy(&told.stderr));
        let (len, header) = (bytes.len() as u64, &bytes[..64]);
        let received = Arrival::new(len, header, &bytes[64..]).err().unwrap().to_string();
        assert!(received.contains(&format!("snapshot format {version}; this build reads format 3")), "{received}");
    }
}

#[test]
fn damage_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("broken.terrapin");
    let good = std::fs::read(file("3.terrapin")).unwrap();
    let sections = Snapshot::open(&file("3.terrapin")).unwrap().manifest().unwrap().sections.clone();
    for section in sections.iter().filter(|section| section.len > 0) {
        let mut bytes = good.clone();
        bytes[(section.offset + section.len / 2) as usize] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        assert!(verify(&path).is_err(), "{}", section.name);
    }
}
