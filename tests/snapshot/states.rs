//! Tests states of other dates on a server: the location of their files, and the errors for files that cannot be
//! written and for damage.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::common::server::{HttpAnswer, TestServer};
use crate::common::terrapin;

/// Loads the made-up village with all its versions into a snapshot.
fn village(folder: &std::path::Path) -> PathBuf {
    let history = crate::common::place::root().join("tests/snapshot/history/village.osh");
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
    let server = TestServer::of(&snapshot, &["--spool-dir", spool.to_str().unwrap()]);
    assert_eq!(server.query(THEN).status, 200);
    assert_eq!(std::fs::read_dir(&spool).unwrap().count(), 0, "the files of states have no names");
    drop(server);

    let server = TestServer::of(&snapshot, &["--spool-dir", "/proc/no/such/folder"]);
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

/// Returns the sizes of the files in a folder that a server has mapped into its memory.
fn mapped(server: &TestServer, folder: &std::path::Path) -> Vec<u64> {
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", server.child.id())).unwrap();
    let folder = folder.to_str().unwrap();
    let size = |line: &str| {
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        Some(u64::from_str_radix(to, 16).ok()? - u64::from_str_radix(from, 16).ok()?)
    };
    maps.lines().filter(|line| line.contains(folder)).filter_map(size).collect()
}

/// The files of states have at most the bytes of `--spool-total`. Kept states make room for others; those that a query
/// uses do not.
#[test]
fn the_files_of_states_have_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = village(folder.path());
    let spool = folder.path().join("spool");
    std::fs::create_dir(&spool).unwrap();
    let start =
        |total: &str| TestServer::of(&snapshot, &["--spool-dir", spool.to_str().unwrap(), "--spool-total", total]);
    let at = |day: u32| format!("[date:\"2020-01-{day:02}T00:00:00Z\"];node(7);out;");
    const BOTH: &str = "[diff:\"2020-01-05T00:00:00Z\",\"2020-01-10T00:00:00Z\"];node(7);out;";
    let server = start("1g");
    assert_eq!((server.query(THEN).status, server.query(BOTH).status), (200, 200));
    let sizes = mapped(&server, &spool);
    assert_eq!(sizes.len(), 2, "{sizes:?}");
    drop(server);

    // One at a time has room: a mapping has whole pages, two of which here.
    let most = *sizes.iter().max().unwrap();
    assert!(most >= 8192);
    let server = start(&most.to_string());
    for query in [THEN.to_owned(), at(10), THEN.to_owned()] {
        let answer = server.query(&query);
        assert_eq!(answer.status, 200, "{query} {}", answer.text());
        assert_eq!(mapped(&server, &spool).len(), 1);
    }
    let answer = server.query(BOTH);
    assert_eq!(answer.status, 500, "{}", answer.text());
    assert!(
        answer.text().contains("runtime error: cannot write temporary files: no storage space"),
        "{}",
        answer.text()
    );
    assert_eq!(server.query(THEN).status, 200);
    let json = "Content-Type: application/json\r\n";
    let told = server.ask("POST", "/feedback", json, &serde_json::json!({"query": BOTH}).to_string());
    assert!(told.text().contains("\"temporary\"") && told.text().contains("--spool-total"), "{}", told.text());
    assert_eq!((server.get("/healthz").status, server.query("node(7);out;").status), (200, 200));
}

/// While all slots are taken, queries are tried on as many threads as there are slots. Those that wait for states of
/// dates there would keep every other query from being tried.
#[test]
fn a_query_for_a_date_waits_for_its_slot_and_not_in_the_way_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let options = ["--max-queries", "1", "--max-wait", "300", "--trial", "10000"];
    let server = TestServer::of(&village(folder.path()), &options);
    let is = |line: &str| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !server.get("/metrics").text().contains(line) {
            assert!(Instant::now() < deadline, "{line}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    let nested = |inner: String, _| format!("node(10,20,10.01,20.01);foreach{{{inner}}}");
    let endless = server.leave_unread(&format!("[timeout:300];{}out;", (0..16).fold(String::new(), nested)));
    is("\nterrapin_queries_running 1\n");
    let head = "POST /api/interpreter HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Length";
    let dated = server.send(format!("{head}: {}\r\n\r\n{THEN}", THEN.len()).as_bytes());
    is("\nterrapin_queries_waiting 1\n");
    assert_eq!(server.query("node(7);out;").status, 200);
    drop(endless);
    let answer = HttpAnswer::read(dated);
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// Bits that flip in the versions: the answer is that of the snapshot's current state, or status 500, and `/healthz`
/// knows.
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
        let server = TestServer::of(&flipped, &[]);
        let answer = server.query(THEN);
        assert_eq!(answer.status, 500, "{}: {}", section.name, answer.text());
        assert_eq!(server.get("/healthz").status, 503, "{}", section.name);
    }
}
