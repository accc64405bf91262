//! Conversion of elements to the features of one tile, by the rules that their tags match.

use std::sync::Arc;

use terrapin_budget as budget;
use terrapin_osm::areas::is_closed;
use terrapin_osm::outline::Line;
use terrapin_osm::{Coord, ElementRef, Osm, PairId};

use super::attributes as told;
use super::encode::Attributes;
use super::geometry::{self, centroid, clip_line, clip_rings, is_near, project, simplify, twice_area};
use super::place::{DEEPEST, EXTENT, TileId, TilePoint};
use super::rules::{FeatureShape, Rule};
use super::schema::{TileLayer, street_label_from};
use super::tags::{ElementTags, Rules, TagTexts};

/// Tolerance of simplification above the deepest zoom in units: half a pixel.
const TOLERANCE: i32 = 4;
/// The least area that is drawn above the deepest zoom, in square units.
const SMALLEST: i64 = 16;
/// The least length of a line of water that is drawn, in units: a quarter of a pixel.
const SHORTEST: f64 = 2.0;

/// A feature.
pub struct TileFeature {
    /// Its layer.
    pub layer: TileLayer,
    /// Its rank in the layer; lower ranks come first.
    pub rank: i64,
    /// Its geometry.
    pub geometry: TileGeometry,
    /// Its attributes.
    pub attributes: Attributes,
}

/// The geometry of a feature.
pub enum TileGeometry {
    /// A point.
    Point(TilePoint),
    /// Lines.
    Lines(Vec<Vec<TilePoint>>),
    /// Rings, each outer one before its holes.
    Rings(Vec<Vec<TilePoint>>),
}

/// Makes the features of one tile.
pub struct Maker<'o> {
    tile: TileId,
    rules: &'o Rules,
    texts: TagTexts<'o>,
    /// The rules that match the current element.
    fitting: Vec<&'static Rule>,
    /// The features of all elements so far.
    pub features: Vec<TileFeature>,
}

/// The polygons of an area in units, each with its outer ring first, and the area's size.
struct Polygons {
    all: Vec<Vec<Vec<TilePoint>>>,
    square_metres: f64,
}

impl<'o> Maker<'o> {
    /// Returns a maker for a tile.
    pub fn new(osm: &'o Osm, rules: &'o Rules, tile: TileId) -> Maker<'o> {
        Maker { tile, rules, texts: TagTexts::new(osm), fitting: Vec::new(), features: Vec::new() }
    }

    /// Returns whether elements with these tags are in any layer.
    pub fn fits(&mut self, tags: &[PairId]) -> bool {
        budget::checkpoint();
        self.rules.fitting(tags, self.tile.zoom(), &mut self.fitting);
        !self.fitting.is_empty()
    }

    /// Returns whether an element that [`Maker::fits`] is in more than the layer of landforms. The borders of large
    /// islands and bays are not assembled for their names alone.
    pub fn has_shapes(&self) -> bool {
        self.fitting.iter().any(|rule| rule.layer != TileLayer::LandformLabels)
    }

    fn add(&mut self, layer: TileLayer, rank: i64, geometry: TileGeometry, attributes: Attributes) {
        self.features.push(TileFeature { layer, rank, geometry, attributes });
    }

    /// Adds the features of a node that [`Maker::fits`].
    pub fn node(&mut self, at: Coord, tags: &[PairId]) {
        if !at.is_missing() {
            let point = self.tile.point(at);
            self.spots(point, tags, true);
        }
    }

    /// Adds the features of a point: a node, or the centre of an area.
    fn spots(&mut self, point: TilePoint, tags: &[PairId], node: bool) {
        let seen = 0..EXTENT;
        if !seen.contains(&point.x) || !seen.contains(&point.y) {
            return;
        }
        let fitting = std::mem::take(&mut self.fitting);
        let mut rules = fitting
            .iter()
            .filter(|rule| rule.shape == FeatureShape::Spot || node && rule.shape == FeatureShape::Node)
            .peekable();
        if rules.peek().is_some() {
            let tags = self.texts.of(tags);
            let mut done: Vec<TileLayer> = Vec::new();
            for rule in rules {
                // A point of interest has its house number as an attribute.
                let layer = rule.layer;
                let shown = done.contains(&layer)
                    || layer == TileLayer::Addresses && fitting.iter().any(|rule| rule.layer == TileLayer::Pois);
                if shown {
                    continue;
                }
                if let Some((rank, attributes)) = spot(rule, &fitting, &tags) {
                    done.push(layer);
                    self.add(layer, rank, TileGeometry::Point(point), attributes);
                }
            }
        }
        self.fitting = fitting;
    }

    /// Adds the features of a way that [`Maker::fits`]; `points` is its line in units.
    pub fn way(&mut self, nodes: &[ElementRef], points: Vec<TilePoint>, tags: &[PairId]) {
        if points.is_empty() || !is_near(&points) {
            return;
        }
        let has = |pair: Option<PairId>| pair.is_some_and(|pair| tags.contains(&pair));
        let is_ring = is_closed(nodes) && nodes.len() >= 4 && points.len() >= 4 && points.first() == points.last();
        let is_area = is_ring && !has(self.rules.not_area);
        let said = is_area && has(self.rules.is_area);
        let lines: Vec<&'static Rule> = self
            .fitting
            .iter()
            .copied()
            .filter(|rule| match rule.shape {
                FeatureShape::Line => !(said && rule.key == "waterway"),
                FeatureShape::AreaOrLine => !is_area || rule.layer == TileLayer::Streets && !said,
                _ => false,
            })
            .collect();
        if is_area {
            self.area(vec![vec![points.clone()]], tags, said);
        }
        if lines.is_empty() {
            return;
        }
        let tags = self.texts.of(tags);
        let mut done: Vec<TileLayer> = Vec::new();
        for rule in lines {
            if !done.contains(&rule.layer) {
                done.push(rule.layer);
                self.line(rule, &points, &tags);
            }
        }
    }

    /// Adds the features of a multipolygon that [`Maker::fits`].
    pub fn multipolygon(&mut self, polygons: &Arc<[Vec<Line>]>, tags: &[PairId]) {
        let mut all = Vec::new();
        for polygon in polygons.iter() {
            let rings: Vec<Vec<TilePoint>> = polygon.iter().map(|ring| project(self.tile, ring)).collect();
            if rings.first().is_some_and(|outer| outer.len() >= 4) {
                all.push(rings);
            }
        }
        if all.iter().any(|rings| is_near(&rings[0])) {
            self.area(all, tags, true);
        }
    }

    /// Adds the features of an area. `said` is true if the tags name it an area.
    fn area(&mut self, all: Vec<Vec<Vec<TilePoint>>>, tags: &[PairId], said: bool) {
        let zoom = self.tile.zoom();
        let largest = all.iter().max_by_key(|rings| twice_area(&rings[0]).abs());
        let Some(middle) = largest.and_then(|rings| centroid(&rings[0])) else { return };
        let rules: Vec<&'static Rule> = self
            .fitting
            .iter()
            .copied()
            .filter(|rule| match rule.shape {
                FeatureShape::Area => true,
                FeatureShape::AreaOrLine => rule.layer != TileLayer::Streets || said,
                // A canal that is mapped as an area.
                FeatureShape::Line => said && rule.key == "waterway" && zoom >= 10,
                FeatureShape::Node | FeatureShape::Spot => false,
            })
            .collect();
        if !rules.is_empty() {
            let twice: i64 = all
                .iter()
                .map(|rings| {
                    rings
                        .iter()
                        .map(|ring| twice_area(ring).abs())
                        .enumerate()
                        .map(|(at, area)| if at == 0 { area } else { -area })
                        .sum::<i64>()
                })
                .sum();
            let square_metres = twice as f64 / 2.0 * self.tile.square_metres();
            let area = Polygons { all, square_metres };
            if let Some(rings) = self.drawn(&area) {
                self.areas(&rules, rings, &area, middle, tags);
            }
        }
        self.spots(middle, tags, false);
    }

    fn areas(
        &mut self,
        rules: &[&'static Rule],
        rings: Vec<Vec<TilePoint>>,
        area: &Polygons,
        middle: TilePoint,
        tags: &[PairId],
    ) {
        let zoom = self.tile.zoom();
        let seen = (0..EXTENT).contains(&middle.x) && (0..EXTENT).contains(&middle.y);
        let larger_first = -(area.square_metres as i64);
        let draw = |rings: &Vec<Vec<TilePoint>>| TileGeometry::Rings(rings.clone());
        if let [Rule { layer: TileLayer::Buildings, .. }] = rules {
            return self.add(TileLayer::Buildings, 0, TileGeometry::Rings(rings), told::building());
        }
        let texts = self.texts.of(tags);
        let mut done: Vec<TileLayer> = Vec::new();
        for rule in rules {
            let mut kind = told::kind(rule, &texts);
            let layer = match rule.layer {
                TileLayer::DamLines => TileLayer::DamPolygons,
                TileLayer::PierLines => TileLayer::PierPolygons,
                TileLayer::Streets => TileLayer::StreetPolygons,
                TileLayer::WaterLines => TileLayer::WaterPolygons,
                other => other,
            };
            if done.contains(&layer) {
                continue;
            }
            done.push(layer);
            match layer {
                TileLayer::WaterPolygons => {
                    if rule.key == "natural" && texts.is("water", &["river"]) {
                        kind = "river";
                    }
                    self.add(layer, larger_first, draw(&rings), told::water(kind, area.square_metres));
                    if seen && texts.get("name").is_some() {
                        let label = told::water_label(kind, area.square_metres, &texts);
                        self.add(TileLayer::WaterPolygonsLabels, larger_first, TileGeometry::Point(middle), label);
                    }
                }
                TileLayer::StreetPolygons => {
                    if zoom < DEEPEST && matches!(kind, "pedestrian" | "service") {
                        continue;
                    }
                    let rank = told::street_rank(kind, &texts);
                    self.add(layer, rank, draw(&rings), told::street_polygon(kind, &texts));
                    if seen && zoom >= DEEPEST && texts.get("name").is_some() {
                        let label = told::label(kind, &texts);
                        self.add(TileLayer::StreetsPolygonsLabels, rank, TileGeometry::Point(middle), label);
                    }
                }
                TileLayer::Buildings => self.add(layer, 0, draw(&rings), told::building()),
                TileLayer::LandformLabels => {
                    if seen && texts.get("name").is_some() {
                        let label = told::landform(kind, &texts);
                        self.add(layer, larger_first, TileGeometry::Point(middle), label);
                    }
                }
                _ => self.add(layer, larger_first, draw(&rings), told::plain(kind)),
            }
        }
    }

    /// Adds the features of a line.
    fn line(&mut self, rule: &'static Rule, points: &[TilePoint], tags: &ElementTags<'_>) {
        let zoom = self.tile.zoom();
        let kind = told::kind(rule, tags);
        // A line that is a point at this zoom is not drawn.
        if points.len() < 2 || rule.layer == TileLayer::WaterLines && zoom < DEEPEST && length(points) < SHORTEST {
            return;
        }
        if rule.key == "railway"
            && matches!(kind, "rail" | "narrow_gauge")
            && zoom < 10
            && tags.get("service").is_some()
        {
            return;
        }
        if rule.layer == TileLayer::Ferries && zoom < 12 && tags.is("motor_vehicle", &["no"]) {
            return;
        }
        let pieces = clip_line(&simplify(points.to_vec(), self.tolerance()));
        if pieces.is_empty() {
            return;
        }
        let layer = rule.layer;
        let draw = |pieces: &Vec<Vec<TilePoint>>| TileGeometry::Lines(pieces.clone());
        match layer {
            TileLayer::WaterLines => {
                let rank = told::layer(tags);
                self.add(layer, rank, draw(&pieces), told::water_line(kind, tags));
                if zoom >= 12 && tags.get("name").is_some() {
                    let label = told::water_line_label(kind, tags);
                    self.add(TileLayer::WaterLinesLabels, rank, TileGeometry::Lines(pieces), label);
                }
            }
            TileLayer::Streets => {
                let (class, link) = told::street_class(kind);
                let rank = told::street_rank(class, tags);
                self.add(layer, rank, draw(&pieces), told::street(rule, tags, zoom));
                if zoom >= street_label_from(class, link)
                    && let Some(label) = told::street_label(kind, tags)
                {
                    self.add(TileLayer::StreetLabels, rank, TileGeometry::Lines(pieces), label);
                }
            }
            TileLayer::Ferries => self.add(layer, 0, TileGeometry::Lines(pieces), told::label("ferry", tags)),
            _ => self.add(layer, 0, TileGeometry::Lines(pieces), told::plain(kind)),
        }
    }

    /// Returns the tolerance of simplification, in units.
    pub fn tolerance(&self) -> i32 {
        if self.tile.zoom() == DEEPEST { 0 } else { TOLERANCE }
    }

    /// Returns the rings to draw for an area, or `None` if it is too small or outside of the tile.
    fn drawn(&self, area: &Polygons) -> Option<Vec<Vec<TilePoint>>> {
        let least = if self.tile.zoom() == DEEPEST { 1 } else { 2 * SMALLEST };
        let (mut drawn, mut outers) = (Vec::new(), 0);
        for rings in &area.all {
            for (at, ring) in rings.iter().enumerate() {
                let outer = at == 0;
                let small = twice_area(ring).abs() < least;
                let ring = if small || !is_near(ring) { Vec::new() } else { self.ring(ring, outer) };
                if !ring.is_empty() {
                    outers += usize::from(outer);
                    drawn.push(ring);
                } else if outer {
                    break;
                }
            }
        }
        let drawn = clip_rings(drawn, outers);
        (!drawn.is_empty()).then_some(drawn)
    }

    /// Returns a simplified ring, clockwise if it is an outer ring and counterclockwise if it is a hole.
    fn ring(&self, ring: &[TilePoint], outer: bool) -> Vec<TilePoint> {
        finished(simplify(ring.to_vec(), self.tolerance()), outer)
    }
}

/// Returns a ring, clockwise if it is an outer ring and counterclockwise if it is a hole; an empty one if it has no
/// area.
pub fn finished(mut ring: Vec<TilePoint>, outer: bool) -> Vec<TilePoint> {
    let area = twice_area(&ring);
    if ring.len() < 4 || area == 0 {
        return Vec::new();
    }
    if (area > 0) != outer {
        ring.reverse();
    }
    ring
}

fn length(points: &[TilePoint]) -> f64 {
    let side = |pair: &[TilePoint]| libm::hypot(f64::from(pair[1].x - pair[0].x), f64::from(pair[1].y - pair[0].y));
    points.windows(2).map(side).sum()
}

/// Returns rank and attributes of a point, or `None` if it is not shown.
fn spot(rule: &'static Rule, fitting: &[&'static Rule], tags: &ElementTags<'_>) -> Option<(i64, Attributes)> {
    let kind = told::kind(rule, tags);
    Some(match rule.layer {
        TileLayer::PlaceLabels => {
            // A capital must also be a settlement.
            if rule.key == "capital" && !tags.is("place", &["city", "town", "village", "hamlet"]) {
                return None;
            }
            (-(told::population(tags) as i64), told::place(kind, tags))
        }
        // Higher landforms first.
        TileLayer::LandformLabels => {
            tags.get("name")?;
            (-(told::elevation(tags).unwrap_or_default() as i64), told::landform(kind, tags))
        }
        TileLayer::Addresses => (0, told::address(tags)),
        TileLayer::StreetsLabelsPoints => (0, told::junction(kind, tags)),
        TileLayer::PublicTransport => (0, told::stop(kind, tags)),
        TileLayer::Pois => (0, told::poi(fitting, tags)),
        _ => (0, told::plain(kind)),
    })
}

/// Returns the parts of a line within the tile and its margin, simplified.
pub fn line_in(points: Vec<TilePoint>, tolerance: i32) -> Vec<Vec<TilePoint>> {
    if points.len() < 2 || !is_near(&points) {
        return Vec::new();
    }
    geometry::clip_line(&simplify(points, tolerance))
}
