//! Replaces `wikibase:around` and `wikibase:box` by filters on distances and coordinates.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Variable};

use super::labels::operand;
use super::{Result, Translator};
use crate::geo;
use crate::services::ServiceParameters;
use crate::waiting::{Pending, Waiting};
use terrapin_sparql_syntax::Dialect;
use terrapin_sparql_syntax::algebra::{Binary, Expression, Function, QueryPattern, TermPattern};
use terrapin_sparql_syntax::vocabulary::{SERVICE_PARAM, WIKIBASE};

/// Builds a call of a GeoSPARQL function.
pub(super) fn call(local: &str, arguments: Vec<Expression>) -> Expression {
    let name = NamedNode::new_unchecked(format!("{}{local}", geo::NAMESPACE));
    Expression::Call(Function::Custom(name), arguments)
}

fn variables(expressions: &[&Expression]) -> Vec<Variable> {
    let variable = |expression: &&Expression| match expression {
        Expression::Variable(variable) => Some(variable.clone()),
        _ => None,
    };
    expressions.iter().filter_map(variable).collect()
}

impl Translator {
    /// Builds the distance of two geometries in kilometres: with two arguments in WDQS and QLever; GeoSPARQL requires a
    /// unit.
    pub(super) fn kilometres(&self, a: Expression, b: Expression) -> Expression {
        if self.to != Dialect::Standard {
            return call("distance", vec![a, b]);
        }
        let metre = NamedNode::new_unchecked("http://www.opengis.net/def/uom/OGC/1.0/metre");
        let metres = call("distance", vec![a, b, metre.into()]);
        Expression::binary(Binary::Divide, metres, Literal::from(1000).into())
    }

    /// Returns the patterns of the places, and the variable of their location.
    fn places(&self, parameters: &mut ServiceParameters, name: &str) -> Result<(QueryPattern, Expression)> {
        let location = match parameters.triples.first().map(|triple| &triple.object) {
            Some(TermPattern::Variable(location)) => Expression::from(location.clone()),
            _ => return Err(self.lacks(&format!("{name} without a triple for the location"))),
        };
        if parameters.get(WIKIBASE, "globe").is_some() {
            return Err(self.lacks(&format!("{name} with wikibase:globe")));
        }
        let mut pattern = QueryPattern::Bgp { patterns: std::mem::take(&mut parameters.triples) };
        for other in std::mem::take(&mut parameters.others) {
            pattern = QueryPattern::join(pattern, other);
        }
        Ok((pattern, location))
    }

    fn place(&self, parameters: &ServiceParameters, name: &str) -> Result<Expression> {
        let value = parameters.get(WIKIBASE, name).and_then(operand);
        value.ok_or_else(|| self.lacks(&format!("a service without wikibase:{name}")))
    }

    /// Replaces `wikibase:around`.
    pub(super) fn around(&mut self, inner: QueryPattern) -> Result<Waiting> {
        self.is_changed = true;
        let mut parameters = ServiceParameters::new("wikibase:around", SERVICE_PARAM, inner);
        let (pattern, location) = self.places(&mut parameters, "wikibase:around")?;
        let centre = self.place(&parameters, "center")?;
        let radius = match self.place(&parameters, "radius")? {
            Expression::Literal(radius) => Literal::new_typed_literal(radius.value(), xsd::DECIMAL).into(),
            radius => radius,
        };
        let needs = variables(&[&location, &centre, &radius]);
        let within = Expression::binary(Binary::LessOrEqual, self.kilometres(location.clone(), centre.clone()), radius);
        let mut waiting = vec![Pending { needs, expression: within, variable: None }];
        if let Some(TermPattern::Variable(distance)) = parameters.get(WIKIBASE, "distance") {
            let needs = variables(&[&location, &centre]);
            let variable = Some(distance.clone());
            waiting.push(Pending { needs, expression: self.kilometres(location, centre), variable });
        }
        Ok((pattern, waiting))
    }

    /// Replaces `wikibase:box`. The box must not cross the antimeridian.
    pub(super) fn in_box(&mut self, inner: QueryPattern) -> Result<Waiting> {
        self.is_changed = true;
        let mut parameters = ServiceParameters::new("wikibase:box", SERVICE_PARAM, inner);
        let (pattern, location) = self.places(&mut parameters, "wikibase:box")?;
        let is_diagonal = parameters.get(WIKIBASE, "cornerSouthWest").is_some();
        let names = if is_diagonal { ["cornerSouthWest", "cornerNorthEast"] } else { ["cornerWest", "cornerEast"] };
        let [west, east] = [self.place(&parameters, names[0])?, self.place(&parameters, names[1])?];
        let needs = variables(&[&location, &west, &east]);
        let of = |local: &str, point: &Expression| call(local, vec![point.clone()]);
        let from = |local: &str| {
            let (a, b) = (of(local, &west), of(local, &east));
            let at = of(local, &location);
            // The corners of a box may be north-west and south-east.
            let (low, high) = match local {
                "latitude" => {
                    let order = || Box::new(Expression::binary(Binary::Less, a.clone(), b.clone()));
                    let low = Expression::If(order(), Box::new(a.clone()), Box::new(b.clone()));
                    (low, Expression::If(order(), Box::new(b.clone()), Box::new(a.clone())))
                }
                _ => (a, b),
            };
            let above = Expression::binary(Binary::GreaterOrEqual, at.clone(), low);
            Expression::binary(Binary::And, above, Expression::binary(Binary::LessOrEqual, at, high))
        };
        let within = Expression::binary(Binary::And, from("latitude"), from("longitude"));
        Ok((pattern, vec![Pending { needs, expression: within, variable: None }]))
    }
}
