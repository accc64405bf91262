//! The services of WDQS that a snapshot can provide, and the crate's own; one file for each. Other services would need
//! network access and are rejected before the query runs.

mod around;
mod gas;
pub(crate) mod label;
mod overpass;
pub(crate) mod path_search;
pub(crate) mod qlever;
mod sample;
mod search;
mod shared;
pub(crate) mod spatial_search;
pub(crate) mod text_search;
pub(crate) mod wdqs;

use std::fmt;

use oxrdf::{NamedNode, Variable};

use super::environment::Environment;
use super::functions::Called;
use super::row::Row;
use super::solve::SolvePlan;
use super::waiting::Waiting;
use terrapin_budget::Budget;
use terrapin_sparql_syntax::algebra::{NamedNodePattern, QueryPattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_sparql_syntax::vocabulary::{BD, TERRAPIN, WIKIBASE};

type Result<T> = std::result::Result<T, SparqlError>;

/// A service: its name in queries and the function that replaces it.
#[derive(Debug)]
struct SparqlService {
    /// The name with a prefix, for messages.
    name: &'static str,
    /// The IRI, split into a namespace and a local name.
    iri: (&'static str, &'static str),
    /// The subject of the parameter triples.
    parameters: &'static str,
    rewrite: fn(&mut Called, ServiceParameters) -> Result<ServiceReplacement>,
}

impl SparqlService {
    fn is_called(&self, iri: &str) -> bool {
        let (namespace, name) = self.iri;
        iri.strip_prefix(namespace) == Some(name)
    }
}

/// All services except the label service, which depends on the surrounding patterns.
const SERVICES: &[&SparqlService] = &[
    &around::AROUND,
    &around::BOX,
    &search::SERVICE,
    &gas::SERVICE,
    &sample::SAMPLE,
    &sample::SLICE,
    &overpass::SERVICE,
];

/// A table that is computed before the query runs.
#[derive(Debug)]
pub(crate) enum ServiceRows {
    /// The solutions of a subquery.
    Plan(Box<SolvePlan>),
    /// The rows of a service.
    Service(Box<dyn SolutionRows>),
    /// Rows that are computed from those of an earlier table.
    Derived {
        /// The number of the earlier table.
        of: usize,
        /// Its columns.
        columns: Vec<Variable>,
        /// The computation.
        rows: Box<dyn DerivedRows>,
    },
}

/// Rows that are computed from those of another table.
pub(crate) trait DerivedRows: fmt::Debug + Send + Sync {
    /// Returns the columns.
    fn variables(&self) -> Vec<Variable>;

    /// Computes the rows from those of the other table, which has these columns.
    fn rows(&self, columns: &[Variable], rows: &[Row], budget: &Budget) -> Result<Vec<Row>>;
}

/// The rows of a service that needs no input.
pub(crate) trait SolutionRows: fmt::Debug + Send + Sync {
    /// Returns the columns.
    fn variables(&self) -> Vec<Variable>;

    /// Adds a column with the rank of each row, if the order of rows is meaningful.
    fn show_order(&mut self, _: Variable) {}

    /// Returns whether the rows are computed from OpenStreetMap's elements.
    fn is_of_elements(&self) -> bool {
        false
    }

    /// Computes the rows.
    fn rows(&self, environment: &Environment, budget: &Budget) -> Result<Vec<Row>>;
}

impl ServiceRows {
    /// Returns the columns.
    pub fn variables(&self) -> Vec<Variable> {
        match self {
            ServiceRows::Plan(plan) => plan.variables.clone(),
            ServiceRows::Service(found) => found.variables(),
            ServiceRows::Derived { rows, .. } => rows.variables(),
        }
    }
}

/// The replacement for a service in a query.
pub(crate) enum ServiceReplacement {
    /// A pattern, with filters and bindings that wait for variables from outside it.
    Pattern(Waiting),
    /// A table.
    Table(ServiceRows),
}

impl ServiceReplacement {
    /// Creates the replacement by a service's rows.
    fn rows(found: impl SolutionRows + 'static) -> Self {
        ServiceReplacement::Table(ServiceRows::Service(Box::new(found)))
    }
}

/// The arguments of a WDQS service: parameters and patterns.
pub(crate) struct ServiceParameters {
    service: &'static str,
    values: Vec<(NamedNode, TermPattern)>,
    /// Triples other than parameters.
    pub triples: Vec<TriplePattern>,
    /// Other patterns.
    pub others: Vec<QueryPattern>,
}

impl ServiceParameters {
    /// Splits a service's group into parameters and patterns. Parameters are the triples with the subject `subject`.
    pub fn new(service: &'static str, subject: &str, inner: QueryPattern) -> ServiceParameters {
        let mut parameters = ServiceParameters { service, values: Vec::new(), triples: Vec::new(), others: Vec::new() };
        let mut open = vec![inner];
        while let Some(pattern) = open.pop() {
            match pattern {
                QueryPattern::Join { left, right } => open.extend([*right, *left]),
                QueryPattern::Bgp { patterns } => {
                    for triple in patterns {
                        match (&triple.subject, &triple.predicate) {
                            (TermPattern::NamedNode(s), NamedNodePattern::NamedNode(p)) if s.as_str() == subject => {
                                parameters.values.push((p.clone(), triple.object));
                            }
                            _ => parameters.triples.push(triple),
                        }
                    }
                }
                other => parameters.others.push(other),
            }
        }
        parameters
    }

    /// Returns all values of a parameter.
    pub fn all<'a>(&'a self, namespace: &'a str, name: &'a str) -> impl Iterator<Item = &'a TermPattern> {
        let named = move |p: &NamedNode| p.as_str().strip_prefix(namespace) == Some(name);
        self.values.iter().filter(move |(predicate, _)| named(predicate)).map(|(_, value)| value)
    }

    pub fn get(&self, namespace: &str, name: &str) -> Option<&TermPattern> {
        self.values.iter().find(|(p, _)| p.as_str().strip_prefix(namespace) == Some(name)).map(|(_, value)| value)
    }

    /// Returns the value of a required parameter.
    fn needed(&self, namespace: &str, name: &str) -> Result<&TermPattern> {
        self.get(namespace, name).ok_or_else(|| self.wrong(format!("{} needs the parameter {name}", self.service)))
    }

    fn wrong(&self, message: String) -> SparqlError {
        SparqlError::new(SparqlErrorClass::Syntax, SparqlCode::ServiceParameter, message)
    }

    /// Returns the text of a parameter that is a literal or an IRI.
    fn text(&self, namespace: &str, name: &str) -> Result<Option<String>> {
        match self.get(namespace, name) {
            None => Ok(None),
            Some(TermPattern::Literal(literal)) => Ok(Some(literal.value().to_owned())),
            Some(TermPattern::NamedNode(node)) => Ok(Some(node.as_str().to_owned())),
            Some(_) => {
                let message = format!("{} takes no variable for the parameter {name}", self.service);
                Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::ServiceParameter, message))
            }
        }
    }

    /// Returns the value of a parameter that is a whole number.
    fn number(&self, namespace: &str, name: &str) -> Result<Option<usize>> {
        let Some(text) = self.text(namespace, name)? else { return Ok(None) };
        match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.wrong(format!("{}: {name} is not a whole number: '{text}'", self.service))),
        }
    }

    /// Returns the variable of an output parameter.
    fn variable(&self, namespace: &str, name: &str) -> Result<Option<Variable>> {
        match self.get(namespace, name) {
            None => Ok(None),
            Some(TermPattern::Variable(variable)) => Ok(Some(variable.clone())),
            // `[]` as an output parameter means that the query does not need that output.
            Some(TermPattern::BlankNode(_)) => Ok(None),
            Some(_) => Err(self.wrong(format!("{}: {name} must be a variable", self.service))),
        }
    }
}

/// Rewrites a service other than the label service.
pub(crate) fn rewrite(functions: &mut Called, name: &NamedNode, inner: QueryPattern) -> Result<ServiceReplacement> {
    let iri = name.as_str();
    if let Some(service) = SERVICES.iter().find(|service| service.is_called(iri)) {
        return (service.rewrite)(functions, ServiceParameters::new(service.name, service.parameters, inner));
    }
    if [WIKIBASE, BD, TERRAPIN].iter().any(|namespace| iri.starts_with(namespace)) {
        let message = format!("unknown service {name}");
        let names: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
        let known = format!("known services: wikibase:label, {}", names.join(", "));
        return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::UnknownService, message).help(known));
    }
    if let Some(error) = qlever::refused(name) {
        return Err(error);
    }
    let message = format!("the service {name} needs the live web");
    let help = "a snapshot answers only from its own data; use SERVICE SILENT to continue without the service";
    Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::LiveService, message).help(help))
}

/// Returns whether a service is a public endpoint whose place the snapshot takes: the Wikidata Query Service, or QLever's
/// of Wikidata and OpenStreetMap.
pub fn is_endpoint(name: &NamedNode) -> bool {
    wdqs::is_wdqs(name) || qlever::is_qlever(name)
}

/// Returns whether a snapshot can answer for a service. A service that belongs to one dialect counts in all.
pub fn is_known_service(name: &NamedNode) -> bool {
    is_endpoint(name) || label::is_label(name) || wikidata_service(name).is_some() || qlever::service(name).is_some()
}

/// Returns the name of a service of WDQS other than the label service.
pub(crate) fn wikidata_service(name: &NamedNode) -> Option<&'static str> {
    SERVICES.iter().find(|service| service.is_called(name.as_str())).map(|service| service.name)
}
