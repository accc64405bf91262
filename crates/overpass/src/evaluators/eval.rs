//! Runs an evaluator over one element.

use super::code::{Code, Key};
use super::scope::{Scope, Subject, tags};
use super::value::EvaluatorValue;
use super::{element, members, operators, shapes};
use crate::reader::Reader;
use crate::syntax::BinaryOperator;
use terrapin_budget as budget;
use terrapin_osm::PairId;

/// Evaluates an evaluator.
pub(super) fn eval(reader: &mut Reader<'_>, code: &Code, scope: Scope<'_>) -> EvaluatorValue {
    budget::checkpoint();
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
            None => EvaluatorValue::EMPTY,
        },
        Code::IsTag(key) => EvaluatorValue::flag(has_tag(reader, scope.subject, key)),
        Code::Element(function) => element::function(reader, *function, scope.subject),
        Code::CountMembers(which) => members::count(reader, which, scope.subject),
        Code::PerMember(code) => members::per_member(reader, scope, |reader, scope| eval(reader, code, scope)),
        Code::PerVertex(code) => members::per_vertex(reader, scope, |reader, scope| eval(reader, code, scope)),
        Code::Member(function) => members::function(reader, *function, scope),
        Code::Unary(operator, operand) => operators::unary(*operator, &eval(reader, operand, scope)),
        Code::Binary(operator, a, b) => binary(reader, *operator, a, b, scope),
        Code::And(a, b) => EvaluatorValue::flag(eval(reader, a, scope).is_true() && eval(reader, b, scope).is_true()),
        Code::Or(a, b) => EvaluatorValue::flag(eval(reader, a, scope).is_true() || eval(reader, b, scope).is_true()),
        Code::Ternary(condition, then, otherwise) => {
            let chosen = if eval(reader, condition, scope).is_true() { then } else { otherwise };
            eval(reader, chosen, scope)
        }
        Code::Text(f, a) => f(&eval(reader, a, scope)),
        Code::Texts(f, a, b) => f(&eval(reader, a, scope), &eval(reader, b, scope)),
        Code::Shape(function, args) => shapes::function(*function, args.iter().map(|arg| eval(reader, arg, scope))),
    }
}

fn binary(reader: &mut Reader<'_>, operator: BinaryOperator, a: &Code, b: &Code, scope: Scope<'_>) -> EvaluatorValue {
    let (a, b) = (eval(reader, a, scope), eval(reader, b, scope));
    operators::binary(operator, &a, &b)
}

fn pair(reader: &mut Reader<'_>, subject: Subject<'_>, key: &Key) -> Option<PairId> {
    if key.pairs.is_empty() {
        return None;
    }
    let tags = tags(reader, subject);
    let at = tags.partition_point(|&pair| pair < key.pairs.start);
    tags.get(at).copied().filter(|pair| key.pairs.contains(pair))
}

fn has_tag(reader: &mut Reader<'_>, subject: Subject<'_>, key: &Key) -> bool {
    match subject {
        Subject::Derived(derived) => !reader.is_bare() && derived.tags.iter().any(|(name, _)| *name == key.name),
        _ => pair(reader, subject, key).is_some(),
    }
}

fn tag(reader: &mut Reader<'_>, subject: Subject<'_>, key: &Key) -> EvaluatorValue {
    if let Subject::Derived(derived) = subject {
        let tags = if reader.is_bare() { &[] } else { derived.tags.as_slice() };
        return tags
            .iter()
            .find(|(name, _)| *name == key.name)
            .map_or(EvaluatorValue::EMPTY, |(_, v)| EvaluatorValue::text(v));
    }
    match pair(reader, subject, key) {
        Some(pair) => reader.osm().with_value(pair, EvaluatorValue::text),
        None => EvaluatorValue::EMPTY,
    }
}
