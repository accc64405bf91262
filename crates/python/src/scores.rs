//! Scoring of query pairs, with the metrics of `terrapin eval`.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use terrapin_engine::Engine;
use terrapin_eval::cache::{BatchCache, InMemory};
use terrapin_eval::language::QueryLanguage;
use terrapin_eval::record::Instance;
use terrapin_eval::reply;
use terrapin_eval::scoring::{Scored, Scoring, unreadable};
use terrapin_geocoder::PlaceTable;
use terrapin_snapshot::Error;
use terrapin_sparql::Dialect;

use crate::bounds::CallLimits;
use crate::raise;
use crate::unicode::PythonText;
use crate::work;

/// Maximum size in bytes of the result cache, used by pairs that share a query.
const KEPT: usize = 256 << 20;

/// Pairs to score.
pub struct Pairs {
    /// The reference queries.
    pub gold: Vec<PythonText>,
    /// The predicted queries.
    pub pred: Vec<PythonText>,
    /// The bounding box for `{{bbox}}`, for each pair.
    pub bbox: Option<Vec<Option<String>>>,
    /// The language of all queries.
    pub language: QueryLanguage,
    /// The dialect of all queries in SPARQL.
    pub dialect: Dialect,
    /// Places by name.
    pub places: Option<PlaceTable>,
    /// Whether to compute text similarity as well.
    pub similarity: bool,
    /// Whether each record gets a summary.
    pub summary: bool,
    /// Whether predictions are replies of a language model, to extract the query from.
    pub extract: bool,
    /// The number of the first pair.
    pub first: usize,
}

/// A cache of query results between batches. Results may depend on the memory limit; a batch with another limit
/// therefore clears the cache.
#[derive(Default)]
pub struct ScoreCache(Mutex<Option<(Option<u64>, Arc<InMemory>)>>);

impl ScoreCache {
    /// Returns the cached results for the memory limit in `bounds`.
    pub fn within(&self, bounds: &CallLimits) -> Arc<InMemory> {
        let memory = bounds.of_each().memory;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some((known, results)) if *known == memory => Arc::clone(results),
            _ => {
                let results = Arc::new(InMemory::new(KEPT));
                *kept = Some((memory, Arc::clone(&results)));
                results
            }
        }
    }
}

/// Parses the name of a query language.
///
/// # Errors
/// Returns a `ValueError` for an unknown name.
pub fn language(name: &str) -> PyResult<QueryLanguage> {
    let wrong = || PyValueError::new_err(format!("lang {name:?}: expected \"overpassql\" or \"sparql\""));
    QueryLanguage::named(name).ok_or_else(wrong)
}

/// Parses the name of a dialect of SPARQL.
///
/// # Errors
/// Returns a `ValueError` for an unknown name.
pub fn dialect(name: &str) -> PyResult<Dialect> {
    let known = || Dialect::ALL.map(Dialect::name).join(", ");
    Dialect::named(name).ok_or_else(|| PyValueError::new_err(format!("dialect {name:?}: expected one of {}", known())))
}

impl Pairs {
    fn instance(&self, index: usize) -> Instance {
        let text = |texts: &[PythonText]| texts.get(index).map(|text| text.text.clone()).unwrap_or_default();
        let pred = text(&self.pred);
        Instance {
            line: self.first.saturating_add(index),
            gold: text(&self.gold),
            pred: if self.extract { reply::query(&pred, Some(self.language)) } else { pred },
            lang: (self.language == QueryLanguage::Sparql).then(|| "sparql".to_owned()),
            dialect: Some(self.dialect)
                .filter(|dialect| *dialect != Dialect::Auto)
                .map(|dialect| dialect.name().to_owned()),
            bbox: self.bbox.as_ref().and_then(|boxes| boxes.get(index)).cloned().flatten(),
            ..Instance::default()
        }
    }
}

/// Scores all pairs. Returns one record per pair, in order, as a line of JSON.
///
/// # Errors
/// Returns a `ValueError` for lists of different lengths or invalid options, and the errors of [`work::batch`].
pub fn score(
    py: Python<'_>,
    engine: &Arc<Engine>,
    pairs: Pairs,
    bounds: CallLimits,
    cache: Arc<InMemory>,
    threads: Option<usize>,
) -> PyResult<Vec<String>> {
    let count = pairs.gold.len();
    if pairs.pred.len() != count || pairs.bbox.as_ref().is_some_and(|boxes| boxes.len() != count) {
        return Err(PyValueError::new_err("gold, pred and bbox must have the same length"));
    }
    if pairs.language == QueryLanguage::Sparql && (pairs.bbox.is_some() || pairs.places.is_some()) {
        return Err(PyValueError::new_err("bbox and places are of OverpassQL: leave them out for SPARQL"));
    }
    let (engine, stop) = (Arc::clone(engine), Arc::clone(&bounds.stop));
    let limits = bounds.of_each();
    let batch = BatchCache::new(cache);
    let score = move |index: usize| {
        let places = engine.places(pairs.places.as_ref());
        let scoring = Scoring {
            engine: &engine,
            places: &places,
            limits: &limits,
            each: bounds.time,
            similarity: pairs.similarity,
            cache: &batch,
            // The record contains the error.
            fault: &|_| {},
        };
        let instance = pairs.instance(index);
        let [gold, pred] = [&pairs.gold, &pairs.pred].map(|texts| texts.get(index).and_then(|text| text.wrong.clone()));
        let scored = if gold.is_some() || pred.is_some() {
            let scored = unreadable(&instance, gold, pred);
            Scored { summary: scored.summary.filter(|_| pairs.summary), ..scored }
        } else {
            scoring.pair_with(&instance, pairs.summary)?
        };
        Ok(serde_json::to_string(&scored).unwrap_or_default())
    };
    let lines = work::batch(py, &stop, threads, count, score)?;
    // No score of a damaged snapshot is reliable.
    lines.into_iter().collect::<Result<_, Error>>().map_err(|error| raise::of_file(py, &error))
}
