//! Reads the SPARQL queries of a benchmark for a recipe: the links between entities, properties, qualifiers and
//! languages that they use.

mod languages;
mod named;
mod open_links;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use terrapin_loaders::wikidata::closure::{GivenEntities, LinkEnd, QueryLink, QueryUses};
use terrapin_loaders::wikidata::recipe::mentions;

use named::{NamedLinks, SubqueryLinks};
use open_links::{OpenLinks, both, bounded, joined, merged, query_links};

use super::CommandError;
use super::benchmark::pairs::all_pairs;
use crate::eval::input::published::FieldMap;
use crate::eval::language::QueryLanguage;
use crate::sparql::syntax::algebra::{Expression, NamedNodePattern, Path, QueryPattern, TermPattern, TriplePattern};
use crate::sparql::syntax::vocabulary::WIKIBASE;
use crate::sparql::syntax::walk::{AsNode, QueryNode};
use crate::sparql::syntax::{self, Dialect, ParsedQuery};

const ENTITY: &str = "http://www.wikidata.org/entity/";
const PROPERTY: &str = "http://www.wikidata.org/prop/";

/// Reads the queries of files.
pub fn uses_of(files: &[PathBuf]) -> Result<QueryUses, CommandError> {
    let mut uses = QueryUses::default();
    for pair in all_pairs(files, &FieldMap::default())? {
        let is_overpass = pair.is_run_here() && pair.language() == QueryLanguage::OverpassQl && pair.lang.is_some();
        match syntax::parse(&pair.query, Dialect::Wdqs) {
            Ok(parsed) if !is_overpass => add(&mut uses, &pair.query, &parsed),
            _ => uses.unread += 1,
        }
    }
    Ok(uses)
}

fn add(uses: &mut QueryUses, text: &str, parsed: &ParsedQuery) {
    uses.queries += 1;
    uses.entities.extend(mentions(text));
    // A node comes after those around it, and a named subquery after those that include it.
    let patterns = parsed.named.iter().map(|(_, pattern)| pattern).chain([&parsed.query.pattern]);
    let mut nodes: Vec<QueryNode<'_>> = Vec::new();
    let mut open: Vec<QueryNode<'_>> = patterns.map(AsNode::as_node).collect();
    while let Some(node) = open.pop() {
        nodes.push(node);
        node.children(&mut |child| open.push(child));
    }
    uses.languages.extend(languages::of(&nodes));
    let mut reader = LinkReader { names: BTreeMap::new(), last: 0, named: NamedLinks::default(), uses };
    reader.vocabulary(&nodes);
    for (name, pattern) in &parsed.named {
        reader.define(name.clone(), pattern);
    }
    let alternatives = reader.pattern(&parsed.query.pattern);
    uses.links.extend(alternatives.into_iter().map(query_links));
}

/// A predicate of Wikidata: its namespace and the id of its property.
fn predicate(iri: &str) -> Option<(&str, &str)> {
    let name = iri.strip_prefix(PROPERTY)?;
    let (namespace, id) = name.rsplit_once('/').unwrap_or(("", name));
    let is_id =
        id.strip_prefix('P').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    is_id.then_some((namespace, id))
}

/// The properties of a path, by direction.
#[derive(Default)]
struct PathProperties {
    forwards: BTreeSet<String>,
    backwards: BTreeSet<String>,
    /// Whether a part cannot be followed.
    unfollowed: bool,
    /// Whether the path is a choice of single links between entities.
    is_choice: bool,
}

impl PathProperties {
    fn of(path: &Path) -> PathProperties {
        let mut found = PathProperties { is_choice: true, ..PathProperties::default() };
        let mut open = vec![(path, false)];
        while let Some((path, reversed)) = open.pop() {
            found.is_choice &= matches!(path, Path::NamedNode(_) | Path::Reverse(_) | Path::Alternative(..));
            match path {
                Path::NamedNode(name) => match predicate(name.as_str()) {
                    Some((namespace, id)) => {
                        found.is_choice &= namespace == "direct";
                        let ids = if reversed { &mut found.backwards } else { &mut found.forwards };
                        ids.insert(id.to_owned());
                    }
                    None => found.unfollowed = true,
                },
                Path::Reverse(inner) => open.push((inner, !reversed)),
                Path::Sequence(first, second) | Path::Alternative(first, second) => {
                    open.extend([(&**first, reversed), (&**second, reversed)]);
                }
                Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => {
                    open.push((inner, reversed));
                }
                Path::NegatedPropertySet(_) => found.unfollowed = true,
            }
        }
        found
    }

    fn is_empty(&self) -> bool {
        self.forwards.is_empty() && self.backwards.is_empty()
    }

    fn link(self, subject: &LinkEnd, object: &LinkEnd, repeated: bool) -> QueryLink {
        QueryLink {
            subject: subject.clone(),
            properties: self.forwards.into_iter().collect(),
            inverse: self.backwards.into_iter().collect(),
            repeated,
            object: object.clone(),
            required: true,
        }
    }
}

struct LinkReader<'u> {
    /// The numbers of the variables in scope.
    names: BTreeMap<String, u32>,
    /// The last number.
    last: u32,
    /// The links of named subqueries.
    named: NamedLinks,
    uses: &'u mut QueryUses,
}

impl LinkReader<'_> {
    /// Records properties, qualifiers and references in the whole query.
    fn vocabulary(&mut self, nodes: &[QueryNode<'_>]) {
        for node in nodes {
            match node {
                QueryNode::Pattern(QueryPattern::Bgp { patterns }) => {
                    for triple in patterns {
                        if let NamedNodePattern::NamedNode(name) = &triple.predicate {
                            self.predicate(name.as_str());
                        }
                    }
                }
                QueryNode::Path(Path::NamedNode(name)) => self.predicate(name.as_str()),
                _ => {}
            }
        }
    }

    fn predicate(&mut self, iri: &str) {
        if iri.starts_with("http://www.w3.org/ns/prov#") {
            self.uses.references = true;
        }
        let Some((namespace, id)) = predicate(iri) else { return };
        if namespace.starts_with("qualifier") {
            self.uses.qualifiers.insert(id.to_owned());
        } else if namespace.starts_with("reference") {
            self.uses.references = true;
        } else {
            self.uses.properties.insert(id.to_owned());
        }
    }

    fn number(&mut self, name: String) -> u32 {
        *self.names.entry(name).or_insert_with(|| {
            self.last += 1;
            self.last
        })
    }

    fn variable(&mut self, name: String) -> LinkEnd {
        LinkEnd::Variable(self.number(name))
    }

    fn fresh(&mut self) -> LinkEnd {
        self.last += 1;
        LinkEnd::Variable(self.last)
    }

    fn end(&mut self, term: &TermPattern) -> LinkEnd {
        match term {
            TermPattern::NamedNode(name) => {
                entity(name.as_str()).map_or(LinkEnd::Value, |id| LinkEnd::Entity(id.to_owned()))
            }
            TermPattern::Variable(variable) => self.variable(format!("?{}", variable.as_str())),
            TermPattern::BlankNode(node) => self.variable(format!("_:{}", node.as_str())),
            TermPattern::Literal(_) | TermPattern::Triple(_) => LinkEnd::Value,
        }
    }

    /// Returns the links of each alternative of a pattern. What EXISTS in its expressions tests need not be there.
    fn pattern(&mut self, pattern: &QueryPattern) -> Vec<OpenLinks> {
        let alternatives = self.alternatives(pattern);
        let tested = patterns_in_expressions(pattern);
        if tested.is_empty() {
            return alternatives;
        }
        let tested = tested.into_iter().map(|pattern| self.optional(pattern)).fold(OpenLinks::default(), both);
        alternatives.into_iter().map(|links| both(links, tested.clone())).collect()
    }

    fn alternatives(&mut self, pattern: &QueryPattern) -> Vec<OpenLinks> {
        match pattern {
            QueryPattern::Bgp { patterns } => {
                let mut open = OpenLinks::default();
                patterns.iter().for_each(|triple| self.triple(triple, &mut open));
                vec![open]
            }
            QueryPattern::Path { subject, path, object } => {
                let (mut open, subject, object) = (OpenLinks::default(), self.end(subject), self.end(object));
                self.path(&subject, path, &object, &mut open);
                vec![open]
            }
            QueryPattern::Values { variables, rows } => {
                let mut open = OpenLinks::default();
                for (column, variable) in variables.iter().enumerate() {
                    let cells = rows.iter().map(|row| row.get(column).and_then(Option::as_ref));
                    let cells: Vec<Option<String>> = cells.map(|cell| given_entity(&cell?.to_string())).collect();
                    // UNDEF leaves the variable to other patterns, and a literal is a value of other links.
                    let required = cells.iter().all(Option::is_some);
                    let ids: BTreeSet<String> = cells.into_iter().flatten().collect();
                    if ids.is_empty() {
                        continue;
                    }
                    let ids = ids.into_iter().collect();
                    let variable = self.number(format!("?{}", variable.as_str()));
                    open.given.push(GivenEntities { variable, ids, required });
                }
                vec![open]
            }
            QueryPattern::Include { name, .. } => self.include(name),
            QueryPattern::Join { left, right } | QueryPattern::Lateral { left, right } => {
                let (left, right) = (self.pattern(left), self.pattern(right));
                joined(left, right)
            }
            QueryPattern::Union { left, right } => {
                let mut all = self.pattern(left);
                all.extend(self.pattern(right));
                bounded(all)
            }
            QueryPattern::LeftJoin { left, right, .. }
            | QueryPattern::LeftLateral { left, right, .. }
            | QueryPattern::Minus { left, right } => {
                let (left, right) = (self.pattern(left), self.optional(right));
                left.into_iter().map(|left| both(left, right.clone())).collect()
            }
            QueryPattern::Service { name, inner, .. } => {
                let inner = self.optional(inner);
                // The services of Wikidata link no entities that the pattern does not link; others find them by other
                // means.
                let own = ["label", "around", "box"].map(|service| format!("{WIKIBASE}{service}"));
                let is_own =
                    matches!(name, NamedNodePattern::NamedNode(name) if own.iter().any(|own| own == name.as_str()));
                let unfollowed = !is_own || inner.unfollowed;
                vec![OpenLinks { others: Vec::new(), unfollowed, ..inner }]
            }
            QueryPattern::Project { inner, variables } => {
                // Other variables of a subquery are its own.
                let names = variables.iter().map(|variable| format!("?{}", variable.as_str()));
                let scope = names.map(|name| (name.clone(), self.number(name))).collect();
                let outer = std::mem::replace(&mut self.names, scope);
                let found = self.pattern(inner);
                self.names = outer;
                found
            }
            other => {
                let mut inner = Vec::new();
                other.as_node().children(&mut |child| {
                    if let QueryNode::Pattern(pattern) = child {
                        inner.push(pattern);
                    }
                });
                let parts: Vec<Vec<OpenLinks>> = inner.into_iter().map(|pattern| self.pattern(pattern)).collect();
                parts.into_iter().reduce(joined).unwrap_or_else(|| vec![OpenLinks::default()])
            }
        }
    }

    /// Reads the body of a named subquery, after those that it includes.
    fn define(&mut self, name: String, pattern: &QueryPattern) {
        let outer = std::mem::take(&mut self.names);
        let alternatives = self.pattern(pattern);
        let columns = std::mem::replace(&mut self.names, outer);
        self.named.define(name, SubqueryLinks { columns, alternatives });
    }

    /// Returns the links of a named subquery. Variables that it returns are those of the pattern around it; others are
    /// new for each INCLUDE.
    fn include(&mut self, name: &str) -> Vec<OpenLinks> {
        let Some(SubqueryLinks { columns, alternatives }) = self.named.copy(name) else {
            return vec![OpenLinks { unfollowed: true, ..OpenLinks::default() }];
        };
        let columns = columns.into_iter().map(|(name, number)| (number, self.number(name)));
        let mut numbers: BTreeMap<u32, u32> = columns.collect();
        let mut number = |old: u32| {
            *numbers.entry(old).or_insert_with(|| {
                self.last += 1;
                self.last
            })
        };
        alternatives.into_iter().map(|links| links.renumbered(&mut number)).collect()
    }

    /// Returns the links of a pattern that solutions need not have.
    fn optional(&mut self, pattern: &QueryPattern) -> OpenLinks {
        merged(self.pattern(pattern))
    }

    fn triple(&mut self, triple: &TriplePattern, open: &mut OpenLinks) {
        let (subject, object) = (self.end(&triple.subject), self.end(&triple.object));
        match &triple.predicate {
            NamedNodePattern::NamedNode(name) => step(&subject, name.as_str(), &object, open),
            NamedNodePattern::Variable(_) => open.unfollowed = true,
        }
    }

    fn path(&mut self, subject: &LinkEnd, path: &Path, object: &LinkEnd, open: &mut OpenLinks) {
        match path {
            Path::NamedNode(name) => step(subject, name.as_str(), object, open),
            Path::Reverse(inner) => self.path(object, inner, subject, open),
            Path::Sequence(first, second) => {
                let middle = self.fresh();
                self.path(subject, first, &middle, open);
                self.path(&middle, second, object, open);
            }
            Path::Alternative(first, second) => {
                let found = PathProperties::of(path);
                if found.is_choice && !found.unfollowed {
                    open.links.push(found.link(subject, object, false));
                    return;
                }
                let mut either = OpenLinks::default();
                self.path(subject, first, object, &mut either);
                self.path(subject, second, object, &mut either);
                *open = both(std::mem::take(open), merged(vec![either]));
            }
            Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => {
                let found = PathProperties::of(inner);
                open.unfollowed |= found.unfollowed;
                // A path without properties of Wikidata says nothing of its ends.
                if !found.is_empty() {
                    let required = !found.unfollowed;
                    open.links.push(QueryLink { required, ..found.link(subject, object, true) });
                }
            }
            Path::NegatedPropertySet(_) => open.unfollowed = true,
        }
    }
}

/// Adds the link of one predicate.
fn step(subject: &LinkEnd, iri: &str, object: &LinkEnd, open: &mut OpenLinks) {
    match predicate(iri) {
        // A statement belongs to its entity.
        Some(("", id)) => {
            if let LinkEnd::Variable(_) = object {
                open.owners.insert(object.clone(), subject.clone());
            }
            open.links.push(link(subject, id, &LinkEnd::Value));
        }
        Some(("direct" | "statement" | "qualifier", id)) => open.links.push(link(subject, id, object)),
        // Full and normalised values are no entities, and neither are labels.
        _ => open.others.push([subject.clone(), object.clone()]),
    }
}

/// Returns the id of an entity.
fn entity(iri: &str) -> Option<&str> {
    iri.strip_prefix(ENTITY).filter(|id| !id.contains('/'))
}

/// Returns the id of an entity whose IRI is written as in N-Triples.
fn given_entity(term: &str) -> Option<String> {
    entity(term.strip_prefix('<')?.strip_suffix('>')?).map(str::to_owned)
}

/// Returns the patterns of EXISTS in a pattern's own expressions.
fn patterns_in_expressions(pattern: &QueryPattern) -> Vec<&QueryPattern> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    let add = |child, open: &mut Vec<_>| {
        if !matches!(child, QueryNode::Pattern(_) | QueryNode::Path(_)) {
            open.push(child);
        }
    };
    pattern.as_node().children(&mut |child| add(child, &mut open));
    while let Some(node) = open.pop() {
        if let QueryNode::Expression(Expression::Exists(pattern)) = node {
            found.push(&**pattern);
        }
        node.children(&mut |child| add(child, &mut open));
    }
    found
}

fn link(subject: &LinkEnd, property: &str, object: &LinkEnd) -> QueryLink {
    QueryLink {
        subject: subject.clone(),
        properties: vec![property.to_owned()],
        inverse: Vec::new(),
        repeated: false,
        object: object.clone(),
        required: true,
    }
}
