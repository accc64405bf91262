//! Runs an evaluator over one element.

use super::code::{CompiledEvaluator, TagKeyRange};
use super::scope::{EvaluationScope, Subject, tags};
use super::value::EvaluatorValue;
use super::{element, members, operators, shapes};
use crate::reader::StoreReader;
use crate::syntax::BinaryOperator;
use terrapin_budget as budget;
use terrapin_osm::PairId;

/// Evaluates an evaluator.
pub(super) fn eval(
    reader: &mut StoreReader<'_>,
    code: &CompiledEvaluator,
    scope: EvaluationScope<'_>,
) -> EvaluatorValue {
    budget::checkpoint();
    match code {
        CompiledEvaluator::Constant(value) => value.charged_clone(),
        CompiledEvaluator::Tag(key) => tag(reader, scope.subject, key),
        CompiledEvaluator::TagOf(key) => {
            let key = eval(reader, key, scope);
            let key = TagKeyRange::new(reader.osm(), &key.to_text());
            tag(reader, scope.subject, &key)
        }
        CompiledEvaluator::GenericTag => match scope.key {
            Some(name) => {
                let key = TagKeyRange::new(reader.osm(), name);
                tag(reader, scope.subject, &key)
            }
            None => EvaluatorValue::EMPTY,
        },
        CompiledEvaluator::IsTag(key) => EvaluatorValue::flag(has_tag(reader, scope.subject, key)),
        CompiledEvaluator::Element(function) => element::function(reader, *function, scope.subject),
        CompiledEvaluator::CountMembers(which) => members::count(reader, which, scope.subject),
        CompiledEvaluator::PerMember(code) => {
            members::per_member(reader, scope, |reader, scope| eval(reader, code, scope))
        }
        CompiledEvaluator::PerVertex(code) => {
            members::per_vertex(reader, scope, |reader, scope| eval(reader, code, scope))
        }
        CompiledEvaluator::Member(function) => members::function(reader, *function, scope),
        CompiledEvaluator::Unary(operator, operand) => operators::unary(*operator, &eval(reader, operand, scope)),
        CompiledEvaluator::Binary(operator, a, b) => binary(reader, *operator, a, b, scope),
        CompiledEvaluator::And(a, b) => {
            EvaluatorValue::flag(eval(reader, a, scope).is_true() && eval(reader, b, scope).is_true())
        }
        CompiledEvaluator::Or(a, b) => {
            EvaluatorValue::flag(eval(reader, a, scope).is_true() || eval(reader, b, scope).is_true())
        }
        CompiledEvaluator::Ternary(condition, then, otherwise) => {
            let chosen = if eval(reader, condition, scope).is_true() { then } else { otherwise };
            eval(reader, chosen, scope)
        }
        CompiledEvaluator::Text(f, a) => f(&eval(reader, a, scope)),
        CompiledEvaluator::Texts(f, a, b) => f(&eval(reader, a, scope), &eval(reader, b, scope)),
        CompiledEvaluator::Shape(function, args) => {
            shapes::function(*function, args.iter().map(|arg| eval(reader, arg, scope)))
        }
    }
}

fn binary(
    reader: &mut StoreReader<'_>,
    operator: BinaryOperator,
    a: &CompiledEvaluator,
    b: &CompiledEvaluator,
    scope: EvaluationScope<'_>,
) -> EvaluatorValue {
    let (a, b) = (eval(reader, a, scope), eval(reader, b, scope));
    operators::binary(operator, &a, &b)
}

fn pair(reader: &mut StoreReader<'_>, subject: Subject<'_>, key: &TagKeyRange) -> Option<PairId> {
    if key.pairs.is_empty() {
        return None;
    }
    let tags = tags(reader, subject);
    let at = tags.partition_point(|&pair| pair < key.pairs.start);
    tags.get(at).copied().filter(|pair| key.pairs.contains(pair))
}

fn has_tag(reader: &mut StoreReader<'_>, subject: Subject<'_>, key: &TagKeyRange) -> bool {
    match subject {
        Subject::Derived(derived) => !reader.is_bare() && derived.tags.iter().any(|(name, _)| *name == key.name),
        _ => pair(reader, subject, key).is_some(),
    }
}

fn tag(reader: &mut StoreReader<'_>, subject: Subject<'_>, key: &TagKeyRange) -> EvaluatorValue {
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
