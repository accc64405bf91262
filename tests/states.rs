//! Tests states of other dates on a server: the location of their files, and the errors for files that cannot be
//! written and for damage.

use std::path::PathBuf;

use crate::common::server::Server;
use crate::common::terrapin;

/// Loads the made-up village with all its versions into a snapshot.
fn village(folder: &std::path::Path) -> PathBuf {
    let history = crate::common::place::root().join("tests/history/village.osh");
    let out = folder.join("village.terrapin");
    terrapin().args(["load", "--history", "--osm"]).arg(history).arg("--out").arg(&out).assert().success();
    out
}

const THEN: &str = "[date:\"2020-01-05T00:00:00Z\"];node(7);out;";

/// According to the page for operators, status 500 is never the fault of the query.
#[test]
fn a_folder_for_answers_that_takes_none_is_told_as_that() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = village(folder.path());
    let spool = folder.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    let server = Server::of(&snapshot, &["--spool-dir", spool.to_str().unwrap()]);
    assert_eq!(server.query(THEN).status, 200);
    assert_eq!(std::fs::read_dir(&spool).unwrap().count(), 0, "the files of states have no names");
    drop(server);

    let server = Server::of(&snapshot, &["--spool-dir", "/proc/no/such/folder"]);
    let answer = server.query(THEN);
    assert_eq!(answer.status, 500, "{}", answer.text());
    assert!(answer.text().contains("runtime error: cannot write temporary files: "), "{}", answer.text());
    assert!(!answer.text().contains("damaged") && !answer.text().contains("/proc/no"), "{}", answer.text());
    // The snapshot is not reported as damaged.
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.query("node(7);out;").status, 200);
    let told = server.ask(
        "POST",
        "/feedback",
        "Content-Type: application/json\r\n",
        &serde_json::json!({"query": THEN}).to_string(),
    );
    assert!(told.text().contains("\"temporary\""), "{}", told.text());
}

/// Flips a bit in the versions: a query at a date gets status 500, and `/healthz` reports the damage with 503.
#[test]
fn damage_behind_a_date_is_damage_of_the_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = village(folder.path());
    let bytes = std::fs::read(&snapshot).unwrap();
    let sections = terrapin::snapshot::Snapshot::open(&snapshot).unwrap().manifest().unwrap().sections.clone();
    let read =
        ["history.nodes", "history.nodes.starts", "history.ways", "history.relations", "history.times", "tags.values"];
    for section in sections.iter().filter(|section| read.contains(&section.name.as_str())) {
        let mut bytes = bytes.clone();
        bytes[(section.offset + section.len / 2) as usize] ^= 0x10;
        let flipped = folder.path().join("flipped.terrapin");
        let _ = std::fs::remove_file(&flipped);
        std::fs::write(&flipped, bytes).unwrap();
        let server = Server::of(&flipped, &[]);
        let answer = server.query(THEN);
        assert_eq!(answer.status, 500, "{}: {}", section.name, answer.text());
        assert_eq!(server.get("/healthz").status, 503, "{}", section.name);
    }
}
