//! SPARQL over a snapshot's triples, as the Wikidata Query Service answers it: text → tokens → algebra → the dialect
//! rewritten → solutions in a defined order. Knows nothing of files on disk, of HTTP or of benchmarks.
//!
//! ```text
//! environment.rs  what queries are asked of
//! answer.rs   what they are answered to
//! row.rs      solutions
//! moment.rs, order.rs  dates, and the order of terms
//! rewrite/    services, dates, random values, subqueries with LIMIT → what the evaluator can solve
//! services/   what a service needs, a file each
//! elements/   OpenStreetMap's elements as triples
//! plan/       the order of joins, and paths as relations
//! functions/  functions that the evaluator does not have
//! waiting.rs  what waits until its variables have values
//! native/     most patterns, solved on our own
//! guard.rs    the evaluator's view of the triples: bounds hold in every loop
//! run/explain.rs  explains how a query is solved
//! solve.rs    ORDER BY, LIMIT, DISTINCT at the top
//! construct.rs  solutions to triples
//! tables.rs   subqueries solved before, put in their places
//! each_graph.rs  GRAPH, solved in one graph after the other
//! refusal.rs  errors from within functions
//! blank.rs    labels of blank nodes that a query makes
//! run.rs      a prepared query to its answer
//! labelled/   labels for identifiers in a query's text, and back
//! results/    answers in the formats of the SPARQL Protocol
//! ```

mod answer;
mod blank;
mod construct;
mod each_graph;
mod elements;
mod environment;
mod functions;
pub mod geo;
mod guard;
pub mod labelled;
mod moment;
mod native;
mod order;
pub mod plan;
mod refusal;
pub mod results;
mod rewrite;
mod row;
mod run;
mod services;
mod solve;
mod tables;
mod waiting;

use std::sync::{Arc, LazyLock};

use oxrdf::{NamedNode, Variable};
use quick_cache::sync::Cache;

pub use answer::{Bounds, Sink, Summary};
pub use elements::{Elements, asked_key, asks_numbers, meant_predicates, names_elements};
pub use environment::Environment;
pub use syntax::{Dialect, Extension};
use terrapin_budget as budget;
pub use terrapin_sparql_syntax as syntax;
use terrapin_sparql_syntax::algebra::QueryForm;
pub use terrapin_sparql_syntax::error;
pub use terrapin_sparql_syntax::{Class, Code, Error};

/// Prepared queries that are kept, about.
const KEPT: usize = 512;
/// Bytes that they take at most, about.
const KEPT_BYTES: u64 = 64 << 20;
/// Longest text of a query that is kept, in bytes.
const KEPT_TEXT: usize = 16 << 10;

/// What to do where a query is of triples, and the snapshot has none.
pub const WITHOUT_TRIPLES: &str = "query its elements in SPARQL, as in SELECT * { ?e osmkey:amenity \"cafe\" } LIMIT 10, \
                                   or load triples with --wikidata or --rdf";

/// How queries are read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The language.
    pub dialect: Dialect,
    /// What `[AUTO_LANGUAGE]` stands for.
    pub language: String,
    /// The graphs that the query is about whatever it says itself: those that make up its default graph, and its named
    /// ones. Where both are empty, the query says.
    pub graphs: (Vec<NamedNode>, Vec<NamedNode>),
}

impl Default for Settings {
    fn default() -> Self {
        Settings { dialect: Dialect::Wdqs, language: "en".to_owned(), graphs: Default::default() }
    }
}

/// The form of a query, which decides what its answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Solutions.
    Select,
    /// Yes or no.
    Ask,
    /// Triples.
    Graph,
}

/// A query that was read and found answerable.
#[derive(Debug)]
pub struct Prepared {
    rewritten: rewrite::Rewritten,
    extensions: Vec<Extension>,
    /// Of the query's text.
    digest: [u8; 32],
}

/// Reads a query and finds out whether it can be answered. The latest ones are kept.
///
/// # Errors
/// The text is not in the language, or needs what a snapshot cannot give.
pub fn prepare(text: &str, settings: &Settings) -> Result<Arc<Prepared>, Error> {
    static CACHE: LazyLock<Cache<(String, Settings), Arc<Prepared>, Weigher>> =
        LazyLock::new(|| Cache::with_weighter(KEPT, KEPT_BYTES, Weigher));
    if text.len() > KEPT_TEXT {
        return Ok(Arc::new(prepare_now(text, settings)?));
    }
    // Looking up by reference spares a copy of the text.
    #[derive(Hash)]
    struct Asked<'a>(&'a str, &'a Settings);
    impl quick_cache::Equivalent<(String, Settings)> for Asked<'_> {
        fn equivalent(&self, key: &(String, Settings)) -> bool {
            self.0 == key.0 && *self.1 == key.1
        }
    }
    if let Some(prepared) = CACHE.get(&Asked(text, settings)) {
        return Ok(prepared);
    }
    let prepared = Arc::new(prepare_now(text, settings)?);
    // What goes out for it is not this query's to free.
    budget::unwatched(|| CACHE.insert((text.to_owned(), settings.clone()), prepared.clone()));
    Ok(prepared)
}

/// What a prepared query takes: its tree, plan and program are some hundred times as long as its text.
#[derive(Clone)]
struct Weigher;

impl quick_cache::Weighter<(String, Settings), Arc<Prepared>> for Weigher {
    fn weight(&self, (text, _): &(String, Settings), _: &Arc<Prepared>) -> u64 {
        4096 + 400 * text.len() as u64
    }
}

fn prepare_now(text: &str, settings: &Settings) -> Result<Prepared, Error> {
    let parsed = syntax::parse(text, settings.dialect)?;
    let rewritten = rewrite::rewrite(parsed.query, parsed.named, settings)?;
    let digest = *blake3::hash(text.as_bytes()).as_bytes();
    Ok(Prepared { rewritten, extensions: parsed.extensions, digest })
}

impl Prepared {
    /// The query's form.
    pub fn form(&self) -> Form {
        match &self.rewritten.form {
            QueryForm::Select => Form::Select,
            QueryForm::Ask => Form::Ask,
            QueryForm::Construct(_) | QueryForm::Describe => Form::Graph,
        }
    }

    /// The variables of a SELECT.
    pub fn variables(&self) -> &[Variable] {
        &self.rewritten.plan.variables
    }

    /// Whether the query speaks of OpenStreetMap's elements, and can be asked of a snapshot that has nothing else.
    pub fn is_of_elements(&self) -> bool {
        self.rewritten.elements
    }

    /// What the query relies on beyond SPARQL 1.1.
    pub fn extensions(&self) -> &[Extension] {
        &self.extensions
    }

    /// Solves the query and tells how, instead of giving its answer.
    ///
    /// # Errors
    /// As [`Prepared::run`].
    pub fn explain(&self, environment: &Environment, bounds: &Bounds) -> Result<String, Error> {
        run::explain(self, environment, bounds)
    }

    /// Answers the query.
    ///
    /// # Errors
    /// A bound was reached, the answer could not be taken, or the snapshot is damaged; what went out so far is no answer.
    pub fn run(&self, environment: &Environment, bounds: &Bounds, sink: &mut dyn Sink) -> Result<Summary, Error> {
        run::run(self, environment, bounds, sink)
    }
}

/// Whether a text is a query of OpenStreetMap's elements, which a snapshot without triples answers, too.
pub fn is_of_elements(query: &str) -> bool {
    prepare(query, &Settings::default()).is_ok_and(|prepared| prepared.is_of_elements())
}
