//! Work over the relations, ways or nodes of a posting list on all threads, within the budget of the caller.

use rayon::prelude::*;
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal, Osm, PostingScope, Postings};

/// Counts a posting list in spans of `span` ordinals, at least one, and merges the counts of the spans in order.
pub fn reduce_spans<T: Default + Send>(
    osm: &Osm,
    kind: ElementType,
    postings: &Postings<'_>,
    span: u64,
    count_list: impl Fn(&[Ordinal]) -> T + Sync,
    merge: impl Fn(T, T) -> T + Sync,
) -> T {
    let count = if postings.is_empty() { 0 } else { osm.count(kind) };
    let current = budget::current();
    let spans: Vec<Ordinal> = (0..count).step_by(span as usize).collect();
    spans
        .into_par_iter()
        .map(|start| {
            current.share(|| {
                let range = start..(start + span).min(count);
                count_list(&postings.part(PostingScope::Within(std::slice::from_ref(&range))))
            })
        })
        .reduce(T::default, |a, b| current.share(|| merge(a, b)))
}
