//! Rules for expressions.

use super::parser::QueryParser;
use super::token::TokenKind;
use super::tree::{DepthTree, reduce};
use crate::algebra::{Binary, Expression, Unary};
use crate::error::{Result, SparqlCode};

/// Maximum number of terms of a sum, product or chain of conditions.
const MAX_TERMS: usize = 20_000;

impl QueryParser<'_> {
    /// Parses an expression.
    pub fn expression(&mut self) -> Result<DepthTree<Expression>> {
        self.nested(|p| {
            let mut terms = vec![p.conjunction()?];
            while p.mark("||") {
                terms.push(p.conjunction()?);
                p.check_chain(terms.len())?;
            }
            reduce(terms, |a, b| a.and(b, |a, b| Expression::binary(Binary::Or, a, b)))?
                .ok_or_else(|| p.expected("an expression"))
        })
    }

    /// Rejects a chain that is too long.
    pub fn check_chain(&self, length: usize) -> Result<()> {
        if length <= MAX_TERMS {
            return Ok(());
        }
        Err(self.error_at(
            self.peek(),
            SparqlCode::TooLong,
            format!("an expression chains more than {MAX_TERMS} terms"),
        ))
    }

    fn conjunction(&mut self) -> Result<DepthTree<Expression>> {
        let mut terms = vec![self.relation()?];
        while self.mark("&&") {
            terms.push(self.relation()?);
            self.check_chain(terms.len())?;
        }
        all_of(terms)?.ok_or_else(|| self.expected("an expression"))
    }

    fn relation(&mut self) -> Result<DepthTree<Expression>> {
        let left = self.sum()?;
        self.split_iri()?;
        let TokenKind::Mark(mark) = self.peek().kind else {
            if self.word("IN") {
                return left.and(self.expression_list()?, |left, list| Expression::In(Box::new(left), list));
            }
            if self.is_word("NOT") && self.is_word_at(1, "IN") {
                self.at += 2;
                let within = left.and(self.expression_list()?, |left, list| Expression::In(Box::new(left), list))?;
                return not(within);
            }
            return Ok(left);
        };
        let operator = match mark {
            "=" | "!=" => Binary::Equal,
            "<" => Binary::Less,
            "<=" => Binary::LessOrEqual,
            ">" => Binary::Greater,
            ">=" => Binary::GreaterOrEqual,
            _ => return Ok(left),
        };
        self.at += 1;
        let compared = left.and(self.sum()?, |a, b| Expression::binary(operator, a, b))?;
        if mark == "!=" { not(compared) } else { Ok(compared) }
    }

    fn sum(&mut self) -> Result<DepthTree<Expression>> {
        let mut left = self.product()?;
        loop {
            let operator = if self.mark("+") {
                Binary::Add
            } else if self.mark("-") {
                Binary::Subtract
            } else {
                return Ok(left);
            };
            left = left.and(self.product()?, |a, b| Expression::binary(operator, a, b))?;
        }
    }

    fn product(&mut self) -> Result<DepthTree<Expression>> {
        let mut left = self.unary()?;
        loop {
            let operator = if self.mark("*") {
                Binary::Multiply
            } else if self.mark("/") {
                Binary::Divide
            } else {
                return Ok(left);
            };
            left = left.and(self.unary()?, |a, b| Expression::binary(operator, a, b))?;
        }
    }

    fn unary(&mut self) -> Result<DepthTree<Expression>> {
        if self.mark("!") {
            return self.nested(|p| not(p.unary()?));
        }
        if self.mark("+") {
            return self.primary()?.under(|a| Expression::unary(Unary::Plus, a));
        }
        if self.mark("-") {
            return self.primary()?.under(|a| Expression::unary(Unary::Minus, a));
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<DepthTree<Expression>> {
        if self.is_mark("(") {
            return self.bracketed();
        }
        if let Some(variable) = self.maybe_variable() {
            return Ok(variable.into());
        }
        if self.is_iri() {
            let token = self.peek();
            let name = self.iri()?;
            if self.is_mark("(") {
                return self.custom_call(token, name);
            }
            return Ok(name.into());
        }
        if let Some(literal) = self.maybe_unsigned_literal()? {
            return Ok(literal.into());
        }
        if self.is_mark("<<(") {
            return self.triple_expression();
        }
        match self.maybe_builtin()? {
            Some(expression) => Ok(expression),
            None => Err(self.expected("an expression")),
        }
    }

    pub fn bracketed(&mut self) -> Result<DepthTree<Expression>> {
        self.expect("(")?;
        let expression = self.expression()?;
        self.expect(")")?;
        Ok(expression)
    }

    /// Parses an argument of FILTER, HAVING or ORDER BY: an expression in brackets or a call.
    pub fn constraint(&mut self) -> Result<DepthTree<Expression>> {
        match self.maybe_constraint()? {
            Some(expression) => Ok(expression),
            None => Err(self.expected("an expression in brackets or a function call")),
        }
    }

    pub fn maybe_constraint(&mut self) -> Result<Option<DepthTree<Expression>>> {
        if self.is_mark("(") {
            return Ok(Some(self.bracketed()?));
        }
        if self.is_iri() {
            let token = self.peek();
            let name = self.iri()?;
            if !self.is_mark("(") {
                return Err(self.expected("'(' and the function's arguments"));
            }
            return Ok(Some(self.custom_call(token, name)?));
        }
        self.maybe_builtin()
    }

    /// Parses `(a, b, ...)`, which may be empty.
    pub fn expression_list(&mut self) -> Result<DepthTree<Vec<Expression>>> {
        self.expect("(")?;
        let mut list = Vec::new();
        if self.mark(")") {
            return Ok(DepthTree::list(list));
        }
        loop {
            list.push(self.expression()?);
            if self.mark(")") {
                return Ok(DepthTree::list(list));
            }
            self.expect(",")?;
        }
    }
}

pub(super) fn not(expression: DepthTree<Expression>) -> Result<DepthTree<Expression>> {
    expression.under(Expression::not)
}

/// Combines conditions with AND; returns `None` for an empty list.
pub(super) fn all_of(conditions: Vec<DepthTree<Expression>>) -> Result<Option<DepthTree<Expression>>> {
    reduce(conditions, |a, b| a.and(b, |a, b| Expression::binary(Binary::And, a, b)))
}
