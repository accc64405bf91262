//! `SERVICE wikibase:around` and `wikibase:box`: search for places by their coordinates.

use oxrdf::Variable;

use super::{Result, ServiceParameters, ServiceReplacement, SparqlService};
use crate::functions::Called;
use crate::waiting::Pending;
use terrapin_sparql_syntax::algebra::{Expression, OwnFunction, QueryPattern, TermPattern};
use terrapin_sparql_syntax::error::SparqlError;
use terrapin_sparql_syntax::vocabulary::{SERVICE_PARAM, WIKIBASE};

/// Searches for places around a point.
pub(super) const AROUND: SparqlService =
    SparqlService { name: "wikibase:around", iri: (WIKIBASE, "around"), parameters: SERVICE_PARAM, rewrite: around };

/// Searches for places in a box.
pub(super) const BOX: SparqlService =
    SparqlService { name: "wikibase:box", iri: (WIKIBASE, "box"), parameters: SERVICE_PARAM, rewrite: in_box };

fn expression(term: &TermPattern) -> Option<Expression> {
    match term {
        TermPattern::NamedNode(node) => Some(node.clone().into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        TermPattern::Variable(variable) => Some(variable.clone().into()),
        TermPattern::BlankNode(_) | TermPattern::Triple(_) => None,
    }
}

fn variables(expressions: &[Expression]) -> Vec<Variable> {
    let variable = |e: &Expression| match e {
        Expression::Variable(variable) => Some(variable.clone()),
        _ => None,
    };
    expressions.iter().filter_map(variable).collect()
}

/// Returns the pattern of the places, and the expression of their location.
fn places(parameters: &mut ServiceParameters) -> Result<(QueryPattern, Expression)> {
    let location = match parameters.triples.first().map(|triple| &triple.object) {
        Some(TermPattern::Variable(location)) => Expression::from(location.clone()),
        _ => return Err(parameters.wrong(format!("{} needs a triple ?place wdt:P625 ?location", parameters.service))),
    };
    let mut pattern = QueryPattern::Bgp { patterns: std::mem::take(&mut parameters.triples) };
    for other in std::mem::take(&mut parameters.others) {
        pattern = QueryPattern::join(pattern, other);
    }
    Ok((pattern, location))
}

fn parameter(parameters: &ServiceParameters, name: &str) -> Result<Expression> {
    let wrong = |parameters: &ServiceParameters| -> SparqlError {
        parameters.wrong(format!("{}: {name} must be a literal or a variable", parameters.service))
    };
    expression(parameters.needed(WIKIBASE, name)?).ok_or_else(|| wrong(parameters))
}

/// Returns the globe to search, if the query names one. The default is the globe of the centre or of the corners, which
/// is the Earth unless they name another.
fn globe(parameters: &ServiceParameters) -> Result<Option<Expression>> {
    match parameters.get(WIKIBASE, "globe") {
        None => Ok(None),
        Some(globe @ (TermPattern::NamedNode(_) | TermPattern::Variable(_))) => Ok(expression(globe)),
        Some(_) => {
            Err(parameters
                .wrong(format!("{}: globe must be an item, such as wd:Q405, or a variable", parameters.service)))
        }
    }
}

/// Rewrites `wikibase:around`: places within a radius of a centre.
fn around(functions: &mut Called, mut parameters: ServiceParameters) -> Result<ServiceReplacement> {
    let (pattern, location) = places(&mut parameters)?;
    let centre = parameter(&parameters, "center")?;
    let radius = parameter(&parameters, "radius")?;
    let globe = globe(&parameters)?;
    let mut call = |function, mut arguments: Vec<Expression>, variable| {
        arguments.extend(globe.clone());
        let needs = variables(&arguments);
        Pending { needs, expression: functions.own(function, arguments), variable }
    };
    let mut waiting = vec![call(OwnFunction::Within, vec![location.clone(), centre.clone(), radius], None)];
    if let Some(distance) = parameters.variable(WIKIBASE, "distance")? {
        waiting.push(call(OwnFunction::Distance, vec![location, centre], Some(distance)));
    }
    Ok(ServiceReplacement::Pattern((pattern, waiting)))
}

/// Rewrites `wikibase:box`: places in a box between two corners.
fn in_box(functions: &mut Called, mut parameters: ServiceParameters) -> Result<ServiceReplacement> {
    let (pattern, location) = places(&mut parameters)?;
    let diagonal = parameters.get(WIKIBASE, "cornerSouthWest").is_some();
    let (west, east) = if diagonal { ("cornerSouthWest", "cornerNorthEast") } else { ("cornerWest", "cornerEast") };
    let (west, east) = (parameter(&parameters, west)?, parameter(&parameters, east)?);
    let mut arguments = vec![location, west, east];
    arguments.extend(globe(&parameters)?);
    let needs = variables(&arguments);
    let expression = functions.own(OwnFunction::InBox, arguments);
    Ok(ServiceReplacement::Pattern((pattern, vec![Pending { needs, expression, variable: None }])))
}
