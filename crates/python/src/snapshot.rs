//! The class `Snapshot` and its methods.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use terrapin_base::LoadProgress;
use terrapin_base::stack::STACK;
use terrapin_budget::{self as budget, ExceededLimit};
use terrapin_engine::{Engine, EngineOptions, SparqlRejection};
use terrapin_entities::EntityKind;
use terrapin_eval::feedback::{Feedback, FeedbackRequest, NoTriples, feedback, without_triples};
use terrapin_eval::language::QueryLanguage;
use terrapin_load::{LoadError, LoadOptions};
use terrapin_overpass::output::Recording;
use terrapin_snapshot::facts;
use terrapin_sparql::{self as sparql, SparqlSettings};

use crate::answer::Answer;
use crate::bounds::{self, CallLimits};
use crate::data::{self, Shortcuts};
use crate::lookup;
use crate::raise::{self, RefusedQuery};
use crate::scores;
use crate::solutions::{Solutions, Taken};
use crate::unicode::PythonText;
use crate::work::{self, Stop};

/// Maximum number of results in feedback.
const MOST_SHOWN: usize = 100;

/// An open snapshot.
#[pyclass(frozen, module = "terrapin_osm._native")]
pub struct Snapshot {
    engine: Arc<Engine>,
    results: scores::ScoreCache,
}

#[pymethods]
impl Snapshot {
    /// Opens a snapshot file; `cache` is the size in bytes of the cache of decoded pages.
    #[staticmethod]
    #[pyo3(signature = (path, cache=None))]
    fn open(py: Python<'_>, path: PathBuf, cache: Option<u64>) -> PyResult<Snapshot> {
        let defaults = EngineOptions::default();
        let options = EngineOptions { cache: cache.unwrap_or(defaults.cache), ..defaults };
        let engine = py.detach(|| Engine::open(&path, options)).map_err(|error| raise::of_file(py, &error))?;
        Ok(Snapshot { engine: Arc::new(engine), results: scores::ScoreCache::default() })
    }

    /// The digest, which identifies the snapshot.
    #[getter]
    fn digest(&self) -> &str {
        self.engine.digest()
    }

    /// Whether the snapshot contains triples.
    #[getter]
    fn has_triples(&self) -> bool {
        self.engine.triples().is_some()
    }

    /// Returns the facts about the snapshot as JSON.
    fn info(&self) -> String {
        facts::to_json(self.engine.digest(), self.engine.snapshot().file_len(), self.engine.manifest()).to_string()
    }

    /// Runs a query in OverpassQL or its XML form.
    #[pyo3(signature = (query, timeout=None, max_memory=None, bbox=None, places=None, stop=None))]
    #[expect(clippy::too_many_arguments, reason = "they are a function's of Python, by name")]
    fn overpass(
        &self,
        py: Python<'_>,
        query: String,
        timeout: Option<f64>,
        max_memory: Option<u64>,
        bbox: Option<&str>,
        places: Option<&str>,
        stop: Option<&Stop>,
    ) -> PyResult<Answer> {
        let bounds = CallLimits::new(timeout, max_memory, stop)?;
        let shortcuts = Shortcuts { bbox: bounds::bbox(bbox)?, places: data::places(places)? };
        let (engine, stop) = (Arc::clone(&self.engine), Arc::clone(&bounds.stop));
        let answer = work::wait(py, &stop, move || data::overpass(&engine, &query, &shortcuts, &bounds))?;
        answer.map(Answer::new).map_err(|refused| refused.raise(py))
    }

    /// Runs many queries on all cores. Returns a result, or an exception for a failed query, in the order of the
    /// queries.
    #[pyo3(signature = (queries, timeout=None, max_memory=None, bbox=None, places=None, threads=None, stop=None))]
    #[expect(clippy::too_many_arguments, reason = "they are a function's of Python, by name")]
    fn overpass_many(
        &self,
        py: Python<'_>,
        queries: Vec<PythonText>,
        timeout: Option<f64>,
        max_memory: Option<u64>,
        bbox: Option<&str>,
        places: Option<&str>,
        threads: Option<usize>,
        stop: Option<&Stop>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let bounds = CallLimits::new(timeout, max_memory, stop)?;
        let shortcuts = Shortcuts { bbox: bounds::bbox(bbox)?, places: data::places(places)? };
        let (engine, stop) = (Arc::clone(&self.engine), Arc::clone(&bounds.stop));
        let count = queries.len();
        let answer = move |number: usize| match &queries[number] {
            PythonText { text, wrong: None } => data::overpass(&engine, text, &shortcuts, &bounds),
            PythonText { text, wrong: Some(wrong) } => Err(RefusedQuery::unreadable(wrong, text.as_str())),
        };
        let answers = work::batch(py, &stop, threads, count, answer)?;
        let object = |answer: Result<Recording, RefusedQuery>| match answer {
            Ok(recording) => Ok(Py::new(py, Answer::new(recording))?.into_any()),
            Err(refused) => Ok(refused.exception(py)?.unbind()),
        };
        answers.into_iter().map(object).collect()
    }

    /// Runs a SPARQL query.
    #[pyo3(signature = (query, timeout=None, max_memory=None, max_rows=None, language="en", dialect="auto", stop=None))]
    #[expect(clippy::too_many_arguments, reason = "they are a function's of Python, by name")]
    fn sparql(
        &self,
        py: Python<'_>,
        query: String,
        timeout: Option<f64>,
        max_memory: Option<u64>,
        max_rows: Option<u64>,
        language: &str,
        dialect: &str,
        stop: Option<&Stop>,
    ) -> PyResult<Solutions> {
        let bounds = CallLimits::new(timeout, max_memory, stop)?;
        let dialect = scores::dialect(dialect)?;
        let settings = SparqlSettings { language: language.to_owned(), dialect, ..SparqlSettings::default() };
        let (engine, stop) = (Arc::clone(&self.engine), Arc::clone(&bounds.stop));
        let solved = work::wait(py, &stop, move || {
            let limits = bounds.limits();
            let refused = |error: sparql::SparqlError| RefusedQuery::new(vec![error.erase()], query.as_str());
            let read = engine.run(&limits, || engine.prepare_sparql(&query, &settings));
            let (prepared, environment) = match read.map_err(|stopped| RefusedQuery::stopped(stopped, &query))? {
                Ok(prepared) => prepared,
                Err(SparqlRejection::NoTriples) => return Ok(None),
                Err(SparqlRejection::Syntax(error)) => return Err(refused(error)),
            };
            let mut taken = Taken::new(prepared.form());
            prepared.run(environment, &sparql::SparqlBounds { limits, rows: max_rows }, &mut taken).map_err(refused)?;
            Ok(Some(taken))
        })?;
        let taken = solved.map_err(|refused: RefusedQuery| refused.raise(py))?;
        taken.map(Solutions::new).ok_or_else(|| raise::snapshot(py, "no-triples", NO_TRIPLES))
    }

    /// Returns feedback that helps a model repair a query, as JSON.
    #[pyo3(signature = (query, lang=None, bbox=None, places=None, sample=5, timeout=None, max_memory=None, dialect="auto",
                        stop=None))]
    #[expect(clippy::too_many_arguments, reason = "they are a function's of Python, by name")]
    fn feedback(
        &self,
        py: Python<'_>,
        query: String,
        lang: Option<&str>,
        bbox: Option<&str>,
        places: Option<&str>,
        sample: usize,
        timeout: Option<f64>,
        max_memory: Option<u64>,
        dialect: &str,
        stop: Option<&Stop>,
    ) -> PyResult<String> {
        let (language, dialect) = (lang.map(scores::language).transpose()?, scores::dialect(dialect)?);
        let bounds = CallLimits::new(timeout, max_memory, stop)?;
        let (bbox, table) = (bounds::bbox(bbox)?, data::places(places)?);
        let (engine, stop) = (Arc::clone(&self.engine), Arc::clone(&bounds.stop));
        let said = work::wait(py, &stop, move || {
            let (limits, sample) = (bounds.limits(), sample.min(MOST_SHOWN));
            let places = engine.places(table.as_ref());
            let query = query.as_str();
            let request =
                FeedbackRequest { query, language, dialect, bbox, places: &places, sample, run: true, limits };
            engine.checked(|| feedback(&engine, &request))
        })?;
        match said.map_err(|damage| raise::of_file(py, &damage))? {
            Ok(said) => Ok(as_json(&said)),
            Err(NoTriples) if lang.is_some() => Err(raise::snapshot(py, "no-triples", NO_TRIPLES)),
            Err(NoTriples) => Ok(as_json(&without_triples())),
        }
    }

    /// Searches for tags by English words. Returns JSON.
    #[pyo3(signature = (text, limit=10, timeout=None, stop=None))]
    fn search_tags(
        &self,
        py: Python<'_>,
        text: String,
        limit: usize,
        timeout: Option<f64>,
        stop: Option<&Stop>,
    ) -> PyResult<String> {
        let bounds = CallLimits::new(timeout, None, stop)?;
        let (engine, stop) = (Arc::clone(&self.engine), Arc::clone(&bounds.stop));
        let found = work::wait(py, &stop, move || lookup::search_tags(&engine, &text, limit, &bounds))?;
        found.map(|found| found.to_string()).map_err(|refused| refused.raise(py))
    }

    /// Searches for entities by name. Returns JSON; `kind` is `item`, `property` or `lexeme`.
    #[pyo3(signature = (text, kind="item", language="en", limit=8, timeout=None, stop=None))]
    #[expect(clippy::too_many_arguments, reason = "they are a function's of Python, by name")]
    fn search_entities(
        &self,
        py: Python<'_>,
        text: String,
        kind: &str,
        language: &str,
        limit: usize,
        timeout: Option<f64>,
        stop: Option<&Stop>,
    ) -> PyResult<String> {
        let kind = match kind {
            "item" => EntityKind::Item,
            "property" => EntityKind::Property,
            "lexeme" => EntityKind::Lexeme,
            other => {
                let message = format!("{other:?}: expected \"item\", \"property\" or \"lexeme\"");
                return Err(PyValueError::new_err(message));
            }
        };
        let bounds = CallLimits::new(timeout, None, stop)?;
        let (engine, stop, language) = (Arc::clone(&self.engine), Arc::clone(&bounds.stop), language.to_owned());
        let found = work::wait(py, &stop, move || {
            let triples = engine.triples()?;
            Some(lookup::search_entities(&engine, triples, &text, kind, &language, limit, &bounds))
        })?;
        let found = found.ok_or_else(|| raise::snapshot(py, "no-triples", NO_TRIPLES))?;
        found.map(|found| found.to_string()).map_err(|refused| refused.raise(py))
    }

    /// Finds the area with a name. Returns JSON.
    #[pyo3(signature = (name, timeout=None, stop=None))]
    fn geocode(&self, py: Python<'_>, name: String, timeout: Option<f64>, stop: Option<&Stop>) -> PyResult<String> {
        let bounds = CallLimits::new(timeout, None, stop)?;
        let (engine, stop) = (Arc::clone(&self.engine), Arc::clone(&bounds.stop));
        let found = work::wait(py, &stop, move || lookup::geocode(&engine, &name, &bounds))?;
        found.map(|found| found.to_string()).map_err(|refused| refused.raise(py))
    }

    /// Scores pairs on all cores. Returns a line of JSON for each pair, in order; `first` is the number of the first
    /// pair.
    #[pyo3(signature = (gold, pred, bbox=None, lang="overpassql", places=None, timeout=None, max_memory=None,
                        similarity=true, summary=false, extract=false, first=1, threads=None, dialect="auto",
                        stop=None))]
    #[expect(clippy::too_many_arguments, reason = "they are a function's of Python, by name")]
    fn score_batch(
        &self,
        py: Python<'_>,
        gold: Vec<PythonText>,
        pred: Vec<PythonText>,
        bbox: Option<Vec<Option<String>>>,
        lang: &str,
        places: Option<&str>,
        timeout: Option<f64>,
        max_memory: Option<u64>,
        similarity: bool,
        summary: bool,
        extract: bool,
        first: usize,
        threads: Option<usize>,
        dialect: &str,
        stop: Option<&Stop>,
    ) -> PyResult<Vec<String>> {
        let (language, dialect) = (scores::language(lang)?, scores::dialect(dialect)?);
        if language == QueryLanguage::Sparql && self.engine.triples().is_none() {
            return Err(raise::snapshot(py, "no-triples", NO_TRIPLES));
        }
        let bounds = CallLimits::new(timeout, max_memory, stop)?;
        let places = data::places(places)?;
        let pairs = scores::Pairs { gold, pred, bbox, language, dialect, places, similarity, summary, extract, first };
        let cache = self.results.within(&bounds);
        scores::score(py, &self.engine, pairs, bounds, cache, threads)
    }
}

/// Returns feedback as JSON; the field `text` contains all of it in words.
fn as_json(said: &Feedback) -> String {
    let mut json = serde_json::to_value(said).unwrap_or_default();
    json["text"] = said.to_string().into();
    json.to_string()
}

const NO_TRIPLES: &str = "this snapshot has no triples: load some with wikidata= or rdf=";

/// A progress observer that unwinds a cancelled load.
struct Heeded {
    stop: Arc<AtomicBool>,
}

impl LoadProgress for Heeded {
    fn phase(&self, _: &str, _: u64) {
        self.advance(0);
    }

    fn advance(&self, _: u64) {
        if self.stop.load(Ordering::Relaxed) {
            budget::stop(ExceededLimit::Cancelled);
        }
    }
}

/// Creates a snapshot file and returns its digest.
#[pyfunction]
#[pyo3(signature = (out, osm=None, wikidata=Vec::new(), rdf=Vec::new(), at=None, history=false, metadata=true,
                    memory=1 << 30, stop=None))]
#[expect(clippy::too_many_arguments, reason = "they are a function's of Python, by name")]
pub fn load(
    py: Python<'_>,
    out: PathBuf,
    osm: Option<PathBuf>,
    wikidata: Vec<PathBuf>,
    rdf: Vec<PathBuf>,
    at: Option<i64>,
    history: bool,
    metadata: bool,
    memory: u64,
    stop: Option<&Stop>,
) -> PyResult<String> {
    if osm.is_none() && wikidata.is_empty() && rdf.is_empty() {
        return Err(PyValueError::new_err("there is nothing to load: give osm=, wikidata= or rdf="));
    }
    let options =
        LoadOptions { osm, wikidata, rdf, at, history, memory, without_metadata: !metadata, ..LoadOptions::new(out) };
    let stop = stop.map(|stop| Arc::clone(&stop.0)).unwrap_or_default();
    let heeded = Heeded { stop: Arc::clone(&stop) };
    let loaded = work::wait(py, &stop, move || {
        let pool = ThreadPoolBuilder::new().stack_size(STACK).build().map_err(|error| error.to_string())?;
        Ok(pool.install(|| terrapin_load::load(&options, &heeded)))
    })?;
    match loaded.map_err(|error: String| raise::other(error))? {
        Ok(loaded) => Ok(loaded.digest),
        Err(LoadError::Snapshot(error)) => Err(raise::of_file(py, &error)),
        Err(error) => Err(raise::snapshot(py, "source-broken", &error.to_string())),
    }
}
