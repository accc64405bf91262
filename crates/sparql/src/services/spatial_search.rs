//! `SERVICE spatialSearch:` of QLever: pairs of geometries within a distance, in a spatial relation, or the nearest ones.
//! Documentation: <https://docs.qlever.dev/geosparql/#custom-spatial-search>.

use oxrdf::vocab::xsd;
use oxrdf::{Literal, NamedNode, Variable};

use super::{Result, ServiceParameters};
use crate::functions::Called;
use crate::geo;
use crate::waiting::Pending;
use terrapin_sparql_syntax::algebra::{
    Binary, Expression, Function, NamedNodePattern, QueryPattern, SortKey, TermPattern, TriplePattern,
};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::in_scope;
use terrapin_sparql_syntax::vocabulary::{MAX_DISTANCE, SPATIAL_SEARCH};

const METRE: &str = "http://www.opengis.net/def/uom/OGC/1.0/metre";
const KILOMETRE: &str = "http://www.opengis.net/def/uom/OGC/1.0/kilometre";

/// A spatial join.
#[derive(Debug, Clone)]
pub(crate) struct SpatialSearch {
    /// The variable with the geometries for which others are searched.
    pub left: Variable,
    right: Variable,
    /// The number of nearest neighbours of each left geometry.
    pub nearest: Option<usize>,
    /// The maximum distance in metres.
    metres: Option<f64>,
    /// The relation, as the local name of a GeoSPARQL function.
    relation: Option<String>,
    /// The pattern of the intersection matrix.
    matrix: Option<String>,
    /// The variable for the distance in kilometres.
    distance: Option<Variable>,
    /// The pattern in the service's group, projected to the variables that it shows.
    pub inner: QueryPattern,
}

fn wrong(message: impl Into<String>) -> SparqlError {
    SparqlError::new(SparqlErrorClass::Syntax, SparqlCode::ServiceParameter, message)
}

fn unsupported(message: impl Into<String>) -> SparqlError {
    SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message)
}

/// Records and builds a call of a GeoSPARQL function.
fn call(functions: &mut Called, local: &str, arguments: Vec<Expression>) -> Expression {
    let name = NamedNode::new_unchecked(format!("{}{local}", geo::NAMESPACE));
    functions.add(&name);
    Expression::Call(Function::Custom(name), arguments)
}

fn double(value: f64) -> Expression {
    Literal::new_typed_literal(value.to_string(), xsd::DOUBLE).into()
}

impl SpatialSearch {
    /// Reads the service's group.
    pub fn new(inner: QueryPattern) -> Result<SpatialSearch> {
        let parameters = ServiceParameters::new("spatialSearch:", "", inner);
        let (mut left, mut right, mut nearest, mut metres) = (None, None, None, None);
        let (mut relation, mut matrix, mut distance) = (None, None, None);
        let (mut payload, mut shows_all) = (Vec::new(), false);
        let mut rest = Vec::new();
        for triple in parameters.triples {
            let Some(name) = parameter(&triple) else {
                rest.push(triple);
                continue;
            };
            let value = &triple.object;
            let variable = || match value {
                TermPattern::Variable(variable) => Ok(variable.clone()),
                _ => Err(wrong(format!("spatialSearch: takes a variable for {name}"))),
            };
            let number = || match value {
                TermPattern::Literal(literal) => literal.value().parse::<f64>().ok().filter(|number| *number >= 0.0),
                _ => None,
            };
            match name.as_str() {
                "left" => left = Some(variable()?),
                "right" => right = Some(variable()?),
                "bindDistance" => distance = Some(variable()?),
                "payload" if local(value).as_deref() == Some("all") => shows_all = true,
                "payload" => payload.push(variable()?),
                "maxDistance" => {
                    let number =
                        number().ok_or_else(|| wrong("spatialSearch: takes a number of metres for maxDistance"))?;
                    metres = Some(number);
                }
                "numNearestNeighbors" => {
                    let number = number().filter(|number| number.fract() == 0.0);
                    let number =
                        number.ok_or_else(|| wrong("spatialSearch: takes a whole number for numNearestNeighbors"))?;
                    nearest = Some(number as usize);
                }
                "joinType" => relation = Some(join_type(value)?),
                "de9imFilter" => {
                    let TermPattern::Literal(text) = value else {
                        return Err(wrong("spatialSearch: takes a text of nine characters for de9imFilter"));
                    };
                    let text = text.value().to_ascii_uppercase();
                    if text.len() != 9 || !text.bytes().all(|cell| b"TF012*".contains(&cell)) {
                        return Err(wrong(
                            "spatialSearch: takes nine of the characters T, F, 0, 1, 2, * for de9imFilter",
                        ));
                    }
                    matrix = Some(text);
                }
                // The algorithm does not change the result.
                "algorithm" => {}
                other => return Err(wrong(format!("spatialSearch: has no parameter {other}"))),
            }
        }
        let (Some(left), Some(right)) = (left, right) else {
            return Err(wrong("spatialSearch: needs the parameters left and right"));
        };
        if relation.as_deref() == Some("within-dist") {
            relation = None;
            if metres.is_none() {
                return Err(wrong("spatialSearch: needs maxDistance for the joinType within-dist"));
            }
        }
        if relation.as_deref() == Some("de9im") {
            relation = None;
            if matrix.is_none() {
                return Err(wrong("spatialSearch: needs de9imFilter for the joinType de9im"));
            }
        }
        if nearest.is_none() && metres.is_none() && relation.is_none() && matrix.is_none() {
            return Err(wrong("spatialSearch: needs maxDistance, numNearestNeighbors or joinType"));
        }
        let mut pattern = QueryPattern::Bgp { patterns: rest };
        for other in parameters.others {
            pattern = if pattern.is_unit() { other } else { QueryPattern::join(pattern, other) };
        }
        if nearest.is_some() && pattern.is_unit() {
            return Err(wrong("spatialSearch: with numNearestNeighbors needs a group that selects the right geometry"));
        }
        if !pattern.is_unit() && !shows_all {
            payload.push(right.clone());
            payload.sort();
            payload.dedup();
            pattern = QueryPattern::project(pattern, payload);
        }
        Ok(SpatialSearch { left, right, nearest, metres, relation, matrix, distance, inner: pattern })
    }

    /// Reads a triple with the predicate `<max-distance-in-meters:...>`.
    pub fn of_triple(triple: &TriplePattern) -> Result<Option<SpatialSearch>> {
        let NamedNodePattern::NamedNode(predicate) = &triple.predicate else { return Ok(None) };
        let Some(metres) = predicate.as_str().strip_prefix(MAX_DISTANCE) else { return Ok(None) };
        let metres: f64 =
            metres.parse().map_err(|_| wrong(format!("{predicate} does not end in a number of metres")))?;
        let (TermPattern::Variable(left), TermPattern::Variable(right)) = (&triple.subject, &triple.object) else {
            return Err(wrong(format!("subject and object of {predicate} are variables")));
        };
        Ok(Some(SpatialSearch {
            left: left.clone(),
            right: right.clone(),
            nearest: None,
            metres: Some(metres),
            relation: None,
            matrix: None,
            distance: None,
            inner: QueryPattern::default(),
        }))
    }

    /// Returns the conditions and the assignment of the distance, which wait for both geometries. Distances have a unit,
    /// or are in kilometres without one, as in the Wikidata Query Service.
    pub fn pending(&self, functions: &mut Called, has_units: bool) -> Vec<Pending> {
        let needs = vec![self.left.clone(), self.right.clone()];
        let both = || vec![self.left.clone().into(), self.right.clone().into()];
        let in_unit = |unit: &str| {
            let unit = has_units.then(|| Expression::from(NamedNode::new_unchecked(unit)));
            both().into_iter().chain(unit).collect::<Vec<Expression>>()
        };
        let mut pending = Vec::new();
        let mut wait = |expression, variable| pending.push(Pending { needs: needs.clone(), expression, variable });
        if let Some(metres) = self.metres {
            let distance = call(functions, "distance", in_unit(METRE));
            let most = if has_units { metres } else { metres / 1000.0 };
            wait(Expression::binary(Binary::LessOrEqual, distance, double(most)), None);
        }
        if let Some(relation) = &self.relation {
            wait(call(functions, relation, both()), None);
        }
        if let Some(matrix) = &self.matrix {
            let matrix = Expression::from(Literal::new_simple_literal(matrix.clone()));
            wait(call(functions, "relate", both().into_iter().chain([matrix]).collect()), None);
        }
        if let Some(distance) = &self.distance
            && self.nearest.is_none()
        {
            wait(call(functions, "distance", in_unit(KILOMETRE)), Some(distance.clone()));
        }
        pending
    }

    /// Joins the nearest right geometries to each solution of `left`. `inner` is the rewritten pattern of the group,
    /// `order` a variable for the distance if the query has none.
    pub fn nearest_of(
        &self,
        functions: &mut Called,
        left: QueryPattern,
        inner: QueryPattern,
        most: usize,
        order: Variable,
    ) -> QueryPattern {
        let mut shown: Vec<Variable> = in_scope(&inner).into_iter().collect();
        let mut pattern = inner;
        for pending in self.pending(functions, true) {
            pattern = pending.apply(pattern);
        }
        let unit = Expression::from(NamedNode::new_unchecked(KILOMETRE));
        let arguments = vec![self.left.clone().into(), self.right.clone().into(), unit];
        let distance = self.distance.clone().unwrap_or(order);
        pattern = QueryPattern::extend(pattern, distance.clone(), call(functions, "distance", arguments));
        // A pair without a distance is no pair.
        pattern = QueryPattern::filter(pattern, Expression::Bound(distance.clone()));
        shown.extend([distance.clone(), self.left.clone()]);
        shown.sort();
        shown.dedup();
        let key = SortKey { expression: distance.into(), descends: false };
        pattern = QueryPattern::OrderBy { inner: Box::new(pattern), keys: vec![key] };
        pattern = QueryPattern::project(pattern, shown);
        pattern = QueryPattern::Slice { inner: Box::new(pattern), start: 0, length: Some(most) };
        QueryPattern::Lateral { left: Box::new(left), right: Box::new(pattern) }
    }
}

/// Returns the name of a parameter: `qlss:left`, or `<left>`.
fn parameter(triple: &TriplePattern) -> Option<String> {
    let NamedNodePattern::NamedNode(node) = &triple.predicate else { return None };
    const NAMES: [&str; 9] = [
        "left",
        "right",
        "numNearestNeighbors",
        "maxDistance",
        "bindDistance",
        "joinType",
        "payload",
        "algorithm",
        "de9imFilter",
    ];
    if let Some(name) = node.as_str().strip_prefix(SPATIAL_SEARCH) {
        return Some(name.to_owned());
    }
    // A relative IRI has been resolved against a base.
    let name = node.as_str().rsplit('/').next().unwrap_or_default();
    (matches!(triple.subject, TermPattern::BlankNode(_)) && NAMES.contains(&name)).then(|| name.to_owned())
}

/// Returns the local name of a value.
fn local(value: &TermPattern) -> Option<String> {
    match value {
        TermPattern::NamedNode(node) => Some(node.as_str().rsplit('/').next().unwrap_or_default().to_owned()),
        _ => None,
    }
}

/// Returns the function for a value of `joinType`; `within-dist` and `de9im` unchanged.
fn join_type(value: &TermPattern) -> Result<String> {
    let name = local(value).ok_or_else(|| wrong("spatialSearch: takes an IRI for joinType"))?;
    Ok(match name.as_str() {
        "intersects" => "sfIntersects",
        "covers" => "sfCovers",
        "contains" => "sfContains",
        "touches" => "sfTouches",
        "crosses" => "sfCrosses",
        "overlaps" => "sfOverlaps",
        "equals" => "sfEquals",
        "within" => "sfWithin",
        "within-dist" => "within-dist",
        "de9im" => "de9im",
        other => return Err(unsupported(format!("spatialSearch: has no joinType {other}"))),
    }
    .to_owned())
}
