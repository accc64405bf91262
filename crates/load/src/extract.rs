//! Selects the elements of an extract: those in a region or given ones, and the elements that a strategy adds.
//! Strategies have osmium's names and meanings.

use rayon::prelude::*;
use rstar::RTree;
use rstar::primitives::Rectangle;
use terrapin_base::LoadProgress;
use terrapin_base::bitmap::NumberBitmap;
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
    /// Boxes, sides included.
    Boxes(RegionBoxes),
    /// A polygon, border included.
    Polygon(Polygon),
}

/// Boxes with an index of their positions.
#[derive(Debug, Clone)]
pub struct RegionBoxes {
    /// The boxes, none across the antimeridian.
    boxes: Vec<BoundingBox>,
    /// Longitude and latitude, with room for the differences that the index computes.
    tree: RTree<Rectangle<[i64; 2]>>,
}

impl RegionBoxes {
    /// Indexes boxes.
    pub fn new(boxes: &[BoundingBox]) -> RegionBoxes {
        let mut all = Vec::with_capacity(boxes.len());
        for area in boxes.iter().filter(|area| !area.is_empty()) {
            let (parts, number) = area.split();
            all.extend(parts.into_iter().take(number));
        }
        let corners = |area: &BoundingBox| {
            let [south, west, north, east] = [area.south, area.west, area.north, area.east].map(i64::from);
            Rectangle::from_corners([west, south], [east, north])
        };
        let tree = RTree::bulk_load(all.iter().map(corners).collect());
        RegionBoxes { boxes: all, tree }
    }

    fn contains(&self, at: Coord) -> bool {
        !at.is_missing() && self.tree.locate_at_point([i64::from(at.lon), i64::from(at.lat)]).is_some()
    }

    /// Returns whether one of the boxes contains another box.
    fn contains_box(&self, area: &BoundingBox) -> bool {
        let corners = |rectangle: &Rectangle<[i64; 2]>| (rectangle.lower(), rectangle.upper());
        let around = self.tree.locate_all_at_point([i64::from(area.west), i64::from(area.south)]);
        let ([east, north], is_whole) = ([area.east, area.north].map(i64::from), area.west <= area.east);
        is_whole && !area.is_empty() && around.map(corners).any(|(_, upper)| east <= upper[0] && north <= upper[1])
    }
}

impl ExtractRegion {
    fn bbox(&self) -> BoundingBox {
        match self {
            ExtractRegion::Box(area) => *area,
            ExtractRegion::Boxes(areas) => {
                let mut all = BoundingBox::EMPTY;
                areas.boxes.iter().for_each(|area| all.union(area));
                all
            }
            ExtractRegion::Polygon(polygon) => *polygon.bbox(),
        }
    }

    /// Returns the pages with a node that may be in the region, ascending.
    fn pages(&self, osm: &Osm) -> Vec<u32> {
        let ExtractRegion::Boxes(areas) = self else { return osm.pages_in(ElementType::Node, &self.bbox()) };
        let mut pages: Vec<u32> = areas.boxes.iter().flat_map(|area| osm.pages_in(ElementType::Node, area)).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    fn has(&self, at: Coord) -> bool {
        match self {
            ExtractRegion::Box(area) => area.contains(at),
            ExtractRegion::Boxes(areas) => areas.contains(at),
            ExtractRegion::Polygon(polygon) => polygon.locate(at) != PolygonLocation::Outside,
        }
    }

    /// Reports whether the region contains a box.
    fn has_all(&self, of: &BoundingBox) -> bool {
        match self {
            ExtractRegion::Box(_) => false,
            ExtractRegion::Boxes(areas) => areas.contains_box(of),
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
        if selection.types.iter().all(NumberBitmap::is_empty) {
            return Err(LoadError::NothingThere(self.name.clone()));
        }
        Ok(selection)
    }
}

/// Calls `f` with chunks of a set, ascending, each of at most [`AT_ONCE`] elements.
fn for_each_chunk(set: &NumberBitmap, mut f: impl FnMut(&[Ordinal])) {
    let mut some = Vec::with_capacity(AT_ONCE);
    for ordinal in set.iter() {
        some.push(ordinal);
        if some.len() >= AT_ONCE {
            f(&some);
            some.clear();
        }
    }
    if !some.is_empty() {
        f(&some);
    }
}

/// A selection of elements of a snapshot.
#[derive(Debug)]
pub struct ElementSelection {
    /// The elements by type.
    types: [NumberBitmap; 3],
    /// The number of elements on a full page, by type.
    page_sizes: [u64; 3],
}

impl ElementSelection {
    fn new(osm: &Osm, types: [NumberBitmap; 3]) -> ElementSelection {
        ElementSelection { types, page_sizes: ElementType::ALL.map(|kind| osm.page_size(kind)) }
    }

    /// Reports whether the element at a slot of a page is selected.
    pub fn has(&self, kind: ElementType, page: u32, slot: usize) -> bool {
        self.types[kind as usize].contains(u64::from(page) * self.page_sizes[kind as usize] + slot as u64)
    }

    /// Returns the pages of a type with selected elements, ascending.
    pub fn pages(&self, kind: ElementType) -> impl Iterator<Item = u32> {
        let size = self.page_sizes[kind as usize];
        let mut last = None;
        let pages = self.types[kind as usize].iter().map(move |ordinal| (ordinal / size) as u32);
        pages.filter(move |page| last.replace(*page) != Some(*page))
    }
}

/// Selects the elements of a region, and further ones, by a strategy.
fn in_region(osm: &Osm, region: &ExtractRegion, more: &[Vec<Ordinal>; 3], strategy: Strategy) -> ElementSelection {
    let [mut nodes, mut ways, mut relations] = <[NumberBitmap; 3]>::default();
    let pages = region.pages(osm);
    for pages in pages.chunks(PAGES) {
        let inside: Vec<Vec<Ordinal>> = pages.par_iter().map(|&page| nodes_in(osm, region, page)).collect();
        inside.iter().for_each(|inside| nodes.extend(inside));
    }
    for_each_chunk(&nodes, |nodes| {
        ways.extend(&osm.ways_of_nodes(nodes));
        relations.extend(&osm.relations_of(ElementType::Node, nodes));
    });
    for_each_chunk(&ways, |ways| relations.extend(&osm.relations_of(ElementType::Way, ways)));
    [&mut nodes, &mut ways, &mut relations].into_iter().zip(more).for_each(|(set, more)| set.extend(more));
    if strategy != Strategy::Simple {
        let direct = relations;
        relations = NumberBitmap::default();
        for_each_chunk(&direct, |some| relations.extend(&with_parents(osm, some)));
        add_members(osm, strategy, &direct, &mut nodes, &mut ways);
        add_nodes(osm, &ways, &mut nodes);
    }
    ElementSelection::new(osm, [nodes, ways, relations])
}

/// Selects given elements and those a strategy adds.
fn chosen(osm: &Osm, elements: &[Vec<Ordinal>; 3], strategy: Strategy) -> ElementSelection {
    let mut types = <[NumberBitmap; 3]>::default();
    types.iter_mut().zip(elements).for_each(|(set, elements)| set.extend(elements));
    let [mut nodes, mut ways, relations] = types;
    add_members(osm, strategy, &relations, &mut nodes, &mut ways);
    if strategy != Strategy::Simple {
        add_nodes(osm, &ways, &mut nodes);
    }
    ElementSelection::new(osm, [nodes, ways, relations])
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
fn add_nodes(osm: &Osm, ways: &NumberBitmap, nodes: &mut NumberBitmap) {
    for_each_chunk(ways, |ways| {
        let parts: Vec<Vec<Ordinal>> = by_page(osm, ElementType::Way, ways, |page, slots, found| {
            let page = osm.way_page(page);
            found.extend(slots.flat_map(|slot| page.nodes(slot)).filter_map(|node| node.ordinal()));
        });
        parts.iter().for_each(|found| nodes.extend(found));
    });
}

/// Adds the nodes and ways that are members of the relations which a strategy completes.
fn add_members(
    osm: &Osm,
    strategy: Strategy,
    relations: &NumberBitmap,
    nodes: &mut NumberBitmap,
    ways: &mut NumberBitmap,
) {
    let multipolygon = match strategy {
        Strategy::Simple | Strategy::CompleteWays => return,
        Strategy::CompleteRelations => None,
        Strategy::Smart => match osm.pair("type", "multipolygon") {
            None => return,
            pair => pair,
        },
    };
    for_each_chunk(relations, |relations| {
        for (kind, set) in [(ElementType::Node, &mut *nodes), (ElementType::Way, &mut *ways)] {
            let parts = by_page(osm, ElementType::Relation, relations, |page, slots, found| {
                let (members, tags) = (osm.relation_page(page), osm.tag_page(ElementType::Relation, page));
                let slots = slots.filter(|&slot| multipolygon.is_none_or(|pair| tags.tags(slot).contains(&pair)));
                let of_kind = slots.flat_map(|slot| members.members(slot)).filter(|member| member.kind == kind);
                found.extend(of_kind.filter_map(|member| member.element.ordinal()));
            });
            parts.iter().for_each(|found| set.extend(found));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn degrees(south: i32, west: i32, north: i32, east: i32) -> BoundingBox {
        let [south, west, north, east] = [south, west, north, east].map(|side| side * 10_000_000);
        BoundingBox { south, west, north, east }
    }

    /// The index finds what a test of each box finds, at corners, next to them and across the antimeridian.
    #[test]
    fn an_index_of_boxes_finds_what_the_boxes_contain() {
        let mut boxes: Vec<BoundingBox> =
            (0..200).map(|i| degrees(i % 13 * 6 - 45, i % 17 * 20 - 180, i % 13 * 6 - 44, i % 17 * 20 - 175)).collect();
        boxes.extend([degrees(60, 170, 70, -170), degrees(-90, -180, -80, 180), BoundingBox::EMPTY]);
        let region = RegionBoxes::new(&boxes);
        for area in boxes.iter().filter(|area| !area.is_empty()) {
            for (lat, lon) in [(area.south, area.west), (area.north, area.east), (area.south - 1, area.west)] {
                for (lat, lon) in [(lat, lon), (lat + 1, lon), (lat, lon - 1), (lat, lon + 1)] {
                    let at = Coord { lat, lon };
                    assert_eq!(region.contains(at), boxes.iter().any(|area| area.contains(at)), "{at:?}");
                }
            }
            assert_eq!(region.contains_box(area), area.west <= area.east, "{area:?}");
        }
        assert!(!region.contains(Coord::MISSING) && !region.contains_box(&degrees(60, 0, 61, 1)));
        assert!(region.contains_box(&degrees(61, 171, 62, 180)) && !region.contains_box(&BoundingBox::EMPTY));
    }
}
