//! Tests the result cache: a run continues without it or with its intact parts, and never uses wrong results from it.
//! Needs a build with the cache.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::eval::{Instances, results};
use super::shim::with_fault;
use super::{Outcomes, all, error_of, names};
use crate::common::skip;

fn has_cache() -> bool {
    if !cfg!(feature = "cache") {
        skip::skipped(skip::Need::Time, "this build has no cache of results (feature cache)");
    } else if !all() {
        skip::skipped(skip::Need::Time, "faults of the cache of results are tried by `make faults` alone");
    }
    cfg!(feature = "cache") && all()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for name in names(from) {
        if from.join(&name).is_dir() {
            copy(&from.join(&name), &to.join(&name));
        } else {
            std::fs::copy(from.join(&name), to.join(&name)).unwrap();
        }
    }
}

/// Runs with this cache. The run must finish with the right results or fail with an error.
fn run(instances: &Instances, cache: &Path, out: &str, fault: Option<(&str, usize)>) -> String {
    let out = instances.path(out);
    let mut command = instances.command(&out, &["--cache", cache.to_str().unwrap()]);
    if let Some((fault, at)) = fault {
        with_fault(&mut command, fault, at);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        assert_eq!(results(&out), instances.right, "{said}");
        let warning = said.lines().find(|line| line.contains("warning")).unwrap_or("no warning");
        return format!("same results; {}", warning.chars().take(90).collect::<String>());
    }
    error_of(&output)
}

#[test]
fn caches_that_are_damaged_locked_or_foreign() {
    if !has_cache() {
        return;
    }
    let instances = Instances::new(60);
    let mut outcomes = Outcomes::new("a cache of results");
    let whole = instances.path("cache");
    outcomes.row("empty", run(&instances, &whole, "a", None));
    outcomes.row("full of the same", run(&instances, &whole, "b", None));
    let mut files: Vec<String> = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for name in names(&whole.join(&folder)) {
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if whole.join(&path).is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    for (i, file) in files.iter().enumerate() {
        let content = std::fs::read(whole.join(file)).unwrap();
        let mut flipped = content.clone();
        if let Some(byte) = content.len().checked_sub(1).and_then(|last| flipped.get_mut(last / 2)) {
            *byte ^= 0x55;
        }
        let half = content[..content.len() / 2].to_vec();
        for (what, bytes) in [
            ("flipped", Some(flipped)),
            ("cut", Some(half)),
            ("of another version", Some(b"not ours 99\n".to_vec())),
            ("gone", None),
        ] {
            let damaged = instances.path(&format!("damaged-{i}-{}", &what[..3]));
            copy(&whole, &damaged);
            match bytes {
                Some(bytes) => std::fs::write(damaged.join(file), bytes).unwrap(),
                None => std::fs::remove_file(damaged.join(file)).unwrap(),
            }
            let said = run(&instances, &damaged, &format!("run-{i}-{}", &what[..3]), None);
            outcomes.row(format!("{file} {what}"), said);
        }
    }
    let mut holder = instances.command(&instances.path("held"), &["--cache", whole.to_str().unwrap()]);
    let mut holder = holder.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    outcomes.row("in use by another run", run(&instances, &whole, "c", None));
    let _ = holder.wait();
    for fault in ["write:ENOSPC", "write:EIO", "read:EIO", "sync:EIO"] {
        for at in if all() { vec![1, 2, 3, 5, 8, 13, 21, 34, 55, 89] } else { vec![1, 8] } {
            let cache = instances.path(&format!("c-{}-{at}", fault.replace(':', "-")));
            let said = run(&instances, &cache, &format!("o-{}-{at}", fault.replace(':', "-")), Some((fault, at)));
            outcomes
                .row(format!("{fault} from call {at} on"), said.replace(&instances.path("").display().to_string(), ""));
        }
    }
}

#[test]
fn writers_of_caches_that_are_killed() {
    if !has_cache() {
        return;
    }
    let instances = Instances::new(300);
    let mut outcomes = Outcomes::new("a run that is killed while it writes to its cache");
    let cache = instances.path("cache");
    let rounds = if all() { 40 } else { 5 };
    for round in 0..rounds {
        let out = instances.path(&format!("k{round}"));
        let mut child = instances
            .command(&out, &["--cache", cache.to_str().unwrap()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(20 + 11 * round));
        let _ = child.kill();
        child.wait().unwrap();
    }
    outcomes.row(format!("SIGKILL, {rounds} times"), run(&instances, &cache, "end", None));
}
