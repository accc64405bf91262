//! `terrapin benchmark translate`: translates NLmaps to OverpassQL.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use serde_json::json;

use super::super::eval::{unusable, unwritten};
use super::super::{CommandError, stdout};
use crate::eval::error::RunError;
use crate::eval::files::write_text;
use crate::eval::input::published::nlmaps::{self, NlmapsLine};

/// Translate NLmaps to OverpassQL, and count the queries that OverpassQL cannot express
///
/// The file has one query of NLmaps' language per line (nlmaps.train.mrl); the questions are next to it
/// (nlmaps.train.en). Writes a JSON line with id, nl, gold and mrl for each translated query.
/// `docs/guides/published.md` has the rules.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin benchmark translate nlmaps.train.mrl --out train.jsonl
  terrapin benchmark translate nlmaps.train.mrl --out train.jsonl --rest rest.jsonl --json")]
pub struct BenchmarkTranslateArgs {
    /// File of queries, with the ending .mrl
    file: PathBuf,
    /// Output file for the translated pairs, as JSON lines
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Output file for the other queries with their reasons, as JSON lines
    #[arg(long, value_name = "FILE")]
    rest: Option<PathBuf>,
    /// Print the counts as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &BenchmarkTranslateArgs) -> Result<(), CommandError> {
    if !nlmaps::is_nlmaps(&args.file) {
        let message = format!("{}: expected a file of NLmaps with the ending .mrl", args.file.display());
        return Err(CommandError::input("lines-unreadable", message));
    }
    let lines = nlmaps::lines(&args.file).map_err(|error| unusable(RunError::Input(error)))?;
    let (mut translated, mut rest) = (String::new(), String::new());
    let mut reasons: BTreeMap<&'static str, usize> = BTreeMap::new();
    for NlmapsLine { number, question, mrl, query } in &lines {
        let id = number.to_string();
        // Writing to a text does not fail.
        let _ = match query {
            Ok(gold) => writeln!(
                translated,
                "{}",
                json!({"id": id, "nl": question, "gold": gold, "lang": "overpassql", "mrl": mrl})
            ),
            Err(reason) => {
                *reasons.entry(reason.name()).or_default() += 1;
                writeln!(
                    rest,
                    "{}",
                    json!({"id": id, "nl": question, "mrl": mrl, "reason": reason.name(), "why": reason.to_string()})
                )
            }
        };
    }
    write_text(&args.out, &translated).map_err(unwritten)?;
    if let Some(path) = &args.rest {
        write_text(path, &rest).map_err(unwritten)?;
    }
    let left: usize = reasons.values().sum();
    let done = lines.len() - left;
    if args.json {
        return stdout::print_json(&json!({"queries": lines.len(), "translated": done, "reasons": reasons}));
    }
    let share = 100.0 * done as f64 / lines.len().max(1) as f64;
    let mut text = format!("queries     {}\ntranslated  {done} ({share:.1} %)\n", lines.len());
    for (reason, count) in reasons {
        let _ = writeln!(text, "{reason:<11} {count}");
    }
    stdout::print(&text)
}
