//! The parts of a running query that evaluators can read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::reader::StoreReader;
use crate::set::ElementSet;
use crate::syntax::SetName;
use terrapin_osm::Osm;

/// The parts of a running query that evaluators can read.
#[derive(Clone, Copy)]
pub struct EvaluatorEnvironment<'a> {
    /// The data.
    pub osm: &'a Osm,
    /// The current state of the data, which has the areas.
    pub current: &'a Osm,
    /// The named sets. A missing name is an empty set.
    pub sets: &'a BTreeMap<SetName, Arc<ElementSet>>,
    /// The common value of the group in a set while a `for` iterates over it: `_.val`.
    pub loop_values: &'a BTreeMap<SetName, String>,
}

impl<'a> EvaluatorEnvironment<'a> {
    /// Creates a view of the data.
    pub(super) fn reader(&self) -> StoreReader<'a> {
        StoreReader::with_areas_of(self.osm, self.current)
    }

    /// Returns the content of a set.
    pub(super) fn set(&self, name: &str) -> Arc<ElementSet> {
        self.sets.get(name).cloned().unwrap_or_default()
    }
}
