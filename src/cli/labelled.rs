//! `terrapin label` and `terrapin unlabel`: convert identifiers in queries to labels and back.

use std::path::PathBuf;

use serde::Serialize;

use super::query::text_of;
use super::{CommandError, open, stdout};
use crate::engine::Engine;
use crate::rdf::Store;
use crate::sparql::labelled::{BracketedName, SnapshotNames, Unlabelled, label, unlabel};

/// Replace the identifiers of a SPARQL query by labels
///
/// `wdt:P31 wd:Q11424` becomes `wdt:[property:instance of] wd:[entity:film]`, with the labels of the snapshot.
/// Identifiers without a label stay.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin label wikidata.terrapin 'SELECT * { ?film wdt:P31 wd:Q11424 }'
  terrapin label wikidata.terrapin -f films.rq > labelled.rq")]
pub struct LabelArgs {
    #[command(flatten)]
    asked: QueryArgs,
}

/// Replace the labels of a SPARQL query by identifiers
///
/// Each `[entity:...]`, `[property:...]` and `[lexeme:...]` after a prefix is searched first among the snapshot's
/// labels, then among aliases, then by full-text search, which ignores case and matches prefixes and words. Among
/// several candidates, the one used most often with the adjacent property is chosen; the others are printed to
/// standard error. The exit status is 1 if a name is not found.
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
    /// Language of the labels
    #[arg(long, value_name = "TAG", default_value = "en")]
    language: String,
    /// Print the query and the names found as JSON
    #[arg(long)]
    json: bool,
}

impl QueryArgs {
    fn open(&self) -> Result<(String, Engine), CommandError> {
        let (text, _) = text_of(self.query.as_deref(), self.file.as_deref())?;
        Ok((text, open::engine(&self.snapshot)?))
    }

    fn store<'a>(&self, engine: &'a Engine) -> Result<&'a Store, CommandError> {
        let none = || CommandError::input("no-triples", format!("{} has no triples", self.snapshot.display()));
        engine.triples().map(|triples| &*triples.store).ok_or_else(none)
    }

    fn print(&self, text: &str, facts: impl Serialize) -> Result<(), CommandError> {
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
    names: &'a [BracketedName],
}

/// Runs `terrapin label`.
pub fn run_label(args: &LabelArgs) -> Result<(), CommandError> {
    let (text, engine) = args.asked.open()?;
    let store = args.asked.store(&engine)?;
    let labelled = engine.checked(|| label(&text, store, &args.asked.language)).map_err(open::error)?;
    if !args.asked.json && !labelled.kept.is_empty() {
        stdout::tell(&format!("note: without a label: {}", labelled.kept.join(", ")));
    }
    let facts = LabelFacts { query: &labelled.text, replaced: labelled.replaced, kept: &labelled.kept };
    args.asked.print(&labelled.text, facts)
}

/// Runs `terrapin unlabel`.
pub fn run_unlabel(args: &UnlabelArgs) -> Result<(), CommandError> {
    let (text, engine) = args.asked.open()?;
    let store = args.asked.store(&engine)?;
    let names = SnapshotNames { store, language: &args.asked.language };
    let unlabelled = engine.checked(|| unlabel(&text, &names)).map_err(open::error)?;
    if !args.asked.json {
        ambiguities(&unlabelled).iter().for_each(|note| stdout::tell(&format!("note: {note}")));
    }
    args.asked.print(&unlabelled.text, UnlabelFacts { query: &unlabelled.text, names: &unlabelled.names })?;
    match unlabelled.lost() {
        None => Ok(()),
        Some(name) => {
            let message = format!("no {} has the name {:?} in this snapshot", name.kind.name(), name.name);
            Err(CommandError::refused("no-such-name", message))
        }
    }
}

/// Prints the other candidates, one line each.
fn ambiguities(unlabelled: &Unlabelled) -> Vec<String> {
    let mut ambiguities: Vec<String> = Vec::new();
    for name in unlabelled.names.iter().filter(|name| name.is_ambiguous()) {
        let shown: Vec<String> = name
            .candidates
            .iter()
            .map(|c| format!("{} ({}, used {} times)", c.id, c.label.as_deref().unwrap_or("no label"), c.uses))
            .collect();
        let note = format!("{:?} is ambiguous, used the first of {}", name.name, shown.join(", "));
        if !ambiguities.contains(&note) {
            ambiguities.push(note);
        }
    }
    ambiguities
}
