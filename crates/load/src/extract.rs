//! Selects the elements of an extract: those in a region or given ones, and the elements that a strategy adds.
//! Strategies have osmium's names and meanings.

use std::collections::BTreeMap;

use rayon::prelude::*;
use terrapin_base::LoadProgress;
use terrapin_osm::geometry::{BoxRelation, Polygon, PolygonLocation};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm};

use super::LoadError;

/// The number of elements processed at once.
const AT_ONCE: usize = 1 << 16;
/// The number of pages processed at once.
const PAGES: usize = 256;

/// The elements added to those in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The nodes in the region, ways with such a node, and relations with such a node or way as a member. Ways may
    /// lack nodes.
    Simple,
    /// Adds all nodes of these ways, and recursively the relations with these relations as members.
    CompleteWays,
    /// Adds the ways and nodes of relations tagged type=multipolygon, and the nodes of these ways.
    Smart,
    /// Adds the ways and nodes of all these relations, and the nodes of these ways.
    CompleteRelations,
}

impl Strategy {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Simple => "simple",
            Strategy::CompleteWays => "complete-ways",
            Strategy::Smart => "smart",
            Strategy::CompleteRelations => "complete-relations",
        }
    }
}

/// A region of the world.
#[derive(Debug, Clone)]
pub enum ExtractRegion {
    /// A box, sides included.
    Box(BoundingBox),
    /// Disjoint boxes, sides included, none across the antimeridian.
    Boxes(Vec<BoundingBox>),
    /// A polygon, border included.
    Polygon(Polygon),
}

impl ExtractRegion {
    fn bbox(&self) -> BoundingBox {
        match self {
            ExtractRegion::Box(area) => *area,
            ExtractRegion::Boxes(areas) => {
                let mut all = BoundingBox::EMPTY;
                areas.iter().for_each(|area| all.union(area));
                all
            }
            ExtractRegion::Polygon(polygon) => *polygon.bbox(),
        }
    }

    /// Returns the pages with a node that may be in the region, ascending.
    fn pages(&self, osm: &Osm) -> Vec<u32> {
        let ExtractRegion::Boxes(areas) = self else { return osm.pages_in(ElementType::Node, &self.bbox()) };
        let mut pages: Vec<u32> = areas.iter().flat_map(|area| osm.pages_in(ElementType::Node, area)).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    fn has(&self, at: Coord) -> bool {
        match self {
            ExtractRegion::Box(area) => area.contains(at),
            ExtractRegion::Boxes(areas) => areas.iter().any(|area| area.contains(at)),
            ExtractRegion::Polygon(polygon) => polygon.locate(at) != PolygonLocation::Outside,
        }
    }

    /// Reports whether the region contains a box.
    fn has_all(&self, of: &BoundingBox) -> bool {
        match self {
            ExtractRegion::Box(_) => false,
            ExtractRegion::Boxes(areas) => areas.iter().any(|area| {
                let corners = [(of.south, of.west), (of.north, of.east)];
                of.west <= of.east && corners.into_iter().all(|(lat, lon)| area.contains(Coord { lat, lon }))
            }),
            ExtractRegion::Polygon(polygon) => polygon.relate(of) == BoxRelation::Inside,
        }
    }
}

/// The initial elements of an extract.
#[derive(Debug, Clone)]
pub enum What {
    /// All nodes of a region.
    Region(ExtractRegion),
    /// These elements by type, ascending. Ways and relations that contain them are not added.
    Elements([Vec<Ordinal>; 3]),
    /// All nodes of a region, with the ways and relations that contain them, and in addition these elements.
    RegionAndElements(ExtractRegion, [Vec<Ordinal>; 3]),
}

/// An extract.
#[derive(Debug, Clone)]
pub struct ExtractOptions {
    /// The initial elements.
    pub what: What,
    /// The strategy.
    pub strategy: Strategy,
    /// The description of `what` in the manifest.
    pub name: String,
}

impl ExtractOptions {
    /// Returns the extract's description for the manifest.
    pub(super) fn told(&self) -> String {
        format!("{}, strategy {}", self.name, self.strategy.name())
    }

    /// Selects the elements.
    pub(super) fn select(&self, osm: &Osm, progress: &dyn LoadProgress) -> Result<ElementSelection, LoadError> {
        progress.phase("choosing elements", 0);
        let selection = match &self.what {
            What::Region(region) => in_region(osm, region, &Default::default(), self.strategy),
            What::RegionAndElements(region, elements) => in_region(osm, region, elements, self.strategy),
            What::Elements(elements) => chosen(osm, elements, self.strategy),
        };
        osm.check()?;
        if selection.types.iter().all(|set| set.pages.is_empty()) {
            return Err(LoadError::NothingThere(self.name.clone()));
        }
        Ok(selection)
    }
}

/// A set of elements of one type: a bit per element, for non-empty pages.
#[derive(Debug, Default)]
struct ElementBitmap {
    pages: BTreeMap<u32, Box<[u64]>>,
}

impl ElementBitmap {
    /// Adds elements, ascending.
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

    /// Passes the elements to `f`, ascending, some thousand at a time.
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

/// A selection of elements of a snapshot.
#[derive(Debug, Default)]
pub struct ElementSelection {
    types: [ElementBitmap; 3],
}

impl ElementSelection {
    /// Reports whether the element at a slot of a page is selected.
    pub fn has(&self, kind: ElementType, page: u32, slot: usize) -> bool {
        self.types[kind as usize].has(page, slot)
    }

    /// Returns the pages of a type with selected elements.
    pub fn pages(&self, kind: ElementType) -> impl Iterator<Item = u32> {
        self.types[kind as usize].pages.keys().copied()
    }
}

/// Selects the elements of a region, and further ones, by a strategy.
fn in_region(osm: &Osm, region: &ExtractRegion, more: &[Vec<Ordinal>; 3], strategy: Strategy) -> ElementSelection {
    let [node, way, relation] = ElementType::ALL;
    let [mut nodes, mut ways, mut relations] = <[ElementBitmap; 3]>::default();
    let pages = region.pages(osm);
    for pages in pages.chunks(PAGES) {
        let inside: Vec<Vec<Ordinal>> = pages.par_iter().map(|&page| nodes_in(osm, region, page)).collect();
        inside.iter().for_each(|inside| nodes.add(osm, node, inside));
    }
    nodes.for_each(osm, node, |nodes| {
        ways.add(osm, way, &osm.ways_of_nodes(nodes));
        relations.add(osm, relation, &osm.relations_of(node, nodes));
    });
    ways.for_each(osm, way, |ways| relations.add(osm, relation, &osm.relations_of(way, ways)));
    let types = [&mut nodes, &mut ways, &mut relations];
    ElementType::ALL.into_iter().zip(types).zip(more).for_each(|((kind, set), more)| set.add(osm, kind, more));
    if strategy != Strategy::Simple {
        let direct = relations;
        relations = ElementBitmap::default();
        direct.for_each(osm, relation, |some| relations.add(osm, relation, &with_parents(osm, some)));
        add_members(osm, strategy, &direct, &mut nodes, &mut ways);
        add_nodes(osm, &ways, &mut nodes);
    }
    ElementSelection { types: [nodes, ways, relations] }
}

/// Selects given elements and those a strategy adds.
fn chosen(osm: &Osm, elements: &[Vec<Ordinal>; 3], strategy: Strategy) -> ElementSelection {
    let mut types = <[ElementBitmap; 3]>::default();
    for (kind, elements) in ElementType::ALL.into_iter().zip(elements) {
        types[kind as usize].add(osm, kind, elements);
    }
    let [mut nodes, mut ways, relations] = types;
    add_members(osm, strategy, &relations, &mut nodes, &mut ways);
    if strategy != Strategy::Simple {
        add_nodes(osm, &ways, &mut nodes);
    }
    ElementSelection { types: [nodes, ways, relations] }
}

/// Returns the nodes of a page in a region.
fn nodes_in(osm: &Osm, region: &ExtractRegion, page: u32) -> Vec<Ordinal> {
    let nodes = osm.node_page(page);
    let first = u64::from(page) * osm.page_size(ElementType::Node);
    let whole = region.has_all(&osm.page_box(ElementType::Node, page));
    let inside = (first..).zip(&nodes.coords).filter(|(_, at)| whole || region.has(**at));
    inside.map(|(ordinal, _)| ordinal).collect()
}

/// Returns relations and all their direct and indirect parents, ascending.
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
fn add_nodes(osm: &Osm, ways: &ElementBitmap, nodes: &mut ElementBitmap) {
    ways.for_each(osm, ElementType::Way, |ways| {
        let parts: Vec<Vec<Ordinal>> = by_page(osm, ElementType::Way, ways, |page, slots, found| {
            let page = osm.way_page(page);
            found.extend(slots.flat_map(|slot| page.nodes(slot)).filter_map(|node| node.ordinal()));
        });
        parts.iter().for_each(|found| nodes.add(osm, ElementType::Node, found));
    });
}

/// Adds the nodes and ways that are members of the relations which a strategy completes.
fn add_members(
    osm: &Osm,
    strategy: Strategy,
    relations: &ElementBitmap,
    nodes: &mut ElementBitmap,
    ways: &mut ElementBitmap,
) {
    let multipolygon = match strategy {
        Strategy::Simple | Strategy::CompleteWays => return,
        Strategy::CompleteRelations => None,
        Strategy::Smart => match osm.pair("type", "multipolygon") {
            None => return,
            pair => pair,
        },
    };
    relations.for_each(osm, ElementType::Relation, |relations| {
        for (kind, set) in [(ElementType::Node, &mut *nodes), (ElementType::Way, &mut *ways)] {
            let parts = by_page(osm, ElementType::Relation, relations, |page, slots, found| {
                let (members, tags) = (osm.relation_page(page), osm.tag_page(ElementType::Relation, page));
                let slots = slots.filter(|&slot| multipolygon.is_none_or(|pair| tags.tags(slot).contains(&pair)));
                let of_kind = slots.flat_map(|slot| members.members(slot)).filter(|member| member.kind == kind);
                found.extend(of_kind.filter_map(|member| member.element.ordinal()));
            });
            parts.iter().for_each(|found| set.add(osm, kind, found));
        }
    });
}

/// Returns the results of `find` for the elements of each page, ascending.
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
