//! Tests interrupted runs of `terrapin eval`: a run that is resumed gives the same results.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::common::Town;
use super::shim::with_fault;
use super::{Outcomes, all, error_of};

/// The files of a run that do not depend on time.
const FILES: [&str; 4] = ["run.json", "instances.jsonl", "results.jsonl", "summary.json"];

pub struct Instances {
    pub town: Town,
    pub right: Vec<Vec<u8>>,
}

impl Instances {
    pub fn new(count: usize) -> Instances {
        let town = Town::new();
        let mut lines = String::new();
        for i in 0..count {
            let gold = format!("[out:json];nwr[amenity](if:id()>={});out geom;", i % 5);
            let pred = format!("[out:json];nwr[amenity](if:id()>={});out geom;", i % 3);
            let _ = writeln!(lines, "{}", serde_json::json!({"gold": gold, "pred": format!("{pred}/*{i}*/")}));
        }
        std::fs::write(town.path("in.jsonl"), lines).unwrap();
        let mut instances = Instances { town, right: Vec::new() };
        let out = instances.town.path("right");
        let output = instances.command(&out, &["--no-cache"]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        instances.right = results(&out);
        instances
    }

    pub fn command(&self, out: &Path, more: &[&str]) -> Command {
        let mut command = super::program();
        command.args(["eval", "jsonl"]).arg(self.town.snapshot()).arg(self.town.path("in.jsonl"));
        command.arg("--out").arg(out).args(["--threads", "2"]).args(more);
        command
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.town.path(name)
    }
}

pub fn results(folder: &Path) -> Vec<Vec<u8>> {
    FILES.iter().map(|name| std::fs::read(folder.join(name)).unwrap()).collect()
}

#[test]
fn killed_runs_go_on() {
    let instances = Instances::new(400);
    let mut outcomes = Outcomes::new("a run that is killed, and started again");
    let (mut killed, mut attempts) = (0, 0);
    for round in 0..if all() { 20 } else { 4 } {
        let out = instances.path(&format!("killed{round}"));
        // Each attempt runs a little longer.
        for attempt in 1..200_u64 {
            attempts += 1;
            let mut child =
                instances.command(&out, &["--no-cache"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(15 * attempt + 7 * round));
            if child.try_wait().unwrap().is_some_and(|status| status.success()) {
                break;
            }
            child.kill().unwrap();
            child.wait().unwrap();
            killed += 1;
        }
        assert_eq!(results(&out), instances.right);
    }
    assert!(killed > 0);
    outcomes.row("SIGKILL", format!("{killed} of {attempts} attempts killed, same results in the end"));
}

#[test]
fn faults_of_the_disk_in_a_run() {
    let instances = Instances::new(40);
    let mut outcomes = Outcomes::new("a run, and the disk");
    let mut number = 0;
    let mut out = || {
        number += 1;
        instances.path(&format!("run{number}"))
    };
    for fault in ["read:short", "write:short", "read:EINTR", "clock:jump"] {
        let out = out();
        let mut command = instances.command(&out, &["--no-cache"]);
        if !with_fault(&mut command, fault, 1) {
            return;
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{fault}: {output:?}");
        assert_eq!(results(&out), instances.right);
        outcomes.row(fault, "same results");
    }
    for fault in ["write:ENOSPC", "write:EIO", "sync:EIO", "read:EIO"] {
        let (mut at, mut last) = (1, String::new());
        loop {
            let out = out();
            let mut command = instances.command(&out, &["--no-cache"]);
            with_fault(&mut command, fault, at);
            let output = command.output().unwrap();
            if output.status.success() {
                assert_eq!(results(&out), instances.right);
                outcomes.row(format!("{fault} from call {at} on"), "same results");
                break;
            }
            let said = error_of(&output).replace(&out.display().to_string(), "");
            // The files on disk are intact: another attempt without faults finishes.
            let again = instances.command(&out, &["--no-cache"]).output().unwrap();
            assert!(again.status.success(), "{fault} {at}: {again:?}");
            assert_eq!(results(&out), instances.right);
            if said != last {
                outcomes.row(format!("{fault} from call {at} on"), format!("{said}; then the same results"));
                last = said;
            }
            at += if all() || at < 3 { 1 } else { at.div_ceil(2) };
            assert!(at < 100_000, "{fault} never ends");
        }
    }
}
