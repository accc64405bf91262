//! Looking at single elements, in any order, with the pages last looked at in hand.
//!
//! Statements that go through whole pages read them from the store directly; this is for writing answers in order of
//! id and for evaluators that follow members.

use std::sync::Arc;

use super::extent::Extent;
use terrapin_osm::{
    BoundingBox, Coord, ElementRef, ElementType, MetaPage, MetaRef, NodePage, Ordinal, Osm, PairId, RelationPage,
    TagPage, ValuePage, WayPage,
};

/// Pages of one kind that are kept in hand at most. Writing in order of id hops over all pages of the answer, and a
/// page in hand is several times cheaper than one from the store's cache.
const CACHED_PAGES: u32 = 4096;

/// Some pages by number; a page takes the place of another whose number has the same remainder.
struct PageCache<P> {
    pages: Vec<Option<(u32, Arc<P>)>>,
    /// How many are slots, a power of two.
    slots: u32,
    /// The size of a page as a power of two.
    bits: u32,
}

impl<P> PageCache<P> {
    /// For pages of `size`, a power of two, of which there are `count`.
    fn new(size: u64, count: u32) -> Self {
        PageCache {
            pages: Vec::new(),
            slots: count.clamp(1, CACHED_PAGES).next_power_of_two(),
            bits: size.trailing_zeros(),
        }
    }

    /// For the pages of a type.
    fn of(osm: &Osm, kind: ElementType) -> Self {
        PageCache::new(osm.page_size(kind), osm.page_count(kind))
    }

    /// The page with this element, and its slot there.
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
pub struct Reader<'a> {
    osm: &'a Osm,
    nodes: PageCache<NodePage>,
    ways: PageCache<WayPage>,
    relations: PageCache<RelationPage>,
    tags: [PageCache<TagPage>; 3],
    metas: [PageCache<MetaPage>; 3],
    values: PageCache<ValuePage>,
    bare: bool,
    /// What has the areas, where that is another store.
    current: Option<Box<Reader<'a>>>,
}

impl<'a> Reader<'a> {
    /// A view with nothing in hand.
    pub fn new(osm: &'a Osm) -> Self {
        Reader {
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

    /// A view of a state with the areas of another.
    pub fn with_areas_of(osm: &'a Osm, current: &'a Osm) -> Self {
        let other = !std::ptr::eq(osm, current);
        Reader { current: other.then(|| Box::new(Reader::new(current))), ..Reader::new(osm) }
    }

    /// The view that has the areas.
    pub fn areas(&mut self) -> &mut Reader<'a> {
        if self.current.is_none() {
            return self;
        }
        self.current.as_deref_mut().expect("it is there")
    }

    /// A view that shows ids, nodes of ways and members only: no tags, and evaluators are to find neither metadata nor
    /// positions.
    pub fn bare(osm: &'a Osm) -> Self {
        Reader { bare: true, ..Reader::new(osm) }
    }

    /// Whether it shows neither tags nor metadata nor positions.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// The store.
    pub fn osm(&self) -> &'a Osm {
        self.osm
    }

    /// The id of an element.
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

    /// The id of a way's node or of a member, also of one that is missing.
    pub fn ref_id(&mut self, kind: ElementType, element: ElementRef) -> i64 {
        match element.ordinal() {
            Some(ordinal) => self.id(kind, ordinal),
            None => self.osm.ref_ids(kind, &[element]).first().copied().unwrap_or_default(),
        }
    }

    /// The position of a node.
    pub fn coord(&mut self, node: Ordinal) -> Coord {
        let (page, slot) = self.nodes.at(node, |page| self.osm.node_page(page));
        page.coords.get(slot).copied().unwrap_or(Coord::MISSING)
    }

    /// The page with this way, and its slot there.
    pub fn way(&mut self, way: Ordinal) -> (Arc<WayPage>, usize) {
        let (page, slot) = self.ways.at(way, |page| self.osm.way_page(page));
        (Arc::clone(page), slot)
    }

    /// Appends the ids of a way's nodes, also of those that are missing.
    pub fn way_nodes(&mut self, way: Ordinal, into: &mut Vec<i64>) {
        let Reader { osm, ways, nodes, .. } = self;
        let (page, slot) = ways.at(way, |page| osm.way_page(page));
        into.extend(page.nodes(slot).iter().map(|&node| match node.ordinal() {
            Some(ordinal) => {
                let (page, slot) = nodes.at(ordinal, |page| osm.node_page(page));
                page.ids.get(slot).copied().unwrap_or_else(|| osm.no_such_element(ElementType::Node))
            }
            None => osm.ref_ids(ElementType::Node, &[node]).first().copied().unwrap_or_default(),
        }));
    }

    /// The page with this relation, and its slot there.
    pub fn relation(&mut self, relation: Ordinal) -> (Arc<RelationPage>, usize) {
        let (page, slot) = self.relations.at(relation, |page| self.osm.relation_page(page));
        (Arc::clone(page), slot)
    }

    /// The tags of an element, in byte order of their keys.
    pub fn tags(&mut self, kind: ElementType, ordinal: Ordinal) -> &[PairId] {
        if self.bare {
            return &[];
        }
        let (page, slot) = self.tags[kind as usize].at(ordinal, |page| self.osm.tag_page(kind, page));
        page.tags(slot)
    }

    /// The key and the value of a tag.
    pub fn tag_text(&mut self, pair: PairId) -> (&'a str, &str) {
        let (page, slot) = self.values.at(pair.into(), |page| self.osm.value_page(page));
        (self.osm.key_name(page.key(slot)), page.get(slot))
    }

    /// The metadata of an element.
    pub fn meta(&mut self, kind: ElementType, ordinal: Ordinal) -> MetaRef {
        let (page, slot) = self.metas[kind as usize].at(ordinal, |page| self.osm.meta_page(kind, page));
        page.meta(slot)
    }

    /// The box around a way's nodes.
    pub fn way_box(&mut self, way: Ordinal) -> BoundingBox {
        let (page, slot) = self.ways.at(way, |page| self.osm.way_page(page));
        let mut bounds = BoundingBox::EMPTY;
        page.coords(slot).iter().for_each(|&c| bounds.extend(c));
        bounds
    }

    /// The extent of an element: of a relation that of its node and way members, relations among them do not count.
    pub fn extent(&mut self, kind: ElementType, ordinal: Ordinal) -> Extent {
        let mut extent = Extent::EMPTY;
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

    fn add_way(&mut self, way: Ordinal, extent: &mut Extent) {
        let (page, slot) = self.ways.at(way, |page| self.osm.way_page(page));
        page.coords(slot).iter().for_each(|&c| extent.add(c));
    }
}
