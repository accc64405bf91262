//! The layers `boundaries` and `boundary_labels`: borders of countries and states. A border's line belongs to the highest of
//! the relations that have its way.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use terrapin_budget as budget;
use terrapin_osm::outline::Line;
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId};

use super::elements::{Feature, Geometry, line_in};
use super::encode::{Attributes, Value};
use super::geometry::{centroid, project, twice_area};
use super::lines::Lines;
use super::place::{BUFFER, EXTENT, Place, Point};
use super::schema::Layer;
use super::select::{listed, ranges, spans};
use super::tags::Texts;

/// The zoom from which on states have borders.
const STATES: u8 = 7;

/// Ways that a thread reads at once.
const AT_ONCE: usize = 32;

/// Square metres that a country or state has at least to have its name at a zoom.
const NAMED: [(u8, [f64; 2]); 4] = [(2, [2e12, f64::INFINITY]), (3, [7e11, 7e11]), (4, [1e11, 1e11]), (5, [0.0, 0.0])];

/// Tags of borders, as numbers of the snapshot's.
pub struct Tags {
    administrative: Option<PairId>,
    disputed_relation: Option<PairId>,
    disputed: Option<PairId>,
    maritime: Option<PairId>,
    coastline: Option<PairId>,
    levels: [Option<PairId>; 2],
}

impl Tags {
    /// Looks them up.
    pub fn of(osm: &Osm) -> Tags {
        Tags {
            administrative: osm.pair("boundary", "administrative"),
            disputed_relation: osm.pair("boundary", "disputed"),
            disputed: osm.pair("disputed", "yes"),
            maritime: osm.pair("maritime", "yes"),
            coastline: osm.pair("natural", "coastline"),
            levels: [osm.pair("admin_level", "2"), osm.pair("admin_level", "4")],
        }
    }

    /// `natural=coastline`.
    pub fn coastline(&self) -> Option<PairId> {
        self.coastline
    }
}

/// A way of a border.
struct Part {
    level: u64,
    disputed: bool,
}

/// Adds the borders in a tile and the names of what lies within; `polygons` puts an area together.
pub fn add(
    osm: &Osm,
    tags: &Tags,
    tile: Place,
    tolerance: i32,
    polygons: &dyn Fn(Ordinal) -> Arc<[Vec<Line>]>,
    features: &mut Vec<Feature>,
) {
    let bounds = tile.bounds(BUFFER);
    let within = ranges(osm, ElementType::Relation, &osm.pages_in(ElementType::Relation, &bounds));
    let relations = |pair: Option<PairId>| {
        let all: Vec<PairId> = pair.into_iter().collect();
        listed(osm, ElementType::Relation, &all, &within)
    };
    let administrative = relations(tags.administrative);
    let mut parts: BTreeMap<Ordinal, Part> = BTreeMap::new();
    for (level, pair) in [2, 4].into_iter().zip(tags.levels) {
        let of_level = relations(pair);
        for &relation in of_level.iter().filter(|relation| administrative.binary_search(relation).is_ok()) {
            budget::checkpoint();
            if level == 2 || tile.zoom() >= STATES {
                for way in ways(osm, relation) {
                    parts.entry(way).or_insert(Part { level, disputed: false });
                }
            }
            features.extend(label(osm, tile, relation, level, polygons));
        }
    }
    for relation in relations(tags.disputed_relation) {
        for way in ways(osm, relation) {
            if let Some(part) = parts.get_mut(&way) {
                part.disputed = true;
            }
        }
    }
    let parts: Vec<(Ordinal, Part)> = parts.into_iter().collect();
    let current = budget::current();
    let drawn = |some: &[(Ordinal, Part)]| -> Vec<Feature> {
        let mut lines = Lines::new(osm, tile);
        some.iter().filter_map(|(way, part)| border(osm, tags, &mut lines, *way, part, tolerance)).collect()
    };
    let found: Vec<Vec<Feature>> = parts.par_chunks(AT_ONCE).map(|some| current.share(|| drawn(some))).collect();
    features.extend(found.into_iter().flatten());
}

/// A way of a border, where it is seen.
fn border(osm: &Osm, tags: &Tags, lines: &mut Lines<'_>, way: Ordinal, part: &Part, tolerance: i32) -> Option<Feature> {
    budget::checkpoint();
    let (kind, tile) = (ElementType::Way, lines.tile());
    let (page, slot) = osm.place(kind, way);
    // What lies in one unit is no line.
    if !tile.bounds(BUFFER).intersects(&osm.page_box(kind, page)) || !spans(osm, kind, page, tile, 1) {
        return None;
    }
    let pieces = line_in(lines.points(osm.way_nodes(page).nodes(slot)), tolerance);
    if pieces.is_empty() {
        return None;
    }
    let page = osm.tag_page(kind, page);
    let has = |pair: Option<PairId>| pair.is_some_and(|pair| page.tags(slot).contains(&pair));
    let attributes = vec![
        ("admin_level", Value::Number(part.level)),
        ("maritime", Value::Flag(has(tags.maritime) || has(tags.coastline))),
        ("disputed", Value::Flag(part.disputed || has(tags.disputed))),
    ];
    let rank = -(part.level as i64);
    Some(Feature { layer: Layer::Boundaries, rank, geometry: Geometry::Lines(pieces), attributes })
}

/// The ways of a relation.
fn ways(osm: &Osm, relation: Ordinal) -> Vec<Ordinal> {
    let (page, slot) = osm.place(ElementType::Relation, relation);
    let page = osm.relation_page(page);
    let members = page.members(slot).iter().filter(|member| member.kind == ElementType::Way);
    members.filter_map(|member| member.element.ordinal()).collect()
}

/// Whether what lies in a box may be as large as this, in square metres, and have its middle in the tile.
fn may_be_named(tile: Place, bounds: &BoundingBox, least: f64) -> bool {
    let low = tile.point(Coord { lat: bounds.north, lon: bounds.west });
    let high = tile.point(Coord { lat: bounds.south, lon: bounds.east });
    let units = (f64::from(high.x) - f64::from(low.x)) * (f64::from(high.y) - f64::from(low.y));
    let is_near = low.x < EXTENT && high.x >= 0 && low.y < EXTENT && high.y >= 0;
    is_near && units * tile.square_metres() >= least
}

/// The name of a country or state, in the middle of it; nothing where its border is not whole or it is too small.
fn label(
    osm: &Osm,
    tile: Place,
    relation: Ordinal,
    level: u64,
    polygons: &dyn Fn(Ordinal) -> Arc<[Vec<Line>]>,
) -> Option<Feature> {
    let (_, least) = NAMED.iter().rev().find(|(zoom, _)| *zoom <= tile.zoom())?;
    let least = least[usize::from(level != 2)];
    let area = osm.areas().of_relation(relation)?;
    if !may_be_named(tile, &osm.areas().bbox(area), least) {
        return None;
    }
    let polygons = polygons(relation);
    let rings: Vec<Vec<Point>> = polygons.iter().filter_map(|rings| Some(project(tile, rings.first()?))).collect();
    let middle = centroid(rings.iter().max_by_key(|ring| twice_area(ring).abs())?)?;
    let seen = 0..EXTENT;
    if !seen.contains(&middle.x) || !seen.contains(&middle.y) {
        return None;
    }
    let twice: i64 = rings.iter().map(|ring| twice_area(ring).abs()).sum();
    let area = twice as f64 / 2.0 * tile.square_metres();
    if area < least {
        return None;
    }
    let (page, slot) = osm.place(ElementType::Relation, relation);
    let texts = Texts::new(osm).of(osm.tag_page(ElementType::Relation, page).tags(slot));
    let mut attributes: Attributes =
        // In hectares, as the schema has it of this layer alone.
        vec![("admin_level", Value::Number(level)), ("way_area", Value::Number((area / 1e4) as u64))];
    for (field, key) in [("name", "name"), ("name_en", "name:en"), ("name_de", "name:de")] {
        attributes.extend(texts.get(key).map(|name| (field, Value::Text(name.to_owned()))));
    }
    let rank = -(area as i64);
    Some(Feature { layer: Layer::BoundaryLabels, rank, geometry: Geometry::Point(middle), attributes })
}
