//! Writes a benchmark as a folder to publish: data, pin, card, Croissant, licences, citation. The same input gives
//! the same bytes.
//!
//! | file | contents |
//! |---|---|
//! | `data/SPLIT.jsonl` | the pairs, with results, the digest of the answer and difficulty |
//! | `README.md` | the dataset card, with the fields that Hugging Face reads |
//! | `pin.toml` | the snapshot of the benchmark, in the form that `terrapin verify --pin` reads |
//! | `manifest.json` | the manifest of the snapshot |
//! | `checks.json` | the findings of the dataset check |
//! | `croissant.json` | the data described in JSON-LD |
//! | `.zenodo.json` | the metadata that Zenodo reads |
//! | `CITATION.cff`, `LICENSES.md` | the citation and the licences |
//! | `SHA256SUMS` | the digests of all other files |

mod card;
mod croissant;
mod zenodo;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::check::{BenchmarkCheck, CheckedPair};
use super::description::Description;
use crate::about::engine;
use crate::files::{WriteError, write_text};
use card::{card, citation, licences, quoted};
use croissant::croissant;
use terrapin_snapshot::{Manifest, facts, hex};
use zenodo::zenodo;

/// The inputs of a packed benchmark.
pub struct Pack<'a> {
    /// The authors' description.
    pub description: &'a Description,
    /// The result of the check.
    pub checked: &'a BenchmarkCheck,
    /// The snapshot's digest.
    pub digest: &'a str,
    /// The length of its file in bytes.
    pub bytes: u64,
    /// Its manifest.
    pub manifest: &'a Manifest,
}

/// A line of the data.
#[derive(Serialize)]
struct BenchmarkRow<'a> {
    id: String,
    question: &'a str,
    gold: &'a str,
    lang: &'a str,
    bbox: Option<&'a str>,
    /// A JSON text, because names cannot be columns.
    places: Option<String>,
    results: Option<u64>,
    answer: Option<&'a str>,
    difficulty: &'a BTreeMap<&'static str, f64>,
}

/// A file of the folder.
struct PackedFile {
    name: String,
    text: String,
}

impl PackedFile {
    /// Returns the SHA-256 of its bytes in hexadecimal.
    fn sha256(&self) -> String {
        hex(&Sha256::digest(self.text.as_bytes()))
    }
}

impl Pack<'_> {
    /// Writes the folder, each file atomically, and returns the file names.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<String>, WriteError> {
        let mut files = self.files();
        let sums = files.iter().fold(String::new(), |mut text, file| {
            let _ = writeln!(text, "{}  {}", file.sha256(), file.name);
            text
        });
        files.push(PackedFile { name: "SHA256SUMS".to_owned(), text: sums });
        for file in &files {
            write_text(&folder.join(&file.name), &file.text)?;
        }
        Ok(files.into_iter().map(|file| file.name).collect())
    }

    /// Counts the pairs of each split.
    fn splits(&self) -> BTreeMap<&str, usize> {
        let mut splits = BTreeMap::new();
        for pair in &self.checked.pairs {
            *splits.entry(pair.pair.split.as_str()).or_default() += 1;
        }
        splits
    }

    /// Returns all files except the list of their digests, by name.
    fn files(&self) -> Vec<PackedFile> {
        let mut files: Vec<PackedFile> = self.splits().keys().map(|split| self.data(split)).collect();
        let described = croissant(self, &files);
        let add = |files: &mut Vec<PackedFile>, name: &str, text: String| {
            files.push(PackedFile { name: name.to_owned(), text })
        };
        add(&mut files, ".zenodo.json", pretty(&zenodo(self)));
        add(&mut files, "CITATION.cff", citation(self));
        add(&mut files, "LICENSES.md", licences(self));
        add(&mut files, "README.md", card(self));
        add(&mut files, "checks.json", pretty(&self.checks()));
        add(&mut files, "croissant.json", pretty(&described));
        add(&mut files, "manifest.json", pretty(&facts::to_json(self.digest, self.bytes, self.manifest)));
        add(&mut files, "pin.toml", self.pin());
        files.sort_by(|a, b| a.name.cmp(&b.name));
        files
    }

    fn data(&self, split: &str) -> PackedFile {
        let mut text = String::new();
        for checked in self.checked.pairs.iter().filter(|checked| checked.pair.split == split) {
            // Writing numbers and texts cannot fail.
            text.push_str(&serde_json::to_string(&row(checked)).unwrap_or_default());
            text.push('\n');
        }
        PackedFile { name: format!("data/{split}.jsonl"), text }
    }

    fn checks(&self) -> Value {
        let kinds: BTreeMap<&str, usize> =
            self.checked.kinds().into_iter().map(|(kind, count)| (kind.name(), count)).collect();
        json!({
            "snapshot": self.digest,
            "engine": engine(),
            "splits": self.splits(),
            "kinds": kinds,
            "findings": self.checked.findings,
        })
    }

    fn pin(&self) -> String {
        let Pack { description, digest, manifest, .. } = self;
        let mut text = format!(
            "name = {}\ndescription = {}\ndigest = \"{digest}\"\nformat_version = {}\n",
            quoted(&description.name),
            quoted(&format!(
                "The snapshot that the gold queries of {} {} run on.",
                description.title, description.version
            )),
            manifest.format_version,
        );
        if let Some(content) = &manifest.content {
            let _ = writeln!(text, "content = \"{}\"", hex(content));
        }
        for source in &manifest.sources {
            let _ = write!(
                text,
                "\n[[source]]\nname = {}\nsha256 = \"{}\"\nbytes = {}\nlicence = {}\n",
                quoted(&source.name),
                source.sha256,
                source.bytes,
                quoted(&source.licence),
            );
        }
        text
    }
}

fn row(checked: &CheckedPair) -> BenchmarkRow<'_> {
    let pair = &checked.pair;
    BenchmarkRow {
        id: pair.id.clone().unwrap_or_else(|| format!("{}-{}", pair.split, pair.line)),
        question: &pair.question,
        gold: &pair.query,
        lang: pair.lang.as_deref().unwrap_or("overpassql"),
        bbox: pair.bbox.as_deref(),
        places: pair.places.as_ref().map(Value::to_string),
        results: checked.results,
        answer: checked.answer.as_deref(),
        difficulty: &checked.difficulty,
    }
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}
