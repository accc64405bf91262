//! Runs OverpassQL: text → tokens → one syntax tree → plan → sets of ordinals → output streamed by type and order.
//!
//! The reference is Overpass API 0.7.62: answers must contain the same elements. May use `osm`; does not know files on
//! disk, HTTP or benchmarks.

mod budget;
mod digits;
pub mod evaluators;
mod extent;
mod introsort;
pub mod lint;
pub mod output;
mod plan;
mod quadtile;
pub mod reader;
pub mod run;
pub mod set;
mod sorted;
mod timestamp;
pub mod turbo;

pub use budget::{Limits, OverpassBudget};
pub use terrapin_overpass_syntax as syntax;
pub use terrapin_overpass_syntax::{DiagnosticClass, OverpassCode, OverpassDiagnostic, OverpassFailure, convert};

use std::io::{self, Write};

use output::AnswerFormat;
use syntax::TimeFrame;
use terrapin_base::deferred::Deferred;
use terrapin_osm::Osm;

/// Facts about a finished query.
#[derive(Debug, Clone, Default)]
pub struct OverpassSummary {
    /// The number of elements or features written.
    pub elements: u64,
    /// The content type of the answer: `application/json`, `application/osm3s+xml`, `text/csv; charset=utf-8` and so
    /// on.
    pub content_type: &'static str,
}

/// Parses a query in QL or XML.
pub fn parse(text: &str) -> Result<syntax::Script, OverpassFailure> {
    syntax::parse(text)
}

/// Runs a parsed query and streams its answer. If an error occurs before the first byte, `out` stays empty. After it,
/// the answer is completed with a remark that describes the error, and the error is also returned.
pub fn run(
    osm: &Osm,
    script: &syntax::Script,
    limits: &Limits,
    out: &mut dyn Write,
) -> Result<OverpassSummary, OverpassFailure> {
    run_as(osm, script, AnswerFormat::Asked(&script.settings.output), limits, out)
}

/// Like [`run()`], with a form of the answer that can differ from the query's format.
pub fn run_as(
    osm: &Osm,
    script: &syntax::Script,
    form: AnswerFormat<'_>,
    limits: &Limits,
    out: &mut dyn Write,
) -> Result<OverpassSummary, OverpassFailure> {
    attempt(osm, script, form, limits, out, false)
}

/// Like [`run()`], but the answer to a stopped query is always completed: it contains the elements so far and a remark.
/// If a query is rejected before it runs, `out` stays empty.
pub fn run_to_end(
    osm: &Osm,
    script: &syntax::Script,
    limits: &Limits,
    out: &mut dyn Write,
) -> Result<OverpassSummary, OverpassFailure> {
    attempt(osm, script, AnswerFormat::Asked(&script.settings.output), limits, out, true)
}

/// Runs a parsed query and keeps its answer, to be read or written later. The kept answer counts as memory of the
/// query.
///
/// # Errors
/// Returns the same errors as [`run()`]: the query cannot be run, or was stopped at a limit.
pub fn record(osm: &Osm, script: &syntax::Script, limits: &Limits) -> Result<output::Recording, OverpassFailure> {
    run::check(script)?;
    let budget = OverpassBudget::new(&script.settings, limits);
    let mut recording = output::Recording::new(header(osm, script), script.settings.output.clone());
    execute(osm, script, &budget, &mut recording, None)?;
    Ok(recording)
}

/// Runs a parsed query and passes its elements and counts to `sink`. The output format of the query has no effect.
///
/// # Errors
/// Returns the same errors as [`run()`]: the query cannot be run, or was stopped at a limit.
pub fn run_into(
    osm: &Osm,
    script: &syntax::Script,
    limits: &Limits,
    sink: &mut dyn output::ElementSink,
) -> Result<(), OverpassFailure> {
    run::check(script)?;
    let budget = OverpassBudget::new(&script.settings, limits);
    execute(osm, script, &budget, &mut output::SinkWriter::new(sink), None)
}

/// Runs a parsed query and passes the contents of its sets to `observer`. Its answer is dropped.
///
/// # Errors
/// Returns the same errors as [`run()`]: the query cannot be run, or was stopped at a limit.
pub fn run_observed(
    osm: &Osm,
    script: &syntax::Script,
    limits: &Limits,
    observer: &mut dyn run::SetObserver,
) -> Result<(), OverpassFailure> {
    run::check(script)?;
    let budget = OverpassBudget::new(&script.settings, limits);
    let mut nowhere = io::sink();
    let mut answer =
        output::answer(AnswerFormat::Asked(&syntax::OutputFormat::Json), header(osm, script), &mut nowhere)?;
    execute(osm, script, &budget, answer.as_mut(), Some(observer))
}

/// Runs a parsed query, converts its answer to GeoJSON, and passes the features to `sink`. With a source of items, the
/// features describe the items that they link to.
///
/// # Errors
/// Returns the same errors as [`run()`], and an error if the query reports changes (`[diff:]`, `[adiff:]`): these
/// cannot be converted.
pub fn run_features(
    osm: &Osm,
    script: &syntax::Script,
    items: Option<&dyn output::ItemSource>,
    limits: &Limits,
    sink: &mut dyn output::MapFeatureSink,
) -> Result<(), OverpassFailure> {
    run::check(script)?;
    if let TimeFrame::Diff { .. } = script.settings.time {
        return Err(no_geojson());
    }
    let budget = OverpassBudget::new(&script.settings, limits);
    execute(osm, script, &budget, &mut output::MapFeatureWriter::new(items, sink), None)
}

fn attempt(
    osm: &Osm,
    script: &syntax::Script,
    form: AnswerFormat<'_>,
    limits: &Limits,
    out: &mut dyn Write,
    complete: bool,
) -> Result<OverpassSummary, OverpassFailure> {
    run::check(script)?;
    if let (AnswerFormat::GeoJson(_) | AnswerFormat::WithItems(..), TimeFrame::Diff { .. }) =
        (form, &script.settings.time)
    {
        return Err(no_geojson());
    }
    let budget = OverpassBudget::new(&script.settings, limits);
    let mut answer = output::answer(form, header(osm, script), out)?;
    let done = execute(osm, script, &budget, answer.as_mut(), None);
    if let Err(failure) = &done {
        if complete || answer.started() {
            let told = answer.remark(&failure.to_string()).and_then(|()| answer.finish());
            told.map_err(output::disconnected)?;
        }
        done?;
    }
    answer.finish().map_err(output::disconnected)?;
    Ok(OverpassSummary { elements: answer.written(), content_type: answer.content_type() })
}

/// Returns the error for a query that reports changes: they cannot be converted to features.
fn no_geojson() -> OverpassFailure {
    let message = "The answer to a query with [diff:...] or [adiff:...] cannot be written as GeoJSON.";
    let error = OverpassDiagnostic::new(DiagnosticClass::Static, OverpassCode::DiffFormat, message);
    error.help("Ask for it as XML.").into()
}

/// Returns the metadata for the head of the answer.
fn header(osm: &Osm, script: &syntax::Script) -> output::OutputHeader {
    let areas_time = run::uses_areas(&script.statements).then(|| osm.data_time());
    let bounds = script.settings.bbox.as_ref().map(run::to_osm);
    output::OutputHeader { data_time: osm.data_time(), areas_time, bounds }
}

/// Runs the statements and passes their results to `answer`, and the contents of sets to an observer. Does not finish
/// the answer.
fn execute(
    osm: &Osm,
    script: &syntax::Script,
    budget: &OverpassBudget,
    answer: &mut dyn output::AnswerWriter,
    observer: Option<&mut dyn run::SetObserver>,
) -> Result<(), OverpassFailure> {
    let states = run::MomentStates::default();
    let mut context = run::RunContext::new(osm, script, budget, answer, &states);
    if let Some(observer) = observer {
        context.observe(observer);
    }
    let whole = || osm.check().and_then(|()| states.check(osm)).map_err(|e| run::damaged(&e));
    let done = budget.watch(|| context.run_script()).and_then(|()| whole());
    // Derived elements are freed while the answer is being sent.
    drop(Deferred::new(context.take_derived()));
    drop(context);
    done.and_then(|()| budget.watch(|| answer.complete().map_err(output::disconnected)))
}
