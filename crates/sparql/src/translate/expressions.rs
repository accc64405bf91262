//! Translates expressions: dates, whose lenient treatment in WDQS becomes explicit, and functions.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Term, Variable};

use super::dates::{at_midnight, is_date, of_wdqs};
use super::{MAX_COPIED, Result, Translator};
use crate::functions::dates::{cast, repaired};
use crate::functions::geo_name;
use crate::geo;
use terrapin_sparql_syntax::algebra::{AggregateFunction, Binary, Expression, Function, OwnFunction};
use terrapin_sparql_syntax::vocabulary::QL;
use terrapin_sparql_syntax::walk::{NodeMut, nodes};
use terrapin_sparql_syntax::{Dialect, STANDARD_DEVIATION};

const MATH: &str = "http://www.w3.org/2005/xpath-functions/math#";
const WIKIBASE: &str = "http://wikiba.se/ontology#";

/// Returns whether an expression can be an IRI.
fn may_be_iri(expression: &Expression) -> bool {
    match expression {
        Expression::Variable(_) | Expression::NamedNode(_) => true,
        Expression::Call(Function::Iri | Function::Custom(_), _) => true,
        Expression::If(_, a, b) => may_be_iri(a) || may_be_iri(b),
        Expression::Coalesce(all) => all.iter().any(may_be_iri),
        _ => false,
    }
}

impl Translator {
    pub(super) fn expression(&mut self, expression: Expression, projected: &[Variable]) -> Result<Expression> {
        let is_from_wdqs = self.from == Dialect::Wdqs && self.to != Dialect::Wdqs;
        if self.from == Dialect::Qlever
            && self.to == Dialect::Wdqs
            && let Some((a, b)) = of_wdqs(&expression)
        {
            self.is_changed = true;
            let (a, b) = (self.expression(a.clone(), projected)?, self.expression(b.clone(), projected)?);
            return Ok(Expression::binary(Binary::Subtract, a, b));
        }
        Ok(match expression {
            Expression::Literal(literal) => match repaired(&literal).filter(|_| is_from_wdqs) {
                Some(repaired) => {
                    self.is_changed = true;
                    repaired.into()
                }
                None => literal.into(),
            },
            Expression::Exists(pattern) => {
                let outer = self.outer.take();
                let pattern = self.settled(*pattern, projected)?;
                let pattern = self.exists_scope(outer.as_ref(), pattern)?;
                self.outer = outer;
                Expression::Exists(Box::new(pattern))
            }
            Expression::Binary(operator, a, b) => {
                let (a, b) = (self.expression(*a, projected)?, self.expression(*b, projected)?);
                match operator {
                    Binary::Subtract => self.subtract(a, b)?,
                    Binary::Equal | Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual
                        if is_from_wdqs && (is_date(&a) || is_date(&b)) =>
                    {
                        Expression::binary(operator, self.time(a), self.time(b))
                    }
                    Binary::Less | Binary::LessOrEqual | Binary::Greater | Binary::GreaterOrEqual
                        if self.from == Dialect::Qlever
                            && self.to != Dialect::Qlever
                            && may_be_iri(&a)
                            && may_be_iri(&b) =>
                    {
                        self.of_iris(operator, a, b)?
                    }
                    operator => Expression::binary(operator, a, b),
                }
            }
            Expression::Call(function, arguments) => {
                let arguments =
                    arguments.into_iter().map(|e| self.expression(e, projected)).collect::<Result<Vec<_>>>()?;
                self.call(function, arguments)?
            }
            Expression::Own(OwnFunction::Now, _) => Expression::Call(Function::Now, Vec::new()),
            mut other => {
                let mut done = Ok(());
                NodeMut::Expression(&mut other).children(&mut |child| {
                    if let NodeMut::Expression(child) = child
                        && done.is_ok()
                    {
                        done = self.expression(std::mem::take(child), projected).map(|translated| *child = translated);
                    }
                });
                done?;
                other
            }
        })
    }

    /// Turns a day into its midnight, to compare it with times.
    fn time(&mut self, expression: Expression) -> Expression {
        match expression {
            Expression::Literal(literal) if literal.datatype() == xsd::DATE => {
                self.is_changed = true;
                at_midnight(literal).into()
            }
            other => other,
        }
    }

    /// Writes the comparison of two IRIs by their texts, which only QLever compares.
    fn of_iris(&mut self, operator: Binary, a: Expression, b: Expression) -> Result<Expression> {
        if nodes(&a) + nodes(&b) > MAX_COPIED {
            return Err(self.lacks("the order of IRIs, in an expression of that length"));
        }
        self.is_changed = true;
        let is_iri = |of: &Expression| Expression::Call(Function::IsIri, vec![of.clone()]);
        let text = |of: &Expression| Expression::Call(Function::Str, vec![of.clone()]);
        let are_iris = Expression::binary(Binary::And, is_iri(&a), is_iri(&b));
        let compared = Expression::binary(operator, text(&a), text(&b));
        let others = Expression::binary(operator, a, b);
        Ok(Expression::If(Box::new(are_iris), Box::new(compared), Box::new(others)))
    }

    fn call(&mut self, function: Function, mut arguments: Vec<Expression>) -> Result<Expression> {
        let Function::Custom(name) = &function else { return Ok(Expression::Call(function, arguments)) };
        let iri = name.as_str();
        // A function may have another name, but a query without other changes keeps its own.
        if let Some(local) = geo_name(iri) {
            if self.to == Dialect::Standard
                && self.from != self.to
                && local == "distance"
                && let [a, b] = &arguments[..]
            {
                self.is_changed = true;
                return Ok(self.kilometres(a.clone(), b.clone()));
            }
            let name = match self.to {
                Dialect::Wdqs => iri.to_owned(),
                _ => format!("{}{local}", geo::NAMESPACE),
            };
            self.is_changed |= name != iri;
            return Ok(Expression::Call(Function::Custom(NamedNode::new_unchecked(name)), arguments));
        }
        if self.to != Dialect::Qlever && iri.strip_prefix(QL) == Some("toEpoch") && arguments.len() == 1 {
            return self.seconds_since_epoch(arguments.remove(0));
        }
        if self.to != Dialect::Qlever && (iri.starts_with(QL) || iri.starts_with(MATH)) {
            return Err(self.lacks(&format!("the function {name}")));
        }
        if self.from != Dialect::Wdqs || self.to == Dialect::Wdqs {
            return Ok(Expression::Call(function, arguments));
        }
        if let Some(local) = iri.strip_prefix(WIKIBASE) {
            let (Some(of), "isSomeValue") = (arguments.pop(), local) else {
                return Err(self.lacks(&format!("the function wikibase:{local}")));
            };
            self.is_changed = true;
            let is_blank = Expression::Call(Function::IsBlank, vec![of.clone()]);
            let text = Expression::Call(Function::Str, vec![of]);
            let mark = Literal::new_simple_literal("/.well-known/genid/").into();
            let is_skolem = Expression::Call(Function::Contains, vec![text, mark]);
            return Ok(Expression::binary(Binary::Or, is_blank, is_skolem));
        }
        // Casts to dates accept more in WDQS: those of constants are made here.
        let is_cast = [xsd::DATE, xsd::DATE_TIME].contains(&name.as_ref());
        if is_cast
            && let [Expression::Literal(literal)] = &arguments[..]
            && let Some(Term::Literal(cast)) = cast(&[literal.clone().into()], name.as_ref() == xsd::DATE)
        {
            self.is_changed = true;
            return Ok(cast.into());
        }
        Ok(Expression::Call(function, arguments))
    }

    pub(super) fn aggregate(&mut self, function: AggregateFunction) -> Result<AggregateFunction> {
        match &function {
            AggregateFunction::Custom(name) if name.as_str() == STANDARD_DEVIATION && self.to != Dialect::Qlever => {
                Err(self.lacks("the aggregate STDEV"))
            }
            AggregateFunction::Custom(name) if name.as_str() != STANDARD_DEVIATION && self.to == Dialect::Qlever => {
                Err(self.lacks(&format!("the aggregate {name}")))
            }
            _ => Ok(function),
        }
    }
}
