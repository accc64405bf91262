//! Draws long edges of closed ways along great circles, as the reference does.
//!
//! Determined by testing nodes next to edges of every length and slope. The plane is divided into cells of 2^16 steps
//! of 1e-7 degrees, counted from 91 degrees south and from longitude zero. An edge whose ends are in the same cell or
//! in two neighbouring cells is straight. Any other edge is cut where its great circle crosses from one column into the
//! next, at a latitude rounded to a step. Then each piece is cut, as a straight line, where it crosses from one row
//! into the next, at a longitude truncated towards zero.

use crate::Coord;

const BITS: u32 = 16;
/// The latitude at which rows begin to count.
const SOUTH: i32 = -910_000_000;
/// Maximum number of points that are added to a ring; the rest of it stays straight. Real ways are far below this
/// limit.
const MOST: usize = 100_000;

fn row(lat: i32) -> i32 {
    (lat - SOUTH) >> BITS
}

fn column(lon: i32) -> i32 {
    lon >> BITS
}

/// Returns the ring with these corners, none of them missing, with points added to its long edges.
pub fn ring_along_great_circles(corners: Vec<Coord>) -> Vec<Coord> {
    let next = corners.iter().cycle().skip(1);
    if !corners.iter().zip(next.clone()).any(|(&a, &b)| is_long(a, b)) {
        return corners;
    }
    let mut ring = Vec::with_capacity(2 * corners.len());
    let mut edge = Vec::new();
    for (&a, &b) in corners.iter().zip(next) {
        ring.push(a);
        if is_long(a, b) && ring.len() < MOST + corners.len() {
            let (west, east) = if a.lon <= b.lon { (a, b) } else { (b, a) };
            edge.clear();
            cut_columns(west, east, &mut edge);
            if a == west { ring.extend(edge.iter()) } else { ring.extend(edge.iter().rev()) }
        }
    }
    ring
}

/// Returns whether an edge is cut. An edge that spans more than half of the globe goes the other way and is not cut.
fn is_long(a: Coord, b: Coord) -> bool {
    let (rows, columns) = (row(a.lat).abs_diff(row(b.lat)), column(a.lon).abs_diff(column(b.lon)));
    (rows > 1 || columns > 1) && a.lon.abs_diff(b.lon) < 1_800_000_000
}

/// Adds the points between the ends of an edge, from west to east.
fn cut_columns(west: Coord, east: Coord, points: &mut Vec<Coord>) {
    let radians = |v: i32| (f64::from(v) / 1e7).to_radians();
    let (from, to) = (radians(west.lon), radians(east.lon));
    let [up, down] = [west, east].map(|c| libm::tan(radians(c.lat)));
    let mut last = west;
    for column in column(west.lon) + 1..=column(east.lon) {
        let lon = column << BITS;
        let x = radians(lon);
        let tangent = (up * libm::sin(to - x) + down * libm::sin(x - from)) / libm::sin(to - from);
        let lat = libm::floor(libm::atan(tangent).to_degrees() * 1e7 + 0.5);
        if !lat.is_finite() {
            break;
        }
        let c = Coord { lat: lat as i32, lon };
        cut_rows(last, c, points);
        points.push(c);
        last = c;
    }
    cut_rows(last, east, points);
}

/// Adds the points between the ends of a straight piece, from its first to its last.
fn cut_rows(first: Coord, last: Coord, points: &mut Vec<Coord>) {
    let (south, north) = if first.lat <= last.lat { (first, last) } else { (last, first) };
    let (height, width) =
        (i128::from(north.lat) - i128::from(south.lat), i128::from(north.lon) - i128::from(south.lon));
    let at = |row: i32| {
        let lat = (row << BITS) + SOUTH;
        let along = i128::from(south.lon) * height + width * (i128::from(lat) - i128::from(south.lat));
        Coord { lat, lon: (along / height.max(1)) as i32 }
    };
    let rows = row(south.lat) + 1..=row(north.lat);
    if first == south { points.extend(rows.map(at)) } else { points.extend(rows.rev().map(at)) }
}
