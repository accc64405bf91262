//! Point in polygon, line in polygon and box in polygon over any number of segments, exact and in about log n steps.
//!
//! A polygon is a set of segments under the even-odd rule. It does not matter which ring is an outer or an inner one,
//! or in which direction and order the rings come. Segments keep their input order, so that neighbours in a way stay
//! neighbours, and form the leaves of a tree of boxes with eight children per node. A node also stores the latitudes of
//! the two ends of its segments, taken as one chain. If a chain is wholly to the east of a point, it is crossed an odd
//! number of times exactly if its ends are on different sides of the point's latitude.

mod search;

use std::ops::Range;

use super::segment::{LineSide, Segment, on_segment, segment_meets_box, segments_meet, side};
use super::tiles::{GridTile, any_piece, is_whole, within};
use crate::{BoundingBox, Coord};
use search::PointLocation;

/// The location of a point relative to a polygon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PolygonLocation {
    Inside,
    Border,
    Outside,
}

/// The relation of a whole box to a polygon.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BoxRelation {
    /// Every point of the box is inside.
    Inside,
    /// No point of the box is inside or on the border.
    Outside,
    /// The border runs through or along the box.
    Mixed,
}

const FANOUT: usize = 8;
/// Maximum number of loose ends that a node tracks while the tree is built.
const MAX_ENDS: usize = 2 * FANOUT;
/// Number of successive segments of a line that are near each other, so that one descent finds the leaves for all.
const TOGETHER: usize = 16;
/// Maximum number of leaves that are kept for such segments; if there are more, each segment descends by itself.
const MAX_LEAVES: usize = 64;

/// The rule for which points are on a polygon's border and which lines meet the polygon. The reference uses three
/// rules. They were determined by testing nodes within a step (1e-7 degrees) of the border, and lines along it. On a
/// meridian all three are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BorderRule {
    /// Areas made from relations: segments are cut into tiles (as in tiles.rs), which moves them by up to a step and a
    /// bit. A point is on a piece if the piece's latitude there, cut off towards its end, is the point's. A line is cut
    /// in the same way and meets the area if it has a node inside, if it has two nodes only and the middle of a piece
    /// (rounded as for closed ways) is inside, or if it crosses a piece in a way that the reference sees.
    Relation,
    /// Polygons of `(poly)`: the rule of `Relation`, and a line that runs along the border meets the area.
    Drawn,
    /// Closed ways: a point is on a segment if the segment's latitude there, rounded (halves up), is the point's. A
    /// line is cut where it meets the border, and meets the area if the middle of a piece is inside; the middle's
    /// latitude is rounded down, its longitude towards zero. So of lines along the border some meet the area: most
    /// closed ways meet themselves.
    ClosedWay,
}

impl BorderRule {
    /// Returns whether segments are cut into tiles.
    fn has_tiles(self) -> bool {
        self != BorderRule::ClosedWay
    }
}

/// A polygon: any number of rings under the even-odd rule.
#[derive(Debug, Clone)]
pub struct Polygon {
    border: BorderRule,
    segments: Box<[Segment]>,
    /// The tree, leaves' parents first; `levels[k]..levels[k + 1]` are the nodes of level k.
    nodes: Box<[SegmentTreeNode]>,
    levels: Vec<usize>,
    bbox: BoundingBox,
}

#[derive(Debug, Clone, Copy)]
struct SegmentTreeNode {
    bbox: BoundingBox,
    /// Latitudes of the two ends of the chain that the node's segments form; equal for a closed chain; `low > high` if
    /// they form several chains.
    low: i32,
    high: i32,
}

impl Polygon {
    /// Creates the polygon of these segments. If a segment occurs several times, in either direction, pairs of it
    /// cancel out for what is inside, but points on them are still on the border. A point on a segment of length zero
    /// is also on the border.
    pub fn new(border: BorderRule, segments: impl IntoIterator<Item = Segment>) -> Polygon {
        let segments: Box<[Segment]> = segments.into_iter().collect();
        let (nodes, levels) = build_tree(&segments);
        let bbox = nodes.last().map_or(BoundingBox::EMPTY, |n| n.bbox);
        Polygon { border, segments, nodes: nodes.into_boxed_slice(), levels, bbox }
    }

    /// Returns the bounding box; empty for a polygon without segments.
    pub fn bbox(&self) -> &BoundingBox {
        &self.bbox
    }

    /// Returns the segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns whether the polygon has no segments.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Bytes of memory that it takes, for bounding caches.
    pub fn weight(&self) -> usize {
        size_of_val(&*self.segments) + size_of_val(&*self.nodes) + size_of::<Self>()
    }

    /// Returns the location of the point.
    pub fn locate(&self, c: Coord) -> PolygonLocation {
        if c.is_missing() || !self.bbox.contains(c) {
            return PolygonLocation::Outside;
        }
        self.search(c, Some(self.border))
    }

    /// Returns the location of the point, without a tolerance for the border.
    pub fn locate_exactly(&self, c: Coord) -> PolygonLocation {
        self.search(c, None)
    }

    /// Returns whether the point is inside or on the border.
    pub fn covers(&self, c: Coord) -> bool {
        self.locate(c) != PolygonLocation::Outside
    }

    /// Returns whether a relation with a node at this point is in the polygon. A point inside counts. A point on the
    /// border of an area made from a relation counts if it is on a segment that does not begin there, as in the
    /// reference. On the border of a closed way every point counts, on that of a drawn polygon none.
    pub fn counts_for_relations(&self, c: Coord) -> bool {
        match (self.locate(c), self.border) {
            (PolygonLocation::Inside, _) | (PolygonLocation::Border, BorderRule::ClosedWay) => true,
            (PolygonLocation::Outside, _) | (PolygonLocation::Border, BorderRule::Drawn) => false,
            (PolygonLocation::Border, BorderRule::Relation) => {
                let at = BoundingBox { south: c.lat - 1, west: c.lon - 1, north: c.lat + 1, east: c.lon + 1 };
                let tile = Some(GridTile::of(c));
                self.any_segment(&at, &mut |s| {
                    s.a != c && PointLocation { at: c, border: Some(self.border), tile, inside: false }.meets(s)
                })
            }
        }
    }

    /// Returns the relation of the box to the polygon: one test for all elements in the box. The box may cross the
    /// antimeridian.
    pub fn relate(&self, area: &BoundingBox) -> BoxRelation {
        if area.is_empty() {
            return BoxRelation::Outside;
        }
        let (parts, n) = area.split();
        let mut relations = parts[..n].iter().map(|part| {
            let wider = widen_by_step(part);
            if self.any_segment(&wider, &mut |s| segment_meets_box(s, &wider)) {
                return BoxRelation::Mixed;
            }
            match self.locate(Coord { lat: part.south, lon: part.west }) {
                PolygonLocation::Outside => BoxRelation::Outside,
                _ => BoxRelation::Inside,
            }
        });
        let first = relations.next().unwrap_or(BoxRelation::Outside);
        if relations.all(|r| r == first) { first } else { BoxRelation::Mixed }
    }

    /// Returns whether a polyline meets the polygon. A line that only touches the border does not meet it; for a line
    /// along the border it depends on the kind of [`BorderRule`]. A missing node breaks the line; a part with a single
    /// node meets the polygon if that node is inside. (A line through the crossing of two borders counts as meeting.)
    pub fn meets_line(&self, line: &[Coord]) -> bool {
        let mut bbox = BoundingBox::EMPTY;
        line.iter().for_each(|&c| bbox.extend(c));
        if bbox.is_empty() || !bbox.intersects(&self.bbox) {
            return false;
        }
        let is_inside = |run: &[Coord]| matches!(run, [c] if self.locate(*c) == PolygonLocation::Inside);
        if line.split(|c| c.is_missing()).any(is_inside) {
            return true;
        }
        // Location of the last segment's end, if it is already known.
        let mut known: Option<PolygonLocation> = None;
        let mut leaves = Vec::new();
        for from in (0..line.len() - 1).step_by(TOGETHER) {
            let part = &line[from..line.len().min(from + TOGETHER + 1)];
            let near = if part.len() > 2 && self.find_leaves(part, &mut leaves) { Some(&*leaves) } else { None };
            for w in part.windows(2) {
                let s = Segment { a: w[0], b: w[1] };
                if s.a.is_missing() || s.b.is_missing() {
                    known = None;
                    continue;
                }
                let whole = LineSegment { ends: [s.a, s.b], alone: line.len() == 2, near };
                match self.pass(s, whole, known) {
                    SegmentPass::Inside => return true,
                    SegmentPass::Outside => known = Some(PolygonLocation::Outside),
                    SegmentPass::Touching => known = None,
                }
            }
        }
        false
    }

    /// Finds the leaves that may have a segment within a step of a part of a line. Returns false if there are too many.
    fn find_leaves(&self, part: &[Coord], leaves: &mut Vec<usize>) -> bool {
        let mut bbox = BoundingBox::EMPTY;
        part.iter().for_each(|&c| bbox.extend(c));
        leaves.clear();
        if bbox.is_empty() {
            return true;
        }
        let too_many = self.any_leaf(&widen_by_step(&bbox), &mut |leaf| {
            leaves.push(leaf);
            leaves.len() > MAX_LEAVES
        });
        !too_many
    }

    /// Returns how a line's segment passes the polygon. `known` is the location of its start, if it is already known.
    fn pass(&self, s: Segment, whole: LineSegment<'_>, known: Option<PolygonLocation>) -> SegmentPass {
        if !self.border.has_tiles() {
            return self.pass_cut_at_border(s, whole, known);
        }
        if is_whole(s) {
            return self.pass_in_tile(s, whole, GridTile::of(s.a), known);
        }
        let meets = any_piece(s, &self.bbox, &mut |piece, tile| {
            matches!(self.pass_in_tile(piece, whole, tile, None), SegmentPass::Inside)
        });
        if meets { SegmentPass::Inside } else { SegmentPass::Touching }
    }

    /// Returns how `s`, the piece of a line's segment in `tile`, passes the polygon. `known` is the location of its
    /// start, if it is already known.
    fn pass_in_tile(
        &self,
        s: Segment,
        whole: LineSegment<'_>,
        tile: GridTile,
        known: Option<PolygonLocation>,
    ) -> SegmentPass {
        let wider = widen_by_step(&s.bbox());
        let (mut near, mut along, mut of_border) = (false, false, false);
        let crossed = self.any_segment_near(whole.near, &wider, &mut |t| {
            near = true;
            let t = if is_whole(t) {
                of_border |= t == s || t == Segment { a: s.b, b: s.a };
                Some(t)
            } else {
                within(t, tile)
            };
            let Some(t) = t.filter(|&t| segments_meet(s, t)) else { return false };
            along |= [t.a, t.b].into_iter().all(|end| side(s.a, s.b, end) == LineSide::On);
            crossing_counts(s, t)
        });
        if crossed {
            return SegmentPass::Inside;
        }
        if !near {
            return match known.unwrap_or_else(|| self.locate(s.a)) {
                PolygonLocation::Outside => SegmentPass::Outside,
                _ => SegmentPass::Inside,
            };
        }
        let drawn = self.border == BorderRule::Drawn;
        // A segment of the border itself: its ends are on the border, so they need no search.
        if of_border {
            return if drawn { SegmentPass::Inside } else { SegmentPass::Touching };
        }
        let mut off_border = true;
        for end in [s.a, s.b].into_iter().filter(|end| whole.ends.contains(end)) {
            match self.locate(end) {
                PolygonLocation::Inside => return SegmentPass::Inside,
                PolygonLocation::Border => off_border = false,
                PolygonLocation::Outside => {}
            }
        }
        let counts = along && drawn
            || !along
                && match self.locate(middle(s.a, s.b)) {
                    PolygonLocation::Inside => whole.alone || off_border,
                    PolygonLocation::Border => drawn,
                    PolygonLocation::Outside => false,
                };
        if counts { SegmentPass::Inside } else { SegmentPass::Touching }
    }

    /// Returns how a line's segment passes the polygon. Cuts it where it meets the border and tests each piece.
    fn pass_cut_at_border(&self, s: Segment, whole: LineSegment<'_>, known: Option<PolygonLocation>) -> SegmentPass {
        let mut cuts: Vec<Coord> = Vec::new();
        let mut touched = false;
        // Ends so near to a crossing that the piece between them has no length, once the crossing is rounded.
        let mut ends: Vec<Coord> = Vec::new();
        self.any_segment_near(whole.near, &s.bbox(), &mut |t| {
            if segments_meet(s, t) {
                touched = true;
                let before = cuts.len();
                cuts.extend([t.a, t.b].into_iter().filter(|&c| on_segment(s, c)));
                if cuts.len() == before && !on_segment(t, s.a) && !on_segment(t, s.b) {
                    let crossing = crossing(s, t);
                    ends.extend(crossing.filter(|&c| c == s.a || c == s.b));
                    cuts.extend(crossing);
                }
            }
            false
        });
        if !touched {
            return match known.unwrap_or_else(|| self.locate_exactly(s.a)) {
                PolygonLocation::Outside => SegmentPass::Outside,
                _ => SegmentPass::Inside,
            };
        }
        // Between two neighbouring cuts the line is on one side or on the border.
        cuts.extend([s.a, s.b]);
        cuts.sort_unstable_by_key(|&c| along(s, c));
        cuts.dedup();
        let mut middles = cuts.windows(2).map(|w| middle(w[0], w[1])).chain(ends);
        match middles.any(|c| self.locate(c) == PolygonLocation::Inside) {
            true => SegmentPass::Inside,
            false => SegmentPass::Touching,
        }
    }

    /// Returns the location of a point; without a `border`, there is no tolerance.
    fn search(&self, c: Coord, border: Option<BorderRule>) -> PolygonLocation {
        let tile = self.border.has_tiles().then(|| GridTile::of(c));
        let mut search = PointLocation { at: c, border, tile, inside: false };
        let Some(top) = self.levels.len().checked_sub(2) else { return PolygonLocation::Outside };
        if self.locate_below(top, 0, &mut search) {
            return PolygonLocation::Border;
        }
        if search.inside { PolygonLocation::Inside } else { PolygonLocation::Outside }
    }

    /// Counts the crossings of the way east under a node; true if the point is on a segment.
    fn locate_below(&self, level: usize, index: usize, search: &mut PointLocation) -> bool {
        let Some(node) = self.nodes.get(self.levels[level] + index) else { return false };
        let Coord { lat, lon } = search.at;
        let b = &node.bbox;
        if lat < b.south || lat > b.north || lon > b.east {
            return false;
        }
        if lon < b.west && node.low <= node.high {
            search.inside ^= (node.low > lat) != (node.high > lat);
            return false;
        }
        if level > 0 {
            return self.children(level, index).any(|i| self.locate_below(level - 1, i, search));
        }
        self.segments_of(index).iter().any(|&s| search.meets(s))
    }

    /// Returns whether `test` is true for a segment whose box intersects `area`.
    pub fn any_segment(&self, area: &BoundingBox, test: &mut dyn FnMut(Segment) -> bool) -> bool {
        self.any_leaf(area, &mut |leaf| self.any_segment_of(leaf, area, test))
    }

    /// The same, if the leaves that may have such segments are known.
    fn any_segment_near(
        &self,
        leaves: Option<&[usize]>,
        area: &BoundingBox,
        test: &mut dyn FnMut(Segment) -> bool,
    ) -> bool {
        let Some(leaves) = leaves else { return self.any_segment(area, test) };
        let is_near = |leaf: usize| self.nodes[leaf].bbox.intersects(area);
        leaves.iter().any(|&leaf| is_near(leaf) && self.any_segment_of(leaf, area, test))
    }

    fn any_segment_of(&self, leaf: usize, area: &BoundingBox, test: &mut dyn FnMut(Segment) -> bool) -> bool {
        self.segments_of(leaf).iter().any(|&s| s.bbox().intersects(area) && test(s))
    }

    /// Returns whether `test` is true for the index of a node of level 0 whose box intersects `area`.
    fn any_leaf(&self, area: &BoundingBox, test: &mut dyn FnMut(usize) -> bool) -> bool {
        match self.levels.len().checked_sub(2) {
            Some(top) => self.any_leaf_below(top, 0, area, test),
            None => false,
        }
    }

    fn any_leaf_below(
        &self,
        level: usize,
        index: usize,
        area: &BoundingBox,
        test: &mut dyn FnMut(usize) -> bool,
    ) -> bool {
        let Some(node) = self.nodes.get(self.levels[level] + index) else { return false };
        if !node.bbox.intersects(area) {
            return false;
        }
        match level {
            0 => test(index),
            _ => self.children(level, index).any(|i| self.any_leaf_below(level - 1, i, area, test)),
        }
    }

    /// Returns the children of a node, as numbered on the level below; not for level 0.
    #[inline]
    fn children(&self, level: usize, index: usize) -> Range<usize> {
        let count = self.levels[level] - self.levels[level - 1];
        index * FANOUT..((index + 1) * FANOUT).min(count)
    }

    /// Returns the segments below a node of level 0.
    #[inline]
    fn segments_of(&self, index: usize) -> &[Segment] {
        &self.segments[index * FANOUT..((index + 1) * FANOUT).min(self.segments.len())]
    }
}

/// The segment of a line to which a tested piece belongs.
#[derive(Clone, Copy)]
struct LineSegment<'a> {
    ends: [Coord; 2],
    /// The line has no other: the reference looks at the middles of such lines' pieces only.
    alone: bool,
    /// The leaves that may have segments near it, if they are known.
    near: Option<&'a [usize]>,
}

enum SegmentPass {
    Inside,
    Outside,
    Touching,
}

/// Returns the box, a step wider on each side: a point less than a step from the border can count as on it.
fn widen_by_step(b: &BoundingBox) -> BoundingBox {
    BoundingBox {
        south: b.south.saturating_sub(1),
        west: b.west.saturating_sub(1),
        north: b.north.saturating_add(1),
        east: b.east.saturating_add(1),
    }
}

/// Returns how far along `s` a point on it is, for sorting.
fn along(s: Segment, c: Coord) -> (i64, i64) {
    let step = |a: i32, b: i32, c: i32| if a <= b { i64::from(c) - i64::from(a) } else { i64::from(a) - i64::from(c) };
    (step(s.a.lat, s.b.lat, c.lat), step(s.a.lon, s.b.lon, c.lon))
}

/// Returns the middle between two points, its latitude rounded down and its longitude towards zero.
fn middle(a: Coord, b: Coord) -> Coord {
    let sum = |a: i32, b: i32| i64::from(a) + i64::from(b);
    Coord { lat: sum(a.lat, b.lat).div_euclid(2) as i32, lon: (sum(a.lon, b.lon) / 2) as i32 }
}

/// Returns whether the reference recognizes that `line` crosses `border`, which it meets. Except on meridians, the
/// reference misses the crossing if the border's western end is south of the line's. It also misses crossings at the
/// line's ends or along it. A border that ends on the line counts as crossing, except on meridians.
///
/// ```text
///     border     line         line     border
///           \   /                 \   /
///            \ /                   \ /
///             X                     X
///            / \                   / \
///           /   \                 /   \
///           seen                not seen
/// ```
fn crossing_counts(line: Segment, border: Segment) -> bool {
    let western_lat = |s: Segment| if s.a.lon <= s.b.lon { s.a.lat } else { s.b.lat };
    let on_meridian = line.a.lon == line.b.lon || border.a.lon == border.b.lon;
    let seen = on_meridian || western_lat(border) >= western_lat(line);
    let ends_on_line = [border.a, border.b].into_iter().filter(|&end| on_segment(line, end)).count();
    let crosses = ends_on_line == 0 || (ends_on_line == 1 && !on_meridian);
    seen && crosses && !on_segment(border, line.a) && !on_segment(border, line.b)
}

/// Returns the crossing of two segments, rounded to a step; `None` for parallel segments.
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

/// The points where an odd number of a node's segments end; `None` if there are too many to track.
type Ends = Option<Vec<Coord>>;

/// Builds the nodes of a tree over segments, and the starts of its levels.
fn build_tree(segments: &[Segment]) -> (Vec<SegmentTreeNode>, Vec<usize>) {
    if segments.is_empty() {
        return (Vec::new(), Vec::new());
    }
    // The ends are those of the nodes of the last level so far.
    let (mut nodes, mut ends): (Vec<SegmentTreeNode>, Vec<Ends>) = segments.chunks(FANOUT).map(leaf).unzip();
    let mut levels = vec![0, nodes.len()];
    while ends.len() > 1 {
        let below = levels[levels.len() - 2];
        let level = nodes[below..].chunks(FANOUT).zip(ends.chunks(FANOUT));
        let (parents, their_ends): (Vec<SegmentTreeNode>, Vec<Ends>) =
            level.map(|(nodes, ends)| parent(nodes, ends)).unzip();
        nodes.extend(parents);
        levels.push(nodes.len());
        ends = their_ends;
    }
    (nodes, levels)
}

/// Creates the node over some segments.
fn leaf(segments: &[Segment]) -> (SegmentTreeNode, Ends) {
    let mut bbox = BoundingBox::EMPTY;
    let mut ends = Vec::new();
    for s in segments {
        bbox.union(&s.bbox());
        toggle(&mut ends, s.a);
        toggle(&mut ends, s.b);
    }
    (SegmentTreeNode::new(bbox, Some(&ends)), Some(ends))
}

/// Creates the node over some nodes, which have these ends.
fn parent(children: &[SegmentTreeNode], ends: &[Ends]) -> (SegmentTreeNode, Ends) {
    let mut bbox = BoundingBox::EMPTY;
    children.iter().for_each(|child| bbox.union(&child.bbox));
    let together = ends.iter().try_fold(Vec::new(), |mut all, more| {
        more.as_ref()?.iter().for_each(|&c| toggle(&mut all, c));
        Some(all)
    });
    let together = together.filter(|all| all.len() <= MAX_ENDS);
    (SegmentTreeNode::new(bbox, together.as_ref()), together)
}

impl SegmentTreeNode {
    fn new(bbox: BoundingBox, ends: Option<&Vec<Coord>>) -> SegmentTreeNode {
        let (low, high) = match ends.map(Vec::as_slice) {
            Some([]) => (bbox.south, bbox.south),
            Some([a, b]) => (a.lat.min(b.lat), a.lat.max(b.lat)),
            _ => (i32::MAX, i32::MIN),
        };
        SegmentTreeNode { bbox, low, high }
    }
}

/// Adds a point, or removes it if it is already present.
fn toggle(ends: &mut Vec<Coord>, c: Coord) {
    match ends.iter().position(|&e| e == c) {
        Some(i) => {
            ends.swap_remove(i);
        }
        None => ends.push(c),
    }
}

#[cfg(test)]
mod tests;
