//! The regions of filters: a box, an area, a polygon, the surroundings of elements.

use terrapin_osm::geometry::LatLon;
use terrapin_osm::{BoundingBox, Coord};

/// The position of a box relative to a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Every point of the box is in the region.
    Inside,
    /// No point of the box is in the region.
    Outside,
    /// Neither is certain.
    Unsure,
}

/// A region that can contain elements. The methods for nodes and ways also decide about relations: a relation is in a
/// region if one of its nodes or ways is.
pub trait SearchRegion: Send + Sync {
    /// Returns boxes that contain every position at which an element of the region can have a node or a segment.
    fn cover(&self) -> &[BoundingBox];
    /// Returns whether the reference looks up the region by blocks of 16 × 16 tiles instead of by tiles.
    fn is_by_blocks(&self) -> bool {
        false
    }
    /// Returns the position of a box relative to the region. It may decide about a whole page of elements.
    fn placement(&self, of: &BoundingBox) -> Placement;
    /// Returns whether all nodes in a box are certainly in the region. Called if the placement of the box is
    /// [`Placement::Unsure`].
    fn has_all_nodes(&self, _of: &BoundingBox) -> bool {
        false
    }
    /// Returns whether a node at this position is in the region. The position must not be missing.
    fn has_node(&self, at: Coord) -> bool;
    /// Returns whether the region has border nodes: nodes that are in it, but whose relations are not in it because of
    /// them.
    fn has_border(&self) -> bool {
        false
    }
    /// Returns whether a node in the region is not such a border node.
    fn counts_for_relations(&self, _at: Coord) -> bool {
        true
    }
    /// Returns whether a way with nodes at these positions meets the region. Some positions may be missing.
    fn has_way(&self, coords: &[Coord]) -> bool;
}

/// The region of a box. As in the reference, nodes are compared with its sides rounded to 1e-7 degrees. Ways and the
/// nodes of relations are compared in floating point with the sides as written. Therefore a vertex exactly on a side
/// may be outside.
pub struct BoxRegion {
    whole: BoundingBox,
    parts: Vec<BoundingBox>,
    /// The box for the vertices of ways and relations: smaller by at most one unit on each side.
    vertices: BoundingBox,
    /// The sides of the parts in degrees.
    sides: Vec<BoxSides>,
}

/// The sides of a box that does not cross the antimeridian, in degrees.
#[derive(Debug, Clone, Copy)]
struct BoxSides {
    south: f64,
    west: f64,
    north: f64,
    east: f64,
}

impl BoxRegion {
    /// Creates the region of a box, which may cross the antimeridian. Takes the box with rounded sides, and south,
    /// west, north and east in degrees.
    pub fn new(whole: BoundingBox, [south, west, north, east]: [f64; 4]) -> BoxRegion {
        let at = |lat, lon| LatLon::from(Coord { lat, lon });
        let inwards = |rounded: i32, step: i32, out: bool| if out { rounded + step } else { rounded };
        let vertices = BoundingBox {
            south: inwards(whole.south, 1, at(whole.south, 0).lat < south),
            west: inwards(whole.west, 1, at(0, whole.west).lon < west),
            north: inwards(whole.north, -1, at(whole.north, 0).lat > north),
            east: inwards(whole.east, -1, at(0, whole.east).lon > east),
        };
        // If less than one unit remains between west and east, there is no vertex.
        let vertices = match vertices.west > vertices.east && whole.west <= whole.east {
            true => BoundingBox::EMPTY,
            false => vertices,
        };
        let sides = BoxSides { south, west, north, east };
        let sides = match whole.west <= whole.east {
            true => vec![sides],
            false => vec![BoxSides { east: 180.0, ..sides }, BoxSides { west: -180.0, ..sides }],
        };
        let (parts, n) = whole.split();
        BoxRegion { whole, parts: parts[..n].to_vec(), vertices, sides }
    }

    fn has_segment(&self, a: Coord, b: Coord) -> bool {
        if is_across(a, b) {
            return self.parts.iter().any(|part| segment_meets(a, b, part));
        }
        self.sides.iter().any(|sides| sides.cut(a.into(), b.into()))
    }
}

impl BoxSides {
    /// Returns whether one of the sides cuts the segment between two positions. Uses the same floating-point operations
    /// as the reference.
    fn cut(&self, a: LatLon, b: LatLon) -> bool {
        let within = |value: f64, from: f64, to: f64| from <= value && value <= to;
        let between = |x: f64, from: f64, to: f64| within(x, from.min(to), from.max(to)) && from != to;
        let at_lat = |lat: f64| a.lon + (b.lon - a.lon) * (lat - a.lat) / (b.lat - a.lat);
        let at_lon = |lon: f64| a.lat + (b.lat - a.lat) * (lon - a.lon) / (b.lon - a.lon);
        let crosses_row = |lat: f64| between(lat, a.lat, b.lat) && within(at_lat(lat), self.west, self.east);
        let crosses_column = |lon: f64| between(lon, a.lon, b.lon) && within(at_lon(lon), self.south, self.north);
        [self.south, self.north].into_iter().any(crosses_row) || [self.west, self.east].into_iter().any(crosses_column)
    }
}

/// Returns whether a segment is shorter across the antimeridian.
fn is_across(a: Coord, b: Coord) -> bool {
    (i64::from(b.lon) - i64::from(a.lon)).abs() > HALF
}

/// Half the circumference of the globe in 1e-7 degrees.
const HALF: i64 = 1_800_000_000;

impl SearchRegion for BoxRegion {
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
        let (parts, n) = self.vertices.split();
        if parts[..n].iter().any(holds) { Placement::Inside } else { Placement::Unsure }
    }

    fn has_node(&self, at: Coord) -> bool {
        self.whole.contains(at)
    }

    fn has_border(&self) -> bool {
        self.vertices != self.whole
    }

    fn counts_for_relations(&self, at: Coord) -> bool {
        self.vertices.contains(at)
    }

    fn has_way(&self, coords: &[Coord]) -> bool {
        coords.iter().any(|&c| !c.is_missing() && self.vertices.contains(c))
            || coords.windows(2).any(|pair| match *pair {
                [a, b] if !a.is_missing() && !b.is_missing() => self.has_segment(a, b),
                _ => false,
            })
    }
}

/// Returns whether the segment between two positions shares a point with a box that does not cross the antimeridian.
/// The segment takes the shorter way round the globe.
fn segment_meets(a: Coord, b: Coord, area: &BoundingBox) -> bool {
    let (ax, ay, mut bx, by) = (i64::from(a.lon), i64::from(a.lat), i64::from(b.lon), i64::from(b.lat));
    let across = is_across(a, b);
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
        // The corners are on both sides of the line through the segment, or on the line.
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

    fn of(b: BoundingBox) -> BoxRegion {
        BoxRegion::new(b, [b.south, b.west, b.north, b.east].map(|side| f64::from(side) / 1e7))
    }

    /// A way that ends on a side, with the reference's result.
    #[test]
    fn vertices_on_a_side_may_be_out() {
        let whole = BoundingBox { south: -191290000, west: -1698440000, north: -191281561, east: -1698420000 };
        let region = BoxRegion::new(whole, [-19.129, -169.844, -19.1281561, -169.842]);
        assert!(region.has_node(c(-191281561, -1698430000)));
        assert!(region.has_border() && !region.counts_for_relations(c(-191281561, -1698430000)));
        assert!(!region.has_way(&[c(-191281561, -1698430000), c(-191200000, -1698430000)]), "from the side");
        assert!(!region.has_way(&[c(-191281561, -1698430000), c(-191281561, -1698435000)]), "along the side");
        assert!(region.has_way(&[c(-191281562, -1698430000), c(-191200000, -1698430000)]));
        let of = BoundingBox { south: -191285000, west: -1698430000, north: -191281561, east: -1698430000 };
        assert_eq!(region.placement(&of), Placement::Unsure);
        let wider = BoxRegion::new(whole, [-19.129, -169.844, -19.12815608, -169.842]);
        assert!(wider.has_way(&[c(-191281561, -1698430000), c(-191200000, -1698430000)]));
        let flat =
            BoxRegion::new(BoundingBox { south: -191281561, ..whole }, [-19.1281561, -169.844, -19.1281561, -169.842]);
        assert!(flat.has_way(&[c(-191290000, -1698430000), c(-191200000, -1698430000)]), "across");
        assert!(!flat.has_way(&[c(-191281561, -1698430000), c(-191200000, -1698430000)]));
    }

    #[test]
    fn boxes() {
        let region = of(BoundingBox { south: 0, west: 0, north: 10, east: 10 });
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
        let region = of(BoundingBox { south: 0, west: 1_790_000_000, north: 10, east: -1_790_000_000 });
        assert!(region.has_node(c(5, 1_800_000_000)));
        assert!(!region.has_node(c(5, 0)));
        assert!(region.has_way(&[c(5, 1_780_000_000), c(5, -1_780_000_000)]), "the short way around");
        let narrow = of(BoundingBox { south: 0, west: -10, north: 10, east: 10 });
        assert!(!narrow.has_way(&[c(5, 1_780_000_000), c(5, -1_780_000_000)]));
        assert!(narrow.has_way(&[c(5, 890_000_000), c(5, -890_000_000)]));
    }
}
