//! `terrapin benchmark`: checks a benchmark against a snapshot, packs it, and reports how answers drift over time.
//! One file per subcommand.

mod check;
mod drift;
mod init;
mod pack;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::ProgressBar;

use super::eval::unusable;
use super::progress::styled;
use super::{CommandError, open, stdout};
use crate::engine::Engine;
use crate::eval::dataset::{GoldEngine, GoldPair, read_pairs};
use crate::geocoder::PlaceTable;

/// Make, check and publish a benchmark: questions and the queries that answer them
#[derive(Debug, clap::Args)]
pub struct BenchmarkArgs {
    #[command(subcommand)]
    command: BenchmarkCommand,
}

#[derive(Debug, clap::Subcommand)]
enum BenchmarkCommand {
    Init(init::BenchmarkInitArgs),
    Check(check::BenchmarkCheckArgs),
    Pack(pack::BenchmarkPackArgs),
    Drift(drift::BenchmarkDriftArgs),
}

/// Runs the command.
pub fn run(args: &BenchmarkArgs) -> Result<(), CommandError> {
    match &args.command {
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
        let sparql = |pair: &&GoldPair| pair.language() == crate::eval::language::QueryLanguage::Sparql;
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

/// Reads the pairs of the files. Returns an error if there are none.
fn pairs(files: &[PathBuf]) -> Result<Vec<GoldPair>, CommandError> {
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let (pairs, unused) = read_pairs(&paths).map_err(unusable)?;
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
