//! Tests loads with faults.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use super::shim::with_fault;
use super::{Outcomes, all, error_of, names, program};
use crate::common::skip;

/// An extract that is large enough to need temporary files, and some triples.
struct Sources {
    folder: tempfile::TempDir,
    digest: String,
}

const NODES: usize = 60_000;

impl Sources {
    fn new() -> Sources {
        let folder = tempfile::tempdir().unwrap();
        let mut xml = String::from("<osm version=\"0.6\">\n");
        for i in 0..NODES {
            let (lat, lon) = (35.8 + (i / 300) as f64 * 1e-3, 14.4 + (i % 300) as f64 * 1e-3);
            let _ = write!(xml, "<node id=\"{}\" lat=\"{lat:.7}\" lon=\"{lon:.7}\" version=\"1\">", NODES - i);
            let _ = writeln!(xml, "<tag k=\"name\" v=\"node {}\"/></node>", i * 7919 % NODES);
        }
        for w in 0..NODES / 5 {
            let _ = writeln!(xml, "<way id=\"{}\"><nd ref=\"{}\"/><nd ref=\"{}\"/></way>", w + 1, w * 5 + 1, w * 5 + 2);
        }
        xml.push_str("</osm>\n");
        let mut triples = String::new();
        for i in 0..20_000 {
            let _ = writeln!(triples, "<http://e.org/{}> <http://e.org/p{}> \"text {i}\" .", i * 31 % 9000, i % 7);
        }
        std::fs::write(folder.path().join("in.osm"), xml).unwrap();
        std::fs::write(folder.path().join("in.nt"), triples).unwrap();
        let mut sources = Sources { folder, digest: String::new() };
        let whole = sources.folder.path().join("whole.terrapin");
        let output = sources.command(&whole).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        sources.digest = digest(&whole).expect("a snapshot");
        sources
    }

    fn command(&self, out: &Path) -> Command {
        let mut command = program();
        command.arg("load").arg("--osm").arg(self.folder.path().join("in.osm"));
        command.arg("--rdf").arg(self.folder.path().join("in.nt")).arg("--out").arg(out);
        command.args(["--memory", "16MiB", "--threads", "2"]);
        command
    }
}

/// Returns the digest of a snapshot, if all its bytes are verified.
fn digest(path: &Path) -> Option<String> {
    let verified = program().arg("verify").arg(path).output().unwrap();
    let info = program().args(["info", "--json"]).arg(path).output().unwrap();
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).ok()?;
    verified.status.success().then(|| info["digest"].as_str().unwrap_or_default().to_owned())
}

/// Checks the result of a load with faults: either the previous snapshot or the new one.
fn look(sources: &Sources, folder: &Path, old: &str, output: &Output) -> String {
    assert_eq!(names(folder), ["out.terrapin"], "{output:?}");
    let found = digest(&folder.join("out.terrapin")).expect("a whole snapshot");
    if output.status.success() {
        assert_eq!(found, sources.digest);
        return "done, same snapshot".to_owned();
    }
    assert_eq!(found, old);
    error_of(output)
}

/// Creates a folder that already has a small snapshot.
fn folder_with_old() -> (tempfile::TempDir, PathBuf, String) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.terrapin");
    std::fs::copy(super::common::Town::new().snapshot(), &out).unwrap();
    let old = digest(&out).expect("a snapshot");
    (folder, out, old)
}

#[test]
fn faults_of_the_disk_in_a_load() {
    let sources = Sources::new();
    let mut outcomes = Outcomes::new("a load, and the disk");
    for fault in ["read:short", "write:short", "read:EINTR", "clock:jump"] {
        let (folder, out, old) = folder_with_old();
        let mut command = sources.command(&out);
        if !with_fault(&mut command, fault, 1) {
            return;
        }
        let output = command.output().unwrap();
        let said = look(&sources, folder.path(), &old, &output);
        assert!(output.status.success(), "{fault}: {said}");
        outcomes.row(fault, said);
    }
    for fault in ["write:ENOSPC", "write:EIO", "sync:EIO", "read:EIO"] {
        let mut at = 1;
        let mut said: Vec<(usize, String)> = Vec::new();
        loop {
            let (folder, out, old) = folder_with_old();
            let mut command = sources.command(&out);
            with_fault(&mut command, fault, at);
            let output = command.output().unwrap();
            let outcome = look(&sources, folder.path(), &old, &output);
            let done = output.status.success();
            if said.last().is_none_or(|(_, last)| *last != outcome) {
                said.push((at, outcome));
            }
            if done {
                break;
            }
            // A load makes some hundred calls; faults at the first ones are the most informative.
            at += if all() || at < 3 { 1 } else { at.div_ceil(2) };
            assert!(at < 100_000, "{fault} never ends");
        }
        assert!(at > 1, "{fault} has no effect");
        for (at, outcome) in said {
            outcomes.row(format!("{fault} from call {at} on"), outcome);
        }
    }
}

/// Tests a full file system: a small tmpfs, which only root can mount.
#[test]
fn a_small_file_system_in_a_load() {
    let can =
        Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"]).stderr(Stdio::null()).status();
    if !can.is_ok_and(|status| status.success()) {
        skip::skipped(skip::Need::System, "a small file system takes unshare and the right to mount");
        return;
    }
    let sources = Sources::new();
    let mut outcomes = Outcomes::new("a load into a file system that is too small");
    let needed = std::fs::metadata(sources.folder.path().join("whole.terrapin")).unwrap().len() * 20;
    let mut done = false;
    for tenth in (1..=12).step_by(if all() { 1 } else { 3 }) {
        let place = tempfile::tempdir().unwrap();
        let mut command = Command::new("unshare");
        let script = "mount -t tmpfs -o size=$0 none $1 && shift && \"$@\"; code=$?; ls -A $OUT; exit $code";
        command.args(["-m", "sh", "-c", script]).arg((needed * tenth / 10).to_string()).arg(place.path());
        let load = sources.command(&place.path().join("out.terrapin"));
        command.arg(load.get_program()).args(load.get_args()).env("OUT", place.path());
        let output = command.output().unwrap();
        let left = String::from_utf8_lossy(&output.stdout);
        let left: Vec<&str> =
            left.lines().filter(|line| line.ends_with(".part") || line.ends_with(".terrapin")).collect();
        let left: Vec<&str> = left.into_iter().filter(|line| !line.contains(' ')).collect();
        let size = format!("{} KiB", needed * tenth / 10 / 1024);
        if output.status.success() {
            assert_eq!(left, ["out.terrapin"]);
            outcomes.row(size, "done");
            done = true;
        } else {
            assert!(left.is_empty(), "{output:?}");
            outcomes.row(size, error_of(&output));
        }
    }
    assert!(done, "{needed} bytes are not enough");
}

/// Waits until a process has a handler for the signal of this exit status. On a busy machine its start may take long.
fn wait_for_handler(process: u32, status: Option<i32>) {
    let Some(signal) = status.map(|status| status - 128) else { return };
    let begin = Instant::now();
    // The mask has a bit for each signal, from 1: proc_pid_status(5).
    let is_caught = || {
        let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
        u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 << (signal - 1) != 0)
    };
    // A process that has ended has no handlers.
    let has_ended = || {
        let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        text.rsplit(") ").next().is_none_or(|rest| rest.is_empty() || rest.starts_with('Z'))
    };
    while !is_caught() && !has_ended() && begin.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Kills loads at various moments: nothing is left behind. After SIGKILL this needs a file system with unnamed files.
#[test]
fn killed_loads() {
    let sources = Sources::new();
    let mut outcomes = Outcomes::new("a load that is killed");
    let begin = Instant::now();
    assert!(sources.command(&sources.folder.path().join("again.terrapin")).output().unwrap().status.success());
    let whole = begin.elapsed();
    let steps = if all() { 40 } else { 6 };
    for (signal, code) in [("KILL", None), ("TERM", Some(143)), ("INT", Some(130)), ("HUP", Some(129))] {
        let (mut stopped, mut done, mut left, mut said) = (0, 0, 0, String::new());
        for step in 0..steps {
            let (folder, out, old) = folder_with_old();
            let load = sources.command(&out);
            // The parent of the tests may ignore signals, for example nohup or a background job of a shell. The load
            // would inherit that, so the signals are reset.
            let mut child = Command::new("env");
            child.arg("--default-signal=TERM,INT,HUP").arg(load.get_program()).args(load.get_args()).arg("--json");
            let child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            std::thread::sleep(whole * step / steps);
            wait_for_handler(child.id(), code);
            let _ = crate::common::signal(&format!("-{signal}"), child.id());
            let output = child.wait_with_output().unwrap();
            if output.status.success() {
                assert_eq!(digest(&out).as_ref(), Some(&sources.digest));
                done += 1;
                continue;
            }
            stopped += 1;
            assert_eq!(output.status.code(), code, "{output:?}");
            let found = digest(&out).expect("a whole snapshot");
            if code.is_some() {
                let error: serde_json::Value = serde_json::from_slice(&output.stderr).expect("an error as JSON");
                said = error["error"]["message"].as_str().or(error["message"].as_str()).unwrap_or_default().to_owned();
                assert!(said.contains(signal), "{error}");
                assert!(found == old || said.contains("was finished"));
            }
            assert!(found == old || found == sources.digest);
            let parts = names(folder.path()).iter().filter(|name| name.ends_with(".part")).count();
            // Files are left only if the file system lacks unnamed files, and only until the next load into that
            // folder.
            left += if code.is_none() { parts } else { 0 };
            assert_eq!(names(folder.path()).len(), 1 + if code.is_none() { parts } else { 0 });
        }
        assert!(stopped > 0);
        let said = said.split(':').next().unwrap_or_default().to_owned();
        outcomes.row(
            format!("SIG{signal} at {steps} moments"),
            format!("{stopped} stopped, {done} done already, {left} files left; {said}"),
        );
    }
}

/// Invalid sources are rejected immediately.
#[test]
fn odd_sources() {
    let folder = tempfile::tempdir().unwrap();
    let mut outcomes = Outcomes::new("a load of what is no file of elements");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("empty"), b"").unwrap();
    std::fs::create_dir(path("folder")).unwrap();
    let _ = Command::new("mkfifo").arg(path("fifo")).status();
    std::fs::write(path("unreadable"), b"<osm/>").unwrap();
    for source in ["empty", "folder", "fifo", "missing"]
        .map(path)
        .into_iter()
        .chain(["/dev/null", "/dev/zero"].map(PathBuf::from))
    {
        for option in ["--osm", "--rdf", "--wikidata"] {
            let out = path("out.terrapin");
            let mut child = program();
            child
                .args(["load", option])
                .arg(&source)
                .arg("--out")
                .arg(&out)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = child.spawn().unwrap();
            let begin = Instant::now();
            while child.try_wait().unwrap().is_none() {
                if begin.elapsed() > Duration::from_secs(10) {
                    let _ = child.kill();
                    panic!("{option} {} hangs", source.display());
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            let output = child.wait_with_output().unwrap();
            let name = source.file_name().unwrap().to_string_lossy();
            let said = if output.status.success() {
                std::fs::remove_file(&out).unwrap();
                "done".to_owned()
            } else {
                assert!(!out.exists());
                error_of(&output)
            };
            outcomes.row(format!("{option} {name}"), said.replace(&folder.path().display().to_string(), ""));
        }
    }
}
