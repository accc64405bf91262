//! The elements that a query reads on a snapshot: those in its sets after each statement.

use std::collections::{BTreeMap, BTreeSet};

use terrapin_osm::outline::Outline;
use terrapin_osm::{BoundingBox, ElementType, Ordinal, Osm};
use terrapin_overpass::run::SetObserver;
use terrapin_overpass::set::ElementSet;
use terrapin_overpass::syntax::{
    AroundPlace, FilterKind, QueryType, Script, SetName, SourceSpan, StatementKind, on_statements,
};

use super::cover::cover;
use super::flow::BOXES;

/// The number of elements whose boxes are merged at once.
const AT_ONCE: usize = 4096;

/// A set of elements by ordinal: bitmaps of 65,536 elements.
#[derive(Debug, Default)]
pub struct OrdinalSet {
    pieces: BTreeMap<u64, Box<[u64; 1024]>>,
}

impl OrdinalSet {
    /// Adds elements.
    pub fn extend(&mut self, ordinals: &[Ordinal]) {
        for run in ordinals.chunk_by(|a, b| a >> 16 == b >> 16) {
            let Some(first) = run.first() else { continue };
            let piece = self.pieces.entry(first >> 16).or_insert_with(|| Box::new([0; 1024]));
            for ordinal in run {
                if let Some(word) = piece.get_mut((ordinal >> 6 & 1023) as usize) {
                    *word |= 1 << (ordinal & 63);
                }
            }
        }
    }

    /// Adds the elements of another set.
    pub fn union(&mut self, other: OrdinalSet) {
        for (number, bits) in other.pieces {
            match self.pieces.entry(number) {
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(bits);
                }
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    entry.get_mut().iter_mut().zip(bits.iter()).for_each(|(word, other)| *word |= other);
                }
            }
        }
    }

    /// Returns the number of elements.
    pub fn len(&self) -> u64 {
        self.pieces.values().flat_map(|bits| bits.iter()).map(|word| u64::from(word.count_ones())).sum()
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Returns the elements in ascending order.
    pub fn to_vec(&self) -> Vec<Ordinal> {
        let mut all = Vec::with_capacity(self.len() as usize);
        for (number, bits) in &self.pieces {
            for (place, word) in (0..).zip(bits.iter()) {
                let mut rest = *word;
                while rest != 0 {
                    all.push((number << 16) + place * 64 + u64::from(rest.trailing_zeros()));
                    rest &= rest - 1;
                }
            }
        }
        all
    }
}

/// Collects the elements of a query's sets.
pub(super) struct ReadElements<'a> {
    osm: &'a Osm,
    /// The sets that the query searches around.
    centers: BTreeSet<SetName>,
    /// The statements that find areas.
    area_statements: BTreeSet<(usize, usize)>,
    /// The elements by type.
    pub elements: [OrdinalSet; 3],
    /// The areas that each statement found, as ids.
    pub areas: BTreeMap<(usize, usize), BTreeSet<i64>>,
    /// The boxes of the elements in sets that the query searches around.
    pub extents: BTreeMap<(usize, usize), Vec<BoundingBox>>,
}

impl<'a> ReadElements<'a> {
    pub(super) fn new(osm: &'a Osm, script: &Script) -> ReadElements<'a> {
        let (mut centers, mut area_statements) = (BTreeSet::new(), BTreeSet::new());
        on_statements(&script.statements, &mut |statement| {
            let is_area = match &statement.kind {
                StatementKind::Query(query) => query.what == QueryType::Area,
                kind => matches!(kind, StatementKind::IsIn(_) | StatementKind::MapToArea(_)),
            };
            if is_area {
                area_statements.insert((statement.span.start, statement.span.end));
            }
            let StatementKind::Query(query) = &statement.kind else { return };
            for filter in &query.filters {
                if let FilterKind::Around(around) = &filter.kind
                    && let AroundPlace::Set(name) = &around.place
                {
                    centers.insert(name.clone());
                }
            }
        });
        let (elements, areas, extents) = Default::default();
        ReadElements { osm, centers, area_statements, elements, areas, extents }
    }

    /// Adds the boxes of the elements of a set.
    fn extend_extent(&self, set: &ElementSet, boxes: &mut Vec<BoundingBox>) {
        let mut add = |area: BoundingBox| {
            if area.is_empty() {
                return;
            }
            boxes.push(area);
            if boxes.len() >= AT_ONCE {
                *boxes = cover(boxes, BOXES);
            }
        };
        let point = |c: terrapin_osm::Coord| {
            let mut area = BoundingBox::EMPTY;
            area.extend(c);
            area
        };
        self.osm.coords(&set.nodes).into_iter().for_each(|c| add(point(c)));
        let way_box = |way: Ordinal| line_box(&self.osm.way(way).1);
        set.ways.iter().for_each(|&way| add(way_box(way)));
        for &relation in &set.relations {
            let (page, slot) = self.osm.place(ElementType::Relation, relation);
            let page = self.osm.relation_page(page);
            for member in page.members(slot) {
                let Some(ordinal) = member.element.ordinal() else { continue };
                match member.kind {
                    ElementType::Node => self.osm.coords(&[ordinal]).into_iter().for_each(|c| add(point(c))),
                    ElementType::Way => add(way_box(ordinal)),
                    ElementType::Relation => {}
                }
            }
        }
    }
}

fn line_box(line: &[terrapin_osm::Coord]) -> BoundingBox {
    let mut area = BoundingBox::EMPTY;
    line.iter().for_each(|&c| area.extend(c));
    area
}

impl SetObserver for ReadElements<'_> {
    fn assigned(&mut self, statement: SourceSpan, name: &str, set: &ElementSet) {
        let key = (statement.start, statement.end);
        for kind in ElementType::ALL {
            self.elements[kind as usize].extend(set.part(kind));
        }
        // An area is made from its relation, or is a closed way.
        let relations = set.areas.iter().filter_map(|&area| self.osm.areas().relation(area));
        let mut relations: Vec<Ordinal> = relations.collect();
        relations.sort_unstable();
        self.elements[ElementType::Relation as usize].extend(&relations);
        if self.area_statements.contains(&key) {
            // A statement that found none is also recorded.
            let areas = self.areas.entry(key).or_default();
            areas.extend(self.osm.areas().ids(self.osm, &set.areas));
            let ways = self.osm.ids(ElementType::Way, &set.ways);
            areas.extend(ways.into_iter().map(|id| id.saturating_add(terrapin_osm::areas::WAY_AREAS)));
        }
        if self.centers.contains(name) {
            let mut boxes = self.extents.remove(&key).unwrap_or_default();
            self.extend_extent(set, &mut boxes);
            if boxes.len() > BOXES {
                boxes = cover(&boxes, BOXES);
            }
            self.extents.insert(key, boxes);
        }
    }
}

/// Returns the boxes of an area: one for each of its outer rings, merged if there are many.
pub(super) fn boxes_of_area(osm: &Osm, id: i64) -> Option<Vec<BoundingBox>> {
    use terrapin_osm::areas::{RELATION_AREAS, WAY_AREAS};
    if id < RELATION_AREAS {
        let way = osm.find(ElementType::Way, id.checked_sub(WAY_AREAS)?)?;
        return Some(vec![line_box(&osm.way(way).1)]).filter(|boxes| boxes.iter().all(|area| !area.is_empty()));
    }
    let relation = osm.find(ElementType::Relation, id.checked_sub(RELATION_AREAS)?)?;
    let whole = osm.areas().of_relation(relation).map(|area| vec![osm.areas().bbox(area)]);
    let parts = match Outline::of(osm, ElementType::Relation, relation) {
        Some(Outline::Polygons(polygons)) => {
            polygons.iter().filter_map(|rings| rings.first()).map(|ring| line_box(ring)).collect()
        }
        _ => Vec::new(),
    };
    if parts.is_empty() {
        return whole;
    }
    Some(if parts.len() > BOXES { cover(&parts, BOXES) } else { parts })
}
