//! Feedback for repairing a query: errors with positions and hints, or the number and a sample of results, and
//! warnings about parts that match no data.

mod answer;
mod names;
mod sparql;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::language::{self, QueryLanguage};
use terrapin_budget::{self as budget, Budget, ExceededLimit, StopReason};
pub use terrapin_diagnostic::QueryWarning;
use terrapin_diagnostic::{Diagnostic, DiagnosticClass, LocatedDiagnostic};
use terrapin_engine::{Engine, OverpassQuery, OverpassRejection, QueryContext, SparqlRejection};
use terrapin_geocoder::{PlaceSource, Until};
use terrapin_osm::BoundingBox;
use terrapin_overpass::turbo::{Reason, ShortcutProblem};
use terrapin_overpass::{Limits, OverpassCode, OverpassFailure};
use terrapin_sparql::SparqlSettings;

use terrapin_overpass::lint;

pub use sparql::{missing_names, without_triples};

use answer::AnswerSample;

/// The maximum number of reported errors, since a recovering parser finds many for one mistake.
const ERRORS: usize = 3;

/// A request for feedback.
pub struct FeedbackRequest<'a> {
    /// The query.
    pub query: &'a str,
    /// Its language; `None` to detect it from the beginning.
    pub language: Option<QueryLanguage>,
    /// The bounding box for `{{bbox}}`.
    pub bbox: Option<BoundingBox>,
    /// The geocoded places.
    pub places: &'a dyn PlaceSource,
    /// The maximum number of shown results.
    pub sample: usize,
    /// Run the query; otherwise it is only parsed and compared with the data.
    pub run: bool,
    /// The limits of the run.
    pub limits: Limits,
}

/// The feedback on a query.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Feedback {
    /// The errors; if there are any, the rest is empty.
    pub errors: Vec<LocatedDiagnostic>,
    /// The results; `null` if the query has errors or did not run.
    pub results: Option<FeedbackResults>,
    /// Warnings about probable mistakes.
    pub warnings: Vec<QueryWarning>,
}

/// The results of a query.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct FeedbackResults {
    /// The number of elements.
    pub count: usize,
    /// The numbers by type.
    pub types: BTreeMap<String, usize>,
    /// The first elements: type, id and tags.
    pub sample: Vec<String>,
    /// All results are counts of zero.
    #[serde(skip)]
    pub is_zero: bool,
}

/// A query in SPARQL that needs triples, on a snapshot without them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTriples;

/// Parses and runs a query and compares it with the data, all within the limits; exceeding one is an error like
/// others.
///
/// # Errors
/// The query needs triples to run, and the snapshot has none. [`without_triples`] is the feedback that says so.
pub fn feedback(engine: &Engine, asked: &FeedbackRequest<'_>) -> Result<Feedback, NoTriples> {
    let language = asked.language.or_else(|| language::of(asked.query));
    if language == Some(QueryLanguage::Sparql) {
        let needs_triples = || {
            let prepared = engine.prepare_sparql(asked.query, &SparqlSettings::default());
            matches!(prepared, Err(SparqlRejection::NoTriples))
        };
        // A query that is only parsed needs no triples, and one with an error never reads them.
        if asked.run && engine.triples().is_none() && needs_triples() {
            return Err(NoTriples);
        }
        return Ok(sparql::feedback(engine.graph(), asked));
    }
    let budget = Arc::new(Budget::new(&asked.limits));
    let told = budget::watched(&budget, || look(engine, asked, &budget));
    Ok(told.unwrap_or_else(|stopped| match stopped {
        StopReason::Exceeded(exceeded) => over(exceeded, "while it was looked at"),
        StopReason::Panicked(panic) => panicked(&panic),
    }))
}

fn look(engine: &Engine, asked: &FeedbackRequest<'_>, budget: &Budget) -> Feedback {
    let is_over = || budget.check().is_err();
    let places = Until::new(asked.places, &is_over);
    let context = QueryContext { bbox: asked.bbox, places: &places };
    let OverpassQuery { text, script } = match engine.prepare_overpass(asked.query, &context) {
        Ok(query) => query,
        Err(OverpassRejection::Shortcut(_)) if places.was_cut() => {
            return reached(budget, "while the names in it were looked up");
        }
        Err(OverpassRejection::Shortcut(problem)) => return failed([shortcut(asked.query, &problem)]),
        Err(OverpassRejection::Syntax { text, failure }) => return rejected(&text, failure),
    };
    let osm = engine.osm();
    if !asked.run {
        return match lint::warnings(osm, &text, &script, false, &asked.limits, budget) {
            Ok(warnings) => Feedback { warnings, ..Feedback::default() },
            Err(exceeded) => over(exceeded, "while its filters were held against the data"),
        };
    }
    let keys = lint::keys(&script);
    let mut sample = AnswerSample::new(asked.sample, &keys);
    if let Err(failure) = terrapin_overpass::run_into(osm, &script, &asked.limits, &mut sample) {
        return rejected(&text, failure);
    }
    let results = sample.finish();
    let is_nothing = results.count == 0 || results.is_zero;
    match lint::warnings(osm, &text, &script, is_nothing, &asked.limits, budget) {
        Ok(warnings) => Feedback { errors: Vec::new(), results: Some(results), warnings },
        Err(exceeded) => over(exceeded, "while its filters were held against the data"),
    }
}

/// Converts a shortcut that cannot be replaced to an error in the query.
fn shortcut(query: &str, problem: &ShortcutProblem) -> LocatedDiagnostic {
    let hint = match problem.reason {
        Reason::NoPlace => Some("use a name of an area in the data, or a filter by tag"),
        Reason::NoBox => Some("give a box, or write one into the query: (south,west,north,east)"),
        _ => None,
    };
    LocatedDiagnostic::new(problem.diagnostic(hint.map(str::to_owned)).erase(), query)
}

/// Returns the error for an exceeded budget.
fn reached(budget: &Budget, when: &str) -> Feedback {
    over(budget.check().err().unwrap_or(ExceededLimit::Cancelled), when)
}

/// Returns the error for a limit exceeded outside the run of the query.
fn over(exceeded: ExceededLimit, when: &str) -> Feedback {
    let (code, message) = (OverpassCode::from(exceeded).name(), format!("{exceeded}, {when}"));
    let error = Diagnostic::new(DiagnosticClass::Runtime, code, message);
    failed([error.help("ask for less: fewer filters, fewer names").into()])
}

/// Returns the error for a panic outside the run of the query.
fn panicked(panic: &str) -> Feedback {
    let message = format!("looking at the query failed, by a fault of the program: {panic}");
    failed([Diagnostic::new(DiagnosticClass::Runtime, OverpassCode::Defect.name(), message).into()])
}

/// Returns the feedback on a query with errors.
fn failed(errors: impl IntoIterator<Item = LocatedDiagnostic>) -> Feedback {
    Feedback { errors: errors.into_iter().collect(), ..Feedback::default() }
}

/// Returns the feedback on a query that was rejected or stopped.
fn rejected(text: &str, failure: OverpassFailure) -> Feedback {
    let first = failure.diagnostics.into_iter().take(ERRORS);
    failed(first.map(|diagnostic| LocatedDiagnostic::new(diagnostic.erase(), text)))
}

/// Formats feedback for a prompt: one fact per line.
impl fmt::Display for Feedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.errors {
            let Diagnostic { class, message, help, .. } = &problem.diagnostic;
            write!(f, "{}: {message}", class.name())?;
            match (problem.line(), problem.column()) {
                (Some(line), Some(column)) => write!(f, " (line {line}, column {column})")?,
                (Some(line), None) => write!(f, " (line {line})")?,
                _ => {}
            }
            writeln!(f)?;
            if let Some(near) = &problem.near {
                writeln!(f, "  at: {near}")?;
            }
            if let Some(hint) = help {
                writeln!(f, "  hint: {hint}")?;
            }
        }
        if let Some(results) = &self.results {
            let types: Vec<String> = results.types.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            let types = if types.len() > 1 { format!(" ({})", types.join(", ")) } else { String::new() };
            writeln!(f, "{} results{types}", results.count)?;
            for line in &results.sample {
                writeln!(f, "  {line}")?;
            }
            if results.count > results.sample.len() && !results.sample.is_empty() {
                writeln!(f, "  ... and {} more", results.count - results.sample.len())?;
            }
        }
        for warning in &self.warnings {
            writeln!(f, "warning: {warning}")?;
        }
        Ok(())
    }
}
