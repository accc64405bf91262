//! Reads the SPARQL queries of a benchmark for a recipe: the links between entities, properties, qualifiers and
//! languages that they use.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use terrapin_loaders::wikidata::closure::{LinkEnd, QueryLink, QueryLinks, QueryUses};
use terrapin_loaders::wikidata::recipe::mentions;

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
/// The maximum number of alternatives of a query; further ones are followed as optional links.
const ALTERNATIVES: usize = 32;

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
    let mut reader = LinkReader { names: BTreeMap::new(), fresh: 0, uses };
    reader.vocabulary(&parsed.query.pattern);
    let alternatives = reader.pattern(&parsed.query.pattern);
    uses.links.extend(alternatives.into_iter().map(resolved));
}

/// The links of an alternative before statements are replaced by the entities that have them.
#[derive(Clone, Default)]
struct OpenLinks {
    links: Vec<QueryLink>,
    given: Vec<(u32, Vec<String>)>,
    /// Statements, and the entities that have them.
    owners: Vec<(LinkEnd, LinkEnd)>,
}

/// Replaces statements by the entities that have them.
fn resolved(open: OpenLinks) -> QueryLinks {
    let owner = |end: &LinkEnd| {
        let found = open.owners.iter().find(|(statement, _)| statement == end);
        found.map_or_else(|| end.clone(), |(_, owner)| owner.clone())
    };
    let links = open.links.iter().map(|link| QueryLink {
        subject: owner(&link.subject),
        object: owner(&link.object),
        ..link.clone()
    });
    QueryLinks { links: links.collect(), given: open.given.clone() }
}

/// A predicate of Wikidata: its namespace and the id of its property.
fn predicate(iri: &str) -> Option<(&str, &str)> {
    let (namespace, id) =
        iri.strip_prefix(PROPERTY)?.rsplit_once('/').or_else(|| Some(("", iri.strip_prefix(PROPERTY)?)))?;
    let is_id =
        id.strip_prefix('P').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    is_id.then_some((namespace, id))
}

struct LinkReader<'u> {
    names: BTreeMap<String, u32>,
    fresh: u32,
    uses: &'u mut QueryUses,
}

impl LinkReader<'_> {
    /// Records properties, qualifiers, references and languages in the whole query.
    fn vocabulary(&mut self, pattern: &QueryPattern) {
        let mut open = vec![pattern.as_node()];
        while let Some(node) = open.pop() {
            match node {
                QueryNode::Pattern(QueryPattern::Bgp { patterns }) => {
                    for triple in patterns {
                        if let NamedNodePattern::NamedNode(name) = &triple.predicate {
                            self.predicate(name.as_str());
                            if name.as_str() == format!("{WIKIBASE}language")
                                && let TermPattern::Literal(codes) = &triple.object
                            {
                                self.languages(codes.value());
                            }
                        }
                        if let TermPattern::Literal(literal) = &triple.object {
                            self.uses.languages.extend(literal.language().map(str::to_owned));
                        }
                    }
                }
                QueryNode::Path(Path::NamedNode(name)) => self.predicate(name.as_str()),
                QueryNode::Expression(Expression::Literal(literal)) => {
                    let text = literal.value();
                    // A code of a language in a comparison with LANG(...).
                    if matches!(text.len(), 2..=3) && text.bytes().all(|byte| byte.is_ascii_lowercase()) {
                        self.uses.languages.insert(text.to_owned());
                    }
                }
                _ => {}
            }
            node.children(&mut |child| open.push(child));
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

    fn languages(&mut self, codes: &str) {
        let codes = codes.split(',').map(|code| code.trim().to_ascii_lowercase());
        let is_code = |code: &String| !code.is_empty() && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
        self.uses.languages.extend(codes.filter(is_code));
    }

    fn variable(&mut self, name: String) -> LinkEnd {
        let next = (self.names.len() as u32) | 1 << 31;
        LinkEnd::Variable(*self.names.entry(name).or_insert(next))
    }

    fn fresh(&mut self) -> LinkEnd {
        self.fresh += 1;
        LinkEnd::Variable(self.fresh)
    }

    fn end(&mut self, term: &TermPattern) -> LinkEnd {
        match term {
            TermPattern::NamedNode(name) => match name.as_str().strip_prefix(ENTITY) {
                Some(id) if !id.contains('/') => LinkEnd::Entity(id.to_owned()),
                _ => LinkEnd::Value,
            },
            TermPattern::Variable(variable) => self.variable(format!("?{}", variable.as_str())),
            TermPattern::BlankNode(node) => self.variable(format!("_:{}", node.as_str())),
            TermPattern::Literal(_) | TermPattern::Triple(_) => LinkEnd::Value,
        }
    }

    /// Returns the links of each alternative of a pattern.
    fn pattern(&mut self, pattern: &QueryPattern) -> Vec<OpenLinks> {
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
                    let values = rows.iter().filter_map(|row| row.get(column)?.as_ref());
                    let ids: BTreeSet<String> = values.flat_map(|term| mentions(&term.to_string())).collect();
                    if let LinkEnd::Variable(number) = self.variable(format!("?{}", variable.as_str()))
                        && !ids.is_empty()
                    {
                        open.given.push((number, ids.into_iter().collect()));
                    }
                }
                vec![open]
            }
            QueryPattern::Join { left, right } | QueryPattern::Lateral { left, right } => {
                let (left, right) = (self.pattern(left), self.pattern(right));
                joined(left, right)
            }
            QueryPattern::Union { left, right } => {
                let mut all = self.pattern(left);
                all.extend(self.pattern(right));
                all
            }
            QueryPattern::LeftJoin { left, right, .. }
            | QueryPattern::LeftLateral { left, right, .. }
            | QueryPattern::Minus { left, right } => {
                let left = self.pattern(left);
                let right = self.pattern(right).into_iter().map(optional).fold(OpenLinks::default(), both);
                left.into_iter().map(|left| both(left, right.clone())).collect()
            }
            QueryPattern::Service { inner, .. } => {
                // The label service links no entities; other services find them by other means.
                let inner = self.pattern(inner).into_iter().map(optional).fold(OpenLinks::default(), both);
                vec![inner]
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

    fn triple(&mut self, triple: &TriplePattern, open: &mut OpenLinks) {
        let (subject, object) = (self.end(&triple.subject), self.end(&triple.object));
        if let NamedNodePattern::NamedNode(name) = &triple.predicate {
            self.step(&subject, name.as_str(), &object, open);
        }
    }

    /// Adds the link of one predicate.
    fn step(&mut self, subject: &LinkEnd, iri: &str, object: &LinkEnd, open: &mut OpenLinks) {
        let Some((namespace, id)) = predicate(iri) else { return };
        match namespace {
            // A statement belongs to its entity.
            "" => {
                open.owners.push((object.clone(), subject.clone()));
                open.links.push(link(subject, id, &LinkEnd::Value));
            }
            "direct" | "statement" | "qualifier" => open.links.push(link(subject, id, object)),
            // Full and normalised values are no entities.
            _ => {}
        }
    }

    fn path(&mut self, subject: &LinkEnd, path: &Path, object: &LinkEnd, open: &mut OpenLinks) {
        match path {
            Path::NamedNode(name) => self.step(subject, name.as_str(), object, open),
            Path::Reverse(inner) => self.path(object, inner, subject, open),
            Path::Sequence(first, second) => {
                let middle = self.fresh();
                self.path(subject, first, &middle, open);
                self.path(&middle, second, object, open);
            }
            Path::Alternative(first, second) => {
                let mut either = OpenLinks::default();
                self.path(subject, first, object, &mut either);
                self.path(subject, second, object, &mut either);
                *open = both(std::mem::take(open), optional(either));
            }
            Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => {
                let mut names = Vec::new();
                let mut parts = vec![inner.as_node()];
                let mut reversed = false;
                while let Some(node) = parts.pop() {
                    match node {
                        QueryNode::Path(Path::NamedNode(name)) => {
                            names.extend(predicate(name.as_str()).map(|(_, id)| id.to_owned()))
                        }
                        QueryNode::Path(Path::Reverse(_)) => reversed = true,
                        _ => {}
                    }
                    node.children(&mut |child| parts.push(child));
                }
                let (from, to) = if reversed { (object, subject) } else { (subject, object) };
                open.links.push(QueryLink {
                    subject: from.clone(),
                    properties: names,
                    repeated: true,
                    object: to.clone(),
                    required: true,
                });
            }
            Path::NegatedPropertySet(_) => {}
        }
    }
}

fn link(subject: &LinkEnd, property: &str, object: &LinkEnd) -> QueryLink {
    QueryLink {
        subject: subject.clone(),
        properties: vec![property.to_owned()],
        repeated: false,
        object: object.clone(),
        required: true,
    }
}

fn both(mut left: OpenLinks, right: OpenLinks) -> OpenLinks {
    left.links.extend(right.links);
    left.given.extend(right.given);
    left.owners.extend(right.owners);
    left
}

fn optional(mut open: OpenLinks) -> OpenLinks {
    open.links.iter_mut().for_each(|link| link.required = false);
    open
}

/// Joins each alternative of one side with each of the other, or with all of them as optional links if there would be
/// too many.
fn joined(left: Vec<OpenLinks>, right: Vec<OpenLinks>) -> Vec<OpenLinks> {
    if left.len() * right.len() > ALTERNATIVES {
        let all = right.into_iter().map(optional).fold(OpenLinks::default(), both);
        return left.into_iter().map(|left| both(left, all.clone())).collect();
    }
    left.iter().flat_map(|left| right.iter().map(|right| both(left.clone(), right.clone()))).collect()
}
