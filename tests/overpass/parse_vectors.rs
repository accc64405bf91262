//! Parses every query of the conformance vectors. Queries that the reference runs must parse; queries that it rejects
//! must be rejected, with the same messages as far as they are known. Skipped if the vectors are missing.

use std::path::PathBuf;

use crate::common::vectors;
use terrapin::overpass::parse;

/// Returns the lines of an error that the vectors keep: those that begin with a line number.
fn kept(error: &str) -> Vec<&str> {
    error.lines().filter(|line| line.starts_with("line ")).collect()
}

/// Returns whether a query was rejected because of a character range beyond ASCII. Terrapin evaluates such ranges by
/// code point; the reference's C library does not know them.
pub fn is_range_beyond_ascii(error: &str) -> bool {
    let range = regex::Regex::new(r#"Invalid regular expression: ".*\[[^\]]*(?:[^\x00-\x7f]-|-[^\x00-\x7f])"#);
    range.expect("pattern").is_match(error)
}

#[derive(Default)]
struct VectorCount {
    right: usize,
    all: usize,
    wrong: Vec<String>,
}

impl VectorCount {
    fn add(&mut self, right: bool, what: impl FnOnce() -> String) {
        self.all += 1;
        if right {
            self.right += 1;
        } else if self.wrong.len() < 40 {
            self.wrong.push(what());
        }
    }

    fn at_least(&self, share: f64, name: &str) {
        println!("{name}: {} of {}", self.right, self.all);
        if std::env::var_os("TERRAPIN_SHOW").is_some() {
            for wrong in &self.wrong {
                println!("  {wrong}");
            }
        }
        assert!(self.right as f64 >= share * self.all as f64, "{name}: {} of {}", self.right, self.all);
    }
}

#[test]
fn vectors_parse_as_the_reference_does() {
    let Some(folder) = vectors::folder() else { return };
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("folder can be read").map(|entry| entry.expect("entry").path()).collect();
    paths.sort();
    let [mut accepted, mut refused, mut equal, mut alike]: [VectorCount; 4] = Default::default();
    for path in paths.iter().filter(|path| path.to_string_lossy().ends_with(".jsonl.gz")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for line in vectors::lines(path) {
            let text = |key: &str| line[key].as_str().unwrap_or_default();
            let converted = name.starts_with("xml-");
            let query = if converted { text("prepared") } else { text("query") };
            let error = text("error");
            let result = parse(query);
            let found = result.as_ref().err().map(ToString::to_string).unwrap_or_default();
            if kept(error).is_empty() {
                // The converter makes fewer checks than a run, so a query that converts may still be rejected.
                if !converted {
                    accepted.add(result.is_ok(), || format!("{query}\n    {found}"));
                }
                continue;
            }
            if converted
                && query.contains("[bbox:")
                && error.lines().all(|line| line.ends_with("empty query is not allowed"))
            {
                // The converter does not treat a global bounding box as a filter.
                continue;
            }
            if is_range_beyond_ascii(error) {
                accepted.add(result.is_ok(), || format!("{query}\n    {found}"));
                continue;
            }
            refused.add(result.is_err(), || format!("{query}\n    {error}"));
            if converted {
                // The converter makes few of the static checks.
                let parse = |text: &str| {
                    kept(text)
                        .into_iter()
                        .filter(|line| !line.contains("static"))
                        .map(str::to_owned)
                        .collect::<Vec<_>>()
                };
                alike.add(parse(&found) == parse(error), || format!("{query}\n    {error}\n  not\n    {found}"));
            } else {
                equal.add(kept(&found) == kept(error), || format!("{query}\n    {error}\n  not\n    {found}"));
            }
        }
    }
    accepted.at_least(1.0, "accepted");
    refused.at_least(1.0, "refused");
    equal.at_least(1.0, "with the same errors");
    alike.at_least(0.98, "with the same parse errors as the converter");
}

/// Returns the syntax tree without positions, which differ between the two forms.
fn shape(script: &terrapin::overpass::syntax::Script) -> String {
    let place = regex::Regex::new(r"span: SourceSpan \{ start: \d+, end: \d+ \}, |line: \d+, ").expect("pattern");
    place.replace_all(&format!("{script:?}"), "").into_owned()
}

#[test]
fn both_forms_give_the_same_tree() {
    let Some(folder) = vectors::folder() else { return };
    let mut same = VectorCount::default();
    for name in ["xml-dev.jsonl.gz", "xml-train.jsonl.gz"] {
        for line in vectors::lines(&folder.join(name)).iter().filter(|line| line["error"].is_null()) {
            let text = |key: &str| line[key].as_str().unwrap_or_default();
            let Ok(script) = parse(text("prepared")) else { continue };
            let converted = parse(text("xml"));
            let equal = converted.as_ref().is_ok_and(|converted| shape(converted) == shape(&script));
            same.add(equal, || text("prepared").to_owned());
        }
    }
    // The converter moves tag filters before the others, and cannot read some of its own output.
    same.at_least(0.99, "with the same tree in both forms");
}
