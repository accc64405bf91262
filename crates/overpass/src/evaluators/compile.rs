//! Compiles evaluators: looks up keys and evaluates all parts that do not depend on an element.

use super::code::{CompiledEvaluator, MemberSelector, TagKeyRange};
use super::environment::EvaluatorEnvironment;
use super::value::EvaluatorValue;
use super::{aggregates, lists, operators, strings};
use crate::OverpassFailure;
use crate::syntax::{BinaryOperator, EvaluatorExpression, EvaluatorFunction, ExprKind};
use terrapin_osm::ElementType;

impl CompiledEvaluator {
    /// Compiles an evaluator. Functions of sets are evaluated here.
    pub fn new(
        environment: EvaluatorEnvironment<'_>,
        expr: &EvaluatorExpression,
    ) -> Result<CompiledEvaluator, OverpassFailure> {
        Ok(match &expr.kind {
            ExprKind::Fixed(text) => CompiledEvaluator::Constant(EvaluatorValue::text(text)),
            ExprKind::Tag(key) => match CompiledEvaluator::new(environment, key)? {
                CompiledEvaluator::Constant(key) => {
                    CompiledEvaluator::Tag(TagKeyRange::new(environment.osm, &key.to_text()))
                }
                key => CompiledEvaluator::TagOf(Box::new(key)),
            },
            ExprKind::GenericTag => CompiledEvaluator::GenericTag,
            ExprKind::SetKey { set, key } => CompiledEvaluator::Constant(match environment.loop_values.get(set) {
                Some(value) if key == "val" => EvaluatorValue::text(value),
                _ => EvaluatorValue::EMPTY,
            }),
            ExprKind::Call { function, set, args } => {
                CompiledEvaluator::call(environment, *function, set.as_deref(), args)?
            }
            ExprKind::Unary { operator, operand } => match CompiledEvaluator::new(environment, operand)? {
                CompiledEvaluator::Constant(value) => CompiledEvaluator::Constant(operators::unary(*operator, &value)),
                operand => CompiledEvaluator::Unary(*operator, Box::new(operand)),
            },
            ExprKind::Binary { operator, left, right } => {
                let (left, right) =
                    (CompiledEvaluator::new(environment, left)?, CompiledEvaluator::new(environment, right)?);
                match (operator, left, right) {
                    (_, CompiledEvaluator::Constant(a), CompiledEvaluator::Constant(b)) => {
                        CompiledEvaluator::Constant(operators::binary(*operator, &a, &b))
                    }
                    (BinaryOperator::And, a, b) => CompiledEvaluator::And(Box::new(a), Box::new(b)),
                    (BinaryOperator::Or, a, b) => CompiledEvaluator::Or(Box::new(a), Box::new(b)),
                    (_, a, b) => CompiledEvaluator::Binary(*operator, Box::new(a), Box::new(b)),
                }
            }
            // As in the reference, neither branch is chosen.
            ExprKind::Ternary { condition, .. } if has_no_value(environment, condition) => {
                CompiledEvaluator::Constant(EvaluatorValue::flag(false))
            }
            ExprKind::Ternary { condition, then, otherwise } => match CompiledEvaluator::new(environment, condition)? {
                CompiledEvaluator::Constant(value) => {
                    CompiledEvaluator::new(environment, if value.is_true() { then } else { otherwise })?
                }
                condition => CompiledEvaluator::Ternary(
                    Box::new(condition),
                    Box::new(CompiledEvaluator::new(environment, then)?),
                    Box::new(CompiledEvaluator::new(environment, otherwise)?),
                ),
            },
        })
    }

    fn call(
        environment: EvaluatorEnvironment<'_>,
        function: EvaluatorFunction,
        set: Option<&str>,
        args: &[EvaluatorExpression],
    ) -> Result<CompiledEvaluator, OverpassFailure> {
        let word = |n: usize| match args.get(n).map(|arg| &arg.kind) {
            Some(ExprKind::Fixed(text)) => Some(text.as_str()),
            _ => None,
        };
        let arg = |n: usize| match args.get(n) {
            Some(arg) => CompiledEvaluator::new(environment, arg).map(Box::new),
            None => Ok(Box::new(CompiledEvaluator::Constant(EvaluatorValue::EMPTY))),
        };
        let text = |f: fn(&EvaluatorValue) -> EvaluatorValue| -> Result<CompiledEvaluator, OverpassFailure> {
            Ok(match *arg(0)? {
                CompiledEvaluator::Constant(value) => CompiledEvaluator::Constant(f(&value)),
                code => CompiledEvaluator::Text(f, Box::new(code)),
            })
        };
        let texts =
            |f: fn(&EvaluatorValue, &EvaluatorValue) -> EvaluatorValue| -> Result<CompiledEvaluator, OverpassFailure> {
                Ok(CompiledEvaluator::Texts(f, arg(0)?, arg(1)?))
            };
        let members = |distinct: bool, role: bool| {
            let kind = word(usize::from(role)).and_then(member_type);
            let role = role.then(|| word(0).unwrap_or_default().to_owned());
            CompiledEvaluator::CountMembers(MemberSelector { distinct, role, kind })
        };
        Ok(match function {
            EvaluatorFunction::Id
            | EvaluatorFunction::Type
            | EvaluatorFunction::Version
            | EvaluatorFunction::Timestamp
            | EvaluatorFunction::Changeset
            | EvaluatorFunction::Uid
            | EvaluatorFunction::User
            | EvaluatorFunction::Lat
            | EvaluatorFunction::Lon
            | EvaluatorFunction::Length
            | EvaluatorFunction::IsClosed
            | EvaluatorFunction::Geom
            | EvaluatorFunction::CountTags
            | EvaluatorFunction::Keys => CompiledEvaluator::Element(function),
            EvaluatorFunction::IsTag => {
                CompiledEvaluator::IsTag(TagKeyRange::new(environment.osm, word(0).unwrap_or_default()))
            }
            EvaluatorFunction::CountMembers => members(false, false),
            EvaluatorFunction::CountDistinctMembers => members(true, false),
            EvaluatorFunction::CountByRole | EvaluatorFunction::CountMembersByRole => members(false, true),
            EvaluatorFunction::CountDistinctByRole => members(true, true),
            EvaluatorFunction::PerMember => CompiledEvaluator::PerMember(arg(0)?),
            EvaluatorFunction::PerVertex => CompiledEvaluator::PerVertex(arg(0)?),
            EvaluatorFunction::Pos
            | EvaluatorFunction::MemberType
            | EvaluatorFunction::Ref
            | EvaluatorFunction::Role
            | EvaluatorFunction::Angle => CompiledEvaluator::Member(function),
            EvaluatorFunction::Center
            | EvaluatorFunction::Trace
            | EvaluatorFunction::Hull
            | EvaluatorFunction::Pt
            | EvaluatorFunction::Lstr
            | EvaluatorFunction::Poly => CompiledEvaluator::Shape(
                function,
                args.iter().map(|arg| CompiledEvaluator::new(environment, arg)).collect::<Result<_, _>>()?,
            ),
            EvaluatorFunction::Number => text(strings::number)?,
            EvaluatorFunction::IsNumber => text(strings::is_number)?,
            EvaluatorFunction::Suffix => text(strings::suffix)?,
            EvaluatorFunction::Date => text(strings::date)?,
            EvaluatorFunction::IsDate => text(strings::is_date)?,
            EvaluatorFunction::Abs => text(strings::abs)?,
            EvaluatorFunction::LrsIn => texts(lists::contains)?,
            EvaluatorFunction::LrsIsect => texts(lists::intersection)?,
            EvaluatorFunction::LrsUnion => texts(lists::union)?,
            EvaluatorFunction::LrsMin => text(lists::least)?,
            EvaluatorFunction::LrsMax => text(lists::greatest)?,
            EvaluatorFunction::Count => {
                let set = environment.set(set.unwrap_or("_"));
                CompiledEvaluator::Constant(aggregates::count(&set, word(0).unwrap_or_default()))
            }
            _ if is_missing(environment, function, set) => CompiledEvaluator::Constant(EvaluatorValue::EMPTY),
            EvaluatorFunction::Union
            | EvaluatorFunction::Min
            | EvaluatorFunction::Max
            | EvaluatorFunction::Sum
            | EvaluatorFunction::Set
            | EvaluatorFunction::Gcat => CompiledEvaluator::Constant(aggregates::over(
                environment,
                function,
                &environment.set(set.unwrap_or("_")),
                *arg(0)?,
            )),
            EvaluatorFunction::Val => CompiledEvaluator::Constant(EvaluatorValue::EMPTY),
        })
    }
}

/// Returns whether a whole evaluator has no value because it is a function of a set that was never filled. Then it sets
/// no property, and as a filter it lets all elements pass. Inside another evaluator it is empty. As the condition of `?
/// :` it makes the result 0.
pub(super) fn has_no_value(environment: EvaluatorEnvironment<'_>, expr: &EvaluatorExpression) -> bool {
    match &expr.kind {
        ExprKind::Call { function: EvaluatorFunction::PerMember | EvaluatorFunction::PerVertex, args, .. } => {
            args.iter().any(|arg| has_no_value(environment, arg))
        }
        ExprKind::Call { function, set, .. } => is_missing(environment, *function, set.as_deref()),
        _ => false,
    }
}

fn is_missing(environment: EvaluatorEnvironment<'_>, function: EvaluatorFunction, set: Option<&str>) -> bool {
    use EvaluatorFunction::{Gcat, Max, Min, Set, Sum, Union};
    matches!(function, Union | Min | Max | Sum | Set | Gcat) && !environment.sets.contains_key(set.unwrap_or("_"))
}

fn member_type(word: &str) -> Option<ElementType> {
    match word {
        "nodes" => Some(ElementType::Node),
        "ways" => Some(ElementType::Way),
        "relations" => Some(ElementType::Relation),
        _ => None,
    }
}
