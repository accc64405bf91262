//! Whether two shapes lie so to each other. Where a point lies, whether borders and lines meet, and what follows from
//! that, is decided in integers; where they meet without crossing, `geo`'s relation of the two geometries decides, whose
//! predicates are exact.

use std::cell::OnceCell;
use std::rc::Rc;

use geo::{Geometry, PreparedGeometry, Relate};
use terrapin_budget as budget;
use terrapin_osm::geometry::{BoxRelation, Location, Segment, Side, segments_meet, side};
use terrapin_osm::{BoundingBox, Coord};
use terrapin_triples::{ReadError, View};

use super::shape::Shape;
use crate::geo::{Spatial, of_pairs};

/// Points from which on a geometry is prepared for being held against many.
const MANY: usize = 16;

/// How the borders and lines of two shapes meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meeting {
    /// Not at all.
    Apart,
    /// They touch, or run along each other.
    Touching,
    /// One goes from one side of an area's border to the other.
    Crossing,
}

/// A shape that is held against many.
pub struct Known {
    shape: Rc<Shape>,
    prepared: OnceCell<PreparedGeometry<'static, Geometry>>,
}

impl Known {
    /// This one.
    pub fn new(shape: Rc<Shape>) -> Known {
        Known { shape, prepared: OnceCell::new() }
    }

    /// The box around it.
    pub fn bounds(&self) -> BoundingBox {
        self.shape.bounds
    }

    /// Whether what is in a box lies wholly outside of it.
    pub fn is_apart_from(&self, bounds: &BoundingBox) -> bool {
        self.shape.area().is_some_and(|area| area.relate(bounds) == BoxRelation::Outside)
    }

    /// Whether it lies so to whatever is in a box, where that alone decides; `first` says that it is the first of the two.
    pub fn lies_to_box(&self, how: Spatial, bounds: &BoundingBox, first: bool) -> Option<bool> {
        by_box(how, &self.shape, bounds, first)
    }

    /// Whether it lies so to another one; `first` says that it is the first of the two.
    pub fn lies(&self, view: &View, how: Spatial, other: &Shape, first: bool) -> Result<bool, ReadError> {
        let (a, b) = if first { (&*self.shape, other) } else { (other, &*self.shape) };
        let mut pairs = 0;
        let answer = by_points(how, a, b)
            .or_else(|| by_box(how, a, &b.bounds, true))
            .or_else(|| by_box(how, b, &a.bounds, false))
            .or_else(|| {
                let meeting;
                (meeting, pairs) = meet(how, a, b);
                by_borders(how, a, b, meeting)
            });
        view.work(1 + pairs / 16)?;
        if let Some(answer) = answer {
            return Ok(answer);
        }
        let all = pairs as usize + self.shape.own_pairs() + other.own_pairs();
        self.relate(how, other, first, all)
            .ok_or_else(|| ReadError::Relation("two geometries are too large to be held against each other".to_owned()))
    }

    /// The same by the matrix of all intersections; nothing where that would take too long.
    fn relate(&self, how: Spatial, other: &Shape, first: bool, pairs: usize) -> Option<bool> {
        of_pairs(self.shape.points() + other.points(), pairs)?;
        let (known, other) = (&self.shape.geometry, &other.geometry);
        let matrix = budget::tolerant(|| match (self.shape.points() >= MANY, first) {
            (true, true) => self.prepared().relate(other),
            (true, false) => other.relate(self.prepared()),
            (false, true) => known.relate(other),
            (false, false) => other.relate(known),
        })?;
        Some(how.holds(&matrix))
    }

    fn prepared(&self) -> &PreparedGeometry<'static, Geometry> {
        self.prepared.get_or_init(|| PreparedGeometry::from(self.shape.geometry.clone()))
    }
}

/// Where one of them is a point, or it cannot hold for such shapes.
fn by_points(how: Spatial, a: &Shape, b: &Shape) -> Option<bool> {
    match (a.point(), b.point()) {
        (Some(a), Some(b)) => {
            let equal = !matches!(how, Spatial::Crosses | Spatial::Overlaps | Spatial::Touches);
            Some(a == b && equal)
        }
        (None, Some(point)) => Some(of_part(how, a.locate(point), true)),
        (Some(point), None) => Some(of_part(how, b.locate(point), false)),
        (None, None) => (!is_possible(how, a.is_area(), b.is_area())).then_some(false),
    }
}

/// Where what is in a box lies wholly inside or outside of an area.
fn by_box(how: Spatial, shape: &Shape, bounds: &BoundingBox, first: bool) -> Option<bool> {
    match shape.area()?.relate(bounds) {
        BoxRelation::Outside => Some(false),
        BoxRelation::Inside => Some(of_part(how, Location::Inside, first)),
        BoxRelation::Mixed => None,
    }
}

/// What follows from how borders and lines meet.
fn by_borders(how: Spatial, a: &Shape, b: &Shape, meeting: Meeting) -> Option<bool> {
    if meeting == Meeting::Apart {
        return apart(how, a, b);
    }
    if how == Spatial::Intersects {
        return Some(true);
    }
    let areas = [a, b].into_iter().filter(|shape| shape.is_area()).count();
    // Where an area's border is crossed there is something of the other one on both sides of it.
    match (meeting, how, areas) {
        (Meeting::Touching, ..) => None,
        (_, Spatial::Overlaps, _) => Some(areas == 2),
        (_, Spatial::Crosses, _) => Some(areas == 1),
        _ => Some(false),
    }
}

/// Where no border and no line meets another one each part lies wholly inside or outside.
fn apart(how: Spatial, a: &Shape, b: &Shape) -> Option<bool> {
    let ((a_in, a_all), (b_in, b_all)) = (inside(b, a)?, inside(a, b)?);
    match (a_in, b_in) {
        (0, 0) => Some(false),
        (0, some) if some == b_all => Some(of_part(how, Location::Inside, true)),
        (some, 0) if some == a_all => Some(of_part(how, Location::Inside, false)),
        // Of several lines some are inside.
        (0, _) if !b.is_area() => Some(matches!(how, Spatial::Intersects | Spatial::Crosses)),
        (_, 0) if !a.is_area() => Some(matches!(how, Spatial::Intersects | Spatial::Crosses)),
        _ => None,
    }
}

/// How many of a shape's parts lie inside another one, and how many there are; nothing where one is on its border, or on
/// a line.
fn inside(of: &Shape, parts: &Shape) -> Option<(usize, usize)> {
    let (mut inside, mut all) = (0, 0);
    for part in parts.lines() {
        budget::checkpoint();
        // Lines lie in no line where no segments meet; a point may.
        if of.is_area() || part.len() == 1 {
            match of.locate(*part.first()?) {
                Location::Inside if of.is_area() => inside += 1,
                Location::Inside | Location::Border => return None,
                Location::Outside => {}
            }
        }
        all += 1;
    }
    Some((inside, all))
}

/// How borders and lines meet, and how many pairs of segments were looked at: all, unless one of them decides.
fn meet(how: Spatial, a: &Shape, b: &Shape) -> (Meeting, u64) {
    let (few, many) = if a.edges().segments().len() <= b.edges().segments().len() { (a, b) } else { (b, a) };
    let areas = a.is_area() || b.is_area();
    let (mut meeting, mut pairs) = (Meeting::Apart, 0);
    for &s in few.edges().segments() {
        budget::checkpoint();
        let bounds = s.bbox();
        if !bounds.intersects(&many.bounds) {
            continue;
        }
        let crossing = many.edges().any_segment(&bounds, &mut |t| {
            pairs += 1;
            if !segments_meet(s, t) {
                return false;
            }
            meeting = Meeting::Touching;
            how == Spatial::Intersects || (areas && cross(s, t))
        });
        if crossing {
            return (Meeting::Crossing, pairs);
        }
    }
    (meeting, pairs)
}

/// Whether two segments cross in a point that is an end of neither.
fn cross(s: Segment, t: Segment) -> bool {
    let apart = |of: Segment, a: Coord, b: Coord| {
        let (a, b) = (side(of.a, of.b, a), side(of.a, of.b, b));
        a != b && a != Side::On && b != Side::On
    };
    apart(s, t.a, t.b) && apart(t, s.a, s.b)
}

/// Whether it can hold for areas or lines: a line has no room for an area, and only what is alike is equal or overlaps.
fn is_possible(how: Spatial, first: bool, second: bool) -> bool {
    match how {
        Spatial::Contains | Spatial::Covers => first || !second,
        Spatial::Within => second || !first,
        Spatial::Equals | Spatial::Overlaps => first == second,
        Spatial::Crosses => !(first && second),
        Spatial::Intersects | Spatial::Touches => true,
    }
}

/// Whether it holds for something and a point that lies there, or what lies wholly in it; `first` says that it is the
/// first of the two.
fn of_part(how: Spatial, at: Location, first: bool) -> bool {
    match how {
        Spatial::Contains => first && at == Location::Inside,
        Spatial::Covers => first && at != Location::Outside,
        Spatial::Within => !first && at == Location::Inside,
        Spatial::Intersects => at != Location::Outside,
        Spatial::Touches => at == Location::Border,
        Spatial::Crosses | Spatial::Equals | Spatial::Overlaps => false,
    }
}
