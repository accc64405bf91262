//! Scores single pairs for interactive clients, such as a server's client or a trainer: a record per pair, as in a
//! run of its benchmark, within limits of its own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use terrapin_budget::{self as budget, Budget, Limits, StopReason};
use terrapin_diagnostic::{Diagnostic, DiagnosticClass, LocatedDiagnostic, QueryWarning};
use terrapin_engine::Engine;
use terrapin_geocoder::{PlaceSource, Until};
use terrapin_osm::BoundingBox;
use terrapin_overpass::OverpassCode;
use terrapin_sparql::SparqlSettings;

use crate::benchmarks::Benchmark;
use crate::benchmarks::jsonl::JsonLines;
use crate::benchmarks::overpassnl::{AnswerBounds, OverpassNl, without_shortcuts};
use crate::cache::ResultCache;
use crate::feedback::{FeedbackRequest, NoTriples, feedback, without_triples};
use crate::language::QueryLanguage;
use crate::record::{ErrorClass, Execution, FailureClass, Instance, ResultRecord, StrictResults};

/// The maximum length of one query's answer in bytes.
const LARGEST: u64 = 256 << 20;

const OTHERS_TOOK_ALL: &str = "the request's time was used up by the pairs before";
const TEXTS_TOOK_ALL: &str = "reading the queries took all that they may take";

/// Further values for the reward of a model in training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RewardSummary {
    /// The number of gold results; -1 or -2 for an error, `null` if it did not run.
    pub ref_n: Option<i64>,
    /// The same for the predicted query.
    pub pred_n: Option<i64>,
    /// The class of the predicted query's failure.
    pub error: Option<&'static str>,
    /// 1 if the prediction is a query in its language, else 0, independently of the gold query.
    pub syntax: u8,
    /// The syntax error of the predicted query, with its position.
    pub problem: Option<LocatedDiagnostic>,
    /// The parts of the predicted query that match no data, with the nearest existing alternatives.
    pub warnings: Vec<QueryWarning>,
}

/// The outcome of a pair.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    /// Its record.
    #[serde(flatten)]
    pub record: ResultRecord,
    /// The summary, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<RewardSummary>,
}

/// The data and limits for scoring pairs.
pub struct Scoring<'a> {
    /// The snapshot.
    pub engine: &'a Engine,
    /// The geocoded places.
    pub places: &'a dyn PlaceSource,
    /// The limits of all pairs together; memory is per pair.
    pub limits: &'a Limits,
    /// The time limit of each query. A gold query shared by many predictions does not use up their time.
    pub each: Option<Duration>,
    /// Also compare OverpassQL queries as texts and trees.
    pub similarity: bool,
    /// The cache of results.
    pub cache: &'a dyn ResultCache,
    /// Receives the messages of panics.
    pub fault: &'a (dyn Fn(&str) + Sync),
}

impl Scoring<'_> {
    /// Scores one pair: OverpassQL like `terrapin eval overpassnl`, SPARQL like `terrapin eval jsonl`. Each query has
    /// the time of `each`, within `limits`.
    pub fn pair(&self, instance: &Instance) -> ResultRecord {
        let now = Instant::now();
        if self.limits.deadline.is_some_and(|deadline| now >= deadline) {
            return unfinished(instance, OTHERS_TOOK_ALL);
        }
        // Names are geocoded before any query runs.
        let deadline = self.deadline(1);
        let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let places = Until::new(self.places, &is_over);
        // Both queries and the processing of their texts share one memory account.
        let account = Some(self.limits.account.clone().unwrap_or_default());
        let limits = Limits { account, ..self.limits.clone() };
        // Each run has its own budget; this one limits the processing of the texts.
        let budget = Arc::new(Budget::new(&Limits { deadline: self.deadline(3), ..limits.clone() }));
        let bounds = AnswerBounds { limits, largest: LARGEST, each: self.each };
        match budget::watched(&budget, || self.record(instance, &places, bounds)) {
            Ok(_) if places.was_cut() => unfinished(instance, TEXTS_TOOK_ALL),
            Ok(record) => record,
            Err(StopReason::Exceeded(_)) => unfinished(instance, TEXTS_TOOK_ALL),
            Err(StopReason::Panicked(panic)) => {
                (self.fault)(&panic);
                let why = "not scored, by a fault of the program";
                failed(instance, ErrorClass::UnknownError, FailureClass::Internal, why)
            }
        }
    }

    /// Scores one pair, with a summary if requested.
    ///
    /// # Errors
    /// Damaged data were read: no score is reliable.
    pub fn pair_with(&self, instance: &Instance, summary: bool) -> Result<Scored, terrapin_snapshot::Error> {
        self.engine.checked(|| {
            let record = self.pair(instance);
            let summary = summary.then(|| self.summary(instance, &record));
            Scored { record, summary }
        })
    }

    /// Returns the deadline of work that starts now with the time of a number of queries.
    fn deadline(&self, queries: u32) -> Option<Instant> {
        let own = self.each.and_then(|each| Instant::now().checked_add(each.checked_mul(queries)?));
        [self.limits.deadline, own].into_iter().flatten().min()
    }

    /// Returns the summary of a scored pair. Positions refer to the prediction as given.
    fn summary(&self, instance: &Instance, record: &ResultRecord) -> RewardSummary {
        let limits = Limits { deadline: self.deadline(1), ..self.limits.clone() };
        let query = &instance.pred;
        let language = Some(instance.language());
        let bbox = instance.bbox.as_deref().and_then(|bbox| bbox.parse::<BoundingBox>().ok());
        let (dialect, places) = (instance.dialect(), self.places);
        let asked = FeedbackRequest { query, language, dialect, bbox, places, sample: 0, run: false, limits };
        let said = feedback(self.engine, &asked).unwrap_or_else(|NoTriples| without_triples());
        let ran = record.ran().unwrap_or_default();
        let (ref_n, pred_n, error) = (ran.ref_n, ran.pred_n, ran.error);
        let syntax = u8::from(is_query(instance, record));
        RewardSummary { ref_n, pred_n, error, syntax, problem: said.errors.into_iter().next(), warnings: said.warnings }
    }

    /// Returns the record of a pair as in a run of its benchmark.
    fn record(&self, instance: &Instance, places: &dyn PlaceSource, bounds: AnswerBounds) -> ResultRecord {
        let (engine, cache) = (Some(self.engine), self.cache);
        if instance.language() == QueryLanguage::Sparql {
            return JsonLines { engine, places, similarity: self.similarity, cache, bounds }.score(instance).record;
        }
        OverpassNl { engine, places, similarity: self.similarity, cache, bounds }.score(instance).record
    }
}

/// Reports whether the prediction of a scored pair is a query in its language, by its run or, if it did not run, by
/// its text.
fn is_query(instance: &Instance, record: &ResultRecord) -> bool {
    if let Some(strict) = &record.strict {
        let settings = SparqlSettings { dialect: instance.dialect(), ..SparqlSettings::default() };
        let parses = || terrapin_sparql::prepare(&instance.pred, &settings).is_ok();
        return strict.error.map_or(strict.pred_n.is_some() || parses(), |class| !class.is_bad_request() && parses());
    }
    let parses = || terrapin_overpass::parse(&without_shortcuts(&instance.pred)).is_ok();
    let execution = record.execution.as_ref();
    match execution.and_then(|execution| execution.error) {
        Some(ErrorClass::RelativeDate) => false,
        Some(_) => parses(),
        None => execution.is_some_and(|execution| execution.pred_n.is_some_and(|n| n >= 0)) || parses(),
    }
}

/// Returns the record and summary of a pair with a gold query or prediction that is not valid Unicode, with the reason
/// for each.
pub fn unreadable(instance: &Instance, gold: Option<String>, pred: Option<String>) -> Scored {
    let mut record = ResultRecord::of(instance);
    let refused = |message| Diagnostic::new(DiagnosticClass::Parse, OverpassCode::UnexpectedToken.name(), message);
    let problem = pred.clone().map(refused).map(LocatedDiagnostic::from);
    if instance.language() == QueryLanguage::Sparql {
        let class = |wrong: &Option<String>| wrong.as_ref().map(|_| FailureClass::Syntax);
        record.strict = Some(StrictResults {
            error: class(&pred),
            ref_error: class(&gold),
            error_text: pred,
            ref_error_text: gold,
            syntax: u8::from(problem.is_none()),
            multiset: Some(0),
            f1: Some(0.0),
            ..StrictResults::default()
        });
    } else {
        let class = |wrong: &Option<String>| wrong.as_ref().map(|_| ErrorClass::ParseError);
        record.execution = Some(Execution {
            ref_n: class(&gold).map(ErrorClass::count),
            pred_n: class(&pred).map(ErrorClass::count),
            error: class(&pred),
            ref_error: class(&gold),
            error_text: pred,
            ref_error_text: gold,
            multiset: Some(0),
            f1: Some(0.0),
            ..Execution::default()
        });
    }
    let (ref_n, pred_n, error) = record.ran().map(|ran| (ran.ref_n, ran.pred_n, ran.error)).unwrap_or_default();
    let syntax = u8::from(problem.is_none() && is_query(instance, &record));
    let summary = RewardSummary { ref_n, pred_n, error, syntax, problem, warnings: Vec::new() };
    Scored { record, summary: Some(summary) }
}

/// Returns the record of a pair that was not run; it counts as a timeout.
fn unfinished(instance: &Instance, why: &str) -> ResultRecord {
    failed(instance, ErrorClass::RuntimeErrorTimeout, FailureClass::Timeout, &format!("not run: {why}"))
}

/// Returns the record of a failed pair, with the class of its failure in either language.
fn failed(instance: &Instance, class: ErrorClass, of_sparql: FailureClass, why: &str) -> ResultRecord {
    let text = || Some(why.to_owned());
    if instance.language() == QueryLanguage::Sparql {
        let strict = StrictResults {
            error: Some(of_sparql),
            ref_error: Some(of_sparql),
            ref_error_text: text(),
            ..StrictResults::failed(why.to_owned())
        };
        return ResultRecord { strict: Some(strict), ..ResultRecord::of(instance) };
    }
    let execution = Execution {
        ref_n: Some(class.count()),
        pred_n: Some(class.count()),
        error: Some(class),
        error_text: text(),
        ref_error: Some(class),
        ref_error_text: text(),
        multiset: Some(0),
        f1: Some(0.0),
        ..Execution::default()
    };
    ResultRecord { execution: Some(execution), ..ResultRecord::of(instance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_none_costs_its_pair() {
        for (lang, gold) in [(None, "node(1);out;"), (Some("sparql".to_owned()), "ASK {}")] {
            let instance = Instance { gold: gold.to_owned(), pred: gold.to_owned(), lang, ..Instance::default() };
            let why = || Some("not Unicode text".to_owned());
            let pred = unreadable(&instance, None, why());
            let summary = pred.summary.unwrap();
            assert_eq!((summary.syntax, summary.problem.map(|p| p.diagnostic.message)), (0, why()), "{gold}");
            assert!(summary.error.is_some() && pred.record.ran().unwrap().ref_error.is_none(), "{gold}");
            let gold_alone = unreadable(&instance, why(), None);
            assert_eq!(gold_alone.summary.unwrap().syntax, 1, "{gold}");
            assert!(gold_alone.record.ran().unwrap().ref_error.is_some(), "{gold}");
        }
    }
}
