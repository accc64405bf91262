//! `terrapin tags`: which tags a question in words is about.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use super::{Error, open, stdout};
use crate::base::untrusted::line;
use crate::size;
use crate::tags::{Docs, Found, Tags};

/// Find the tags that a question in words is about
///
/// The tags whose keys and values have the question's words in them, the best first: rare words count for more, and so do
/// tags that are asked for as a whole, frequent ones, and those found together with the best one. English; the same
/// question has the same answer over the same snapshot.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin tags malta.terrapin 'fast food that is vegan'
  terrapin tags malta.terrapin 'gas stations in Valletta' --json | jq .tags[0]")]
pub struct Args {
    /// The snapshot file
    snapshot: PathBuf,
    /// The question
    text: String,
    /// What keys and tags mean, to be searched, too: data items of OpenStreetMap's wiki as JSON lines, or taginfo's pages of it
    /// (key, value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    /// Most tags that are told, and most keys
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: u16,
    /// As one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let (_opened, osm) = open::elements(&args.snapshot)?;
    let tags = Tags::new(Arc::clone(&osm), open::tag_docs(args.tag_docs.as_deref())?);
    let found = tags.search(&args.text, args.limit.into());
    osm.check().map_err(open::error)?;
    if args.json {
        stdout::print_json(&to_json(&found, tags.docs()))
    } else {
        stdout::print(&for_people(&found, tags.docs()))
    }
}

fn to_json(found: &Found, docs: &Docs) -> serde_json::Value {
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

fn for_people(found: &Found, docs: &Docs) -> String {
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
        out.push_str("no tag has any of these words\n");
    }
    out
}
