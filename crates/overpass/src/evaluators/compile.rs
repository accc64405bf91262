//! Compiles evaluators: looks up keys and evaluates all parts that do not depend on an element.

use super::code::{Code, Key, Members};
use super::environment::Environment;
use super::value::EvaluatorValue;
use super::{aggregates, lists, operators, strings};
use crate::Failure;
use crate::syntax::{BinaryOperator, Expr, ExprKind, Function};
use terrapin_osm::ElementType;

impl Code {
    /// Compiles an evaluator. Functions of sets are evaluated here.
    pub fn new(environment: Environment<'_>, expr: &Expr) -> Result<Code, Failure> {
        Ok(match &expr.kind {
            ExprKind::Fixed(text) => Code::Constant(EvaluatorValue::text(text)),
            ExprKind::Tag(key) => match Code::new(environment, key)? {
                Code::Constant(key) => Code::Tag(Key::new(environment.osm, &key.to_text())),
                key => Code::TagOf(Box::new(key)),
            },
            ExprKind::GenericTag => Code::GenericTag,
            ExprKind::SetKey { set, key } => Code::Constant(match environment.loop_values.get(set) {
                Some(value) if key == "val" => EvaluatorValue::text(value),
                _ => EvaluatorValue::EMPTY,
            }),
            ExprKind::Call { function, set, args } => Code::call(environment, *function, set.as_deref(), args)?,
            ExprKind::Unary { operator, operand } => match Code::new(environment, operand)? {
                Code::Constant(value) => Code::Constant(operators::unary(*operator, &value)),
                operand => Code::Unary(*operator, Box::new(operand)),
            },
            ExprKind::Binary { operator, left, right } => {
                let (left, right) = (Code::new(environment, left)?, Code::new(environment, right)?);
                match (operator, left, right) {
                    (_, Code::Constant(a), Code::Constant(b)) => Code::Constant(operators::binary(*operator, &a, &b)),
                    (BinaryOperator::And, a, b) => Code::And(Box::new(a), Box::new(b)),
                    (BinaryOperator::Or, a, b) => Code::Or(Box::new(a), Box::new(b)),
                    (_, a, b) => Code::Binary(*operator, Box::new(a), Box::new(b)),
                }
            }
            // As in the reference, neither branch is chosen.
            ExprKind::Ternary { condition, .. } if has_no_value(environment, condition) => {
                Code::Constant(EvaluatorValue::flag(false))
            }
            ExprKind::Ternary { condition, then, otherwise } => match Code::new(environment, condition)? {
                Code::Constant(value) => Code::new(environment, if value.is_true() { then } else { otherwise })?,
                condition => Code::Ternary(
                    Box::new(condition),
                    Box::new(Code::new(environment, then)?),
                    Box::new(Code::new(environment, otherwise)?),
                ),
            },
        })
    }

    fn call(
        environment: Environment<'_>,
        function: Function,
        set: Option<&str>,
        args: &[Expr],
    ) -> Result<Code, Failure> {
        let word = |n: usize| match args.get(n).map(|arg| &arg.kind) {
            Some(ExprKind::Fixed(text)) => Some(text.as_str()),
            _ => None,
        };
        let arg = |n: usize| match args.get(n) {
            Some(arg) => Code::new(environment, arg).map(Box::new),
            None => Ok(Box::new(Code::Constant(EvaluatorValue::EMPTY))),
        };
        let text = |f: fn(&EvaluatorValue) -> EvaluatorValue| -> Result<Code, Failure> {
            Ok(match *arg(0)? {
                Code::Constant(value) => Code::Constant(f(&value)),
                code => Code::Text(f, Box::new(code)),
            })
        };
        let texts = |f: fn(&EvaluatorValue, &EvaluatorValue) -> EvaluatorValue| -> Result<Code, Failure> {
            Ok(Code::Texts(f, arg(0)?, arg(1)?))
        };
        let members = |distinct: bool, role: bool| {
            let kind = word(usize::from(role)).and_then(member_type);
            let role = role.then(|| word(0).unwrap_or_default().to_owned());
            Code::CountMembers(Members { distinct, role, kind })
        };
        Ok(match function {
            Function::Id
            | Function::Type
            | Function::Version
            | Function::Timestamp
            | Function::Changeset
            | Function::Uid
            | Function::User
            | Function::Lat
            | Function::Lon
            | Function::Length
            | Function::IsClosed
            | Function::Geom
            | Function::CountTags
            | Function::Keys => Code::Element(function),
            Function::IsTag => Code::IsTag(Key::new(environment.osm, word(0).unwrap_or_default())),
            Function::CountMembers => members(false, false),
            Function::CountDistinctMembers => members(true, false),
            Function::CountByRole | Function::CountMembersByRole => members(false, true),
            Function::CountDistinctByRole => members(true, true),
            Function::PerMember => Code::PerMember(arg(0)?),
            Function::PerVertex => Code::PerVertex(arg(0)?),
            Function::Pos | Function::MemberType | Function::Ref | Function::Role | Function::Angle => {
                Code::Member(function)
            }
            Function::Center | Function::Trace | Function::Hull | Function::Pt | Function::Lstr | Function::Poly => {
                Code::Shape(function, args.iter().map(|arg| Code::new(environment, arg)).collect::<Result<_, _>>()?)
            }
            Function::Number => text(strings::number)?,
            Function::IsNumber => text(strings::is_number)?,
            Function::Suffix => text(strings::suffix)?,
            Function::Date => text(strings::date)?,
            Function::IsDate => text(strings::is_date)?,
            Function::Abs => text(strings::abs)?,
            Function::LrsIn => texts(lists::contains)?,
            Function::LrsIsect => texts(lists::intersection)?,
            Function::LrsUnion => texts(lists::union)?,
            Function::LrsMin => text(lists::least)?,
            Function::LrsMax => text(lists::greatest)?,
            Function::Count => {
                let set = environment.set(set.unwrap_or("_"));
                Code::Constant(aggregates::count(&set, word(0).unwrap_or_default()))
            }
            _ if is_missing(environment, function, set) => Code::Constant(EvaluatorValue::EMPTY),
            Function::Union | Function::Min | Function::Max | Function::Sum | Function::Set | Function::Gcat => {
                Code::Constant(aggregates::over(environment, function, &environment.set(set.unwrap_or("_")), *arg(0)?)?)
            }
            Function::Val => Code::Constant(EvaluatorValue::EMPTY),
        })
    }
}

/// Returns whether a whole evaluator has no value because it is a function of a set that was never filled. Then it sets
/// no property, and as a filter it lets all elements pass. Inside another evaluator it is empty. As the condition of `?
/// :` it makes the result 0.
pub(super) fn has_no_value(environment: Environment<'_>, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call { function: Function::PerMember | Function::PerVertex, args, .. } => {
            args.iter().any(|arg| has_no_value(environment, arg))
        }
        ExprKind::Call { function, set, .. } => is_missing(environment, *function, set.as_deref()),
        _ => false,
    }
}

fn is_missing(environment: Environment<'_>, function: Function, set: Option<&str>) -> bool {
    use Function::{Gcat, Max, Min, Set, Sum, Union};
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
