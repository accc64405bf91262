//! `terrapin benchmark drift`: which gold answers change from one snapshot to another.

use std::path::PathBuf;

use super::super::{Error, stdout};
use super::{Data, EngineArgs, bar, pairs, pool};
use crate::eval::dataset;

/// Say which gold answers change from one snapshot to another, and how
///
/// Every gold query is run on both. Of each pair whose answer differs it tells how many results there were and are, how many
/// elements are missing, how many were added, and how many changed: other tags, coordinates, nodes, members or geometry, as
/// far as the query prints them. Versions, times, changesets and users do not count. Of SPARQL, rows are missing or added.
#[derive(Debug, clap::Args)]
#[command(after_help = "The files are those of `terrapin benchmark check`.

Examples:
  terrapin benchmark drift malta-2016.terrapin malta-2024.terrapin dev.jsonl
  terrapin benchmark drift old.terrapin new.terrapin dev.jsonl --json | jq '.pairs[] | select(.new.number == 0)'")]
pub struct Args {
    /// The old snapshot file
    old: PathBuf,
    /// The new one
    new: PathBuf,
    /// The questions and gold queries
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print everything as JSON: every pair, with the first elements that are missing, were added, changed
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let pairs = pairs(&args.files)?;
    let table = args.engine.table()?;
    let (old, new) = (Data::open(&args.old, &pairs)?, Data::open(&args.new, &pairs)?);
    let pool = pool(args.engine.threads())?;
    let bar = bar(pairs.len());
    let drift = old.with(&args.engine, table.as_ref(), |before| {
        new.with(&args.engine, table.as_ref(), |after| {
            let (was, is) = (old.digest(), new.digest());
            pool.install(|| dataset::drift((before, &was), (after, &is), &pairs, &|| bar.inc(1)))
        })
    });
    bar.finish_and_clear();
    if args.json { stdout::print_json(&drift) } else { stdout::print(&drift.to_string()) }
}
