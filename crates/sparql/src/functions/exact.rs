//! Arithmetic, comparisons, rounding and casts for numbers of any size and for truth values. The evaluator's integers
//! and decimals are bounded, and it does not use truth values as numbers. Before an expression is passed to the
//! evaluator, calls of these functions replace its operators. Values of other kinds are passed on to the evaluator's
//! operators.

use std::cmp::Ordering;
use std::sync::LazyLock;

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term, Triple, Variable};
use spareval::QueryEvaluator;
use sparopt::algebra::Expression as Prepared;

use super::numbers::{ArithmeticOperation, Number};
pub(crate) use crate::order::is_text;
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function, Helper, QueryPattern, Unary};
use terrapin_sparql_syntax::convert;
use terrapin_sparql_syntax::walk::NodeMut;

/// The namespace of these functions.
const NAMESPACE: &str = "urn:terrapin:exact:";

/// A function of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExactFunction {
    Calculate(ArithmeticOperation),
    Compare(ComparisonOperator),
    Plus,
    Negate,
    Among,
    Round(Rounding),
    IsNumeric,
    Truth,
    Cast(Cast),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComparisonOperator {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rounding {
    Abs,
    Ceil,
    Floor,
    Round,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cast {
    Integer,
    Decimal,
    Double,
    Float,
    Boolean,
}

/// All functions and their names.
const FUNCTIONS: [(ExactFunction, &str); 23] = [
    (ExactFunction::Calculate(ArithmeticOperation::Plus), "plus"),
    (ExactFunction::Calculate(ArithmeticOperation::Minus), "minus"),
    (ExactFunction::Calculate(ArithmeticOperation::Times), "times"),
    (ExactFunction::Calculate(ArithmeticOperation::Over), "over"),
    (ExactFunction::Compare(ComparisonOperator::Equal), "equal"),
    (ExactFunction::Compare(ComparisonOperator::Less), "less"),
    (ExactFunction::Compare(ComparisonOperator::LessOrEqual), "less-or-equal"),
    (ExactFunction::Compare(ComparisonOperator::Greater), "greater"),
    (ExactFunction::Compare(ComparisonOperator::GreaterOrEqual), "greater-or-equal"),
    (ExactFunction::Plus, "positive"),
    (ExactFunction::Negate, "negative"),
    (ExactFunction::Among, "among"),
    (ExactFunction::Round(Rounding::Abs), "abs"),
    (ExactFunction::Round(Rounding::Ceil), "ceil"),
    (ExactFunction::Round(Rounding::Floor), "floor"),
    (ExactFunction::Round(Rounding::Round), "round"),
    (ExactFunction::IsNumeric, "is-numeric"),
    (ExactFunction::Truth, "truth"),
    (ExactFunction::Cast(Cast::Integer), "integer"),
    (ExactFunction::Cast(Cast::Decimal), "decimal"),
    (ExactFunction::Cast(Cast::Double), "double"),
    (ExactFunction::Cast(Cast::Float), "float"),
    (ExactFunction::Cast(Cast::Boolean), "boolean"),
];

/// The casts that replace the evaluator's.
const CASTS: [(Cast, NamedNodeRef<'static>); 5] = [
    (Cast::Integer, xsd::INTEGER),
    (Cast::Decimal, xsd::DECIMAL),
    (Cast::Double, xsd::DOUBLE),
    (Cast::Float, xsd::FLOAT),
    (Cast::Boolean, xsd::BOOLEAN),
];

/// Registers the functions with an evaluator. With `is_standard`, an equality of dates that depends on an unknown time
/// zone is an error.
pub(super) fn register(mut evaluator: QueryEvaluator, is_standard: bool) -> QueryEvaluator {
    for (function, name) in FUNCTIONS {
        let name = NamedNode::new_unchecked(format!("{NAMESPACE}{name}"));
        evaluator = match (function, is_standard) {
            (ExactFunction::Compare(ComparisonOperator::Equal), true) => {
                evaluator.with_custom_function(name, determinate_equal)
            }
            _ => evaluator.with_custom_function(name, move |arguments| function.call(arguments)),
        };
    }
    evaluator
}

/// Replaces the evaluator's operators by these functions where the results could differ.
pub(crate) fn exactly(expression: &mut Expression) {
    on_children(NodeMut::Expression(expression));
    match expression {
        Expression::Unary(Unary::Not, inner) => truth(inner),
        Expression::Binary(Binary::And | Binary::Or, a, b) => {
            truth(a);
            truth(b);
        }
        Expression::If(condition, ..) => truth(condition),
        _ => {}
    }
    if let Some((function, arguments)) = replaced(expression) {
        *expression = call(function, arguments);
    }
}

fn on_children(node: NodeMut<'_>) {
    node.children(&mut |child| {
        if let NodeMut::Expression(child) = child {
            exactly(child);
        }
    });
}

/// Wraps an expression in a conversion to its effective boolean value, if it may be a number or a truth value.
pub(crate) fn truth(expression: &mut Expression) {
    if kind(expression) != ValueBounds::Other {
        *expression = call(ExactFunction::Truth, vec![std::mem::take(expression)]);
    }
}

/// Returns the function that replaces an expression, with its arguments, which are moved out of the expression.
fn replaced(expression: &mut Expression) -> Option<(ExactFunction, Vec<Expression>)> {
    let (function, arguments) = match expression {
        Expression::Binary(operator, a, b) => {
            let function = match operator {
                Binary::Add => ExactFunction::Calculate(ArithmeticOperation::Plus),
                Binary::Subtract => ExactFunction::Calculate(ArithmeticOperation::Minus),
                Binary::Multiply => ExactFunction::Calculate(ArithmeticOperation::Times),
                Binary::Divide => ExactFunction::Calculate(ArithmeticOperation::Over),
                Binary::Equal => ExactFunction::Compare(ComparisonOperator::Equal),
                Binary::Less => ExactFunction::Compare(ComparisonOperator::Less),
                Binary::LessOrEqual => ExactFunction::Compare(ComparisonOperator::LessOrEqual),
                Binary::Greater => ExactFunction::Compare(ComparisonOperator::Greater),
                Binary::GreaterOrEqual => ExactFunction::Compare(ComparisonOperator::GreaterOrEqual),
                Binary::Or | Binary::And | Binary::SameTerm => return None,
            };
            match function {
                ExactFunction::Compare(ComparisonOperator::Equal) if !is_equated(a, b) => return None,
                ExactFunction::Compare(comparison) if comparison != ComparisonOperator::Equal && !is_compared(a, b) => {
                    return None;
                }
                _ => {}
            }
            (function, vec![std::mem::take(&mut **a), std::mem::take(&mut **b)])
        }
        Expression::Unary(Unary::Minus, inner) => (ExactFunction::Negate, vec![std::mem::take(&mut **inner)]),
        Expression::Unary(Unary::Plus, inner) => (ExactFunction::Plus, vec![std::mem::take(&mut **inner)]),
        Expression::In(value, list) if list.iter().any(|item| is_equated(value, item)) => {
            if !list.iter().all(is_constant) {
                return None;
            }
            let mut arguments = vec![std::mem::take(&mut **value)];
            arguments.append(list);
            (ExactFunction::Among, arguments)
        }
        Expression::Call(called, arguments) => {
            let function = match called {
                Function::Abs => ExactFunction::Round(Rounding::Abs),
                Function::Ceil => ExactFunction::Round(Rounding::Ceil),
                Function::Floor => ExactFunction::Round(Rounding::Floor),
                Function::Round => ExactFunction::Round(Rounding::Round),
                Function::IsNumeric => ExactFunction::IsNumeric,
                Function::Custom(name) if arguments.len() == 1 => {
                    ExactFunction::Cast(CASTS.iter().find(|(_, cast)| *cast == name.as_ref())?.0)
                }
                _ => return None,
            };
            (function, std::mem::take(arguments))
        }
        _ => return None,
    };
    Some((function, arguments))
}

/// Returns whether an expression is a constant term.
pub(crate) fn is_constant(expression: &Expression) -> bool {
    matches!(expression, Expression::NamedNode(_) | Expression::Literal(_))
}

/// The kinds of values that an expression may have, as far as this module needs them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ValueBounds {
    /// A number within the evaluator's range.
    Small,
    /// Any number, or a truth value that may be compared.
    Wide,
    /// Neither: the evaluator's operators are correct.
    Other,
}

/// Returns whether a comparison may involve numbers outside the evaluator's range, or truth values.
fn is_compared(a: &Expression, b: &Expression) -> bool {
    let kinds = [kind(a), kind(b)];
    !kinds.contains(&ValueBounds::Other) && kinds.contains(&ValueBounds::Wide)
}

/// Returns the same for an equality test. A single such side is enough: a large number is never equal to a string, but
/// the evaluator takes it for a literal of unknown type.
fn is_equated(a: &Expression, b: &Expression) -> bool {
    let is_iri = |expression: &Expression| matches!(expression, Expression::NamedNode(_));
    [kind(a), kind(b)].contains(&ValueBounds::Wide) && !is_iri(a) && !is_iri(b)
}

fn kind(expression: &Expression) -> ValueBounds {
    let widest = |all: &mut dyn Iterator<Item = ValueBounds>| {
        all.fold(ValueBounds::Other, |so_far, kind| match (so_far, kind) {
            (ValueBounds::Wide, _) | (_, ValueBounds::Wide) => ValueBounds::Wide,
            (ValueBounds::Small, _) | (_, ValueBounds::Small) => ValueBounds::Small,
            _ => ValueBounds::Other,
        })
    };
    match expression {
        Expression::NamedNode(_) | Expression::Bound(_) | Expression::Exists(_) | Expression::In(..) => {
            ValueBounds::Other
        }
        Expression::Literal(literal) => match Number::of_literal(literal) {
            Some(Number::WideInteger(_) | Number::WideDecimal(_)) => ValueBounds::Wide,
            Some(_) => ValueBounds::Small,
            None if literal.datatype() == xsd::BOOLEAN => ValueBounds::Wide,
            None => ValueBounds::Other,
        },
        Expression::Variable(_) => ValueBounds::Wide,
        Expression::Unary(Unary::Not, _) => ValueBounds::Other,
        Expression::Unary(Unary::Plus | Unary::Minus, _) => ValueBounds::Wide,
        Expression::Binary(operator, ..) => match operator {
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide => ValueBounds::Wide,
            _ => ValueBounds::Other,
        },
        Expression::If(_, a, b) => widest(&mut [a, b].into_iter().map(|part| kind(part))),
        Expression::Coalesce(list) => widest(&mut list.iter().map(kind)),
        Expression::Own(function, _) if function.gives_number() => ValueBounds::Wide,
        Expression::Own(..) => ValueBounds::Other,
        Expression::Call(function, _) => match function {
            Function::Abs | Function::Ceil | Function::Floor | Function::Round | Function::StrDt => ValueBounds::Wide,
            // Triple terms are compared by this module. An object may be any number.
            Function::Triple | Function::Object => ValueBounds::Wide,
            Function::Year
            | Function::Month
            | Function::Day
            | Function::Hours
            | Function::Minutes
            | Function::Seconds
            | Function::StrLen
            | Function::Rand => ValueBounds::Small,
            Function::Custom(name) => match name.as_str().strip_prefix(NAMESPACE) {
                Some(name) => match FUNCTIONS.iter().find(|(_, known)| *known == name) {
                    Some((function, _)) if function.gives_number() => ValueBounds::Wide,
                    _ => ValueBounds::Other,
                },
                None => ValueBounds::Wide,
            },
            _ => ValueBounds::Other,
        },
    }
}

fn call(function: ExactFunction, arguments: Vec<Expression>) -> Expression {
    let name = FUNCTIONS.iter().find(|(known, _)| *known == function).map_or("", |(_, name)| name);
    Expression::Call(Function::Custom(NamedNode::new_unchecked(format!("{NAMESPACE}{name}"))), arguments)
}

fn truth_value(value: bool) -> Option<Term> {
    Some(Literal::from(value).into())
}

/// Returns the truth value of a boolean literal.
fn boolean(term: &Term) -> Option<bool> {
    match term {
        Term::Literal(literal) if literal.datatype() == xsd::BOOLEAN => match literal.value() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

impl ExactFunction {
    /// Returns whether the function's value is a number, not a truth value.
    fn gives_number(self) -> bool {
        match self {
            ExactFunction::Calculate(_) | ExactFunction::Plus | ExactFunction::Negate | ExactFunction::Round(_) => true,
            ExactFunction::Compare(_) | ExactFunction::Among | ExactFunction::IsNumeric | ExactFunction::Truth => false,
            ExactFunction::Cast(cast) => cast != Cast::Boolean,
        }
    }

    fn call(self, arguments: &[Term]) -> Option<Term> {
        match (self, arguments) {
            (ExactFunction::Calculate(operation), [a, b]) => match (Number::of(a), Number::of(b)) {
                (Some(a), Some(b)) => a.calculate(operation, &b).map(|number| number.term()),
                _ => self.evaluated(arguments),
            },
            (ExactFunction::Compare(comparison), [a, b]) => compare(comparison, a, b),
            (ExactFunction::Plus | ExactFunction::Negate, [value]) => match (self, Number::of(value)) {
                (ExactFunction::Plus, Some(number)) => Some(number.term()),
                (_, Some(number)) => number.negated().map(|number| number.term()),
                (_, None) => self.evaluated(arguments),
            },
            (ExactFunction::Among, [value, list @ ..]) => {
                let mut any = Some(false);
                for item in list {
                    match equal(value, item) {
                        Some(true) => return truth_value(true),
                        Some(false) => {}
                        None => any = None,
                    }
                }
                truth_value(any?)
            }
            (ExactFunction::Round(rounding), [value]) => {
                let number = Number::of(value)?;
                let rounded = match rounding {
                    Rounding::Abs => number.abs(),
                    Rounding::Ceil => number.ceil(),
                    Rounding::Floor => number.floor(),
                    Rounding::Round => number.round(),
                };
                rounded.map(|number| number.term())
            }
            (ExactFunction::IsNumeric, [value]) => truth_value(Number::of(value).is_some()),
            (ExactFunction::Truth, [value]) => truth_value(holds(value)?),
            (ExactFunction::Cast(cast), [value]) => cast.of(value),
            _ => None,
        }
    }

    /// Applies the evaluator's own operator to values of other kinds.
    fn evaluated(self, arguments: &[Term]) -> Option<Term> {
        static OPERATORS: LazyLock<[(ExactFunction, Prepared); 11]> = LazyLock::new(|| {
            let two = |operator| Expression::binary(operator, side(0).into(), side(1).into());
            let one = |operator| Expression::Unary(operator, Box::new(side(0).into()));
            [
                (ExactFunction::Calculate(ArithmeticOperation::Plus), two(Binary::Add)),
                (ExactFunction::Calculate(ArithmeticOperation::Minus), two(Binary::Subtract)),
                (ExactFunction::Calculate(ArithmeticOperation::Times), two(Binary::Multiply)),
                (ExactFunction::Calculate(ArithmeticOperation::Over), two(Binary::Divide)),
                (ExactFunction::Compare(ComparisonOperator::Equal), two(Binary::Equal)),
                (ExactFunction::Compare(ComparisonOperator::Less), two(Binary::Less)),
                (ExactFunction::Compare(ComparisonOperator::LessOrEqual), two(Binary::LessOrEqual)),
                (ExactFunction::Compare(ComparisonOperator::Greater), two(Binary::Greater)),
                (ExactFunction::Compare(ComparisonOperator::GreaterOrEqual), two(Binary::GreaterOrEqual)),
                (ExactFunction::Plus, one(Unary::Plus)),
                (ExactFunction::Negate, one(Unary::Minus)),
            ]
            .map(|(function, expression)| (function, prepared(expression)))
        });
        static EVALUATOR: LazyLock<QueryEvaluator> = LazyLock::new(QueryEvaluator::new);
        let operators = terrapin_budget::unwatched(|| &*OPERATORS);
        let (_, operator) = operators.iter().find(|(function, _)| *function == self)?;
        let (first, second) = (side(0), side(1));
        let values = [&first, &second].into_iter().zip(arguments.iter().cloned());
        EVALUATOR.evaluate_expression(operator, values)
    }
}

/// Returns the variable for one operand.
fn side(number: usize) -> Variable {
    Helper::Argument(number).into()
}

/// Converts an expression to the evaluator's form. The library only converts whole patterns, so the expression is
/// wrapped in one.
pub(crate) fn prepared(expression: Expression) -> Prepared {
    let pattern = convert::pattern(QueryPattern::extend(QueryPattern::default(), Helper::Value.into(), expression));
    match sparopt::algebra::GraphPattern::from(&pattern) {
        sparopt::algebra::GraphPattern::Extend { expression, .. } => expression,
        // An expression that is always an error.
        _ => Prepared::Coalesce(Vec::new()),
    }
}

/// Returns the effective boolean value (<https://www.w3.org/TR/sparql11-query/#ebv>).
fn holds(value: &Term) -> Option<bool> {
    let Term::Literal(literal) = value else { return None };
    if is_text(literal) {
        return Some(!literal.value().is_empty());
    }
    boolean(value).or_else(|| Number::of_literal(literal).map(|number| number.is_truth()))
}

fn compare(comparison: ComparisonOperator, a: &Term, b: &Term) -> Option<Term> {
    let (Term::Literal(first), Term::Literal(second)) = (a, b) else {
        // Only literals can be ordered.
        return match (comparison, a, b) {
            (ComparisonOperator::Equal, Term::Triple(a), Term::Triple(b)) => equal_triples(a, b).and_then(truth_value),
            (ComparisonOperator::Equal, ..) => truth_value(a == b),
            _ => None,
        };
    };
    let order = match (Number::of_literal(first), Number::of_literal(second)) {
        // NaN is neither less than nor equal to any number.
        (Some(a), Some(b)) => a.compare(&b),
        (None, None) => match (boolean(a), boolean(b), is_text(first) && is_text(second)) {
            (Some(a), Some(b), _) => Some(a.cmp(&b)),
            (_, _, true) if comparison == ComparisonOperator::Equal => return truth_value(first == second),
            (_, _, true) if is_same_language(first, second) => Some(first.value().cmp(second.value())),
            (_, _, true) => return None,
            _ => return ExactFunction::Compare(comparison).evaluated(&[a.clone(), b.clone()]),
        },
        (number, _) => {
            let other = if number.is_some() { second } else { first };
            // A number differs from any value of another type, unless that type is unknown.
            let differs = comparison == ComparisonOperator::Equal && !is_unknown(other);
            return if differs { truth_value(false) } else { None };
        }
    };
    truth_value(order.is_some_and(|order| comparison.holds(order)))
}

/// Compares two values for equality. Two dates or times of which one has a time zone may be equal or not if they are
/// less than 14 hours apart; this is an error (XML Schema 1.0 part 2, section 3.2.7.4).
fn determinate_equal(arguments: &[Term]) -> Option<Term> {
    let [a, b] = arguments else { return None };
    let result = compare(ComparisonOperator::Equal, a, b)?;
    let (Term::Literal(first), Term::Literal(second)) = (a, b) else { return Some(result) };
    let is_time = [xsd::DATE, xsd::DATE_TIME, xsd::TIME].contains(&first.datatype());
    if !is_time || first.datatype() != second.datatype() || boolean(&result) == Some(true) {
        return Some(result);
    }
    // The order is undefined in exactly this case.
    compare(ComparisonOperator::Less, a, b).map(|_| result)
}

/// Returns whether two literals have the same language and base direction, or none.
pub(crate) fn is_same_language(a: &Literal, b: &Literal) -> bool {
    a.language() == b.language() && a.direction() == b.direction()
}

/// Returns whether two triple terms have equal components; `None` if the comparison of their objects is an error.
fn equal_triples(a: &Triple, b: &Triple) -> Option<bool> {
    if a.subject != b.subject || a.predicate != b.predicate {
        return Some(false);
    }
    equal(&a.object, &b.object)
}

/// Returns whether a literal that is not a number has an unknown datatype. Its value may then be equal to any other.
pub(crate) fn is_unknown(literal: &Literal) -> bool {
    let known = spareval::ExpressionTerm::from(Term::from(literal.clone()));
    matches!(known, spareval::ExpressionTerm::OtherTypedLiteral { .. })
}

/// Returns whether two terms are equal; `None` if the comparison is an error.
pub(crate) fn equal(a: &Term, b: &Term) -> Option<bool> {
    boolean(&compare(ComparisonOperator::Equal, a, b)?)
}

impl ComparisonOperator {
    fn holds(self, order: Ordering) -> bool {
        match self {
            ComparisonOperator::Equal => order.is_eq(),
            ComparisonOperator::Less => order.is_lt(),
            ComparisonOperator::LessOrEqual => order.is_le(),
            ComparisonOperator::Greater => order.is_gt(),
            ComparisonOperator::GreaterOrEqual => order.is_ge(),
        }
    }
}

impl Cast {
    /// Casts a value (<https://www.w3.org/TR/sparql11-query/#FunctionMapping>).
    fn of(self, value: &Term) -> Option<Term> {
        let Term::Literal(literal) = value else { return None };
        let number = if literal.datatype() == xsd::STRING {
            // XML Schema ignores white space at both ends of the text.
            let text = literal.value().trim_matches([' ', '\t', '\n', '\r']);
            if self == Cast::Boolean {
                return truth_value(text.parse::<oxsdatatypes::Boolean>().ok()?.into());
            }
            match self {
                Cast::Integer => Number::integer(text),
                Cast::Decimal => Number::decimal(text),
                Cast::Float => text.parse().ok().map(Number::Float),
                Cast::Double | Cast::Boolean => text.parse().ok().map(Number::Double),
            }?
        } else if let Some(value) = boolean(value) {
            Number::truth(value)
        } else {
            Number::of_literal(literal)?
        };
        let number = match self {
            Cast::Integer => number.to_integer()?,
            Cast::Decimal => number.to_decimal()?,
            Cast::Double => Number::Double(number.double()),
            Cast::Float => Number::Float(number.float()),
            Cast::Boolean => return truth_value(number.is_truth()),
        };
        Some(number.term())
    }
}
