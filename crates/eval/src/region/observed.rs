//! The elements that a query reads on a snapshot: those in its sets after each statement.

use std::collections::{BTreeMap, BTreeSet};

use terrapin_base::bitmap::NumberBitmap;
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

/// Collects the elements of a query's sets.
pub(super) struct ReadElements<'a> {
    osm: &'a Osm,
    /// The sets that the query searches around.
    centers: BTreeSet<SetName>,
    /// The statements that find areas.
    area_statements: BTreeSet<(usize, usize)>,
    /// The elements by type.
    pub elements: [NumberBitmap; 3],
    /// The areas that each statement found, as ids.
    pub areas: BTreeMap<(usize, usize), BTreeSet<i64>>,
    /// The boxes of the elements in sets that the query searches around.
    pub extents: BTreeMap<(usize, usize), Vec<BoundingBox>>,
    /// Whether the query filled sets with elements of an older state of the data.
    pub has_older_elements: bool,
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
        ReadElements { osm, centers, area_statements, elements, areas, extents, has_older_elements: false }
    }

    /// Merges the boxes of sets after the run.
    pub(super) fn finish(&mut self) {
        self.extents.values_mut().filter(|boxes| boxes.len() > BOXES).for_each(|boxes| *boxes = cover(boxes, BOXES));
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
        let (mut nodes, mut ways) = (set.nodes.clone(), set.ways.clone());
        for &relation in &set.relations {
            let (page, slot) = self.osm.place(ElementType::Relation, relation);
            for member in self.osm.relation_page(page).members(slot) {
                let Some(ordinal) = member.element.ordinal() else { continue };
                match member.kind {
                    ElementType::Node => nodes.push(ordinal),
                    ElementType::Way => ways.push(ordinal),
                    ElementType::Relation => {}
                }
            }
        }
        // Sorted, so that each page is read once.
        for ordinals in [&mut nodes, &mut ways] {
            ordinals.sort_unstable();
            ordinals.dedup();
        }
        for nodes in nodes.chunks(AT_ONCE) {
            self.osm.coords(nodes).into_iter().for_each(|c| add(line_box(&[c])));
        }
        ways.into_iter().for_each(|way| add(line_box(&self.osm.way(way).1)));
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
            self.extents.insert(key, boxes);
        }
    }

    fn assigned_older(&mut self) {
        self.has_older_elements = true;
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
