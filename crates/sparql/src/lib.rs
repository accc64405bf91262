//! Runs SPARQL queries on a snapshot's triples, with the behaviour of the Wikidata Query Service (WDQS) or of QLever. The
//! steps:
//! text → tokens → algebra → rewritten algebra → solutions in a defined order. This crate does not know files on disk,
//! HTTP or benchmarks.
//!
//! ```text
//! environment.rs       the data that queries run on
//! answer.rs            where answers are written to, and their limits
//! row.rs               solutions
//! moment.rs, order.rs  dates, and the order of terms
//! rewrite/             services, dates, random values, subqueries with LIMIT → patterns for the planner
//! services/            one file for each service of the dialect
//! elements/            OpenStreetMap's elements as triples
//! entailment/          triples that follow from stored ones by RDFS and by GeoSPARQL's rules
//! plan/                the order of joins, and paths as relations
//! functions/           functions that the expression library lacks
//! waiting.rs           filters and values that wait for their variables
//! native/              the execution engine
//! guard.rs             runs a query within its limits
//! run/explain.rs       EXPLAIN output
//! solve.rs             ORDER BY, LIMIT, DISTINCT at the top of a query
//! construct.rs         CONSTRUCT: solutions to triples
//! tables.rs            replaces placeholders with tables that are computed before the query
//! refusal.rs           errors raised inside functions
//! blank.rs             labels of the blank nodes that a query creates
//! run.rs               runs a prepared query
//! translate/           a query in another dialect
//! labelled/            labels for identifiers in a query's text, and back
//! results/             answers in the formats of the SPARQL Protocol
//! ```

mod answer;
mod blank;
mod construct;
mod elements;
mod entailment;
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
mod translate;
mod waiting;

use std::sync::{Arc, LazyLock};

use oxrdf::{NamedNode, Variable};
use quick_cache::sync::Cache;

pub use answer::{ResultSink, SparqlBounds, SparqlSummary};
pub use elements::{ElementSource, asked_key, asks_numbers, meant_predicates, names_elements};
pub use entailment::Entailment;
pub use environment::Environment;
pub use functions::{extension_aggregates, extension_functions};
pub use services::{is_endpoint, is_known_service};
pub use syntax::{Dialect, Extension};
use terrapin_budget as budget;
pub use terrapin_sparql_syntax as syntax;
use terrapin_sparql_syntax::algebra::QueryForm;
pub use terrapin_sparql_syntax::error;
pub use terrapin_sparql_syntax::{SparqlCode, SparqlError, SparqlErrorClass};
pub use translate::{Translation, translate};

/// Approximate maximum number of cached prepared queries.
const KEPT: usize = 512;
/// Approximate maximum size of the cache in bytes.
const KEPT_BYTES: u64 = 64 << 20;
/// Maximum length in bytes of a query text that is cached.
const KEPT_TEXT: usize = 16 << 10;

/// Help text for a query that needs triples when the snapshot has none.
pub const WITHOUT_TRIPLES: &str = "query its elements in SPARQL, as in SELECT * { ?e osmkey:amenity \"cafe\" } LIMIT 10, \
                                   or load triples with --wikidata or --rdf";

/// Settings for parsing and rewriting a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SparqlSettings {
    /// The query language.
    pub dialect: Dialect,
    /// The language code that replaces `[AUTO_LANGUAGE]`.
    pub language: String,
    /// The dataset that the request sets: the graphs merged into the default graph, and the named graphs. It overrides
    /// the query's own FROM clauses. If both lists are empty, the query's clauses apply.
    pub graphs: (Vec<NamedNode>, Vec<NamedNode>),
    /// The entailment regimes. The default is simple entailment.
    pub entailment: Entailment,
}

impl Default for SparqlSettings {
    fn default() -> Self {
        SparqlSettings {
            dialect: Dialect::default(),
            language: "en".to_owned(),
            graphs: Default::default(),
            entailment: Entailment::default(),
        }
    }
}

/// The form of a query, which determines the kind of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryResultForm {
    /// Solutions.
    Select,
    /// True or false.
    Ask,
    /// Triples.
    Graph,
}

/// A query that was parsed, checked and rewritten.
#[derive(Debug)]
pub struct RunnableQuery {
    rewritten: rewrite::Rewritten,
    extensions: Vec<Extension>,
    dialect: Dialect,
    /// The digest of the query's text.
    digest: [u8; 32],
}

/// Parses a query and checks that it can be answered. The most recent queries are cached.
///
/// # Errors
/// Returns an error if the text is not valid in the query language, or uses something that a snapshot cannot provide.
pub fn prepare(text: &str, settings: &SparqlSettings) -> Result<Arc<RunnableQuery>, SparqlError> {
    static CACHE: LazyLock<Cache<(String, SparqlSettings), Arc<RunnableQuery>, PreparedWeigher>> =
        LazyLock::new(|| Cache::with_weighter(KEPT, KEPT_BYTES, PreparedWeigher));
    if text.len() > KEPT_TEXT {
        return Ok(Arc::new(prepare_now(text, settings)?));
    }
    // Looking up by reference avoids a copy of the text.
    #[derive(Hash)]
    struct PreparedQueryKey<'a>(&'a str, &'a SparqlSettings);
    impl quick_cache::Equivalent<(String, SparqlSettings)> for PreparedQueryKey<'_> {
        fn equivalent(&self, key: &(String, SparqlSettings)) -> bool {
            self.0 == key.0 && *self.1 == key.1
        }
    }
    if let Some(prepared) = CACHE.get(&PreparedQueryKey(text, settings)) {
        return Ok(prepared);
    }
    let prepared = Arc::new(prepare_now(text, settings)?);
    // Runs outside the budget: entries evicted by the insertion were not allocated by this query.
    budget::unwatched(|| CACHE.insert((text.to_owned(), settings.clone()), prepared.clone()));
    Ok(prepared)
}

/// Estimates the size of a prepared query. Tree, plan and program take some hundred times the length of the text.
#[derive(Clone)]
struct PreparedWeigher;

impl quick_cache::Weighter<(String, SparqlSettings), Arc<RunnableQuery>> for PreparedWeigher {
    fn weight(&self, (text, _): &(String, SparqlSettings), _: &Arc<RunnableQuery>) -> u64 {
        4096 + 400 * text.len() as u64
    }
}

fn prepare_now(text: &str, settings: &SparqlSettings) -> Result<RunnableQuery, SparqlError> {
    let parsed = syntax::parse(text, settings.dialect)?;
    let rewritten = rewrite::rewrite(parsed.query, parsed.named, parsed.dialect, settings)?;
    let digest = *blake3::hash(text.as_bytes()).as_bytes();
    Ok(RunnableQuery { rewritten, extensions: parsed.extensions, dialect: parsed.dialect, digest })
}

impl RunnableQuery {
    /// Returns the query's form.
    pub fn form(&self) -> QueryResultForm {
        match &self.rewritten.form {
            QueryForm::Select => QueryResultForm::Select,
            QueryForm::Ask => QueryResultForm::Ask,
            QueryForm::Construct(_) | QueryForm::Describe => QueryResultForm::Graph,
        }
    }

    /// Returns the variables of a SELECT.
    pub fn variables(&self) -> &[Variable] {
        &self.rewritten.plan.variables
    }

    /// Returns whether the query uses OpenStreetMap's elements and can therefore run on a snapshot without triples.
    pub fn is_of_elements(&self) -> bool {
        self.rewritten.elements
    }

    /// Returns the dialect in which the query was read; not [`Dialect::Auto`].
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Returns the extensions of SPARQL 1.1 that the query uses.
    pub fn extensions(&self) -> &[Extension] {
        &self.extensions
    }

    /// Runs the query and returns a description of its execution instead of its answer.
    ///
    /// # Errors
    /// Returns the same errors as [`RunnableQuery::run`].
    pub fn explain(&self, environment: &Environment, bounds: &SparqlBounds) -> Result<String, SparqlError> {
        run::explain(self, environment, bounds)
    }

    /// Runs the query and writes its answer to `sink`.
    ///
    /// # Errors
    /// Returns an error if a limit was exceeded, the answer cannot be written, or the snapshot is damaged. The rows
    /// written before the error are not a valid answer.
    pub fn run(
        &self,
        environment: &Environment,
        bounds: &SparqlBounds,
        sink: &mut dyn ResultSink,
    ) -> Result<SparqlSummary, SparqlError> {
        run::run(self, environment, bounds, sink)
    }
}
