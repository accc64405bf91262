//! Looking at single elements, in any order, with the pages last looked at in hand.
//!
//! Statements that go through whole pages read them from the store directly; this is for writing answers in order of
//! id and for evaluators that follow members.

use std::sync::Arc;

use super::extent::Extent;
use crate::osm::{
    BoundingBox, Coord, ElementType, MetaPage, MetaRef, NodePage, Ordinal, Osm, PairId, Reference, RelationPage,
    TagPage, WayPage,
};

/// Pages of one kind that are kept in hand.
const KEPT: usize = 256;

/// Some pages by number; a page takes the place of another whose number has the same remainder.
struct Kept<P> {
    pages: Vec<Option<(u32, Arc<P>)>>,
    size: u64,
}

impl<P> Kept<P> {
    fn new(size: u64) -> Self {
        Kept { pages: Vec::new(), size: size.max(1) }
    }

    /// The page with this element, and its slot there.
    fn at(&mut self, ordinal: Ordinal, load: impl FnOnce(u32) -> Arc<P>) -> (&Arc<P>, usize) {
        if self.pages.is_empty() {
            self.pages.resize_with(KEPT, || None);
        }
        let page = (ordinal / self.size) as u32;
        let slot = (ordinal % self.size) as usize;
        let place = &mut self.pages[page as usize % KEPT];
        if place.as_ref().is_none_or(|(number, _)| *number != page) {
            *place = None;
        }
        (&place.get_or_insert_with(|| (page, load(page))).1, slot)
    }
}

/// A view of the store for one statement.
pub struct Reader<'a> {
    osm: &'a Osm,
    nodes: Kept<NodePage>,
    ways: Kept<WayPage>,
    relations: Kept<RelationPage>,
    tags: [Kept<TagPage>; 3],
    metas: [Kept<MetaPage>; 3],
}

impl<'a> Reader<'a> {
    /// A view with nothing in hand.
    pub fn new(osm: &'a Osm) -> Self {
        Reader {
            osm,
            nodes: Kept::new(osm.page_size(ElementType::Node)),
            ways: Kept::new(osm.page_size(ElementType::Way)),
            relations: Kept::new(osm.page_size(ElementType::Relation)),
            tags: ElementType::ALL.map(|kind| Kept::new(osm.page_size(kind))),
            metas: ElementType::ALL.map(|kind| Kept::new(osm.page_size(kind))),
        }
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
                page.ids[slot]
            }
            ElementType::Way => {
                let (page, slot) = self.ways.at(ordinal, |page| self.osm.way_page(page));
                page.ids[slot]
            }
            ElementType::Relation => {
                let (page, slot) = self.relations.at(ordinal, |page| self.osm.relation_page(page));
                page.ids[slot]
            }
        }
    }

    /// The id of a way's node or of a member, also of one that is missing.
    pub fn reference_id(&mut self, kind: ElementType, reference: Reference) -> i64 {
        match reference.ordinal() {
            Some(ordinal) => self.id(kind, ordinal),
            None => self.osm.reference_ids(kind, &[reference]).first().copied().unwrap_or_default(),
        }
    }

    /// The position of a node.
    pub fn coord(&mut self, node: Ordinal) -> Coord {
        let (page, slot) = self.nodes.at(node, |page| self.osm.node_page(page));
        page.coords[slot]
    }

    /// The page with this way, and its slot there.
    pub fn way(&mut self, way: Ordinal) -> (Arc<WayPage>, usize) {
        let (page, slot) = self.ways.at(way, |page| self.osm.way_page(page));
        (Arc::clone(page), slot)
    }

    /// The page with this relation, and its slot there.
    pub fn relation(&mut self, relation: Ordinal) -> (Arc<RelationPage>, usize) {
        let (page, slot) = self.relations.at(relation, |page| self.osm.relation_page(page));
        (Arc::clone(page), slot)
    }

    /// The tags of an element, in byte order of their keys.
    pub fn tags(&mut self, kind: ElementType, ordinal: Ordinal) -> &[PairId] {
        let (page, slot) = self.tags[kind as usize].at(ordinal, |page| self.osm.tag_page(kind, page));
        page.tags(slot)
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
