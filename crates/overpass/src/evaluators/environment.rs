//! What evaluators see of the query that runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::budget::Budget;
use crate::reader::Reader;
use crate::set::Set;
use crate::syntax::SetName;
use terrapin_osm::Osm;

/// What evaluators see of the query that runs.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// The data.
    pub osm: &'a Osm,
    /// The data as it is now, which has the areas.
    pub current: &'a Osm,
    /// Deadline, memory and cancellation.
    pub budget: &'a Budget,
    /// The named sets; a name that was never given is an empty set.
    pub sets: &'a BTreeMap<SetName, Arc<Set>>,
    /// The value that the group in a set has in common, while a `for` runs over it: `_.val`.
    pub loop_values: &'a BTreeMap<SetName, String>,
}

impl<'a> Environment<'a> {
    /// A view of the data.
    pub(super) fn reader(&self) -> Reader<'a> {
        Reader::with_areas_of(self.osm, self.current)
    }

    /// The content of a set.
    pub(super) fn set(&self, name: &str) -> Arc<Set> {
        self.sets.get(name).cloned().unwrap_or_default()
    }
}
