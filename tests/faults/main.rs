//! What the program does when what it stands on gives way: it is killed, the disk is full or broken, reads come in
//! pieces, a file is damaged or cut off under it, the clock jumps.
//!
//! Whatever happens, one of these is true: all went well, and what came out is what comes out otherwise; or the program
//! said what is wrong, ended with a status that says so, and left nothing half done behind. `make faults` tries every
//! place where a fault can be, `cargo test --test faults` some of them.

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

/// Whether to try everything.
fn all() -> bool {
    std::env::var("TERRAPIN_FAULTS").is_ok_and(|what| what == "all")
}

/// The program.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terrapin"));
    command.env_remove("RUST_LOG");
    command
}

/// What came of the faults of a kind.
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
        // At once, so that tests which run at the same time do not mix their lines; past the capture of output.
        use std::io::Write as _;
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// The last line of what a program said is wrong, which must be a proper error.
fn error_of(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!text.contains("panicked"), "{text}");
    let code = output.status.code().unwrap_or_else(|| panic!("{:?}: {text}", output.status));
    assert!((1..=5).contains(&code), "status {code}: {text}");
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    assert!(!line.is_empty(), "status {code} and no word");
    line.chars().take(110).collect()
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
