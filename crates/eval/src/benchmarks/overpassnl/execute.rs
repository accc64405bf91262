//! Runs both queries of an instance and compares the results.

use std::sync::Arc;

use super::order;
use super::points::MapOf;
use super::prepared::PreparedQuery;
use crate::benchmarks::unknown;
use crate::feedback::QueryIdentifiers;
use crate::metric::{Metric, ScoreSource};
use crate::metrics::execution::{ExecutionResults, ExecutionScore, ResultSides, score, strict};
use crate::record::{Compat, ErrorClass, Execution, FailedQuery, ResultRecord, StoredOutcome};
use crate::stored;
use terrapin_osm::Osm;
use terrapin_overpass::syntax::{Detail, Script, Statement, StatementKind};

/// The maximum number of ids of missing and of extra elements in a record.
const SAMPLE: usize = 10;

/// Runs a prepared query.
pub type QueryRunner<'a> = &'a dyn Fn(&PreparedQuery) -> Result<ExecutionResults, FailedQuery<ErrorClass>>;

/// The metrics of results: the published ones, then stricter ones. To add one, set a named score of the record
/// ([`ScoreSource::Named`]) in this module.
pub static METRICS: &[Metric] = &[
    Metric::of_results(
        "ex",
        "EX",
        "1 where both queries give the same results and these are not empty, else 0.",
        ScoreSource::Part(|record| Some(f64::from(record.execution.as_ref()?.ex))),
    ),
    Metric::of_results(
        "ex_soft",
        "EX_soft",
        "The share of common elements in the larger of both results, 0 to 1, where neither is empty.",
        ScoreSource::Part(|record| Some(record.execution.as_ref()?.ex_soft)),
    ),
    Metric::of_results(
        "multiset",
        "multiset",
        "1 where both results are the same multiset and these are not empty, else 0; not given where a limit cut one.",
        ScoreSource::Part(|record| earned(record, |execution| execution.multiset.map(f64::from))),
    ),
    Metric::of_results(
        "f1",
        "row F1",
        "F1 over results matched one to one, 0 to 1, and 0 where both are empty; not given where a limit cut one.",
        ScoreSource::Part(|record| earned(record, |execution| execution.f1)),
    ),
];

/// Returns a score of a record, or zero if both results are empty, because most wrong queries also find no elements.
fn earned(record: &ResultRecord, score: fn(&Execution) -> Option<f64>) -> Option<f64> {
    let execution = record.execution.as_ref()?;
    score(execution).map(|score| if execution.ran().is_nothing_twice() { 0.0 } else { score })
}

/// Runs both queries and adds the results to the outcome. If one cannot be prepared, neither runs. With data, a
/// sample of the results is also located.
pub fn execute(
    gold: Result<PreparedQuery, FailedQuery<ErrorClass>>,
    pred: Result<PreparedQuery, FailedQuery<ErrorClass>>,
    osm: Option<&Osm>,
    engine: QueryRunner<'_>,
    outcome: &mut StoredOutcome,
) {
    let mut execution = Execution::default();
    if let Err(failed) = &gold {
        execution.ref_n = Some(failed.class.count());
        gold_failed(&mut execution, failed);
    }
    if let Err(failed) = &pred {
        execution.pred_n = Some(failed.class.count());
        pred_failed(&mut execution, failed);
    }
    for (prepared, text) in [(&gold, &mut outcome.record.gold), (&pred, &mut outcome.record.pred)] {
        if let Ok(prepared) = prepared {
            prepared.text().clone_into(text);
        }
    }
    let compat = |prepared: &Result<PreparedQuery, _>| prepared.as_ref().ok().and_then(|query| query.compat().cloned());
    outcome.record.compat = Compat::of_errors(compat(&gold), compat(&pred));
    // Equal texts have equal scripts.
    let is_same = gold == pred;
    let gold = gold.map(ParsedQuery::of);
    let pred = if is_same { gold.clone() } else { pred.map(ParsedQuery::of) };
    if let Some(osm) = osm {
        let found = |query: &Result<ParsedQuery, _>| {
            query.as_ref().ok()?.script.as_deref().map(|script| QueryIdentifiers::of_overpass(osm, script))
        };
        let gold_found = found(&gold);
        let pred_found = if is_same { gold_found.clone() } else { found(&pred) };
        unknown::set(gold_found.as_ref(), pred_found.as_ref(), &mut outcome.record);
    }
    match (gold, pred) {
        (Ok(gold), Ok(pred)) => run_both(&gold, &pred, osm, engine, &mut execution, outcome),
        _ => (execution.multiset, execution.f1) = (Some(0), Some(0.0)),
    }
    outcome.record.execution = Some(execution);
}

/// A prepared query with its syntax tree, if it can be parsed.
#[derive(Clone)]
struct ParsedQuery {
    query: PreparedQuery,
    script: Option<Arc<Script>>,
}

impl ParsedQuery {
    fn of(query: PreparedQuery) -> ParsedQuery {
        let script = query.parse().ok().map(Arc::new);
        ParsedQuery { query, script }
    }

    /// Reports whether a limit of an `out` may have cut the results.
    fn cuts(&self, results: &ExecutionResults) -> bool {
        self.script.as_ref().is_some_and(|script| is_cut(script, results))
    }
}

fn run_both(
    gold: &ParsedQuery,
    pred: &ParsedQuery,
    osm: Option<&Osm>,
    engine: QueryRunner<'_>,
    execution: &mut Execution,
    outcome: &mut StoredOutcome,
) {
    let gold_results = FailedQuery::guard(|| engine(&gold.query));
    // Equal texts have equal results.
    let pred_results =
        if pred.query == gold.query { gold_results.clone() } else { FailedQuery::guard(|| engine(&pred.query)) };
    execution.ref_n = Some(number(&gold_results));
    execution.pred_n = Some(number(&pred_results));
    if let Err(failed) = &gold_results {
        gold_failed(execution, failed);
    }
    if let Err(failed) = &pred_results {
        pred_failed(execution, failed);
    }
    let (Ok(gold_results), Ok(pred_results)) = (&gold_results, &pred_results) else {
        (execution.multiset, execution.f1) = (Some(0), Some(0.0));
        if let Ok(gold_results) = &gold_results {
            order::score(gold.script.as_deref(), gold.query.text(), gold_results, None, &mut outcome.record);
        }
        return;
    };
    order::score(gold.script.as_deref(), gold.query.text(), gold_results, Some(pred_results), &mut outcome.record);
    let ExecutionScore { ex, ex_soft } = score(gold_results, pred_results);
    execution.ex = ex;
    execution.ex_soft = stored(ex_soft);
    execution.limited = gold.cuts(gold_results) || pred.cuts(pred_results);
    if !execution.limited {
        let strict = strict(gold_results, pred_results);
        execution.multiset = Some(strict.multiset);
        execution.f1 = Some(stored(strict.f1));
    }
    let (ExecutionResults::Elements(gold, _), ExecutionResults::Elements(pred, _)) = (gold_results, pred_results)
    else {
        return;
    };
    let sides = ResultSides::of(gold, pred);
    execution.missing = sides.missing.iter().take(SAMPLE).map(ToString::to_string).collect();
    execution.extra = sides.extra.iter().take(SAMPLE).map(ToString::to_string).collect();
    outcome.map = osm.map(|osm| MapOf::new(osm).points(gold, pred)).unwrap_or_default();
}

fn number(results: &Result<ExecutionResults, FailedQuery<ErrorClass>>) -> i64 {
    match results {
        Ok(results) => results.number(),
        Err(failed) => failed.class.count(),
    }
}

fn gold_failed(execution: &mut Execution, failed: &FailedQuery<ErrorClass>) {
    (execution.ref_error, execution.ref_error_text) = (Some(failed.class), Some(failed.text.clone()));
}

fn pred_failed(execution: &mut Execution, failed: &FailedQuery<ErrorClass>) {
    (execution.error, execution.error_text) = (Some(failed.class), Some(failed.text.clone()));
}

/// Reports whether a limit of an `out` may have cut the results.
fn is_cut(script: &Script, results: &ExecutionResults) -> bool {
    let ExecutionResults::Elements(keys, _) = results else { return false };
    least_limit(&script.statements).is_some_and(|limit| keys.len() as u64 >= limit)
}

/// Returns the smallest limit of a query's `out` statements for elements.
pub(crate) fn limit_of(query: &str) -> Option<u64> {
    terrapin_overpass::parse(query).ok().and_then(|script| least_limit(&script.statements))
}

/// Returns the smallest limit of a block's `out` statements for elements.
fn least_limit(block: &[Statement]) -> Option<u64> {
    let of = |statement: &Statement| match &statement.kind {
        StatementKind::Out(out) if out.detail != Detail::Count => out.limit,
        kind => kind.blocks().into_iter().filter_map(least_limit).min(),
    };
    block.iter().filter_map(of).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::execution::ResultElement;
    use terrapin_geocoder::PlaceTable;

    /// Reads the number of nodes to return from the query.
    fn engine(query: &PreparedQuery) -> Result<ExecutionResults, FailedQuery<ErrorClass>> {
        let digits = query.text().rsplit(';').find_map(|part| part.strip_prefix("nodes=")).unwrap_or("none");
        match digits {
            "panic" => panic!("on purpose"),
            "none" => Err(FailedQuery::new(ErrorClass::ParseError, "line 1: parse error: x")),
            digits => Ok(ExecutionResults::elements(
                (1..=digits.parse().unwrap()).map(|id| ResultElement { kind: "node".to_owned(), id }).collect(),
            )),
        }
    }

    fn record(gold: &str, pred: &str) -> Execution {
        let prepared = |query| PreparedQuery::published(query, None, &PlaceTable::default());
        let mut outcome = StoredOutcome::default();
        execute(prepared(gold), prepared(pred), None, &engine, &mut outcome);
        outcome.record.execution.unwrap()
    }

    #[test]
    fn what_a_line_gives() {
        let half = record(";nodes=20;", ";nodes=40;");
        assert_eq!((half.ref_n, half.pred_n, half.ex, half.ex_soft), (Some(20), Some(40), 0, 0.5));
        assert_eq!(half.extra.len(), SAMPLE);
        assert_eq!(half.extra.first().map(String::as_str), Some("node/21"));
        let wrong = record(";nodes=2;", "x");
        assert_eq!((wrong.pred_n, wrong.error), (Some(-1), Some(ErrorClass::ParseError)));
        let fault = record(";nodes=2;", ";nodes=panic;");
        assert_eq!((fault.pred_n, fault.error), (Some(-2), Some(ErrorClass::UnknownError)));
        let nowhere = record(";nodes=2;", "{{geocodeArea:X}};nodes=2;");
        assert_eq!((nowhere.ref_n, nowhere.pred_n, nowhere.error), (None, Some(-1), Some(ErrorClass::Nominatim)));
    }

    #[test]
    fn the_stricter_scores_count_what_ex_does_not_and_leave_out_what_is_cut() {
        let half = record(";nodes=20;", ";nodes=40;");
        assert_eq!((half.multiset, half.f1), (Some(0), Some(stored(2.0 / 3.0))));
        let empty = record(";nodes=0;", ";nodes=0;");
        assert_eq!((empty.ex, empty.multiset, empty.f1), (0, Some(1), Some(1.0)));
        let wrong = record(";nodes=2;", "x");
        assert_eq!((wrong.multiset, wrong.f1), (Some(0), Some(0.0)));
        let results = |n| ExecutionResults::elements(vec![ResultElement { kind: "node".to_owned(), id: 1 }; n]);
        let limited = terrapin_overpass::parse("foreach{out 5;}out 3;").unwrap();
        assert!(is_cut(&limited, &results(3)) && !is_cut(&limited, &results(2)));
        let count = terrapin_overpass::parse("out;out count 1;").unwrap();
        assert!(!is_cut(&count, &results(3)) && !is_cut(&limited, &ExecutionResults::Count(9)));
    }
}
