//! Published benchmarks of question answering over triples, each with its own metrics: QALD and LC-QuAD 2 with those
//! of GERBIL QA, SPINACH with the row F1 of its code, GeoQuestions1089 with executable queries and correct answers,
//! TEXT2SPARQL with the scores of its client and, for comparison, those of GERBIL QA and SPINACH.
//!
//! Queries run on a snapshot; without one, the answers in the files are compared.

mod answer;
mod input;

pub use input::{QaInstances, read_golds, with_predictions};

use super::registration::{Benchmark, Registration, ScoringInputs, nothing};
use super::sparql;
use crate::cache::ResultCache;
use crate::metric::{Metric, ScoreSource};
use crate::metrics::{gerbil, spinach, text2sparql};
use crate::record::{
    FailedQuery, FailureClass, GivenAnswers, Instance, ResultRecord, Score, StoredOutcome, StrictResults,
};
use crate::stored;
use answer::{as_text2sparql, of_answer, of_json, texts, values};
use terrapin_budget::Limits;
use terrapin_engine::Engine;

/// A published benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QaBenchmark {
    /// QALD-9, QALD-10 and others in QALD's JSON.
    Qald,
    /// LC-QuAD 2.0.
    LcQuad2,
    /// SPINACH.
    Spinach,
    /// GeoQuestions1089.
    GeoQuestions1089,
    /// TEXT2SPARQL.
    Text2Sparql,
}

/// The entry in the registry.
pub static QALD: Registration = Registration {
    name: "qald",
    metrics: || of(GERBIL),
    corpus: f1_qald,
    recompute: |data| again(QaBenchmark::Qald, data),
};
/// The entry in the registry.
pub static LCQUAD2: Registration = Registration {
    name: "lcquad2",
    metrics: || of(GERBIL),
    corpus: f1_qald,
    recompute: |data| again(QaBenchmark::LcQuad2, data),
};
/// The entry in the registry.
pub static SPINACH: Registration = Registration {
    name: "spinach",
    metrics: || of(ROWS),
    corpus: nothing,
    recompute: |data| again(QaBenchmark::Spinach, data),
};
/// The entry in the registry.
pub static GEOQUESTIONS1089: Registration = Registration {
    name: "geoquestions1089",
    metrics: || of(GEO),
    corpus: nothing,
    recompute: |data| again(QaBenchmark::GeoQuestions1089, data),
};

/// The entry in the registry.
pub static TEXT2SPARQL: Registration = Registration {
    name: "text2sparql",
    metrics: || CLIENT.iter().chain(GERBIL).chain(ROWS).chain(sparql::METRICS).collect(),
    corpus: f1_ndcg,
    recompute: |data| again(QaBenchmark::Text2Sparql, data),
};

const fn named(name: &'static str, title: &'static str, meaning: &'static str) -> Metric {
    Metric::of_results(name, title, meaning, ScoreSource::Named)
}

static GERBIL: &[Metric] = &[
    named("gerbil.precision", "Precision", "The share of the answers that are right, 0 to 1, as GERBIL QA has it."),
    named("gerbil.recall", "Recall", "The share of the right answers that were given, 0 to 1, as GERBIL QA has it."),
    named("gerbil.f1", "F1", "F1 over the set of answers, 0 to 1; its mean is GERBIL QA's Macro F1."),
    named(
        "gerbil.precision_qald",
        "Precision QALD",
        "Precision, 0 to 1, where giving no answer is no mistake: what GERBIL QA's Macro F1 QALD is made of.",
    ),
];

static CLIENT: &[Metric] = &[
    named(
        "text2sparql.precision",
        "set_P",
        "The share of the values that are right, 0 to 1, as TEXT2SPARQL's client has it.",
    ),
    named(
        "text2sparql.recall",
        "set_recall",
        "The share of the right values that were given, 0 to 1, as TEXT2SPARQL's client has it.",
    ),
    named("text2sparql.f1", "set_F", "F1 over the set of values, 0 to 1, as TEXT2SPARQL's client has it."),
    named(
        "text2sparql.ndcg",
        "ndcg",
        "nDCG of TEXT2SPARQL's client, 0 to 1, for questions whose order matters; it sorts values by their text.",
    ),
];

static ROWS: &[Metric] = &[
    named(
        "spinach.f1",
        "SPINACH F1",
        "F1 over rows matched one to one, 0 to 1; not given where neither answer has rows.",
    ),
    named("spinach.em", "SPINACH EM", "1 where that F1 is 1, else 0."),
];

static GEO: &[Metric] = &[
    named("geo.executable", "Executable", "1 where the prediction runs, else 0."),
    named(
        "geo.correct",
        "Correct",
        "1 where both answers have the same rows, whatever their order and columns, else 0.",
    ),
];

/// Returns the metrics of the set, followed by those of the language if a record has them.
fn of(own: &'static [Metric]) -> Vec<&'static Metric> {
    own.iter().chain(sparql::METRICS).collect()
}

/// Computes GERBIL QA's Macro F1 QALD in per cent, which is not a mean of instance scores.
fn f1_qald(_: &[Instance], records: &[ResultRecord]) -> Vec<(&'static str, f64)> {
    let mean = |name: &str| {
        let values: Vec<f64> = records.iter().filter_map(|record| record.scores.get(name)).collect();
        (!values.is_empty()).then(|| crate::bootstrap::mean(&values))
    };
    match (mean("gerbil.precision_qald"), mean("gerbil.recall")) {
        (Some(precision), Some(recall)) => vec![("gerbil.f1_qald", 100.0 * gerbil::f1_qald(precision, recall))],
        _ => Vec::new(),
    }
}

/// Computes the client's combination of F1 and nDCG in per cent, as `set_F_ndcg`.
fn f1_ndcg(instances: &[Instance], records: &[ResultRecord]) -> Vec<(&'static str, f64)> {
    let mut numbers = f1_qald(instances, records);
    let score =
        |record: &ResultRecord| Some((record.scores.get("text2sparql.f1")?, record.scores.get("text2sparql.ndcg")));
    let scores: Vec<(f64, Option<f64>)> = records.iter().filter_map(score).collect();
    numbers.extend(text2sparql::f1_ndcg(&scores).map(|mean| ("text2sparql.f1_ndcg", 100.0 * mean)));
    numbers
}

fn again<'a>(set: QaBenchmark, data: ScoringInputs<'a>) -> Box<dyn Benchmark + 'a> {
    let ScoringInputs { engine, cache, .. } = data;
    Box::new(QuestionAnswering { set, engine, cache, limits: Limits::default() })
}

/// The options of the benchmark.
pub struct QuestionAnswering<'a> {
    /// The benchmark.
    pub set: QaBenchmark,
    /// The snapshot; without triples, the answers in the files are compared.
    pub engine: Option<&'a Engine>,
    /// The cache of results.
    pub cache: &'a dyn ResultCache,
    /// Limits of each query, in addition to those of every run.
    pub limits: Limits,
}

/// An answer that may be missing.
type Asked = Result<sparql::SparqlAnswer, FailedQuery<FailureClass>>;

impl Benchmark for QuestionAnswering<'_> {
    fn evaluate(&self, instance: &Instance) -> StoredOutcome {
        let mut outcome = StoredOutcome { record: ResultRecord::of(instance), ..StoredOutcome::default() };
        let data = self.engine.and_then(|engine| Some((engine, engine.triples()?)));
        let (gold, pred) = match (data, &instance.answers) {
            (Some((engine, triples)), _) => {
                let dialect = instance.dialect();
                let ask =
                    |query| sparql::ask_cached(self.cache, engine.digest(), triples, query, dialect, &self.limits);
                let gold = ask(&instance.gold);
                let pred = if instance.pred == instance.gold { gold.clone() } else { ask(&instance.pred) };
                let results = |query, answer| sparql::QueryComparison { query, dialect, answer };
                sparql::compare(&results(&instance.gold, &gold), &results(&instance.pred, &pred), &mut outcome.record);
                let rows = |asked: &Asked| asked.as_ref().map_or(spinach::SpinachAnswer::None, of_answer);
                (rows(&gold), rows(&pred))
            }
            (None, Some(GivenAnswers { gold, pred })) => (of_json(gold), of_json(pred)),
            (None, None) => return outcome,
        };
        self.set.score((&gold, &pred), instance.ordered, &mut outcome.record);
        outcome
    }

    fn failed(&self, instance: &Instance, message: String) -> StoredOutcome {
        let mut record = ResultRecord::of(instance);
        record.strict = Some(StrictResults::failed(message));
        let none = spinach::SpinachAnswer::None;
        self.set.score((&none, &none), instance.ordered, &mut record);
        StoredOutcome { record, ..StoredOutcome::default() }
    }
}

impl QaBenchmark {
    /// Returns its entry in the registry.
    pub fn registration(self) -> &'static Registration {
        match self {
            QaBenchmark::Qald => &QALD,
            QaBenchmark::LcQuad2 => &LCQUAD2,
            QaBenchmark::Spinach => &SPINACH,
            QaBenchmark::GeoQuestions1089 => &GEOQUESTIONS1089,
            QaBenchmark::Text2Sparql => &TEXT2SPARQL,
        }
    }

    /// Scores an answer. `ordered` is whether the benchmark says that the order of rows matters.
    fn score(
        self,
        (gold, pred): (&spinach::SpinachAnswer, &spinach::SpinachAnswer),
        ordered: Option<bool>,
        record: &mut ResultRecord,
    ) {
        match self {
            QaBenchmark::Qald | QaBenchmark::LcQuad2 => set_gerbil(gold, pred, record),
            QaBenchmark::Spinach => set_rows(gold, pred, record),
            QaBenchmark::Text2Sparql => {
                let score = text2sparql::score(&as_text2sparql(gold), &as_text2sparql(pred));
                set(record, "text2sparql.precision", score.precision);
                set(record, "text2sparql.recall", score.recall);
                set(record, "text2sparql.f1", score.f1);
                if ordered == Some(true) {
                    set(record, "text2sparql.ndcg", score.ndcg);
                }
                set_gerbil(gold, pred, record);
                set_rows(gold, pred, record);
            }
            QaBenchmark::GeoQuestions1089 => {
                let runs = *pred != spinach::SpinachAnswer::None;
                record.scores.set("geo.executable", Score::Flag(runs));
                let same = runs && *gold != spinach::SpinachAnswer::None && texts(gold) == texts(pred);
                record.scores.set("geo.correct", Score::Flag(same));
            }
        }
    }
}

fn set(record: &mut ResultRecord, name: &'static str, score: f64) {
    record.scores.set(name, Score::Share(stored(score)));
}

fn set_gerbil(gold: &spinach::SpinachAnswer, pred: &spinach::SpinachAnswer, record: &mut ResultRecord) {
    let score = gerbil::score(&values(gold), &values(pred));
    set(record, "gerbil.precision", score.precision);
    set(record, "gerbil.recall", score.recall);
    set(record, "gerbil.f1", score.f1);
    set(record, "gerbil.precision_qald", score.precision_qald);
}

fn set_rows(gold: &spinach::SpinachAnswer, pred: &spinach::SpinachAnswer, record: &mut ResultRecord) {
    if let Some(f1) = spinach::f1(gold, pred) {
        set(record, "spinach.f1", f1);
        // Uses the computed value, not the rounded one.
        record.scores.set("spinach.em", Score::Flag(f1 == 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::NoCache;
    use serde_json::json;

    fn scored(set: QaBenchmark, gold: serde_json::Value, pred: serde_json::Value) -> ResultRecord {
        let answers = Some(GivenAnswers { gold, pred });
        let instance = Instance { line: 1, answers, ..Instance::default() };
        let benchmark = QuestionAnswering { set, engine: None, cache: &NoCache, limits: Limits::default() };
        benchmark.score(&instance).record
    }

    #[test]
    fn the_order_matters_where_the_benchmark_says_so() {
        let rows = json!([{"x": {"type": "uri", "value": "a"}}]);
        let answers = Some(GivenAnswers { gold: rows.clone(), pred: rows });
        let set = QaBenchmark::Text2Sparql;
        let benchmark = QuestionAnswering { set, engine: None, cache: &NoCache, limits: Limits::default() };
        let of = |ordered| {
            let instance = Instance { line: 1, answers: answers.clone(), ordered, ..Instance::default() };
            benchmark.score(&instance).record
        };
        let (ordered, other) = (of(Some(true)), of(None));
        let scores = |record: &ResultRecord| ["text2sparql.f1", "text2sparql.ndcg"].map(|name| record.scores.get(name));
        assert_eq!((scores(&ordered), scores(&other)), ([Some(1.0), Some(1.0)], [Some(1.0), None]));
        assert_eq!((other.scores.get("gerbil.f1"), other.scores.get("spinach.em")), (Some(1.0), Some(1.0)));
        assert!(f1_ndcg(&[], &[ordered, other]).contains(&("text2sparql.f1_ndcg", 100.0)));
    }

    #[test]
    fn given_answers_are_scored_without_data() {
        let uri = |name: &str, value: &str| json!({name: {"type": "uri", "value": value}});
        let rows = json!([uri("x", "a"), uri("x", "b")]);
        let results = json!({"head": {"vars": ["y"]}, "results": {"bindings": [uri("y", "a"), uri("y", "c")]}});
        assert_eq!(scored(QaBenchmark::Qald, rows.clone(), results.clone()).scores.get("gerbil.f1"), Some(0.5));
        assert_eq!(scored(QaBenchmark::Spinach, rows.clone(), results.clone()).scores.get("spinach.f1"), Some(0.5));
        assert_eq!(scored(QaBenchmark::Spinach, rows.clone(), rows.clone()).scores.get("spinach.em"), Some(1.0));
        let geo = scored(QaBenchmark::GeoQuestions1089, rows.clone(), json!([uri("z", "b"), uri("z", "a")]));
        assert_eq!((geo.scores.get("geo.executable"), geo.scores.get("geo.correct")), (Some(1.0), Some(1.0)));
        let ask = scored(QaBenchmark::Qald, json!({"head": {}, "boolean": true}), json!({"boolean": false}));
        assert_eq!(ask.scores.get("gerbil.f1"), Some(0.0));
        let silent = scored(QaBenchmark::Qald, rows, serde_json::Value::Null);
        assert_eq!(
            (silent.scores.get("gerbil.f1"), silent.scores.get("gerbil.precision_qald")),
            (Some(0.0), Some(1.0))
        );
        assert_eq!(f1_qald(&[], &[ask, silent]), [("gerbil.f1_qald", 0.0)]);
    }
}
