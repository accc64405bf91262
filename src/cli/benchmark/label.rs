//! `terrapin benchmark label`: writes the gold queries with labels in place of identifiers.

use std::path::PathBuf;

use serde_json::Value;

use super::super::eval::{field_map, unwritten};
use super::super::{CommandError, open, stdout};
use super::pairs::{needs_triples, pairs_of, row};
use crate::engine::{Engine, EngineOptions};
use crate::eval::dataset::GoldPair;
use crate::eval::files::write_text;
use crate::eval::labels::{LabelledQuery, labelled};

/// Write gold queries with labels: the form that a person or a model reads to write questions
///
/// In SPARQL, `wdt:P31 wd:Q11424` becomes `wdt:[property:instance of] wd:[entity:film]`, as in Instruct-to-SPARQL. In
/// OverpassQL, `area(3600365307)` becomes `area([area:Malta])`; `labels` lists names, and with --tag-docs the
/// descriptions of the tags.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Writes the pairs with the fields `labelled`, `labels` and `without_label`, one JSON object a line.

Examples:
  terrapin benchmark label queries.jsonl --db wikidata.terrapin --out labelled.jsonl
  terrapin benchmark label dev.jsonl --db malta.terrapin --tag-docs taginfo-wiki.csv --out labelled.jsonl"
)]
pub struct BenchmarkLabelArgs {
    /// Files or folders of questions and gold queries
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    labels: LabelOptions,
    /// Names of fields in the file, such as gold=sparql,nl=text
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',')]
    map: Vec<String>,
    /// The file to write; it is replaced [default: standard output]
    #[arg(long, value_name = "FILE.jsonl")]
    out: Option<PathBuf>,
}

/// The source of labels.
#[derive(Debug, clap::Args)]
pub struct LabelOptions {
    /// Snapshot file with the labels
    #[arg(long, value_name = "SNAPSHOT")]
    db: PathBuf,
    /// Language of the labels
    #[arg(long, value_name = "TAG", default_value = "en")]
    language: String,
    /// Descriptions of keys and tags: data items of OpenStreetMap's wiki as JSON lines, or taginfo's pages of it as JSON
    /// lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
}

impl LabelOptions {
    /// Opens the snapshot with the descriptions. Returns an error if a query is SPARQL and the snapshot has no triples.
    pub fn open(&self, pairs: &[GoldPair]) -> Result<Engine, CommandError> {
        let docs = open::tag_docs(self.tag_docs.as_deref())?;
        let engine = open::engine_with(&self.db, EngineOptions { docs, ..EngineOptions::default() })?;
        needs_triples(&engine, &self.db, pairs)?;
        Ok(engine)
    }

    /// Labels a query.
    pub fn label(&self, engine: &Engine, pair: &GoldPair) -> Result<LabelledQuery, CommandError> {
        engine.checked(|| labelled(engine, pair, &self.language)).map_err(open::error)
    }
}

/// Runs the command.
pub fn run(args: &BenchmarkLabelArgs) -> Result<(), CommandError> {
    let pairs = pairs_of(&args.files, &field_map(&args.map)?)?;
    let engine = args.labels.open(&pairs)?;
    let (mut lines, mut without) = (String::new(), 0);
    for pair in &pairs {
        let found = args.labels.label(&engine, pair)?;
        without += found.without_label.len();
        let mut row = row(pair);
        if let Ok(Value::Object(fields)) = serde_json::to_value(&found) {
            row.extend(fields);
        }
        lines.push_str(&format!("{}\n", Value::Object(row)));
    }
    stdout::tell(&format!("{} queries, {without} identifiers without a label", pairs.len()));
    match &args.out {
        Some(path) => write_text(path, &lines).map_err(unwritten),
        None => stdout::print(&lines),
    }
}
