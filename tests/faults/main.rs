//! Tests the program under faults of its environment: it is killed, the disk is full or broken, reads return few bytes,
//! a file is damaged or truncated while in use, the clock jumps.
//!
//! Either the program succeeds with the same output as without the fault, or it reports an error, exits with the
//! matching status, and leaves no partial files. `make faults` tries every possible position of a fault, `cargo test
//! --test faults` some of them.

#[path = "../common/mod.rs"]
mod common;

mod cache;
mod eval;
mod load;
mod serve;
mod shim;

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

/// Returns whether to try everything.
fn all() -> bool {
    std::env::var("TERRAPIN_FAULTS").is_ok_and(|what| what == "all")
}

/// Returns a command that runs the program.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terrapin"));
    command.env_remove("RUST_LOG");
    command
}

/// The outcomes for a kind of fault.
struct Outcomes {
    title: &'static str,
    rows: Vec<(String, String)>,
}

impl Outcomes {
    fn new(title: &'static str) -> Outcomes {
        Outcomes { title, rows: Vec::new() }
    }

    fn row(&mut self, fault: impl Into<String>, outcome: impl Into<String>) {
        self.rows.push((fault.into(), outcome.into()));
    }
}

impl Drop for Outcomes {
    fn drop(&mut self) {
        let mut text = format!("\n{}\n", self.title);
        for (fault, outcome) in &self.rows {
            let _ = writeln!(text, "  {fault:<44} {outcome}");
        }
        // A single write that bypasses the capture of output, so that concurrent tests do not mix their lines.
        use std::io::Write as _;
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// Returns the last line of a program's error, which must be well-formed.
fn error_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked"), "{text}");
    let code = output.status.code().unwrap_or_else(|| panic!("{:?}: {text}", output.status));
    assert!((1..=5).contains(&code), "status {code}: {text}");
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    assert!(!line.is_empty(), "status {code} and no word");
    line.chars().take(110).collect()
}

/// Returns the names in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
