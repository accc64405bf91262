//! `terrapin label` and `terrapin unlabel`: queries with labels for identifiers, and back.

use std::path::PathBuf;

use serde::Serialize;

use super::query::text_of;
use super::{Error, open, stdout};
use crate::rdf::Store;
use crate::sparql::labelled::{Name, Names, Unlabelled, label, unlabel};

/// Write labels for the identifiers of a SPARQL query
///
/// `wdt:P31 wd:Q11424` becomes `wdt:[property:instance of] wd:[entity:film]`, by the labels that the snapshot has. An
/// identifier without one stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin label wikidata.terrapin 'SELECT * { ?film wdt:P31 wd:Q11424 }'
  terrapin label wikidata.terrapin -f films.rq > labelled.rq")]
pub struct LabelArgs {
    #[command(flatten)]
    asked: QueryArgs,
}

/// Write identifiers for the labels of a SPARQL query
///
/// Each `[entity:...]`, `[property:...]` and `[lexeme:...]` behind a prefix is looked up among the snapshot's labels,
/// then among its other names, then by search: whatever its case, by how it begins, by its words. Of several the one
/// that is used most often with the property beside it is taken; the others are named on standard error. Exits with 1 if a name leads nowhere.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin unlabel wikidata.terrapin 'SELECT * { ?film wdt:[property:instance of] wd:[entity:film] }'
  terrapin unlabel wikidata.terrapin -f labelled.rq --json | jq '.names[] | {name, candidates}'")]
pub struct UnlabelArgs {
    #[command(flatten)]
    asked: QueryArgs,
}

#[derive(Debug, clap::Args)]
struct QueryArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// The query; `-` reads it from standard input
    #[arg(conflicts_with = "file", required_unless_present = "file")]
    query: Option<String>,
    /// Read the query from a file
    #[arg(short, long)]
    file: Option<PathBuf>,
    /// The language of labels
    #[arg(long, value_name = "TAG", default_value = "en")]
    language: String,
    /// Print the query and what was found as JSON
    #[arg(long)]
    json: bool,
}

impl QueryArgs {
    fn open(&self) -> Result<(String, Store), Error> {
        let (text, _) = text_of(self.query.as_deref(), self.file.as_deref())?;
        let opened = open::snapshot(&self.snapshot)?;
        let store = Store::open(&opened.snapshot).map_err(open::error)?;
        let none = || Error::input("no-triples", format!("{} has no triples", self.snapshot.display()));
        Ok((text, store.ok_or_else(none)?))
    }

    fn print(&self, text: &str, facts: impl Serialize) -> Result<(), Error> {
        if self.json {
            return stdout::print_json(&facts);
        }
        let end = if text.ends_with('\n') { "" } else { "\n" };
        stdout::print(&format!("{text}{end}"))
    }
}

#[derive(Serialize)]
struct LabelFacts<'a> {
    query: &'a str,
    replaced: usize,
    kept: &'a [String],
}

#[derive(Serialize)]
struct UnlabelFacts<'a> {
    query: &'a str,
    names: &'a [Name],
}

/// Runs `terrapin label`.
pub fn run_label(args: &LabelArgs) -> Result<(), Error> {
    let (text, store) = args.asked.open()?;
    let labelled = label(&text, &store, &args.asked.language);
    store.check().map_err(open::error)?;
    if !args.asked.json && !labelled.kept.is_empty() {
        stdout::tell(&format!("note: without a label: {}", labelled.kept.join(", ")));
    }
    let facts = LabelFacts { query: &labelled.text, replaced: labelled.replaced, kept: &labelled.kept };
    args.asked.print(&labelled.text, facts)
}

/// Runs `terrapin unlabel`.
pub fn run_unlabel(args: &UnlabelArgs) -> Result<(), Error> {
    let (text, store) = args.asked.open()?;
    let unlabelled = unlabel(&text, &Names { store: &store, language: &args.asked.language });
    store.check().map_err(open::error)?;
    if !args.asked.json {
        ambiguities(&unlabelled).iter().for_each(|note| stdout::tell(&format!("note: {note}")));
    }
    args.asked.print(&unlabelled.text, UnlabelFacts { query: &unlabelled.text, names: &unlabelled.names })?;
    match unlabelled.lost() {
        None => Ok(()),
        Some(name) => {
            let message = format!("no {} is called {:?} in this snapshot", name.kind.name(), name.name);
            Err(Error::refused("no-such-name", message))
        }
    }
}

/// What may be meant otherwise, a line each.
fn ambiguities(unlabelled: &Unlabelled) -> Vec<String> {
    let mut ambiguities: Vec<String> = Vec::new();
    for name in unlabelled.names.iter().filter(|name| name.is_ambiguous()) {
        let shown: Vec<String> = name
            .candidates
            .iter()
            .map(|c| format!("{} ({}, used {} times)", c.id, c.label.as_deref().unwrap_or("no label"), c.uses))
            .collect();
        let note = format!("{:?} was taken for the first of {}", name.name, shown.join(", "));
        if !ambiguities.contains(&note) {
            ambiguities.push(note);
        }
    }
    ambiguities
}
