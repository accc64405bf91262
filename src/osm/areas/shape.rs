//! The shape of an area: what is in it and what meets it.

use crate::osm::geometry::{BoxRelation, Location, Polygon, Segment};
use crate::osm::{BoundingBox, Coord};

/// The shape of an area.
///
/// As in the reference, a node is in an area if it lies inside or on the border; a way is in it if some point of the
/// way lies inside, the border not counted: ways that only touch the border or run along it are not in the area.
#[derive(Debug, Clone)]
pub struct Shape {
    polygon: Polygon,
    /// Whether ways on the border may be in it, as [`Shape::from_closed_way`] says.
    halves: bool,
}

impl Shape {
    /// The area with these segments as its border, in any order and direction.
    pub fn new(segments: impl IntoIterator<Item = Segment>) -> Shape {
        Shape { polygon: Polygon::new(segments), halves: false }
    }

    /// The area within a closed line; the last point may repeat the first.
    pub fn from_closed_line(line: &[Coord]) -> Shape {
        Shape { polygon: Polygon::from_ring(line), halves: false }
    }

    /// The area that a closed way is. The reference then also asks where the middles of a way's segments lie, rounded
    /// to whole coordinates: of a segment along the border the rounding decides, so that most closed ways are in the
    /// area that they are themselves, and neighbours that share a wall are in each other's or not.
    pub fn from_closed_way(line: &[Coord]) -> Shape {
        Shape { halves: true, ..Shape::from_closed_line(line) }
    }

    /// The box around it; empty for an area without a border.
    pub fn bbox(&self) -> &BoundingBox {
        self.polygon.bbox()
    }

    /// Where a point lies.
    pub fn locate(&self, c: Coord) -> Location {
        self.polygon.locate(c)
    }

    /// Whether a node at this position is in the area: inside or on the border.
    pub fn covers(&self, c: Coord) -> bool {
        self.polygon.covers(c)
    }

    /// Whether a way with these nodes is in the area: a point of it inside, the border not counted.
    pub fn meets_line(&self, line: &[Coord]) -> bool {
        self.polygon.meets_line(line)
            || (self.halves && line.windows(2).any(|w| self.polygon.locate(middle(w[0], w[1])) == Location::Inside))
    }

    /// How a box lies to the area: one test for a whole page of elements.
    pub fn relate(&self, area: &BoundingBox) -> BoxRelation {
        self.polygon.relate(area)
    }

    /// Bytes of memory that it takes, for bounding caches.
    pub fn weight(&self) -> usize {
        self.polygon.weight()
    }
}

/// The middle of a segment, latitude rounded down and longitude towards zero; missing where an end is.
fn middle(a: Coord, b: Coord) -> Coord {
    if a.is_missing() || b.is_missing() {
        return Coord::MISSING;
    }
    let whole = |v: i64| i32::try_from(v).unwrap_or_default();
    Coord {
        lat: whole((i64::from(a.lat) + i64::from(b.lat)).div_euclid(2)),
        lon: whole((i64::from(a.lon) + i64::from(b.lon)) / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the reference says of two buildings of Valletta that share a wall, and of themselves.
    #[test]
    fn closed_ways_and_their_neighbours() {
        let line = |points: &[(i32, i32)]| points.iter().map(|&(lat, lon)| Coord { lat, lon }).collect::<Vec<_>>();
        let b = line(&[
            (359_137_557, 144_945_619),
            (359_136_748, 144_947_776),
            (359_134_180, 144_946_307),
            (359_134_989, 144_944_150),
            (359_137_557, 144_945_619),
        ]);
        let c = line(&[
            (359_139_507, 144_946_735),
            (359_137_557, 144_945_619),
            (359_136_748, 144_947_776),
            (359_138_711, 144_948_882),
            (359_139_507, 144_946_735),
        ]);
        let area = Shape::from_closed_way(&b);
        assert!(area.meets_line(&b) && area.meets_line(&c));
        assert!(!Shape::from_closed_line(&b).meets_line(&c));
    }

    #[test]
    fn middles_are_rounded_as_in_the_reference() {
        let c = |lat, lon| Coord { lat, lon };
        assert_eq!(middle(c(-3, -3), c(0, 0)), c(-2, -1));
        assert_eq!(middle(c(3, 3), c(0, 0)), c(1, 1));
        assert!(middle(c(3, 3), Coord::MISSING).is_missing());
    }

    /// A node half a hundredth of a step outside a relation's border.
    #[test]
    fn the_border_is_rounded() {
        let shape = Shape::from_closed_line(&[
            Coord { lat: 359_004_518, lon: 145_089_461 },
            Coord { lat: 359_005_568, lon: 145_086_248 },
            Coord { lat: 359_000_000, lon: 145_086_248 },
        ]);
        let at = |lat| shape.locate(Coord { lat, lon: 145_088_745 });
        assert_eq!(
            (at(359_004_751), at(359_004_752), at(359_004_753)),
            (Location::Inside, Location::Border, Location::Outside)
        );
    }
}
