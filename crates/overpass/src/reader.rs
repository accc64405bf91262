//! Reads single elements in any order, and caches the most recently used pages.
//!
//! Statements that process whole pages read them from the store directly. This reader is for writing answers in order
//! of id and for evaluators that follow members.

use std::sync::Arc;

use super::extent::ExtentBuilder;
use terrapin_osm::{
    BoundingBox, Coord, ElementRef, ElementType, MetaPage, MetaRef, NodePage, Ordinal, Osm, PairId, RelationPage,
    TagPage, ValuePage, WayPage,
};

/// The maximum number of cached pages of one kind. Writing in order of id accesses all pages of the answer at random. A
/// page cached here is several times cheaper than one from the store's cache.
const CACHED_PAGES: u32 = 4096;

/// A direct-mapped page cache: a page replaces the one whose number has the same remainder.
struct PageCache<P> {
    pages: Vec<Option<(u32, Arc<P>)>>,
    /// The number of slots, a power of two.
    slots: u32,
    /// The binary logarithm of the page size.
    bits: u32,
}

impl<P> PageCache<P> {
    /// Creates a cache for `count` pages of `size` elements, a power of two.
    fn new(size: u64, count: u32) -> Self {
        PageCache {
            pages: Vec::new(),
            slots: count.clamp(1, CACHED_PAGES).next_power_of_two(),
            bits: size.trailing_zeros(),
        }
    }

    /// Creates a cache for the pages of a type.
    fn of(osm: &Osm, kind: ElementType) -> Self {
        PageCache::new(osm.page_size(kind), osm.page_count(kind))
    }

    /// Returns the page with this element, and its slot there.
    #[inline]
    fn at(&mut self, ordinal: Ordinal, load: impl FnOnce(u32) -> Arc<P>) -> (&Arc<P>, usize) {
        if self.pages.is_empty() {
            self.pages.resize_with(self.slots as usize, || None);
        }
        let page = (ordinal >> self.bits) as u32;
        let slot = (ordinal & ((1 << self.bits) - 1)) as usize;
        let place = &mut self.pages[(page & (self.slots - 1)) as usize];
        if place.as_ref().is_none_or(|(number, _)| *number != page) {
            *place = None;
        }
        (&place.get_or_insert_with(|| (page, load(page))).1, slot)
    }
}

/// A view of the store for one statement.
pub struct StoreReader<'a> {
    osm: &'a Osm,
    nodes: PageCache<NodePage>,
    ways: PageCache<WayPage>,
    relations: PageCache<RelationPage>,
    tags: [PageCache<TagPage>; 3],
    metas: [PageCache<MetaPage>; 3],
    values: PageCache<ValuePage>,
    bare: bool,
    /// The reader of areas, if they are in another state of the data.
    current: Option<Box<StoreReader<'a>>>,
}

impl<'a> StoreReader<'a> {
    /// Creates a view with empty caches.
    pub fn new(osm: &'a Osm) -> Self {
        StoreReader {
            osm,
            nodes: PageCache::of(osm, ElementType::Node),
            ways: PageCache::of(osm, ElementType::Way),
            relations: PageCache::of(osm, ElementType::Relation),
            tags: ElementType::ALL.map(|kind| PageCache::of(osm, kind)),
            metas: ElementType::ALL.map(|kind| PageCache::of(osm, kind)),
            values: PageCache::new(Osm::VALUES_ON_PAGE, osm.value_page_count()),
            bare: false,
            current: None,
        }
    }

    /// Creates a view of one state with the areas of another.
    pub fn with_areas_of(osm: &'a Osm, current: &'a Osm) -> Self {
        let other = !std::ptr::eq(osm, current);
        StoreReader { current: other.then(|| Box::new(StoreReader::new(current))), ..StoreReader::new(osm) }
    }

    /// Returns the view that has the areas.
    pub fn areas(&mut self) -> &mut StoreReader<'a> {
        if self.current.is_none() {
            return self;
        }
        self.current.as_deref_mut().expect("it is there")
    }

    /// Creates a view that contains only ids, nodes of ways and members. Tags are empty, and evaluators find neither
    /// metadata nor positions.
    pub fn bare(osm: &'a Osm) -> Self {
        StoreReader { bare: true, ..StoreReader::new(osm) }
    }

    /// Returns whether the view hides tags, metadata and positions.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// Returns the store.
    pub fn osm(&self) -> &'a Osm {
        self.osm
    }

    /// Returns the id of an element.
    pub fn id(&mut self, kind: ElementType, ordinal: Ordinal) -> i64 {
        match kind {
            ElementType::Node => {
                let (page, slot) = self.nodes.at(ordinal, |page| self.osm.node_page(page));
                page.ids.get(slot).copied().unwrap_or_else(|| self.osm.no_such_element(kind))
            }
            ElementType::Way => {
                let (page, slot) = self.ways.at(ordinal, |page| self.osm.way_page(page));
                page.ids.get(slot).copied().unwrap_or_else(|| self.osm.no_such_element(kind))
            }
            ElementType::Relation => {
                let (page, slot) = self.relations.at(ordinal, |page| self.osm.relation_page(page));
                page.ids.get(slot).copied().unwrap_or_else(|| self.osm.no_such_element(kind))
            }
        }
    }

    /// Returns the id of a way's node or of a member, even if it is missing in the data.
    pub fn ref_id(&mut self, kind: ElementType, element: ElementRef) -> i64 {
        match element.ordinal() {
            Some(ordinal) => self.id(kind, ordinal),
            None => self.osm.ref_ids(kind, &[element]).first().copied().unwrap_or_default(),
        }
    }

    /// Returns the position of a node.
    pub fn coord(&mut self, node: Ordinal) -> Coord {
        let (page, slot) = self.nodes.at(node, |page| self.osm.node_page(page));
        page.coords.get(slot).copied().unwrap_or(Coord::MISSING)
    }

    /// Returns the page with this way, and its slot there.
    pub fn way(&mut self, way: Ordinal) -> (Arc<WayPage>, usize) {
        let (page, slot) = self.ways.at(way, |page| self.osm.way_page(page));
        (Arc::clone(page), slot)
    }

    /// Appends the ids of a way's nodes, including those of missing nodes.
    pub fn way_nodes(&mut self, way: Ordinal, into: &mut Vec<i64>) {
        let StoreReader { osm, ways, nodes, .. } = self;
        let (page, slot) = ways.at(way, |page| osm.way_page(page));
        into.extend(page.nodes(slot).iter().map(|&node| match node.ordinal() {
            Some(ordinal) => {
                let (page, slot) = nodes.at(ordinal, |page| osm.node_page(page));
                page.ids.get(slot).copied().unwrap_or_else(|| osm.no_such_element(ElementType::Node))
            }
            None => osm.ref_ids(ElementType::Node, &[node]).first().copied().unwrap_or_default(),
        }));
    }

    /// Returns the page with this relation, and its slot there.
    pub fn relation(&mut self, relation: Ordinal) -> (Arc<RelationPage>, usize) {
        let (page, slot) = self.relations.at(relation, |page| self.osm.relation_page(page));
        (Arc::clone(page), slot)
    }

    /// Returns the tags of an element, in byte order of their keys.
    pub fn tags(&mut self, kind: ElementType, ordinal: Ordinal) -> &[PairId] {
        if self.bare {
            return &[];
        }
        let (page, slot) = self.tags[kind as usize].at(ordinal, |page| self.osm.tag_page(kind, page));
        page.tags(slot)
    }

    /// Returns the key and the value of a tag.
    pub fn tag_text(&mut self, pair: PairId) -> (&'a str, &str) {
        let (page, slot) = self.values.at(pair.into(), |page| self.osm.value_page(page));
        (self.osm.key_name(page.key(slot)), page.get(slot))
    }

    /// Returns the metadata of an element.
    pub fn meta(&mut self, kind: ElementType, ordinal: Ordinal) -> MetaRef {
        let (page, slot) = self.metas[kind as usize].at(ordinal, |page| self.osm.meta_page(kind, page));
        page.meta(slot)
    }

    /// Returns the box around a way's nodes.
    pub fn way_box(&mut self, way: Ordinal) -> BoundingBox {
        let (page, slot) = self.ways.at(way, |page| self.osm.way_page(page));
        let mut bounds = BoundingBox::EMPTY;
        page.coords(slot).iter().for_each(|&c| bounds.extend(c));
        bounds
    }

    /// Returns the extent of an element. That of a relation covers its node and way members, but not its relation
    /// members.
    pub fn extent(&mut self, kind: ElementType, ordinal: Ordinal) -> ExtentBuilder {
        let mut extent = ExtentBuilder::EMPTY;
        match kind {
            ElementType::Node => extent.add(self.coord(ordinal)),
            ElementType::Way => self.add_way(ordinal, &mut extent),
            ElementType::Relation => {
                let (page, slot) = self.relation(ordinal);
                for member in page.members(slot) {
                    match (member.kind, member.element.ordinal()) {
                        (ElementType::Node, Some(node)) => extent.add(self.coord(node)),
                        (ElementType::Way, Some(way)) => self.add_way(way, &mut extent),
                        _ => {}
                    }
                }
            }
        }
        extent
    }

    fn add_way(&mut self, way: Ordinal, extent: &mut ExtentBuilder) {
        let (page, slot) = self.ways.at(way, |page| self.osm.way_page(page));
        page.coords(slot).iter().for_each(|&c| extent.add(c));
    }
}
