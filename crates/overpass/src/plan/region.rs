//! Places that filters ask for: a box, an area, a polygon, what is near to something.

use terrapin_osm::{BoundingBox, Coord};

/// How a box lies to a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Every point of the box is in the region.
    Inside,
    /// No point is.
    Outside,
    /// Neither is sure.
    Unsure,
}

/// A place that elements can be in. What is told here of nodes and ways decides about relations, too: a relation is in
/// a region where one of its nodes or ways is.
pub trait Region: Send + Sync {
    /// Boxes that hold every position at which an element of the region can have a node or a segment.
    fn cover(&self) -> &[BoundingBox];
    /// How a box lies to the region. A whole page of elements may be decided by this.
    fn placement(&self, of: &BoundingBox) -> Placement;
    /// Whether nodes anywhere in a box, the placement of which is unsure, surely are in the region.
    fn has_all_nodes(&self, _of: &BoundingBox) -> bool {
        false
    }
    /// Whether a node at this position (not a missing one) is in the region.
    fn has_node(&self, at: Coord) -> bool;
    /// Whether there are nodes in the region that do not make the relations they are members of be in it, too.
    fn has_border(&self) -> bool {
        false
    }
    /// Whether a node that is in the region is not one of those.
    fn counts_for_relations(&self, _at: Coord) -> bool {
        true
    }
    /// Whether a way with nodes at these positions (some may be missing) meets the region.
    fn has_way(&self, coords: &[Coord]) -> bool;
}

/// A box.
pub struct BoxRegion {
    whole: BoundingBox,
    parts: Vec<BoundingBox>,
}

impl BoxRegion {
    /// The region of a box, which may cross the antimeridian.
    pub fn new(whole: BoundingBox) -> BoxRegion {
        let (parts, n) = whole.split();
        BoxRegion { whole, parts: parts[..n].to_vec() }
    }
}

impl Region for BoxRegion {
    fn cover(&self) -> &[BoundingBox] {
        &self.parts
    }

    fn placement(&self, of: &BoundingBox) -> Placement {
        if !self.whole.intersects(of) {
            return Placement::Outside;
        }
        let holds = |p: &BoundingBox| {
            p.south <= of.south && p.north >= of.north && p.west <= of.west && p.east >= of.east && !of.is_empty()
        };
        if self.parts.iter().any(holds) { Placement::Inside } else { Placement::Unsure }
    }

    fn has_node(&self, at: Coord) -> bool {
        self.whole.contains(at)
    }

    fn has_way(&self, coords: &[Coord]) -> bool {
        coords.iter().any(|&c| !c.is_missing() && self.whole.contains(c))
            || coords.windows(2).any(|pair| match *pair {
                [a, b] if !a.is_missing() && !b.is_missing() => self.parts.iter().any(|p| segment_meets(a, b, p)),
                _ => false,
            })
    }
}

/// Whether the segment between two positions shares a point with a box that does not cross the antimeridian. The
/// segment itself takes the shorter way around the world.
fn segment_meets(a: Coord, b: Coord, area: &BoundingBox) -> bool {
    const HALF: i64 = 1_800_000_000;
    let (ax, ay, mut bx, by) = (i64::from(a.lon), i64::from(a.lat), i64::from(b.lon), i64::from(b.lat));
    let across = (bx - ax).abs() > HALF;
    if across {
        bx += if bx < ax { 2 * HALF } else { -2 * HALF };
    }
    let shifts: &[i64] = if across { &[0, -2 * HALF, 2 * HALF] } else { &[0] };
    shifts.iter().any(|shift| {
        let (west, east) = (i64::from(area.west) + shift, i64::from(area.east) + shift);
        let (south, north) = (i64::from(area.south), i64::from(area.north));
        if ax.max(bx) < west || ax.min(bx) > east || ay.max(by) < south || ay.min(by) > north {
            return false;
        }
        // the corners lie on both sides of the line through the segment, or on it
        let side = |x: i64, y: i64| {
            (i128::from(bx - ax) * i128::from(y - ay) - i128::from(by - ay) * i128::from(x - ax)).signum()
        };
        let sides = [side(west, south), side(west, north), side(east, south), side(east, north)];
        sides.iter().any(|&s| s >= 0) && sides.iter().any(|&s| s <= 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn c(lat: i32, lon: i32) -> Coord {
        Coord { lat, lon }
    }

    #[test]
    fn boxes() {
        let region = BoxRegion::new(BoundingBox { south: 0, west: 0, north: 10, east: 10 });
        assert!(region.has_node(c(0, 10)));
        assert!(!region.has_node(c(-1, 5)));
        assert!(region.has_way(&[c(-5, 5), c(15, 5)]), "through it");
        assert!(region.has_way(&[c(-5, 5), c(5, -5)]), "through a corner");
        assert!(!region.has_way(&[c(-6, 5), c(5, -6)]), "past a corner");
        assert!(!region.has_way(&[c(-5, 5), Coord::MISSING, c(15, 5)]));
        let of = |south, west, north, east| region.placement(&BoundingBox { south, west, north, east });
        assert_eq!(of(1, 1, 9, 10), Placement::Inside);
        assert_eq!(of(1, 1, 9, 11), Placement::Unsure);
        assert_eq!(of(1, 11, 9, 12), Placement::Outside);
    }

    #[test]
    fn across_the_antimeridian() {
        let region = BoxRegion::new(BoundingBox { south: 0, west: 1_790_000_000, north: 10, east: -1_790_000_000 });
        assert!(region.has_node(c(5, 1_800_000_000)));
        assert!(!region.has_node(c(5, 0)));
        assert!(region.has_way(&[c(5, 1_780_000_000), c(5, -1_780_000_000)]), "the short way around");
        let narrow = BoxRegion::new(BoundingBox { south: 0, west: -10, north: 10, east: 10 });
        assert!(!narrow.has_way(&[c(5, 1_780_000_000), c(5, -1_780_000_000)]));
        assert!(narrow.has_way(&[c(5, 890_000_000), c(5, -890_000_000)]));
    }
}
