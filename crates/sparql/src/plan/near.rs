//! Conditions on where a point is become triple patterns besides, whose predicate is a relation that the R-tree of the
//! snapshot's points answers: the planner may begin there.

use oxrdf::{NamedNode, Term, Variable};
use spargebra::algebra::{Expression, GraphPattern};
use spargebra::term::{TermPattern, TriplePattern};

use super::scope::bound;
use crate::functions::{Own, arguments_of};
use terrapin_triples::{Near, Point, View, Zone};

/// What these relations are called: a number follows.
const NAMESPACE: &str = "urn:terrapin:near:";

/// The triple patterns for the conditions of a filter over a pattern; registers their relations with the view.
pub fn patterns(condition: &Expression, inner: &GraphPattern, view: &mut View) -> Vec<TriplePattern> {
    let mut out = Vec::new();
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        if let Expression::And(a, b) = condition {
            open.extend([&**a, &**b]);
        } else if let Some((location, near, of)) = condition_of(condition)
            && has_object(inner, location)
            && of_is_known(&of, inner)
        {
            let number = view.relations();
            let name = NamedNode::new_unchecked(format!("{NAMESPACE}{number}"));
            view.register(name.clone(), Box::new(near));
            out.push(TriplePattern { subject: location.clone().into(), predicate: name.into(), object: of });
        }
    }
    out
}

/// A condition's point, what it has to be, and the term that this is about.
fn condition_of(condition: &Expression) -> Option<(&Variable, Near, TermPattern)> {
    let point = |term: &'_ Expression| match term {
        Expression::Literal(literal) => Some(Term::from(literal.clone())),
        _ => None,
    };
    if let Some([Expression::Variable(location), centre, Expression::Literal(radius)]) =
        arguments_of(condition, Own::Within)
    {
        let of = match centre {
            Expression::Variable(centre) => centre.clone().into(),
            Expression::Literal(centre) => centre.clone().into(),
            _ => return None,
        };
        return Some((location, Near::Around(radius.value().parse().ok()?), of));
    }
    let [Expression::Variable(location), from, to] = arguments_of(condition, Own::InBox)? else { return None };
    let (from, to) = (point(from)?, point(to)?);
    let zone = Zone::between(&Point::of(&from)?, &Point::of(&to)?);
    let Term::Literal(corner) = from else { return None };
    Some((location, Near::Within(zone), corner.into()))
}

/// Whether a term has a value in every solution.
fn of_is_known(term: &TermPattern, pattern: &GraphPattern) -> bool {
    match term {
        TermPattern::Variable(variable) => bound(pattern).1.has(variable),
        _ => true,
    }
}

/// Whether a variable is the object of a triple in every solution, so that its values are the snapshot's.
fn has_object(pattern: &GraphPattern, variable: &Variable) -> bool {
    match pattern {
        GraphPattern::Bgp { patterns } => {
            patterns.iter().any(|t| matches!(&t.object, TermPattern::Variable(object) if object == variable))
        }
        GraphPattern::Join { left, right } => has_object(left, variable) || has_object(right, variable),
        GraphPattern::Lateral { left: inner, .. }
        | GraphPattern::LeftJoin { left: inner, .. }
        | GraphPattern::Minus { left: inner, .. }
        | GraphPattern::Filter { inner, .. }
        | GraphPattern::Extend { inner, .. } => has_object(inner, variable),
        _ => false,
    }
}
