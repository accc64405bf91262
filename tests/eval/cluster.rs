//! Tests runs of `terrapin eval` that a scheduler distributes to several machines: the files equal those of a run on
//! one machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Town;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/evaluate.sbatch");
const TERRAPIN: &str = env!("CARGO_BIN_EXE_terrapin");

/// Returns a town with a file of pairs.
fn with_pairs() -> Town {
    let town = Town::new();
    let line = |i: usize| {
        let pred = ["out ids;", "out;", "ou;", "out 1;"][i % 4];
        format!("{{\"gold\": \"node[amenity=cafe](if:id()>{i});out;\", \"pred\": \"node[amenity=cafe];{pred}\"}}\n")
    };
    std::fs::write(town.path("pairs.jsonl"), (0..30).map(line).collect::<String>()).unwrap();
    town
}

/// Runs a command, which must succeed.
fn run(town: &Town, mut command: Command) {
    let done = command.current_dir(town.path("")).env_remove("TERRAPIN_CACHE").output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn jsonl(more: &[&str]) -> Command {
    let mut command = Command::new(TERRAPIN);
    command.args(["eval", "jsonl", "town.terrapin", "pairs.jsonl", "--no-cache"]).args(more);
    command
}

/// Returns the files of a run that do not depend on time.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_file() && name != "timings.jsonl" {
            found.push((PathBuf::from(name), std::fs::read(&entry).unwrap()));
        }
    }
    found.sort();
    assert!(found.len() > 4, "{found:?}");
    found
}

#[test]
fn an_array_job_gives_the_bytes_of_one_machine() {
    let town = with_pairs();
    run(&town, jsonl(&["--out", "whole"]));
    let script = || {
        let mut command = Command::new("bash");
        command.arg(SCRIPT).env("TERRAPIN", TERRAPIN);
        command
    };
    for task in 5..8 {
        let mut command = script();
        command.args(["town.terrapin", "pairs.jsonl", "array", "--no-cache"]);
        command.env("SLURM_ARRAY_TASK_ID", task.to_string());
        run(&town, {
            command.env("SLURM_ARRAY_TASK_MIN", "5").env("SLURM_ARRAY_TASK_COUNT", "3").env("SLURM_CPUS_PER_TASK", "2");
            command
        });
    }
    let mut merge = script();
    merge.args(["merge", "array"]);
    run(&town, merge);
    assert_eq!(files(&town.path("whole")), files(&town.path("array")));
}

#[test]
fn an_indexed_job_gives_the_bytes_of_one_machine() {
    let town = with_pairs();
    run(&town, jsonl(&["--out", "whole"]));
    let mut merge = Command::new(TERRAPIN);
    merge.args(["eval", "merge", "--out", "run"]);
    for index in ["0", "1"] {
        let out = format!("part-{index}");
        let mut command = jsonl(&["--shard", "auto/2", "--out", &out]);
        command.env("JOB_COMPLETION_INDEX", index);
        run(&town, command);
        merge.arg(out);
    }
    run(&town, merge);
    assert_eq!(files(&town.path("whole")), files(&town.path("run")));

    let done = jsonl(&["--shard", "auto/2", "--out", "none"]).current_dir(town.path("")).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.code() == Some(2) && said.contains("JOB_COMPLETION_INDEX"), "{said}");
}
