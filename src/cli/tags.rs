//! `terrapin tags`: finds the tags for a question in words.

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::json;

use super::{CommandError, open, stdout};
use crate::base::untrusted::line;
use crate::engine::EngineOptions;
use crate::size;
use crate::tags::{Docs, TagMatches};

/// Find the tags for a question in plain English
///
/// Lists the tags whose keys, values or descriptions contain the question's words, best first. Rare words weigh more,
/// and so do tags matched completely, frequent tags, and tags that occur together with the best one. The same
/// question over the same snapshot has the same answer.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin tags malta.terrapin 'fast food that is vegan'
  terrapin tags malta.terrapin 'gas stations in Valletta' --json | jq .tags[0]")]
pub struct TagsArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// Question
    text: String,
    /// Descriptions of keys and tags, which are searched as well: data items of the OpenStreetMap wiki as JSON lines,
    /// or taginfo's wiki pages (key, value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    /// Maximum number of tags and of keys to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: u16,
    /// Print everything as one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &TagsArgs) -> Result<(), CommandError> {
    let docs = open::tag_docs(args.tag_docs.as_deref())?;
    let engine = open::engine_with(&args.snapshot, EngineOptions { docs, ..EngineOptions::default() })?;
    let tags = engine.tags();
    let found = engine.checked(|| tags.search(&args.text, args.limit.into())).map_err(open::error)?;
    if args.json {
        stdout::print_json(&to_json(&found, tags.docs()))
    } else {
        stdout::print(&for_people(&found, tags.docs()))
    }
}

fn to_json(found: &TagMatches, docs: &Docs) -> serde_json::Value {
    let tags = found.tags.iter().map(|found| {
        let [nodes, ways, relations] = found.tag.counts.0;
        json!({
            "key": found.tag.key,
            "value": found.tag.value,
            "description": docs.tag(&found.tag.key, &found.tag.value),
            "count": found.tag.counts.all(),
            "nodes": nodes,
            "ways": ways,
            "relations": relations,
            "score": found.score,
            "together": found.together,
        })
    });
    let keys = found.keys.iter().map(|key| {
        let description = docs.key(&key.key);
        json!({"key": key.key, "description": description, "count": key.counts.all(), "values": key.values})
    });
    let source = docs.source().map(|source| json!({"name": source.name, "sha256": source.sha256}));
    json!({ "tags": tags.collect::<Vec<_>>(), "keys": keys.collect::<Vec<_>>(), "descriptions": source })
}

fn for_people(found: &TagMatches, docs: &Docs) -> String {
    let mut out = String::new();
    for found in &found.tags {
        let together = found.together.filter(|&n| n > 0);
        let together = together.map_or_else(String::new, |n| format!("  {} with the first", size::count(n)));
        let count = size::count(found.tag.counts.all());
        let (key, value) = (&found.tag.key, &found.tag.value);
        let meaning = docs.tag(key, value).map_or_else(String::new, |text| format!("  {}", line(text)));
        let (key, value) = (line(key), line(value));
        let _ = writeln!(out, "{count:>12}  {key}={value}{together}{meaning}");
    }
    for key in &found.keys {
        let (count, values) = (size::count(key.counts.all()), size::count(key.values));
        let _ = writeln!(out, "{count:>12}  {}=*  {values} values", line(&key.key));
    }
    if out.is_empty() {
        out.push_str("no tag matches any of these words\n");
    }
    out
}
