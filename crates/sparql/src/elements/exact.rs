//! The exact test of a spatial relation between two shapes. Point locations, intersections of borders and lines, and
//! their consequences are decided in integers. If borders touch without crossing, `geo`'s `Relate` decides, with exact
//! predicates.

use std::cell::OnceCell;
use std::rc::Rc;

use geo::{Geometry, PreparedGeometry, Relate};
use terrapin_budget as budget;
use terrapin_osm::geometry::{BoxRelation, LineSide, PolygonLocation, Segment, segments_meet, side};
use terrapin_osm::{BoundingBox, Coord};
use terrapin_triples::{ReadError, TripleView};

use super::shape::ElementShape;
use crate::geo::{Spatial, of_pairs};

/// Minimum number of points of a geometry that is prepared for repeated comparison.
const MANY: usize = 16;

/// The intersection of the borders and lines of two shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShapeIntersection {
    /// They are disjoint.
    Apart,
    /// They touch or overlap along a segment.
    Touching,
    /// A segment crosses the border of an area.
    Crossing,
}

/// A shape that is compared with many others.
pub struct PreparedShape {
    shape: Rc<ElementShape>,
    prepared: OnceCell<PreparedGeometry<'static, Geometry>>,
}

impl PreparedShape {
    /// Wraps a shape.
    pub fn new(shape: Rc<ElementShape>) -> PreparedShape {
        PreparedShape { shape, prepared: OnceCell::new() }
    }

    /// Returns its bounding box.
    pub fn bounds(&self) -> BoundingBox {
        self.shape.bounds
    }

    /// Returns whether every shape inside `bounds` is entirely outside this one.
    pub fn is_apart_from(&self, bounds: &BoundingBox) -> bool {
        self.shape.area().is_some_and(|area| area.relate(bounds) == BoxRelation::Outside)
    }

    /// Returns whether the relation holds for every shape inside `bounds`, or `None` if the box alone does not decide.
    /// `first` is true if this shape is the first of the pair.
    pub fn lies_to_box(&self, how: Spatial, bounds: &BoundingBox, first: bool) -> Option<bool> {
        by_box(how, &self.shape, bounds, first)
    }

    /// Returns whether the relation holds with `other`; `first` is true if this shape is the first of the pair.
    pub fn lies(&self, view: &TripleView, how: Spatial, other: &ElementShape, first: bool) -> Result<bool, ReadError> {
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
            .ok_or_else(|| ReadError::Relation("two geometries are too large to compare".to_owned()))
    }

    /// Decides the relation by the DE-9IM matrix; `None` if the computation would take too long.
    fn relate(&self, how: Spatial, other: &ElementShape, first: bool, pairs: usize) -> Option<bool> {
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

/// Decides the relation if one shape is a point, or if it is impossible for shapes of these dimensions.
fn by_points(how: Spatial, a: &ElementShape, b: &ElementShape) -> Option<bool> {
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

/// Decides the relation if the box is entirely inside or outside an area.
fn by_box(how: Spatial, shape: &ElementShape, bounds: &BoundingBox, first: bool) -> Option<bool> {
    match shape.area()?.relate(bounds) {
        BoxRelation::Outside => Some(false),
        BoxRelation::Inside => Some(of_part(how, PolygonLocation::Inside, first)),
        BoxRelation::Mixed => None,
    }
}

/// Decides the relation by how borders and lines intersect, if that suffices.
fn by_borders(how: Spatial, a: &ElementShape, b: &ElementShape, meeting: ShapeIntersection) -> Option<bool> {
    if meeting == ShapeIntersection::Apart {
        return apart(how, a, b);
    }
    if how == Spatial::Intersects {
        return Some(true);
    }
    let areas = [a, b].into_iter().filter(|shape| shape.is_area()).count();
    // If the border of an area is crossed, the other shape has points on both sides of it.
    match (meeting, how, areas) {
        (ShapeIntersection::Touching, ..) => None,
        (_, Spatial::Overlaps, _) => Some(areas == 2),
        (_, Spatial::Crosses, _) => Some(areas == 1),
        _ => Some(false),
    }
}

/// Decides the relation if borders and lines are disjoint: each part is then entirely inside or outside.
fn apart(how: Spatial, a: &ElementShape, b: &ElementShape) -> Option<bool> {
    let ((a_in, a_all), (b_in, b_all)) = (inside(b, a)?, inside(a, b)?);
    match (a_in, b_in) {
        (0, 0) => Some(false),
        (0, some) if some == b_all => Some(of_part(how, PolygonLocation::Inside, true)),
        (some, 0) if some == a_all => Some(of_part(how, PolygonLocation::Inside, false)),
        // Only some of several lines are inside.
        (0, _) if !b.is_area() => Some(matches!(how, Spatial::Intersects | Spatial::Crosses)),
        (_, 0) if !a.is_area() => Some(matches!(how, Spatial::Intersects | Spatial::Crosses)),
        _ => None,
    }
}

/// Returns how many parts are inside `of`, and the number of all parts; `None` if a part is on its border or on a line.
fn inside(of: &ElementShape, parts: &ElementShape) -> Option<(usize, usize)> {
    let (mut inside, mut all) = (0, 0);
    for part in parts.lines() {
        budget::checkpoint();
        // A line cannot be inside another line if no segments intersect; a point can.
        if of.is_area() || part.len() == 1 {
            match of.locate(*part.first()?) {
                PolygonLocation::Inside if of.is_area() => inside += 1,
                PolygonLocation::Inside | PolygonLocation::Border => return None,
                PolygonLocation::Outside => {}
            }
        }
        all += 1;
    }
    Some((inside, all))
}

/// Returns how borders and lines intersect, and the number of pairs of segments examined. Stops at the first pair that
/// decides.
fn meet(how: Spatial, a: &ElementShape, b: &ElementShape) -> (ShapeIntersection, u64) {
    let (few, many) = if a.edges().segments().len() <= b.edges().segments().len() { (a, b) } else { (b, a) };
    let areas = a.is_area() || b.is_area();
    let (mut meeting, mut pairs) = (ShapeIntersection::Apart, 0);
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
            meeting = ShapeIntersection::Touching;
            how == Spatial::Intersects || (areas && cross(s, t))
        });
        if crossing {
            return (ShapeIntersection::Crossing, pairs);
        }
    }
    (meeting, pairs)
}

/// Returns whether two segments cross at a point that is an end of neither.
fn cross(s: Segment, t: Segment) -> bool {
    let apart = |of: Segment, a: Coord, b: Coord| {
        let (a, b) = (side(of.a, of.b, a), side(of.a, of.b, b));
        a != b && a != LineSide::On && b != LineSide::On
    };
    apart(s, t.a, t.b) && apart(t, s.a, s.b)
}

/// Returns whether the relation is possible for the dimensions: `first` and `second` are true for areas. A line cannot
/// contain an area, only shapes of equal dimensions can be equal or overlap, and an area cannot cross another shape.
fn is_possible(how: Spatial, first: bool, second: bool) -> bool {
    match how {
        Spatial::Contains | Spatial::Covers => first || !second,
        Spatial::Within => second || !first,
        Spatial::Equals | Spatial::Overlaps => first == second,
        Spatial::Crosses => !first,
        Spatial::Intersects | Spatial::Touches => true,
    }
}

/// Returns whether the relation holds between a shape and a part at the location `at` of it: a point, or a shape
/// entirely inside. `first` is true if the shape is the first of the pair.
fn of_part(how: Spatial, at: PolygonLocation, first: bool) -> bool {
    match how {
        Spatial::Contains => first && at == PolygonLocation::Inside,
        Spatial::Covers => first && at != PolygonLocation::Outside,
        Spatial::Within => !first && at == PolygonLocation::Inside,
        Spatial::Intersects => at != PolygonLocation::Outside,
        Spatial::Touches => at == PolygonLocation::Border,
        Spatial::Crosses | Spatial::Equals | Spatial::Overlaps => false,
    }
}
