//! Looks up elements by id, by tag (posting lists), and by member (parents).

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::layout::{self, IDS_ON_PAGE, PAIRS_ON_PAGE, PageSection, Paged};
use super::page_cache::{IdPage, PageCacheKey};
use super::postings::Postings;
use super::radix;
use super::store::{Osm, Remembered};
use super::tags::{PairList, PostingPage, ValuePage, decode_values};
use super::types::{ElementRef, ElementType, Ordinal};
use super::{KeyId, PairId, codec::ByteReader};
use terrapin_snapshot::{Error, ordered};

impl Osm {
    // ---- ids

    /// Returns the element with this id.
    pub fn find(&self, kind: ElementType, id: i64) -> Option<Ordinal> {
        let firsts = self.first_ids(kind)?;
        // The first page that begins with a greater id comes after the one that may have it.
        let after = match ordered(id).checked_add(1) {
            Some(next) => firsts.lower_bound(0, firsts.len(), next),
            None => firsts.len(),
        };
        let index = self.id_page(kind, after.checked_sub(1)? as u32);
        let page = *index.pages.get(index.ids.binary_search(&id).ok()?)?;
        let slot = match kind {
            ElementType::Node => self.node_page(page).ids.iter().position(|&i| i == id),
            ElementType::Way => self.way_page(page).ids.iter().position(|&i| i == id),
            ElementType::Relation => self.relation_page(page).ids.iter().position(|&i| i == id),
        }?;
        Some(u64::from(page) * layout::page_size(kind) + slot as u64)
    }

    fn id_page(&self, kind: ElementType, page: u32) -> Arc<IdPage> {
        self.page(PageCacheKey::Page(kind, PageSection::Ids, page), || {
            let n = self.count(kind).saturating_sub(page as u64 * IDS_ON_PAGE as u64).min(IDS_ON_PAGE as u64);
            let read = self.decoded(Paged::Elements(kind, PageSection::Ids), page, |bytes| {
                let mut r = ByteReader::new(&bytes);
                let mut previous = 0;
                let ids = (0..n).map(|_| r.get_delta(&mut previous)).collect::<Option<_>>()?;
                previous = 0;
                let pages = (0..n)
                    .map(|_| u32::try_from(r.get_delta(&mut previous)?).ok().filter(|&p| p < self.page_count(kind)))
                    .collect::<Option<_>>()?;
                Some(IdPage { ids, pages })
            });
            Arc::new(self.or_fault(read, || IdPage { ids: Vec::new(), pages: Vec::new() }))
        })
    }

    /// Returns the ids of these elements, in the order given (fast for sorted ones).
    pub fn ids(&self, kind: ElementType, ordinals: &[Ordinal]) -> Vec<i64> {
        self.map_ids(kind, ordinals.iter().map(|&o| ElementRef::present(o)))
    }

    /// Returns the ids of way nodes or members of one type, in the order given, including those of missing elements.
    pub fn ref_ids(&self, kind: ElementType, references: &[ElementRef]) -> Vec<i64> {
        self.map_ids(kind, references.iter().copied())
    }

    fn map_ids(&self, kind: ElementType, references: impl Iterator<Item = ElementRef>) -> Vec<i64> {
        let mut nodes = Remembered::new(|page| self.node_page(page));
        let mut ways = Remembered::new(|page| self.way_page(page));
        let mut relations = Remembered::new(|page| self.relation_page(page));
        references
            .map(|reference| {
                if let Some(index) = reference.missing_index() {
                    return self.missing(kind, index);
                }
                let (page, slot) = self.place(kind, reference.ordinal().unwrap_or_default());
                let ids = match kind {
                    ElementType::Node => &nodes.get(page).ids,
                    ElementType::Way => &ways.get(page).ids,
                    ElementType::Relation => &relations.get(page).ids,
                };
                ids.get(slot).copied().unwrap_or_default()
            })
            .collect()
    }

    // ---- tags

    /// Returns the id of a key.
    pub fn key(&self, name: &str) -> Option<KeyId> {
        self.keys()?.find(name)
    }

    /// Returns the number of keys; key ids are `0..key_count`.
    pub fn key_count(&self) -> KeyId {
        self.keys().map_or(0, |keys| keys.len())
    }

    /// Returns the text of a key.
    pub fn key_name(&self, key: KeyId) -> &str {
        self.keys().map_or("", |keys| keys.name(key))
    }

    /// Returns the pairs of a key.
    pub fn pairs_of(&self, key: KeyId) -> Range<PairId> {
        let (from, to) = self.keys().map_or((0, 0), |keys| keys.pairs(key));
        from..to
    }

    /// Returns the number of pairs.
    fn pair_count(&self) -> PairId {
        self.keys().map_or(0, |keys| keys.all_pairs())
    }

    /// Returns the pair of a key and a value.
    pub fn pair(&self, key: &str, value: &str) -> Option<PairId> {
        let pairs = self.pairs_of(self.key(key)?);
        let (mut low, mut high) = (pairs.start, pairs.end);
        let mut pages = Remembered::new(|page| self.value_page(page));
        while low < high {
            let middle = low + (high - low) / 2;
            let page = pages.get(middle / PAIRS_ON_PAGE as PairId);
            match page.get(middle as usize % PAIRS_ON_PAGE).cmp(value) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// Returns the key of a pair.
    pub fn key_of(&self, pair: PairId) -> KeyId {
        self.keys().map_or(0, |keys| keys.key_of(pair))
    }

    /// Values on a page of values: pair / this is the page, the rest the slot.
    pub const VALUES_ON_PAGE: u64 = PAIRS_ON_PAGE as u64;

    /// Returns the number of pages of values.
    pub fn value_page_count(&self) -> u32 {
        self.pair_count().div_ceil(PAIRS_ON_PAGE as u32)
    }

    /// Returns a page of values.
    pub fn value_page(&self, page: u32) -> Arc<ValuePage> {
        self.page(PageCacheKey::Values(page), || {
            let n = self.pairs_on(page);
            let read = self.decoded(Paged::Values, page, |bytes| decode_values(&bytes, n));
            let values = self.or_fault(read, ValuePage::default);
            Arc::new(values.with_keys(self.keys_on(page, n as PairId)))
        })
    }

    /// Returns the keys of the `n` pairs of a page, each with the slot at which the pairs of the next key begin.
    fn keys_on(&self, page: u32, n: PairId) -> Vec<(KeyId, u32)> {
        let first = page * PAIRS_ON_PAGE as PairId;
        let mut keys = Vec::new();
        let mut at = 0;
        while at < n {
            let key = self.key_of(first + at);
            at = self.pairs_of(key).end.saturating_sub(first).clamp(at + 1, n);
            keys.push((key, at));
        }
        keys
    }

    fn pairs_on(&self, page: u32) -> usize {
        let pairs = self.pair_count() as usize;
        pairs.saturating_sub(page as usize * PAIRS_ON_PAGE).min(PAIRS_ON_PAGE)
    }

    /// Calls `f` with the value of a pair.
    pub fn with_value<R>(&self, pair: PairId, f: impl FnOnce(&str) -> R) -> R {
        f(self.value_page(pair / PAIRS_ON_PAGE as PairId).get(pair as usize % PAIRS_ON_PAGE))
    }

    /// Calls `f` with every pair of a key and its value, ascending: the fast way through all values.
    pub fn for_values(&self, key: KeyId, mut f: impl FnMut(PairId, &str)) {
        let done: ControlFlow<Infallible> = self.try_for_values(key, |pair, value| {
            f(pair, value);
            ControlFlow::Continue(())
        });
        match done {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(never) => match never {},
        }
    }

    /// Works like [`Osm::for_values`], but stops when `f` breaks.
    pub fn try_for_values<B>(&self, key: KeyId, mut f: impl FnMut(PairId, &str) -> ControlFlow<B>) -> ControlFlow<B> {
        let mut pages = Remembered::new(|page| self.value_page(page));
        for pair in self.pairs_of(key) {
            f(pair, pages.get(pair / PAIRS_ON_PAGE as PairId).get(pair as usize % PAIRS_ON_PAGE))?;
        }
        ControlFlow::Continue(())
    }

    fn posting_page(&self, page: u32) -> Arc<PostingPage> {
        self.page(PageCacheKey::Postings(page), || {
            let n = self.pairs_on(page);
            let read = self.decoded(Paged::Postings, page, |bytes| PostingPage::decode(bytes, n));
            Arc::new(self.or_fault(read, PostingPage::default))
        })
    }

    /// Returns the elements of this type with the pair, ascending.
    pub fn posting(&self, kind: ElementType, pair: PairId) -> Arc<[Ordinal]> {
        self.postings(kind, pair).all()
    }

    /// Returns the posting list of these elements, which can be read in part.
    pub fn postings(&self, kind: ElementType, pair: PairId) -> Postings<'_> {
        let page = self.posting_page(pair / PAIRS_ON_PAGE as PairId);
        let key = PageCacheKey::Pair(kind, pair);
        match page.list(pair as usize % PAIRS_ON_PAGE, kind as usize) {
            PairList::Long { place, count } => Postings::in_blocks(self, kind, key, place, count),
            PairList::Here { at, count } => Postings::held(self.list(key, kind, || {
                page.read(at, count)
                    .ok_or_else(|| Error::damaged(Paged::Postings.name(), format!("the list of pair {pair}")))
            })),
        }
    }

    /// Returns the number of these elements, without reading them.
    pub fn posting_len(&self, kind: ElementType, pair: PairId) -> u64 {
        let page = self.posting_page(pair / PAIRS_ON_PAGE as PairId);
        page.list(pair as usize % PAIRS_ON_PAGE, kind as usize).count()
    }

    /// Calls `f` with each of these pairs and how many nodes, ways and relations have it, ascending: the fast way
    /// through the counts of many.
    pub fn for_counts(&self, pairs: Range<PairId>, mut f: impl FnMut(PairId, [u64; 3])) {
        let mut pages = Remembered::new(|page| self.posting_page(page));
        for pair in pairs {
            let page = pages.get(pair / PAIRS_ON_PAGE as PairId);
            f(pair, [0, 1, 2].map(|kind| page.list(pair as usize % PAIRS_ON_PAGE, kind).count()));
        }
    }

    /// Returns the elements of this type with the key, ascending.
    pub fn key_posting(&self, kind: ElementType, key: KeyId) -> Arc<[Ordinal]> {
        self.key_postings(kind, key).all()
    }

    /// Returns the posting list of these elements, which can be read in part.
    pub fn key_postings(&self, kind: ElementType, key: KeyId) -> Postings<'_> {
        let (count, place) = self.keys().map_or((0, None), |keys| keys.list(kind, key));
        let pairs = self.pairs_of(key);
        match place {
            Some(place) => Postings::in_blocks(self, kind, PageCacheKey::List(kind, key), place, count),
            None if pairs.len() == 1 => self.postings(kind, pairs.start),
            None if count == 0 => Postings::held([].into()),
            None => Postings::held(self.list(PageCacheKey::List(kind, key), kind, || {
                let mut all: Vec<Ordinal> = pairs.flat_map(|pair| self.posting(kind, pair).to_vec()).collect();
                all.sort_unstable();
                Ok(all)
            })),
        }
    }

    /// Returns the number of these elements, without reading them.
    pub fn key_posting_len(&self, kind: ElementType, key: KeyId) -> u64 {
        self.keys().map_or(0, |keys| keys.list(kind, key).0)
    }

    /// Returns a posting list from the cache, or reads it. Ordinals beyond the last element count as damage.
    pub(super) fn list(
        &self,
        key: PageCacheKey,
        kind: ElementType,
        read: impl FnOnce() -> Result<Vec<Ordinal>, Error>,
    ) -> Arc<[Ordinal]> {
        self.page(key, || {
            let checked = read().and_then(|list| match list.last().is_none_or(|&o| o < self.count(kind)) {
                true => Ok(list),
                false => Err(Error::damaged(Paged::Postings.name(), "an element that does not exist")),
            });
            self.or_fault(checked, Vec::new).into()
        })
    }

    // ---- topology

    /// Returns the ways with at least one of these nodes, which ascend. The result is ascending and without duplicates.
    pub fn ways_of_nodes(&self, nodes: &[Ordinal]) -> Vec<Ordinal> {
        self.parents(ElementType::Node, 0, nodes, self.count(ElementType::Way))
    }

    /// Returns the relations with at least one of these elements, which ascend, as a member. The result is ascending
    /// and without duplicates.
    pub fn relations_of(&self, kind: ElementType, members: &[Ordinal]) -> Vec<Ordinal> {
        let list = if kind == ElementType::Node { 1 } else { 0 };
        self.parents(kind, list, members, self.count(ElementType::Relation))
    }

    fn parents(&self, kind: ElementType, list: usize, children: &[Ordinal], count: u64) -> Vec<Ordinal> {
        let mut pages = Remembered::new(|page| self.parent_page(kind, page));
        let mut parents = Vec::new();
        for &child in children {
            let (page, slot) = self.place(kind, child);
            if let Some(lists) = pages.get(page).get(list) {
                parents.extend_from_slice(lists.get(slot));
            }
        }
        let mut parents = radix::set(parents);
        if parents.last().is_some_and(|&p| p >= count) {
            let damage = Error::damaged(layout::paged(kind, PageSection::Parents), "a parent that does not exist");
            self.or_fault(Err(damage), || ());
            parents.clear();
        }
        parents
    }
}
