//! Decoded pages and the cache that keeps them.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::PairId;
use super::layout::PageSection;
use super::page::{MetaColumns, PageLists};
use super::tags::{PostingPage, ValuePage};
use super::types::{Coord, ElementRef, ElementType, MetaRef, Ordinal, RelationMember};

/// The key of a cache entry: pages by type and section, tag pages, posting lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageCacheKey {
    Page(ElementType, PageSection, u32),
    Values(u32),
    Postings(u32),
    Pair(ElementType, PairId),
    List(ElementType, u32),
    Block(u32),
    WayNodes(u32),
}

/// Passes a single number to the hasher instead of several: a query looks up thousands of pages.
impl Hash for PageCacheKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (what, number) = match *self {
            PageCacheKey::Page(kind, part, page) => (kind as u64 * 8 + part as u64, page),
            PageCacheKey::Values(page) => (24, page),
            PageCacheKey::Postings(page) => (25, page),
            PageCacheKey::Pair(kind, pair) => (32 + kind as u64, pair),
            PageCacheKey::List(kind, key) => (40 + kind as u64, key),
            PageCacheKey::Block(block) => (26, block),
            PageCacheKey::WayNodes(page) => (27, page),
        };
        state.write_u64(what << 32 | u64::from(number));
    }
}

#[derive(Clone)]
pub(super) enum Cached {
    Nodes(Arc<NodePage>),
    Ways(Arc<WayPage>),
    WayNodes(Arc<WayNodes>),
    Relations(Arc<RelationPage>),
    Meta(Arc<MetaPage>),
    Tags(Arc<TagPage>),
    Parents(Arc<Vec<PageLists<Ordinal>>>),
    Ids(Arc<IdPage>),
    Values(Arc<ValuePage>),
    Postings(Arc<PostingPage>),
    List(Arc<[Ordinal]>),
}

#[derive(Clone)]
pub(super) struct PageWeigher;

impl quick_cache::Weighter<PageCacheKey, Cached> for PageWeigher {
    fn weight(&self, _: &PageCacheKey, cached: &Cached) -> u64 {
        let bytes = match cached {
            Cached::Nodes(p) => p.ids.len() * 16,
            Cached::Ways(p) => p.ids.len() * 8 + p.nodes.bytes() + p.coords.bytes(),
            Cached::WayNodes(p) => p.nodes.bytes(),
            Cached::Relations(p) => p.ids.len() * 8 + p.members.bytes(),
            Cached::Meta(p) => p.columns.bytes() + p.uids.len() * 8,
            Cached::Tags(p) => p.tags.bytes(),
            Cached::Parents(p) => p.iter().map(PageLists::bytes).sum(),
            Cached::Ids(p) => p.ids.len() * 12,
            Cached::Values(p) => p.bytes(),
            Cached::Postings(p) => p.bytes(),
            Cached::List(p) => p.len() * 8,
        };
        bytes as u64 + 64
    }
}

/// A kind of cache entry. Every [`Key`] belongs to exactly one kind.
pub(super) trait CacheablePage: Sized {
    fn cached(self) -> Cached;
    fn of(cached: Cached) -> Option<Self>;
}

macro_rules! pages {
    ($($variant:ident: $page:ty,)*) => {$(
        impl CacheablePage for $page {
            fn cached(self) -> Cached {
                Cached::$variant(self)
            }

            fn of(cached: Cached) -> Option<Self> {
                if let Cached::$variant(page) = cached { Some(page) } else { None }
            }
        }
    )*};
}

pages! {
    Nodes: Arc<NodePage>,
    Ways: Arc<WayPage>,
    WayNodes: Arc<WayNodes>,
    Relations: Arc<RelationPage>,
    Meta: Arc<MetaPage>,
    Tags: Arc<TagPage>,
    Parents: Arc<Vec<PageLists<Ordinal>>>,
    Ids: Arc<IdPage>,
    Values: Arc<ValuePage>,
    Postings: Arc<PostingPage>,
    List: Arc<[Ordinal]>,
}

/// Ids and positions of one page's nodes, by slot.
pub struct NodePage {
    /// Ids.
    pub ids: Vec<i64>,
    /// Positions.
    pub coords: Vec<Coord>,
}

/// Ids, nodes and geometry of one page's ways, by slot.
pub struct WayPage {
    /// Ids.
    pub ids: Vec<i64>,
    pub(super) nodes: PageLists<ElementRef>,
    pub(super) coords: PageLists<Coord>,
}

impl WayPage {
    /// Returns the nodes of the way at `slot`, in order.
    pub fn nodes(&self, slot: usize) -> &[ElementRef] {
        self.nodes.get(slot)
    }

    /// Their positions; [`Coord::MISSING`] where a node is missing.
    pub fn coords(&self, slot: usize) -> &[Coord] {
        self.coords.get(slot)
    }
}

/// The nodes of one page's ways, by slot, for readers that need the positions of only a few of them.
pub struct WayNodes {
    pub(super) nodes: PageLists<ElementRef>,
}

impl WayNodes {
    /// Returns the nodes of the way at `slot`, in order.
    pub fn nodes(&self, slot: usize) -> &[ElementRef] {
        self.nodes.get(slot)
    }
}

/// Ids and members of one page's relations, by slot.
pub struct RelationPage {
    /// Ids.
    pub ids: Vec<i64>,
    pub(super) members: PageLists<RelationMember>,
}

impl RelationPage {
    /// Returns the members of the relation at `slot`, in order.
    pub fn members(&self, slot: usize) -> &[RelationMember] {
        self.members.get(slot)
    }
}

/// Tags of one page's elements, by slot.
pub struct TagPage {
    pub(super) tags: PageLists<PairId>,
}

impl TagPage {
    /// Returns the tags of the element at `slot`, ascending (so in byte order of their keys).
    pub fn tags(&self, slot: usize) -> &[PairId] {
        self.tags.get(slot)
    }
}

/// Metadata of one page's elements, by slot.
pub struct MetaPage {
    pub(super) columns: MetaColumns,
    /// Ids of the users.
    pub(super) uids: Vec<i64>,
}

impl MetaPage {
    /// Returns the metadata of the element at `slot`.
    pub fn meta(&self, slot: usize) -> MetaRef {
        MetaRef { uid: self.uids.get(slot).copied().unwrap_or_default(), ..self.columns.get(slot) }
    }
}

/// Some entries of the id index.
pub(super) struct IdPage {
    pub(super) ids: Vec<i64>,
    pub(super) pages: Vec<u32>,
}
