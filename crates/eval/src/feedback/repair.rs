//! Repairs of a query without results: each is an edited query that was run and has results, or the same query in the
//! other language.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::answer::AnswerSample;
use super::{FeedbackRequest, FeedbackResults};
use crate::language::{self, QueryLanguage};
use terrapin_budget::Budget;
use terrapin_diagnostic::{LocatedDiagnostic, TextEdit};
use terrapin_engine::{Engine, SparqlRejection};
use terrapin_overpass::lint::{self, RepairEdit};
use terrapin_overpass::syntax::Script;
use terrapin_overpass::{Limits, parse};
use terrapin_sparql::SparqlSettings;

/// The maximum number of repairs.
const REPAIRS: usize = 6;
/// The maximum work of one repaired query. One that reads more elements is no repair.
const WORK: u64 = 20_000_000;
/// The maximum time of all repaired queries together.
const TIME: Duration = Duration::from_secs(5);

/// A query that repairs another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct QueryRepair {
    /// What the repair does, as an imperative.
    pub title: String,
    /// The number of results of the repaired query; `null` if it was not run or outputs counts.
    pub results: Option<usize>,
    /// The language of the repaired query.
    pub lang: &'static str,
    /// The repaired query.
    pub query: String,
    /// The edits that lead from the query, with its shortcuts replaced, to the repaired one.
    pub edits: Vec<TextEdit>,
}

/// Returns the limits of repaired queries: those of the request, and at most [`WORK`] each and [`TIME`] together.
fn limits(asked: &Limits) -> Limits {
    let deadline = Instant::now().checked_add(TIME);
    Limits {
        deadline: asked.deadline.map_or(deadline, |asked| deadline.map(|own| own.min(asked))),
        work: Some(asked.work.map_or(WORK, |asked| asked.min(WORK))),
        ..asked.clone()
    }
}

/// Returns the edits of an OverpassQL query that give it results, the likeliest first. Stops when a limit is reached.
pub(super) fn of_overpass(
    engine: &Engine,
    text: &str,
    script: &Script,
    asked: &FeedbackRequest<'_>,
    budget: &Budget,
) -> Vec<QueryRepair> {
    let mut repairs: Vec<QueryRepair> = Vec::new();
    let edits = lint::repairs(engine.osm(), text, script, budget).unwrap_or_default();
    let limits = limits(&asked.limits);
    let is_over = || limits.deadline.is_some_and(|deadline| Instant::now() >= deadline) || budget.check().is_err();
    let mut has_output = false;
    for RepairEdit { title, range, text: new, adds_output } in edits {
        if repairs.len() >= REPAIRS || is_over() {
            break;
        }
        // Of several outputs to add, the first that works is enough.
        if has_output {
            continue;
        }
        let edit = TextEdit { start: range.start, end: range.end, text: new };
        let Some(query) = edit.apply(text) else { continue };
        let Some(results) = results_of(engine, &query, &limits) else { continue };
        has_output = adds_output;
        let lang = QueryLanguage::OverpassQl.name();
        repairs.push(QueryRepair { title, results, lang, query, edits: vec![edit] });
    }
    repairs
}

/// Returns the edit that the first error proposes, if the edited query has results.
pub(super) fn of_error(
    engine: &Engine,
    text: &str,
    errors: &[LocatedDiagnostic],
    asked: &FeedbackRequest<'_>,
) -> Option<QueryRepair> {
    let edit = errors.first()?.diagnostic.edit.as_deref()?.clone();
    let title = match text.get(edit.start..edit.end)? {
        "" => format!("add the missing {:?}", edit.text),
        own => format!("replace {own} with {}", edit.text),
    };
    let query = edit.apply(text)?;
    let results = results_of(engine, &query, &limits(&asked.limits))?;
    Some(QueryRepair { title, results, lang: QueryLanguage::OverpassQl.name(), query, edits: vec![edit] })
}

/// Returns the number of results of a query, which is unknown if it outputs counts; `None` if it fails or has none.
fn results_of(engine: &Engine, query: &str, limits: &Limits) -> Option<Option<usize>> {
    let script = parse(query).ok()?;
    let mut sample = AnswerSample::new(1, &[]);
    terrapin_overpass::run_into(engine.osm(), &script, limits, &mut sample).ok()?;
    let FeedbackResults { count, types, is_zero, .. } = sample.finish();
    (count > 0 && !is_zero).then(|| Some(count).filter(|_| !types.contains_key("count")))
}

/// Returns the repair of a query that is written in the other language, if it can be parsed there.
pub(super) fn other_language(
    engine: &Engine,
    asked: &FeedbackRequest<'_>,
    taken: QueryLanguage,
) -> Option<QueryRepair> {
    let other = language::of(asked.query).filter(|other| *other != taken)?;
    let parses = match other {
        QueryLanguage::Sparql => {
            let prepared = engine.prepare_sparql(asked.query, &SparqlSettings::default());
            matches!(prepared, Ok(_) | Err(SparqlRejection::NoTriples))
        }
        // Its shortcuts are replaced when it is run.
        QueryLanguage::OverpassQl => true,
    };
    let title = match other {
        QueryLanguage::Sparql => "run it as SPARQL",
        QueryLanguage::OverpassQl => "run it as OverpassQL",
    };
    let query = asked.query.to_owned();
    parses.then(|| QueryRepair { title: title.to_owned(), results: None, lang: other.name(), query, edits: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repairs_have_limits_of_their_own_within_those_of_the_request() {
        let own = limits(&Limits::default());
        assert_eq!(own.work, Some(WORK));
        assert!(own.deadline.is_some_and(|deadline| deadline <= Instant::now() + TIME));
        let soon = Instant::now();
        let asked = Limits { work: Some(7), deadline: Some(soon), memory: Some(9), ..Limits::default() };
        let own = limits(&asked);
        assert_eq!((own.work, own.deadline, own.memory), (Some(7), Some(soon), Some(9)));
    }
}
