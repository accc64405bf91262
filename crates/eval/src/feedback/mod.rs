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
use terrapin_engine::{Engine, OverpassQuery, OverpassRejection, QueryContext, SparqlRejection};
use terrapin_geocoder::{PlaceSource, Until};
use terrapin_osm::BoundingBox;
use terrapin_overpass::turbo::{Reason, ShortcutProblem};
use terrapin_overpass::{Limits, OverpassCode, OverpassErrorClass, OverpassFailure};
use terrapin_sparql::SparqlSettings;

use terrapin_overpass::lint;

pub use sparql::without_triples;

use answer::AnswerSample;

const RUNTIME: &str = "runtime error";
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
    pub errors: Vec<FeedbackProblem>,
    /// The results; `null` if the query has errors or did not run.
    pub results: Option<FeedbackResults>,
    /// Warnings about probable mistakes.
    pub warnings: Vec<FeedbackWarning>,
}

/// An error in a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FeedbackProblem {
    /// `parse error`, `static error` or `runtime error`.
    pub class: &'static str,
    /// The code, for programs.
    pub code: &'static str,
    /// The message.
    pub message: String,
    /// The line, counted from 1, if known.
    pub line: Option<usize>,
    /// The column in characters, counted from 1.
    pub column: Option<usize>,
    /// An excerpt of the text with the position between `>>` and `<<`.
    pub near: Option<String>,
    /// The probable intention, or the remedy.
    pub hint: Option<String>,
}

/// A warning about a probable mistake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FeedbackWarning {
    /// The code, for programs.
    pub code: &'static str,
    /// The message.
    pub message: String,
    /// The nearest existing alternatives, with counts.
    pub nearest: Vec<String>,
}

impl From<lint::LintWarning> for FeedbackWarning {
    fn from(warning: lint::LintWarning) -> FeedbackWarning {
        FeedbackWarning { code: warning.code.name(), message: warning.message, nearest: warning.nearest }
    }
}

/// Formats a warning as a line.
impl fmt::Display for FeedbackWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if !self.nearest.is_empty() {
            write!(f, "; there is {}", self.nearest.join(", "))?;
        }
        Ok(())
    }
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
        StopReason::Panicked(panic) => {
            let message = format!("looking at the query failed, by a fault of the program: {panic}");
            let error = at("", None, RUNTIME, OverpassCode::Defect.name(), message, None);
            Feedback { errors: vec![error], ..Feedback::default() }
        }
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
        Err(OverpassRejection::Shortcut(problem)) => {
            return Feedback { errors: vec![shortcut(asked.query, &problem)], ..Feedback::default() };
        }
        Err(OverpassRejection::Syntax { text, failure }) => {
            return Feedback { errors: problems(&text, &failure), ..Feedback::default() };
        }
    };
    let osm = engine.osm();
    if !asked.run {
        return match lint::warnings(osm, &text, &script, false, &asked.limits, budget) {
            Ok(warnings) => {
                Feedback { warnings: warnings.into_iter().map(FeedbackWarning::from).collect(), ..Feedback::default() }
            }
            Err(exceeded) => over(exceeded, "while its filters were held against the data"),
        };
    }
    let keys = lint::keys(&script);
    let mut sample = AnswerSample::new(asked.sample, &keys);
    if let Err(failure) = terrapin_overpass::run_into(osm, &script, &asked.limits, &mut sample) {
        return Feedback { errors: problems(&text, &failure), ..Feedback::default() };
    }
    let results = sample.finish();
    let is_nothing = results.count == 0 || results.is_zero;
    match lint::warnings(osm, &text, &script, is_nothing, &asked.limits, budget) {
        Ok(warnings) => {
            let warnings = warnings.into_iter().map(FeedbackWarning::from).collect();
            Feedback { errors: Vec::new(), results: Some(results), warnings }
        }
        Err(exceeded) => over(exceeded, "while its filters were held against the data"),
    }
}

/// Converts a shortcut that cannot be replaced to an error in the query.
fn shortcut(query: &str, problem: &ShortcutProblem) -> FeedbackProblem {
    let hint = match problem.reason {
        Reason::NoPlace => Some("use a name of an area in the data, or a filter by tag"),
        Reason::NoBox => Some("give a box, or write one into the query: (south,west,north,east)"),
        _ => None,
    };
    let (start, length) = (problem.position, problem.shortcut.len() + "{{}}".len());
    let (class, code) = (OverpassErrorClass::Parse.name(), OverpassCode::Shortcut.name());
    at(query, Some((start, start + length)), class, code, problem.to_string(), hint.map(str::to_owned))
}

/// Returns the error for an exceeded budget.
fn reached(budget: &Budget, when: &str) -> Feedback {
    over(budget.check().err().unwrap_or(ExceededLimit::Cancelled), when)
}

/// Returns the error for a limit exceeded outside the run of the query.
fn over(exceeded: ExceededLimit, when: &str) -> Feedback {
    let hint = Some("ask for less: fewer filters, fewer names".to_owned());
    let error = at("", None, RUNTIME, OverpassCode::from(exceeded).name(), format!("{exceeded}, {when}"), hint);
    Feedback { errors: vec![error], ..Feedback::default() }
}

fn problems(text: &str, failure: &OverpassFailure) -> Vec<FeedbackProblem> {
    let problem = |d: &terrapin_overpass::Diagnostic| {
        let place = d.span.map(|span| (span.start, span.end));
        let mut problem = at(text, place, d.class.name(), d.code.name(), d.message.clone(), d.help.clone());
        if problem.line.is_none() && d.line > 0 {
            problem.line = Some(d.line as usize);
        }
        problem
    };
    failure.diagnostics.iter().take(ERRORS).map(problem).collect()
}

/// Returns an error at a byte range of a text.
fn at(
    text: &str,
    place: Option<(usize, usize)>,
    class: &'static str,
    code: &'static str,
    message: String,
    hint: Option<String>,
) -> FeedbackProblem {
    let place = place.map(|(start, end)| {
        let border = |at: usize| (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
        let (start, end) = (border(start), border(end.max(start)));
        let (before, rest) = text.split_at(start);
        let (inside, after) = rest.split_at(end - start);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let tail: String = before.chars().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect();
        let head: String = after.chars().take(20).collect();
        let inside: String = inside.chars().take(40).collect();
        let column = before.get(line_start..).map_or(1, |line| line.chars().count() + 1);
        (before.matches('\n').count() + 1, column, format!("{tail}>>{inside}<<{head}"))
    });
    FeedbackProblem {
        class,
        code,
        message,
        line: place.as_ref().map(|(line, ..)| *line),
        column: place.as_ref().map(|(_, column, _)| *column),
        near: place.map(|(.., near)| near),
        hint,
    }
}

/// Formats feedback for a prompt: one fact per line.
impl fmt::Display for Feedback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for problem in &self.errors {
            write!(f, "{}: {}", problem.class, problem.message)?;
            match (problem.line, problem.column) {
                (Some(line), Some(column)) => write!(f, " (line {line}, column {column})")?,
                (Some(line), None) => write!(f, " (line {line})")?,
                _ => {}
            }
            writeln!(f)?;
            if let Some(near) = &problem.near {
                writeln!(f, "  at: {near}")?;
            }
            if let Some(hint) = &problem.hint {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_told_in_lines_and_characters() {
        let text = "node[ä=b];\nway[x=(y];out;";
        let start = text.find('(').unwrap();
        let problem = at(text, Some((start, start + 1)), "parse error", "x", "m".to_owned(), None);
        assert_eq!((problem.line, problem.column), (Some(2), Some(7)));
        assert_eq!(problem.near.as_deref(), Some("node[ä=b];\nway[x=>>(<<y];out;"));
        // Within a character, and after the end.
        assert!(at(text, Some((6, 999)), "parse error", "x", String::new(), None).near.is_some());
    }
}
