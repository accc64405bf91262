//! `terrapin eval`: scores predicted queries against gold queries, merges shards, compares runs and recomputes
//! published numbers. One file per subcommand.

mod ask;
mod asking;
mod cache;
mod compare;
mod dialect;
mod files;
mod forms;
mod instruct_to_sparql;
mod jsonl;
mod merge;
mod overpassnl;
mod progress;
mod qa;
mod refine;
mod shard;
mod suite;
mod system;
mod text;
mod verify;

use std::path::{Path, PathBuf};

use super::open::checked;
use super::{CommandError, stdout};
use cache::CacheArgs;
use files::{digest, digest_of, read_lines, unread, write_and_print};
pub(super) use files::{read_run, unusable, unwritten};
pub(super) use forms::field_map;
use forms::{ExtractionFormat, forms};
use progress::EvalProgress;
use suite::SuiteSnapshots;

use crate::engine::Engine;
use crate::eval::about::{About, RunNames, Shard};
use crate::eval::benchmarks::Benchmark;
use crate::eval::cache::ResultCache;
use crate::eval::record::Instance;
use crate::eval::runs::{self, EvalRun, Journal, RunJournal};
use crate::stack::STACK;

/// Score predicted queries against gold queries
#[derive(Debug, clap::Args)]
pub struct EvalArgs {
    #[command(subcommand)]
    command: EvalCommand,
}

#[derive(Debug, clap::Subcommand)]
enum EvalCommand {
    Overpassnl(overpassnl::OverpassNlArgs),
    InstructToSparql(instruct_to_sparql::InstructToSparqlArgs),
    Qald(qa::QaldArgs),
    #[command(name = "lcquad2")]
    LcQuad2(qa::LcQuad2Args),
    Spinach(qa::SpinachArgs),
    #[command(name = "geoquestions1089")]
    GeoQuestions1089(qa::GeoQuestionsArgs),
    #[command(name = "text2sparql")]
    Text2Sparql(qa::Text2SparqlArgs),
    Text(text::EvalTextArgs),
    Jsonl(jsonl::EvalJsonlArgs),
    Ask(ask::EvalAskArgs),
    Refine(refine::EvalRefineArgs),
    Merge(merge::EvalMergeArgs),
    Compare(compare::EvalCompareArgs),
    Verify(verify::EvalVerifyArgs),
}

/// Runs the command.
pub fn run(args: &EvalArgs) -> Result<(), CommandError> {
    match &args.command {
        EvalCommand::Overpassnl(args) => overpassnl::run(args),
        EvalCommand::InstructToSparql(args) => instruct_to_sparql::run(args),
        EvalCommand::Qald(args) => qa::run_qald(args),
        EvalCommand::LcQuad2(args) => qa::run_lcquad2(args),
        EvalCommand::Spinach(args) => qa::run_spinach(args),
        EvalCommand::GeoQuestions1089(args) => qa::run_geoquestions(args),
        EvalCommand::Text2Sparql(args) => qa::run_text2sparql(args),
        EvalCommand::Text(args) => text::run(args),
        EvalCommand::Jsonl(args) => jsonl::run(args),
        EvalCommand::Ask(args) => ask::run(args),
        EvalCommand::Refine(args) => refine::run(args),
        EvalCommand::Merge(args) => merge::run(args),
        EvalCommand::Compare(args) => compare::run(args),
        EvalCommand::Verify(args) => verify::run(args),
    }
}

/// Options of a run and its output.
#[derive(Debug, clap::Args)]
struct RunArgs {
    /// Number of queries that run at once; the results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Score one shard of the instances, such as 2/4 for the second of four; `terrapin eval merge` merges the shards.
    /// In an indexed Kubernetes job or a Slurm array job, auto/4 selects the shard by the process's index
    #[arg(long, value_name = "I/N", value_parser = shard::parse)]
    shard: Option<Shard>,
    #[command(flatten)]
    folder: FolderArgs,
    #[command(flatten)]
    names: NameArgs,
    #[command(flatten)]
    cache: CacheArgs,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Options for the output folder of a run.
#[derive(Debug, clap::Args)]
struct FolderArgs {
    /// Output folder for results.jsonl, summary.json, report.html and more. A stopped run resumes
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Replace a run with other inputs in that folder
    #[arg(long)]
    overwrite: bool,
}

impl FolderArgs {
    /// Rejects a folder with another run, which would be lost.
    fn claim(&self, about: &About, instances: &[Instance]) -> Result<(), CommandError> {
        match runs::other_run(&self.out, about, instances).filter(|_| !self.overwrite) {
            None => Ok(()),
            Some(difference) => Err(CommandError::usage(format!(
                "--out {}: the folder has another run, {difference}; use another folder, or replace that run with --overwrite",
                self.out.display()
            ))),
        }
    }
}

/// Names of the run for its report.
#[derive(Debug, clap::Args)]
struct NameArgs {
    /// Name of the run in its report
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// Name of the system that made the predictions
    #[arg(long, value_name = "TEXT")]
    model: Option<String>,
    /// Number of parameters of the system, such as 135M or 7B, for the plot of quality over size
    #[arg(long, value_name = "N", value_parser = parameters)]
    parameters: Option<u64>,
    /// Name of the set of questions
    #[arg(long, value_name = "TEXT")]
    dataset: Option<String>,
}

impl NameArgs {
    fn names(&self) -> RunNames {
        RunNames {
            name: self.name.clone(),
            model: self.model.clone(),
            parameters: self.parameters,
            dataset: self.dataset.clone(),
        }
    }
}

/// Parses a number of parameters.
fn parameters(text: &str) -> Result<u64, String> {
    let units = [("k", 1e3), ("K", 1e3), ("M", 1e6), ("B", 1e9), ("T", 1e12)];
    let unit = units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)));
    let (number, unit) = unit.unwrap_or((text, 1.0));
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 && number * unit < 1e18 => Ok((number * unit).round() as u64),
        _ => Err("expected a number of parameters, such as 135M or 7B".to_owned()),
    }
}

/// Warns if predictions do not look like queries, since such lines score almost zero.
fn warn_of_no_queries(instances: &[Instance]) {
    let mut others = instances.iter().filter(|instance| !instance.pred_looks_like_query());
    if let Some(first) = others.next() {
        let begins: String = first.pred.chars().take(40).collect();
        stdout::tell(&format!(
            "warning: {} of {} predictions do not look like queries, the first is line {}: {begins:?}",
            1 + others.count(),
            instances.len(),
            first.line
        ));
    }
}

/// The snapshots of a run.
#[derive(Clone, Copy)]
struct RunSnapshots<'a> {
    /// The first one; without it, no query runs.
    first: Option<&'a Engine>,
    /// The others.
    suite: &'a SuiteSnapshots,
}

impl RunArgs {
    /// Scores the instances of this shard, writes the run's folder and prints the summary. `places` are the geocoded
    /// names for the instances; the snapshots and the cache are the benchmark's.
    fn score(
        &self,
        benchmark: &dyn Benchmark,
        snapshots: RunSnapshots<'_>,
        about: About,
        mut instances: Vec<Instance>,
        places: Option<&Path>,
        cache: &dyn ResultCache,
    ) -> Result<(), CommandError> {
        let names = self.names.names();
        let names = RunNames { model: names.model.or_else(|| about.names.model.clone()), ..names };
        let about = About { shard: self.shard, names, suite: snapshots.suite.digests(), ..about };
        if let Some(shard) = self.shard {
            instances.retain(|instance| shard.has(instance.line));
        }
        let places = places.map(|path| used_places(path, &instances)).transpose()?.unwrap_or_default();
        self.folder.claim(&about, &instances)?;
        warn_of_no_queries(&instances);
        // Fails before the run instead of after it.
        let out = &self.folder.out;
        let output = |e: std::io::Error| CommandError::system("output", format!("{}: {e}", out.display()));
        std::fs::create_dir_all(out).map_err(output)?;
        let journal = RunJournal::open(&out.join("journal"), &about, &instances).map_err(output)?;
        let known = journal.known().len();
        if known > 0 {
            stdout::tell(&format!("resuming after {known} of {} instances", instances.len()));
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.threads.map_or(0, usize::from))
            .stack_size(STACK)
            .build()
            .map_err(|e| CommandError::system("threads", e))?;
        let progress = EvalProgress::new(instances.len(), known, cache);
        let run = || pool.install(|| runs::run(benchmark, &instances, &journal, &|| progress.advance()));
        let outcomes = match snapshots.suite.checked(snapshots.first, run) {
            Ok(outcomes) => outcomes.map_err(output)?,
            Err(damage) => {
                // The scores so far may be wrong, and must not be resumed.
                journal.remove().map_err(output)?;
                return Err(damage);
            }
        };
        progress.finish();
        let run = EvalRun { about, instances, outcomes, places };
        write_and_print(&run, out, self.json)?;
        journal.remove().map_err(output)?;
        for notice in cache.finish().into_iter().chain(snapshots.suite.finish()) {
            stdout::tell(&format!("warning: {notice}"));
        }
        match cache::use_of(cache) {
            Some(text) if self.json => stdout::tell(&format!("from the cache: {text}")),
            Some(text) => stdout::print(&format!("{:<14} {text}\n", "from the cache"))?,
            None => {}
        }
        Ok(())
    }
}

/// Returns the places with names that occur in the instances' queries.
fn used_places(
    path: &Path,
    instances: &[Instance],
) -> Result<std::collections::BTreeMap<String, serde_json::Value>, CommandError> {
    let unreadable =
        |e: &dyn std::fmt::Display| CommandError::input("places-unreadable", format!("{}: {e}", path.display()));
    let bytes = std::fs::read(path).map_err(|e| unreadable(&e))?;
    let mut all: std::collections::BTreeMap<String, serde_json::Value> =
        serde_json::from_slice(&bytes).map_err(|e| unreadable(&e))?;
    let names: std::collections::BTreeSet<&str> = instances
        .iter()
        .flat_map(|instance| [&instance.gold, &instance.pred])
        .flat_map(|query| query.split("{{").skip(1))
        .filter_map(|shortcut| Some(shortcut.split_once("}}")?.0.split_once(':')?.1.trim().trim_matches('"')))
        .collect();
    let name = |key: &str| key.strip_suffix("_centre").or_else(|| key.strip_suffix("_bbox")).map(str::to_owned);
    all.retain(|key, _| names.contains(key.as_str()) || name(key).is_some_and(|name| names.contains(name.as_str())));
    Ok(all)
}
