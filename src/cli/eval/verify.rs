//! `terrapin eval verify`: checks the numbers of a published run.

use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::super::{CommandError, open, stdout};
use super::{read_run, unusable};
use crate::engine::Engine;
use crate::eval::benchmarks::{self, ScoringInputs};
use crate::eval::cache::NoCache;
use crate::eval::record::StoredOutcome;
use crate::eval::runs::{self, EvalRun, NoJournal, RunMismatch, read_summary, verify_summary};
use crate::eval::summary::ADDED;
use crate::geocoder::{PlaceSource, PlaceTable};

/// Recompute a published run from its files
///
/// Recomputes the totals from results.jsonl and the similarity scores from the queries in instances.jsonl. With the
/// run's snapshot, every query runs again. Reports every number that differs; exits with 1 if one does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval verify run
  terrapin eval verify run malta.terrapin")]
pub struct EvalVerifyArgs {
    /// Folder of the run
    run: PathBuf,
    /// Snapshot of the run, to run the queries again
    snapshot: Option<PathBuf>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// The checked numbers and the differences.
#[derive(Serialize)]
struct VerifyReport {
    instances: usize,
    /// Whether the queries ran again.
    run_again: bool,
    /// Numbers of the summary that agree.
    standing: usize,
    findings: Vec<RunMismatch>,
}

/// Runs the command.
pub fn run(args: &EvalVerifyArgs) -> Result<(), CommandError> {
    let run = read_run(&args.run)?;
    let published = read_summary(&args.run).map_err(unusable)?;
    let table = serde_json::to_vec(&run.places)
        .and_then(|bytes| PlaceTable::parse(&bytes))
        .map_err(|e| CommandError::input("places-unreadable", format!("{}: places.json: {e}", args.run.display())))?;
    let opened = args.snapshot.as_deref().map(open::engine).transpose()?;
    let digest = opened.as_ref().map(Engine::digest);
    if let (Some(digest), of_run) = (digest, &run.about.snapshot)
        && of_run.as_deref() != Some(digest)
    {
        let of_run = of_run.as_deref().unwrap_or("no snapshot");
        let message = format!("the run used the snapshot {of_run}, this one is {digest}");
        return Err(CommandError::input("other-snapshot", message));
    }
    let of_snapshot = opened.as_ref().map(|engine| engine.places(Some(&table)));
    let places = of_snapshot.as_ref().map_or(&table as &dyn PlaceSource, |places| places);
    let name = run.about.benchmark.as_str();
    let registered = benchmarks::benchmark(name)
        .ok_or_else(|| CommandError::input("run-unfit", format!("a run of {name:?} cannot be recomputed here")))?;
    let outcomes = &run.outcomes;
    let data = ScoringInputs { outcomes, engine: opened.as_ref(), places, cache: &NoCache };
    let benchmark = (registered.recompute)(data);
    let again = super::checked(opened.as_ref(), || runs::run(&*benchmark, &run.instances, &NoJournal, &|| ()))?
        .map_err(|e| CommandError::system("output", e))?;
    let report = report(&run, &again, &published, opened.is_some());
    show(&report, args.json)?;
    if report.findings.is_empty() {
        return Ok(());
    }
    Err(CommandError::refused(
        "does-not-stand",
        format!("{} numbers differ from the recomputed ones", report.findings.len()),
    ))
}

fn report(run: &EvalRun, again: &[StoredOutcome], published: &Value, run_again: bool) -> VerifyReport {
    let mut findings = Vec::new();
    let only: Vec<&str> = if run_again {
        Vec::new()
    } else {
        let compared = benchmarks::metrics().iter().filter(|metric| !metric.needs_run).map(|metric| metric.name);
        ["line"].into_iter().chain(compared).collect()
    };
    for (stored, again) in run.outcomes.iter().zip(again) {
        let place = format!("results.jsonl: line {}", stored.record.line);
        let value = |outcome: &StoredOutcome| serde_json::to_value(&outcome.record).unwrap_or_default();
        findings.extend(verify_summary(&place, &value(stored), &value(again), &only));
    }
    let mut recomputed = serde_json::to_value(run.summary()).unwrap_or_default();
    // Older summaries lack these counts.
    if let Some(fields) = recomputed.as_object_mut() {
        fields.retain(|name, _| !ADDED.contains(&name.as_str()) || published.get(name).is_some());
    }
    let of_summary = verify_summary("summary.json", published, &recomputed, &[]);
    let standing = runs::numbers(published).len().saturating_sub(of_summary.len());
    findings.splice(0..0, of_summary);
    VerifyReport { instances: run.instances.len(), run_again, standing, findings }
}

fn show(report: &VerifyReport, json: bool) -> Result<(), CommandError> {
    if json {
        return stdout::print_json(report);
    }
    let mut text = String::new();
    for finding in &report.findings {
        text += &format!("{}: stored {}, recomputed {}\n", finding.place, finding.stored, finding.recomputed);
    }
    let how = if report.run_again { "every query run again" } else { "queries compared again, not run" };
    text += &format!(
        "{} instances, {how}; summary.json: {} values agree; {} differences in all\n",
        report.instances,
        report.standing,
        report.findings.len()
    );
    stdout::print(&text)
}
