//! Feedback for repairing a query: errors with positions and hints, or the number and a sample of results, and
//! warnings about parts that match no data.

mod answer;
mod failure;
mod identifiers;
mod names;
mod repair;
mod sparql;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::language::{self, QueryLanguage};
use terrapin_budget::{self as budget, Budget, StopReason};
pub use terrapin_diagnostic::QueryWarning;
use terrapin_diagnostic::{Diagnostic, LocatedDiagnostic};
use terrapin_engine::{Engine, OverpassQuery, OverpassRejection, QueryContext, SparqlRejection};
use terrapin_geocoder::{PlaceSource, Until};
use terrapin_osm::BoundingBox;
use terrapin_overpass::Limits;
use terrapin_overpass::turbo::{Reason, ShortcutProblem};
use terrapin_sparql::{Dialect, SparqlSettings};

use terrapin_overpass::lint;

use failure::{failed, over, panicked, reached, rejected};
pub use repair::QueryRepair;
pub use sparql::{missing_names, without_triples};

use answer::AnswerSample;

/// A request for feedback.
pub struct FeedbackRequest<'a> {
    /// The query.
    pub query: &'a str,
    /// Its language; `None` to detect it from the beginning.
    pub language: Option<QueryLanguage>,
    /// Its dialect, if it is SPARQL.
    pub dialect: Dialect,
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

/// The identifiers of a query.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryIdentifiers {
    /// The number of different identifiers: keys and tags, or IRIs.
    pub count: usize,
    /// Those that the snapshot lacks: a key, `key=value`, or a shortened IRI.
    pub unknown: BTreeSet<String>,
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
    /// Repaired queries, the likeliest first, if the query ran without results or has an error. Those that take too long
    /// are left out.
    pub repairs: Vec<QueryRepair>,
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
            let settings = SparqlSettings { dialect: asked.dialect, ..SparqlSettings::default() };
            let prepared = engine.prepare_sparql(asked.query, &settings);
            matches!(prepared, Err(SparqlRejection::NoTriples))
        };
        // A query that is only parsed needs no triples, and one with an error never reads them.
        if asked.run && engine.triples().is_none() && needs_triples() {
            return Err(NoTriples);
        }
        let mut feedback = sparql::feedback(engine.graph(), asked);
        feedback.add_other_language(engine, asked, QueryLanguage::Sparql);
        return Ok(feedback);
    }
    let budget = Arc::new(Budget::new(&asked.limits));
    let told = budget::watched(&budget, || look(engine, asked, &budget));
    let mut feedback = told.unwrap_or_else(|stopped| match stopped {
        StopReason::Exceeded(exceeded) => over(exceeded, "while it was looked at"),
        StopReason::Panicked(panic) => panicked(&panic),
    });
    feedback.add_other_language(engine, asked, QueryLanguage::OverpassQl);
    Ok(feedback)
}

impl Feedback {
    /// Adds the repair of a query with an error that is written in the other language than `taken`.
    fn add_other_language(&mut self, engine: &Engine, asked: &FeedbackRequest<'_>, taken: QueryLanguage) {
        if !self.errors.is_empty() {
            self.repairs.splice(0..0, repair::other_language(engine, asked, taken));
        }
    }
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
        Err(OverpassRejection::Syntax { text, failure }) => {
            let mut feedback = rejected(&text, failure);
            if asked.run {
                feedback.repairs = repair::of_error(engine, &text, &feedback.errors, asked).into_iter().collect();
            }
            return feedback;
        }
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
    let warnings = match lint::warnings(osm, &text, &script, is_nothing, &asked.limits, budget) {
        Ok(warnings) => warnings,
        Err(exceeded) => return over(exceeded, "while its filters were held against the data"),
    };
    // Last, because repairs that take too long are left out without losing the rest.
    let repairs = if is_nothing { repair::of_overpass(engine, &text, &script, asked, budget) } else { Vec::new() };
    Feedback { errors: Vec::new(), results: Some(results), warnings, repairs }
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
        for QueryRepair { title, results, .. } in &self.repairs {
            write!(f, "repair: {title}")?;
            match results {
                Some(1) => writeln!(f, " (1 result)")?,
                Some(count) => writeln!(f, " ({count} results)")?,
                None => writeln!(f)?,
            }
        }
        Ok(())
    }
}
