//! The shape of an element: points, lines, and the polygons within borders. GeoJSON, WKB, SPARQL, GeoParquet, the map
//! and the geocoder take their polygons from here. (Areas of OverpassQL have the reference's rules instead:
//! [`crate::areas`].)
//!
//! The rules, which are osmium's if the border is complete:
//!
//! - Every way of the relation is part of the border once, whatever its role. Ways are connected where they have a
//!   point at the same position, whatever the ids of their nodes.
//! - The even-odd rule applies: a ring in a ring is a hole, a ring in a hole is an island.
//! - A segment that is drawn twice is not part of the border: rings that touch along it become one. A way that is drawn
//!   again, in either direction, counts once. If the border is closed only with such segments drawn once, they are kept
//!   once.
//! - If an odd number of segments ends at a point, the border is open and has no polygons ([`Flaw::Open`]).
//! - If two segments meet anywhere but in a common end, the border crosses itself and has no polygons
//!   ([`Flaw::Crossing`]).
//! - If no segment is left, the border is flat ([`Flaw::Flat`]).
//! - Geometry that crosses 180 degrees is cut there (RFC 7946, 3.1.9).
//! - If a way or a node is missing, as at the edge of an extract, open lines are left out and the closed rings count,
//!   except those of inner ways without a surrounding polygon.
//! - Polygons are valid: outer rings run counterclockwise, holes clockwise; a ring touches itself nowhere and others in
//!   single points only; the inside of each polygon hangs together. A ring begins with the first of its points in the
//!   order of the members.
//!
//! For drawings and displays, [`OutlineBorder::drawable`] is used instead: it always leaves out open lines, and adds
//! points where lines cross.
//!
//! ```text
//! border.rs    lines -> closed segments -> polygons, with geometry/planar
//! overlay.rs   crossing lines, with i_overlay
//! meridian.rs  lines across 180 degrees
//! areal.rs     decides by tags which closed ways are areas
//! ```

mod areal;
mod border;
mod meridian;
mod overlay;

use std::collections::HashSet;

use terrapin_budget as budget;

use crate::areas::is_closed;
use crate::{BoundingBox, Coord, ElementType, Ordinal, Osm};

pub use areal::is_area;
pub use border::{OutlineBorder, clip, is_sound, outside, repair};
pub use meridian::cut_at_180;

/// A line, of a ring with its first point again at the end.
pub type Line = Vec<Coord>;

/// The rings of a polygon, the outer one first.
pub type Polygon = Vec<Line>;

/// The reason why a border has no polygons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// An odd number of segments ends at a point.
    Open,
    /// Segments meet anywhere but in a common end.
    Crossing,
    /// The border encloses no area.
    Flat,
}

/// An element's shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outline {
    /// A node's.
    Point(Coord),
    /// An open way's, one unless it crosses 180 degrees.
    Lines(Vec<Line>),
    /// An area's: for each polygon its outer ring, which runs counterclockwise, and its holes, which run clockwise.
    Polygons(Vec<Polygon>),
}

impl Outline {
    /// Returns the geometry to draw for an element, whatever its tags: each closed way as an area. Returns `None` if
    /// the element has no position, or is a relation that is not an area in queries.
    pub fn of(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Option<Outline> {
        match kind {
            ElementType::Node => point(osm, ordinal),
            ElementType::Way => way(osm, ordinal, true, OutlineBorder::drawable),
            ElementType::Relation => {
                osm.areas().of_relation(ordinal)?;
                Some(Outline::Polygons(border_of(osm, ordinal).drawable()))
            }
        }
    }

    /// Returns the GeoJSON geometry of an element with these tags. A closed way is an area or a line, depending on its
    /// tags. A multipolygon or a boundary has its polygons, or its lines if it has no polygons. A route or a waterway
    /// has its lines. Other relations have no geometry.
    pub fn by_tags<'t>(
        osm: &Osm,
        kind: ElementType,
        ordinal: Ordinal,
        tags: impl Iterator<Item = (&'t str, &'t str)> + Clone,
    ) -> Option<Outline> {
        match kind {
            ElementType::Node => point(osm, ordinal),
            ElementType::Way => way(osm, ordinal, is_area(tags), |border| border.polygons().unwrap_or_default()),
            ElementType::Relation => {
                let is = |kinds: &[&str]| tags.clone().any(|(key, value)| key == "type" && kinds.contains(&value));
                if is(&["multipolygon", "boundary"]) {
                    let border = border_of(osm, ordinal);
                    Some(border.polygons().map(Outline::Polygons).unwrap_or_else(|_| lines(border.into_lines())))
                } else if is(&["route", "waterway"]) {
                    Some(lines(border_of(osm, ordinal).into_lines()))
                } else {
                    None
                }
            }
        }
    }

    /// Returns the bounding box; empty if the outline has no point.
    pub fn bounds(&self) -> BoundingBox {
        let mut bounds = BoundingBox::EMPTY;
        match self {
            Outline::Point(point) => bounds.extend(*point),
            Outline::Lines(all) => all.iter().flatten().for_each(|c| bounds.extend(*c)),
            Outline::Polygons(all) => all.iter().flatten().flatten().for_each(|c| bounds.extend(*c)),
        }
        bounds
    }
}

fn point(osm: &Osm, node: Ordinal) -> Option<Outline> {
    osm.coords(&[node]).first().filter(|c| !c.is_missing()).copied().map(Outline::Point)
}

fn lines(all: Vec<Line>) -> Outline {
    Outline::Lines(all.iter().flat_map(|line| cut_at_180(line)).collect())
}

fn way(osm: &Osm, ordinal: Ordinal, is_area: bool, polygons: fn(&OutlineBorder) -> Vec<Polygon>) -> Option<Outline> {
    let (nodes, mut line) = osm.way(ordinal);
    if is_area && is_closed(&nodes) {
        let mut border = OutlineBorder::default();
        border.add(&line, false);
        let polygons = polygons(&border);
        if !polygons.is_empty() {
            return Some(Outline::Polygons(polygons));
        }
    }
    line.retain(|c| !c.is_missing());
    (!line.is_empty()).then(|| lines(vec![line]))
}

/// Returns the border formed by the ways of a relation, whatever its tags.
pub fn border_of(osm: &Osm, relation: Ordinal) -> OutlineBorder {
    let (page, slot) = osm.place(ElementType::Relation, relation);
    let page = osm.relation_page(page);
    let mut seen = HashSet::new();
    let mut border = OutlineBorder::default();
    for member in page.members(slot).iter().filter(|member| member.kind == ElementType::Way) {
        budget::checkpoint();
        match member.element.ordinal() {
            Some(way) if seen.insert(way) => border.add(&osm.way(way).1, osm.role(member.role) == "inner"),
            Some(_) => {}
            None => border.add_missing(),
        }
    }
    border
}

#[cfg(test)]
mod tests;
