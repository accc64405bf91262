//! Reads benchmark files: one instance per line, rows with names, predictions as a system wrote them, or other authors'
//! files as they are published.

pub mod extract;
#[cfg(feature = "parquet")]
mod parquet;
pub mod published;
pub mod rows;

use std::path::{Path, PathBuf};

/// An error of a run's input files.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A file is not text.
    #[error("{}: line {line}: not UTF-8 (byte {byte} of the line)", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The first invalid line, counted from 1.
        line: usize,
        /// The first invalid byte in it, counted from 1.
        byte: usize,
    },
    /// Two parallel files have different numbers of lines.
    #[error(
        "{}: {} lines, but {} has {}: line {} of the longer has no counterpart",
        other.display(), other_lines, first.display(), first_lines, other_lines.min(first_lines) + 1
    )]
    LineCount {
        /// The file that sets the number of instances.
        first: PathBuf,
        /// Its number of lines.
        first_lines: usize,
        /// The other file.
        other: PathBuf,
        /// Its number of lines.
        other_lines: usize,
    },
    /// A part of a file is invalid.
    #[error("{}: {place}: {message}", path.display())]
    Unfit {
        /// The file.
        path: PathBuf,
        /// The part, such as `line 7`.
        place: String,
        /// The reason.
        message: String,
    },
    /// The predictions are in a form that was not given.
    #[error(
        "{}: the predictions are {found}, which score nothing as they stand: read them by --extract {option} or take \
         every line as it is by --extract lines",
        path.display()
    )]
    OtherForm {
        /// The file.
        path: PathBuf,
        /// The form, for people.
        found: &'static str,
        /// The value of the option for this form.
        option: String,
    },
}

impl InputError {
    /// Returns the error of an invalid part of a file.
    pub fn unfit(path: &Path, place: &str, message: impl std::fmt::Display) -> InputError {
        InputError::Unfit { path: path.to_owned(), place: place.to_owned(), message: message.to_string() }
    }
}

/// Reads the lines of a UTF-8 file without their ends: `\n`, `\r\n` or `\r`, as in Python's text files. The last line
/// may lack its end.
pub fn read_lines(path: &Path) -> Result<Vec<String>, InputError> {
    let bytes = std::fs::read(path).map_err(|source| InputError::Unreadable { path: path.to_owned(), source })?;
    split_lines(&bytes).map_err(|(line, byte)| InputError::NotUtf8 { path: path.to_owned(), line, byte })
}

/// Returns an error unless both files have the same number of lines.
pub fn same_length(first: (&Path, usize), other: (&Path, usize)) -> Result<(), InputError> {
    if first.1 == other.1 {
        return Ok(());
    }
    Err(InputError::LineCount {
        first: first.0.to_owned(),
        first_lines: first.1,
        other: other.0.to_owned(),
        other_lines: other.1,
    })
}

/// Splits bytes into lines. The error is the line and the byte in it, both counted from 1.
fn split_lines(bytes: &[u8]) -> Result<Vec<String>, (usize, usize)> {
    let mut lines = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let end = rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
        let (line, tail) = rest.split_at(end);
        let text = std::str::from_utf8(line).map_err(|e| (lines.len() + 1, e.valid_up_to() + 1))?;
        lines.push(text.to_owned());
        rest = tail.strip_prefix(b"\r\n").or_else(|| tail.get(1..)).unwrap_or_default();
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_in_python() {
        assert_eq!(split_lines(b"a\r\nb\rc\n\nd").unwrap(), ["a", "b", "c", "", "d"]);
        assert_eq!(split_lines(b"a\n").unwrap(), ["a"]);
        assert!(split_lines(b"").unwrap().is_empty());
    }

    #[test]
    fn broken_text_is_named_by_line_and_byte() {
        assert_eq!(split_lines(b"ok\nno\xff\n"), Err((2, 3)));
    }

    #[test]
    fn a_missing_line_is_named() {
        let error = same_length((Path::new("gold"), 3), (Path::new("pred"), 2)).unwrap_err().to_string();
        assert!(error.contains("pred: 2 lines, but gold has 3: line 3"), "{error}");
    }
}
