//! `terrapin benchmark`: checks a benchmark against a snapshot, packs it, and reports how answers drift over time.
//! One file per subcommand.

mod check;
mod drift;
mod init;
mod pack;

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use indicatif::ProgressBar;

use super::eval::unusable;
use super::open::Opened;
use super::progress::styled;
use super::{Error, open, stdout};
use crate::eval::dataset::{Engine, Pair, read_pairs};
use crate::geocoder::{Areas, Chain, Places, Table};
use crate::osm::Osm;
use crate::sparql::Environment;

/// Make, check and publish a benchmark: questions and the queries that answer them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Init(init::Args),
    Check(check::Args),
    Pack(pack::Args),
    Drift(drift::Args),
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    match &args.command {
        Command::Init(args) => init::run(args),
        Command::Check(args) => check::run(args),
        Command::Pack(args) => pack::run(args),
        Command::Drift(args) => drift::run(args),
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
    fn table(&self) -> Result<Option<Table>, Error> {
        self.places.as_deref().map(Table::open).transpose().map_err(|e| Error::input("places-unreadable", e))
    }

    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        self.threads.map_or_else(cores, usize::from)
    }
}

/// A snapshot on which gold queries run.
struct Data {
    opened: Opened,
    osm: Arc<Osm>,
    triples: Option<Environment>,
}

impl Data {
    fn open(path: &Path, pairs: &[Pair]) -> Result<Data, Error> {
        let (opened, osm) = open::elements(path)?;
        let triples = Environment::open_beside(&opened.snapshot, &osm).map_err(open::error)?;
        let sparql = |pair: &&Pair| pair.language() == crate::eval::language::Language::Sparql;
        if let (None, Some(pair)) = (&triples, pairs.iter().find(sparql)) {
            let message = format!("{} is SPARQL, and {} has no triples", pair.place(), path.display());
            return Err(Error::input("no-triples", message));
        }
        Ok(Data { opened, osm, triples })
    }

    fn digest(&self) -> String {
        self.opened.snapshot.digest()
    }

    /// Calls a function with the runner of queries.
    fn with<T>(&self, args: &EngineArgs, table: Option<&Table>, work: impl FnOnce(&Engine<'_>) -> T) -> T {
        let areas = Areas::new(&self.osm);
        let mut places = Chain::default();
        places.0.extend(table.map(|table| table as &dyn Places));
        places.0.push(&areas);
        work(&Engine {
            osm: &self.osm,
            triples: self.triples.as_ref(),
            now: self.opened.manifest.data_timestamp,
            places: &places,
            timeout: Duration::from_secs(args.timeout),
        })
    }
}

/// Reads the pairs of the files. Returns an error if there are none.
fn pairs(files: &[PathBuf]) -> Result<Vec<Pair>, Error> {
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let (pairs, unused) = read_pairs(&paths).map_err(unusable)?;
    if !unused.is_empty() {
        stdout::tell(&format!("note: unused fields: {}", unused.join(", ")));
    }
    match (pairs.is_empty(), paths.first()) {
        (true, Some(first)) => Err(Error::input("empty", format!("{}: the file has no pairs", first.display()))),
        _ => Ok(pairs),
    }
}

/// Returns a pool of `threads` threads.
fn pool(threads: usize) -> Result<rayon::ThreadPool, Error> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(crate::stack::STACK)
        .build()
        .map_err(|e| Error::system("threads", e))
}

/// Returns a progress bar, which is hidden if standard error is not a terminal.
fn bar(steps: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    ProgressBar::new(steps as u64).with_style(styled("running {wide_bar} {pos}/{len} {rate:>10} {eta:>4} left"))
}
