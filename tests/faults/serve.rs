//! Tests a server while its file changes, after it is killed, and while its clock jumps.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::common::Town;
use super::common::server::{HttpAnswer, encoded};
use super::shim::with_fault;
use super::{Outcomes, all};

struct FaultServer {
    child: Child,
    address: String,
}

impl FaultServer {
    fn of(snapshot: &Path, prepare: impl FnOnce(&mut Command)) -> FaultServer {
        let mut command = super::program();
        command.arg("serve").arg(snapshot).args(["--bind", "127.0.0.1:0", "--json"]);
        prepare(&mut command);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: serde_json::Value = serde_json::from_str(&line).unwrap();
        FaultServer { child, address: ready["url"].as_str().unwrap().strip_prefix("http://").unwrap().to_owned() }
    }

    /// Returns the response to a query, or `None` if there is none.
    fn query(&self, text: &str) -> Option<HttpAnswer> {
        use std::io::Write;
        let mut stream = std::net::TcpStream::connect(&self.address).ok()?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).ok()?;
        write!(stream, "GET /api/interpreter?data={} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", encoded(text))
            .ok()?;
        let mut bytes = Vec::new();
        // An incomplete response does not count as one.
        stream.read_to_end(&mut bytes).ok()?;
        let head = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let chunked =
            String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase().contains("transfer-encoding: chunked");
        if chunked && !bytes.ends_with(b"\r\n0\r\n\r\n") {
            return None;
        }
        Some(HttpAnswer::parse(bytes))
    }

    /// Waits for the end of the server; returns its exit status and standard error.
    fn end(mut self) -> (Option<i32>, String) {
        let begin = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begin.elapsed() < Duration::from_secs(20), "the server goes on");
            std::thread::sleep(Duration::from_millis(20));
        }
        let mut said = String::new();
        let _ = self.child.stderr.take().unwrap().read_to_string(&mut said);
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for FaultServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const EVERYTHING: &str = "[out:json];nwr(-90,-180,90,180);out meta geom;";

/// Loads a town that is large enough for many pages.
fn town() -> (tempfile::TempDir, std::path::PathBuf) {
    use std::fmt::Write;
    let folder = tempfile::tempdir().unwrap();
    let mut xml = String::from("<osm version=\"0.6\">\n");
    for i in 0..40_000 {
        let (lat, lon) = (35.8 + f64::from(i / 200) * 1e-3, 14.4 + f64::from(i % 200) * 1e-3);
        let _ = writeln!(
            xml,
            "<node id=\"{}\" lat=\"{lat:.7}\" lon=\"{lon:.7}\"><tag k=\"name\" v=\"n{i}\"/></node>",
            i + 1
        );
    }
    xml.push_str("</osm>\n");
    std::fs::write(folder.path().join("in.osm"), xml).unwrap();
    let out = folder.path().join("a.terrapin");
    let load =
        super::program().arg("load").arg("--osm").arg(folder.path().join("in.osm")).arg("--out").arg(&out).output();
    assert!(load.unwrap().status.success());
    (folder, out)
}

/// Opens a snapshot for writing. Snapshots are read-only, but users with the necessary rights can still change them.
fn writable(path: &Path) -> std::fs::File {
    let mut permissions = std::fs::metadata(path).unwrap().permissions();
    #[allow(clippy::permissions_set_readonly_false, reason = "a file of this test alone")]
    permissions.set_readonly(false);
    std::fs::set_permissions(path, permissions).unwrap();
    std::fs::File::options().write(true).open(path).unwrap()
}

#[test]
fn a_snapshot_that_is_cut_off_under_a_server() {
    let mut outcomes = Outcomes::new("a server whose snapshot is cut off");
    let (_folder, path) = town();
    let whole = std::fs::read(&path).unwrap();
    for tenths in if all() { vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9] } else { vec![0, 5] } {
        let cut = path.with_extension(format!("cut{tenths}"));
        std::fs::write(&cut, &whole).unwrap();
        let server = FaultServer::of(&cut, |_| {});
        assert_eq!(server.query("[out:json];node(1);out;").unwrap().status, 200);
        writable(&cut).set_len(whole.len() as u64 * tenths / 10).unwrap();
        let answer = server.query(EVERYTHING);
        if answer.as_ref().is_some_and(|answer| answer.status == 200 && answer.text().trim_end().ends_with('}')) {
            // All data that the query needs was cached or is in the rest of the file.
            outcomes.row(format!("{tenths}0 % of it left"), "answered whole");
            continue;
        }
        let refused = answer.as_ref().is_some_and(|answer| answer.status == 500);
        if (refused || answer.is_none()) && server.query("[out:json];node(1);out;").is_some() {
            // The cut is within a memory page, and the rest of that page reads as zeros. The checksum detects that.
            outcomes.row(format!("{tenths}0 % of it left"), if refused { "refused as damaged" } else { "broken off" });
            continue;
        }
        let (code, said) = server.end();
        let line = said.lines().find(|line| line.contains("SIGBUS")).unwrap_or_else(|| panic!("{code:?}: {said}"));
        assert_eq!(code, Some(5), "{said}");
        outcomes
            .row(format!("{tenths}0 % of it left"), format!("status 5: {}", line.chars().take(80).collect::<String>()));
    }
}

#[test]
fn bits_that_flip_under_a_server() {
    let mut outcomes = Outcomes::new("a server under whose snapshot bits flip");
    let (_folder, path) = town();
    let whole = std::fs::read(&path).unwrap();
    let server = FaultServer::of(&path, |_| {});
    let right = server.query(EVERYTHING).unwrap();
    assert_eq!(right.status, 200);
    drop(server);
    let (mut same, mut refused, mut broken) = (0, 0, 0);
    let count = if all() { 200 } else { 20 };
    for i in 0..count {
        let copy = path.with_extension("flipped");
        std::fs::write(&copy, &whole).unwrap();
        let server = FaultServer::of(&copy, |_| {});
        let at = 64 + (i * 7_368_787) % (whole.len() - 128);
        {
            use std::os::unix::fs::FileExt;
            writable(&copy).write_all_at(&[whole[at] ^ (1 << (i % 8))], at as u64).unwrap();
        }
        match server.query(EVERYTHING) {
            Some(answer) if answer.status == 200 && answer.body == right.body => same += 1,
            Some(answer) if answer.status == 200 => {
                assert!(!answer.text().trim_end().ends_with('}') || answer.text().contains("remark"), "another answer");
                broken += 1;
            }
            Some(answer) => {
                assert!(answer.status >= 500, "{}", answer.text());
                refused += 1;
            }
            None => broken += 1,
        }
        assert!(server.query("[out:json];out;").is_some(), "the server is gone");
    }
    outcomes.row(
        format!("{count} bits, one at a time"),
        format!("{same} same answer, {refused} refused, {broken} broken off"),
    );
}

#[test]
fn servers_that_are_killed_and_clocks_that_jump() {
    let mut outcomes = Outcomes::new("a server that is killed, or whose clock jumps");
    let town = Town::new();
    for _ in 0..if all() { 20 } else { 3 } {
        let mut server = FaultServer::of(&town.snapshot(), |_| {});
        let before = server.query(EVERYTHING).unwrap();
        server.child.kill().unwrap();
        let again = FaultServer::of(&town.snapshot(), |_| {});
        assert_eq!(again.query(EVERYTHING).unwrap().body, before.body);
    }
    outcomes.row("SIGKILL between queries", "starts again, same answer");
    for fault in ["clock:jump", "read:short", "read:EINTR"] {
        if super::shim::library().is_none() {
            return;
        }
        let server = FaultServer::of(&town.snapshot(), |command| {
            with_fault(command, fault, 1);
        });
        for _ in 0..50 {
            assert_eq!(server.query(EVERYTHING).unwrap().status, 200);
        }
        outcomes.row(fault, "50 answers");
    }
}
