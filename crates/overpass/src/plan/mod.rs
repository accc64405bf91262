//! Finds the elements of a query statement: from the cheapest source, then with the other tests in order of cost, page
//! by page.
//!
//! A source is one of: known elements (ids, sets, recursions), a tag's posting list, the pages of a region, all pages.
//! Each page is read once, many of them in parallel, and the results are in order. This module uses elements and
//! filters, but no statements and no named sets.

mod boxes;
mod meta;
mod region;
mod shapes;
mod tags;

pub use boxes::BoxTree;
pub use meta::MetaTest;
pub use region::{BoxRegion, Placement, SearchRegion};
pub use shapes::{ShapesRegion, point_box};
pub use tags::{TagMemo, TagTest, compile};

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::quadtile::{is_indexed, is_looked_at};
use super::sorted;
use super::syntax::{FilterKind, Tag};
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal, Osm, PostingScope, RelationMember, RelationPage};

/// The minimum number of pages to use several threads.
const PARALLEL_PAGES: usize = 48;
/// The number of pages that a thread takes at once.
const PAGES_AT_ONCE: usize = 16;
/// The number of elements tested against a region between two checks of the budget.
const TESTS: usize = 16;
/// A posting list is intersected with the candidates if it is at most this many times as long. Otherwise the tags of
/// the candidates are read.
const POSTING_FACTOR: u64 = 16;

/// The conditions on the elements of one type.
#[derive(Default)]
pub struct TypePlan {
    /// The only possible elements, if a filter names them.
    pub known: Option<Vec<Ordinal>>,
    /// Tag filters.
    pub tags: Vec<TagTest>,
    /// Filters on metadata.
    pub meta: Vec<MetaTest>,
    /// Filters on location.
    pub regions: Vec<Arc<dyn SearchRegion>>,
}

/// A page and its candidates: a range of the candidate list, or `None` for all elements of the page.
struct PageCandidates {
    page: u32,
    range: Option<Range<usize>>,
}

impl TypePlan {
    /// Restricts the known elements to those that are also in `list`.
    pub fn restrict_to(&mut self, list: Vec<Ordinal>) {
        self.known = Some(match self.known.take() {
            Some(known) => sorted::intersect(&known, &list),
            None => list,
        });
    }

    /// Adds the tag filters among `filters`. Call it after all other conditions are set.
    pub fn add_tags(&mut self, osm: &Osm, memo: &TagMemo, kind: ElementType, filters: &[&FilterKind]) {
        let mut candidates = self.known.as_ref().map_or_else(|| osm.count(kind), |known| known.len() as u64);
        let is_pattern = |f: &FilterKind| match f {
            FilterKind::Tag(tag) => matches!(
                tag,
                Tag::Matches { .. } | Tag::NotMatches { .. } | Tag::KeyMatches { .. } | Tag::KeyNotMatches { .. }
            ),
            _ => false,
        };
        // Patterns come last: the best way to compile them depends on the number of candidates left by the other
        // filters.
        for patterns in [false, true] {
            if patterns && !filters.iter().any(|f| is_pattern(f)) {
                break;
            }
            if patterns && !self.regions.is_empty() && candidates > osm.page_size(kind) {
                candidates = candidates.min(self.region_pages(osm, kind).len() as u64 * osm.page_size(kind));
            }
            for filter in filters.iter().filter(|f| is_pattern(f) == patterns) {
                let Some(test) = TagTest::compile(osm, memo, filter, candidates) else { continue };
                if test.always() {
                    continue;
                }
                candidates = candidates.min(test.most(osm, kind).unwrap_or(u64::MAX));
                self.tags.push(test);
            }
        }
    }

    /// Returns whether no element can pass.
    pub fn never(&self) -> bool {
        self.known.as_ref().is_some_and(Vec::is_empty)
            || self.tags.iter().any(TagTest::never)
            || self.meta.iter().any(MetaTest::never)
    }

    /// Returns whether the reference rejects a query for this type as too broad with such filters. `states` are the
    /// states of the data at the query's date and now. Both decide whether an element has a tag.
    pub fn is_weak(&self, states: [&Osm; 2], kind: ElementType) -> bool {
        kind != ElementType::Relation
            && self.known.is_none()
            && self.regions.is_empty()
            && !self.meta.iter().any(MetaTest::is_strong)
            && !self.tags.iter().any(|test| states.iter().any(|osm| test.is_strong(osm, kind)))
    }

    /// Returns the pages that meet all regions.
    fn region_pages(&self, osm: &Osm, kind: ElementType) -> Vec<u32> {
        let mut pages: Option<Vec<u32>> = None;
        for region in &self.regions {
            let mut these = match region.cover() {
                [one] => osm.pages_in(kind, one),
                boxes => {
                    let mut all: Vec<u32> = boxes.iter().flat_map(|b| osm.pages_in(kind, b)).collect();
                    all.sort_unstable();
                    all.dedup();
                    all
                }
            };
            these.retain(|&page| {
                pages.as_ref().is_none_or(|p| p.binary_search(&page).is_ok())
                    && region.placement(&osm.page_box(kind, page)) != Placement::Outside
            });
            pages = Some(these);
        }
        pages.unwrap_or_default()
    }

    /// Returns the elements that pass, ascending.
    pub fn select(mut self, osm: &Osm, kind: ElementType) -> Vec<Ordinal> {
        if self.never() {
            return Vec::new();
        }
        let pages = (!self.regions.is_empty()).then(|| self.region_pages(osm, kind));
        let page_elements = pages.as_ref().map_or(u64::MAX, |p| p.len() as u64 * osm.page_size(kind));
        let best = (0..self.tags.len()).filter_map(|i| self.tags[i].most(osm, kind).map(|most| (most, i))).min();

        let mut list: Option<Arc<[Ordinal]>> = self.known.take().map(Into::into);
        let known = list.as_ref().map_or(u64::MAX, |l| l.len() as u64);
        if let Some((most, i)) = best
            && most < known.saturating_mul(POSTING_FACTOR)
            // Of a posting list, only the part within the pages is read, regardless of its length.
            && (most <= page_elements || list.is_none() && self.tags[i].is_list())
        {
            let ranges = pages.as_ref().map(|pages| ranges(pages, osm.page_size(kind)));
            let scope = match (&list, &ranges) {
                (Some(known), _) => PostingScope::Among(known),
                (None, Some(ranges)) => PostingScope::Within(ranges),
                (None, None) => PostingScope::All,
            };
            let found = self.tags[i].source(osm, kind, scope);
            list = Some(found.elements);
            if !found.still_to_test {
                self.tags.remove(i);
            }
        }

        let (runs, list) = match (list, pages) {
            (Some(list), Some(pages)) => (runs_in_pages(&list, &pages, osm.page_size(kind)), list),
            (Some(list), None) => (runs_of(&list, osm.page_size(kind)), list),
            (None, Some(pages)) => (all_of(pages), Vec::new().into()),
            (None, None) => (all_of((0..osm.page_count(kind)).collect()), Vec::new().into()),
        };
        self.narrow(osm, kind, runs, list)
    }

    /// Removes candidates by short posting lists, which is faster than reading the candidates' tags. Removes the tests
    /// that are decided this way.
    fn narrow_by_postings(
        &mut self,
        osm: &Osm,
        kind: ElementType,
        runs: &mut Vec<PageCandidates>,
        list: &mut Arc<[Ordinal]>,
    ) {
        self.tags.retain(|test| {
            let Some(candidates) = listed(runs).filter(|&candidates| candidates > 0) else { return true };
            let longest = candidates as u64 * POSTING_FACTOR;
            let Some((posting, negated)) = test.posting(osm, kind, longest) else { return true };
            let mut all = Vec::with_capacity(candidates);
            let ranges = runs.iter().filter_map(|run| run.range.clone());
            ranges.for_each(|range| all.extend_from_slice(list.get(range).unwrap_or_default()));
            let left = posting.among(&all, !negated);
            *runs = runs_of(&left, osm.page_size(kind));
            *list = left.into();
            false
        });
    }

    /// Applies the tests to the candidates.
    fn narrow(
        mut self,
        osm: &Osm,
        kind: ElementType,
        mut runs: Vec<PageCandidates>,
        mut list: Arc<[Ordinal]>,
    ) -> Vec<Ordinal> {
        self.narrow_by_postings(osm, kind, &mut runs, &mut list);
        let by_members = kind == ElementType::Relation && !self.regions.is_empty();
        let regions = if by_members { std::mem::take(&mut self.regions) } else { Vec::new() };
        let mut found = if self.tags.is_empty() && self.meta.is_empty() && self.regions.is_empty() {
            gather(osm, kind, &runs, &list)
        } else {
            over_pages(&runs, |run, out| self.test_page(osm, kind, run, &list, out))
        };
        for region in regions {
            found = relations_in(osm, region.as_ref(), found);
        }
        found
    }

    /// Appends the elements of one page that pass.
    fn test_page(&self, osm: &Osm, kind: ElementType, run: &PageCandidates, list: &[Ordinal], out: &mut Vec<Ordinal>) {
        let first = u64::from(run.page) * osm.page_size(kind);
        let from = out.len();
        match &run.range {
            Some(range) => out.extend_from_slice(list.get(range.clone()).unwrap_or_default()),
            None => out.extend(first..(first + osm.page_size(kind)).min(osm.count(kind))),
        }
        budget::work(out.len() - from);
        if !self.tags.is_empty() {
            let page = osm.tag_page(kind, run.page);
            retain_from(out, from, |o| {
                let tags = page.tags((o - first) as usize);
                self.tags.iter().all(|test| test.holds(osm, tags))
            });
        }
        if !self.meta.is_empty() && out.len() > from {
            let page = osm.meta_page(kind, run.page);
            retain_from(out, from, |o| {
                let meta = page.meta((o - first) as usize);
                self.meta.iter().all(|test| test.holds(&meta))
            });
        }
        for region in &self.regions {
            if out.len() > from {
                in_region(osm, kind, region.as_ref(), run.page, out, from);
            }
        }
    }
}

/// Removes the elements of `out`, from index `from` on, that do not pass.
fn retain_from(out: &mut Vec<Ordinal>, from: usize, mut passes: impl FnMut(Ordinal) -> bool) {
    let mut kept = from;
    for i in from..out.len() {
        let value = out[i];
        if passes(value) {
            out[kept] = value;
            kept += 1;
        }
    }
    out.truncate(kept);
}

/// Like [`retain_from`], but checks the budget: for tests that may read all parts of a region.
fn retain_within(out: &mut Vec<Ordinal>, from: usize, mut passes: impl FnMut(Ordinal) -> bool) {
    let mut tested = 0_usize;
    retain_from(out, from, |o| {
        tested += 1;
        if tested.is_multiple_of(TESTS) {
            budget::check();
        }
        passes(o)
    });
}

/// Removes the nodes or ways of one page that are not in a region.
fn in_region(osm: &Osm, kind: ElementType, region: &dyn SearchRegion, page: u32, out: &mut Vec<Ordinal>, from: usize) {
    let first = u64::from(page) * osm.page_size(kind);
    let bounds = osm.page_box(kind, page);
    let placement = region.placement(&bounds);
    if placement == Placement::Outside {
        out.truncate(from);
        return;
    }
    match (kind, placement) {
        // Their members decide: see `relations_in`.
        (ElementType::Relation, _) | (ElementType::Node, Placement::Inside) => {}
        (ElementType::Node, _) if region.has_all_nodes(&bounds) => {}
        (ElementType::Node, _) => {
            let nodes = osm.node_page(page);
            let at = |o: Ordinal| nodes.coords.get((o - first) as usize);
            retain_within(out, from, |o| at(o).is_some_and(|&c| region.has_node(c)));
        }
        (ElementType::Way, Placement::Inside) => {
            // The page's box does not cover a way without a known location.
            let ways = osm.way_page(page);
            retain_from(out, from, |o| is_indexed(ways.coords((o - first) as usize)));
        }
        (ElementType::Way, _) => {
            let ways = osm.way_page(page);
            let coords = |o: Ordinal| ways.coords((o - first) as usize);
            let is_looked_at = |o: Ordinal| is_looked_at(coords(o), region.cover(), region.is_by_blocks());
            retain_within(out, from, |o| region.has_way(coords(o)) && is_looked_at(o));
        }
    }
}

/// Returns the nodes or ways of an ascending list that are in a region.
pub fn elements_in(osm: &Osm, region: &dyn SearchRegion, kind: ElementType, list: Vec<Ordinal>) -> Vec<Ordinal> {
    let runs = runs_of(&list, osm.page_size(kind));
    over_pages(&runs, |run, out| {
        let from = out.len();
        let range = run.range.clone().unwrap_or_default();
        budget::work(range.len());
        out.extend_from_slice(list.get(range).unwrap_or_default());
        in_region(osm, kind, region, run.page, out, from);
    })
}

/// A page of relations, and the range of its candidates in their list.
type RelationRun = (Arc<RelationPage>, Range<usize>);

/// Returns the relations of an ascending list that have a node or a way in a region.
fn relations_in(osm: &Osm, region: &dyn SearchRegion, mut list: Vec<Ordinal>) -> Vec<Ordinal> {
    let size = osm.page_size(ElementType::Relation);
    let pages = sorted::pages(&list, size).into_iter();
    let runs: Vec<RelationRun> = pages.map(|(page, range)| (osm.relation_page(page), range)).collect();
    let [nodes, ways] = members_of(&runs, &list, size);
    budget::work(nodes.len() + ways.len());
    let [nodes, ways] = [nodes, ways].map(sorted::from_unsorted);
    let mut nodes = elements_in(osm, region, ElementType::Node, nodes);
    if region.has_border() {
        retain_counted(osm, region, &mut nodes);
    }
    let ways = elements_in(osm, region, ElementType::Way, ways);
    let is_in = |member: &RelationMember| {
        member.element.ordinal().is_some_and(|ordinal| match member.kind {
            ElementType::Node => sorted::contains(&nodes, ordinal),
            ElementType::Way => sorted::contains(&ways, ordinal),
            ElementType::Relation => false,
        })
    };
    let mut pages = runs.iter().flat_map(|(page, range)| std::iter::repeat_n(page, range.len()));
    list.retain(|&relation| {
        let Some(page) = pages.next() else { return false };
        page.members((relation % size) as usize).iter().any(is_in)
    });
    list
}

/// Returns the nodes and the ways that are members of relations, in any order.
fn members_of(runs: &[RelationRun], list: &[Ordinal], page_size: u64) -> [Vec<Ordinal>; 2] {
    let (mut nodes, mut ways) = (Vec::new(), Vec::new());
    for (page, range) in runs {
        for &relation in list.get(range.clone()).unwrap_or_default() {
            for member in page.members((relation % page_size) as usize) {
                match member.kind {
                    ElementType::Node => nodes.extend(member.element.ordinal()),
                    ElementType::Way => ways.extend(member.element.ordinal()),
                    ElementType::Relation => {}
                }
            }
        }
    }
    [nodes, ways]
}

/// Removes the nodes on a region's border: a relation is not in a region because of them.
fn retain_counted(osm: &Osm, region: &dyn SearchRegion, nodes: &mut Vec<Ordinal>) {
    let size = osm.page_size(ElementType::Node);
    let mut page = (u32::MAX, None);
    nodes.retain(|&node| {
        let number = (node / size) as u32;
        if page.0 != number {
            page = (number, Some(osm.node_page(number)));
        }
        let at = page.1.as_ref().and_then(|page| page.coords.get((node % size) as usize));
        at.is_some_and(|&at| region.counts_for_relations(at))
    });
}

/// Returns the ordinals of ascending pages, with adjacent pages merged into one range.
fn ranges(pages: &[u32], page_size: u64) -> Vec<Range<Ordinal>> {
    let same = pages.chunk_by(|a, b| a + 1 == *b).filter_map(|run| Some((run.first()?, run.last()?)));
    same.map(|(&first, &last)| u64::from(first) * page_size..(u64::from(last) + 1) * page_size).collect()
}

fn all_of(pages: Vec<u32>) -> Vec<PageCandidates> {
    pages.into_iter().map(|page| PageCandidates { page, range: None }).collect()
}

fn runs_of(list: &[Ordinal], page_size: u64) -> Vec<PageCandidates> {
    sorted::pages(list, page_size)
        .into_iter()
        .map(|(page, range)| PageCandidates { page, range: Some(range) })
        .collect()
}

/// Returns the runs of a list that are in some ascending pages. Iterates over the shorter of the two.
fn runs_in_pages(list: &[Ordinal], pages: &[u32], page_size: u64) -> Vec<PageCandidates> {
    if list.len() < pages.len() {
        let mut runs = runs_of(list, page_size);
        runs.retain(|run| pages.binary_search(&run.page).is_ok());
        return runs;
    }
    let mut runs = Vec::new();
    let mut at = 0;
    for &page in pages {
        let first = u64::from(page) * page_size;
        let rest = list.get(at..).unwrap_or_default();
        let start = at + rest.partition_point(|&o| o < first);
        let rest = list.get(start..).unwrap_or_default();
        // One page contains at most a page size of elements.
        let near = rest.get(..page_size as usize).unwrap_or(rest);
        at = start + near.partition_point(|&o| o < first + page_size);
        if at > start {
            runs.push(PageCandidates { page, range: Some(start..at) });
        }
    }
    runs
}

/// Returns the number of listed candidates; `None` if whole pages are candidates.
fn listed(runs: &[PageCandidates]) -> Option<usize> {
    runs.iter().map(|run| run.range.as_ref().map(Range::len)).sum()
}

/// Returns all candidates of the runs.
fn gather(osm: &Osm, kind: ElementType, runs: &[PageCandidates], list: &[Ordinal]) -> Vec<Ordinal> {
    let size = osm.page_size(kind);
    let mut out = Vec::new();
    for run in runs {
        match &run.range {
            Some(range) => out.extend_from_slice(list.get(range.clone()).unwrap_or_default()),
            None => {
                let first = u64::from(run.page) * size;
                out.extend(first..(first + size).min(osm.count(kind)));
            }
        }
    }
    out
}

/// Calls `f` for every run, in parallel if there are many. Returns the concatenated results, in order.
fn over_pages<F>(runs: &[PageCandidates], f: F) -> Vec<Ordinal>
where
    F: Fn(&PageCandidates, &mut Vec<Ordinal>) + Sync,
{
    let some = |runs: &[PageCandidates]| {
        let mut out = Vec::new();
        runs.iter().for_each(|run| f(run, &mut out));
        out
    };
    if runs.len() < PARALLEL_PAGES {
        return some(runs);
    }
    let parts: Vec<Vec<Ordinal>> = {
        let current = budget::current();
        runs.par_chunks(PAGES_AT_ONCE).map(|runs| current.share(|| some(runs))).collect()
    };
    parts.concat()
}
