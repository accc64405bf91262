//! Rewrites expressions: operators that WDQS evaluates differently from the evaluator, and functions with a different
//! value in every run.
//!
//! Only expressions with a possibly different result are rewritten: a comparison of numbers or a difference of years is
//! unchanged.

use oxrdf::Literal;
use oxrdf::vocab::xsd;

use super::{PatternScope, QueryRewriter, Result};
use crate::functions::{check_pattern, dates};
use crate::order::is_numeric;
use crate::syntax::Dialect;
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function, OwnFunction, Unary};
use terrapin_sparql_syntax::walk::NodeMut;

/// Returns whether an expression can only be a number or an error.
fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => is_numeric(literal.datatype()),
        Expression::Unary(Unary::Plus | Unary::Minus, inner) => is_number(inner),
        Expression::Binary(operator, a, b) => match operator {
            Binary::Multiply | Binary::Divide => true,
            Binary::Add | Binary::Subtract => is_number(a) || is_number(b),
            _ => false,
        },
        Expression::If(_, a, b) => is_number(a) && is_number(b),
        Expression::Coalesce(all) => all.iter().all(is_number),
        Expression::Call(function, _) => match function {
            Function::Year
            | Function::Month
            | Function::Day
            | Function::Hours
            | Function::Minutes
            | Function::Seconds
            | Function::StrLen
            | Function::Abs
            | Function::Ceil
            | Function::Floor
            | Function::Round
            | Function::Rand => true,
            Function::Custom(name) => is_numeric(name.as_ref()),
            _ => false,
        },
        _ => false,
    }
}

/// Returns whether an expression is certainly a date.
fn is_date(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => [xsd::DATE, xsd::DATE_TIME].contains(&literal.datatype()),
        Expression::Call(Function::Now, _) => true,
        Expression::Call(Function::Custom(name), _) => [xsd::DATE, xsd::DATE_TIME].contains(&name.as_ref()),
        _ => false,
    }
}

/// Returns whether the value of an expression may be an IRI, judging by its form.
fn may_be_iri(expression: &Expression) -> bool {
    match expression {
        Expression::Variable(_) | Expression::NamedNode(_) => true,
        Expression::If(_, a, b) => may_be_iri(a) || may_be_iri(b),
        Expression::Coalesce(all) => all.iter().any(may_be_iri),
        Expression::Call(Function::Iri, _) => true,
        _ => false,
    }
}

impl QueryRewriter<'_> {
    pub(super) fn expression(&mut self, mut expression: Expression, scope: &PatternScope) -> Result<Expression> {
        match expression {
            Expression::Literal(literal) => {
                let repaired = dates::repaired(&literal).filter(|_| self.is_wdqs());
                Ok(Expression::Literal(repaired.unwrap_or(literal)))
            }
            Expression::Binary(operator, a, b) => self.binary(operator, *a, *b, scope),
            Expression::Exists(pattern) => {
                let scope = PatternScope { correlated: true, ..scope.clone() };
                Ok(Expression::Exists(Box::new(self.settled(*pattern, &scope)?)))
            }
            Expression::Call(function, arguments) => {
                let arguments = arguments.into_iter().map(|e| self.expression(e, scope)).collect::<Result<_>>()?;
                self.call(function, arguments)
            }
            Expression::NamedNode(_)
            | Expression::Variable(_)
            | Expression::Bound(_)
            | Expression::Unary(..)
            | Expression::In(..)
            | Expression::If(..)
            | Expression::Own(..)
            | Expression::Coalesce(_) => {
                self.parts(&mut expression, scope)?;
                Ok(match expression {
                    Expression::Unary(Unary::Not, inner) => Expression::not(self.truth(*inner)),
                    Expression::If(condition, yes, no) => Expression::If(Box::new(self.truth(*condition)), yes, no),
                    expression => expression,
                })
            }
        }
    }

    /// Rewrites a condition.
    pub(super) fn condition(&mut self, condition: Expression, scope: &PatternScope) -> Result<Expression> {
        let condition = self.expression(condition, scope)?;
        Ok(self.truth(condition))
    }

    /// Rewrites a variable or a literal of which the truth value is needed. Only strings without a language have one in
    /// SPARQL 1.2 (<https://www.w3.org/TR/sparql12-query/#ebv>); in WDQS and in SPARQL 1.1 all strings have one.
    fn truth(&self, condition: Expression) -> Expression {
        if self.dialect != Dialect::Standard || !matches!(condition, Expression::Variable(_) | Expression::Literal(_)) {
            return condition;
        }
        let has_language = Expression::Call(Function::HasLang, vec![condition.clone()]);
        Expression::If(Box::new(has_language), Box::default(), Box::new(condition))
    }

    /// Rewrites the direct subexpressions of an expression.
    fn parts(&mut self, expression: &mut Expression, scope: &PatternScope) -> Result<()> {
        let mut done = Ok(());
        NodeMut::Expression(expression).children(&mut |child| {
            if let NodeMut::Expression(child) = child
                && done.is_ok()
            {
                done = self.expression(std::mem::take(child), scope).map(|rewritten| *child = rewritten);
            }
        });
        done
    }

    fn call(&mut self, function: Function, mut arguments: Vec<Expression>) -> Result<Expression> {
        let own = match &function {
            Function::Now => OwnFunction::Now,
            Function::Rand => OwnFunction::Rand,
            Function::Uuid => OwnFunction::Uuid,
            Function::StrUuid => OwnFunction::StrUuid,
            Function::Regex => {
                check_pattern(&arguments, false)?;
                OwnFunction::Regex
            }
            Function::Replace => {
                check_pattern(&arguments, true)?;
                OwnFunction::Replace
            }
            Function::Concat => OwnFunction::Concat,
            Function::EncodeForUri => OwnFunction::EncodeForUri,
            Function::Iri => {
                let base = self.base.iter().map(|base| Literal::new_simple_literal(base.as_str()).into());
                arguments.extend(base);
                OwnFunction::Iri
            }
            Function::BNode => match (&self.solution, &arguments[..]) {
                (_, []) => OwnFunction::BNode,
                (Some(solution), [_]) => {
                    arguments.insert(0, solution.clone().into());
                    OwnFunction::BNode
                }
                _ => return Ok(Expression::Call(function, arguments)),
            },
            Function::Custom(name) => {
                self.function(name)?;
                return Ok(Expression::Call(function, arguments));
            }
            _ => return Ok(Expression::Call(function, arguments)),
        };
        Ok(self.functions.own(own, arguments))
    }

    fn binary(&mut self, operator: Binary, a: Expression, b: Expression, scope: &PatternScope) -> Result<Expression> {
        let own = match operator {
            Binary::Equal => OwnFunction::Equal,
            Binary::Greater => OwnFunction::Greater,
            Binary::GreaterOrEqual => OwnFunction::GreaterOrEqual,
            Binary::Less => OwnFunction::Less,
            Binary::LessOrEqual => OwnFunction::LessOrEqual,
            Binary::Subtract => return self.subtract(a, b, scope),
            Binary::Or | Binary::And => {
                let (a, b) = (self.condition(a, scope)?, self.condition(b, scope)?);
                return Ok(Expression::binary(operator, a, b));
            }
            Binary::SameTerm | Binary::Add | Binary::Multiply | Binary::Divide => {
                let (a, b) = (self.expression(a, scope)?, self.expression(b, scope)?);
                return Ok(Expression::binary(operator, a, b));
            }
        };
        self.compare(operator, own, a, b, scope)
    }

    /// Rewrites a comparison. If one side is a date, values that the standard cannot compare (a date and a time, a time
    /// without a time zone) are compared as moments.
    fn compare(
        &mut self,
        operator: Binary,
        own: OwnFunction,
        a: Expression,
        b: Expression,
        scope: &PatternScope,
    ) -> Result<Expression> {
        let dated = self.is_wdqs() && (is_date(&a) || is_date(&b));
        let (a, b) = (self.expression(a, scope)?, self.expression(b, scope)?);
        if !dated {
            return match operator {
                Binary::GreaterOrEqual | Binary::LessOrEqual if may_be_iri(&a) && may_be_iri(&b) => {
                    self.of_literals(operator, a, b)
                }
                Binary::Greater | Binary::Less if self.is_qlever() && may_be_iri(&a) && may_be_iri(&b) => {
                    let standard = Expression::binary(operator, self.copy(&a)?, self.copy(&b)?);
                    self.of_iris(operator, a, b, standard)
                }
                _ => Ok(Expression::binary(operator, a, b)),
            };
        }
        let copies = vec![self.copy(&a)?, self.copy(&b)?];
        let ours = self.functions.own(own, copies);
        let standard = Expression::binary(operator, a, b);
        Ok(if own == OwnFunction::Equal {
            Expression::binary(Binary::Or, standard, ours)
        } else {
            Expression::Coalesce(vec![standard, ours])
        })
    }

    /// Rewrites `<=` and `>=` if both sides may be IRIs. Only literals have an order, but the evaluator accepts equal
    /// terms of any kind without checking their type (<https://www.w3.org/TR/sparql11-query/#OperatorMapping>).
    fn of_literals(&mut self, operator: Binary, a: Expression, b: Expression) -> Result<Expression> {
        let strictly = if operator == Binary::LessOrEqual { Binary::Less } else { Binary::Greater };
        let is_literal = Expression::Call(Function::IsLiteral, vec![self.copy(&a)?]);
        let strict = Expression::binary(strictly, self.copy(&a)?, self.copy(&b)?);
        let whole = Expression::binary(operator, self.copy(&a)?, self.copy(&b)?);
        // For terms that are not literals, the strict comparison is an error, as required.
        let compared = Expression::If(Box::new(is_literal), Box::new(whole), Box::new(strict));
        match self.is_qlever() {
            true => self.of_iris(operator, a, b, compared),
            false => Ok(compared),
        }
    }

    /// Rewrites a comparison for QLever, in which IRIs have an order; `standard` compares all other terms.
    fn of_iris(&mut self, operator: Binary, a: Expression, b: Expression, standard: Expression) -> Result<Expression> {
        let is_iri = |of: &Expression| Expression::Call(Function::IsIri, vec![of.clone()]);
        let are_iris = Expression::binary(Binary::And, is_iri(&a), is_iri(&b));
        let text = |of: Expression| Expression::Call(Function::Str, vec![of]);
        let compared = Expression::binary(operator, text(a), text(b));
        Ok(Expression::If(Box::new(are_iris), Box::new(compared), Box::new(standard)))
    }

    /// Rewrites a difference: a date minus a date is a number of days.
    fn subtract(&mut self, a: Expression, b: Expression, scope: &PatternScope) -> Result<Expression> {
        let numbers = !self.is_wdqs() || is_number(&a) || is_number(&b);
        let (a, b) = (self.expression(a, scope)?, self.expression(b, scope)?);
        if numbers {
            return Ok(Expression::binary(Binary::Subtract, a, b));
        }
        let copies = vec![self.copy(&a)?, self.copy(&b)?];
        let ours = self.functions.own(OwnFunction::Minus, copies);
        let standard = Expression::binary(Binary::Subtract, a, b);
        Ok(Expression::Coalesce(vec![self.functions.own(OwnFunction::InDays, vec![standard]), ours]))
    }
}
