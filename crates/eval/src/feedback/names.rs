//! Collects the IRIs of a SPARQL query by their roles.

use std::collections::{BTreeMap, BTreeSet};

use oxrdf::vocab::rdf;
use oxrdf::{NamedNode, Term, Variable};

use terrapin_sparql::syntax::ParsedQuery;
use terrapin_sparql::syntax::algebra::{
    Binary, Expression, NamedNodePattern, Path, QueryPattern, TermPattern, TriplePattern,
};
use terrapin_sparql::syntax::vocabulary::{
    BD, GAS, MATERIALIZED_VIEW, MAX_DISTANCE, MWAPI, PATH_SEARCH, QL, SPATIAL_SEARCH, TERRAPIN, TEXT_SEARCH, WIKIBASE,
};
use terrapin_sparql::syntax::walk::{self, QueryNode};
use terrapin_sparql::{Dialect, is_known_service};

/// Wikidata's "instance of".
const INSTANCE_OF: &str = "http://www.wikidata.org/prop/direct/P31";

/// The role of an IRI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IriRole {
    /// The predicate of a triple.
    Predicate,
    /// The object of a class predicate, if it is in one triple.
    Class,
    /// A named graph.
    Graph,
    /// A subject or an object.
    Term,
}

/// The IRIs of a query.
#[derive(Debug, Default)]
pub struct QueryNames {
    /// The roles of each IRI.
    pub roles: BTreeMap<NamedNode, BTreeSet<IriRole>>,
    /// The class predicates of each class.
    pub classes: BTreeSet<(NamedNode, NamedNode)>,
    /// The services that no snapshot answers for.
    pub unknown_services: BTreeSet<NamedNode>,
    /// The roles of variables.
    variables: BTreeMap<Variable, BTreeSet<IriRole>>,
    /// Whether the query has the dialect of QLever.
    is_qlever: bool,
}

impl QueryNames {
    /// Collects the IRIs of a query's patterns and FROM clauses, and those that `VALUES`, `=` and `IN` assign to
    /// variables with the role of a predicate, class or graph.
    pub fn of(parsed: &ParsedQuery) -> QueryNames {
        let is_qlever = parsed.dialect == Dialect::Qlever;
        let mut names = QueryNames { is_qlever, ..QueryNames::default() };
        if let Some(dataset) = &parsed.query.dataset {
            for graph in dataset.default.iter().chain(dataset.named.iter().flatten()) {
                names.add(graph, IriRole::Graph);
            }
        }
        let patterns = [&parsed.query.pattern].into_iter().chain(parsed.named.iter().map(|(_, pattern)| pattern));
        let mut open: Vec<(QueryNode<'_>, bool)> =
            patterns.clone().map(|pattern| (QueryNode::Pattern(pattern), false)).collect();
        while let Some((node, is_in_service)) = open.pop() {
            if let QueryNode::Pattern(QueryPattern::Service { name: NamedNodePattern::NamedNode(name), .. }) = node
                && !is_known_service(name)
            {
                // Its patterns are about other data.
                names.unknown_services.insert(name.clone());
                continue;
            }
            if let QueryNode::Pattern(pattern) = node {
                names.pattern(pattern, is_in_service);
            }
            let is_in_service = is_in_service || matches!(node, QueryNode::Pattern(QueryPattern::Service { .. }));
            node.children(&mut |child| open.push((child, is_in_service)));
        }
        for pattern in patterns {
            walk::on_patterns(pattern, &mut |pattern| names.values(pattern));
        }
        names
    }

    fn add(&mut self, name: &NamedNode, role: IriRole) {
        if self.is_qlever && is_special(name) {
            return;
        }
        self.roles.entry(name.clone()).or_default().insert(role);
    }

    fn term(&mut self, term: &TermPattern, role: IriRole) {
        match term {
            TermPattern::NamedNode(name) => self.add(name, role),
            TermPattern::Variable(variable) if role != IriRole::Term => {
                self.variables.entry(variable.clone()).or_default().insert(role);
            }
            _ => {}
        }
    }

    fn name(&mut self, name: &NamedNodePattern, role: IriRole) {
        match name {
            NamedNodePattern::NamedNode(name) => self.add(name, role),
            NamedNodePattern::Variable(variable) => {
                self.variables.entry(variable.clone()).or_default().insert(role);
            }
        }
    }

    fn pattern(&mut self, pattern: &QueryPattern, is_in_service: bool) {
        match pattern {
            QueryPattern::Bgp { patterns } => {
                for triple in patterns {
                    match is_in_service && is_parameter(triple) {
                        true => self.parameter(triple),
                        false => self.triple(triple),
                    }
                }
            }
            QueryPattern::Path { subject, path, object } => {
                self.term(subject, IriRole::Term);
                self.term(object, IriRole::Term);
                self.path(path);
            }
            QueryPattern::Graph { name, .. } => self.name(name, IriRole::Graph),
            _ => {}
        }
    }

    fn triple(&mut self, triple: &TriplePattern) {
        self.term(&triple.subject, IriRole::Term);
        self.name(&triple.predicate, IriRole::Predicate);
        let NamedNodePattern::NamedNode(predicate) = &triple.predicate else {
            return self.term(&triple.object, IriRole::Term);
        };
        if *predicate != rdf::TYPE && predicate.as_str() != INSTANCE_OF {
            return self.term(&triple.object, IriRole::Term);
        }
        self.term(&triple.object, IriRole::Class);
        if let TermPattern::NamedNode(class) = &triple.object {
            self.classes.insert((class.clone(), predicate.clone()));
        }
    }

    /// Parameters of a service need not occur in the data, except the terms from which it starts.
    fn parameter(&mut self, triple: &TriplePattern) {
        let NamedNodePattern::NamedNode(parameter) = &triple.predicate else { return };
        let role = match parameter.as_str().strip_prefix(GAS) {
            Some("linkType") => IriRole::Predicate,
            Some(_) => IriRole::Term,
            None => return,
        };
        if let TermPattern::NamedNode(name) = &triple.object
            && !is_of_service(name)
        {
            self.add(name, role);
        }
    }

    fn path(&mut self, path: &Path) {
        match path {
            Path::NamedNode(name) => self.add(name, IriRole::Predicate),
            Path::Reverse(inner) | Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => {
                self.path(inner);
            }
            Path::Sequence(left, right) | Path::Alternative(left, right) => {
                self.path(left);
                self.path(right);
            }
            // Excluded predicates need not occur.
            Path::NegatedPropertySet(_) => {}
        }
    }

    /// Adds the values that a pattern assigns to variables with the role of a predicate, class or graph.
    fn values(&mut self, pattern: &QueryPattern) {
        match pattern {
            QueryPattern::Values { variables, rows } => {
                for (column, variable) in variables.iter().enumerate() {
                    for value in rows.iter().filter_map(|row| row.get(column)?.as_ref()) {
                        if let Term::NamedNode(name) = value {
                            self.value(variable, name);
                        }
                    }
                }
            }
            QueryPattern::Extend { variable, expression: Expression::NamedNode(name), .. } => {
                self.value(variable, name)
            }
            QueryPattern::Filter { condition, .. } => self.condition(condition),
            _ => {}
        }
    }

    /// Adds the values that a required condition assigns to variables.
    fn condition(&mut self, condition: &Expression) {
        match condition {
            Expression::Binary(Binary::And | Binary::Or, a, b) => {
                self.condition(a);
                self.condition(b);
            }
            Expression::Binary(Binary::Equal | Binary::SameTerm, a, b) => match (&**a, &**b) {
                (Expression::Variable(variable), Expression::NamedNode(name))
                | (Expression::NamedNode(name), Expression::Variable(variable)) => self.value(variable, name),
                _ => {}
            },
            Expression::In(variable, list) => {
                let Expression::Variable(variable) = &**variable else { return };
                for value in list {
                    if let Expression::NamedNode(name) = value {
                        self.value(variable, name);
                    }
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, variable: &Variable, name: &NamedNode) {
        for role in self.variables.get(variable).cloned().unwrap_or_default() {
            self.add(name, role);
        }
    }
}

/// Reports whether an IRI belongs to a service.
fn is_of_service(name: &NamedNode) -> bool {
    [BD, GAS, MWAPI, PATH_SEARCH, SPATIAL_SEARCH, TERRAPIN, TEXT_SEARCH, WIKIBASE]
        .iter()
        .any(|namespace| name.as_str().starts_with(namespace))
}

/// Reports whether a predicate is evaluated by the engine and needs no triples.
fn is_special(name: &NamedNode) -> bool {
    [MATERIALIZED_VIEW, MAX_DISTANCE, QL].iter().any(|namespace| name.as_str().starts_with(namespace))
}

/// Reports whether a triple in a service's group is a parameter of the service.
fn is_parameter(triple: &TriplePattern) -> bool {
    let is_of_one = matches!(&triple.subject, TermPattern::NamedNode(name) if is_of_service(name));
    is_of_one || matches!(&triple.predicate, NamedNodePattern::NamedNode(name) if is_of_service(name))
}
