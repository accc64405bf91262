//! The parts of a running query that evaluators can read.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::budget::Budget;
use crate::reader::Reader;
use crate::set::Set;
use crate::syntax::SetName;
use terrapin_osm::Osm;

/// The parts of a running query that evaluators can read.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// The data.
    pub osm: &'a Osm,
    /// The current state of the data, which has the areas.
    pub current: &'a Osm,
    /// Deadline, memory and cancellation.
    pub budget: &'a Budget,
    /// The named sets. A missing name is an empty set.
    pub sets: &'a BTreeMap<SetName, Arc<Set>>,
    /// The common value of the group in a set while a `for` iterates over it: `_.val`.
    pub loop_values: &'a BTreeMap<SetName, String>,
}

impl<'a> Environment<'a> {
    /// Creates a view of the data.
    pub(super) fn reader(&self) -> Reader<'a> {
        Reader::with_areas_of(self.osm, self.current)
    }

    /// Returns the content of a set.
    pub(super) fn set(&self, name: &str) -> Arc<Set> {
        self.sets.get(name).cloned().unwrap_or_default()
    }
}
