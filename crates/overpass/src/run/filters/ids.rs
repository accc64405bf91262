//! The filter by ids.

use std::ops::RangeInclusive;

use crate::run::RunContext;
use crate::sorted;
use crate::syntax::Ids;
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal};

/// Returns the elements of one type with these ids.
pub fn elements(ctx: &RunContext, kind: ElementType, ids: &Ids) -> Vec<Ordinal> {
    match ids {
        Ids::List(ids) => sorted::from_unsorted(ids.iter().filter_map(|&id| ctx.osm.find(kind, id)).collect()),
        Ids::Range { lower, upper } => id_range(ctx, kind, *lower..=*upper),
    }
}

/// The maximum size of an id range whose ids are looked up one by one.
const FEW_IDS: u64 = 1000;

/// Returns the elements of one type with an id in a range.
fn id_range(ctx: &RunContext, kind: ElementType, range: RangeInclusive<u64>) -> Vec<Ordinal> {
    if range.end().saturating_sub(*range.start()) < FEW_IDS {
        let ids = range.filter_map(|id| i64::try_from(id).ok());
        return sorted::from_unsorted(ids.filter_map(|id| ctx.osm.find(kind, id)).collect());
    }
    let (count, step) = (ctx.osm.count(kind), ctx.osm.page_size(kind));
    let mut found = Vec::new();
    let mut first = 0;
    while first < count {
        let page: Vec<Ordinal> = (first..count.min(first + step)).collect();
        budget::work(page.len());
        let ids = ctx.osm.ids(kind, &page);
        let inside = page.into_iter().zip(ids).filter(|(_, id)| range.contains(&(*id as u64)));
        found.extend(inside.map(|(ordinal, _)| ordinal));
        first += step;
    }
    found
}
