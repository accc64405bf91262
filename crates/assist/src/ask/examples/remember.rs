//! Keeps corrected queries in a file of JSON lines, which is a file of examples.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::Serialize;

/// A question with its right query, and what was wrong before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Correction {
    /// The question.
    pub question: String,
    /// What was wrong: a mention, a candidate, or the wrong query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wrong: Option<String>,
    /// The right query.
    pub query: String,
    /// The language of the query.
    pub lang: &'static str,
}

/// Appends a correction to a file, and creates the file if it is missing. Processes that append to one file wait for
/// each other. When the function returns, the line is on the disk. The beginning of a line that a killed process left is
/// removed.
///
/// # Errors
/// Returns an error if the file cannot be opened, locked or written.
pub fn remember(path: &Path, correction: &Correction) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
    file.lock()?;
    repair(&mut file)?;
    let mut line = serde_json::to_string(correction)?;
    line.push('\n');
    file.write_all(line.as_bytes())?;
    // The lock ends with the file.
    file.sync_data()
}

/// Ends the last line: a complete one gets its line end, the beginning of one is removed.
fn repair(file: &mut File) -> io::Result<()> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut text)?;
    let complete = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let rest = text.get(complete..).unwrap_or_default();
    if rest.is_empty() {
        Ok(())
    } else if serde_json::from_slice::<serde_json::Value>(rest).is_ok() {
        file.write_all(b"\n")
    } else {
        file.set_len(complete as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correction(number: usize) -> Correction {
        let query = format!("node({number});out;");
        Correction { question: format!("Which {number}?"), wrong: Some("out;".to_owned()), query, lang: "overpassql" }
    }

    #[test]
    fn corrections_are_examples() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corrections.jsonl");
        std::thread::scope(|scope| {
            for number in 0..20 {
                let path = &path;
                scope.spawn(move || remember(path, &correction(number)).unwrap());
            }
        });
        let examples = super::super::read(&path).unwrap();
        assert_eq!(examples.len(), 20);
        assert!(examples.iter().any(|example| example.question == "Which 7?" && example.query == "node(7);out;"));
    }

    #[test]
    fn the_line_of_a_killed_process_loses_no_other_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corrections.jsonl");
        remember(&path, &correction(1)).unwrap();
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"question\": \"Whi")).unwrap();
        remember(&path, &correction(2)).unwrap();
        std::fs::write(&path, std::fs::read_to_string(&path).unwrap().trim_end()).unwrap();
        remember(&path, &correction(3)).unwrap();
        let lines = std::fs::read_to_string(&path).unwrap();
        assert!(lines.starts_with(&whole) && lines.lines().count() == 3, "{lines}");
    }
}
