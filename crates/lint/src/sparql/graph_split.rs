//! `graph-split`: a query needs both graphs of the Wikidata Query Service, which is split since May 2025.

use std::collections::{BTreeMap, BTreeSet};

use oxrdf::Term;
use terrapin_sparql::syntax::algebra::{Helper, NamedNodePattern, Path, QueryPattern, TermPattern, TriplePattern};
use terrapin_sparql::syntax::walk::{self, QueryNode};

use super::label_language::is_label_service;
use super::scope::scope;
use super::{SparqlFindings, SparqlLint, SparqlRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "graph-split",
        severity: LintSeverity::Note,
        summary: "The query needs the main and the scholarly graph of the Wikidata Query Service in one place.",
    },
    check,
};

const ENTITY: &str = "http://www.wikidata.org/entity/";
const DIRECT: &str = "http://www.wikidata.org/prop/direct/";
const CLAIM: &str = "http://www.wikidata.org/prop/";
const STATEMENT: &str = "http://www.wikidata.org/prop/statement/";
/// Predicates of the texts of an item.
const TEXTS: [&str; 3] = [
    "http://www.w3.org/2000/01/rdf-schema#label",
    "http://www.w3.org/2004/02/skos/core#altLabel",
    "http://schema.org/description",
];
/// Endings of the variables of the label service.
const LABELS: [&str; 3] = ["AltLabel", "Label", "Description"];

/// The numbers of the classes whose instances are in the scholarly graph
/// (<https://www.wikidata.org/wiki/Wikidata:SPARQL_query_service/WDQS_graph_split/Rules>), version 2, sorted.
const SCHOLARLY_CLASSES: [u32; 49] = [
    187_685,
    580_922,
    798_134,
    815_382,
    1_266_946,
    1_348_305,
    1_385_450,
    1_402_850,
    1_414_362,
    1_504_425,
    1_884_156,
    1_907_875,
    2_782_326,
    7_316_896,
    7_318_358,
    10_885_494,
    13_442_814,
    15_706_459,
    18_918_145,
    23_927_052,
    30_749_496,
    45_182_324,
    46_629_343,
    51_282_711,
    51_282_918,
    51_282_999,
    51_283_053,
    51_283_092,
    51_283_145,
    51_283_181,
    51_283_199,
    51_283_219,
    51_283_362,
    54_670_950,
    58_897_583,
    59_387_148,
    70_471_362,
    82_969_330,
    91_901_000,
    92_998_777,
    100_328_456,
    106_276_531,
    110_716_513,
    111_475_835,
    111_475_860,
    111_476_177,
    112_585_758,
    114_613_919,
    118_114_827,
];
/// "Publication type of scholarly work": items with it are in the scholarly graph.
const PUBLICATION_TYPE: &str = "P13046";
/// Properties whose subjects are usually in the scholarly graph: author name string, cites work, DOI, PubMed, PMC and
/// arXiv. Author (P50) and published in (P1433) are not among them: queries about books have them as well.
const SCHOLARLY_PROPERTIES: [&str; 6] = ["P2093", "P2860", "P356", "P698", "P932", "P818"];

/// The reason why a variable is in the scholarly graph.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ScholarlyReason {
    /// The rules of the split place it there.
    Rule(String),
    /// It has a property that is usual there.
    Usual(String),
}

/// An item of a query: a variable, or a blank node, such as the class between `wdt:P31` and `wdt:P279*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ItemName<'q> {
    Variable(&'q str),
    Blank(&'q str),
}

impl ItemName<'_> {
    /// Returns the name for a message.
    fn shown(self) -> String {
        match self {
            ItemName::Variable(name) if !name.starts_with('.') => format!("?{name}"),
            _ => "an item without a name".to_owned(),
        }
    }
}

/// The triples that one endpoint evaluates.
#[derive(Default)]
struct EndpointPatterns<'q> {
    /// Subject, the names of a predicate or of the first step of a path, and object.
    triples: Vec<(&'q TermPattern, Vec<&'q str>, &'q TermPattern)>,
    /// The values of variables in VALUES.
    values: Vec<(&'q str, &'q str)>,
    /// The variables of which the label service gives a text.
    labelled: BTreeSet<ItemName<'q>>,
}

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    let mut endpoints = vec![EndpointPatterns::default()];
    for pattern in lint.patterns() {
        collect(pattern, 0, &mut endpoints);
    }
    if let Some(first) = endpoints.first_mut()
        && lint.patterns().any(has_label_service)
    {
        first.labelled.extend(lint.patterns().flat_map(labelled).map(ItemName::Variable));
    }
    let scholarly = scholarly(&endpoints);
    for endpoint in &endpoints {
        let subjects = endpoint.subjects();
        let in_scholarly = subjects.iter().find_map(|subject| Some((*subject, scholarly.get(subject)?)));
        let in_main = subjects.iter().find(|subject| !scholarly.contains_key(*subject));
        let (Some((article, reason)), Some(other)) = (in_scholarly, in_main) else { continue };
        let reason = match reason {
            ScholarlyReason::Rule(why) => format!("is in the scholarly graph ({why})"),
            ScholarlyReason::Usual(why) => format!("is usually in the scholarly graph (it has {why})"),
        };
        let message = format!(
            "{} {reason}, {} in the main graph: the Wikidata Query Service needs a SERVICE for one of them",
            article.shown(),
            other.shown()
        );
        let named = [article, *other].map(|item| item.shown()).into_iter().find(|name| name.starts_with('?'));
        findings.add(lint.place(&named.unwrap_or_default()), message);
        return;
    }
}

/// Adds the patterns of each endpoint; those outside of a service have the number 0.
fn collect<'q>(pattern: &'q QueryPattern, number: usize, endpoints: &mut Vec<EndpointPatterns<'q>>) {
    let mut open = vec![(QueryNode::Pattern(pattern), number)];
    while let Some((node, mut number)) = open.pop() {
        match node {
            QueryNode::Pattern(QueryPattern::Service { name: NamedNodePattern::NamedNode(name), .. })
                if terrapin_sparql::is_endpoint(name) =>
            {
                number = endpoints.len();
                endpoints.push(EndpointPatterns::default());
            }
            QueryNode::Pattern(QueryPattern::Bgp { patterns }) => {
                endpoints[number].triples.extend(patterns.iter().filter_map(of_triple));
            }
            QueryNode::Pattern(QueryPattern::Path { subject, path, object }) => {
                let mut names = Vec::new();
                first_steps(path, &mut names);
                endpoints[number].triples.push((subject, names, object));
            }
            QueryNode::Pattern(QueryPattern::Values { variables, rows }) => {
                for (column, variable) in variables.iter().enumerate() {
                    for value in rows.iter().filter_map(|row| row.get(column)?.as_ref()) {
                        if let Term::NamedNode(node) = value {
                            endpoints[number].values.push((variable.as_str(), node.as_str()));
                        }
                    }
                }
            }
            _ => {}
        }
        node.children(&mut |child| open.push((child, number)));
    }
}

fn of_triple(triple: &TriplePattern) -> Option<(&TermPattern, Vec<&str>, &TermPattern)> {
    let NamedNodePattern::NamedNode(name) = &triple.predicate else { return None };
    Some((&triple.subject, vec![name.as_str()], &triple.object))
}

/// Adds the predicates that a path takes from its subject.
fn first_steps<'q>(path: &'q Path, names: &mut Vec<&'q str>) {
    match path {
        Path::NamedNode(name) => names.push(name.as_str()),
        Path::ZeroOrMore(inner) | Path::OneOrMore(inner) | Path::ZeroOrOne(inner) => first_steps(inner, names),
        Path::Sequence(left, _) => first_steps(left, names),
        Path::Alternative(left, right) => {
            first_steps(left, names);
            first_steps(right, names);
        }
        Path::Reverse(_) | Path::NegatedPropertySet(_) => {}
    }
}

impl<'q> EndpointPatterns<'q> {
    /// Returns the variables of items whose statements or texts the endpoint needs.
    fn subjects(&self) -> BTreeSet<ItemName<'q>> {
        let of_item = |names: &[&str]| names.iter().any(|name| property(name).is_some() || TEXTS.contains(name));
        let variables = self.triples.iter().filter(|(_, names, _)| of_item(names));
        variables.filter_map(|(subject, ..)| name_of(subject)).chain(self.labelled.iter().copied()).collect()
    }
}

/// Returns the name of a variable or blank node.
fn name_of(term: &TermPattern) -> Option<ItemName<'_>> {
    match term {
        TermPattern::Variable(variable) => Some(ItemName::Variable(variable.as_str())),
        TermPattern::BlankNode(node) => Some(ItemName::Blank(node.as_str())),
        TermPattern::NamedNode(_) | TermPattern::Literal(_) | TermPattern::Triple(_) => None,
    }
}

/// Returns the property of a predicate of an item: `P31` of `wdt:P31` and `p:P31`.
fn property(name: &str) -> Option<&str> {
    let local = name.strip_prefix(DIRECT).or_else(|| name.strip_prefix(CLAIM))?;
    local.strip_prefix('P').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())).map(|_| local)
}

fn is_scholarly_class(iri: &str) -> bool {
    let number = iri.strip_prefix(ENTITY).and_then(|local| local.strip_prefix('Q')?.parse::<u32>().ok());
    number.is_some_and(|number| SCHOLARLY_CLASSES.binary_search(&number).is_ok())
}

/// Returns the variables in the scholarly graph.
fn scholarly<'q>(endpoints: &[EndpointPatterns<'q>]) -> BTreeMap<ItemName<'q>, ScholarlyReason> {
    let triples = || endpoints.iter().flat_map(|endpoint| &endpoint.triples);
    // What a node leads to, by `wdt:P279*` or as a statement of P31: a class, and whether it is a scholarly one.
    let mut classes: BTreeMap<ItemName<'_>, (bool, &str)> = BTreeMap::new();
    for (subject, names, object) in triples() {
        let leads =
            names.iter().any(|name| property(name) == Some("P279") || name.strip_prefix(STATEMENT) == Some("P31"));
        if let (true, Some(subject), TermPattern::NamedNode(class)) = (leads, name_of(subject), *object) {
            classes.insert(subject, (is_scholarly_class(class.as_str()), class.as_str()));
        }
    }
    for (variable, value) in endpoints.iter().flat_map(|endpoint| &endpoint.values) {
        // One other class is enough for items of the main graph.
        let class = classes.entry(ItemName::Variable(variable)).or_insert((true, value));
        if !is_scholarly_class(value) {
            *class = (false, value);
        }
    }
    let mut found: BTreeMap<ItemName<'_>, ScholarlyReason> = BTreeMap::new();
    let mut others = BTreeSet::new();
    let mut usual = Vec::new();
    for (subject, names, object) in triples() {
        let Some(subject) = name_of(subject) else { continue };
        for property in names.iter().filter_map(|name| property(name)) {
            let class = match object {
                _ if property != "P31" => None,
                TermPattern::NamedNode(class) => Some((is_scholarly_class(class.as_str()), class.as_str())),
                object => name_of(object).and_then(|object| classes.get(&object).copied()),
            };
            match class {
                Some((true, class)) => {
                    let local = class.strip_prefix(ENTITY).unwrap_or(class);
                    found.insert(subject, ScholarlyReason::Rule(format!("instance of wd:{local}")));
                }
                Some((false, _)) => {
                    others.insert(subject);
                }
                None if property == PUBLICATION_TYPE => {
                    found.insert(subject, ScholarlyReason::Rule(format!("it has {PUBLICATION_TYPE}")));
                }
                None if SCHOLARLY_PROPERTIES.contains(&property) => {
                    usual.push((subject, property));
                    // A cited work is one as well.
                    usual.extend(name_of(object).filter(|_| property == "P2860").map(|cited| (cited, property)));
                }
                None => {}
            }
        }
    }
    for (subject, property) in usual {
        if !others.contains(&subject) {
            found.entry(subject).or_insert_with(|| ScholarlyReason::Usual(property.to_owned()));
        }
    }
    found
}

fn has_label_service(pattern: &QueryPattern) -> bool {
    let mut found = false;
    walk::on_patterns(pattern, &mut |pattern| {
        found |= matches!(pattern, QueryPattern::Service { name, .. } if is_label_service(name));
    });
    found
}

/// Returns the variables of which a pattern projects a text by the label service.
fn labelled(pattern: &QueryPattern) -> Vec<&str> {
    let mut found = Vec::new();
    walk::on_patterns(pattern, &mut |pattern| {
        if let QueryPattern::Project { variables, inner } = pattern {
            let bound = scope(inner);
            let of = |name: &'_ str| LABELS.iter().find_map(|ending| name.strip_suffix(ending)).map(str::len);
            for name in variables.iter().filter(|variable| !Helper::is_helper(variable)).map(|name| name.as_str()) {
                found.extend(of(name).and_then(|end| name.get(..end)).filter(|name| bound.contains(name)));
            }
        }
    });
    found
}
