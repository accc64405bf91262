//! The services of WDQS that a snapshot can answer, a file each. Others would need the live web: that is an error before
//! the query runs.

mod around;
mod gas;
pub(crate) mod label;
mod sample;
mod search;
pub(crate) mod wdqs;

use oxrdf::{NamedNode, Term, Variable};

use super::environment::Environment;
use super::functions::Called;
use super::row::Row;
use super::solve::Plan;
use super::waiting::Waiting;
use terrapin_budget::Budget;
use terrapin_budget::checkpoint;
use terrapin_sparql_syntax::algebra::{NamedNodePattern, Pattern, TermPattern, TriplePattern};
use terrapin_sparql_syntax::error::{Class, Error};
use terrapin_sparql_syntax::vocabulary::{BD, GAS, SERVICE_PARAM, WIKIBASE};

type Result<T> = std::result::Result<T, Error>;

/// Rows that are made before the query runs.
#[derive(Debug)]
pub(crate) enum Table {
    /// A subquery's.
    Plan(Plan),
    /// A graph traversal's.
    Gas(gas::Traversal),
    /// An entity search's.
    Search(search::Search),
    /// A sample or a slice of the matches of a triple pattern.
    Sample(sample::Sample),
}

impl Table {
    /// Its columns.
    pub fn variables(&self) -> Vec<Variable> {
        match self {
            Table::Plan(plan) => plan.variables.clone(),
            Table::Gas(traversal) => traversal.variables(),
            Table::Search(search) => search.variables(),
            Table::Sample(sample) => sample.variables(),
        }
    }

    /// Its rows; None for a subquery, which the evaluator solves.
    pub fn rows(&self, environment: &Environment, budget: &Budget) -> Option<Result<Vec<Row>>> {
        match self {
            Table::Plan(_) => None,
            Table::Gas(traversal) => Some(traversal.rows(&environment.store, budget)),
            Table::Search(search) => Some(search.rows(&environment.store, budget)),
            Table::Sample(sample) => Some(sample.rows(environment, budget)),
        }
    }
}

/// What takes a service's place in a query.
pub(crate) enum Replacement {
    /// A pattern, and what waits for values that it does not have.
    Pattern(Waiting),
    /// A table.
    Table(Table),
}

/// What a service of WDQS is given: parameters and patterns.
pub(crate) struct Parameters {
    service: &'static str,
    values: Vec<(NamedNode, TermPattern)>,
    /// Triples that are no parameters.
    pub triples: Vec<TriplePattern>,
    /// Other patterns.
    pub others: Vec<Pattern>,
}

impl Parameters {
    /// Takes a service's group apart. Parameters are the triples whose subject is `subject`.
    fn new(service: &'static str, subject: &str, inner: Pattern) -> Parameters {
        let mut parameters = Parameters { service, values: Vec::new(), triples: Vec::new(), others: Vec::new() };
        let mut open = vec![inner];
        while let Some(pattern) = open.pop() {
            match pattern {
                Pattern::Join { left, right } => open.extend([*right, *left]),
                Pattern::Bgp { patterns } => {
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

    /// The values of a parameter.
    fn all<'a>(&'a self, namespace: &'a str, name: &'a str) -> impl Iterator<Item = &'a TermPattern> {
        let named = move |p: &NamedNode| p.as_str().strip_prefix(namespace) == Some(name);
        self.values.iter().filter(move |(predicate, _)| named(predicate)).map(|(_, value)| value)
    }

    fn get(&self, namespace: &str, name: &str) -> Option<&TermPattern> {
        self.values.iter().find(|(p, _)| p.as_str().strip_prefix(namespace) == Some(name)).map(|(_, value)| value)
    }

    /// A parameter that has to be there.
    fn needed(&self, namespace: &str, name: &str) -> Result<&TermPattern> {
        self.get(namespace, name).ok_or_else(|| self.wrong(format!("{} needs the parameter {name}", self.service)))
    }

    fn wrong(&self, message: String) -> Error {
        Error::new(Class::Syntax, "service-parameter", message)
    }

    /// A parameter's text, of a literal or an IRI.
    fn text(&self, namespace: &str, name: &str) -> Result<Option<String>> {
        match self.get(namespace, name) {
            None => Ok(None),
            Some(TermPattern::Literal(literal)) => Ok(Some(literal.value().to_owned())),
            Some(TermPattern::NamedNode(node)) => Ok(Some(node.as_str().to_owned())),
            Some(_) => {
                let message = format!("{} takes no variable for the parameter {name}", self.service);
                Err(Error::new(Class::Unsupported, "service-parameter", message))
            }
        }
    }

    /// A parameter that is a whole number.
    fn number(&self, namespace: &str, name: &str) -> Result<Option<usize>> {
        let Some(text) = self.text(namespace, name)? else { return Ok(None) };
        match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.wrong(format!("{}: {name} is no whole number: '{text}'", self.service))),
        }
    }

    /// A parameter that names a variable to fill.
    fn variable(&self, namespace: &str, name: &str) -> Result<Option<Variable>> {
        match self.get(namespace, name) {
            None => Ok(None),
            Some(TermPattern::Variable(variable)) => Ok(Some(variable.clone())),
            // Whoever writes [] does not want it.
            Some(TermPattern::BlankNode(_)) => Ok(None),
            Some(_) => Err(self.wrong(format!("{}: {name} has to be a variable", self.service))),
        }
    }
}

/// Rewrites a service other than the label service.
pub(crate) fn rewrite(functions: &mut Called, name: &NamedNode, inner: Pattern) -> Result<Replacement> {
    let iri = name.as_str();
    if let Some(local) = iri.strip_prefix(WIKIBASE) {
        match local {
            "around" => {
                let parameters = Parameters::new("wikibase:around", SERVICE_PARAM, inner);
                return Ok(Replacement::Pattern(around::around(functions, parameters)?));
            }
            "box" => {
                let parameters = Parameters::new("wikibase:box", SERVICE_PARAM, inner);
                return Ok(Replacement::Pattern(around::in_box(functions, parameters)?));
            }
            "mwapi" => {
                let search = search::Search::new(&Parameters::new("wikibase:mwapi", SERVICE_PARAM, inner))?;
                return Ok(Replacement::Table(Table::Search(search)));
            }
            _ => {}
        }
    }
    if iri.strip_prefix(GAS) == Some("service") {
        let parameters = Parameters::new("gas:service", "http://www.bigdata.com/rdf/gas#program", inner);
        let traversal = gas::Traversal::new(&parameters)?;
        return Ok(Replacement::Table(Table::Gas(traversal)));
    }
    if let Some(kind @ ("sample" | "slice")) = iri.strip_prefix(BD) {
        let sample =
            sample::Sample::new(Parameters::new("bd:sample or bd:slice", SERVICE_PARAM, inner), kind == "sample")?;
        return Ok(Replacement::Table(Table::Sample(sample)));
    }
    if iri.starts_with(WIKIBASE) || iri.starts_with(BD) {
        let message = format!("there is no service {name}");
        let known =
            "known are wikibase:label, wikibase:around, wikibase:box, wikibase:mwapi, gas:service, bd:sample, bd:slice";
        return Err(Error::new(Class::Unsupported, "unknown-service", message).help(known));
    }
    let message = format!("the service {name} would need the live web");
    let help = "a snapshot answers from its own data alone; SERVICE SILENT goes on without it";
    Err(Error::new(Class::Unsupported, "live-service", message).help(help))
}

/// Counts units of work.
fn work(budget: &Budget, units: u64) -> Result<()> {
    checkpoint();
    budget.work(units).map_err(super::guard::exceeded)
}

/// The term of a pattern without variables.
fn ground(pattern: &TermPattern) -> Option<Term> {
    match pattern {
        TermPattern::NamedNode(node) => Some(node.clone().into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        _ => None,
    }
}
