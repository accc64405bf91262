//! The layers `boundaries` and `boundary_labels`: borders of countries and states. A border's line belongs to the
//! highest of the relations that have its way. At low zooms both are those of the overview.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use terrapin_budget as budget;
use terrapin_osm::outline::{self, Line};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId};

use super::elements::{TileFeature, TileGeometry, line_in};
use super::encode::{AttributeValue, Attributes};
use super::geometry::{centroid, project, twice_area};
use super::lines::LineProjector;
use super::place::{BUFFER, EXTENT, TileId, TilePoint};
use super::schema::TileLayer;
use super::select::{listed, ranges, spans};
use super::tags::TagTexts;

/// Number of ways that a thread reads at once.
const AT_ONCE: usize = 32;

/// The least area of a country and of a state to have a name from a zoom on, in square metres.
const NAMED: [(u8, [f64; 2]); 4] = [(2, [2e12, f64::INFINITY]), (3, [7e11, 7e11]), (4, [1e11, 1e11]), (5, [0.0, 0.0])];

/// The ids of the tags of borders.
pub struct BorderTags {
    administrative: Option<PairId>,
    disputed_relation: Option<PairId>,
    /// `admin_level` with any value.
    level: Range<PairId>,
    disputed: Option<PairId>,
    maritime: Option<PairId>,
    coastline: Option<PairId>,
    /// The tags `admin_level=2`, `admin_level=3` and `admin_level=4`; `None` for one that the snapshot lacks.
    levels: [Option<PairId>; 3],
}

impl BorderTags {
    /// Looks up the tags.
    pub fn of(osm: &Osm) -> BorderTags {
        BorderTags {
            administrative: osm.pair("boundary", "administrative"),
            disputed_relation: osm.pair("boundary", "disputed"),
            level: osm.key("admin_level").map_or(0..0, |key| osm.pairs_of(key)),
            disputed: osm.pair("disputed", "yes"),
            maritime: osm.pair("maritime", "yes"),
            coastline: osm.pair("natural", "coastline"),
            levels: [2, 3, 4].map(|level| osm.pair("admin_level", &level.to_string())),
        }
    }

    /// `natural=coastline`.
    pub fn coastline(&self) -> Option<PairId> {
        self.coastline
    }
}

/// The level and the disputed state of a way, from the relations that contain it.
pub struct BorderMembership {
    level: u64,
    disputed: bool,
}

/// The attributes of a border.
pub struct BorderAttributes {
    level: u64,
    maritime: bool,
    disputed: bool,
}

/// The name of a country or state.
pub struct RegionName {
    /// Its position, in units.
    pub middle: TilePoint,
    level: u64,
    square_metres: f64,
    attributes: Attributes,
}

/// Returns the borders of countries and states in these ranges of relations, with their levels, countries first.
pub fn relations(osm: &Osm, tags: &BorderTags, within: &[Range<Ordinal>]) -> Vec<(Ordinal, u64)> {
    let administrative = with(osm, tags.administrative, within);
    let [country, _, state] = tags.levels;
    let both = [(2, country), (4, state)]
        .into_iter()
        .flat_map(|(level, pair)| with(osm, pair, within).into_iter().map(move |one| (one, level)));
    both.filter(|(relation, _)| administrative.binary_search(relation).is_ok()).collect()
}

fn with(osm: &Osm, pair: Option<PairId>, within: &[Range<Ordinal>]) -> Vec<Ordinal> {
    pair.map_or_else(Vec::new, |pair| listed(osm, ElementType::Relation, &[pair], within))
}

/// Returns the ways of these borders, ascending. A way of a disputed border in the ranges is disputed.
pub fn parts(
    osm: &Osm,
    tags: &BorderTags,
    relations: &[(Ordinal, u64)],
    within: &[Range<Ordinal>],
) -> Vec<(Ordinal, BorderMembership)> {
    let mut parts: BTreeMap<Ordinal, BorderMembership> = BTreeMap::new();
    for (relation, level) in relations {
        budget::checkpoint();
        for way in ways(osm, *relation) {
            parts.entry(way).or_insert(BorderMembership { level: *level, disputed: false });
        }
    }
    for relation in with(osm, tags.disputed_relation, within) {
        budget::checkpoint();
        let (page, slot) = osm.place(ElementType::Relation, relation);
        let page = osm.tag_page(ElementType::Relation, page);
        let mut levels = page.tags(slot).iter().filter(|pair| tags.level.contains(pair));
        // Its level is not drawn.
        if levels.any(|pair| !tags.levels.contains(&Some(*pair))) {
            continue;
        }
        for way in ways(osm, relation) {
            if let Some(part) = parts.get_mut(&way) {
                part.disputed = true;
            }
        }
    }
    parts.into_iter().collect()
}

impl BorderMembership {
    /// Adds the attributes from the tags of the way.
    pub fn border(&self, osm: &Osm, tags: &BorderTags, way: Ordinal) -> BorderAttributes {
        let (page, slot) = osm.place(ElementType::Way, way);
        let page = osm.tag_page(ElementType::Way, page);
        let has = |pair: Option<PairId>| pair.is_some_and(|pair| page.tags(slot).contains(&pair));
        BorderAttributes {
            level: self.level,
            maritime: has(tags.maritime) || has(tags.coastline),
            disputed: self.disputed || has(tags.disputed),
        }
    }
}

impl BorderAttributes {
    fn feature(&self, pieces: Vec<Vec<TilePoint>>) -> TileFeature {
        let attributes = vec![
            ("admin_level", AttributeValue::Number(self.level)),
            ("maritime", AttributeValue::Flag(self.maritime)),
            ("disputed", AttributeValue::Flag(self.disputed)),
        ];
        let rank = -(self.level as i64);
        TileFeature { layer: TileLayer::Boundaries, rank, geometry: TileGeometry::Lines(pieces), attributes }
    }
}

/// Adds those of these borders and names that are in a tile of a low zoom.
pub fn add_low<'w>(
    borders: impl Iterator<Item = (&'w BorderAttributes, Vec<TilePoint>)>,
    names: impl Iterator<Item = (&'w RegionName, TilePoint)>,
    tile: TileId,
    tolerance: i32,
    features: &mut Vec<TileFeature>,
) {
    for (border, points) in borders {
        let pieces = line_in(points, tolerance);
        if !pieces.is_empty() {
            features.push(border.feature(pieces));
        }
    }
    features.extend(names.filter_map(|(name, middle)| name.feature(tile, middle)));
}

/// Adds the borders in a tile of another zoom and the names of the areas. `polygons` assembles the area of a relation.
pub fn add(
    osm: &Osm,
    tags: &BorderTags,
    tile: TileId,
    tolerance: i32,
    polygons: &dyn Fn(Ordinal) -> Arc<[Vec<Line>]>,
    features: &mut Vec<TileFeature>,
) {
    let bounds = tile.bounds(BUFFER);
    let within = ranges(osm, ElementType::Relation, &osm.pages_in(ElementType::Relation, &bounds));
    let relations = relations(osm, tags, &within);
    for (relation, level) in &relations {
        budget::checkpoint();
        let Some(area) = osm.areas().of_relation(*relation) else { continue };
        if may_be_seen(tile, &osm.areas().bbox(area)) {
            let polygons = polygons(*relation);
            let rings = polygons.iter().filter_map(|rings| Some(project(tile, rings.first()?))).collect();
            let name = named(osm, tile, *relation, *level, rings);
            features.extend(name.and_then(|name| name.feature(tile, name.middle)));
        }
    }
    let parts = parts(osm, tags, &relations, &within);
    let current = budget::current();
    let drawn = |some: &[(Ordinal, BorderMembership)]| -> Vec<TileFeature> {
        let mut lines = LineProjector::new(osm, tile);
        some.iter().filter_map(|(way, part)| border(osm, tags, &mut lines, *way, part, tolerance)).collect()
    };
    let found: Vec<Vec<TileFeature>> = parts.par_chunks(AT_ONCE).map(|some| current.share(|| drawn(some))).collect();
    features.extend(found.into_iter().flatten());
}

/// Returns the feature of a way of a border, or `None` outside of the tile.
fn border(
    osm: &Osm,
    tags: &BorderTags,
    lines: &mut LineProjector<'_>,
    way: Ordinal,
    part: &BorderMembership,
    tolerance: i32,
) -> Option<TileFeature> {
    budget::checkpoint();
    let (kind, tile) = (ElementType::Way, lines.tile());
    let (page, slot) = osm.place(kind, way);
    // All ways of a page that is smaller than a unit are points.
    if !tile.bounds(BUFFER).intersects(&osm.page_box(kind, page)) || !spans(osm, kind, page, tile, 1) {
        return None;
    }
    let pieces = line_in(lines.points(osm.way_nodes(page).nodes(slot)), tolerance);
    (!pieces.is_empty()).then(|| part.border(osm, tags, way).feature(pieces))
}

/// Returns the ways of a relation.
fn ways(osm: &Osm, relation: Ordinal) -> Vec<Ordinal> {
    let (page, slot) = osm.place(ElementType::Relation, relation);
    let page = osm.relation_page(page);
    let members = page.members(slot).iter().filter(|member| member.kind == ElementType::Way);
    members.filter_map(|member| member.element.ordinal()).collect()
}

/// Returns whether a feature with this bounding box may have its centre in the tile.
fn may_be_seen(tile: TileId, bounds: &BoundingBox) -> bool {
    let low = tile.point(Coord { lat: bounds.north, lon: bounds.west });
    let high = tile.point(Coord { lat: bounds.south, lon: bounds.east });
    low.x < EXTENT && high.x >= 0 && low.y < EXTENT && high.y >= 0
}

/// Returns the name of a country or state, or `None` if its border is incomplete. The border is read with the
/// resolution of the tile's units.
pub fn name(osm: &Osm, tile: TileId, relation: Ordinal, level: u64) -> Option<RegionName> {
    osm.areas().of_relation(relation)?;
    let mut lines = LineProjector::new(osm, tile);
    let ways: BTreeSet<Ordinal> = ways(osm, relation).into_iter().collect();
    let mut read = |way: Ordinal| -> Line {
        budget::checkpoint();
        let (page, slot) = osm.place(ElementType::Way, way);
        let points = lines.points(osm.way_nodes(page).nodes(slot));
        points.into_iter().map(|point| Coord { lat: -point.y, lon: point.x }).collect()
    };
    let mut border = outline::OutlineBorder::default();
    ways.into_iter().for_each(|way| border.add(&read(way), false));
    let polygons = border.drawable();
    let point = |c: &Coord| TilePoint { x: c.lon, y: -c.lat };
    let rings = polygons.iter().filter_map(|rings| Some(rings.first()?.iter().map(point).collect())).collect();
    named(osm, tile, relation, level, rings)
}

/// Returns the name of an area with these outer rings, which are in units of a tile.
fn named(osm: &Osm, tile: TileId, relation: Ordinal, level: u64, rings: Vec<Vec<TilePoint>>) -> Option<RegionName> {
    let middle = centroid(rings.iter().max_by_key(|ring| twice_area(ring).abs())?)?;
    let twice: i64 = rings.iter().map(|ring| twice_area(ring).abs()).sum();
    let square_metres = twice as f64 / 2.0 * tile.square_metres();
    let (page, slot) = osm.place(ElementType::Relation, relation);
    let texts = TagTexts::new(osm).of(osm.tag_page(ElementType::Relation, page).tags(slot));
    let mut attributes: Attributes =
        // In hectares, as the schema has it of this layer alone.
        vec![("admin_level", AttributeValue::Number(level)), ("way_area", AttributeValue::Number((square_metres / 1e4) as u64))];
    for (field, key) in [("name", "name"), ("name_en", "name:en"), ("name_de", "name:de")] {
        attributes.extend(texts.get(key).map(|name| (field, AttributeValue::Text(name.to_owned()))));
    }
    Some(RegionName { middle, level, square_metres, attributes })
}

impl RegionName {
    /// Returns the feature at a position in the tile, or `None` if the area is too small or the position is outside of
    /// the tile.
    fn feature(&self, tile: TileId, middle: TilePoint) -> Option<TileFeature> {
        let (_, least) = NAMED.iter().rev().find(|(zoom, _)| *zoom <= tile.zoom())?;
        let seen = 0..EXTENT;
        if self.square_metres < least[usize::from(self.level != 2)]
            || !seen.contains(&middle.x)
            || !seen.contains(&middle.y)
        {
            return None;
        }
        let (rank, attributes) = (-(self.square_metres as i64), self.attributes.clone());
        Some(TileFeature { layer: TileLayer::BoundaryLabels, rank, geometry: TileGeometry::Point(middle), attributes })
    }
}
