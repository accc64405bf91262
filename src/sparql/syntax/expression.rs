//! Expressions.

use spargebra::algebra::Expression;

use super::parser::{Parser, Result};
use super::pattern::reduce;
use super::token::{self, Kind};

/// Most terms that one sum, product or chain of conditions may have.
const MAX_TERMS: usize = 20_000;
/// Most terms of a sum or a product, which cannot be balanced.
const MAX_CHAIN: usize = 400;

impl Parser<'_> {
    /// An expression.
    pub fn expression(&mut self) -> Result<Expression> {
        self.nested(|p| {
            let mut terms = vec![p.conjunction()?];
            while p.mark("||") {
                terms.push(p.conjunction()?);
                p.check_chain(terms.len(), MAX_TERMS)?;
            }
            reduce(terms, |a, b| Expression::Or(Box::new(a), Box::new(b))).ok_or_else(|| p.expected("an expression"))
        })
    }

    fn check_chain(&self, length: usize, most: usize) -> Result<()> {
        if length <= most {
            return Ok(());
        }
        Err(self.error_at(self.peek(), "too-long", format!("an expression chains more than {most} terms")))
    }

    fn conjunction(&mut self) -> Result<Expression> {
        let mut terms = vec![self.relation()?];
        while self.mark("&&") {
            terms.push(self.relation()?);
            self.check_chain(terms.len(), MAX_TERMS)?;
        }
        reduce(terms, |a, b| Expression::And(Box::new(a), Box::new(b))).ok_or_else(|| self.expected("an expression"))
    }

    /// After an operand `<` compares, even where `<...>` could be an IRI.
    fn split_iri(&mut self) {
        let token = self.peek();
        if token.kind == Kind::Iri {
            self.tokens.truncate(self.at);
            self.tokens.push(token::Token { kind: Kind::Mark("<"), start: token.start, end: token.start + 1 });
            self.tokens.extend(token::tokens(self.text, token.start + 1));
        }
    }

    fn relation(&mut self) -> Result<Expression> {
        let left = self.sum()?;
        self.split_iri();
        let Kind::Mark(mark) = self.peek().kind else {
            if self.word("IN") {
                return Ok(Expression::In(Box::new(left), self.expression_list()?));
            }
            if self.is_word("NOT") && self.is_word_at(1, "IN") {
                self.at += 2;
                let list = self.expression_list()?;
                return Ok(Expression::Not(Box::new(Expression::In(Box::new(left), list))));
            }
            return Ok(left);
        };
        let make = match mark {
            "=" => |a, b| Expression::Equal(a, b),
            "!=" => |a, b| Expression::Not(Box::new(Expression::Equal(a, b))),
            "<" => |a, b| Expression::Less(a, b),
            "<=" => |a, b| Expression::LessOrEqual(a, b),
            ">" => |a, b| Expression::Greater(a, b),
            ">=" => |a, b| Expression::GreaterOrEqual(a, b),
            _ => return Ok(left),
        };
        self.at += 1;
        let right = self.sum()?;
        Ok(make(Box::new(left), Box::new(right)))
    }

    fn sum(&mut self) -> Result<Expression> {
        let mut left = self.product()?;
        for length in 0.. {
            self.check_chain(length, MAX_CHAIN)?;
            left = if self.mark("+") {
                Expression::Add(Box::new(left), Box::new(self.product()?))
            } else if self.mark("-") {
                Expression::Subtract(Box::new(left), Box::new(self.product()?))
            } else {
                break;
            };
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expression> {
        let mut left = self.unary()?;
        for length in 0.. {
            self.check_chain(length, MAX_CHAIN)?;
            left = if self.mark("*") {
                Expression::Multiply(Box::new(left), Box::new(self.unary()?))
            } else if self.mark("/") {
                Expression::Divide(Box::new(left), Box::new(self.unary()?))
            } else {
                break;
            };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expression> {
        if self.mark("!") {
            return self.nested(|p| Ok(Expression::Not(Box::new(p.unary()?))));
        }
        if self.mark("+") {
            return Ok(Expression::UnaryPlus(Box::new(self.primary()?)));
        }
        if self.mark("-") {
            return Ok(Expression::UnaryMinus(Box::new(self.primary()?)));
        }
        self.primary()
    }

    fn primary(&mut self) -> Result<Expression> {
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
        match self.maybe_builtin()? {
            Some(expression) => Ok(expression),
            None => Err(self.expected("an expression")),
        }
    }

    pub fn bracketed(&mut self) -> Result<Expression> {
        self.expect("(")?;
        let expression = self.expression()?;
        self.expect(")")?;
        Ok(expression)
    }

    /// What FILTER, HAVING and ORDER BY take: an expression in brackets or a call.
    pub fn constraint(&mut self) -> Result<Expression> {
        match self.maybe_constraint()? {
            Some(expression) => Ok(expression),
            None => Err(self.expected("an expression in brackets or a function call")),
        }
    }

    pub fn maybe_constraint(&mut self) -> Result<Option<Expression>> {
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

    /// `(a, b, ...)`, perhaps empty.
    pub fn expression_list(&mut self) -> Result<Vec<Expression>> {
        self.expect("(")?;
        let mut list = Vec::new();
        if self.mark(")") {
            return Ok(list);
        }
        loop {
            list.push(self.expression()?);
            if self.mark(")") {
                return Ok(list);
            }
            self.expect(",")?;
        }
    }
}
