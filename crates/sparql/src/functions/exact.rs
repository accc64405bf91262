//! Arithmetic, comparisons, rounding and casts for numbers of any size and for truth values. The evaluator's integers
//! and decimals are bounded, and it does not use truth values as numbers. Before an expression is passed to the
//! evaluator, calls of these functions replace its operators. Values of other kinds are passed on to the evaluator's
//! operators.

use std::cmp::Ordering;
use std::sync::LazyLock;

use oxrdf::vocab::{rdf, xsd};
use oxrdf::{Literal, NamedNode, NamedNodeRef, Term, Variable};
use spareval::QueryEvaluator;
use sparopt::algebra::Expression as Prepared;

use super::numbers::{Number, Operation};
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function, Helper, Pattern, Unary};
use terrapin_sparql_syntax::convert;
use terrapin_sparql_syntax::walk::NodeMut;

/// The namespace of these functions.
const NAMESPACE: &str = "urn:terrapin:exact:";

/// A function of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exact {
    Calculate(Operation),
    Compare(Comparison),
    Plus,
    Negate,
    Among,
    Round(Rounding),
    IsNumeric,
    Truth,
    Cast(Cast),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
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
const FUNCTIONS: [(Exact, &str); 23] = [
    (Exact::Calculate(Operation::Plus), "plus"),
    (Exact::Calculate(Operation::Minus), "minus"),
    (Exact::Calculate(Operation::Times), "times"),
    (Exact::Calculate(Operation::Over), "over"),
    (Exact::Compare(Comparison::Equal), "equal"),
    (Exact::Compare(Comparison::Less), "less"),
    (Exact::Compare(Comparison::LessOrEqual), "less-or-equal"),
    (Exact::Compare(Comparison::Greater), "greater"),
    (Exact::Compare(Comparison::GreaterOrEqual), "greater-or-equal"),
    (Exact::Plus, "positive"),
    (Exact::Negate, "negative"),
    (Exact::Among, "among"),
    (Exact::Round(Rounding::Abs), "abs"),
    (Exact::Round(Rounding::Ceil), "ceil"),
    (Exact::Round(Rounding::Floor), "floor"),
    (Exact::Round(Rounding::Round), "round"),
    (Exact::IsNumeric, "is-numeric"),
    (Exact::Truth, "truth"),
    (Exact::Cast(Cast::Integer), "integer"),
    (Exact::Cast(Cast::Decimal), "decimal"),
    (Exact::Cast(Cast::Double), "double"),
    (Exact::Cast(Cast::Float), "float"),
    (Exact::Cast(Cast::Boolean), "boolean"),
];

/// The casts that replace the evaluator's.
const CASTS: [(Cast, NamedNodeRef<'static>); 5] = [
    (Cast::Integer, xsd::INTEGER),
    (Cast::Decimal, xsd::DECIMAL),
    (Cast::Double, xsd::DOUBLE),
    (Cast::Float, xsd::FLOAT),
    (Cast::Boolean, xsd::BOOLEAN),
];

/// Registers the functions with an evaluator.
pub(super) fn register(mut evaluator: QueryEvaluator) -> QueryEvaluator {
    for (function, name) in FUNCTIONS {
        let name = NamedNode::new_unchecked(format!("{NAMESPACE}{name}"));
        evaluator = evaluator.with_custom_function(name, move |arguments| function.call(arguments));
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

/// Replaces the operators in all expressions of a pattern.
pub(crate) fn exactly_within(pattern: &mut Pattern) {
    on_children(NodeMut::Pattern(pattern));
    match pattern {
        Pattern::Filter { condition, .. }
        | Pattern::LeftJoin { condition: Some(condition), .. }
        | Pattern::LeftLateral { condition: Some(condition), .. } => truth(condition),
        _ => {}
    }
}

fn on_children(node: NodeMut<'_>) {
    node.children(&mut |child| match child {
        NodeMut::Expression(child) => exactly(child),
        NodeMut::Pattern(pattern) => exactly_within(pattern),
        NodeMut::SortKey(_) | NodeMut::Aggregate(_) => on_children(child),
        NodeMut::Path(_) => {}
    });
}

/// Wraps an expression in a conversion to its effective boolean value, if it may be a number or a truth value.
pub(crate) fn truth(expression: &mut Expression) {
    if kind(expression) != Kind::Other {
        *expression = call(Exact::Truth, vec![std::mem::take(expression)]);
    }
}

/// Returns the function that replaces an expression, with its arguments, which are moved out of the expression.
fn replaced(expression: &mut Expression) -> Option<(Exact, Vec<Expression>)> {
    let (function, arguments) = match expression {
        Expression::Binary(operator, a, b) => {
            let function = match operator {
                Binary::Add => Exact::Calculate(Operation::Plus),
                Binary::Subtract => Exact::Calculate(Operation::Minus),
                Binary::Multiply => Exact::Calculate(Operation::Times),
                Binary::Divide => Exact::Calculate(Operation::Over),
                Binary::Equal => Exact::Compare(Comparison::Equal),
                Binary::Less => Exact::Compare(Comparison::Less),
                Binary::LessOrEqual => Exact::Compare(Comparison::LessOrEqual),
                Binary::Greater => Exact::Compare(Comparison::Greater),
                Binary::GreaterOrEqual => Exact::Compare(Comparison::GreaterOrEqual),
                Binary::Or | Binary::And | Binary::SameTerm => return None,
            };
            match function {
                Exact::Compare(Comparison::Equal) if !is_equated(a, b) => return None,
                Exact::Compare(comparison) if comparison != Comparison::Equal && !is_compared(a, b) => return None,
                _ => {}
            }
            (function, vec![std::mem::take(&mut **a), std::mem::take(&mut **b)])
        }
        Expression::Unary(Unary::Minus, inner) => (Exact::Negate, vec![std::mem::take(&mut **inner)]),
        Expression::Unary(Unary::Plus, inner) => (Exact::Plus, vec![std::mem::take(&mut **inner)]),
        Expression::In(value, list) if list.iter().any(|item| is_equated(value, item)) => {
            if !list.iter().all(is_constant) {
                return None;
            }
            let mut arguments = vec![std::mem::take(&mut **value)];
            arguments.append(list);
            (Exact::Among, arguments)
        }
        Expression::Call(called, arguments) => {
            let function = match called {
                Function::Abs => Exact::Round(Rounding::Abs),
                Function::Ceil => Exact::Round(Rounding::Ceil),
                Function::Floor => Exact::Round(Rounding::Floor),
                Function::Round => Exact::Round(Rounding::Round),
                Function::IsNumeric => Exact::IsNumeric,
                Function::Custom(name) if arguments.len() == 1 => {
                    Exact::Cast(CASTS.iter().find(|(_, cast)| *cast == name.as_ref())?.0)
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
enum Kind {
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
    !kinds.contains(&Kind::Other) && kinds.contains(&Kind::Wide)
}

/// Returns the same for an equality test. A single such side is enough: a large number is never equal to a string, but
/// the evaluator takes it for a literal of unknown type.
fn is_equated(a: &Expression, b: &Expression) -> bool {
    let is_iri = |expression: &Expression| matches!(expression, Expression::NamedNode(_));
    [kind(a), kind(b)].contains(&Kind::Wide) && !is_iri(a) && !is_iri(b)
}

fn kind(expression: &Expression) -> Kind {
    let widest = |all: &mut dyn Iterator<Item = Kind>| {
        all.fold(Kind::Other, |so_far, kind| match (so_far, kind) {
            (Kind::Wide, _) | (_, Kind::Wide) => Kind::Wide,
            (Kind::Small, _) | (_, Kind::Small) => Kind::Small,
            _ => Kind::Other,
        })
    };
    match expression {
        Expression::NamedNode(_) | Expression::Bound(_) | Expression::Exists(_) | Expression::In(..) => Kind::Other,
        Expression::Literal(literal) => match Number::of_literal(literal) {
            Some(Number::WideInteger(_) | Number::WideDecimal(_)) => Kind::Wide,
            Some(_) => Kind::Small,
            None if literal.datatype() == xsd::BOOLEAN => Kind::Wide,
            None => Kind::Other,
        },
        Expression::Variable(_) => Kind::Wide,
        Expression::Unary(Unary::Not, _) => Kind::Other,
        Expression::Unary(Unary::Plus | Unary::Minus, _) => Kind::Wide,
        Expression::Binary(operator, ..) => match operator {
            Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide => Kind::Wide,
            _ => Kind::Other,
        },
        Expression::If(_, a, b) => widest(&mut [a, b].into_iter().map(|part| kind(part))),
        Expression::Coalesce(list) => widest(&mut list.iter().map(kind)),
        Expression::Call(function, _) => match function {
            Function::Abs | Function::Ceil | Function::Floor | Function::Round | Function::StrDt => Kind::Wide,
            Function::Year
            | Function::Month
            | Function::Day
            | Function::Hours
            | Function::Minutes
            | Function::Seconds
            | Function::StrLen
            | Function::Rand => Kind::Small,
            Function::Custom(name) => match name.as_str().strip_prefix(NAMESPACE) {
                Some(name) => match FUNCTIONS.iter().find(|(_, known)| *known == name) {
                    Some((function, _)) if function.gives_number() => Kind::Wide,
                    _ => Kind::Other,
                },
                None if super::gives_text_or_truth(name) => Kind::Other,
                None => Kind::Wide,
            },
            _ => Kind::Other,
        },
    }
}

fn call(function: Exact, arguments: Vec<Expression>) -> Expression {
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

impl Exact {
    /// Returns whether the function's value is a number, not a truth value.
    fn gives_number(self) -> bool {
        match self {
            Exact::Calculate(_) | Exact::Plus | Exact::Negate | Exact::Round(_) => true,
            Exact::Compare(_) | Exact::Among | Exact::IsNumeric | Exact::Truth => false,
            Exact::Cast(cast) => cast != Cast::Boolean,
        }
    }

    fn call(self, arguments: &[Term]) -> Option<Term> {
        match (self, arguments) {
            (Exact::Calculate(operation), [a, b]) => match (Number::of(a), Number::of(b)) {
                (Some(a), Some(b)) => a.calculate(operation, &b).map(|number| number.term()),
                _ => self.evaluated(arguments),
            },
            (Exact::Compare(comparison), [a, b]) => compare(comparison, a, b),
            (Exact::Plus | Exact::Negate, [value]) => match (self, Number::of(value)) {
                (Exact::Plus, Some(number)) => Some(number.term()),
                (_, Some(number)) => number.negated().map(|number| number.term()),
                (_, None) => self.evaluated(arguments),
            },
            (Exact::Among, [value, list @ ..]) => {
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
            (Exact::Round(rounding), [value]) => {
                let number = Number::of(value)?;
                let rounded = match rounding {
                    Rounding::Abs => number.abs(),
                    Rounding::Ceil => number.ceil(),
                    Rounding::Floor => number.floor(),
                    Rounding::Round => number.round(),
                };
                rounded.map(|number| number.term())
            }
            (Exact::IsNumeric, [value]) => truth_value(Number::of(value).is_some()),
            (Exact::Truth, [value]) => truth_value(holds(value)?),
            (Exact::Cast(cast), [value]) => cast.of(value),
            _ => None,
        }
    }

    /// Applies the evaluator's own operator to values of other kinds.
    fn evaluated(self, arguments: &[Term]) -> Option<Term> {
        static OPERATORS: LazyLock<Vec<(Exact, Prepared)>> = LazyLock::new(|| {
            let two = |operator| Expression::binary(operator, side(0).into(), side(1).into());
            let one = |operator| Expression::Unary(operator, Box::new(side(0).into()));
            [
                (Exact::Calculate(Operation::Plus), two(Binary::Add)),
                (Exact::Calculate(Operation::Minus), two(Binary::Subtract)),
                (Exact::Calculate(Operation::Times), two(Binary::Multiply)),
                (Exact::Calculate(Operation::Over), two(Binary::Divide)),
                (Exact::Compare(Comparison::Equal), two(Binary::Equal)),
                (Exact::Compare(Comparison::Less), two(Binary::Less)),
                (Exact::Compare(Comparison::LessOrEqual), two(Binary::LessOrEqual)),
                (Exact::Compare(Comparison::Greater), two(Binary::Greater)),
                (Exact::Compare(Comparison::GreaterOrEqual), two(Binary::GreaterOrEqual)),
                (Exact::Plus, one(Unary::Plus)),
                (Exact::Negate, one(Unary::Minus)),
            ]
            .into_iter()
            .filter_map(|(function, expression)| Some((function, prepared(expression)?)))
            .collect()
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
pub(crate) fn prepared(expression: Expression) -> Option<Prepared> {
    let pattern = convert::pattern(Pattern::extend(Pattern::default(), Helper::Value.into(), expression));
    match sparopt::algebra::GraphPattern::from(&pattern) {
        sparopt::algebra::GraphPattern::Extend { expression, .. } => Some(expression),
        _ => None,
    }
}

/// Returns the effective boolean value (<https://www.w3.org/TR/sparql11-query/#ebv>).
fn holds(value: &Term) -> Option<bool> {
    let Term::Literal(literal) = value else { return None };
    let datatype = literal.datatype();
    if datatype == xsd::STRING || datatype == rdf::LANG_STRING {
        return Some(!literal.value().is_empty());
    }
    boolean(value).or_else(|| Number::of_literal(literal).map(|number| number.is_truth()))
}

fn compare(comparison: Comparison, a: &Term, b: &Term) -> Option<Term> {
    let (Term::Literal(first), Term::Literal(second)) = (a, b) else {
        // Only literals can be ordered.
        return if comparison == Comparison::Equal { truth_value(a == b) } else { None };
    };
    let order = match (Number::of_literal(first), Number::of_literal(second)) {
        // NaN is neither less than nor equal to any number.
        (Some(a), Some(b)) => a.compare(&b),
        (None, None) => match (boolean(a), boolean(b), is_text(first) && is_text(second)) {
            (Some(a), Some(b), _) => Some(a.cmp(&b)),
            (_, _, true) if comparison == Comparison::Equal => return truth_value(first == second),
            (_, _, true) if first.language() == second.language() => Some(first.value().cmp(second.value())),
            (_, _, true) => return None,
            _ => return Exact::Compare(comparison).evaluated(&[a.clone(), b.clone()]),
        },
        (number, _) => {
            let other = if number.is_some() { second } else { first };
            // A number differs from any value of another type, unless that type is unknown.
            let differs = comparison == Comparison::Equal && !is_unknown(other);
            return if differs { truth_value(false) } else { None };
        }
    };
    truth_value(order.is_some_and(|order| comparison.holds(order)))
}

/// Returns whether a literal is a string, with or without a language.
pub(crate) fn is_text(literal: &Literal) -> bool {
    [xsd::STRING, rdf::LANG_STRING].contains(&literal.datatype())
}

/// Returns whether a literal that is not a number has an unknown datatype. Its value may then be equal to any other.
pub(crate) fn is_unknown(literal: &Literal) -> bool {
    let known = spareval::ExpressionTerm::from(Term::from(literal.clone()));
    matches!(known, spareval::ExpressionTerm::OtherTypedLiteral { .. })
}

/// Returns whether two terms are equal; `None` if the comparison is an error.
pub(crate) fn equal(a: &Term, b: &Term) -> Option<bool> {
    boolean(&compare(Comparison::Equal, a, b)?)
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Equal => order.is_eq(),
            Comparison::Less => order.is_lt(),
            Comparison::LessOrEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterOrEqual => order.is_ge(),
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
