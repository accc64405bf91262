//! Instruct-to-SPARQL (CHIIR 2025): scores predicted SPARQL twice, in two sets that are never mixed.
//!
//! `compat` repeats the authors' code with all its quirks (`compat.rs`); `strict` follows their paper
//! (`super::sparql`). Labelled queries run with the identifiers that the snapshot has for their labels.

mod columns;
mod compat;
mod input;

pub use input::{Gold, Instructions, extract, read_generated, read_gold, read_predictions};

use super::common::common_metrics;
use super::registration::{Benchmark, Registration, ScoringInputs, nothing};
use super::sparql::{self, QueryComparison, ask_cached};
use super::texts;
use crate::cache::ResultCache;
use crate::metric::Metric;
use crate::record::{Compat, FailedQuery, FailureClass, Instance, ResultRecord, StoredOutcome, StrictResults};
use terrapin_budget::Limits;
use terrapin_engine::Engine;
use terrapin_sparql::Environment;
use terrapin_sparql::labelled::{SnapshotNames, unlabel};

/// The entry in the registry.
pub static REGISTRATION: Registration =
    Registration { name: "instruct-to-sparql", metrics, corpus: nothing, recompute };

fn metrics() -> Vec<&'static Metric> {
    compat::METRICS.iter().chain(sparql::METRICS).chain(common_metrics()).collect()
}

fn recompute(data: ScoringInputs<'_>) -> Box<dyn Benchmark + '_> {
    let ScoringInputs { engine, cache, .. } = data;
    Box::new(InstructToSparql { engine, cache })
}

/// The language of queries with labels instead of identifiers.
pub const LABELLED: &str = "sparql-labelled";
/// The language of labels, as in the benchmark.
const LANGUAGE: &str = "en";

/// The options of the benchmark.
pub struct InstructToSparql<'a> {
    /// The snapshot; without triples, queries are compared only as texts.
    pub engine: Option<&'a Engine>,
    /// The cache of answers.
    pub cache: &'a dyn ResultCache,
}

impl Benchmark for InstructToSparql<'_> {
    fn evaluate(&self, instance: &Instance) -> StoredOutcome {
        let mut outcome = StoredOutcome { record: ResultRecord::of(instance), ..StoredOutcome::default() };
        let (gold, pred, dialect) = (&instance.gold, &instance.pred, instance.dialect());
        let mut compat = Compat::of_texts(gold, pred);
        texts::set(gold, pred, instance.language(), &mut outcome.record);
        if let Some((engine, triples)) = self.engine.and_then(|engine| Some((engine, engine.triples()?))) {
            let labelled = instance.lang.as_deref() == Some(LABELLED);
            let (gold_run, gold_lost) = run_as(triples, labelled, gold);
            let (pred_run, pred_lost) = run_as(triples, labelled, pred);
            let ask = |query: &str, lost: Option<FailedQuery<FailureClass>>| match lost {
                Some(failed) => Err(failed),
                None => ask_cached(self.cache, engine.digest(), triples, query, dialect, &Limits::default()),
            };
            let gold_answer = ask(&gold_run, gold_lost);
            // Equal texts have equal answers.
            let pred_answer = if pred_run == gold_run { gold_answer.clone() } else { ask(&pred_run, pred_lost) };
            // The published code sends a labelled gold query unchanged, and every endpoint rejects it.
            if gold_run == *gold {
                compat.run(&gold_answer, &pred_answer);
            } else {
                compat.run(&Err(FailedQuery::new(FailureClass::Syntax, "sent with its labels")), &pred_answer);
            }
            let gold_result = QueryComparison { query: &gold_run, dialect, answer: &gold_answer };
            let pred_result = QueryComparison { query: &pred_run, dialect, answer: &pred_answer };
            sparql::set_unknown(triples, &gold_run, &pred_run, dialect, &mut outcome.record);
            sparql::compare(&gold_result, &pred_result, &mut outcome.record);
            (outcome.record.gold, outcome.record.pred) = (gold_run, pred_run);
        }
        outcome.record.compat = Some(compat);
        outcome
    }

    fn failed(&self, instance: &Instance, message: String) -> StoredOutcome {
        let mut compat = Compat { em: Some(0), codebleu: Some(0.0), parsed: Some(false), ..Compat::default() };
        let mut record = ResultRecord::of(instance);
        if self.engine.is_some_and(|engine| engine.triples().is_some()) {
            let failed = || Err(FailedQuery::new(FailureClass::Internal, message.clone()));
            compat.run(&failed(), &failed());
            record.strict = Some(StrictResults::failed(message));
        }
        StoredOutcome { record: ResultRecord { compat: Some(compat), ..record }, ..StoredOutcome::default() }
    }
}

/// Returns the query to run, or why it cannot run.
fn run_as(triples: &Environment, labelled: bool, query: &str) -> (String, Option<FailedQuery<FailureClass>>) {
    if !labelled {
        return (query.to_owned(), None);
    }
    let unlabelled = unlabel(query, &SnapshotNames { store: &triples.store, language: LANGUAGE });
    let lost = unlabelled.lost().map(|name| {
        let text = format!("no {} is called {:?} in this snapshot", name.kind.name(), name.name);
        FailedQuery::new(FailureClass::Label, text)
    });
    (unlabelled.text, lost)
}
