//! Execution accuracy over a suite of snapshots: a prediction is right only if its results equal those of the gold
//! query on every snapshot.
//!
//! Two different queries can have equal results on one snapshot by chance. Other dates, other regions and perturbed
//! copies tell them apart, like the distilled databases of test suite accuracy (Zhong, Yu and Klein: Semantic Evaluation
//! for Text-to-SQL with Distilled Test Suites, EMNLP 2020). Only pairs that are right on the first snapshot run on the
//! others, until one differs.

use super::registration::Benchmark;
use crate::metric::{Metric, ScoreSource};
use crate::record::{Counterexample, Instance, ResultRecord, Score, StoredOutcome};

/// The name of the metric.
pub(crate) const NAME: &str = "suite";

/// The metric of a run with a suite.
pub static METRIC: Metric = Metric::of_results(
    NAME,
    "EX suite",
    "1 where EX (of SPARQL: strict multiset) is 1 and the results are equal on all other snapshots of the suite, \
     else 0.",
    ScoreSource::Named,
);

/// A further snapshot of a suite.
pub struct SuiteMember<'a> {
    /// Its file name.
    pub name: String,
    /// Its digest.
    pub digest: &'a str,
    /// The benchmark that scores instances on it.
    pub benchmark: Box<dyn Benchmark + 'a>,
}

/// A benchmark on several snapshots.
pub struct Suite<'a> {
    /// The benchmark on the first snapshot, which gives all other scores.
    pub first: &'a dyn Benchmark,
    /// The other snapshots.
    pub others: Vec<SuiteMember<'a>>,
}

impl Benchmark for Suite<'_> {
    fn evaluate(&self, instance: &Instance) -> StoredOutcome {
        let mut outcome = self.first.score(instance);
        let Some(is_right) = is_right(&outcome.record) else { return outcome };
        if is_right {
            let as_run = as_run(instance, &outcome.record);
            outcome.record.counterexample = self.others.iter().find_map(|member| difference(member, &as_run));
        }
        let is_right = is_right && outcome.record.counterexample.is_none();
        outcome.record.scores.set(NAME, Score::Flag(is_right));
        outcome
    }

    fn failed(&self, instance: &Instance, message: String) -> StoredOutcome {
        let mut outcome = self.first.failed(instance, message);
        if outcome.record.ran().is_some() {
            outcome.record.scores.set(NAME, Score::Flag(false));
        }
        outcome
    }
}

/// Reports whether a prediction is right on one snapshot; `None` if no query ran, or a limit made rows of SPARQL
/// arbitrary. EX also compares cut results.
pub(crate) fn is_right(record: &ResultRecord) -> Option<bool> {
    match (&record.execution, &record.strict) {
        (Some(execution), _) => Some(execution.ex == 1),
        (None, Some(strict)) => strict.multiset.map(|equal| equal == 1 && strict.ran().has_signal()),
        (None, None) => None,
    }
}

/// Returns the instance for the other snapshots. SPARQL runs as on the first one, because identifiers that were found
/// by their labels must stay the same. OverpassQL is prepared again, because area ids differ.
fn as_run(instance: &Instance, record: &ResultRecord) -> Instance {
    if record.strict.is_none() {
        return instance.clone();
    }
    let (gold, pred) = (record.gold.clone(), record.pred.clone());
    Instance { gold, pred, lang: Some("sparql".to_owned()), ..instance.clone() }
}

/// Returns the results of both queries on a snapshot if they differ. A snapshot on which the gold query fails, or a
/// limit makes results arbitrary, shows no difference.
fn difference(member: &SuiteMember<'_>, instance: &Instance) -> Option<Counterexample> {
    let record = member.benchmark.score(instance).record;
    let ran = record.ran()?;
    if ran.ref_error.is_some() {
        return None;
    }
    let is_same = match (&record.execution, &record.strict) {
        // Two empty results are equal, although EX is 0.
        (Some(execution), _) => execution.ex == 1 || execution.limited || execution.multiset == Some(1),
        (None, strict) => strict.as_ref()?.multiset? == 1,
    };
    (!is_same).then(|| Counterexample {
        name: member.name.clone(),
        snapshot: member.digest.to_owned(),
        ref_n: ran.ref_n,
        pred_n: ran.pred_n,
        error: ran.error.map(str::to_owned),
        missing: ran.missing.to_vec(),
        extra: ran.extra.to_vec(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ErrorClass, Execution, StrictResults};

    /// A snapshot on which every pair has the same outcome.
    struct Fixed(ResultRecord);

    impl Benchmark for Fixed {
        fn evaluate(&self, _: &Instance) -> StoredOutcome {
            StoredOutcome { record: self.0.clone(), ..StoredOutcome::default() }
        }

        fn failed(&self, _: &Instance, _: String) -> StoredOutcome {
            StoredOutcome::default()
        }
    }

    fn overpass(execution: Execution) -> ResultRecord {
        ResultRecord { execution: Some(execution), ..ResultRecord::default() }
    }

    fn found(ref_n: i64, pred_n: i64, ex: u8) -> ResultRecord {
        let multiset = Some(u8::from(ref_n == pred_n && (ex == 1 || ref_n == 0)));
        let missing = if ref_n > pred_n { vec!["node/1".to_owned()] } else { Vec::new() };
        overpass(Execution { ref_n: Some(ref_n), pred_n: Some(pred_n), ex, multiset, missing, ..Execution::default() })
    }

    fn suite(first: ResultRecord, others: Vec<ResultRecord>) -> ResultRecord {
        let first = Fixed(first);
        let member = |(index, record)| SuiteMember {
            name: format!("{index}.terrapin"),
            digest: "abc",
            benchmark: Box::new(Fixed(record)),
        };
        let others = others.into_iter().enumerate().map(member).collect();
        Suite { first: &first, others }.score(&Instance::default()).record
    }

    #[test]
    fn right_means_equal_on_all_snapshots() {
        let right = suite(found(3, 3, 1), vec![found(5, 5, 1), found(0, 0, 0)]);
        assert_eq!((right.scores.get(NAME), right.counterexample), (Some(1.0), None), "two empty results are equal");
        let wrong = suite(found(3, 3, 1), vec![found(5, 5, 1), found(4, 2, 0), found(9, 1, 0)]);
        assert_eq!(wrong.scores.get(NAME), Some(0.0));
        let shown = wrong.counterexample.unwrap();
        assert_eq!((shown.name.as_str(), shown.ref_n, shown.pred_n), ("1.terrapin", Some(4), Some(2)));
        assert_eq!(shown.missing, ["node/1"]);
    }

    #[test]
    fn a_wrong_pair_needs_no_other_snapshot() {
        let wrong = suite(found(3, 2, 0), vec![found(5, 5, 1)]);
        assert_eq!((wrong.scores.get(NAME), wrong.counterexample), (Some(0.0), None));
        let empty = suite(found(0, 0, 0), vec![found(5, 5, 1)]);
        assert_eq!(empty.scores.get(NAME), Some(0.0), "EX is 0 for empty results");
        assert_eq!(suite(ResultRecord::default(), Vec::new()).scores.get(NAME), None, "no query ran");
    }

    #[test]
    fn a_snapshot_on_which_the_gold_fails_shows_nothing() {
        let class = Some(ErrorClass::Nominatim);
        let gold_fails = Execution { ref_n: Some(-1), ref_error: class, error: class, ..Execution::default() };
        assert_eq!(suite(found(3, 3, 1), vec![overpass(gold_fails)]).scores.get(NAME), Some(1.0));
        let pred_fails = Execution { pred_n: Some(-1), error: class, ..Execution::default() };
        let refuted = suite(found(3, 3, 1), vec![overpass(pred_fails)]);
        assert_eq!(refuted.counterexample.unwrap().error.as_deref(), Some("nominatim"));
    }

    #[test]
    fn a_cut_result_shows_nothing() {
        let cut = Execution { ref_n: Some(5), pred_n: Some(5), limited: true, ..Execution::default() };
        assert_eq!(suite(found(3, 3, 1), vec![overpass(cut.clone())]).scores.get(NAME), Some(1.0));
        assert_eq!(suite(overpass(cut), Vec::new()).scores.get(NAME), Some(0.0), "EX compares cut results");
    }

    #[test]
    fn rows_of_sparql_are_compared_as_multisets() {
        let rows = |multiset, limited| ResultRecord {
            strict: Some(StrictResults { ref_n: Some(2), multiset, limited, ..StrictResults::default() }),
            ..ResultRecord::default()
        };
        let of = |first, other| suite(rows(first, first.is_none()), vec![rows(other, other.is_none())]);
        assert_eq!(of(Some(1), Some(1)).scores.get(NAME), Some(1.0));
        assert_eq!(of(Some(1), Some(0)).scores.get(NAME), Some(0.0));
        assert_eq!(of(Some(1), None).scores.get(NAME), Some(1.0), "arbitrary rows show nothing");
        assert_eq!(of(None, Some(1)).scores.get(NAME), None);
    }
}
