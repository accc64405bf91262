//! Adds relations for conditions on the position of a point. They use the R-tree of the snapshot's points, and the
//! planner may start with them.

use oxrdf::{Term, Variable};

use super::register::register;
use super::scope::bound;
use crate::functions::arguments_of;
use terrapin_sparql_syntax::algebra::{Binary, Expression, OwnFunction, QueryPattern, TermPattern};
use terrapin_triples::{GlobePoint, PointSearchArea, TripleView, Zone, radius};

/// Returns the relations for the conditions of a filter over a pattern and registers them with the view.
pub fn relations(condition: &Expression, inner: &QueryPattern, view: &mut TripleView) -> Vec<QueryPattern> {
    let mut out = Vec::new();
    let mut open = vec![condition];
    while let Some(condition) = open.pop() {
        if let Expression::Binary(Binary::And, a, b) = condition {
            open.extend([&**a, &**b]);
        } else if let Some((location, near, of)) = condition_of(condition)
            && has_object(inner, location)
            && of_is_known(&of, inner)
        {
            let label = match near {
                PointSearchArea::Around { kilometres, .. } => format!("within {kilometres} km of"),
                PointSearchArea::Within(_) => "in the box of".to_owned(),
            };
            let number = register(Box::new(near), label, view);
            out.push(QueryPattern::Relation { subject: location.clone().into(), number, object: of });
        }
    }
    out
}

/// Returns the point variable of a condition, the required position, and the term that the position refers to.
fn condition_of(condition: &Expression) -> Option<(&Variable, PointSearchArea, TermPattern)> {
    let point = |term: &'_ Expression| match term {
        Expression::Literal(literal) => Some(Term::from(literal.clone())),
        _ => None,
    };
    if let Some([Expression::Variable(location), centre, Expression::Literal(kilometres), globe @ ..]) =
        arguments_of(condition, OwnFunction::Within)
    {
        // If the globe is not a constant, its radius is unknown.
        let radius = match globe {
            [] => None,
            [Expression::NamedNode(globe)] => Some(radius(globe.as_str())?),
            _ => return None,
        };
        let of = match centre {
            Expression::Variable(centre) => centre.clone().into(),
            Expression::Literal(centre) => centre.clone().into(),
            _ => return None,
        };
        let kilometres = kilometres.value().parse().ok()?;
        return Some((location, PointSearchArea::Around { kilometres, radius }, of));
    }
    let [Expression::Variable(location), from, to, ..] = arguments_of(condition, OwnFunction::InBox)? else {
        return None;
    };
    let (from, to) = (point(from)?, point(to)?);
    let zone = Zone::between(&GlobePoint::of(&from)?, &GlobePoint::of(&to)?);
    let Term::Literal(corner) = from else { return None };
    Some((location, PointSearchArea::Within(zone), corner.into()))
}

/// Returns whether a term is a constant or bound in every solution.
fn of_is_known(term: &TermPattern, pattern: &QueryPattern) -> bool {
    match term {
        TermPattern::Variable(variable) => bound(pattern).1.has(variable),
        _ => true,
    }
}

/// Returns whether a variable is the object of a triple in every solution, so that its values are the snapshot's.
fn has_object(pattern: &QueryPattern, variable: &Variable) -> bool {
    match pattern {
        QueryPattern::Bgp { patterns } => patterns.iter().any(|triple| is_variable(&triple.object, variable)),
        QueryPattern::Relation { object, .. } => is_variable(object, variable),
        QueryPattern::Join { left, right } => has_object(left, variable) || has_object(right, variable),
        QueryPattern::Lateral { left: inner, .. }
        | QueryPattern::LeftJoin { left: inner, .. }
        | QueryPattern::LeftLateral { left: inner, .. }
        | QueryPattern::Minus { left: inner, .. }
        | QueryPattern::Filter { inner, .. }
        | QueryPattern::Extend { inner, .. } => has_object(inner, variable),
        _ => false,
    }
}

fn is_variable(term: &TermPattern, variable: &Variable) -> bool {
    matches!(term, TermPattern::Variable(other) if other == variable)
}
