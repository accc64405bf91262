//! Descriptions of keys and tags, read from an exported file: data items of the OpenStreetMap wiki as JSON lines, or
//! taginfo's wiki pages as JSON lines or CSV. Only English descriptions are used, because the search stems English
//! words.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// Maximum length in bytes of a line. Data items have at most some hundred kilobytes.
const LONGEST_LINE: u64 = 16 << 20;
/// Maximum number of described keys and tags.
const MOST: usize = 1 << 20;
/// Maximum length in bytes of a stored description; the rest is cut off.
const LONGEST: usize = 1000;
/// The wiki property with the key of a data item.
const KEY: &str = "P16";
/// The wiki property with the tag of a data item, as `key=value`.
const TAG: &str = "P19";

/// Descriptions of keys and tags.
#[derive(Debug, Default)]
pub struct Docs {
    source: Option<DocsSource>,
    keys: FxHashMap<String, String>,
    tags: FxHashMap<(String, String), String>,
}

/// The file that the descriptions were read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocsSource {
    /// The file name without its folder.
    pub name: String,
    /// The SHA-256 digest of the file, in hexadecimal.
    pub sha256: String,
}

/// An error while reading descriptions.
#[derive(Debug, thiserror::Error)]
pub enum DocsError {
    /// The file cannot be read.
    #[error("cannot read {file}: {error}")]
    Io {
        /// The file.
        file: String,
        /// The system's error.
        error: io::Error,
    },
    /// A line is not valid JSON or CSV of the expected form.
    #[error("{file}, line {line}: {message}")]
    Line {
        /// The file.
        file: String,
        /// The line number, from 1.
        line: u64,
        /// The cause.
        message: String,
    },
    /// The file contains no description.
    #[error(
        "{file} describes no key and no tag in English; it has to have data items of the wiki as JSON lines, or rows with key, value, lang and description as JSON lines or CSV"
    )]
    Nothing {
        /// The file.
        file: String,
    },
}

/// A reader that also computes the digest of the bytes.
struct Digesting<R> {
    from: R,
    digest: Sha256,
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(into)?;
        self.digest.update(&into[..n]);
        Ok(n)
    }
}

/// A row of taginfo's export.
#[derive(Deserialize)]
struct TaginfoExportRow {
    key: Option<String>,
    value: Option<String>,
    lang: Option<String>,
    description: Option<String>,
}

impl Docs {
    /// Reads descriptions from a file. JSON or CSV is detected by the first byte.
    ///
    /// # Errors
    /// The file cannot be read, has another format, has too many descriptions, or has none.
    pub fn read(path: &Path) -> Result<Docs, DocsError> {
        let file = path.display().to_string();
        let io = |error| DocsError::Io { file: file.clone(), error };
        let from = Digesting { from: File::open(path).map_err(io)?, digest: Sha256::new() };
        let mut reader = BufReader::with_capacity(1 << 20, from);
        let first = reader.fill_buf().map_err(io)?.iter().find(|byte| !byte.is_ascii_whitespace()).copied();
        let mut docs = Docs::default();
        match first {
            Some(b'{' | b'[') => docs.read_json(&mut reader, &file)?,
            _ => docs.read_csv(&mut reader, &file)?,
        }
        io::copy(&mut reader, &mut io::sink()).map_err(io)?;
        if docs.keys.is_empty() && docs.tags.is_empty() {
            return Err(DocsError::Nothing { file });
        }
        let sha256 = reader.into_inner().digest.finalize().iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        docs.source = Some(DocsSource { name, sha256 });
        Ok(docs)
    }

    fn read_json(&mut self, reader: &mut impl BufRead, file: &str) -> Result<(), DocsError> {
        let mut text = Vec::new();
        for line in 1.. {
            text.clear();
            let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut text);
            if read.map_err(|error| DocsError::Io { file: file.to_owned(), error })? == 0 {
                break;
            }
            // A Wikibase dump is one JSON array with one entity per line.
            let object = text.trim_ascii();
            let object = object.strip_suffix(b",").unwrap_or(object);
            if matches!(object, b"" | b"[" | b"]") {
                continue;
            }
            let wrong = |message: String| DocsError::Line { file: file.to_owned(), line, message };
            let value: Value = serde_json::from_slice(object).map_err(|e| wrong(format!("no JSON object: {e}")))?;
            if value.get("claims").is_some() {
                self.add_item(&value);
            } else {
                let row: TaginfoExportRow = serde_json::from_value(value).map_err(|e| wrong(e.to_string()))?;
                self.add_row(row);
            }
            self.check(file)?;
        }
        Ok(())
    }

    fn read_csv(&mut self, reader: &mut impl BufRead, file: &str) -> Result<(), DocsError> {
        let mut csv = csv::ReaderBuilder::new().flexible(true).from_reader(reader);
        for row in csv.deserialize::<TaginfoExportRow>() {
            let row = row.map_err(|error| DocsError::Line {
                file: file.to_owned(),
                line: error.position().map_or(0, csv::Position::line),
                message: error.to_string(),
            })?;
            self.add_row(row);
            self.check(file)?;
        }
        Ok(())
    }

    fn check(&self, file: &str) -> Result<(), DocsError> {
        if self.keys.len() + self.tags.len() <= MOST {
            return Ok(());
        }
        let error = io::Error::other(format!("it describes more than {MOST} keys and tags"));
        Err(DocsError::Io { file: file.to_owned(), error })
    }

    /// Adds a data item; a claim contains its key or tag.
    fn add_item(&mut self, item: &Value) {
        let claim = |property: &str| item["claims"][property][0]["mainsnak"]["datavalue"]["value"].as_str();
        let Some(description) = item["descriptions"]["en"]["value"].as_str() else { return };
        if let Some((key, value)) = claim(TAG).and_then(|tag| tag.split_once('=')) {
            self.add(key, Some(value), description);
        } else if let Some(key) = claim(KEY) {
            self.add(key, None, description);
        }
    }

    fn add_row(&mut self, row: TaginfoExportRow) {
        if row.lang.as_deref().is_some_and(|lang| !lang.is_empty() && lang != "en") {
            return;
        }
        if let (Some(key), Some(description)) = (row.key.as_deref(), row.description.as_deref()) {
            self.add(key, row.value.as_deref().filter(|value| !value.is_empty()), description);
        }
    }

    /// Adds a description; the first one of each key or tag is kept.
    fn add(&mut self, key: &str, value: Option<&str>, description: &str) {
        let description = description.trim();
        if key.is_empty() || description.is_empty() {
            return;
        }
        let end = (0..=LONGEST.min(description.len())).rev().find(|at| description.is_char_boundary(*at)).unwrap_or(0);
        let description = description[..end].to_owned();
        match value {
            Some(value) => drop(self.tags.entry((key.to_owned(), value.to_owned())).or_insert(description)),
            None => drop(self.keys.entry(key.to_owned()).or_insert(description)),
        }
    }

    /// Returns the source file, or `None` if no descriptions were read.
    pub fn source(&self) -> Option<&DocsSource> {
        self.source.as_ref()
    }

    /// Returns the described keys, in no particular order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.keys.keys().map(String::as_str)
    }

    /// Returns the described values of a key, in no particular order.
    pub fn values<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.tags.keys().filter(move |(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// Returns the description of a key.
    pub fn key(&self, key: &str) -> Option<&str> {
        self.keys.get(key).map(String::as_str)
    }

    /// Returns the description of a tag.
    pub fn tag(&self, key: &str, value: &str) -> Option<&str> {
        if self.tags.is_empty() {
            return None;
        }
        self.tags.get(&(key.to_owned(), value.to_owned())).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Docs, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Docs::read(file.path()).map_err(|error| error.to_string().replace(&file.path().display().to_string(), "F"))
    }

    const ITEMS: &str = r#"[
{"id":"Q1","descriptions":{"en":{"value":"a place to drink coffee"},"de":{"value":"x"}},"claims":{"P19":[{"mainsnak":{"datavalue":{"value":"amenity=cafe"}}}]}},
{"id":"Q2","descriptions":{"en":{"value":"useful facilities"}},"claims":{"P16":[{"mainsnak":{"datavalue":{"value":"amenity"}}}]}},
{"id":"Q3","descriptions":{},"claims":{}}
]
"#;

    #[test]
    fn data_items_and_rows_are_read() {
        let docs = read(ITEMS).unwrap();
        assert_eq!(
            (docs.tag("amenity", "cafe"), docs.key("amenity")),
            (Some("a place to drink coffee"), Some("useful facilities"))
        );
        assert_eq!(docs.source().unwrap().sha256.len(), 64);
        let csv = "lang,key,value,title,description\nde,amenity,,x,Dinge\nen,amenity,cafe,x,\"coffee, cake\"\nen,amenity,,x,things\n";
        let docs = read(csv).unwrap();
        assert_eq!((docs.tag("amenity", "cafe"), docs.key("amenity")), (Some("coffee, cake"), Some("things")));
        let lines = "{\"key\":\"shop\",\"value\":null,\"lang\":\"en\",\"description\":\"sells\"}\n";
        assert_eq!(read(lines).unwrap().key("shop"), Some("sells"));
    }

    #[test]
    fn other_files_are_refused() {
        let wrong = |text: &str| read(text).unwrap_err();
        assert!(wrong("{\"key\":1}").starts_with("F, line 1: invalid type"), "{}", wrong("{\"key\":1}"));
        assert!(wrong("{\"key\":\"a\"}\n{").starts_with("F, line 2: no JSON object"));
        assert!(wrong("a,b\n1,2\n").starts_with("F describes no key and no tag"));
        assert!(wrong("").starts_with("F describes no key and no tag"));
        assert!(wrong("\u{0}\u{1}\n\u{2}").starts_with("F describes no key and no tag"));
    }
}
