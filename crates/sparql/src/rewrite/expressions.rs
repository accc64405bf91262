//! Expressions: what WDQS calculates otherwise than the evaluator, and what would be different every time.
//!
//! Only where it may matter: a comparison of numbers or a difference of years stays what it is.

use oxrdf::Literal;
use oxrdf::vocab::xsd;
use spargebra::algebra::{Expression, Function};

use super::{Result, Rewriter, Scope};
use crate::functions::{Own, dates};
use crate::order::is_numeric;

/// Whether an expression can only be a number (or an error).
fn is_number(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => is_numeric(literal.datatype()),
        Expression::Multiply(..) | Expression::Divide(..) => true,
        Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) => is_number(inner),
        Expression::Add(a, b) | Expression::Subtract(a, b) => is_number(a) || is_number(b),
        Expression::If(_, a, b) => is_number(a) && is_number(b),
        Expression::Coalesce(all) => all.iter().all(is_number),
        Expression::FunctionCall(function, _) => match function {
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

/// Whether an expression is a date for certain.
fn is_date(expression: &Expression) -> bool {
    match expression {
        Expression::Literal(literal) => [xsd::DATE, xsd::DATE_TIME].contains(&literal.datatype()),
        Expression::FunctionCall(Function::Now, _) => true,
        Expression::FunctionCall(Function::Custom(name), _) => [xsd::DATE, xsd::DATE_TIME].contains(&name.as_ref()),
        _ => false,
    }
}

impl Rewriter<'_> {
    pub(super) fn expression(&mut self, expression: Expression, scope: &Scope) -> Result<Expression> {
        let pair = |this: &mut Self, a: Box<Expression>, b: Box<Expression>| -> Result<(Expression, Expression)> {
            Ok((this.expression(*a, scope)?, this.expression(*b, scope)?))
        };
        let boxed = |(a, b): (Expression, Expression)| (Box::new(a), Box::new(b));
        Ok(match expression {
            Expression::NamedNode(_) | Expression::Variable(_) | Expression::Bound(_) => expression,
            Expression::Literal(literal) => match dates::repaired(&literal).filter(|_| self.is_wdqs()) {
                Some(repaired) => Expression::Literal(repaired),
                None => Expression::Literal(literal),
            },
            Expression::Or(a, b) => {
                let (a, b) = boxed(pair(self, a, b)?);
                Expression::Or(a, b)
            }
            Expression::And(a, b) => {
                let (a, b) = boxed(pair(self, a, b)?);
                Expression::And(a, b)
            }
            Expression::Equal(a, b) => self.compare(*a, *b, Own::Equal, Expression::Equal, scope)?,
            Expression::Greater(a, b) => self.compare(*a, *b, Own::Greater, Expression::Greater, scope)?,
            Expression::GreaterOrEqual(a, b) => {
                self.compare(*a, *b, Own::GreaterOrEqual, Expression::GreaterOrEqual, scope)?
            }
            Expression::Less(a, b) => self.compare(*a, *b, Own::Less, Expression::Less, scope)?,
            Expression::LessOrEqual(a, b) => self.compare(*a, *b, Own::LessOrEqual, Expression::LessOrEqual, scope)?,
            Expression::SameTerm(a, b) => {
                let (a, b) = boxed(pair(self, a, b)?);
                Expression::SameTerm(a, b)
            }
            Expression::In(a, list) => {
                Expression::In(Box::new(self.expression(*a, scope)?), self.expressions(list, scope)?)
            }
            Expression::Add(a, b) => {
                let (a, b) = boxed(pair(self, a, b)?);
                Expression::Add(a, b)
            }
            Expression::Subtract(a, b) => self.subtract(*a, *b, scope)?,
            Expression::Multiply(a, b) => {
                let (a, b) = boxed(pair(self, a, b)?);
                Expression::Multiply(a, b)
            }
            Expression::Divide(a, b) => {
                let (a, b) = boxed(pair(self, a, b)?);
                Expression::Divide(a, b)
            }
            Expression::UnaryPlus(a) => Expression::UnaryPlus(Box::new(self.expression(*a, scope)?)),
            Expression::UnaryMinus(a) => Expression::UnaryMinus(Box::new(self.expression(*a, scope)?)),
            Expression::Not(a) => Expression::Not(Box::new(self.expression(*a, scope)?)),
            Expression::Exists(pattern) => {
                let scope = Scope { correlated: true, ..scope.clone() };
                Expression::Exists(Box::new(self.settled(*pattern, &scope)?))
            }
            Expression::If(a, b, c) => {
                let (b, c) = boxed(pair(self, b, c)?);
                Expression::If(Box::new(self.expression(*a, scope)?), b, c)
            }
            Expression::Coalesce(list) => Expression::Coalesce(self.expressions(list, scope)?),
            Expression::FunctionCall(function, arguments) => {
                let arguments = self.expressions(arguments, scope)?;
                match function {
                    Function::Now => self.functions.own(Own::Now, arguments),
                    Function::Rand => self.functions.own(Own::Rand, arguments),
                    Function::Uuid => self.functions.own(Own::Uuid, arguments),
                    Function::StrUuid => self.functions.own(Own::StrUuid, arguments),
                    Function::Regex => self.functions.own(Own::Regex, arguments),
                    Function::Replace => self.functions.own(Own::Replace, arguments),
                    Function::Concat => self.functions.own(Own::Concat, arguments),
                    Function::EncodeForUri => self.functions.own(Own::EncodeForUri, arguments),
                    Function::Iri => {
                        let base = self.base.iter().map(|base| Literal::new_simple_literal(base.as_str()).into());
                        self.functions.own(Own::Iri, arguments.into_iter().chain(base).collect())
                    }
                    function => {
                        if let Function::Custom(name) = &function {
                            self.function(name)?;
                        }
                        Expression::FunctionCall(function, arguments)
                    }
                }
            }
        })
    }

    fn expressions(&mut self, list: Vec<Expression>, scope: &Scope) -> Result<Vec<Expression>> {
        list.into_iter().map(|e| self.expression(e, scope)).collect()
    }

    /// Where one side is a date, what cannot be compared by the standard (a date and a time, a time without its zone)
    /// is compared as moments.
    fn compare(
        &mut self,
        a: Expression,
        b: Expression,
        own: Own,
        make: fn(Box<Expression>, Box<Expression>) -> Expression,
        scope: &Scope,
    ) -> Result<Expression> {
        let dated = self.is_wdqs() && (is_date(&a) || is_date(&b));
        let (a, b) = (self.expression(a, scope)?, self.expression(b, scope)?);
        if !dated {
            return Ok(make(Box::new(a), Box::new(b)));
        }
        let copies = vec![self.copy(&a)?, self.copy(&b)?];
        let ours = self.functions.own(own, copies);
        let standard = make(Box::new(a), Box::new(b));
        Ok(if own == Own::Equal {
            Expression::Or(Box::new(standard), Box::new(ours))
        } else {
            Expression::Coalesce(vec![standard, ours])
        })
    }

    /// A date minus a date is a number of days.
    fn subtract(&mut self, a: Expression, b: Expression, scope: &Scope) -> Result<Expression> {
        let numbers = !self.is_wdqs() || is_number(&a) || is_number(&b);
        let (a, b) = (self.expression(a, scope)?, self.expression(b, scope)?);
        if numbers {
            return Ok(Expression::Subtract(Box::new(a), Box::new(b)));
        }
        let copies = vec![self.copy(&a)?, self.copy(&b)?];
        let ours = self.functions.own(Own::Minus, copies);
        let standard = Expression::Subtract(Box::new(a), Box::new(b));
        Ok(Expression::Coalesce(vec![self.functions.own(Own::InDays, vec![standard]), ours]))
    }
}
