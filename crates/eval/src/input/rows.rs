//! Reads rows of named values from JSON lines, a JSON array, CSV, TSV, Parquet, or the rows of Hugging Face's viewer.
//! The format is detected from the first bytes, not from the file name.

use std::path::Path;

use serde_json::{Map, Value};

use super::{InputError, read_lines};

/// A row of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRow {
    /// Its line, or its number in other formats, counted from 1.
    pub number: usize,
    /// Its place in messages: `line 7`, `entry 7`.
    pub place: String,
    /// Its values by name; empty cells are null.
    pub fields: Map<String, Value>,
}

/// The magic number of Parquet.
const PARQUET: &[u8] = b"PAR1";

/// Reads the rows of a file.
///
/// # Errors
/// Returns an error if the file cannot be read, has an unknown format, or a row is invalid.
pub fn read_rows(path: &Path) -> Result<Vec<InputRow>, InputError> {
    let bytes = std::fs::read(path).map_err(|source| InputError::Unreadable { path: path.to_owned(), source })?;
    #[cfg(feature = "parquet")]
    if bytes.starts_with(PARQUET) {
        let row = |(index, fields)| InputRow { number: index + 1, place: format!("row {}", index + 1), fields };
        return Ok(super::parquet::rows(path)?.into_iter().enumerate().map(row).collect());
    }
    if let Some(what) = packed(&bytes) {
        return Err(InputError::unfit(path, "the file", what));
    }
    let lines = read_lines(path)?;
    let first = lines.iter().map(|line| start(line)).find(|line| !line.is_empty()).unwrap_or_default();
    match first.chars().next() {
        None => Ok(Vec::new()),
        Some('{') => match viewed(&lines) {
            Some(rows) => Ok(rows),
            None => json_lines(path, &lines),
        },
        Some('[') => json_array(path, &lines.join("\n")),
        Some(_) => table(path, &bytes, first),
    }
}

/// Strips the byte order mark that some editors write.
fn start(line: &str) -> &str {
    line.trim_start_matches('\u{feff}').trim()
}

/// Returns the remedy for a file that is not text.
fn packed(bytes: &[u8]) -> Option<&'static str> {
    let is = |magic: &[u8]| bytes.starts_with(magic);
    if is(PARQUET) {
        Some(
            "is Parquet, and this build lacks the feature `parquet`: build it with `cargo build --release --features parquet`, or write the file as JSON lines, such as by pandas' to_json(orient=\"records\", lines=True)",
        )
    } else if is(b"\x1f\x8b") || is(b"\x28\xb5\x2f\xfd") || is(b"BZh") {
        Some("is packed: unpack it first")
    } else {
        None
    }
}

fn json_lines(path: &Path, lines: &[String]) -> Result<Vec<InputRow>, InputError> {
    let filled = lines.iter().enumerate().filter(|(_, line)| !start(line).is_empty());
    let row = |(index, line): (usize, &String)| {
        let (number, place) = (index + 1, format!("line {}", index + 1));
        match serde_json::from_str(start(line)) {
            Ok(fields) => Ok(InputRow { number, place, fields }),
            Err(error) => Err(InputError::unfit(path, &place, error)),
        }
    };
    filled.map(row).collect()
}

/// Returns the rows of a page of Hugging Face's dataset viewer; `None` for other lines.
fn viewed(lines: &[String]) -> Option<Vec<InputRow>> {
    #[derive(serde::Deserialize)]
    struct ViewerPage {
        rows: Vec<Viewed>,
    }
    #[derive(serde::Deserialize)]
    struct Viewed {
        row_idx: usize,
        row: Map<String, Value>,
    }
    // The page is one object; most of its lines are not objects.
    let first = lines.iter().map(|line| start(line)).find(|line| !line.is_empty())?;
    if !first.contains("\"rows\"") && serde_json::from_str::<Value>(first).is_ok() {
        return None;
    }
    let page: ViewerPage = serde_json::from_str(start(&lines.join("\n"))).ok()?;
    let row = |Viewed { row_idx, row }| {
        let number = row_idx + 1;
        InputRow { number, place: format!("row {number}"), fields: row }
    };
    Some(page.rows.into_iter().map(row).collect())
}

fn json_array(path: &Path, text: &str) -> Result<Vec<InputRow>, InputError> {
    let entries: Vec<Value> =
        serde_json::from_str(start(text)).map_err(|error| InputError::unfit(path, "the array", error))?;
    let row = |(index, entry): (usize, Value)| {
        let (number, place) = (index + 1, format!("entry {}", index + 1));
        match entry {
            Value::Object(fields) => Ok(InputRow { number, place, fields }),
            other => Err(InputError::unfit(path, &place, format!("expected an object, found {}", kind(&other)))),
        }
    };
    entries.into_iter().enumerate().map(row).collect()
}

/// Reads a table with a header line, separated by tabs if the header has one, else by commas.
fn table(path: &Path, bytes: &[u8], header: &str) -> Result<Vec<InputRow>, InputError> {
    let delimiter = if header.contains('\t') { b'\t' } else { b',' };
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(bytes);
    let line = |at: &csv::Position| line_of(bytes, at.byte());
    let unfit = |error: csv::Error| {
        let place = error.position().map_or_else(|| "the table".to_owned(), |at| format!("line {}", line(at)));
        InputError::unfit(path, &place, error)
    };
    let names = reader.headers().map_err(unfit)?.clone();
    let mut rows = Vec::new();
    for (index, record) in reader.into_records().enumerate() {
        let record = record.map_err(unfit)?;
        let value = |text: &str| if text.is_empty() { Value::Null } else { Value::String(text.to_owned()) };
        let fields = names.iter().zip(&record).map(|(name, text)| (name.trim().to_owned(), value(text)));
        let line = record.position().map_or(index + 2, line);
        rows.push(InputRow { number: index + 1, place: format!("line {line}"), fields: fields.collect() });
    }
    Ok(rows)
}

/// Returns the line of a position in a table. The CSV reader's position is before the line end if that has two
/// characters.
fn line_of(bytes: &[u8], at: u64) -> usize {
    let at = usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
    let (before, rest) = bytes.split_at(at);
    let ends = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    1 + before.iter().chain(ends).filter(|byte| **byte == b'\n').count()
}

/// Returns the type of a value for people.
pub(crate) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl InputRow {
    /// Returns the names of its fields for people.
    pub fn names(&self) -> String {
        self.fields.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }

    /// Takes the value of the one existing field among these names.
    ///
    /// # Errors
    /// Returns an error if several of the fields exist.
    pub fn take(&mut self, names: &[&str]) -> Result<Option<Value>, String> {
        let mut there = names.iter().filter(|name| self.fields.contains_key(**name));
        match (there.next(), there.next()) {
            (Some(one), Some(other)) => Err(format!("has both `{one}` and `{other}`: leave one out")),
            (Some(name), None) => Ok(self.fields.remove(*name)),
            (None, _) => Ok(None),
        }
    }

    /// Takes a text like [`InputRow::take`]. An array of one text is that text; null counts as missing.
    ///
    /// # Errors
    /// Returns an error if several of the fields exist, or the value is not a text.
    pub fn take_text(&mut self, names: &[&str]) -> Result<Option<String>, String> {
        let name = names.first().copied().unwrap_or_default();
        match self.take(names)? {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Array(mut texts)) if texts.len() < 2 => match texts.pop() {
                None | Some(Value::Null) => Ok(None),
                Some(Value::String(text)) => Ok(Some(text)),
                Some(other) => Err(format!("`{name}`: expected a text in the array, found {}", kind(&other))),
            },
            Some(Value::Array(texts)) => {
                Err(format!("`{name}` has {} texts: give one, or a line for each", texts.len()))
            }
            Some(other) => Err(format!("`{name}`: expected a text, found {}", kind(&other))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: impl AsRef<[u8]>) -> Result<Vec<InputRow>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        std::fs::write(&path, text).unwrap();
        read_rows(&path).map_err(|e| e.to_string())
    }

    #[test]
    fn one_table_in_four_forms() {
        let lines = read("\u{feff}{\"a\": \"x\\ny\", \"b\": null}\n\n{\"a\": \"z\", \"b\": \"1\"}\n").unwrap();
        let array = read("[\n{\"a\": \"x\\ny\", \"b\": null},\n{\"a\": \"z\", \"b\": \"1\"}]").unwrap();
        let csv = read("\u{feff}a,b\r\n\"x\ny\",\r\nz,1\r\n").unwrap();
        let tsv = read("a\tb\n\"x\ny\"\t\nz\t1\n").unwrap();
        let fields = |rows: &[InputRow]| rows.iter().map(|row| row.fields.clone()).collect::<Vec<_>>();
        for other in [&array, &csv, &tsv] {
            assert_eq!(fields(other), fields(&lines));
        }
        let places = |rows: &[InputRow]| rows.iter().map(|row| (row.number, row.place.clone())).collect::<Vec<_>>();
        assert_eq!(places(&lines), [(1, "line 1".to_owned()), (3, "line 3".to_owned())]);
        assert_eq!(places(&array)[1], (2, "entry 2".to_owned()));
        assert_eq!(places(&csv)[1], (2, "line 4".to_owned()));
        assert!(read("").unwrap().is_empty());
        let page =
            read("{\"features\": [],\n\"rows\": [{\"row_idx\": 4, \"row\": {\"a\": \"x\"}, \"truncated_cells\": []}]}");
        assert_eq!((page.as_ref().unwrap()[0].number, page.unwrap()[0].fields["a"].as_str()), (5, Some("x")));
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, says) in [
            (&b"{\"a\": 1}\n{\"a\": }\n"[..], "rows: line 2: expected value"),
            (b"[{\"a\": 1}, 7]", "rows: entry 2: expected an object, found a number"),
            (b"[{\"a\": 1}", "rows: the array: EOF"),
            (b"a,b\n1,2\n1\n", "rows: line 3: CSV error"),
            (b"PAR1\x00\x00", "Parquet"),
            (b"\x1f\x8b\x08\x00", "is packed"),
            (b"{\"a\": 1}\n\xff\n", "not UTF-8"),
        ] {
            assert!(read(text).is_err_and(|e| e.contains(says)), "{says}: {:?}", read(text));
        }
    }

    #[test]
    fn texts_come_alone_or_in_an_array() {
        let take = |text: &str| read(text).unwrap()[0].take_text(&["gold", "reference"]);
        assert_eq!(take("{\"reference\": [\"x\"]}"), Ok(Some("x".to_owned())));
        assert_eq!(take("{\"gold\": null}"), Ok(None));
        assert_eq!(take("{\"gold\": []}"), Ok(None));
        assert!(take("{\"gold\": [\"x\", \"y\"]}").is_err_and(|e| e.contains("has 2 texts")));
        assert!(take("{\"gold\": 7}").is_err_and(|e| e.contains("found a number")));
        assert!(take("{\"gold\": \"\", \"reference\": \"\"}").is_err_and(|e| e.contains("has both")));
    }
}
