//! Tests the data that `terrapin eval` keeps: a journal, which lets a killed run resume, and query results for other
//! runs. With `TERRAPIN_ALL=1`, runs are killed at twenty moments, otherwise at three.

#[cfg(feature = "cache")]
use std::path::Path;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::same::assert_same_run;
use crate::common::{Town, skip};

const LINES: usize = 400;

struct BenchmarkTown {
    town: Town,
}

impl BenchmarkTown {
    /// Creates a benchmark with enough lines for a run to take some time.
    fn new() -> BenchmarkTown {
        let town = Town::new();
        let gold = |i: usize| {
            let names: String = (0..i % 40).map(|k| format!("[\"name:{k}\"!~\"x{i}\"]")).collect();
            format!("[out:json];node[amenity=cafe](if:id()>={}){names};out;\n", i % 4)
        };
        let pred = |i: usize| match i % 5 {
            0 => format!("node[amenity=cafe;out {i};\n"),
            1 => format!("node[amenity=cafe](if:id()>={});out 1;\n", i % 7),
            _ => gold(i + i % 3),
        };
        std::fs::write(town.path("gold"), (0..LINES).map(gold).collect::<String>()).unwrap();
        std::fs::write(town.path("pred"), (0..LINES).map(pred).collect::<String>()).unwrap();
        BenchmarkTown { town }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.town.path(name)
    }

    /// Returns the command that scores into a folder.
    fn command(&self, out: &str, more: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_terrapin"));
        command.args(["eval", "overpassnl", "town.terrapin", "--gold", "gold", "--pred", "pred", "--out", out]);
        command.args(more).current_dir(self.path("")).env_remove("TERRAPIN_CACHE").stdin(Stdio::null());
        command
    }

    /// Scores into a folder and returns all output.
    fn score(&self, out: &str, more: &[&str]) -> String {
        let done = self.command(out, more).output().unwrap();
        let said = [done.stdout, done.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert!(done.status.success(), "{said}");
        said
    }
}

/// Starts a command and kills it after `pause`. Returns whether it was still running.
fn kill_after(mut command: Command, pause: Duration) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(pause);
    // Sends SIGKILL on Unix.
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

#[test]
fn a_killed_run_goes_on_and_comes_to_the_same() {
    let benchmark = BenchmarkTown::new();
    benchmark.score("whole", &["--no-cache"]);
    let start = Instant::now();
    benchmark.score("again", &[]);
    let whole = start.elapsed();
    assert_same_run(&benchmark.town, "whole", "again");
    let kills = if skip::all() { 20 } else { 3 };
    let (mut random, mut went_on, mut in_time) = (0x2545_f491_4f6c_dd1d_u64, 0, 0);
    for kill in 0..kills {
        // Runs share three caches; the first run with each cache finds it empty.
        let cache = format!("cache{}", kill % 3);
        let out = format!("out{kill}");
        for _ in 0..2 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let pause = whole.mul_f64((random >> 11) as f64 / (1_u64 << 53) as f64);
            in_time += usize::from(kill_after(benchmark.command(&out, &["--cache", &cache]), pause));
        }
        let said = benchmark.score(&out, &["--cache", &cache]);
        went_on += usize::from(said.contains("resuming after"));
        // A build without the result cache prints a warning.
        assert!(!cfg!(feature = "cache") || !said.contains("warning"), "{said}");
        assert_same_run(&benchmark.town, "whole", &out);
        assert!(!benchmark.path(&out).join("journal").exists());
        let times = std::fs::read_to_string(benchmark.path(&out).join("timings.jsonl")).unwrap();
        assert_eq!(times.lines().count(), LINES);
    }
    println!("{kills} runs, {in_time} kills in time, {went_on} went on");
    assert!(in_time > 0);
}

#[test]
fn shards_at_once_share_a_cache() {
    let benchmark = BenchmarkTown::new();
    benchmark.score("whole", &["--no-cache"]);
    let shards = ["1/4", "2/4", "3/4", "4/4"];
    let out = |shard: &str| format!("part{}", &shard[..1]);
    let children: Vec<_> = shards
        .iter()
        .map(|shard| benchmark.command(&out(shard), &["--shard", shard]).stdout(Stdio::null()).spawn().unwrap())
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let mut merge = Command::new(env!("CARGO_BIN_EXE_terrapin"));
    merge.args(["eval", "merge", "--out", "merged"]).args(shards.iter().map(|shard| out(shard)));
    assert!(merge.current_dir(benchmark.path("")).stdout(Stdio::null()).status().unwrap().success());
    assert_same_run(&benchmark.town, "whole", "merged");
    if cfg!(feature = "cache") {
        // The cache has the results of all shards, whichever was first.
        let said = benchmark.score("again", &[]);
        let line = said.lines().find(|line| line.starts_with("from the cache")).unwrap();
        assert!(line.ends_with("(100 %)"), "{line}");
        assert_same_run(&benchmark.town, "whole", "again");
    }
}

#[cfg(feature = "cache")]
#[test]
fn a_cache_that_cannot_be_used_costs_nothing_but_time() {
    let benchmark = BenchmarkTown::new();
    benchmark.score("whole", &["--no-cache"]);
    assert!(!benchmark.path("town.terrapin.cache").exists());
    // A folder with other files is an error, before anything is scored.
    std::fs::create_dir(benchmark.path("thesis")).unwrap();
    std::fs::write(benchmark.path("thesis/one.tex"), "x").unwrap();
    let refused = benchmark.command("out", &["--cache", "thesis"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("thesis") && said.contains("not a cache"), "{said}");
    // If the folder cannot be created, the run continues without a cache.
    assert!(benchmark.score("out", &["--cache", "gold/cache"]).contains("results are not kept"));
    assert_same_run(&benchmark.town, "whole", "out");
    // An invalid cache file is moved aside, and the next run has a cache again.
    assert!(benchmark.score("out", &[]).contains("from the cache"));
    overwrite(&benchmark.path("town.terrapin.cache/results-2.sqlite"));
    assert!(benchmark.score("out", &[]).contains("moved aside"));
    assert_same_run(&benchmark.town, "whole", "out");
    assert!(benchmark.score("out", &[]).contains("(100 %)"));
}

#[cfg(feature = "cache")]
fn overwrite(path: &Path) {
    let length = std::fs::metadata(path).unwrap().len();
    std::fs::write(path, vec![0x55; usize::try_from(length).unwrap()]).unwrap();
}
