//! The layer `ocean`.
//!
//! At low zooms the sea is the area outside of the overview's land. At the other zooms it is the area on the right of
//! the snapshot's coastlines. Extracts have only pieces of the world's coasts, so the sea is assembled in each tile:
//! coastlines are cut at the box around the tile and closed along its border. A tile without a coast is sea if it is on
//! the right of the nearest coast. Where the snapshot has no such coast, the built-in outline decides.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::{ElementRef, ElementType, Ordinal, Osm, PairId};

use super::elements::{TileFeature, TileGeometry, finished, line_in};
use super::encode::Attributes;
use super::geometry::{HIGH, LOW, clip_rings, extremes, outside, simplify, twice_area};
use super::land;
use super::lines::LineProjector;
use super::place::{BUFFER, EXTENT, TileId, TilePoint};
use super::schema::TileLayer;
use super::select::{listed, ranges, spans};

/// Greatest distance of the coast that decides whether a tile without a coast is sea, in 1e-7 degrees: several times
/// the error of the outline, which decides beyond it.
const FAR: i32 = 2_000_000;
/// The deepest zoom at which the outline is used in tiles with coasts of the snapshot. It is off by 5 km, which are 16
/// pixels of zoom 8.
const OUTLINE_TO: u8 = 8;
/// A coast that ends at most this far from the border of the box is extended to it, in units.
const NEAR: i32 = EXTENT / 4;
/// Islands with less than this area are left out at low zooms, in halves of a square unit.
const SMALLEST: i64 = 32;
/// Number of coastlines that a thread reads at once.
const AT_ONCE: usize = 64;

/// Adds the sea in a tile of a low zoom. `land` are the rings of land near it.
pub fn add_low(land: impl Iterator<Item = Vec<TilePoint>>, tolerance: i32, features: &mut Vec<TileFeature>) {
    let rings = land.map(|ring| simplify(ring, tolerance)).filter(|ring| twice_area(ring).abs() >= SMALLEST);
    add_rings(outside(rings.collect()), features);
}

/// Adds the sea in a tile of another zoom; `coastline` is the tag.
pub fn add(osm: &Osm, coastline: Option<PairId>, tile: TileId, tolerance: i32, features: &mut Vec<TileFeature>) {
    let Some(coastline) = coastline else { return };
    // All ways of a page that is smaller than a unit are points.
    let drawn = |page: u32| spans(osm, ElementType::Way, page, tile, 1);
    let pieces = coasts(osm, coastline, tile, BUFFER, drawn, |lines, nodes| line_in(lines.points(nodes), tolerance));
    let rings = rings_of_sea(tile, join(pieces), tolerance, || is_sea(osm, coastline, tile));
    add_rings(rings, features);
}

/// Returns the rings of the sea in a tile. `is_sea` returns whether a tile without a coast is sea by the nearest coast,
/// if there is one.
fn rings_of_sea(
    tile: TileId,
    coasts: Vec<Vec<TilePoint>>,
    tolerance: i32,
    is_sea: impl FnOnce() -> Option<bool>,
) -> Vec<Vec<TilePoint>> {
    let (low, high) = extremes(&coasts.concat());
    let uses_outline = tile.zoom() <= OUTLINE_TO;
    let rings = match sea(coasts) {
        SeaByCoasts::Rings(rings) => {
            let outers = rings.iter().filter(|ring| twice_area(ring) > 0).count();
            clip_rings(rings, outers)
        }
        SeaByCoasts::Islands(islands) if !islands.is_empty() => outside(islands),
        SeaByCoasts::Islands(_) => match is_sea().filter(|_| !uses_outline) {
            Some(true) => return vec![corners()],
            Some(false) => return Vec::new(),
            None => return outside(outline(tile, tolerance).collect()),
        },
        SeaByCoasts::Cut(_) if !uses_outline => return Vec::new(),
        SeaByCoasts::Cut(islands) => return outside(outline(tile, tolerance).chain(islands).collect()),
    };
    if uses_outline { land::sea_around(tile, rings, [low, high], tolerance) } else { rings }
}

fn outline(tile: TileId, tolerance: i32) -> impl Iterator<Item = Vec<TilePoint>> {
    land::rings(tile).into_iter().map(move |ring| simplify(ring, tolerance))
}

fn add_rings(rings: Vec<Vec<TilePoint>>, features: &mut Vec<TileFeature>) {
    if !rings.is_empty() {
        let geometry = TileGeometry::Rings(rings);
        features.push(TileFeature { layer: TileLayer::Ocean, rank: 0, geometry, attributes: Attributes::new() });
    }
}

/// Applies `shape` to the nodes of the coastlines within `units` of a tile, on the pages that are `wanted`.
fn coasts<T: Send>(
    osm: &Osm,
    coastline: PairId,
    tile: TileId,
    units: i32,
    wanted: impl Fn(u32) -> bool,
    shape: impl Fn(&mut LineProjector<'_>, &[ElementRef]) -> Vec<T> + Sync,
) -> Vec<T> {
    let kind = ElementType::Way;
    let mut pages = osm.pages_in(kind, &tile.bounds(units));
    pages.retain(|page| wanted(*page));
    let ways = listed(osm, kind, &[coastline], &ranges(osm, kind, &pages));
    let current = budget::current();
    let shapes = |ways: &[Ordinal]| -> Vec<T> {
        let (mut found, mut lines) = (Vec::new(), LineProjector::new(osm, tile));
        for &way in ways {
            budget::checkpoint();
            let (page, slot) = osm.place(kind, way);
            found.extend(shape(&mut lines, osm.way_nodes(page).nodes(slot)));
        }
        found
    };
    let found: Vec<Vec<T>> = ways.par_chunks(AT_ONCE).map(|ways| current.share(|| shapes(ways))).collect();
    found.into_iter().flatten().collect()
}

/// The sea as far as the coasts in a tile tell. Islands have land on the left.
#[derive(Debug, PartialEq)]
enum SeaByCoasts {
    /// The rings of the sea, each outer ring before its islands.
    Rings(Vec<Vec<TilePoint>>),
    /// All coasts are those of islands.
    Islands(Vec<Vec<TilePoint>>),
    /// Coasts that end in the middle of the tile, and islands.
    Cut(Vec<Vec<TilePoint>>),
}

/// Returns the box around the tile, clockwise.
fn corners() -> Vec<TilePoint> {
    [(LOW, LOW), (HIGH, LOW), (HIGH, HIGH), (LOW, HIGH), (LOW, LOW)]
        .into_iter()
        .map(|(x, y)| TilePoint { x, y })
        .collect()
}

/// Joins pieces of coast where one ends and another begins.
pub fn join(pieces: Vec<Vec<TilePoint>>) -> Vec<Vec<TilePoint>> {
    let mut begins: FxHashMap<TilePoint, Vec<usize>> = FxHashMap::default();
    let mut ends: FxHashMap<TilePoint, usize> = FxHashMap::default();
    for (at, piece) in pieces.iter().enumerate().rev() {
        begins.entry(piece[0]).or_default().push(at);
        *ends.entry(piece[piece.len() - 1]).or_default() += 1;
    }
    let mut used = vec![false; pieces.len()];
    let mut joined = Vec::new();
    // Lines with a free start come first; the rest are rings.
    let leading = |at: &usize| !ends.contains_key(&pieces[*at][0]);
    let order: Vec<usize> =
        (0..pieces.len()).filter(leading).chain((0..pieces.len()).filter(|at| !leading(at))).collect();
    for start in order {
        if used[start] {
            continue;
        }
        used[start] = true;
        let mut line = pieces[start].clone();
        while line.first() != line.last() || line.len() < 2 {
            budget::checkpoint();
            let Some(next) = line.last().and_then(|end| begins.get_mut(end)).and_then(|all| {
                while all.last().is_some_and(|at| used[*at]) {
                    all.pop();
                }
                all.pop()
            }) else {
                break;
            };
            used[next] = true;
            line.extend_from_slice(&pieces[next][1..]);
        }
        joined.push(line);
    }
    joined
}

/// Returns the distance of a point along the border of the box, clockwise from its north-western corner, or `None` if
/// the point is not on the border.
fn on_border(p: TilePoint) -> Option<i32> {
    let side = HIGH - LOW;
    if p.y == LOW {
        Some(p.x - LOW)
    } else if p.x == HIGH {
        Some(side + p.y - LOW)
    } else if p.y == HIGH {
        Some(2 * side + HIGH - p.x)
    } else if p.x == LOW {
        Some(3 * side + HIGH - p.y)
    } else {
        None
    }
}

/// Returns the nearest point of the border if it is at most [`NEAR`] away.
fn border_near(p: TilePoint) -> Option<TilePoint> {
    let ways = [
        (p.x - LOW, TilePoint { x: LOW, ..p }),
        (HIGH - p.x, TilePoint { x: HIGH, ..p }),
        (p.y - LOW, TilePoint { y: LOW, ..p }),
        (HIGH - p.y, TilePoint { y: HIGH, ..p }),
    ];
    ways.into_iter().min_by_key(|(far, _)| *far).filter(|(far, _)| *far <= NEAR).map(|(_, to)| to)
}

/// Returns the sea by the coasts in a tile.
fn sea(coasts: Vec<Vec<TilePoint>>) -> SeaByCoasts {
    let (mut islands, mut outer, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut is_cut = false;
    for mut coast in coasts {
        if coast.first() == coast.last() {
            if coast.len() < 4 || twice_area(&coast) == 0 {
                // Too small to be seen at this zoom.
                continue;
            }
            // Land is on the left: a coast around an island runs counterclockwise.
            if twice_area(&coast) < 0 {
                islands.push(coast)
            } else {
                outer.push(coast)
            }
            continue;
        }
        let ends = [coast.first(), coast.last()].map(|end| {
            let end = *end?;
            if on_border(end).is_some() { Some(end) } else { border_near(end) }
        });
        // If a coast ends in the middle, the side of the sea is unknown beyond it.
        if let [Some(begin), Some(end)] = ends {
            if coast.first() != Some(&begin) {
                coast.insert(0, begin);
            }
            if coast.last() != Some(&end) {
                coast.push(end);
            }
            open.push(coast);
        } else {
            is_cut = true;
        }
    }
    if open.is_empty() && outer.is_empty() {
        return if is_cut { SeaByCoasts::Cut(islands) } else { SeaByCoasts::Islands(islands) };
    }
    if !open.is_empty() {
        outer.extend(closed(open));
    }
    let mut rings = Vec::new();
    for ring in outer.into_iter().map(|ring| finished(ring, true)).filter(|ring| !ring.is_empty()) {
        let within: Vec<Vec<TilePoint>> = islands.extract_if(.., |island| has(&ring, island[0])).collect();
        rings.push(ring);
        rings.extend(within.into_iter().map(|island| finished(island, false)).filter(|island| !island.is_empty()));
    }
    SeaByCoasts::Rings(rings)
}

/// Closes coasts from border to border along it, clockwise, because the sea is on their right.
fn closed(coasts: Vec<Vec<TilePoint>>) -> Vec<Vec<TilePoint>> {
    let around = 4 * (HIGH - LOW);
    let place = |p: Option<&TilePoint>| p.copied().and_then(on_border).unwrap_or_default();
    let begins: Vec<i32> = coasts.iter().map(|coast| place(coast.first())).collect();
    let mut used = vec![false; coasts.len()];
    let mut rings = Vec::new();
    for start in 0..coasts.len() {
        if used[start] {
            continue;
        }
        let mut ring: Vec<TilePoint> = Vec::new();
        let mut at = start;
        loop {
            budget::checkpoints(coasts.len());
            used[at] = true;
            ring.extend_from_slice(&coasts[at]);
            let end = place(coasts[at].last());
            let ahead = |other: usize| (begins[other] - end).rem_euclid(around);
            // Back to the first, or to one that was not yet met, whichever comes first.
            let next =
                (0..coasts.len()).filter(|other| *other == start || !used[*other]).min_by_key(|other| ahead(*other));
            let Some(next) = next else { break };
            for corner in corners_between(end, ahead(next)) {
                ring.push(corner);
            }
            if next == start {
                break;
            }
            at = next;
        }
        ring.extend(ring.first().copied());
        ring.dedup();
        rings.push(ring);
    }
    rings
}

/// Returns the corners of the box along a part of its border, clockwise.
fn corners_between(from: i32, length: i32) -> Vec<TilePoint> {
    let side = HIGH - LOW;
    let box_corners = corners();
    let mut passed: Vec<(i32, TilePoint)> = (0..4)
        .map(|corner| ((corner as i32 * side - from).rem_euclid(4 * side), box_corners[corner]))
        .filter(|(ahead, _)| *ahead > 0 && *ahead < length)
        .collect();
    passed.sort_unstable();
    passed.into_iter().map(|(_, corner)| corner).collect()
}

/// Returns whether a point is in a ring, by counting crossings.
fn has(ring: &[TilePoint], p: TilePoint) -> bool {
    let crosses = |side: &[TilePoint]| {
        let (a, b) = (side[0], side[1]);
        let (px, py) = (i64::from(p.x), i64::from(p.y));
        let (ax, ay, bx, by) = (i64::from(a.x), i64::from(a.y), i64::from(b.x), i64::from(b.y));
        (ay > py) != (by > py) && {
            // px < ax + (py - ay) * (bx - ax) / (by - ay), without dividing.
            let (left, right) = ((px - ax) * (by - ay), (py - ay) * (bx - ax));
            if by > ay { left < right } else { left > right }
        }
    };
    budget::checkpoints(ring.len() / 8);
    ring.windows(2).filter(|side| crosses(side)).count() % 2 == 1
}

/// Whether a tile without a coast is sea: seen from its middle, the first coast on the way to the nearest one has the
/// tile on its right. `None` without a coast within [`FAR`]. In degrees, as coasts are points at low zooms.
fn is_sea(osm: &Osm, coastline: PairId, tile: TileId) -> Option<bool> {
    let bounds = tile.bounds(0);
    let (width, height) =
        (i64::from(bounds.east) - i64::from(bounds.west), i64::from(bounds.north) - i64::from(bounds.south));
    let middle = [
        f64::from(bounds.west) / 2.0 + f64::from(bounds.east) / 2.0,
        -(f64::from(bounds.south) / 2.0 + f64::from(bounds.north) / 2.0),
    ];
    let plane = |_: &mut LineProjector<'_>, nodes: &[ElementRef]| -> Vec<Vec<[f64; 2]>> {
        let line = osm.line(nodes);
        let known = line.iter().filter(|c| !c.is_missing());
        vec![known.map(|c| [f64::from(c.lon), -f64::from(c.lat)]).collect()]
    };
    let mut units = EXTENT;
    loop {
        let coasts = coasts(osm, coastline, tile, units, |_| true, plane);
        // Coasts continue outside of the box, but there others between them and the tile may be missing.
        let around = tile.bounds(units);
        let (east, south) = (f64::from(around.east), -f64::from(around.south));
        let (west, north) = (f64::from(around.west), -f64::from(around.north));
        let within = |[x, y]: [f64; 2]| west <= x && x <= east && north <= y && y <= south;
        if let Some(side) = first_side(middle, &coasts, within) {
            return Some(side);
        }
        if i64::from(units / EXTENT) * width.max(height) > i64::from(FAR) {
            return None;
        }
        units = units.saturating_mul(4);
    }
}

/// Whether a point is on the right of the first coast on the way to the nearest one of those that are `within`; x to
/// the east, y to the south.
fn first_side([x, y]: [f64; 2], coasts: &[Vec<[f64; 2]>], within: impl Fn([f64; 2]) -> bool) -> Option<bool> {
    let sides = || coasts.iter().flat_map(|line| line.windows(2));
    let middle = |side: &[[f64; 2]]| [(side[0][0] + side[1][0]) / 2.0, (side[0][1] + side[1][1]) / 2.0];
    let far = |[mx, my]: [f64; 2]| (mx - x) * (mx - x) + (my - y) * (my - y);
    let mut nearest: Option<(f64, [f64; 2])> = None;
    for side in sides() {
        budget::checkpoint();
        let target = middle(side);
        if nearest.is_none_or(|(known, _)| far(target) < known) && within(target) {
            nearest = Some((far(target), target));
        }
    }
    let (_, [tx, ty]) = nearest?;
    let (dx, dy) = (tx - x, ty - y);
    let mut first: Option<(f64, bool)> = None;
    for side in sides() {
        budget::checkpoint();
        let [a, b] = [side[0], side[1]].map(|[x, y]| (x, y));
        let (ex, ey) = (b.0 - a.0, b.1 - a.1);
        let across = dx * ey - dy * ex;
        if across == 0.0 {
            continue;
        }
        // Where on the way, and where on the coast.
        let along = ((a.0 - x) * ey - (a.1 - y) * ex) / across;
        let there = ((a.0 - x) * dy - (a.1 - y) * dx) / across;
        if (0.0..=1.0 + 1e-9).contains(&along)
            && (0.0..=1.0).contains(&there)
            && first.is_none_or(|(known, _)| along < known)
        {
            // With y to the south, points on the right have a positive turn.
            let right = ex * (y - a.1) - ey * (x - a.0) > 0.0;
            first = Some((along, right));
        }
    }
    first.map(|(_, right)| right)
}

#[cfg(test)]
mod tests {
    use terrapin_osm::Coord;

    use super::*;

    fn points(all: &[(i32, i32)]) -> Vec<TilePoint> {
        all.iter().map(|&(x, y)| TilePoint { x, y }).collect()
    }

    fn rings(coasts: Vec<Vec<TilePoint>>) -> Vec<Vec<TilePoint>> {
        match sea(coasts) {
            SeaByCoasts::Rings(rings) => rings,
            islands => panic!("{islands:?}"),
        }
    }

    #[test]
    fn the_sea_is_on_the_right_of_a_coast() {
        // From the north to the south: land in the east, sea in the west.
        let sea = rings(vec![points(&[(1000, LOW), (1000, HIGH)])]);
        assert_eq!(sea.len(), 1);
        assert!(has(&sea[0], TilePoint { x: 0, y: 0 }) && !has(&sea[0], TilePoint { x: 2000, y: 0 }));
        assert!(twice_area(&sea[0]) > 0);
        // And the other way round, with an island in it.
        assert!(twice_area(&island()) < 0);
        let sea = rings(vec![points(&[(1000, HIGH), (1000, LOW)]), island()]);
        assert_eq!(sea.len(), 2);
        assert!(has(&sea[0], TilePoint { x: 3000, y: 0 }) && twice_area(&sea[1]) < 0);
    }

    #[test]
    fn a_strait_has_two_coasts() {
        let sea = rings(vec![points(&[(3000, HIGH), (3000, LOW)]), points(&[(1000, LOW), (1000, HIGH)])]);
        assert_eq!(sea.len(), 2);
        assert!(sea.iter().all(|ring| !has(ring, TilePoint { x: 2000, y: 2000 })));
        let sea = rings(vec![points(&[(3000, LOW), (3000, HIGH)]), points(&[(1000, HIGH), (1000, LOW)])]);
        assert_eq!(sea.len(), 1);
        assert!(has(&sea[0], TilePoint { x: 2000, y: 2000 }) && !has(&sea[0], TilePoint { x: 0, y: 2000 }));
    }

    /// An island of 100 by 100 units.
    fn island() -> Vec<TilePoint> {
        points(&[(2000, 2000), (2000, 2100), (2100, 2100), (2100, 2000), (2000, 2000)])
    }

    #[test]
    fn around_an_island_is_sea_and_pieces_are_joined() {
        let halves = vec![
            points(&[(2000, 2000), (2000, 2100), (2100, 2100)]),
            points(&[(2100, 2100), (2100, 2000), (2000, 2000)]),
        ];
        let coasts = join(halves);
        assert_eq!(sea(coasts.clone()), SeaByCoasts::Islands(vec![island()]));
        // The tile of zoom 14 with Valletta. The coasts decide, not the outline.
        let tile = TileId::new(14, 8852, 6439).expect("a tile");
        let rings = rings_of_sea(tile, coasts, 0, || panic!("an island is a coast"));
        let area: i64 = rings.iter().map(|ring| twice_area(ring)).sum();
        assert_eq!((rings.len(), area), (2, twice_area(&corners()) - 20_000));
    }

    #[test]
    fn a_coast_that_ends_in_the_middle_says_nothing() {
        let cut = || points(&[(2000, 1000), (2000, LOW)]);
        assert_eq!(sea(vec![cut(), island()]), SeaByCoasts::Cut(vec![island()]));
        assert_eq!(rings(vec![points(&[(2000, HIGH - 10), (2000, LOW)])]).len(), 1);
        // Nor does one that is too small to be seen.
        assert_eq!(sea(vec![points(&[(2000, 2000), (2001, 2000), (2000, 2000)])]), SeaByCoasts::Islands(Vec::new()));
        let tile = TileId::new(14, 8852, 6439).expect("a tile");
        assert!(rings_of_sea(tile, vec![cut(), island()], 0, || panic!("the nearest coast is cut")).is_empty());
    }

    /// The share of sea in a tile, with its margin.
    fn share(tile: (u8, u32, u32), coasts: Vec<Vec<TilePoint>>, is_sea: Option<bool>) -> f64 {
        let tile = TileId::new(tile.0, tile.1, tile.2).expect("a tile");
        let rings = rings_of_sea(tile, coasts, 0, || is_sea);
        let area: i64 = rings.iter().map(|ring| twice_area(ring)).sum();
        area as f64 / twice_area(&corners()) as f64
    }

    /// Land around an extract, which it does not contain. The expected shares are those of the built-in outline, by
    /// Shapely 2.1 on its rings.
    #[test]
    fn land_next_to_an_extract_of_islands_is_not_under_water() {
        let is = |found: f64, expected: f64| assert!((found - expected).abs() < 0.001, "{found} {expected}");
        let cut = || vec![points(&[(2000, 2000), (2000, 1000)])];
        // Sicily at two zooms, the Gulf of Finland with Estonia; without a coast of the snapshot, with one that ends in
        // the middle, and with an island.
        for (tile, expected, with_island) in SHARES {
            is(share(tile, Vec::new(), Some(true)), expected);
            is(share(tile, cut(), None), expected);
            is(share(tile, vec![island()], None), with_island);
        }
        // At other zooms it decides only without a coast nearby: Sicily and the sea east of Malta.
        for (is_sea, expected) in [(None, 0.5123), (Some(true), 1.0), (Some(false), 0.0)] {
            is(share((9, 277, 199), Vec::new(), is_sea), expected);
        }
        is(share((9, 276, 204), Vec::new(), None), 1.0);
    }

    const SHARES: [((u8, u32, u32), f64, f64); 3] =
        [((7, 69, 49), 0.6880, 0.6878), ((8, 138, 99), 0.3931, 0.4662), ((7, 72, 37), 0.5641, 0.5636)];

    /// A coast of the snapshot that crosses a tile decides in its surroundings: a piece of coast of 1 unit at the
    /// northern border of the tile with Estonia.
    #[test]
    fn a_coast_at_the_border_decides_only_there() {
        let coast = points(&[(3539, LOW), (3539, LOW + 30), (3540, LOW + 30), (3540, LOW)]);
        let found = share((7, 72, 37), vec![coast], None);
        assert!((found - 0.5723).abs() < 0.001, "{found}");
    }

    /// The outline of Malta has an error of kilometres. Within 20 km of the snapshot's coast it is not used.
    #[test]
    fn an_island_is_drawn_once() {
        let tile = TileId::new(7, 69, 50).expect("a tile");
        // A box around Malta and Gozo.
        let corner = |lat, lon| tile.point(Coord { lat, lon });
        let (low, high) = (corner(360_800_000, 141_800_000), corner(357_900_000, 145_800_000));
        let around = points(&[(low.x, low.y), (low.x, high.y), (high.x, high.y), (high.x, low.y), (low.x, low.y)]);
        let found = share((7, 69, 50), vec![around], None);
        assert!((found - 0.9830).abs() < 0.0001, "{found}");
    }

    #[test]
    fn a_tile_without_a_coast_is_what_the_nearest_has_on_that_side() {
        let coast = |from: f64, to: f64| vec![vec![[9000.0, from], [9000.0, to]]];
        // Southwards, to the east of the tile: the tile is on its right.
        let side = |coasts: &[Vec<[f64; 2]>]| first_side([2048.0, 2048.0], coasts, |[x, _]| x < 10_000.0);
        assert_eq!(side(&coast(0.0, 9000.0)), Some(true));
        assert_eq!(side(&coast(9000.0, 0.0)), Some(false));
        assert_eq!(side(&[]), None);
        // Between the tile and a coast that is too far away may be others that were not read.
        assert_eq!(side(&[vec![[11_000.0, 0.0], [11_000.0, 9000.0]]]), None);
    }
}
