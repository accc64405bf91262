//! The geometry of an element, by osm2rdf's rules:
//! - A node is a point.
//! - A way is a line. It is a polygon if it is closed, has tags and lacks `area=no`.
//! - A multipolygon or boundary relation is the area that its ways enclose. It has no geometry if the extract lacks
//!   some of its ways.
//! - Any other relation, or one with ways that enclose no area, is the collection of its nodes and ways. Relations in
//!   relations are left out.
//!
//! The module comment of `osm/outline` has the rules for enclosed areas. Lines that cross 180 degrees are cut there.

use std::cell::OnceCell;
use std::collections::HashSet;

use geo::{CoordsIter, Geometry, GeometryCollection, LineString, MultiLineString, MultiPolygon, Point, Polygon};
use oxrdf::Literal;
use terrapin_budget as budget;
use terrapin_osm::areas::is_closed;
use terrapin_osm::geometry::{BorderRule as Borders, Polygon as Edges, PolygonLocation, Segment, on_segment};
use terrapin_osm::outline::{Line, OutlineBorder, border_of, cut_at_180};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId, RelationMember};

use super::naming::ElementNode;
use crate::geo::{Crs, GeometryFormat, LocatedGeometry};

/// Coordinate steps per degree.
const STEPS: f64 = 1e7;

/// The geometry of an element.
pub struct ElementShape {
    /// The geometry in degrees, longitude first.
    pub geometry: Geometry,
    /// The box around it.
    pub bounds: BoundingBox,
    /// The rings of an area, or the lines; a point is a line of one point.
    parts: AreaParts,
    edges: OnceCell<Edges>,
    own_pairs: OnceCell<usize>,
}

enum AreaParts {
    Polygons(Vec<Vec<Line>>),
    Lines(Vec<Line>),
}

fn position(c: Coord) -> geo::Coord {
    geo::Coord { x: f64::from(c.lon) / STEPS, y: f64::from(c.lat) / STEPS }
}

fn line(coords: &[Coord]) -> LineString {
    coords.iter().map(|c| position(*c)).collect()
}

fn polygon(rings: &[Line]) -> Option<Polygon> {
    let (outer, inner) = rings.split_first()?;
    Some(Polygon::new(line(outer), inner.iter().map(|ring| line(ring)).collect()))
}

impl ElementShape {
    /// Builds the shape of an element with these tags; `None` if it has no geometry.
    pub fn of(osm: &Osm, element: ElementNode, tags: &[PairId]) -> Option<ElementShape> {
        match element.kind {
            ElementType::Node => {
                let at = osm.coords(&[element.ordinal]).first().copied().filter(|c| !c.is_missing())?;
                Some(ElementShape::new(Point(position(at)).into(), around(&[at]), AreaParts::Lines(vec![vec![at]])))
            }
            ElementType::Way => way(osm, element, tags),
            ElementType::Relation => {
                if lacks_ways(osm, element, tags) {
                    return None;
                }
                let polygons = match is_areal_relation(osm, tags) {
                    true => whole(border_of(osm, element.ordinal)),
                    false => Vec::new(),
                };
                if polygons.is_empty() { collection(osm, element) } else { of_polygons(polygons) }
            }
        }
    }

    fn new(geometry: Geometry, bounds: BoundingBox, parts: AreaParts) -> ElementShape {
        ElementShape { geometry, bounds, parts, edges: OnceCell::new(), own_pairs: OnceCell::new() }
    }

    /// Returns the number of points.
    pub fn points(&self) -> usize {
        self.geometry.coords_count()
    }

    /// Returns whether it is an area.
    pub fn is_area(&self) -> bool {
        matches!(self.parts, AreaParts::Polygons(_))
    }

    /// Returns the edges of an area for tests of points and boxes; `None` for lines and points.
    pub fn area(&self) -> Option<&Edges> {
        self.is_area().then(|| self.edges())
    }

    /// Returns the edges of an area, or the segments of lines, as a tree.
    pub fn edges(&self) -> &Edges {
        self.edges.get_or_init(|| {
            let sides = self.lines().flat_map(|line| line.windows(2));
            let segment = |side: &[Coord]| Some(Segment { a: *side.first()?, b: *side.get(1)? });
            // The tolerance of the border type has no effect: points are located exactly.
            Edges::new(Borders::ClosedWay, sides.filter_map(segment))
        })
    }

    /// Returns the number of pairs of its own edges with intersecting boxes. Each pair counts twice, and each
    /// edge with itself.
    pub fn own_pairs(&self) -> usize {
        *self.own_pairs.get_or_init(|| {
            let mut pairs = 0;
            for edge in self.edges().segments() {
                budget::checkpoint();
                self.edges().any_segment(&edge.bbox(), &mut |_| {
                    pairs += 1;
                    false
                });
            }
            pairs
        })
    }

    /// Iterates over the rings of an area, or the lines; a point is a line of one point.
    pub fn lines(&self) -> Box<dyn Iterator<Item = &Line> + '_> {
        match &self.parts {
            AreaParts::Polygons(polygons) => Box::new(polygons.iter().flatten()),
            AreaParts::Lines(lines) => Box::new(lines.iter()),
        }
    }

    /// Locates a point exactly, in integers. The border of lines consists of the points where an odd number of them
    /// end.
    pub fn locate(&self, c: Coord) -> PolygonLocation {
        let AreaParts::Lines(lines) = &self.parts else {
            return self.edges().locate_exactly(c);
        };
        let (mut on, mut ends) = (false, 0);
        for line in lines {
            on |= line.len() == 1 && line.first() == Some(&c);
            on |= line.windows(2).any(|side| matches!(side, [a, b] if on_segment(Segment { a: *a, b: *b }, c)));
            if line.len() > 1 && line.first() != line.last() {
                ends += [line.first(), line.last()].into_iter().flatten().filter(|end| **end == c).count();
            }
        }
        match (on, ends % 2) {
            (false, _) => PolygonLocation::Outside,
            (true, 1) => PolygonLocation::Border,
            (true, _) => PolygonLocation::Inside,
        }
    }

    /// Returns the point if the shape is one.
    pub fn point(&self) -> Option<Coord> {
        let at = Coord { lat: self.bounds.south, lon: self.bounds.west };
        matches!(self.geometry, Geometry::Point(_)).then_some(at)
    }

    /// Returns the geometry as WKT.
    pub fn wkt(&self) -> Option<Literal> {
        wkt(self.geometry.clone())
    }

    /// Returns the centroid as WKT, rounded to the coordinate steps of nodes.
    pub fn centroid(&self) -> Option<Literal> {
        let middle = geo::Centroid::centroid(&self.geometry)?;
        let whole = |degrees: f64| libm::round(degrees * STEPS) / STEPS;
        wkt(Point::new(whole(middle.x()), whole(middle.y())).into())
    }
}

fn wkt(geometry: Geometry) -> Option<Literal> {
    match (LocatedGeometry { geometry, crs: Crs::Crs84, format: GeometryFormat::Wkt }).to_term()? {
        oxrdf::Term::Literal(literal) => Some(literal),
        _ => None,
    }
}

/// Returns the points of a way, and whether it is closed.
fn points(osm: &Osm, ordinal: Ordinal) -> (Line, bool) {
    let (page, slot) = osm.place(ElementType::Way, ordinal);
    let page = osm.way_page(page);
    let line: Line = page.coords(slot).to_vec();
    budget::checkpoints(line.len() / 8);
    (line, is_closed(page.nodes(slot)))
}

/// Returns the polygons of a border; none if the border is incomplete.
fn whole(border: OutlineBorder) -> Vec<Vec<Line>> {
    if border.is_incomplete() { Vec::new() } else { border.polygons().unwrap_or_default() }
}

fn way(osm: &Osm, element: ElementNode, tags: &[PairId]) -> Option<ElementShape> {
    let (mut points, closed) = points(osm, element.ordinal);
    if closed && is_areal_way(osm, tags) {
        let mut border = OutlineBorder::default();
        border.add(&points, false);
        if let Some(shape) = of_polygons(whole(border)) {
            return Some(shape);
        }
    }
    points.retain(|c| !c.is_missing());
    let lines = cut_at_180(&points);
    let bounds = around(&lines.concat());
    Some(ElementShape::new(of_lines(&lines)?, bounds, AreaParts::Lines(lines)))
}

fn of_lines(lines: &[Line]) -> Option<Geometry> {
    match lines {
        [] => None,
        [one] => match one[..] {
            [] => None,
            [one] => Some(Point(position(one)).into()),
            _ => Some(line(one).into()),
        },
        lines => Some(MultiLineString(lines.iter().map(|one| line(one)).collect()).into()),
    }
}

fn around(points: &[Coord]) -> BoundingBox {
    let mut bounds = BoundingBox::EMPTY;
    points.iter().for_each(|c| bounds.extend(*c));
    bounds
}

/// Returns whether a relation's tags make it an area.
fn is_areal_relation(osm: &Osm, tags: &[PairId]) -> bool {
    let is = |value| osm.pair("type", value).is_some_and(|pair| tags.binary_search(&pair).is_ok());
    is("multipolygon") || is("boundary")
}

fn is_areal_way(osm: &Osm, tags: &[PairId]) -> bool {
    !tags.is_empty() && osm.pair("area", "no").is_none_or(|pair| tags.binary_search(&pair).is_err())
}

/// Returns whether a relation with these tags is an area and the extract lacks some of its ways. Such a relation has no
/// geometry.
pub fn lacks_ways(osm: &Osm, element: ElementNode, tags: &[PairId]) -> bool {
    let (page, slot) = osm.place(element.kind, element.ordinal);
    let is_missing = |member: &RelationMember| member.kind == ElementType::Way && member.element.ordinal().is_none();
    is_areal_relation(osm, tags) && osm.relation_page(page).members(slot).iter().any(is_missing)
}

fn of_polygons(polygons: Vec<Vec<Line>>) -> Option<ElementShape> {
    let mut bounds = BoundingBox::EMPTY;
    polygons.iter().flatten().flatten().for_each(|c| bounds.extend(*c));
    let mut parts: Vec<Polygon> = polygons.iter().filter_map(|rings| polygon(rings)).collect();
    let geometry = match parts.len() {
        0 => return None,
        1 => parts.remove(0).into(),
        _ => MultiPolygon(parts).into(),
    };
    Some(ElementShape::new(geometry, bounds, AreaParts::Polygons(polygons)))
}

/// Collects the nodes and ways of a relation, each once.
fn collection(osm: &Osm, element: ElementNode) -> Option<ElementShape> {
    let (page, slot) = osm.place(ElementType::Relation, element.ordinal);
    let page = osm.relation_page(page);
    let mut seen = HashSet::new();
    let mut bounds = BoundingBox::EMPTY;
    let (mut parts, mut lines) = (Vec::new(), Vec::new());
    for member in page.members(slot) {
        let Some(ordinal) = member.element.ordinal().filter(|ordinal| seen.insert((member.kind, *ordinal))) else {
            continue;
        };
        let points = match member.kind {
            ElementType::Node => osm.coords(&[ordinal]).into_iter().filter(|c| !c.is_missing()).collect(),
            ElementType::Way => {
                let mut points = points(osm, ordinal).0;
                points.retain(|c| !c.is_missing());
                points
            }
            ElementType::Relation => continue,
        };
        let pieces = cut_at_180(&points);
        bounds.union(&around(&pieces.concat()));
        parts.extend(of_lines(&pieces));
        lines.extend(pieces);
    }
    (!parts.is_empty()).then(|| {
        ElementShape::new(Geometry::GeometryCollection(GeometryCollection(parts)), bounds, AreaParts::Lines(lines))
    })
}
