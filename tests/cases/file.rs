//! Case files: a feature of the language, and queries that demonstrate it.
//!
//! ```text
//! # foreach->.x { ... }
//! Runs the block once for each element of a set.
//!
//! == a set of its own
//! node[amenity];
//! foreach->.x { .x out ids; }
//! -- answer
//! ...
//! ```
//!
//! The first line is the feature as written in a query; the next lines describe it. Then come cases: a title after
//! `==`, the query, and the expected results after `--`:
//!
//! | section | content |
//! |---|---|
//! | `-- answer` | the answer of the query with its own settings; empty for a rejected query |
//! | `-- error` | the error lines |
//! | `-- xml`, `-- pretty`, `-- compact` | the converted query |
//! | `-- reference` | the answer of the reference, if it differs intentionally |
//! | `-- data` | OpenStreetMap XML instead of `world.osm` |
//!
//! `== pending: title` marks a case with a wrong answer so far; the test fails once the answer is right.

use std::path::{Path, PathBuf};

use crate::common::place;

/// A case file.
pub struct CaseFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Name of its folder.
    pub area: String,
    /// The feature, as written in a query.
    pub form: String,
    /// A description in one sentence.
    pub summary: String,
    /// Its cases.
    pub cases: Vec<TestCase>,
}

/// A query and its expected results.
pub struct TestCase {
    /// The demonstrated behaviour.
    pub title: String,
    /// Whether the answer is known to be wrong so far.
    pub pending: bool,
    /// The query.
    pub query: String,
    /// Sections by name.
    pub sections: Vec<(String, String)>,
}

impl CaseFile {
    /// Returns the name of the file's test, such as `statements::foreach`.
    pub fn name(&self) -> String {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        format!("{}::{stem}", self.area)
    }
}

impl TestCase {
    /// Returns the text of a section.
    pub fn section(&self, name: &str) -> Option<&str> {
        self.sections.iter().find(|(known, _)| known == name).map(|(_, text)| text.as_str())
    }

    /// Sets the text of a section.
    pub fn set(&mut self, name: &str, text: String) {
        match self.sections.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = text,
            None => self.sections.push((name.to_owned(), text)),
        }
    }
}

/// Returns the folder of the cases.
pub fn folder() -> PathBuf {
    place::root().join("tests/cases/overpass")
}

/// Returns all case files, by area and name.
pub fn all() -> Vec<CaseFile> {
    let mut paths = Vec::new();
    for area in std::fs::read_dir(folder()).expect("the folder of the cases") {
        let area = area.expect("an entry").path();
        if area.is_dir() {
            paths.extend(std::fs::read_dir(area).expect("a folder").map(|entry| entry.expect("an entry").path()));
        }
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> CaseFile {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let area = path.parent().and_then(Path::file_name).expect("a folder").to_string_lossy().into_owned();
    let mut parts = text.split("\n== ");
    let head = parts.next().unwrap_or_default();
    let (form, summary) = head.split_once('\n').unwrap_or((head, ""));
    let form = form.strip_prefix("# ").unwrap_or_else(|| panic!("{}: begins with \"# \"", path.display()));
    let summary = summary.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!summary.is_empty(), "{}: says what the feature is", path.display());
    let cases: Vec<TestCase> = parts.map(case).collect();
    assert!(!cases.is_empty(), "{}: has a case", path.display());
    CaseFile { path: path.to_owned(), area, form: form.trim().to_owned(), summary, cases }
}

fn case(text: &str) -> TestCase {
    let (title, rest) = text.split_once('\n').unwrap_or((text, ""));
    let (pending, title) = match title.strip_prefix("pending: ") {
        Some(title) => (true, title),
        None => (false, title),
    };
    // The line break lets the split find a section that begins on the first line.
    let rest = format!("\n{rest}");
    let mut sections = rest.split("\n-- ").map(|section| section.to_owned());
    let query = sections.next().unwrap_or_default().trim_matches('\n').to_owned();
    let sections = sections
        .map(|section| {
            let (name, text) = section.split_once('\n').unwrap_or((&section, ""));
            (name.trim().to_owned(), text.trim_end().to_owned())
        })
        .collect();
    TestCase { title: title.trim().to_owned(), pending, query, sections }
}

/// Returns the text of a case file.
pub fn write(file: &CaseFile) -> String {
    let mut out = format!("# {}\n{}\n", file.form, wrapped(&file.summary));
    for case in &file.cases {
        let mark = if case.pending { "pending: " } else { "" };
        out.push_str(&format!("\n== {mark}{}\n{}\n", case.title, case.query));
        for (name, text) in &case.sections {
            out.push_str(&format!("-- {name}\n"));
            if !text.is_empty() {
                out.push_str(text);
                out.push('\n');
            }
        }
    }
    out
}

fn wrapped(text: &str) -> String {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("a line");
        if line.len() + word.len() > 118 {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.join("\n")
}
