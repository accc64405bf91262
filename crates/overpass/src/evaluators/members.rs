//! Evaluates the functions of an element's members: the members of a relation, the nodes of a way.

use std::collections::BTreeSet;

use super::code::MemberSelector;
use super::scope::{EvaluationScope, MemberPosition, Subject};
use super::shapes;
use super::value::EvaluatorValue;
use crate::reader::StoreReader;
use crate::syntax::EvaluatorFunction;
use terrapin_budget as budget;
use terrapin_osm::{ElementRef, ElementType};

/// Returns the number of members of a type and role. The nodes of a way have no type and no role here.
pub(super) fn count(reader: &mut StoreReader<'_>, which: &MemberSelector, subject: Subject<'_>) -> EvaluatorValue {
    let found: Vec<(ElementType, ElementRef)> = match subject {
        Subject::Element(ElementType::Way, way) if which.role.is_none() && which.kind.is_none() => {
            let (page, slot) = reader.way(way);
            page.nodes(slot).iter().map(|&node| (ElementType::Node, node)).collect()
        }
        Subject::Element(ElementType::Relation, relation) => {
            let (page, slot) = reader.relation(relation);
            let role = match which.role.as_deref().map(|role| reader.osm().find_role(role)) {
                Some(None) => return EvaluatorValue::Int(0),
                Some(Some(role)) => Some(role),
                None => None,
            };
            page.members(slot)
                .iter()
                .filter(|m| role.is_none_or(|role| m.role == role) && which.kind.is_none_or(|kind| m.kind == kind))
                .map(|m| (m.kind, m.element))
                .collect()
        }
        _ => Vec::new(),
    };
    EvaluatorValue::Int(
        if which.distinct { found.into_iter().collect::<BTreeSet<_>>().len() } else { found.len() } as i64
    )
}

/// Returns the number of the element's members.
fn length(reader: &mut StoreReader<'_>, subject: Subject<'_>) -> usize {
    match subject {
        Subject::Element(ElementType::Way, way) => {
            let (page, slot) = reader.way(way);
            page.nodes(slot).len()
        }
        Subject::Element(ElementType::Relation, relation) => {
            let (page, slot) = reader.relation(relation);
            page.members(slot).len()
        }
        _ => 0,
    }
}

fn over(
    reader: &mut StoreReader<'_>,
    scope: EvaluationScope<'_>,
    places: std::ops::Range<usize>,
    value: impl Fn(&mut StoreReader<'_>, EvaluationScope<'_>) -> EvaluatorValue,
) -> EvaluatorValue {
    let mut text = String::new();
    let start = places.start;
    for at in places {
        budget::checkpoint();
        if at > start {
            text.push(';');
        }
        text += &value(reader, EvaluationScope { member: Some(MemberPosition { at }), ..scope }).to_text();
    }
    EvaluatorValue::Text(text)
}

/// Evaluates `per_member(a)`: the values for all members, separated by semicolons. `value` is the value of `a` for one
/// member.
pub(super) fn per_member(
    reader: &mut StoreReader<'_>,
    scope: EvaluationScope<'_>,
    value: impl Fn(&mut StoreReader<'_>, EvaluationScope<'_>) -> EvaluatorValue,
) -> EvaluatorValue {
    let members = length(reader, scope.subject);
    over(reader, scope, 0..members, value)
}

/// Evaluates `per_vertex(a)`: the values for the vertices of a way, separated by semicolons. The ends are left out,
/// except the last node of a closed way.
pub(super) fn per_vertex(
    reader: &mut StoreReader<'_>,
    scope: EvaluationScope<'_>,
    value: impl Fn(&mut StoreReader<'_>, EvaluationScope<'_>) -> EvaluatorValue,
) -> EvaluatorValue {
    let Subject::Element(ElementType::Way, way) = scope.subject else { return EvaluatorValue::EMPTY };
    let (page, slot) = reader.way(way);
    let nodes = page.nodes(slot);
    let end =
        if nodes.len() > 2 && nodes.first() == nodes.last() { nodes.len() } else { nodes.len().saturating_sub(1) };
    over(reader, scope, 1.min(end)..end, value)
}

/// Evaluates `pos()`, `mtype()`, `ref()`, `role()`, `angle()` of the current member.
pub(super) fn function(
    reader: &mut StoreReader<'_>,
    function: EvaluatorFunction,
    scope: EvaluationScope<'_>,
) -> EvaluatorValue {
    let Some(MemberPosition { at }) = scope.member else { return EvaluatorValue::EMPTY };
    if function == EvaluatorFunction::Pos {
        return EvaluatorValue::Int(at as i64 + 1);
    }
    match scope.subject {
        Subject::Element(ElementType::Way, way) => {
            let (page, slot) = reader.way(way);
            let Some(&node) = page.nodes(slot).get(at) else { return EvaluatorValue::EMPTY };
            match function {
                EvaluatorFunction::MemberType => EvaluatorValue::text(ElementType::Node.name()),
                EvaluatorFunction::Ref => EvaluatorValue::Int(reader.ref_id(ElementType::Node, node)),
                EvaluatorFunction::Angle if !reader.is_bare() => {
                    shapes::angle(page.coords(slot), at).map_or(EvaluatorValue::EMPTY, EvaluatorValue::Text)
                }
                _ => EvaluatorValue::EMPTY,
            }
        }
        Subject::Element(ElementType::Relation, relation) => {
            let (page, slot) = reader.relation(relation);
            let Some(&member) = page.members(slot).get(at) else { return EvaluatorValue::EMPTY };
            match function {
                EvaluatorFunction::MemberType => EvaluatorValue::text(member.kind.name()),
                EvaluatorFunction::Ref => EvaluatorValue::Int(reader.ref_id(member.kind, member.element)),
                EvaluatorFunction::Role => EvaluatorValue::text(reader.osm().role(member.role)),
                _ => EvaluatorValue::EMPTY,
            }
        }
        _ => EvaluatorValue::EMPTY,
    }
}
