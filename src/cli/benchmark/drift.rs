//! `terrapin benchmark drift`: compares gold answers between two snapshots.

use std::path::PathBuf;

use super::super::work::pool;
use super::super::{CommandError, stdout};
use super::bar::bar;
use super::pairs::pairs;
use super::{EngineArgs, GoldEnvironment};
use crate::eval::dataset;

/// Report which gold answers change from one snapshot to another, and how
///
/// Runs every gold query on both snapshots. For each pair with different answers, reports the number of results
/// before and after, and the number of elements missing, added and changed (other tags, coordinates, nodes, members
/// or geometry, as far as the query prints them). Versions, times, changesets and users are ignored. In SPARQL
/// answers, rows are missing or added.
#[derive(Debug, clap::Args)]
#[command(after_help = "The files are those of `terrapin benchmark check`.

Examples:
  terrapin benchmark drift malta-2016.terrapin malta-2024.terrapin dev.jsonl
  terrapin benchmark drift old.terrapin new.terrapin dev.jsonl --json | jq '.pairs[] | select(.new.number == 0)'")]
pub struct BenchmarkDriftArgs {
    /// The old snapshot file
    old: PathBuf,
    /// The new snapshot file
    new: PathBuf,
    /// The questions and gold queries
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print everything as JSON: every pair, with its first missing, added and changed elements
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &BenchmarkDriftArgs) -> Result<(), CommandError> {
    let pairs = pairs(&args.files)?;
    let table = args.engine.table()?;
    let (old, new) = (GoldEnvironment::open(&args.old, &pairs)?, GoldEnvironment::open(&args.new, &pairs)?);
    let pool = pool(args.engine.threads())?;
    let bar = bar(pairs.len());
    let drift = old.with(&args.engine, table.as_ref(), |before| {
        new.with(&args.engine, table.as_ref(), |after| {
            let (was, is) = (old.digest(), new.digest());
            pool.install(|| dataset::drift((before, was), (after, is), &pairs, &|| bar.inc(1)))
        })
    });
    bar.finish_and_clear();
    if args.json { stdout::print_json(&drift) } else { stdout::print(&drift.to_string()) }
}
