//! What results of queries are kept under, so that runs can share them.

use super::super::benchmarks::overpassnl::Failed;
use super::super::metrics::execution::Results;

/// What the results of a query depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    /// The snapshot's digest.
    pub snapshot: &'a str,
    /// Name and version of the engine.
    pub engine: &'a str,
    /// The query as it is run.
    pub query: &'a str,
}

/// Keeps results of queries.
pub trait Cache: Sync {
    /// What was put under the key, if it is still there.
    fn get(&self, key: &Key<'_>) -> Option<Result<Results, Failed>>;
    /// Keeps what a query gave. It may be dropped at any time.
    fn put(&self, key: &Key<'_>, results: &Result<Results, Failed>);
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCache;

impl Cache for NoCache {
    fn get(&self, _: &Key<'_>) -> Option<Result<Results, Failed>> {
        None
    }

    fn put(&self, _: &Key<'_>, _: &Result<Results, Failed>) {}
}
