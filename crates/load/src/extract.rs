//! Which elements of a snapshot an extract takes: those in a region, or those that somebody chose, and what a strategy
//! takes with them. Strategies have the names and the meaning that they have in osmium.

use std::collections::BTreeMap;

use rayon::prelude::*;
use terrapin_base::Progress;
use terrapin_osm::geometry::{BoxRelation, Location, Polygon};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm};

use super::LoadError;

/// Elements that are looked at at once.
const AT_ONCE: usize = 1 << 16;
/// Pages that are looked at at once.
const PAGES: usize = 256;

/// What is taken with the elements of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The nodes in the region, ways with one of them, relations with one of these as a member: ways may lack nodes.
    Simple,
    /// As well all nodes of these ways, and the relations that have these relations as members, and so on.
    CompleteWays,
    /// As well the ways and nodes of relations with the tag type=multipolygon, and the nodes of these ways.
    Smart,
}

impl Strategy {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Simple => "simple",
            Strategy::CompleteWays => "complete-ways",
            Strategy::Smart => "smart",
        }
    }
}

/// A part of the world.
#[derive(Debug, Clone)]
pub enum Region {
    /// A box with its sides.
    Box(BoundingBox),
    /// A polygon with its border.
    Polygon(Polygon),
}

impl Region {
    fn bbox(&self) -> BoundingBox {
        match self {
            Region::Box(area) => *area,
            Region::Polygon(polygon) => *polygon.bbox(),
        }
    }

    fn has(&self, at: Coord) -> bool {
        match self {
            Region::Box(area) => area.contains(at),
            Region::Polygon(polygon) => polygon.locate(at) != Location::Outside,
        }
    }

    /// Whether it has everything in a box.
    fn has_all(&self, of: &BoundingBox) -> bool {
        match self {
            Region::Box(_) => false,
            Region::Polygon(polygon) => polygon.relate(of) == BoxRelation::Inside,
        }
    }
}

/// What an extract begins with.
#[derive(Debug, Clone)]
pub enum What {
    /// All nodes of a region.
    Region(Region),
    /// These elements, by type, ascending. Ways and relations that have them as parts are not taken for that.
    Elements([Vec<Ordinal>; 3]),
}

/// A part of a snapshot.
#[derive(Debug, Clone)]
pub struct Cut {
    /// What it begins with.
    pub what: What,
    /// What is taken with it.
    pub strategy: Strategy,
    /// How `what` is called in the manifest.
    pub name: String,
}

impl Cut {
    /// What the manifest says of it.
    pub(super) fn told(&self) -> String {
        format!("{}, strategy {}", self.name, self.strategy.name())
    }

    /// The elements that it takes.
    pub(super) fn select(&self, osm: &Osm, progress: &dyn Progress) -> Result<Selection, LoadError> {
        progress.phase("choosing elements", 0);
        let selection = match &self.what {
            What::Region(region) => in_region(osm, region, self.strategy),
            What::Elements(elements) => chosen(osm, elements, self.strategy),
        };
        osm.check()?;
        if selection.types.iter().all(|set| set.pages.is_empty()) {
            return Err(LoadError::NothingThere(self.name.clone()));
        }
        Ok(selection)
    }
}

/// Elements of one type: a bit each, for the pages that have any.
#[derive(Debug, Default)]
struct Set {
    pages: BTreeMap<u32, Box<[u64]>>,
}

impl Set {
    /// Takes in elements, ascending.
    fn add(&mut self, osm: &Osm, kind: ElementType, elements: &[Ordinal]) {
        let words = osm.page_size(kind).div_ceil(64) as usize;
        for elements in elements.chunk_by(|&a, &b| osm.place(kind, a).0 == osm.place(kind, b).0) {
            let (page, _) = osm.place(kind, elements[0]);
            let bits = self.pages.entry(page).or_insert_with(|| vec![0; words].into());
            for &element in elements {
                let slot = osm.place(kind, element).1;
                bits[slot / 64] |= 1 << (slot % 64);
            }
        }
    }

    fn has(&self, page: u32, slot: usize) -> bool {
        self.pages.get(&page).is_some_and(|bits| bits[slot / 64] >> (slot % 64) & 1 == 1)
    }

    /// The elements, ascending, some thousand at a time.
    fn for_each(&self, osm: &Osm, kind: ElementType, mut f: impl FnMut(&[Ordinal])) {
        let mut some = Vec::new();
        for (&page, bits) in &self.pages {
            let first = u64::from(page) * osm.page_size(kind);
            let slots = (0..bits.len() as u64 * 64).filter(|slot| bits[(slot / 64) as usize] >> (slot % 64) & 1 == 1);
            some.extend(slots.map(|slot| first + slot));
            if some.len() >= AT_ONCE {
                f(&some);
                some.clear();
            }
        }
        if !some.is_empty() {
            f(&some);
        }
    }
}

/// Elements of a snapshot.
#[derive(Debug, Default)]
pub struct Selection {
    types: [Set; 3],
}

impl Selection {
    /// Whether it has the element of a slot on a page.
    pub fn has(&self, kind: ElementType, page: u32, slot: usize) -> bool {
        self.types[kind as usize].has(page, slot)
    }

    /// The pages of a type of which it has anything.
    pub fn pages(&self, kind: ElementType) -> impl Iterator<Item = u32> {
        self.types[kind as usize].pages.keys().copied()
    }
}

/// What a strategy takes of a region.
fn in_region(osm: &Osm, region: &Region, strategy: Strategy) -> Selection {
    let [node, way, relation] = ElementType::ALL;
    let [mut nodes, mut ways, mut relations] = <[Set; 3]>::default();
    let pages = osm.pages_in(node, &region.bbox());
    for pages in pages.chunks(PAGES) {
        let inside: Vec<Vec<Ordinal>> = pages.par_iter().map(|&page| nodes_in(osm, region, page)).collect();
        inside.iter().for_each(|inside| nodes.add(osm, node, inside));
    }
    nodes.for_each(osm, node, |nodes| {
        ways.add(osm, way, &osm.ways_of_nodes(nodes));
        relations.add(osm, relation, &osm.relations_of(node, nodes));
    });
    ways.for_each(osm, way, |ways| relations.add(osm, relation, &osm.relations_of(way, ways)));
    if strategy != Strategy::Simple {
        let direct = relations;
        relations = Set::default();
        direct.for_each(osm, relation, |some| relations.add(osm, relation, &with_parents(osm, some)));
        if strategy == Strategy::Smart {
            add_members(osm, &direct, &mut nodes, &mut ways);
        }
        add_nodes(osm, &ways, &mut nodes);
    }
    Selection { types: [nodes, ways, relations] }
}

/// What a strategy takes with chosen elements.
fn chosen(osm: &Osm, elements: &[Vec<Ordinal>; 3], strategy: Strategy) -> Selection {
    let mut types = <[Set; 3]>::default();
    for (kind, elements) in ElementType::ALL.into_iter().zip(elements) {
        types[kind as usize].add(osm, kind, elements);
    }
    let [mut nodes, mut ways, relations] = types;
    if strategy == Strategy::Smart {
        add_members(osm, &relations, &mut nodes, &mut ways);
    }
    if strategy != Strategy::Simple {
        add_nodes(osm, &ways, &mut nodes);
    }
    Selection { types: [nodes, ways, relations] }
}

/// The nodes of a page that are in a region.
fn nodes_in(osm: &Osm, region: &Region, page: u32) -> Vec<Ordinal> {
    let nodes = osm.node_page(page);
    let first = u64::from(page) * osm.page_size(ElementType::Node);
    let whole = region.has_all(&osm.page_box(ElementType::Node, page));
    let inside = (first..).zip(&nodes.coords).filter(|(_, at)| whole || region.has(**at));
    inside.map(|(ordinal, _)| ordinal).collect()
}

/// Relations, and those that have them as members, however many steps away; ascending.
fn with_parents(osm: &Osm, relations: &[Ordinal]) -> Vec<Ordinal> {
    let mut all = relations.to_vec();
    let mut new = relations.to_vec();
    while !new.is_empty() {
        new = osm.relations_of(ElementType::Relation, &new);
        new.retain(|parent| all.binary_search(parent).is_err());
        all.extend(&new);
        all.sort_unstable();
    }
    all
}

/// Adds the nodes of ways.
fn add_nodes(osm: &Osm, ways: &Set, nodes: &mut Set) {
    ways.for_each(osm, ElementType::Way, |ways| {
        let parts: Vec<Vec<Ordinal>> = by_page(osm, ElementType::Way, ways, |page, slots, found| {
            let page = osm.way_page(page);
            found.extend(slots.flat_map(|slot| page.nodes(slot)).filter_map(|node| node.ordinal()));
        });
        parts.iter().for_each(|found| nodes.add(osm, ElementType::Node, found));
    });
}

/// Adds the nodes and the ways that are members of multipolygons.
fn add_members(osm: &Osm, relations: &Set, nodes: &mut Set, ways: &mut Set) {
    let Some(multipolygon) = osm.pair("type", "multipolygon") else { return };
    relations.for_each(osm, ElementType::Relation, |relations| {
        for (kind, set) in [(ElementType::Node, &mut *nodes), (ElementType::Way, &mut *ways)] {
            let parts = by_page(osm, ElementType::Relation, relations, |page, slots, found| {
                let (members, tags) = (osm.relation_page(page), osm.tag_page(ElementType::Relation, page));
                let slots = slots.filter(|&slot| tags.tags(slot).contains(&multipolygon));
                let of_kind = slots.flat_map(|slot| members.members(slot)).filter(|member| member.kind == kind);
                found.extend(of_kind.filter_map(|member| member.element.ordinal()));
            });
            parts.iter().for_each(|found| set.add(osm, kind, found));
        }
    });
}

/// What `find` finds for the elements on each page, ascending.
fn by_page(
    osm: &Osm,
    kind: ElementType,
    elements: &[Ordinal],
    find: impl Fn(u32, &mut dyn Iterator<Item = usize>, &mut Vec<Ordinal>) + Sync,
) -> Vec<Vec<Ordinal>> {
    let pages: Vec<&[Ordinal]> = elements.chunk_by(|&a, &b| osm.place(kind, a).0 == osm.place(kind, b).0).collect();
    let on_page = |elements: &&[Ordinal]| {
        let mut found = Vec::new();
        let page = osm.place(kind, elements[0]).0;
        find(page, &mut elements.iter().map(|&element| osm.place(kind, element).1), &mut found);
        found.sort_unstable();
        found.dedup();
        found
    };
    pages.par_iter().map(on_page).collect()
}
