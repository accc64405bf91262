//! Tests the messages for typical mistakes: `mistakes.txt` has queries, each with the output of the command line.
//! `TERRAPIN_WRITE=1` rewrites the file.

use std::process::Command;

use libtest_mimic::Failed;

use crate::common::place;

/// Compares the output for every query with the file.
pub fn explained() -> Result<(), Failed> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let snapshot = folder.path().join("world.terrapin");
    let load = Command::new(env!("CARGO_BIN_EXE_terrapin"))
        .args(["load", "--osm"])
        .arg(super::file::folder().join("world.osm"))
        .arg("--out")
        .arg(&snapshot)
        .output()
        .expect("terrapin runs");
    assert!(load.status.success(), "{load:?}");
    let path = place::root().join("tests/cases/mistakes.txt");
    let text = std::fs::read_to_string(&path).expect("the mistakes");
    let mut parts = text.split("\n>>> ");
    let mut found = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let query = part.lines().next().unwrap_or_default();
        let output = Command::new(env!("CARGO_BIN_EXE_terrapin"))
            .arg("query")
            .arg("world.terrapin")
            .current_dir(folder.path())
            .arg("--")
            .arg(query.replace("\\n", "\n"))
            .output()
            .expect("terrapin runs");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        let lines: Vec<&str> = said.lines().map(str::trim_end).collect();
        found.push_str(&format!("\n>>> {query}\n{}\n", lines.join("\n")));
    }
    if std::env::var_os("TERRAPIN_WRITE").is_some() {
        std::fs::write(&path, &found)?;
        return Ok(());
    }
    for (expected, found) in text.split("\n>>> ").zip(found.split("\n>>> ")) {
        assert_eq!(found.trim_end(), expected.trim_end());
    }
    Ok(())
}
