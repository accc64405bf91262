//! `terrapin benchmark`: describes, splits, moves, checks and packs a benchmark, and reports how answers drift over time. One
//! file per subcommand.

mod annotations;
mod audit;
mod bar;
mod check;
mod drift;
mod init;
mod instruct;
mod label;
mod moving;
mod pack;
pub mod pairs;
mod perturb;
pub mod region;
mod split;
mod stats;
mod translate;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{CommandError, open};
use crate::engine::Engine;
use crate::eval::dataset::{GoldEngine, GoldPair};
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
    Region(region::BenchmarkRegionArgs),
    Move(moving::BenchmarkMoveArgs),
    Perturb(perturb::BenchmarkPerturbArgs),
    Label(label::BenchmarkLabelArgs),
    Instruct(instruct::BenchmarkInstructArgs),
    Audit(audit::BenchmarkAuditArgs),
    Annotations(annotations::BenchmarkAnnotationsArgs),
    Init(init::BenchmarkInitArgs),
    Check(check::BenchmarkCheckArgs),
    Pack(pack::BenchmarkPackArgs),
    Drift(drift::BenchmarkDriftArgs),
    Translate(translate::BenchmarkTranslateArgs),
}

/// Runs the command.
pub fn run(args: &BenchmarkArgs) -> Result<(), CommandError> {
    match &args.command {
        BenchmarkCommand::Stats(args) => stats::run(args),
        BenchmarkCommand::Split(args) => split::run(args),
        BenchmarkCommand::Region(args) => region::run(args),
        BenchmarkCommand::Move(args) => moving::run(args),
        BenchmarkCommand::Perturb(args) => perturb::run(args),
        BenchmarkCommand::Label(args) => label::run(args),
        BenchmarkCommand::Instruct(args) => instruct::run(args),
        BenchmarkCommand::Audit(args) => audit::run(args),
        BenchmarkCommand::Annotations(args) => annotations::run(args),
        BenchmarkCommand::Init(args) => init::run(args),
        BenchmarkCommand::Check(args) => check::run(args),
        BenchmarkCommand::Pack(args) => pack::run(args),
        BenchmarkCommand::Drift(args) => drift::run(args),
        BenchmarkCommand::Translate(args) => translate::run(args),
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
        pairs::needs_triples(&engine, path, pairs)?;
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
