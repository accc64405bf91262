//! Evaluates the functions of geometries: `geom`, `center`, `trace`, `hull`, `pt`, `lstr`, `poly`, `gcat`, and the
//! angle of a line.

use super::scope::Subject;
use super::sphere::{cross, dot, vector};
use super::value::EvaluatorValue;
use super::{hull, trace};
use crate::quadtile::has_place;
use crate::reader::StoreReader;
use crate::set::{DegreePosition, DerivedGeometry};
use crate::syntax::EvaluatorFunction;
use terrapin_budget as budget;
use terrapin_osm::{Coord, ElementType};

/// Returns the geometry of an element: a point, a line, or the collection of its members' geometries. As in the
/// reference, a way without a known location has an empty geometry. Every member of a relation is one part, which may
/// be empty. A way with missing nodes is split there into several lines.
pub(super) fn of(reader: &mut StoreReader<'_>, subject: Subject<'_>) -> Option<DerivedGeometry> {
    match subject {
        Subject::Element(ElementType::Node, node) => Some(DerivedGeometry::Point(reader.coord(node).into())),
        Subject::Element(ElementType::Way, way) => {
            let (page, slot) = reader.way(way);
            let coords = page.coords(slot);
            budget::checkpoints(coords.len());
            if !has_place(coords) {
                return Some(DerivedGeometry::NOTHING);
            }
            let line = |run: &[Coord]| DerivedGeometry::Line(run.iter().copied().map(DegreePosition::from).collect());
            let mut lines: Vec<DerivedGeometry> =
                coords.split(|c| c.is_missing()).filter(|run| !run.is_empty()).map(line).collect();
            match lines.len() {
                0 | 1 => lines.pop(),
                _ => Some(DerivedGeometry::Collection(lines)),
            }
        }
        Subject::Element(ElementType::Relation, relation) => {
            let (page, slot) = reader.relation(relation);
            let parts: Vec<DerivedGeometry> = page
                .members(slot)
                .iter()
                .map(|member| match (member.kind, member.element.ordinal()) {
                    (ElementType::Relation, _) | (_, None) => None,
                    (kind, Some(ordinal)) => of(reader, Subject::Element(kind, ordinal)),
                })
                .map(|part| part.unwrap_or(DerivedGeometry::NOTHING))
                .collect();
            Some(DerivedGeometry::Collection(parts))
        }
        Subject::Derived(derived) => {
            budget::charge(derived.geometry.as_ref().map_or(0, DerivedGeometry::bytes));
            derived.geometry.clone()
        }
        Subject::Area(_) | Subject::None => None,
    }
}

/// Returns the value of a function of geometries. `values` are its arguments.
pub(super) fn function(
    function: EvaluatorFunction,
    mut values: impl Iterator<Item = EvaluatorValue>,
) -> EvaluatorValue {
    let shape = match function {
        EvaluatorFunction::Pt => match (values.next().and_then(|v| v.float()), values.next().and_then(|v| v.float())) {
            (Some(lat), Some(lon)) => Some(DerivedGeometry::Point(DegreePosition { lat, lon })),
            _ => None,
        },
        EvaluatorFunction::Center => match values.next() {
            Some(EvaluatorValue::Shape(Some(shape))) => shape.middle().map(DerivedGeometry::Point),
            _ => None,
        },
        EvaluatorFunction::Lstr => {
            let points = values.filter_map(|value| match value {
                EvaluatorValue::Shape(Some(shape)) => match *shape {
                    DerivedGeometry::Point(p) => Some(p),
                    shape => shape.middle(),
                },
                _ => None,
            });
            Some(DerivedGeometry::Line(points.collect()))
        }
        EvaluatorFunction::Trace => match values.next() {
            Some(EvaluatorValue::Shape(Some(shape))) => Some(trace::trace(&shape)),
            _ => Some(DerivedGeometry::Collection(Vec::new())),
        },
        EvaluatorFunction::Hull => match values.next() {
            Some(EvaluatorValue::Shape(Some(shape))) => hull::hull(&shape),
            _ => None,
        },
        EvaluatorFunction::Poly => {
            let rings = values.filter_map(|value| match value {
                EvaluatorValue::Shape(Some(shape)) => match *shape {
                    DerivedGeometry::Line(line) => Some(line),
                    _ => None,
                },
                _ => None,
            });
            Some(hull::polygon(rings.collect()))
        }
        _ => None,
    };
    EvaluatorValue::Shape(shape.map(Box::new))
}

/// Returns the angle in degrees by which a line turns at one of its points, with three decimals: positive to the right.
/// A closed line also turns at its last point. Returns `None` at the ends.
///
/// Uses the same floating-point operations as the reference. They decide on the sign of zero. They also decide whether
/// a line that turns back has an angle of 180 degrees, or of 0 if rounding makes the cosine larger than one.
pub(super) fn angle(line: &[Coord], at: usize) -> Option<String> {
    let closed = line.len() > 1 && line.first() == line.last();
    let before = *line.get(at.checked_sub(1)?)?;
    let here = *line.get(at)?;
    let after = match line.get(at + 1) {
        Some(&after) => after,
        None if closed => *line.get(1)?,
        None => return None,
    };
    if before == here || here == after {
        return Some("NaN".to_owned());
    }
    let [a, b, c] = [before, here, after].map(|c| vector(DegreePosition::from(c)));
    let (come, go) = (cross(a, b), cross(b, c));
    let cosine = dot(come, go) / dot(come, come).sqrt() / dot(go, go).sqrt();
    let back = [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
    let size = if cosine.abs() > 1.0 { 0.0 } else { libm::acos(cosine).to_degrees() };
    let is_left = dot(back, go) < 0.0 && cosine.abs() <= 1.0;
    Some(format!("{:.3}", if is_left { -size } else { size }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_as_the_reference_prints_them() {
        let line = [
            (-190763330, -1699273185),
            (-190762292, -1699272931),
            (-190762676, -1699271172),
            (-190763725, -1699271428),
            (-190764210, -1699271550),
            (-190763815, -1699273307),
            (-190763330, -1699273185),
        ]
        .map(|(lat, lon)| Coord { lat, lon });
        let angles: Vec<String> = (0..7).map(|at| angle(&line, at).unwrap_or_default()).collect();
        assert_eq!(angles, ["", "89.985", "89.981", "0.385", "90.008", "89.992", "-0.351"]);
        assert_eq!(angle(&line[..3], 2), None);
    }
}
