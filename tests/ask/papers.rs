//! Tests `scripts/papers`: all rows of OverpassNL's tables 2 and 4, in small, with the scripted model of the script.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::common::Town;
use crate::common::skip::{Need, skipped};

/// Runs the script; returns its table.
fn table(town: &Town, out: &str) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/papers");
    let mut command = Command::new("python3");
    command.arg(script).args(["town.terrapin", "questions.jsonl", "train.jsonl", "--out", out, "--scripted"]);
    command.args(["--seeds", "0,1", "--questions", "3", "--", "--no-cache"]).current_dir(town.path(""));
    command.env("TERRAPIN", assert_cmd::cargo::cargo_bin("terrapin"));
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// Returns the files of all runs, except those with times and the caches.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(self::files(&entry.path()).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else if !["times.jsonl", "timings.jsonl"].contains(&name.as_str()) {
            files.insert(name, std::fs::read(entry.path()).unwrap());
        }
    }
    files
}

#[test]
fn the_tables_are_repeated_by_one_command() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skipped(Need::Python, "there is no python3");
    }
    let town = Town::new();
    let write = |name: &str, rows: &[(&str, &str)]| {
        let lines = rows.iter().map(|(nl, gold)| json!({"nl": nl, "gold": gold}).to_string() + "\n");
        std::fs::write(town.path(name), lines.collect::<String>()).unwrap();
    };
    let cafes = "node[amenity=cafe];out;";
    write(
        "train.jsonl",
        &[("All cafes", cafes), ("All streets", "way[highway];out;"), ("All benches", "node[amenity=bench];out;")],
    );
    let streets = "way[highway];out;";
    // The scripted model breaks its query for the first question.
    write(
        "questions.jsonl",
        &[("All cafes here", cafes), ("All the cafes", cafes), ("All the streets", streets), ("Bars", cafes)],
    );
    let first = table(&town, "one");
    let rows: Vec<&str> = first.lines().skip(2).map(|line| line.split(" | ").next().unwrap()).collect();
    assert_eq!(
        rows,
        [
            "| no model, nearest by bm25",
            "| no model, nearest by bleu",
            "| 5 examples, random",
            "| 5 examples, bleu",
            "| 5 examples, bm25",
            "| bleu, refined: errors only, feedback off",
            "| bleu, refined: errors only, feedback on",
            "| bleu, refined: all, feedback off",
            "| bleu, refined: all, feedback on",
        ]
    );
    let line = |row: &str| first.lines().find(|line| line.contains(row)).unwrap().to_owned();
    // All three questions have an example with their words.
    assert!(line("nearest by bm25").ends_with("nearest by bm25 | 100.0 | 100.0 | 100.0 | 0 |  |  |"), "{first}");
    // The broken query is repaired if the model sees its error.
    assert!(
        line("examples, bleu").contains("| 66.7 | 66.7 | ") && line("examples, bleu").contains(" | 1 | "),
        "{first}"
    );
    for only in ["errors only", "all"] {
        assert!(line(&format!("{only}, feedback off")).contains("| 66.7 | 66.7 | "), "{first}");
        assert!(line(&format!("{only}, feedback on")).contains("| 100.0 | 100.0 | 100.0 | 0 | "), "{first}");
    }
    assert!(line("errors only, feedback on").ends_with("| 40.7, 53.7, 73.2, 7 |"), "the paper's numbers: {first}");
    assert!(line("random").contains(" \u{b1} "), "two seeds: {first}");
    assert_eq!(std::fs::read_to_string(town.path("one/table.md")).unwrap(), first);
    // A second run is equal byte for byte, and one that was killed after some rows goes on.
    let second = table(&town, "two");
    assert!(files(&town.path("one")) == files(&town.path("two")) && first == second);
    std::fs::remove_dir_all(town.path("two/refine-all-on")).unwrap();
    assert!(table(&town, "two") == first && files(&town.path("one")) == files(&town.path("two")));
}
