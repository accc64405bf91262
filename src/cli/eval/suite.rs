//! The further snapshots of a suite: a prediction is right only if its results are equal on all of them.

use std::path::{Path, PathBuf};

use super::super::{CommandError, open, stdout};
use super::checked;
use crate::engine::Engine;
use crate::eval::benchmarks::Benchmark;
use crate::eval::benchmarks::suite::{Suite, SuiteMember};
use crate::eval::cache::ResultCache;
use crate::geocoder::{PlaceSource, PlaceTable};

/// Options of a suite.
#[derive(Debug, clap::Args)]
pub(super) struct SuiteArgs {
    /// Further snapshots, with commas: other dates, other regions, perturbed copies. Pairs that are right on the first
    /// snapshot also run there; the metric `suite` is 1 only if the results are equal on all
    #[arg(long, value_name = "FILE", value_delimiter = ',', requires = "snapshot")]
    suite: Vec<PathBuf>,
}

/// The open snapshots of a suite, without the first one.
#[derive(Default)]
pub(super) struct SuiteSnapshots {
    snapshots: Vec<SuiteSnapshot>,
}

/// A snapshot of a suite with its cache of results.
struct SuiteSnapshot {
    name: String,
    engine: Engine,
    cache: Box<dyn ResultCache>,
}

/// The data for scoring on one snapshot of a suite.
pub(super) struct MemberInputs<'a> {
    pub engine: &'a Engine,
    pub places: &'a dyn PlaceSource,
    pub cache: &'a dyn ResultCache,
}

impl SuiteArgs {
    /// Opens the snapshots, each with its cache. Snapshots that are already in the suite are left out.
    pub(super) fn open(
        &self,
        first: Option<&Engine>,
        cache: impl Fn(&Path) -> Result<Box<dyn ResultCache>, CommandError>,
    ) -> Result<SuiteSnapshots, CommandError> {
        let mut suite = SuiteSnapshots::default();
        for path in &self.suite {
            let engine = open::engine(path)?;
            let digest = engine.digest();
            if first.is_some_and(|first| first.digest() == digest) || suite.digests().iter().any(|d| d == digest) {
                stdout::tell(&format!("note: --suite {}: the snapshot is already in the suite", path.display()));
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            suite.snapshots.push(SuiteSnapshot { name, cache: cache(path)?, engine });
        }
        Ok(suite)
    }
}

impl SuiteSnapshots {
    /// Returns the digests of the snapshots, in their order.
    pub(super) fn digests(&self) -> Vec<String> {
        self.snapshots.iter().map(|snapshot| snapshot.engine.digest().to_owned()).collect()
    }

    /// Runs `work` on `first`, if it is given, and on these snapshots.
    ///
    /// # Errors
    /// Returns an error if a snapshot is damaged.
    pub(super) fn checked<T>(&self, first: Option<&Engine>, work: impl FnOnce() -> T) -> Result<T, CommandError> {
        let result = checked(first, work)?;
        for snapshot in &self.snapshots {
            snapshot.engine.checked(|| ()).map_err(open::error)?;
        }
        Ok(result)
    }

    /// Writes the pending results of the caches and returns their messages.
    pub(super) fn finish(&self) -> Vec<String> {
        self.snapshots.iter().flat_map(|snapshot| snapshot.cache.finish()).collect()
    }

    /// Returns an error if the instances are SPARQL and a snapshot has no triples.
    pub(super) fn need_triples(&self) -> Result<(), CommandError> {
        match self.snapshots.iter().find(|snapshot| snapshot.engine.triples().is_none()) {
            None => Ok(()),
            Some(snapshot) => {
                let message = format!("the instances are SPARQL, and {} of the suite has no triples", snapshot.name);
                Err(CommandError::input("no-triples", message))
            }
        }
    }

    /// Calls `score` with the benchmark over all snapshots; with `first` if the suite is empty. `member` makes the
    /// benchmark of one snapshot.
    pub(super) fn score<'a, T>(
        &'a self,
        first: &'a dyn Benchmark,
        table: Option<&'a PlaceTable>,
        member: &dyn for<'m> Fn(MemberInputs<'m>) -> Box<dyn Benchmark + 'm>,
        score: impl FnOnce(&dyn Benchmark) -> T,
    ) -> T {
        if self.snapshots.is_empty() {
            return score(first);
        }
        let places: Vec<_> = self.snapshots.iter().map(|snapshot| snapshot.engine.places(table)).collect();
        let others = self
            .snapshots
            .iter()
            .zip(&places)
            .map(|(SuiteSnapshot { name, engine, cache }, places)| SuiteMember {
                name: name.clone(),
                digest: engine.digest(),
                benchmark: member(MemberInputs { engine, places, cache: &**cache }),
            })
            .collect();
        score(&Suite { first, others })
    }
}
