//! `terrapin eval verify`: checks the numbers of a published run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::super::{CommandError, open, stdout};
use super::suite::{MemberInputs, SuiteArgs};
use super::{jsonl, overpassnl, read_run, unusable};
use crate::engine::Engine;
use crate::eval::benchmarks::{self, Benchmark, Registration, ScoringInputs};
use crate::eval::cache::NoCache;
use crate::eval::record::ADDED_FIELDS;
use crate::eval::record::StoredOutcome;
use crate::eval::runs::{self, EvalRun, NoJournal, RunMismatch, read_summary, verify_summary};
use crate::eval::summary::ADDED;
use crate::geocoder::{PlaceSource, PlaceTable};

/// Recompute a published run from its files
///
/// Recomputes the totals from results.jsonl and the similarity scores from the queries in instances.jsonl. With the
/// run's snapshot, every query runs again; with --suite, also on the other snapshots of its suite. Reports every number
/// that differs; exits with 1 if one does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval verify run
  terrapin eval verify run malta.terrapin")]
pub struct EvalVerifyArgs {
    /// Folder of the run
    run: PathBuf,
    /// Snapshot of the run, to run the queries again
    snapshot: Option<PathBuf>,
    #[command(flatten)]
    suite: SuiteArgs,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

/// The fields of a record that only the other snapshots of a suite give.
const OF_SUITE: [&str; 2] = ["suite", "counterexample"];

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
    let suite = args.suite.open(opened.as_ref(), |_| Ok(Box::new(NoCache)))?;
    let of_run = run.about.suite.as_slice();
    let digests = suite.digests();
    if !digests.is_empty() && digests != of_run {
        let message = format!("the suite of the run is {}, that of --suite is {}", listed(of_run), listed(&digests));
        return Err(CommandError::input("other-suite", message));
    }
    let on_member = on_member(registered);
    let again = suite.score(&*benchmark, Some(&table), &on_member, |benchmark| {
        let again = || runs::run(benchmark, &run.instances, &NoJournal, &|| ());
        suite.checked(opened.as_ref(), again)?.map_err(|e| CommandError::system("output", e))
    })?;
    let is_unchecked = digests.is_empty() && !of_run.is_empty();
    let report = report(&run, &again, &published, opened.is_some(), is_unchecked);
    show(&report, args.json)?;
    if report.findings.is_empty() {
        return Ok(());
    }
    Err(CommandError::refused(
        "does-not-stand",
        format!("{} numbers differ from the recomputed ones", report.findings.len()),
    ))
}

fn listed(digests: &[String]) -> String {
    if digests.is_empty() { "empty".to_owned() } else { digests.join(", ") }
}

/// Returns the maker of the benchmark on the other snapshots of a suite, where only the results are compared.
fn on_member(registered: &Registration) -> impl for<'m> Fn(MemberInputs<'m>) -> Box<dyn Benchmark + 'm> {
    let is_overpassnl = registered.name == benchmarks::overpassnl::REGISTRATION.name;
    move |inputs| if is_overpassnl { overpassnl::on_member(inputs) } else { jsonl::on_member(inputs) }
}

/// Returns the names of all fields in the records of a run.
fn stored_fields(run: &EvalRun) -> BTreeSet<String> {
    let fields = |outcome: &StoredOutcome| match serde_json::to_value(&outcome.record) {
        Ok(Value::Object(fields)) => fields.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    };
    run.outcomes.iter().flat_map(fields).collect()
}

/// Compares a run with its recomputed outcomes; without the scores of the suite if `is_suite_unchecked`.
fn report(
    run: &EvalRun,
    again: &[StoredOutcome],
    published: &Value,
    run_again: bool,
    is_suite_unchecked: bool,
) -> VerifyReport {
    let mut findings = Vec::new();
    let only: Vec<&str> = if run_again {
        Vec::new()
    } else {
        let compared = benchmarks::metrics().iter().filter(|metric| !metric.needs_run).map(|metric| metric.name);
        ["line"].into_iter().chain(compared).collect()
    };
    let stored_fields = stored_fields(run);
    for (stored, again) in run.outcomes.iter().zip(again) {
        let place = format!("results.jsonl: line {}", stored.record.line);
        let value = |outcome: &StoredOutcome| {
            let mut record = serde_json::to_value(&outcome.record).unwrap_or_default();
            if let Some(fields) = record.as_object_mut().filter(|_| is_suite_unchecked) {
                fields.retain(|name, _| !OF_SUITE.contains(&name.as_str()));
            }
            // Older runs lack these fields.
            if let Some(fields) = record.as_object_mut() {
                fields.retain(|name, _| !ADDED_FIELDS.contains(&name.as_str()) || stored_fields.contains(name));
            }
            record
        };
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
