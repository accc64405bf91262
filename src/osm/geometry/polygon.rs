//! Point in polygon, line in polygon and box in polygon over any number of segments, exact and in about log n steps.
//!
//! A polygon is a set of segments under the even-odd rule: which ring is an outer or an inner one, in which direction
//! and in which order they come makes no difference. Segments keep the order they are given in, so that neighbours
//! in a way stay neighbours, and are put under a tree of boxes, eight to a node. A node also knows between which
//! latitudes its segments, taken as one chain, lead: of a chain wholly to the east of a point it is enough to know
//! whether its ends lie on different sides of the point's latitude to count its crossings.

use super::segment::{Segment, on_segment, segment_meets_box, segments_meet};
use crate::osm::{BoundingBox, Coord};

/// Where a point lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Location {
    Inside,
    Border,
    Outside,
}

/// How a whole box lies to a polygon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Relation {
    /// Every point of the box is inside.
    Inside,
    /// No point of the box is inside or on the border.
    Outside,
    /// The border runs through or along the box.
    Mixed,
}

const FANOUT: usize = 8;
/// Of how many loose ends a node keeps track while the tree is built.
const MAX_ENDS: usize = 2 * FANOUT;

/// What lies on a polygon's border, and which lines meet the polygon. The reference has three ways, found by trying
/// nodes within a step of the border and lines along it; a step is 1e-7 degrees. On a meridian all are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Border {
    /// Areas made from relations: a point is on a segment that leads south-east or north-west if it is less than one
    /// step of latitude from it, on another if it is exactly on it. A line meets the area if a piece of it lies inside.
    Relation,
    /// As `Relation`, but a line that runs along the border meets the area too: `(poly)`.
    Drawn,
    /// Closed ways: a point is on a segment if the segment's latitude there, rounded (halves up), is the point's. A line
    /// is cut where it meets the border, and meets the area if the middle of a piece is inside; the middle's latitude is
    /// rounded down, its longitude towards zero. So of lines along the border some meet the area: most closed ways
    /// meet themselves.
    ClosedWay,
}

/// A polygon: any number of rings under the even-odd rule.
#[derive(Debug, Clone)]
pub struct Polygon {
    border: Border,
    segments: Box<[Segment]>,
    /// The tree, leaves' parents first; `levels[k]..levels[k + 1]` are the nodes of level k.
    nodes: Box<[Node]>,
    levels: Vec<usize>,
    bbox: BoundingBox,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    bbox: BoundingBox,
    /// Latitudes of the two ends of the chain that the node's segments are; equal for closed ones; `low > high` where
    /// they are several chains.
    low: i32,
    high: i32,
}

impl Polygon {
    /// The polygon of these segments. Of those that come several times, in whatever direction, pairs cancel out for
    /// what is inside, but what is on them is on the border; as it is on a segment of no length.
    pub fn new(border: Border, segments: impl IntoIterator<Item = Segment>) -> Polygon {
        let segments: Box<[Segment]> = segments.into_iter().collect();
        let (nodes, levels) = build_tree(&segments);
        let bbox = nodes.last().map_or(BoundingBox::EMPTY, |n| n.bbox);
        Polygon { border, segments, nodes: nodes.into_boxed_slice(), levels, bbox }
    }

    /// The box around it; empty for a polygon without segments.
    pub fn bbox(&self) -> &BoundingBox {
        &self.bbox
    }

    /// Its segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether it has no segments.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Bytes of memory that it takes, for bounding caches.
    pub fn weight(&self) -> usize {
        size_of_val(&*self.segments) + size_of_val(&*self.nodes) + size_of::<Self>()
    }

    /// Where the point lies.
    pub fn locate(&self, c: Coord) -> Location {
        if c.is_missing() || !self.bbox.contains(c) {
            return Location::Outside;
        }
        self.locate_scaled(c.lat.into(), c.lon.into(), 1, Some(self.border))
    }

    /// Where the point lies, with the border exactly where it is.
    fn locate_exactly(&self, c: Coord) -> Location {
        self.locate_scaled(c.lat.into(), c.lon.into(), 1, None)
    }

    /// Whether the point lies inside or on the border.
    pub fn covers(&self, c: Coord) -> bool {
        self.locate(c) != Location::Outside
    }

    /// How the box lies to the polygon: one test for all that is in the box. The box may cross the antimeridian.
    pub fn relate(&self, area: &BoundingBox) -> Relation {
        if area.is_empty() {
            return Relation::Outside;
        }
        let (parts, n) = area.split();
        let mut relations = parts[..n].iter().map(|part| {
            // What is less than a step off the border may be on it.
            let wider =
                BoundingBox { south: part.south - 1, west: part.west - 1, north: part.north + 1, east: part.east + 1 };
            if self.find_segment(&wider, &mut |s| segment_meets_box(s, &wider)) {
                return Relation::Mixed;
            }
            match self.locate(Coord { lat: part.south, lon: part.west }) {
                Location::Outside => Relation::Outside,
                _ => Relation::Inside,
            }
        });
        let first = relations.next().unwrap_or(Relation::Outside);
        if relations.all(|r| r == first) { first } else { Relation::Mixed }
    }

    /// Whether a polyline meets the polygon; lines that only touch the border do not, and it depends on the kind of
    /// [`Border`] whether those do that run along it. A missing node breaks the line; a line of a single node meets the
    /// polygon if that is inside. (A line that meets two crossing borders where they cross counts as meeting.)
    pub fn meets_line(&self, line: &[Coord]) -> bool {
        let mut bbox = BoundingBox::EMPTY;
        line.iter().for_each(|&c| bbox.extend(c));
        if bbox.is_empty() || !bbox.intersects(&self.bbox) {
            return false;
        }
        if let [c] = line {
            return self.locate(*c) == Location::Inside;
        }
        // Where the end of the last segment lies, if that is known without asking.
        let mut known: Option<Location> = None;
        for w in line.windows(2) {
            let s = Segment { a: w[0], b: w[1] };
            if s.a.is_missing() || s.b.is_missing() {
                known = None;
                continue;
            }
            match self.pass(s, known) {
                Pass::Inside => return true,
                Pass::Outside => known = Some(Location::Outside),
                Pass::Touching => known = None,
            }
        }
        false
    }

    fn pass(&self, s: Segment, known: Option<Location>) -> Pass {
        let mut cuts: Vec<Coord> = Vec::new();
        let mut touched = false;
        let crossed = self.find_segment(&s.bbox(), &mut |t| {
            if !segments_meet(s, t) {
                return false;
            }
            touched = true;
            let at_end = on_segment(t, s.a) || on_segment(t, s.b);
            let before = cuts.len();
            cuts.extend([t.a, t.b].into_iter().filter(|&c| on_segment(s, c)));
            let crosses = !at_end && cuts.len() == before;
            if crosses && self.border == Border::ClosedWay {
                cuts.extend(crossing(s, t));
            }
            crosses && self.border != Border::ClosedWay
        });
        if crossed {
            return Pass::Inside;
        }
        if !touched {
            return match known.unwrap_or_else(|| self.locate_exactly(s.a)) {
                Location::Outside => Pass::Outside,
                _ => Pass::Inside,
            };
        }
        // Between two neighbouring cuts the line is on one side or on the border.
        cuts.extend([s.a, s.b]);
        cuts.sort_unstable_by_key(|&c| along(s, c));
        cuts.dedup();
        let inside = cuts.windows(2).any(|w| {
            let lat = i64::from(w[0].lat) + i64::from(w[1].lat);
            let lon = i64::from(w[0].lon) + i64::from(w[1].lon);
            let middle = match self.border {
                Border::ClosedWay => self.locate_scaled(lat.div_euclid(2), lon / 2, 1, Some(self.border)),
                _ => self.locate_scaled(lat, lon, 2, None),
            };
            middle == Location::Inside || (middle == Location::Border && self.border == Border::Drawn)
        });
        if inside { Pass::Inside } else { Pass::Touching }
    }

    /// Locates a point given in units of 1/scale steps; without a `border`, that is exactly where it is.
    fn locate_scaled(&self, lat: i64, lon: i64, scale: i64, border: Option<Border>) -> Location {
        let mut search = Search { lat, lon, scale, border, inside: false };
        let Some(top) = self.levels.len().checked_sub(2) else { return Location::Outside };
        if self.locate_below(top, 0, &mut search) {
            return Location::Border;
        }
        if search.inside { Location::Inside } else { Location::Outside }
    }

    /// Counts the crossings of the way east under a node; true if the point is on a segment.
    fn locate_below(&self, level: usize, index: usize, search: &mut Search) -> bool {
        let Some(node) = self.nodes.get(self.levels[level] + index) else { return false };
        let (lat, lon) = (search.lat, search.lon);
        let at = |v: i32| i64::from(v) * search.scale;
        let b = &node.bbox;
        if lat < at(b.south) || lat > at(b.north) || lon > at(b.east) {
            return false;
        }
        if lon < at(b.west) && node.low <= node.high {
            search.inside ^= (at(node.low) > lat) != (at(node.high) > lat);
            return false;
        }
        if level > 0 {
            let count = self.levels[level] - self.levels[level - 1];
            let children = index * FANOUT..((index + 1) * FANOUT).min(count);
            return children.into_iter().any(|i| self.locate_below(level - 1, i, search));
        }
        let range = index * FANOUT..((index + 1) * FANOUT).min(self.segments.len());
        self.segments[range].iter().any(|&s| search.meets(s))
    }

    /// Whether `test` holds for a segment whose node's box meets `area`.
    fn find_segment(&self, area: &BoundingBox, test: &mut dyn FnMut(Segment) -> bool) -> bool {
        match self.levels.len().checked_sub(2) {
            Some(top) => self.find_below(top, 0, area, test),
            None => false,
        }
    }

    fn find_below(
        &self,
        level: usize,
        index: usize,
        area: &BoundingBox,
        test: &mut dyn FnMut(Segment) -> bool,
    ) -> bool {
        let Some(node) = self.nodes.get(self.levels[level] + index) else { return false };
        if !node.bbox.intersects(area) {
            return false;
        }
        if level > 0 {
            let count = self.levels[level] - self.levels[level - 1];
            let children = index * FANOUT..((index + 1) * FANOUT).min(count);
            return children.into_iter().any(|i| self.find_below(level - 1, i, area, test));
        }
        let range = index * FANOUT..((index + 1) * FANOUT).min(self.segments.len());
        self.segments[range].iter().any(|&s| s.bbox().intersects(area) && test(s))
    }
}

enum Pass {
    Inside,
    Outside,
    Touching,
}

/// A point that is being located, and whether it is inside as far as segments have been looked at.
struct Search {
    lat: i64,
    lon: i64,
    scale: i64,
    border: Option<Border>,
    inside: bool,
}

impl Search {
    /// Takes a segment into account; true if the point is on it.
    fn meets(&mut self, s: Segment) -> bool {
        let (west, east) = if s.a.lon <= s.b.lon { (s.a, s.b) } else { (s.b, s.a) };
        let [ay, ax, by, bx] = [west.lat, west.lon, east.lat, east.lon].map(|v| i64::from(v) * self.scale);
        let (lat, lon) = (self.lat, self.lon);
        if lat < ay.min(by) || lat > ay.max(by) || lon > bx {
            return false;
        }
        // Divided by the width: how far to the north of the segment the point is.
        let width = i128::from(bx - ax);
        let north = width * i128::from(lat - ay) - i128::from(by - ay) * i128::from(lon - ax);
        if lon >= ax {
            let near = match self.border {
                Some(Border::Relation | Border::Drawn) if by < ay => north.abs() < width,
                Some(Border::ClosedWay) if width > 0 => -width < 2 * north && 2 * north <= width,
                _ => false,
            };
            if near || north == 0 {
                return true;
            }
        }
        // To the west of a segment that rises eastwards is to the north of it; of one that falls, to the south.
        if (ay > lat) != (by > lat) && (north > 0) == (by > ay) {
            self.inside = !self.inside;
        }
        false
    }
}

/// How far along `s` a point on it is, for sorting.
fn along(s: Segment, c: Coord) -> (i64, i64) {
    let step = |a: i32, b: i32, c: i32| if a <= b { i64::from(c) - i64::from(a) } else { i64::from(a) - i64::from(c) };
    (step(s.a.lat, s.b.lat, c.lat), step(s.a.lon, s.b.lon, c.lon))
}

/// Where two segments cross, to the nearest step; none for parallel ones.
fn crossing(s: Segment, t: Segment) -> Option<Coord> {
    let d = |a: i32, b: i32| i128::from(b) - i128::from(a);
    let (sy, sx) = (d(s.a.lat, s.b.lat), d(s.a.lon, s.b.lon));
    let (ty, tx) = (d(t.a.lat, t.b.lat), d(t.a.lon, t.b.lon));
    let (wy, wx) = (d(s.a.lat, t.a.lat), d(s.a.lon, t.a.lon));
    let mut whole = sy * tx - sx * ty;
    let mut part = wy * tx - wx * ty;
    if whole < 0 {
        (whole, part) = (-whole, -part);
    }
    if whole == 0 {
        return None;
    }
    let at = |from: i32, length: i128| {
        let moved = (2 * part * length + whole).div_euclid(2 * whole);
        i32::try_from(i128::from(from) + moved).ok()
    };
    Some(Coord { lat: at(s.a.lat, sy)?, lon: at(s.a.lon, sx)? })
}

fn build_tree(segments: &[Segment]) -> (Vec<Node>, Vec<usize>) {
    if segments.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let mut nodes = Vec::new();
    let mut levels = vec![0];
    // Loose ends of every node of the level below: the points where an odd number of its segments end.
    let mut ends: Vec<Option<Vec<Coord>>> = Vec::new();
    for chunk in segments.chunks(FANOUT) {
        let mut bbox = BoundingBox::EMPTY;
        let mut loose = Vec::new();
        for s in chunk {
            bbox.union(&s.bbox());
            toggle(&mut loose, s.a);
            toggle(&mut loose, s.b);
        }
        nodes.push(Node::new(bbox, Some(&loose)));
        ends.push(Some(loose));
    }
    levels.push(nodes.len());
    while ends.len() > 1 {
        let below = levels[levels.len() - 2];
        let mut next = Vec::with_capacity(ends.len().div_ceil(FANOUT));
        for (i, chunk) in ends.chunks(FANOUT).enumerate() {
            let mut bbox = BoundingBox::EMPTY;
            for node in &nodes[below + i * FANOUT..below + i * FANOUT + chunk.len()] {
                bbox.union(&node.bbox);
            }
            let mut loose = Some(Vec::new());
            for child in chunk {
                if let (Some(all), Some(more)) = (&mut loose, child) {
                    more.iter().for_each(|&c| toggle(all, c));
                } else {
                    loose = None;
                }
            }
            let loose = loose.filter(|l| l.len() <= MAX_ENDS);
            nodes.push(Node::new(bbox, loose.as_ref()));
            next.push(loose);
        }
        levels.push(nodes.len());
        ends = next;
    }
    (nodes, levels)
}

impl Node {
    fn new(bbox: BoundingBox, ends: Option<&Vec<Coord>>) -> Node {
        let (low, high) = match ends.map(Vec::as_slice) {
            Some([]) => (bbox.south, bbox.south),
            Some([a, b]) => (a.lat.min(b.lat), a.lat.max(b.lat)),
            _ => (i32::MAX, i32::MIN),
        };
        Node { bbox, low, high }
    }
}

fn toggle(ends: &mut Vec<Coord>, c: Coord) {
    match ends.iter().position(|&e| e == c) {
        Some(i) => {
            ends.swap_remove(i);
        }
        None => ends.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind that is on the border exactly where that is, apart from segments that fall eastwards.
    const BORDER: Border = Border::Relation;

    fn ring(border: Border, points: &[Coord]) -> Polygon {
        let n = points.len();
        Polygon::new(border, (0..n).map(|i| Segment { a: points[i], b: points[(i + 1) % n] }))
    }

    /// A small generator with a fixed seed.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: i32) -> i32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) % n as u64) as i32
        }
        fn coord(&mut self, n: i32) -> Coord {
            Coord { lat: self.below(n), lon: self.below(n) }
        }
    }

    /// Counts crossings over all segments; the point in parts of a step.
    fn naive(segments: &[Segment], lat: i64, lon: i64, scale: i64) -> Location {
        let mut inside = false;
        for s in segments {
            let [ay, ax, by, bx] = [s.a.lat, s.a.lon, s.b.lat, s.b.lon].map(|v| i64::from(v) * scale);
            let cross = (bx - ax) * (lat - ay) - (by - ay) * (lon - ax);
            let within = lat >= ay.min(by) && lat <= ay.max(by) && lon >= ax.min(bx) && lon <= ax.max(bx);
            if cross == 0 && within {
                return Location::Border;
            }
            if (ay > lat) != (by > lat) && (cross > 0) == (by > ay) {
                inside = !inside;
            }
        }
        if inside { Location::Inside } else { Location::Outside }
    }

    fn random_polygon(r: &mut Random, size: i32) -> Polygon {
        let mut segments = Vec::new();
        for _ in 0..1 + r.below(3) {
            let ring: Vec<Coord> = (0..3 + r.below(60)).map(|_| r.coord(size)).collect();
            segments.extend((0..ring.len()).map(|i| Segment { a: ring[i], b: ring[(i + 1) % ring.len()] }));
        }
        Polygon::new(BORDER, segments)
    }

    /// A ring around the middle of a grid of 13, with a hole: no border crosses another.
    fn random_star(r: &mut Random) -> Polygon {
        let rays = [(6, 0), (6, 3), (6, 6), (3, 6), (0, 6), (-3, 6), (-6, 6), (-6, 3)];
        let rays: Vec<(i32, i32)> = rays.into_iter().chain(rays.into_iter().map(|(y, x)| (-y, -x))).collect();
        let mut segments = Vec::new();
        for (least, most) in [(4, 6), (1, 3)] {
            let ring: Vec<Coord> = rays
                .iter()
                .map(|&(y, x)| (least + r.below(most - least + 1), y, x))
                .map(|(k, y, x)| Coord { lat: 6 + y * k / 6, lon: 6 + x * k / 6 })
                .collect();
            segments.extend((0..ring.len()).map(|i| Segment { a: ring[i], b: ring[(i + 1) % ring.len()] }));
        }
        Polygon::new(BORDER, segments)
    }

    #[test]
    fn locating_agrees_with_counting_all_crossings() {
        let mut r = Random(1);
        for _ in 0..60 {
            let polygon = random_polygon(&mut r, 30);
            for lat in -1..31 {
                for lon in -1..31 {
                    let expected = naive(polygon.segments(), i64::from(lat), i64::from(lon), 1);
                    assert_eq!(polygon.locate_exactly(Coord { lat, lon }), expected);
                }
            }
        }
    }

    #[test]
    fn boxes_agree_with_every_point_in_them() {
        let mut r = Random(2);
        let mut seen = [0; 3];
        for _ in 0..200 {
            let polygon = random_polygon(&mut r, 40);
            for _ in 0..20 {
                let (south, west) = (r.below(40), r.below(40));
                let area = BoundingBox { south, west, north: south + r.below(6), east: west + r.below(6) };
                let relation = polygon.relate(&area);
                seen[relation as usize] += 1;
                let mut all = Vec::new();
                for lat in 2 * area.south..=2 * area.north {
                    for lon in 2 * area.west..=2 * area.east {
                        all.push(naive(polygon.segments(), i64::from(lat), i64::from(lon), 2));
                    }
                }
                match relation {
                    Relation::Inside => assert!(all.iter().all(|&l| l == Location::Inside)),
                    Relation::Outside => assert!(all.iter().all(|&l| l == Location::Outside)),
                    Relation::Mixed => {
                        let wider = BoundingBox {
                            south: area.south - 1,
                            west: area.west - 1,
                            north: area.north + 1,
                            east: area.east + 1,
                        };
                        assert!(polygon.segments().iter().any(|&s| segment_meets_box(s, &wider)));
                    }
                }
            }
        }
        assert!(seen.iter().all(|&n| n > 10), "{seen:?}");
    }

    #[test]
    fn lines_agree_with_a_fine_walk_along_them() {
        let mut r = Random(3);
        let (mut met, mut missed) = (0, 0);
        for _ in 0..40 {
            let polygon = random_star(&mut r);
            for _ in 0..20 {
                let (a, b) = (r.coord(14), r.coord(14));
                // Between crossings with lines through points of a small grid there is always one of these steps.
                let steps = 2048;
                let (dy, dx) = (i64::from(b.lat - a.lat), i64::from(b.lon - a.lon));
                let walked = (0..=steps).any(|k| {
                    let (lat, lon) = (i64::from(a.lat) * steps + dy * k, i64::from(a.lon) * steps + dx * k);
                    naive(polygon.segments(), lat, lon, steps) == Location::Inside
                });
                assert_eq!(polygon.meets_line(&[a, b]), walked, "{a:?} {b:?} {:?}", polygon.segments());
                if walked { met += 1 } else { missed += 1 }
            }
        }
        assert!(met > 20 && missed > 20, "{met} {missed}");
    }

    #[test]
    fn lines_on_the_border_do_not_meet() {
        let c = |lat, lon| Coord { lat, lon };
        let square = ring(BORDER, &[c(0, 0), c(0, 10), c(10, 10), c(10, 0)]);
        assert!(!square.meets_line(&[c(0, -5), c(0, 15)]), "along an edge");
        assert!(!square.meets_line(&[c(-5, 5), c(0, 5)]), "up to an edge");
        assert!(!square.meets_line(&[c(-5, 5), c(5, -5)]), "past a corner");
        assert!(square.meets_line(&[c(0, 0), c(10, 10)]), "between corners");
        assert!(square.meets_line(&[c(0, 5), c(10, 5)]), "between edges");
        assert!(square.meets_line(&[c(3, 3), c(4, 4)]), "inside");
        assert!(!square.meets_line(&[c(-5, 5), Coord::MISSING, c(15, 5)]), "a missing node breaks the line");
    }

    #[test]
    fn common_edges_and_nothing_at_all() {
        let c = |lat, lon| Coord { lat, lon };
        let (left, right) = ([c(0, 0), c(0, 10), c(10, 10), c(10, 0)], [c(0, 10), c(0, 20), c(10, 20), c(10, 10)]);
        let both = Polygon::new(
            BORDER,
            [left, right].iter().flat_map(|ring| (0..4).map(|i| Segment { a: ring[i], b: ring[(i + 1) % 4] })),
        );
        assert_eq!(both.locate(c(5, 10)), Location::Border, "the common edge");
        assert_eq!([9, 11].map(|lon| both.locate(c(5, lon))), [Location::Inside; 2]);
        assert!(!both.meets_line(&[c(0, 10), c(10, 10)]), "along the common edge");
        assert_eq!(Polygon::new(BORDER, [Segment { a: c(1, 1), b: c(1, 1) }]).locate(c(1, 1)), Location::Border);
        let nothing = Polygon::new(BORDER, []);
        assert_eq!(nothing.locate(c(0, 0)), Location::Outside);
        assert_eq!(nothing.relate(&BoundingBox { south: -1, west: -1, north: 1, east: 1 }), Relation::Outside);
        assert!(!nothing.meets_line(&[c(0, 0), c(1, 1)]));
    }

    /// As observed in the reference: which nodes beside a sloping segment are on it.
    #[test]
    fn nearly_on_the_border() {
        let c = |lat, lon| Coord { lat, lon };
        // What is above a segment that falls eastwards and below one that rises; at longitude 10 the first is at 13⅓,
        // the second at 6⅔ steps.
        let (falls, rises) = ([c(20, 0), c(0, 30), c(90, 30)], [c(0, 0), c(20, 30), c(-90, 30)]);
        for (border, expected_falling, expected_rising) in [
            (Border::Relation, [false, true, true, true], [true, true, false, false]),
            (Border::ClosedWay, [false, true, true, true], [true, true, true, false]),
        ] {
            let at = |points: &[Coord], lats: [i32; 4]| lats.map(|lat| ring(border, points).covers(c(lat, 10)));
            assert_eq!(at(&falls, [12, 13, 14, 15]), expected_falling, "{border:?}");
            assert_eq!(at(&rises, [5, 6, 7, 8]), expected_rising, "{border:?}");
        }
        // At longitude 5 the first is at 16⅔.
        assert_eq!(ring(Border::Relation, &falls).locate(c(16, 5)), Location::Border);
        assert_eq!(ring(Border::ClosedWay, &falls).locate(c(16, 5)), Location::Outside);
    }

    /// As observed in the reference, which has some closed ways among the ways in themselves and others not.
    #[test]
    fn closed_ways_in_themselves() {
        let ways: [(bool, &[(i32, i32)]); 4] = [
            (
                true,
                &[
                    (-556_880_895, -620_739_020),
                    (-556_881_226, -620_740_064),
                    (-556_881_458, -620_740_229),
                    (-556_882_392, -620_738_222),
                ],
            ),
            (
                true,
                &[
                    (582_778_861, 1_435_442_262),
                    (582_779_145, 1_435_440_325),
                    (582_778_515, 1_435_439_714),
                    (582_776_232, 1_435_440_730),
                    (582_776_210, 1_435_440_830),
                    (582_777_153, 1_435_442_573),
                ],
            ),
            (
                false,
                &[
                    (-538_855_479, 1_309_204_871),
                    (-538_856_137, 1_309_203_094),
                    (-538_857_126, 1_309_203_211),
                    (-538_857_593, 1_309_203_733),
                    (-538_857_675, 1_309_204_505),
                ],
            ),
            (
                false,
                &[
                    (550_900_939, -670_443_654),
                    (550_902_391, -670_444_089),
                    (550_905_003, -670_448_096),
                    (550_905_005, -670_448_136),
                ],
            ),
        ];
        for (expected, points) in ways {
            let mut line: Vec<Coord> = points.iter().map(|&(lat, lon)| Coord { lat, lon }).collect();
            let [way, relation, drawn] =
                [Border::ClosedWay, Border::Relation, Border::Drawn].map(|border| ring(border, &line));
            line.push(line[0]);
            assert_eq!(way.meets_line(&line), expected);
            assert!(!relation.meets_line(&line));
            assert!(drawn.meets_line(&line));
        }
    }
}
