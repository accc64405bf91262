//! Evaluates the functions of an element.

use super::scope::{Subject, area_id, tags};
use super::shapes;
use super::value::EvaluatorValue;
use crate::quadtile::has_place;
use crate::reader::StoreReader;
use crate::set::{DegreePosition, DerivedGeometry};
use crate::syntax::EvaluatorFunction;
use crate::timestamp;
use terrapin_osm::geometry::{line_length, round_length};
use terrapin_osm::{ElementType, MetaRef};

/// Returns the value of a function without arguments.
pub(super) fn function(
    reader: &mut StoreReader<'_>,
    function: EvaluatorFunction,
    subject: Subject<'_>,
) -> EvaluatorValue {
    match function {
        EvaluatorFunction::Id => id(reader, subject),
        EvaluatorFunction::Type => EvaluatorValue::text(match subject {
            Subject::None => "",
            Subject::Element(kind, _) => kind.name(),
            Subject::Area(_) => "area",
            Subject::Derived(derived) => &derived.type_name,
        }),
        EvaluatorFunction::Version => meta(reader, subject, |_, meta| EvaluatorValue::Int(i64::from(meta.version))),
        EvaluatorFunction::Timestamp => {
            meta(reader, subject, |_, meta| EvaluatorValue::Text(timestamp::print_version_time(meta.timestamp)))
        }
        EvaluatorFunction::Changeset => meta(reader, subject, |_, meta| EvaluatorValue::Int(meta.changeset)),
        EvaluatorFunction::Uid => meta(reader, subject, |_, meta| EvaluatorValue::Int(meta.uid)),
        EvaluatorFunction::User => {
            meta(reader, subject, |reader, meta| EvaluatorValue::text(reader.osm().user_name(meta.user)))
        }
        EvaluatorFunction::Lat => {
            middle(reader, subject).map_or_else(EvaluatorValue::not_a_number, |(lat, _)| EvaluatorValue::degrees(lat))
        }
        EvaluatorFunction::Lon => {
            middle(reader, subject).map_or_else(EvaluatorValue::not_a_number, |(_, lon)| EvaluatorValue::degrees(lon))
        }
        EvaluatorFunction::Length => match subject {
            Subject::Element(ElementType::Way | ElementType::Relation, _) if !reader.is_bare() => {
                EvaluatorValue::metres(round_length(length(reader, subject)))
            }
            _ => EvaluatorValue::Int(0),
        },
        EvaluatorFunction::IsClosed => match subject {
            Subject::Element(ElementType::Way, way) => {
                let (page, slot) = reader.way(way);
                let nodes = page.nodes(slot);
                EvaluatorValue::flag(!nodes.is_empty() && nodes.first() == nodes.last())
            }
            _ => EvaluatorValue::text("NaW"),
        },
        EvaluatorFunction::Geom => EvaluatorValue::Shape(shapes::of(reader, subject).map(Box::new)),
        EvaluatorFunction::CountTags => EvaluatorValue::Int(match subject {
            Subject::Derived(derived) if !reader.is_bare() => derived.tags.len() as i64,
            _ => tags(reader, subject).len() as i64,
        }),
        _ => EvaluatorValue::EMPTY,
    }
}

fn id(reader: &mut StoreReader<'_>, subject: Subject<'_>) -> EvaluatorValue {
    match subject {
        Subject::Element(kind, ordinal) => EvaluatorValue::Int(reader.id(kind, ordinal)),
        Subject::Area(area) => area_id(reader, area).map_or(EvaluatorValue::EMPTY, EvaluatorValue::Int),
        Subject::Derived(derived) => EvaluatorValue::Int(derived.id),
        Subject::None => EvaluatorValue::EMPTY,
    }
}

fn meta(
    reader: &mut StoreReader<'_>,
    subject: Subject<'_>,
    value: impl FnOnce(&mut StoreReader<'_>, MetaRef) -> EvaluatorValue,
) -> EvaluatorValue {
    match subject {
        Subject::Element(kind, ordinal) if !reader.is_bare() => {
            let meta = reader.meta(kind, ordinal);
            value(reader, meta)
        }
        _ => EvaluatorValue::EMPTY,
    }
}

/// Returns the center of the element's box, in 1e-7 degrees.
fn middle(reader: &mut StoreReader<'_>, subject: Subject<'_>) -> Option<(i64, i64)> {
    let center = match subject {
        Subject::Element(..) if reader.is_bare() => None,
        Subject::Element(ElementType::Node, node) => {
            let c = reader.coord(node);
            return Some((i64::from(c.lat), i64::from(c.lon)));
        }
        Subject::Element(kind, ordinal) => reader.extent(kind, ordinal).around().as_ref().map(DegreePosition::middle),
        Subject::Derived(derived) => derived.geometry.as_ref().and_then(DerivedGeometry::middle),
        Subject::Area(_) | Subject::None => None,
    }?;
    Some((decimals(center.lat), decimals(center.lon)))
}

/// Returns printed degrees as units of 1e-7 degrees. Rounds the exact decimal value of the double, as printing does.
fn decimals(degrees: f64) -> i64 {
    format!("{degrees:.7}").replace('.', "").parse().unwrap_or_default()
}

/// Returns the length of a way or of all way members in metres, not rounded.
fn length(reader: &mut StoreReader<'_>, subject: Subject<'_>) -> f64 {
    match subject {
        Subject::Element(ElementType::Way, way) => {
            let (page, slot) = reader.way(way);
            // As in the reference, which then does not know the positions of the nodes.
            if has_place(page.coords(slot)) { line_length(page.coords(slot)) } else { 0.0 }
        }
        Subject::Element(ElementType::Relation, relation) => {
            let (page, slot) = reader.relation(relation);
            page.members(slot)
                .iter()
                .filter(|member| member.kind == ElementType::Way)
                .filter_map(|member| member.element.ordinal())
                .map(|way| length(reader, Subject::Element(ElementType::Way, way)))
                .fold(0.0, |sum, part| sum + part)
        }
        _ => 0.0,
    }
}
