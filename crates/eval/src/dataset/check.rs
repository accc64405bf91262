//! Checks whether a benchmark can be published. Every gold query runs twice, once on one thread and once on several.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::ThreadPool;
use serde::Serialize;

use super::answer::{AnswerLimit, GoldAnswer, GoldEngine, QueryFailure};
use super::duplicates::duplicates;
use super::measures::measures;
use super::near::{NEAR, near_duplicates};
use super::pairs::GoldPair;
use super::volatile::volatile;
use super::{BenchmarkFinding, FindingKind};

/// The result for a pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckedPair {
    /// The pair.
    #[serde(flatten)]
    pub pair: GoldPair,
    /// The number of results, if the query has an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<u64>,
    /// The BLAKE3 digest of its answer's bytes; for SPARQL, of its columns and rows in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The difficulty by measure.
    pub difficulty: BTreeMap<&'static str, f64>,
}

/// The result for a benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenchmarkCheck {
    /// The findings, worst first.
    pub findings: Vec<BenchmarkFinding>,
    /// The pairs in order.
    pub pairs: Vec<CheckedPair>,
}

impl BenchmarkCheck {
    /// Returns the number of findings of each kind, worst first.
    pub fn kinds(&self) -> Vec<(FindingKind, usize)> {
        let count = |kind: FindingKind| self.findings.iter().filter(|finding| finding.kind == kind).count();
        FindingKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0).collect()
    }
}

/// Checks the pairs. `alone` are pools of one thread each that run different queries concurrently; `together` has
/// several threads that run one query at a time. `done` is called after each of a pair's two runs.
pub fn check(
    engine: &GoldEngine<'_>,
    pairs: &[GoldPair],
    alone: &[ThreadPool],
    together: &ThreadPool,
    done: &(dyn Fn() + Sync),
) -> BenchmarkCheck {
    let first = run_alone(engine, pairs, alone, done);
    let mut findings = Vec::new();
    for (pair, answer) in pairs.iter().zip(&first) {
        if pair.question.trim().is_empty() {
            findings.push(BenchmarkFinding::of(pair, FindingKind::NoQuestion, "there is no question"));
        }
        findings.extend(volatile(engine, pair).into_iter().map(|(kind, text)| BenchmarkFinding::of(pair, kind, text)));
        let again = together.install(|| engine.ask(pair));
        done();
        match (answer, &again) {
            (Err(failure), Err(_)) => {
                findings.push(BenchmarkFinding::of(pair, FindingKind::Fails, failure.text.clone()))
            }
            (Err(failure), Ok(_)) | (Ok(_), Err(failure)) => {
                let text = format!("one of two runs failed: {}", failure.text);
                findings.push(BenchmarkFinding::of(pair, FindingKind::NotDeterministic, text));
            }
            (Ok(answer), Ok(again)) => of_answer(pair, answer, again, &mut findings),
        }
    }
    findings.extend(duplicates(pairs));
    findings.extend(near_duplicates(pairs, NEAR));
    findings.sort_by_key(|finding| finding.kind);
    let answers: Vec<Option<&GoldAnswer>> = first.iter().map(|answer| answer.as_ref().ok()).collect();
    let measures = together.install(|| measures(pairs, &answers));
    let checked = pairs.iter().zip(answers).zip(measures).map(|((pair, answer), difficulty)| CheckedPair {
        pair: pair.clone(),
        results: answer.map(|answer| answer.number),
        answer: answer.map(|answer| blake3::Hash::from(answer.digest).to_hex().to_string()),
        difficulty,
    });
    BenchmarkCheck { pairs: checked.collect(), findings }
}

/// Runs each query on one thread, with as many concurrent queries as pools.
fn run_alone(
    engine: &GoldEngine<'_>,
    pairs: &[GoldPair],
    pools: &[ThreadPool],
    done: &(dyn Fn() + Sync),
) -> Vec<Result<GoldAnswer, QueryFailure>> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for pool in pools {
            scope.spawn(|| {
                pool.install(|| {
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(pair) = pairs.get(index) else { break };
                        let answer = engine.ask(pair);
                        answers.lock().unwrap_or_else(PoisonError::into_inner).insert(index, answer);
                        done();
                    }
                });
            });
        }
    });
    let mut answers = answers.into_inner().unwrap_or_else(PoisonError::into_inner);
    let missing = || Err(QueryFailure { text: "it was not run".to_owned() });
    (0..pairs.len()).map(|index| answers.remove(&index).unwrap_or_else(missing)).collect()
}

pub(super) fn of_answer(
    pair: &GoldPair,
    answer: &GoldAnswer,
    again: &GoldAnswer,
    findings: &mut Vec<BenchmarkFinding>,
) {
    let mut add = |kind: FindingKind, text: String| findings.push(BenchmarkFinding::of(pair, kind, text));
    if answer.digest != again.digest {
        let (one, other) = (answer.number, again.number);
        add(FindingKind::NotDeterministic, format!("two runs gave other bytes ({one} and {other} results)"));
    }
    if answer.number == 0 {
        add(FindingKind::Empty, "there are no results".to_owned());
    }
    match answer.cut {
        Some(AnswerLimit { limit, ordered: true }) => {
            add(
                FindingKind::CutInOrder,
                format!("the answer reaches LIMIT {limit}: equal rows may stand on either side of the cut"),
            );
        }
        Some(AnswerLimit { limit, ordered: false }) => {
            let (number, what) = (answer.number, if answer.rows { "LIMIT" } else { "`out` with the limit" });
            add(
                FindingKind::Cut,
                format!("{number} results reach {what} {limit}, and nothing says which ones it leaves"),
            );
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(digest: u8, number: u64, cut: Option<AnswerLimit>) -> GoldAnswer {
        GoldAnswer { digest: [digest; 32], number, elements: Vec::new(), rows: false, cut }
    }

    #[test]
    fn an_answer_is_whole_and_the_same_twice() {
        let found = |one: &GoldAnswer, other: &GoldAnswer| {
            let mut findings = Vec::new();
            of_answer(&GoldPair::default(), one, other, &mut findings);
            findings.into_iter().map(|finding| finding.kind).collect::<Vec<_>>()
        };
        let good = answer(1, 7, None);
        assert_eq!(found(&good, &good), []);
        assert_eq!(found(&good, &answer(2, 7, None)), [FindingKind::NotDeterministic]);
        let cut = answer(1, 0, Some(AnswerLimit { limit: 0, ordered: false }));
        assert_eq!(found(&cut, &cut), [FindingKind::Empty, FindingKind::Cut]);
        let top = answer(1, 5, Some(AnswerLimit { limit: 5, ordered: true }));
        assert_eq!(found(&top, &top), [FindingKind::CutInOrder]);
    }
}
