//! Evaluates `trace`: cuts lines into pieces at the points that they share, and returns every piece once.

use std::collections::{BTreeMap, BTreeSet};

use crate::set::{DegreePosition, DerivedGeometry};
use terrapin_budget as budget;
use terrapin_osm::Coord;

/// Returns the points of a geometry from south to north and from west to east, then the pieces of its lines. Lines are
/// cut at their ends, at points that lines pass more than once, and at the points of the geometry. A piece that
/// occurred before, in either direction, is left out.
pub(super) fn trace(geometry: &DerivedGeometry) -> DerivedGeometry {
    let (mut points, mut lines) = (Vec::new(), Vec::new());
    gather(geometry, &mut points, &mut lines);
    let mut met: BTreeMap<Coord, u32> = BTreeMap::new();
    let mut cut: BTreeSet<Coord> = points.iter().map(|p: &DegreePosition| p.rounded()).collect();
    for line in &lines {
        budget::checkpoints(16 * line.len());
        line.iter().for_each(|p| *met.entry(p.rounded()).or_default() += 1);
        cut.extend(line.first().into_iter().chain(line.last()).map(|p| p.rounded()));
    }
    cut.extend(met.into_iter().filter(|&(_, times)| times > 1).map(|(c, _)| c));

    points.sort_by_key(|point| {
        budget::checkpoints(16);
        point.rounded()
    });
    points.dedup_by_key(|point| point.rounded());
    let mut parts: Vec<DerivedGeometry> = points.into_iter().map(DerivedGeometry::Point).collect();
    let mut known: BTreeSet<Vec<Coord>> = BTreeSet::new();
    for line in lines {
        let mut start = 0;
        for at in 1..line.len().max(2) {
            // A line of one point goes from the point to itself.
            budget::checkpoints(16);
            let end = *line.get(at).unwrap_or(&line[start]);
            if !cut.contains(&end.rounded()) {
                continue;
            }
            let mut piece: Vec<DegreePosition> = line[start..at.min(line.len())].to_vec();
            piece.push(end);
            let coords: Vec<Coord> = piece.iter().map(|p| p.rounded()).collect();
            let back: Vec<Coord> = coords.iter().rev().copied().collect();
            if known.insert(coords.min(back)) {
                parts.push(DerivedGeometry::Line(piece));
            }
            start = at;
        }
    }
    DerivedGeometry::Collection(parts)
}

fn gather(geometry: &DerivedGeometry, points: &mut Vec<DegreePosition>, lines: &mut Vec<Vec<DegreePosition>>) {
    budget::checkpoint();
    match geometry {
        DerivedGeometry::Point(p) => points.push(*p),
        DerivedGeometry::Line(line) => lines.extend((!line.is_empty()).then(|| line.clone())),
        DerivedGeometry::Polygon(rings) => lines.extend(rings.iter().filter(|ring| !ring.is_empty()).cloned()),
        DerivedGeometry::Collection(parts) => parts.iter().for_each(|part| gather(part, points, lines)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(points: &[(i32, i32)]) -> DerivedGeometry {
        DerivedGeometry::Line(
            points.iter().map(|&(lat, lon)| DegreePosition { lat: lat.into(), lon: lon.into() }).collect(),
        )
    }

    fn traced(parts: Vec<DerivedGeometry>) -> Vec<DerivedGeometry> {
        match trace(&DerivedGeometry::Collection(parts)) {
            DerivedGeometry::Collection(parts) => parts,
            other => vec![other],
        }
    }

    #[test]
    fn lines_are_cut_where_they_meet() {
        let (a, b) = (line(&[(1, 1), (1, 2), (1, 3)]), line(&[(0, 2), (1, 2), (2, 2)]));
        let pieces = [[(1, 1), (1, 2)], [(1, 2), (1, 3)], [(0, 2), (1, 2)], [(1, 2), (2, 2)]];
        assert_eq!(traced(vec![a, b]), pieces.map(|piece| line(&piece)));
    }

    #[test]
    fn points_come_from_south_to_north() {
        let point = |lat: i32, lon: i32| DerivedGeometry::Point(DegreePosition { lat: lat.into(), lon: lon.into() });
        let parts = vec![point(2, 1), line(&[(5, 5), (6, 6)]), point(1, 9), point(2, 0), point(1, 9)];
        assert_eq!(traced(parts), [point(1, 9), point(2, 0), point(2, 1), line(&[(5, 5), (6, 6)])]);
    }

    #[test]
    fn pieces_are_told_once() {
        let (a, b) = (line(&[(1, 1), (1, 2), (1, 3)]), line(&[(1, 3), (1, 2), (0, 0)]));
        let pieces = [[(1, 1), (1, 2)], [(1, 2), (1, 3)], [(1, 2), (0, 0)]];
        assert_eq!(traced(vec![a, b]), pieces.map(|piece| line(&piece)));
    }

    #[test]
    fn a_line_that_meets_nothing_stays_whole() {
        let ring = line(&[(0, 0), (0, 1), (1, 0), (0, 0)]);
        assert_eq!(traced(vec![ring.clone()]), [ring]);
        assert_eq!(traced(vec![line(&[(1, 1)])]), [line(&[(1, 1), (1, 1)])]);
    }
}
