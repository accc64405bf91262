//! `terrapin benchmark`: describes, splits, checks and packs a benchmark, and reports how answers drift over time. One
//! file per subcommand.

mod audit;
mod check;
mod drift;
mod init;
mod pack;
mod split;
mod stats;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;

use super::eval::unusable;
use super::progress::styled;
use super::{CommandError, open, stdout};
use crate::engine::Engine;
use crate::eval::benchmarks::jsonl::OtherLanguages;
use crate::eval::dataset::{GoldEngine, GoldPair, read_pairs_of};
use crate::eval::input::published::FieldMap;
use crate::geocoder::PlaceTable;

/// Make, check and publish a benchmark: questions and the queries that answer them
#[derive(Debug, clap::Args)]
pub struct BenchmarkArgs {
    #[command(subcommand)]
    command: BenchmarkCommand,
}

#[derive(Debug, clap::Subcommand)]
enum BenchmarkCommand {
    Stats(stats::BenchmarkStatsArgs),
    Split(split::BenchmarkSplitArgs),
    Audit(audit::BenchmarkAuditArgs),
    Init(init::BenchmarkInitArgs),
    Check(check::BenchmarkCheckArgs),
    Pack(pack::BenchmarkPackArgs),
    Drift(drift::BenchmarkDriftArgs),
}

/// Runs the command.
pub fn run(args: &BenchmarkArgs) -> Result<(), CommandError> {
    match &args.command {
        BenchmarkCommand::Stats(args) => stats::run(args),
        BenchmarkCommand::Split(args) => split::run(args),
        BenchmarkCommand::Audit(args) => audit::run(args),
        BenchmarkCommand::Init(args) => init::run(args),
        BenchmarkCommand::Check(args) => check::run(args),
        BenchmarkCommand::Pack(args) => pack::run(args),
        BenchmarkCommand::Drift(args) => drift::run(args),
    }
}

/// Options for running gold queries.
#[derive(Debug, clap::Args)]
struct EngineArgs {
    /// Geocoded places for pairs without their own, as a JSON file in the format of OverpassNL's
    /// nominatim_cache.json; other names are searched among the snapshot's areas
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    /// Timeout of a query in seconds; overrides its own
    #[arg(long, value_name = "SECONDS", default_value_t = 180)]
    timeout: u64,
    /// Number of threads that run queries [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl EngineArgs {
    fn table(&self) -> Result<Option<PlaceTable>, CommandError> {
        open::places(self.places.as_deref())
    }

    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.threads.map_or_else(cores, usize::from)
    }
}

/// A snapshot on which gold queries run.
struct GoldEnvironment {
    engine: Engine,
}

impl GoldEnvironment {
    fn open(path: &Path, pairs: &[GoldPair]) -> Result<GoldEnvironment, CommandError> {
        let engine = open::engine(path)?;
        let sparql =
            |pair: &&GoldPair| pair.is_run_here() && pair.language() == crate::eval::language::QueryLanguage::Sparql;
        if let (None, Some(pair)) = (engine.triples(), pairs.iter().find(sparql)) {
            let message = format!("{} is SPARQL, and {} has no triples", pair.place(), path.display());
            return Err(CommandError::input("no-triples", message));
        }
        Ok(GoldEnvironment { engine })
    }

    fn digest(&self) -> &str {
        self.engine.digest()
    }

    /// Calls a function with the runner of queries.
    fn with<T>(&self, args: &EngineArgs, table: Option<&PlaceTable>, work: impl FnOnce(&GoldEngine<'_>) -> T) -> T {
        work(&GoldEngine {
            engine: &self.engine,
            places: &self.engine.places(table),
            timeout: Duration::from_secs(args.timeout),
        })
    }
}

/// Reads the pairs of the files. Returns an error if there are none, or a query is in a language that is not run here.
fn pairs(files: &[PathBuf]) -> Result<Vec<GoldPair>, CommandError> {
    pairs_of(files, &FieldMap::default())
}

/// Reads pairs like [`pairs`], with renamed fields.
fn pairs_of(files: &[PathBuf], map: &FieldMap) -> Result<Vec<GoldPair>, CommandError> {
    read(files, map, OtherLanguages::Rejected)
}

/// Parses a similarity.
fn similarity(text: &str) -> Result<f64, String> {
    let share = text.parse::<f64>().ok().filter(|share| *share > 0.5 && *share <= 1.0);
    share.ok_or_else(|| "expected a number above 0.5 and at most 1".to_owned())
}

/// Reads the pairs of the files in any language of queries. Returns an error if there are none.
fn all_pairs(files: &[PathBuf], map: &FieldMap) -> Result<Vec<GoldPair>, CommandError> {
    read(files, map, OtherLanguages::Kept)
}

fn read(files: &[PathBuf], map: &FieldMap, others: OtherLanguages) -> Result<Vec<GoldPair>, CommandError> {
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let (pairs, unused) = read_pairs_of(&paths, map, others).map_err(unusable)?;
    if !unused.is_empty() {
        stdout::tell(&format!("note: unused fields: {}", unused.join(", ")));
    }
    match (pairs.is_empty(), paths.first()) {
        (true, Some(first)) => Err(CommandError::input("empty", format!("{}: the file has no pairs", first.display()))),
        _ => Ok(pairs),
    }
}

/// Returns a pool of `threads` threads.
fn pool(threads: usize) -> Result<rayon::ThreadPool, CommandError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(crate::stack::STACK)
        .build()
        .map_err(|e| CommandError::system("threads", e))
}

/// Returns a progress bar, which is hidden if standard error is not a terminal.
fn bar(steps: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    ProgressBar::new(steps as u64).with_style(styled("running {wide_bar} {pos}/{len} {rate:>10} {eta:>4} left"))
}
