//! The layer `ocean`.
//!
//! At low zooms the sea is the area outside of the overview's land. At the other zooms it is the area on the right of
//! the snapshot's coastlines. Extracts have only pieces of the world's coasts, so the sea is assembled in each tile:
//! coastlines are cut at the box around the tile and closed along its border. A tile without a coast is sea if it is on
//! the right of the nearest coast.

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::{ElementRef, ElementType, Ordinal, Osm, PairId};

use super::elements::{TileFeature, TileGeometry, finished, line_in};
use super::encode::Attributes;
use super::geometry::{HIGH, LOW, clip_rings, outside, simplify, twice_area};
use super::lines::LineProjector;
use super::place::{BUFFER, EXTENT, TileId, TilePoint};
use super::schema::TileLayer;
use super::select::{listed, ranges, spans};

/// Greatest distance of the coast that decides whether a tile without a coast is sea, in 1e-7 degrees.
const FAR: i32 = 10_000_000;
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
    add_sea(pieces, || is_sea(osm, coastline, tile), features);
}

fn add_sea(coasts: Vec<Vec<TilePoint>>, is_sea: impl FnOnce() -> bool, features: &mut Vec<TileFeature>) {
    let rings = match sea(join(coasts)) {
        Some(rings) => rings,
        None if is_sea() => vec![corners()],
        None => Vec::new(),
    };
    let outers = rings.iter().filter(|ring| twice_area(ring) > 0).count();
    add_rings(clip_rings(rings, outers), features);
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

/// Returns the rings of the sea, each outer ring before its islands, or `None` without any coast.
fn sea(coasts: Vec<Vec<TilePoint>>) -> Option<Vec<Vec<TilePoint>>> {
    let (mut islands, mut outer, mut open) = (Vec::new(), Vec::new(), Vec::new());
    let mut unknown = false;
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
            unknown = true;
        }
    }
    if open.is_empty() && islands.is_empty() && outer.is_empty() && !unknown {
        return None;
    }
    if open.is_empty() {
        if !islands.is_empty() && outer.is_empty() && !unknown {
            outer.push(corners());
        }
    } else {
        outer.extend(closed(open));
    }
    let mut rings = Vec::new();
    for ring in outer.into_iter().map(|ring| finished(ring, true)).filter(|ring| !ring.is_empty()) {
        let within: Vec<Vec<TilePoint>> = islands.extract_if(.., |island| has(&ring, island[0])).collect();
        rings.push(ring);
        rings.extend(within.into_iter().map(|island| finished(island, false)).filter(|island| !island.is_empty()));
    }
    Some(rings)
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
/// tile on its right. In degrees, as coasts are points at low zooms.
fn is_sea(osm: &Osm, coastline: PairId, tile: TileId) -> bool {
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
            return side;
        }
        if i64::from(units / EXTENT) * width.max(height) > i64::from(FAR) {
            return false;
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
    use super::*;

    fn points(all: &[(i32, i32)]) -> Vec<TilePoint> {
        all.iter().map(|&(x, y)| TilePoint { x, y }).collect()
    }

    #[test]
    fn the_sea_is_on_the_right_of_a_coast() {
        // From the north to the south: land in the east, sea in the west.
        let rings = sea(vec![points(&[(1000, LOW), (1000, HIGH)])]).expect("a coast");
        assert_eq!(rings.len(), 1);
        assert!(has(&rings[0], TilePoint { x: 0, y: 0 }) && !has(&rings[0], TilePoint { x: 2000, y: 0 }));
        assert!(twice_area(&rings[0]) > 0);
        // And the other way round, with an island in it.
        let island = points(&[(2000, 2000), (2000, 2100), (2100, 2100), (2100, 2000), (2000, 2000)]);
        assert!(twice_area(&island) < 0);
        let rings = sea(vec![points(&[(1000, HIGH), (1000, LOW)]), island]).expect("a coast");
        assert_eq!(rings.len(), 2);
        assert!(has(&rings[0], TilePoint { x: 3000, y: 0 }) && twice_area(&rings[1]) < 0);
    }

    #[test]
    fn a_strait_has_two_coasts() {
        let rings =
            sea(vec![points(&[(3000, HIGH), (3000, LOW)]), points(&[(1000, LOW), (1000, HIGH)])]).expect("coasts");
        assert_eq!(rings.len(), 2);
        assert!(rings.iter().all(|ring| !has(ring, TilePoint { x: 2000, y: 2000 })));
        let rings =
            sea(vec![points(&[(3000, LOW), (3000, HIGH)]), points(&[(1000, HIGH), (1000, LOW)])]).expect("coasts");
        assert_eq!(rings.len(), 1);
        assert!(has(&rings[0], TilePoint { x: 2000, y: 2000 }) && !has(&rings[0], TilePoint { x: 0, y: 2000 }));
    }

    #[test]
    fn around_an_island_is_sea_and_pieces_are_joined() {
        let halves = vec![points(&[(100, 100), (100, 200), (200, 200)]), points(&[(200, 200), (200, 100), (100, 100)])];
        let rings = sea(join(halves)).expect("an island");
        assert_eq!(rings.len(), 2);
        assert_eq!(rings[0], corners());
    }

    #[test]
    fn a_coast_that_ends_in_the_middle_says_nothing() {
        assert_eq!(sea(vec![points(&[(2000, 2000), (2000, LOW)])]), Some(Vec::new()));
        assert_eq!(sea(vec![points(&[(2000, HIGH - 10), (2000, LOW)])]).map(|rings| rings.len()), Some(1));
        // Nor does one that is too small to be seen.
        assert_eq!(sea(vec![points(&[(2000, 2000), (2001, 2000), (2000, 2000)])]), None);
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
