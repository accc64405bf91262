//! The filter `(around:...)`: elements within a distance of points, of a line or of the elements of a set.

use std::sync::Arc;

use super::positions::to_coord;
use crate::plan::{BoxTree, Placement, SearchRegion};
use crate::quadtile::has_place;
use crate::run::RunContext;
use crate::run::topology::{MemberRole, Topology};
use crate::set::ElementSet;
use crate::sorted;
use crate::syntax::QlPoint;
use terrapin_budget as budget;
use terrapin_osm::ElementType::{Node, Way};
use terrapin_osm::geometry::{LatLon, around_box, metres, metres_between_segments, metres_to_segment};
use terrapin_osm::{BoundingBox, Coord};

/// The maximum number of sources for which pages are looked up one by one. If there are more, pages are looked up for
/// all sources together.
const EACH: usize = 64;

/// An upper bound of the error of a computed distance, in metres.
const SURE: f64 = 1.0;

/// The region within a distance of some points and segments.
struct AroundSources {
    radius: f64,
    /// The segments. A point is a segment of length 0.
    sources: Vec<(Coord, Coord)>,
    /// The index of the source of each box in the tree. A source whose box crosses the antimeridian has two boxes.
    owners: Vec<u32>,
    tree: BoxTree,
    cover: Vec<BoundingBox>,
}

impl AroundSources {
    fn new(sources: Vec<(Coord, Coord)>, radius: f64) -> AroundSources {
        let mut boxes = Vec::with_capacity(sources.len());
        let mut owners = Vec::with_capacity(sources.len());
        for (i, &(a, b)) in sources.iter().enumerate() {
            let (parts, n) = near(a, b, radius).split();
            boxes.extend_from_slice(&parts[..n]);
            owners.extend(std::iter::repeat_n(i as u32, n));
        }
        let tree = BoxTree::new(boxes);
        let cover = match tree.boxes().len() {
            0 => Vec::new(),
            1..=EACH => tree.boxes().to_vec(),
            _ => vec![tree.bounds()],
        };
        AroundSources { radius, sources, owners, tree, cover }
    }

    /// Returns whether `holds` is true for a source near a box.
    fn any(&self, area: &BoundingBox, holds: impl Fn(Coord, Coord) -> bool) -> bool {
        self.tree.any(area, |i| {
            let source = self.owners.get(i).and_then(|&owner| self.sources.get(owner as usize));
            source.is_some_and(|&(a, b)| holds(a, b))
        })
    }
}

/// Returns a box that contains all points within `radius` of a segment of a great circle.
fn near(a: Coord, b: Coord, radius: f64) -> BoundingBox {
    if radius == 0.0 && (i64::from(a.lon) - i64::from(b.lon)).abs() <= 1_800_000_000 {
        // Only the segment itself: points whose distance is rounded to 0 are not included.
        let mut exact = BoundingBox::EMPTY;
        exact.extend(a);
        exact.extend(b);
        return exact;
    }
    let mut all = around_box(a.into(), radius);
    if a == b {
        return all;
    }
    let other = around_box(b.into(), radius);
    let apart = (i64::from(a.lon) - i64::from(b.lon)).abs();
    if all.west > all.east || other.west > other.east || apart > 900_000_000 {
        // Across the antimeridian, or very long: use every longitude.
        all = BoundingBox { west: -1_800_000_000, east: 1_800_000_000, ..all };
    }
    all.union(&other);
    // A great circle bulges towards the pole, by about Δlon²/8·sin lat·cos lat.
    let wide = if apart > 900_000_000 { std::f64::consts::PI } else { apart as f64 * 1e-7_f64.to_radians() };
    let bulge = (wide * wide / 8.0).to_degrees() * 0.6 * 1e7 + 1.0;
    all.south = (f64::from(all.south) - bulge).max(-9e8) as i32;
    all.north = (f64::from(all.north) + bulge).min(9e8) as i32;
    all
}

impl SearchRegion for AroundSources {
    fn cover(&self) -> &[BoundingBox] {
        &self.cover
    }

    fn placement(&self, of: &BoundingBox) -> Placement {
        if !of.is_empty() && self.tree.any(of, |_| true) { Placement::Unsure } else { Placement::Outside }
    }

    /// Returns whether a source is near enough to all four corners of a box: then it is near enough to the whole box.
    fn has_all_nodes(&self, of: &BoundingBox) -> bool {
        let wide = i64::from(of.east) - i64::from(of.west);
        if of.is_empty() || !(0..=900_000_000).contains(&wide) || self.radius < 10.0 * SURE {
            return false;
        }
        self.tree.any(of, |i| {
            let near = self.tree.boxes().get(i);
            let source = self.owners.get(i).and_then(|&owner| self.sources.get(owner as usize));
            near.is_some_and(|n| n.south <= of.south && n.north >= of.north && n.west <= of.west && n.east >= of.east)
                && source.is_some_and(|&(a, _)| {
                    let corner = |lat, lon| metres(Coord { lat, lon }.into(), a.into()) <= self.radius - SURE;
                    corner(of.south, of.west)
                        && corner(of.south, of.east)
                        && corner(of.north, of.west)
                        && corner(of.north, of.east)
                })
        })
    }

    fn has_node(&self, at: Coord) -> bool {
        let place = LatLon::from(at);
        let area = BoundingBox { south: at.lat, west: at.lon, north: at.lat, east: at.lon };
        self.any(&area, |a, b| {
            let distance = if a == b { metres(place, a.into()) } else { metres_to_segment(place, a.into(), b.into()) };
            distance <= self.radius
        })
    }

    fn has_way(&self, coords: &[Coord]) -> bool {
        if let [one] = coords {
            return !one.is_missing() && self.has_node(*one);
        }
        let mut whole = BoundingBox::EMPTY;
        coords.iter().for_each(|&c| whole.extend(c));
        if whole.is_empty() || !self.tree.any(&whole, |_| true) {
            return false;
        }
        // A single node between missing ones can also be near.
        let mut alone =
            coords.split(|c| c.is_missing()).filter_map(|run| if let [one] = run { Some(*one) } else { None });
        if alone.any(|one| self.has_node(one)) {
            return true;
        }
        coords.windows(2).any(|pair| match *pair {
            [c, d] if !c.is_missing() && !d.is_missing() => {
                let (from, to) = (LatLon::from(c), LatLon::from(d));
                let mut area = BoundingBox::EMPTY;
                area.extend(c);
                area.extend(d);
                self.any(&area, |a, b| {
                    let distance = if a == b {
                        metres_to_segment(a.into(), from, to)
                    } else {
                        metres_between_segments(a.into(), b.into(), from, to)
                    };
                    distance <= self.radius
                })
            }
            _ => false,
        })
    }
}

/// Returns the region around a point, or around a line of several points.
pub fn of_points(points: &[QlPoint], radius: f64) -> Arc<dyn SearchRegion> {
    let line: Vec<Coord> = points.iter().map(to_coord).collect();
    let mut sources = Vec::new();
    add_line(&line, &mut sources);
    Arc::new(AroundSources::new(sources, radius))
}

/// Returns the region around the nodes and ways of a set, and around the nodes and ways that are members of its
/// relations.
pub fn of_set(ctx: &RunContext, set: &ElementSet, radius: f64) -> Arc<dyn SearchRegion> {
    let topology = Topology::new(ctx);
    let nodes = sorted::union(&set.nodes, &topology.members(&set.relations, Node, MemberRole::Any, &[]));
    let ways = sorted::union(&set.ways, &topology.members(&set.relations, Way, MemberRole::Any, &[]));
    let mut sources: Vec<(Coord, Coord)> = ctx.osm.coords(&nodes).into_iter().map(|c| (c, c)).collect();
    let size = ctx.osm.page_size(Way);
    for (page, range) in sorted::pages(&ways, size) {
        let page = ctx.osm.way_page(page);
        budget::work(range.len());
        for &way in ways.get(range).unwrap_or_default() {
            let coords = page.coords((way % size) as usize);
            if has_place(coords) {
                add_line(coords, &mut sources);
            }
        }
        budget::ensure_memory((sources.len() * size_of::<(Coord, Coord)>() * 4) as u64);
    }
    Arc::new(AroundSources::new(sources, radius))
}

/// Adds the segments of a line, and single points between missing ones.
fn add_line(line: &[Coord], sources: &mut Vec<(Coord, Coord)>) {
    for run in line.split(|c| c.is_missing()) {
        match run {
            [one] => sources.push((*one, *one)),
            _ => sources.extend(run.windows(2).filter_map(|pair| Some((*pair.first()?, *pair.get(1)?)))),
        }
    }
}
