//! SPARQL of any benchmark: both queries run on the snapshot's triples, and their answers are compared as tables of
//! values.
//!
//! Computes the `strict` scores: values only, optimally assigned columns, rows as multisets, two empty answers are
//! equal, and no instance skipped: failures score 0 with their reason.

mod answer;
mod ask;
mod cached;
mod failure;
mod top;

pub use answer::SparqlAnswer;
pub use ask::{TIMEOUT, ask};
pub use cached::ask_cached;
pub use top::Top;

use crate::benchmarks::{order, unknown};
use crate::feedback::QueryIdentifiers;
use crate::metric::{Metric, ScoreSource};
use crate::metrics::table::{ValueTable, aligned, score};
use crate::record::{FailedQuery, FailureClass, ResultRecord, StrictResults};
use crate::stored;
use terrapin_sparql::{Dialect, Environment};

/// The maximum number of missing and of extra rows in a record.
const SAMPLE: usize = 10;
/// The maximum length of a listed row in characters.
const SAMPLE_TEXT: usize = 300;

/// The metrics of answers. To add one, set a named score of the record ([`ScoreSource::Named`]) in [`compare`].
pub static METRICS: &[Metric] = &[
    Metric::of_results(
        "strict.syntax",
        "strict Syntax",
        "1 where the prediction is a query in the language, else 0.",
        ScoreSource::Part(|record| Some(f64::from(record.strict.as_ref()?.syntax))),
    ),
    Metric::of_results(
        "strict.overlap",
        "strict Overlap",
        "Common rows over those of the smaller answer, 0 to 1.",
        ScoreSource::Part(|record| Some(record.strict.as_ref()?.overlap)),
    ),
    Metric::of_results(
        "strict.jaccard",
        "strict Jaccard",
        "Common rows over all rows, 0 to 1.",
        ScoreSource::Part(|record| Some(record.strict.as_ref()?.jaccard)),
    ),
    Metric::of_results(
        "strict.dice",
        "strict Dice",
        "Twice the common rows over the sum of both answers', 0 to 1.",
        ScoreSource::Part(|record| Some(record.strict.as_ref()?.dice)),
    ),
    Metric::of_results(
        "strict.multiset",
        "strict multiset",
        "1 where the answers have as many columns and the same rows and these are not empty, else 0; not given where a limit \
         cut one.",
        ScoreSource::Part(|record| earned(record, |strict| strict.multiset.map(f64::from))),
    ),
    Metric::of_results(
        "strict.ordered",
        "strict ordered",
        "1 where the rows are also in the same order, else 0; given where the gold asks for an order.",
        ScoreSource::Part(|record| earned(record, |strict| strict.ordered.map(f64::from))),
    ),
    Metric::of_results(
        "strict.f1",
        "strict row F1",
        "F1 over rows matched one to one, 0 to 1, and 0 where both answers are empty; not given where a limit cut one.",
        ScoreSource::Part(|record| earned(record, |strict| strict.f1)),
    ),
];

/// Returns a score of a record, or zero if both answers are empty, because most wrong queries also have no results. The
/// paper's scores (Jaccard, overlap, Dice) follow the paper.
fn earned(record: &ResultRecord, score: fn(&StrictResults) -> Option<f64>) -> Option<f64> {
    let strict = record.strict.as_ref()?;
    score(strict).map(|score| if strict.ran().is_nothing_twice() { 0.0 } else { score })
}

/// Adds the shares of identifiers that the triples lack.
pub fn set_unknown(triples: &Environment, gold: &str, pred: &str, dialect: Dialect, record: &mut ResultRecord) {
    let of = |query| QueryIdentifiers::of_sparql(triples, query, dialect);
    let gold_found = of(gold);
    // Equal texts have equal identifiers.
    let pred_found = if pred == gold { gold_found.clone() } else { of(pred) };
    unknown::set(gold_found.as_ref(), pred_found.as_ref(), record);
}

/// A query and its result.
pub struct QueryComparison<'a> {
    /// The query as run.
    pub query: &'a str,
    /// Its dialect.
    pub dialect: Dialect,
    /// Its answer.
    pub answer: &'a Result<SparqlAnswer, FailedQuery<FailureClass>>,
}

impl QueryComparison<'_> {
    fn top(&self) -> Top {
        Top::of(self.query, self.dialect)
    }
}

/// Compares the results of two queries and adds the scores to the record.
pub fn compare(gold: &QueryComparison<'_>, pred: &QueryComparison<'_>, record: &mut ResultRecord) {
    compare_in_order(gold, pred, None, record);
}

/// Compares the results of two queries like [`compare`]. `ordered` sets whether the order of the rows matters; by
/// default it does if the gold query sets one.
pub fn compare_in_order(
    gold: &QueryComparison<'_>,
    pred: &QueryComparison<'_>,
    ordered: Option<bool>,
    record: &mut ResultRecord,
) {
    let orders = order_matters(gold, ordered);
    let strict = strict(gold, pred, orders);
    if let Ok(gold) = gold.answer
        && orders
        && !strict.limited
    {
        let (gold, pred) = (gold.table(), pred.answer.as_ref().map(SparqlAnswer::table).unwrap_or_default());
        let (gold, pred) = aligned(&gold, &pred);
        order::set(&gold, &pred, record);
    }
    record.strict = Some(strict);
}

/// Returns whether the order of the rows matters: as the benchmark sets it, or if the gold query sets an order.
fn order_matters(gold: &QueryComparison<'_>, ordered: Option<bool>) -> bool {
    ordered.unwrap_or_else(|| gold.top().orders)
}

fn strict(gold: &QueryComparison<'_>, pred: &QueryComparison<'_>, orders: bool) -> StrictResults {
    let rows = |result: &QueryComparison<'_>| result.answer.as_ref().ok().map(|answer| answer.rows.len() as u64);
    let mut strict = StrictResults { ref_n: rows(gold), pred_n: rows(pred), ..StrictResults::default() };
    if let Err(failed) = gold.answer {
        (strict.ref_error, strict.ref_error_text) = (Some(failed.class), Some(failed.text.clone()));
    }
    match pred.answer {
        Ok(_) => strict.syntax = 1,
        Err(failed) => {
            strict.syntax = u8::from(!failed.class.is_bad_request());
            (strict.error, strict.error_text) = (Some(failed.class), Some(failed.text.clone()));
        }
    }
    let (Ok(gold_answer), Ok(pred_answer)) = (gold.answer, pred.answer) else {
        (strict.multiset, strict.f1) = (Some(0), Some(0.0));
        strict.ordered = orders.then_some(0);
        return strict;
    };
    let (gold_table, pred_table) = (gold_answer.table(), pred_answer.table());
    let score = score(&gold_table, &pred_table);
    strict.jaccard = stored(score.jaccard);
    strict.overlap = stored(score.overlap);
    strict.dice = stored(score.dice);
    strict.limited = gold.top().cuts(gold_table.rows.len()) || pred.top().cuts(pred_table.rows.len());
    if !strict.limited {
        strict.multiset = Some(u8::from(score.multiset));
        strict.f1 = Some(stored(score.f1));
        strict.ordered = orders.then_some(u8::from(score.ordered));
    }
    if !score.multiset {
        strict.missing = only_in(&gold_table, &pred_table);
        strict.extra = only_in(&pred_table, &gold_table);
    }
    strict
}

/// Returns the first rows of one table that another lacks, with columns in order.
fn only_in(table: &ValueTable, other: &ValueTable) -> Vec<String> {
    let known: std::collections::BTreeSet<&Vec<String>> = other.rows.iter().collect();
    let text = |row: &Vec<String>| row.join(" | ").chars().take(SAMPLE_TEXT).collect();
    table.rows.iter().filter(|row| !known.contains(row)).take(SAMPLE).map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrapin_sparql::QueryResultForm;

    fn answer(columns: &str, rows: &[&str]) -> Result<SparqlAnswer, FailedQuery<FailureClass>> {
        let term = |text: &str| (text != "-").then(|| oxrdf::Literal::from(text).into());
        let cut = |row: &&str| row.split(' ').map(term).collect();
        let columns = columns.split(' ').map(str::to_owned).collect();
        Ok(SparqlAnswer { form: QueryResultForm::Select, columns, rows: rows.iter().map(cut).collect() })
    }

    fn scored(
        gold: (&str, Result<SparqlAnswer, FailedQuery<FailureClass>>),
        pred: (&str, Result<SparqlAnswer, FailedQuery<FailureClass>>),
    ) -> StrictResults {
        let gold = QueryComparison { query: gold.0, dialect: Dialect::Auto, answer: &gold.1 };
        let pred = QueryComparison { query: pred.0, dialect: Dialect::Auto, answer: &pred.1 };
        strict(&gold, &pred, order_matters(&gold, None))
    }

    const ALL: &str = "SELECT * { ?s ?p ?o }";

    #[test]
    fn nothing_is_dropped() {
        let some = || answer("x", &["a", "b"]);
        let broken = || Err(FailedQuery::new(FailureClass::Syntax, "line 1, column 1: x"));
        let slow = || Err(FailedQuery::new(FailureClass::Timeout, "too slow"));
        let wrong = scored((ALL, some()), ("x", broken()));
        assert_eq!((wrong.syntax, wrong.jaccard, wrong.multiset, wrong.f1), (0, 0.0, Some(0), Some(0.0)));
        assert_eq!((wrong.error, wrong.ref_n, wrong.pred_n), (Some(FailureClass::Syntax), Some(2), None));
        let late = scored((ALL, some()), (ALL, slow()));
        assert_eq!((late.syntax, late.jaccard, late.error), (1, 0.0, Some(FailureClass::Timeout)));
        let gold = scored((ALL, slow()), (ALL, some()));
        assert_eq!((gold.syntax, gold.jaccard, gold.ref_error), (1, 0.0, Some(FailureClass::Timeout)));
        let empty = scored((ALL, answer("x", &[])), (ALL, answer("y", &[])));
        assert_eq!((empty.jaccard, empty.overlap, empty.dice, empty.multiset), (1.0, 1.0, 1.0, Some(1)));
    }

    #[test]
    fn what_a_limit_cut_is_flagged_not_scored() {
        let some = || answer("x", &["a", "b"]);
        let cut = scored(("SELECT ?x { ?x ?y ?z } LIMIT 2", some()), (ALL, some()));
        assert!(cut.limited);
        assert_eq!((cut.multiset, cut.f1, cut.ordered, cut.jaccard), (None, None, None, 1.0));
        let ordered = "SELECT ?x { ?x ?y ?z } ORDER BY ?x LIMIT 2";
        let turned = scored((ordered, some()), (ALL, answer("x", &["b", "a"])));
        assert!(!turned.limited);
        assert_eq!((turned.multiset, turned.f1, turned.ordered), (Some(1), Some(1.0), Some(0)));
    }

    #[test]
    fn the_benchmark_may_set_whether_the_order_matters() {
        let (gold, pred) = (answer("x", &["a", "b"]), answer("x", &["b", "a"]));
        let of = |query: &str, ordered: Option<bool>| {
            let gold = QueryComparison { query, dialect: Dialect::Auto, answer: &gold };
            let pred = QueryComparison { query: ALL, dialect: Dialect::Auto, answer: &pred };
            strict(&gold, &pred, order_matters(&gold, ordered)).ordered
        };
        let sorted = "SELECT ?x { ?x ?y ?z } ORDER BY ?x";
        assert_eq!((of(ALL, None), of(ALL, Some(true)), of(ALL, Some(false))), (None, Some(0), None));
        assert_eq!((of(sorted, None), of(sorted, Some(false))), (Some(0), None));
    }

    #[test]
    fn a_row_that_is_missing_is_shown() {
        let scored = scored((ALL, answer("x y", &["a 1", "b -"])), (ALL, answer("x y", &["a 1", "c 3"])));
        assert_eq!((scored.jaccard, scored.overlap, scored.dice), (stored(1.0 / 3.0), 0.5, 0.5));
        assert_eq!((scored.missing, scored.extra), (vec!["b | ".to_owned()], vec!["c | 3".to_owned()]));
    }
}
