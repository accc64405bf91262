//! Expands a generic property that has the keys of a set.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::environment::EvaluatorEnvironment;
use super::scope::{keys, subjects};
use crate::syntax::{EvaluatorExpression, ExprKind, Property, PropertyTarget};
use terrapin_budget as budget;

/// Replaces a generic property with a set by one property for each key of the set that no other property names.
pub(super) fn expanded<'p>(environment: EvaluatorEnvironment<'_>, properties: &'p [Property]) -> Cow<'p, [Property]> {
    let source = |property: &'p Property| match property.target {
        PropertyTarget::Generic => property.from.as_ref(),
        _ => None,
    };
    if properties.iter().all(|property| source(property).is_none()) {
        return Cow::Borrowed(properties);
    }
    let mut result = Vec::new();
    for property in properties {
        let Some(from) = source(property) else {
            result.push(property.clone());
            continue;
        };
        for key in all_keys(environment, from) {
            budget::checkpoint();
            let target = PropertyTarget::Tag(key.clone());
            if properties.iter().all(|other| other.target != target) {
                let value = property.value.clone().map(|value| of_key(value, &key));
                result.push(Property { target, from: None, value });
            }
        }
    }
    Cow::Owned(result)
}

/// Returns the keys of all elements of a set, in byte order.
fn all_keys(environment: EvaluatorEnvironment<'_>, set: &str) -> BTreeSet<String> {
    let mut reader = environment.reader();
    let set = environment.set(set);
    subjects(&set)
        .flat_map(|subject| {
            budget::checkpoint();
            keys(&mut reader, subject)
        })
        .collect()
}

/// Replaces `::` by the tag with the given key.
fn of_key(expr: EvaluatorExpression, key: &str) -> EvaluatorExpression {
    let inner = |expr: Box<EvaluatorExpression>| Box::new(of_key(*expr, key));
    let EvaluatorExpression { span, kind } = expr;
    let kind = match kind {
        ExprKind::GenericTag => {
            ExprKind::Tag(Box::new(EvaluatorExpression { span, kind: ExprKind::Fixed(key.to_owned()) }))
        }
        ExprKind::Tag(name) => ExprKind::Tag(inner(name)),
        ExprKind::Call { function, set, args } => {
            let args = args.into_iter().map(|arg| of_key(arg, key)).collect();
            ExprKind::Call { function, set, args }
        }
        ExprKind::Unary { operator, operand } => ExprKind::Unary { operator, operand: inner(operand) },
        ExprKind::Binary { operator, left, right } => {
            ExprKind::Binary { operator, left: inner(left), right: inner(right) }
        }
        ExprKind::Ternary { condition, then, otherwise } => {
            ExprKind::Ternary { condition: inner(condition), then: inner(then), otherwise: inner(otherwise) }
        }
        kind @ (ExprKind::Fixed(_) | ExprKind::SetKey { .. }) => kind,
    };
    EvaluatorExpression { span, kind }
}
