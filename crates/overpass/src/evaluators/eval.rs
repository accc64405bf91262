//! Runs an evaluator over one element.

use std::sync::Arc;

use super::code::{Code, Key};
use super::value::Value;
use super::{element, members, operators, shapes};
use crate::reader::Reader;
use crate::set::{AreaOrdinal, Derived, Set};
use crate::syntax::BinaryOperator;
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal, PairId};

/// Ids of areas made from relations begin here.
const AREA_IDS: i64 = 3_600_000_000;

/// What an evaluator is evaluated for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Subject<'s> {
    /// Nothing: in `make` and `if`.
    None,
    Element(ElementType, Ordinal),
    Area(AreaOrdinal),
    Derived(&'s Arc<Derived>),
}

/// A member of the element, by its place from 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub at: usize,
}

/// What is at hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<'s> {
    pub subject: Subject<'s>,
    pub member: Option<Place>,
    /// The key that a generic property is at.
    pub key: Option<&'s str>,
}

impl<'s> From<Subject<'s>> for Scope<'s> {
    fn from(subject: Subject<'s>) -> Self {
        Scope { subject, member: None, key: None }
    }
}

/// Every element of a set, in the order of the ordinals.
pub(super) fn subjects(set: &Set) -> impl Iterator<Item = Subject<'_>> {
    let part = |kind: ElementType| set.part(kind).iter().map(move |&ordinal| Subject::Element(kind, ordinal));
    part(ElementType::Node)
        .chain(part(ElementType::Way))
        .chain(part(ElementType::Relation))
        .chain(set.areas.iter().map(|&area| Subject::Area(area)))
        .chain(set.derived.iter().map(Subject::Derived))
}

/// The value of an evaluator.
pub(super) fn eval(reader: &mut Reader<'_>, code: &Code, scope: Scope<'_>) -> Value {
    budget::tick();
    match code {
        Code::Constant(value) => value.charged_clone(),
        Code::Tag(key) => tag(reader, scope.subject, key),
        Code::TagOf(key) => {
            let key = eval(reader, key, scope);
            let key = Key::new(reader.osm(), &key.to_text());
            tag(reader, scope.subject, &key)
        }
        Code::GenericTag => match scope.key {
            Some(name) => {
                let key = Key::new(reader.osm(), name);
                tag(reader, scope.subject, &key)
            }
            None => Value::EMPTY,
        },
        Code::IsTag(key) => Value::flag(has_tag(reader, scope.subject, key)),
        Code::Element(function) => element::function(reader, *function, scope.subject),
        Code::CountMembers(which) => members::count(reader, which, scope.subject),
        Code::PerMember(code) => members::per_member(reader, code, scope),
        Code::PerVertex(code) => members::per_vertex(reader, code, scope),
        Code::Member(function) => members::function(reader, *function, scope),
        Code::Unary(operator, operand) => operators::unary(*operator, &eval(reader, operand, scope)),
        Code::Binary(operator, a, b) => binary(reader, *operator, a, b, scope),
        Code::And(a, b) => Value::flag(eval(reader, a, scope).is_true() && eval(reader, b, scope).is_true()),
        Code::Or(a, b) => Value::flag(eval(reader, a, scope).is_true() || eval(reader, b, scope).is_true()),
        Code::Ternary(condition, then, otherwise) => {
            let chosen = if eval(reader, condition, scope).is_true() { then } else { otherwise };
            eval(reader, chosen, scope)
        }
        Code::Text(f, a) => f(&eval(reader, a, scope)),
        Code::Texts(f, a, b) => f(&eval(reader, a, scope), &eval(reader, b, scope)),
        Code::Shape(function, args) => shapes::function(reader, *function, args, scope),
    }
}

fn binary(reader: &mut Reader<'_>, operator: BinaryOperator, a: &Code, b: &Code, scope: Scope<'_>) -> Value {
    let (a, b) = (eval(reader, a, scope), eval(reader, b, scope));
    operators::binary(operator, &a, &b)
}

/// The element whose tags the subject has: of an area those of its relation.
pub(super) fn tagged(reader: &Reader<'_>, subject: Subject<'_>) -> Option<(ElementType, Ordinal)> {
    match subject {
        Subject::Element(kind, ordinal) => Some((kind, ordinal)),
        Subject::Area(area) => reader.osm().areas().relation(area).map(|r| (ElementType::Relation, r)),
        Subject::None | Subject::Derived(_) => None,
    }
}

/// The keys of the subject's tags.
pub(super) fn keys(reader: &mut Reader<'_>, subject: Subject<'_>) -> Vec<String> {
    if let Subject::Derived(derived) = subject {
        let tags = if reader.is_bare() { &[] } else { derived.tags.as_slice() };
        return tags.iter().map(|(key, _)| key.clone()).collect();
    }
    let Some((kind, ordinal)) = tagged(reader, subject) else { return Vec::new() };
    let osm = reader.osm();
    reader.tags(kind, ordinal).iter().map(|&pair| osm.key_name(osm.key_of(pair)).to_owned()).collect()
}

/// The id of an area.
pub(super) fn area_id(reader: &mut Reader<'_>, area: AreaOrdinal) -> Option<i64> {
    let relation = reader.osm().areas().relation(area)?;
    Some(AREA_IDS + reader.id(ElementType::Relation, relation))
}

fn pair(reader: &mut Reader<'_>, subject: Subject<'_>, key: &Key) -> Option<PairId> {
    if key.pairs.is_empty() {
        return None;
    }
    let (kind, ordinal) = tagged(reader, subject)?;
    let tags = reader.tags(kind, ordinal);
    let at = tags.partition_point(|&pair| pair < key.pairs.start);
    tags.get(at).copied().filter(|pair| key.pairs.contains(pair))
}

fn has_tag(reader: &mut Reader<'_>, subject: Subject<'_>, key: &Key) -> bool {
    match subject {
        Subject::Derived(derived) => !reader.is_bare() && derived.tags.iter().any(|(name, _)| *name == key.name),
        _ => pair(reader, subject, key).is_some(),
    }
}

fn tag(reader: &mut Reader<'_>, subject: Subject<'_>, key: &Key) -> Value {
    if let Subject::Derived(derived) = subject {
        let tags = if reader.is_bare() { &[] } else { derived.tags.as_slice() };
        return tags.iter().find(|(name, _)| *name == key.name).map_or(Value::EMPTY, |(_, v)| Value::text(v));
    }
    match pair(reader, subject, key) {
        Some(pair) => reader.osm().with_value(pair, Value::text),
        None => Value::EMPTY,
    }
}
