//! Geometries as little-endian well-known binary (WKB); coordinates in degrees, longitude before latitude.

use std::collections::HashSet;

use terrapin_osm::outline::{Line, OutlineBorder, cut_at_180, is_area};
use terrapin_osm::{Coord, ElementType};
use terrapin_overpass::output::{MemberGeometry, OutputItem};
use terrapin_overpass::set::{DegreePosition, DerivedGeometry};

const POINT: u32 = 1;
const LINE: u32 = 2;
const POLYGON: u32 = 3;
const LINES: u32 = 5;
const POLYGONS: u32 = 6;
const COLLECTION: u32 = 7;

/// Returns the geometry of an element in a result: the point of a node, the line of a way, or a polygon if its tags
/// make it an area. A multipolygon becomes polygons, another relation the lines of its ways, and an element with `out
/// center` a point. Returns `None` if the result has no geometry for it.
pub fn of(item: &OutputItem<'_>) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    if let Some(shape) = item.shape {
        geometry(&mut out, shape);
    } else if let Some(at) = item.position.filter(|at| !at.is_missing()) {
        out.push(1);
        out.extend_from_slice(&POINT.to_le_bytes());
        coord(&mut out, at);
    } else if let Some(line) = item.geometry {
        let is_ring = line.len() >= 4 && line.first() == line.last();
        if is_ring && item.tags.is_some_and(|tags| is_area(tags.iter())) {
            let mut border = OutlineBorder::default();
            border.add(line, false);
            area(&mut out, border)?;
        } else {
            line_pieces(&mut out, &[known(line)])?;
        }
    } else if let Some(members) = item.members.filter(|members| members.iter().any(has_line)) {
        let kind = item.tags.and_then(|tags| tags.get("type"));
        if matches!(kind, Some("multipolygon" | "boundary")) {
            let (mut border, mut seen) = (OutlineBorder::default(), HashSet::new());
            for member in members.iter().filter(|member| member.kind == ElementType::Way && seen.insert(member.id)) {
                match member.geometry {
                    MemberGeometry::Line(line) => border.add(line, member.role == "inner"),
                    _ => border.add_missing(),
                }
            }
            area(&mut out, border)?;
        } else {
            let all = members.iter().filter_map(|member| match member.geometry {
                MemberGeometry::Line(line) => Some(known(line)),
                _ => None,
            });
            line_parts(&mut out, &pieces(&all.collect::<Vec<_>>()));
        }
    } else {
        point(&mut out, item.center?);
    }
    Some(out)
}

/// Writes the polygons within a border, or its lines if they form no valid polygon.
fn area(out: &mut Vec<u8>, border: OutlineBorder) -> Option<()> {
    match border.polygons().as_deref() {
        Ok([one]) => polygon(out, one),
        Ok(many) => {
            head(out, POLYGONS, many.len());
            many.iter().for_each(|one| polygon(out, one));
        }
        Err(_) => line_pieces(out, &border.into_lines())?,
    }
    Some(())
}

/// Splits lines at the 180th meridian.
fn pieces(lines: &[Line]) -> Vec<Line> {
    lines.iter().filter(|line| line.len() > 1).flat_map(|line| cut_at_180(line)).collect()
}

/// Writes one line, or a multi-line. Returns `None` if no line has two points.
fn line_pieces(out: &mut Vec<u8>, all: &[Line]) -> Option<()> {
    match &pieces(all)[..] {
        [] => return None,
        [one] => lines(out, LINE, one),
        many => line_parts(out, many),
    }
    Some(())
}

fn line_parts(out: &mut Vec<u8>, all: &[Line]) {
    head(out, LINES, all.len());
    all.iter().for_each(|line| lines(out, LINE, line));
}

fn has_line(member: &terrapin_overpass::output::MemberItem<'_>) -> bool {
    matches!(member.geometry, MemberGeometry::Line(line) if line.iter().filter(|c| !c.is_missing()).count() >= 2)
}

fn known(line: &[Coord]) -> Line {
    line.iter().copied().filter(|c| !c.is_missing()).collect()
}

/// Writes the byte order, the type and the number of parts.
fn head(out: &mut Vec<u8>, kind: u32, parts: usize) {
    out.push(1);
    out.extend_from_slice(&kind.to_le_bytes());
    count(out, parts);
}

fn count(out: &mut Vec<u8>, parts: usize) {
    out.extend_from_slice(&u32::try_from(parts).unwrap_or(u32::MAX).to_le_bytes());
}

fn place(out: &mut Vec<u8>, lon: f64, lat: f64) {
    out.extend_from_slice(&lon.to_le_bytes());
    out.extend_from_slice(&lat.to_le_bytes());
}

fn coord(out: &mut Vec<u8>, at: Coord) {
    place(out, f64::from(at.lon) / 1e7, f64::from(at.lat) / 1e7);
}

fn point(out: &mut Vec<u8>, at: DegreePosition) {
    out.push(1);
    out.extend_from_slice(&POINT.to_le_bytes());
    place(out, at.lon, at.lat);
}

fn lines(out: &mut Vec<u8>, kind: u32, line: &[Coord]) {
    head(out, kind, line.len());
    line.iter().for_each(|&at| coord(out, at));
}

fn polygon(out: &mut Vec<u8>, rings: &[Line]) {
    head(out, POLYGON, rings.len());
    for ring in rings {
        count(out, ring.len());
        ring.iter().for_each(|&at| coord(out, at));
    }
}

/// Writes a geometry that the query computed.
fn geometry(out: &mut Vec<u8>, shape: &DerivedGeometry) {
    let positions = |out: &mut Vec<u8>, line: &[DegreePosition]| line.iter().for_each(|at| place(out, at.lon, at.lat));
    match shape {
        DerivedGeometry::Point(at) => point(out, *at),
        DerivedGeometry::Line(line) => {
            head(out, LINE, line.len());
            positions(out, line);
        }
        DerivedGeometry::Polygon(rings) => {
            head(out, POLYGON, rings.len());
            for ring in rings {
                count(out, ring.len());
                positions(out, ring);
            }
        }
        DerivedGeometry::Collection(parts) => {
            head(out, COLLECTION, parts.len());
            parts.iter().for_each(|part| geometry(out, part));
        }
    }
}
