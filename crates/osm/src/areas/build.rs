//! Finds the relations that are areas, once, when a snapshot is built.
//!
//! The reference's standard rules: relations that have a `name` and are `type=multipolygon`, `type=boundary` or have
//! an `admin_level`; and relations with a `postal_code` or an `addr:postcode`. An empty value is a value.

use rayon::prelude::*;

use super::assemble::{AssemblyOutcome, border_of};
use crate::area_table::{AreaEntry, AreaShape, write};
use crate::{ElementType, Ordinal, Osm};
use terrapin_snapshot::{AreaReport, Error, SnapshotWriter};

/// Maximum number of left-out relations that are listed.
const EXAMPLES: usize = 100;

/// The areas of a snapshot that is being made: some tens of bytes each.
#[derive(Default)]
pub struct AreaList(Vec<AreaEntry>);

impl AreaList {
    /// Writes their sections.
    ///
    /// # Errors
    /// Returns an error if the snapshot cannot be written.
    pub fn write(&self, writer: &mut SnapshotWriter) -> Result<(), Error> {
        write(writer, &self.0)
    }
}

/// Finds the areas and reports the outcome for every relation that should be one.
pub fn build(osm: &Osm) -> (AreaList, AreaReport) {
    let candidates = candidates(osm);
    let outcomes: Vec<Result<AreaEntry, (bool, Ordinal)>> = candidates
        .par_iter()
        .map(|&relation| match border_of(osm, relation) {
            AssemblyOutcome::Border(border) => Ok(AreaEntry { relation, bbox: *AreaShape::new(border).bbox() }),
            AssemblyOutcome::Unclosed => Err((true, relation)),
            AssemblyOutcome::Incomplete => Err((false, relation)),
        })
        .collect();
    let mut report = AreaReport::default();
    let (mut entries, mut left_out) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(entry) => entries.push(entry),
            Err((unclosed, relation)) => {
                *if unclosed { &mut report.unclosed } else { &mut report.incomplete } += 1;
                left_out.push(relation);
            }
        }
    }
    report.made = entries.len() as u64;
    report.examples = osm.ids(ElementType::Relation, &left_out);
    report.examples.sort_unstable();
    report.examples.truncate(EXAMPLES);
    (AreaList(entries), report)
}

/// Returns the relations that the rules name, ascending.
fn candidates(osm: &Osm) -> Vec<Ordinal> {
    let with_key = |name: &str| match osm.key(name) {
        Some(key) => osm.key_posting(ElementType::Relation, key),
        None => [].into(),
    };
    let with_type = |value: &str| match osm.pair("type", value) {
        Some(pair) => osm.posting(ElementType::Relation, pair),
        None => [].into(),
    };
    let named = with_key("name");
    let mut all: Vec<Ordinal> = [with_type("multipolygon"), with_type("boundary"), with_key("admin_level")]
        .iter()
        .flat_map(|list| list.iter().copied())
        .filter(|relation| named.binary_search(relation).is_ok())
        .collect();
    all.extend(with_key("postal_code").iter());
    all.extend(with_key("addr:postcode").iter());
    all.sort_unstable();
    all.dedup();
    all
}
