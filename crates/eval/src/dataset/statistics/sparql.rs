//! Counts what SPARQL queries use, in their algebra.

use std::collections::{BTreeMap, BTreeSet};

use oxrdf::{NamedNode, Term};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;

use super::super::pairs::GoldPair;
use super::complexity::{ComplexityClass, QueryShape};
use super::distribution::Distribution;
use super::distribution::ranked;
use crate::record::class_of_code;
use terrapin_sparql::Dialect;
use terrapin_sparql::syntax::algebra::{
    AggregateCall, Expression, NamedNodePattern, Path, QueryForm, QueryPattern, TermPattern, TriplePattern, Unary,
};
use terrapin_sparql::syntax::walk::{AsNode, QueryNode};
use terrapin_sparql::syntax::{self, ParsedQuery, TokenKind};

/// The number of classes and properties to list.
const TOP: usize = 20;
/// `wdt:P31`, the classes of Wikidata's items.
const INSTANCE_OF: &str = "http://www.wikidata.org/prop/direct/P31";
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const ENTITY: &str = "http://www.wikidata.org/entity/";
const LABEL_SERVICE: &str = "http://wikiba.se/ontology#label";

/// The statistics of SPARQL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SparqlStatistics {
    /// The number of queries.
    pub queries: usize,
    /// The number of invalid queries by the client-side errors of Instruct-to-SPARQL's table 1.
    pub invalid: BTreeMap<&'static str, usize>,
    /// The number of queries of each form.
    pub forms: BTreeMap<&'static str, usize>,
    /// The number of queries with each operator.
    pub operators: Vec<(String, usize)>,
    /// The triple patterns and paths of each query, without those of the label service.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub triple_patterns: Option<Distribution>,
    /// The number of templates: queries without IRIs, literals, variable names and digits.
    pub templates: usize,
    /// The number of different entities of Wikidata.
    pub entities: usize,
    /// The number of different predicates.
    pub predicates: usize,
    /// The number of different classes: objects of `wdt:P31` and `rdf:type`.
    pub classes: usize,
    /// The most frequent predicates, with the number of queries.
    pub top_predicates: Vec<(String, usize)>,
    /// The most frequent classes, with the number of queries.
    pub top_classes: Vec<(String, usize)>,
    /// The number of queries in each class of complexity by structure.
    pub complexity: BTreeMap<&'static str, usize>,
    /// The number of queries by the class in the file, then by the class of their structure.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agreement: BTreeMap<String, BTreeMap<&'static str, usize>>,
}

/// What one valid query uses.
#[derive(Default)]
struct QueryUse {
    form: &'static str,
    operators: BTreeSet<&'static str>,
    patterns: u64,
    template: Vec<String>,
    entities: BTreeSet<String>,
    predicates: BTreeSet<String>,
    classes: BTreeSet<String>,
    /// The variables and blank nodes that are classes of something.
    typed: BTreeSet<String>,
    /// Subjects and objects of paths.
    steps: Vec<(String, TermPattern)>,
    shape: QueryShape,
}

/// Computes the statistics of pairs in SPARQL.
pub(super) fn statistics(pairs: &[&GoldPair]) -> SparqlStatistics {
    let uses: Vec<Result<QueryUse, &'static str>> = pairs.par_iter().map(|pair| use_of(&pair.query)).collect();
    let valid = || uses.iter().filter_map(|found| found.as_ref().ok());
    let count = |names: fn(&QueryUse) -> &BTreeSet<String>| {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        valid().flat_map(names).for_each(|name| *counts.entry(name.clone()).or_default() += 1);
        counts
    };
    let (predicates, classes) = (count(|found| &found.predicates), count(|found| &found.classes));
    let mut operators: BTreeMap<String, usize> = BTreeMap::new();
    let (mut forms, mut invalid) = (BTreeMap::new(), BTreeMap::new());
    let (mut complexity, mut agreement) = (BTreeMap::new(), BTreeMap::new());
    for (pair, found) in pairs.iter().zip(&uses) {
        let found = match found {
            Ok(found) => found,
            Err(class) => {
                *invalid.entry(*class).or_insert(0) += 1;
                continue;
            }
        };
        *forms.entry(found.form).or_insert(0) += 1;
        found.operators.iter().for_each(|name| *operators.entry((*name).to_owned()).or_default() += 1);
        let class = ComplexityClass::of(&found.shape).name();
        *complexity.entry(class).or_insert(0) += 1;
        if let Some(given) = &pair.complexity {
            *agreement.entry(given.clone()).or_insert_with(BTreeMap::new).entry(class).or_insert(0) += 1;
        }
    }
    SparqlStatistics {
        queries: pairs.len(),
        invalid,
        forms,
        operators: ranked(operators, usize::MAX),
        triple_patterns: Distribution::of(valid().map(|found| found.patterns)),
        templates: valid().map(|found| &found.template).collect::<BTreeSet<_>>().len(),
        entities: valid().flat_map(|found| &found.entities).collect::<BTreeSet<_>>().len(),
        predicates: predicates.len(),
        classes: classes.len(),
        top_predicates: ranked(predicates, TOP),
        top_classes: ranked(classes, TOP),
        complexity,
        agreement,
    }
}

fn use_of(query: &str) -> Result<QueryUse, &'static str> {
    let parsed = syntax::parse(query, Dialect::Auto).map_err(|error| class_of_code(error.code))?;
    let mut found = QueryUse { form: form(&parsed), template: template(query), ..QueryUse::default() };
    // The algebra has one node for BIND and AS, and one for FILTER and HAVING.
    for (word, name) in [("BIND", "BIND"), ("HAVING", "HAVING"), ("VALUES", "VALUES")] {
        if found.template.iter().any(|token| token.eq_ignore_ascii_case(word)) {
            found.operators.insert(name);
        }
    }
    let mut projections = 0;
    let patterns = std::iter::once(&parsed.query.pattern).chain(parsed.named.iter().map(|(_, pattern)| pattern));
    let mut open: Vec<(QueryNode<'_>, bool)> = patterns.map(|pattern| (pattern.as_node(), false)).collect();
    while let Some((node, in_label_service)) = open.pop() {
        let mut labels = in_label_service;
        match node {
            QueryNode::Pattern(pattern) => {
                projections += usize::from(matches!(pattern, QueryPattern::Project { .. }));
                labels |= is_label_service(pattern);
                found.pattern(pattern, in_label_service);
            }
            QueryNode::Expression(expression) => found.expression(expression),
            QueryNode::Aggregate(call) => found.aggregate(call),
            QueryNode::Path(path) => found.path(path),
            QueryNode::SortKey(_) => {}
        }
        node.children(&mut |child| open.push((child, labels)));
    }
    // `wdt:P31/wdt:P279*` is a triple pattern and a path from its object.
    for (subject, object) in std::mem::take(&mut found.steps) {
        if let (true, TermPattern::NamedNode(node)) = (found.typed.contains(&subject), &object) {
            found.classes.insert(syntax::shorten(node.as_str()));
        }
    }
    // Every form has a projection of its own, and so has every named subquery.
    let own = 1 + parsed.named.len();
    if projections > own {
        found.operators.insert("subquery");
    }
    if !parsed.named.is_empty() {
        found.operators.insert("named subquery");
    }
    found.shape = QueryShape { operators: found.operators.clone(), patterns: found.patterns };
    Ok(found)
}

fn form(parsed: &ParsedQuery) -> &'static str {
    match parsed.query.form {
        QueryForm::Select => "SELECT",
        QueryForm::Ask => "ASK",
        QueryForm::Construct(_) => "CONSTRUCT",
        QueryForm::Describe => "DESCRIBE",
    }
}

/// Returns the tokens of a query; names and literals are replaced by their kinds, and white space, comments and
/// declarations of prefixes are left out.
fn template(query: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut declares = false;
    for token in syntax::read_tokens(query, Dialect::Auto) {
        let text = query.get(token.start..token.end).unwrap_or_default();
        let word = match token.kind {
            TokenKind::Iri | TokenKind::Prefixed { .. } => "<>",
            TokenKind::Variable | TokenKind::Named => "?",
            TokenKind::Blank => "_:",
            TokenKind::Tag | TokenKind::PredicateTag => "@",
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Double => "0",
            TokenKind::Text { .. } => "\"\"",
            TokenKind::Word | TokenKind::Wrong(_) => text,
            TokenKind::Mark(mark) => mark,
            TokenKind::End => continue,
        };
        if declares || word.eq_ignore_ascii_case("PREFIX") || word.eq_ignore_ascii_case("BASE") {
            // A declaration ends with its IRI.
            declares = !matches!(token.kind, TokenKind::Iri);
            continue;
        }
        words.push(word.to_uppercase());
    }
    words
}

fn is_label_service(pattern: &QueryPattern) -> bool {
    matches!(pattern, QueryPattern::Service { name: NamedNodePattern::NamedNode(node), .. } if node.as_str() == LABEL_SERVICE)
}

impl QueryUse {
    fn pattern(&mut self, pattern: &QueryPattern, in_label_service: bool) {
        let name = match pattern {
            QueryPattern::Bgp { patterns } => {
                if !in_label_service {
                    self.patterns += patterns.len() as u64;
                    patterns.iter().for_each(|triple| self.triple(triple));
                }
                return;
            }
            QueryPattern::Path { subject, path, object } => {
                self.patterns += 1;
                [subject, object].into_iter().for_each(|term| self.term(term));
                self.steps.push((subject.to_string(), object.clone()));
                if first_of(path).is_some_and(|node| node.as_str() == INSTANCE_OF || node.as_str() == TYPE) {
                    self.class(object);
                }
                "property path"
            }
            QueryPattern::Values { rows, .. } => {
                rows.iter().flatten().flatten().for_each(|term| self.value(term));
                return;
            }
            QueryPattern::LeftJoin { .. } | QueryPattern::LeftLateral { .. } => "OPTIONAL",
            QueryPattern::Union { .. } => "UNION",
            QueryPattern::Minus { .. } => "MINUS",
            QueryPattern::Filter { .. } => "FILTER",
            QueryPattern::Graph { .. } => "GRAPH",
            QueryPattern::Service { .. } if is_label_service(pattern) => "label service",
            QueryPattern::Service { .. } => "SERVICE",
            QueryPattern::Group { variables, .. } => {
                if variables.is_empty() {
                    return;
                }
                "GROUP BY"
            }
            QueryPattern::OrderBy { .. } => "ORDER BY",
            QueryPattern::Distinct { .. } => "DISTINCT",
            QueryPattern::Reduced { .. } => "REDUCED",
            QueryPattern::Slice { start, length, .. } => {
                if *start > 0 {
                    self.operators.insert("OFFSET");
                }
                if length.is_none() {
                    return;
                }
                "LIMIT"
            }
            QueryPattern::Lateral { .. } => "LATERAL",
            QueryPattern::Relation { .. }
            | QueryPattern::Table { .. }
            | QueryPattern::Include { .. }
            | QueryPattern::Join { .. }
            | QueryPattern::Extend { .. }
            | QueryPattern::Project { .. } => return,
        };
        self.operators.insert(name);
    }

    fn triple(&mut self, triple: &TriplePattern) {
        self.term(&triple.subject);
        self.term(&triple.object);
        if let NamedNodePattern::NamedNode(node) = &triple.predicate {
            self.predicates.insert(syntax::shorten(node.as_str()));
            if node.as_str() == INSTANCE_OF || node.as_str() == TYPE {
                self.class(&triple.object);
            }
        }
    }

    fn class(&mut self, object: &TermPattern) {
        match object {
            TermPattern::NamedNode(node) => {
                self.classes.insert(syntax::shorten(node.as_str()));
            }
            other => {
                self.typed.insert(other.to_string());
            }
        }
    }

    fn term(&mut self, term: &TermPattern) {
        if let TermPattern::NamedNode(node) = term {
            self.entity(node);
        }
    }

    fn value(&mut self, term: &Term) {
        if let Term::NamedNode(node) = term {
            self.entity(node);
        }
    }

    fn entity(&mut self, node: &NamedNode) {
        if let Some(id) = node.as_str().strip_prefix(ENTITY) {
            self.entities.insert(id.to_owned());
        }
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::NamedNode(node) => self.entity(node),
            Expression::Unary(Unary::Not, inner) if matches!(**inner, Expression::Exists(_)) => {
                self.operators.insert("NOT EXISTS");
            }
            Expression::Exists(_) => {
                self.operators.insert("EXISTS");
            }
            _ => {}
        }
    }

    fn aggregate(&mut self, call: &AggregateCall) {
        use terrapin_sparql::syntax::algebra::AggregateFunction as Function;
        self.operators.insert("aggregate");
        self.operators.insert(match call {
            AggregateCall::CountSolutions { .. } => "COUNT",
            AggregateCall::Call { function, .. } => match function {
                Function::Count => "COUNT",
                Function::Sum => "SUM",
                Function::Avg => "AVG",
                Function::Min => "MIN",
                Function::Max => "MAX",
                Function::GroupConcat { .. } => "GROUP_CONCAT",
                Function::Sample => "SAMPLE",
                Function::Custom(_) => "custom aggregate",
            },
        });
    }

    fn path(&mut self, path: &Path) {
        let name = match path {
            Path::NamedNode(node) => {
                self.predicates.insert(syntax::shorten(node.as_str()));
                return;
            }
            Path::Reverse(_) => "path ^",
            Path::Sequence(..) => "path /",
            Path::Alternative(..) => "path |",
            Path::ZeroOrMore(_) => "path *",
            Path::OneOrMore(_) => "path +",
            Path::ZeroOrOne(_) => "path ?",
            Path::NegatedPropertySet(nodes) => {
                self.predicates.extend(nodes.iter().map(|node| syntax::shorten(node.as_str())));
                "path !"
            }
        };
        self.operators.insert(name);
    }
}

/// Returns the first predicate of a path.
fn first_of(path: &Path) -> Option<&NamedNode> {
    let mut path = path;
    loop {
        path = match path {
            Path::NamedNode(node) => return Some(node),
            Path::Sequence(first, _) => first,
            _ => return None,
        };
    }
}

/// Returns the class of a SPARQL query by its structure, if it is valid.
pub fn complexity(query: &str) -> Option<ComplexityClass> {
    use_of(query).ok().map(|found| ComplexityClass::of(&found.shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(queries: &[(&str, Option<&str>)]) -> SparqlStatistics {
        let pair = |(query, complexity): &(&str, Option<&str>)| GoldPair {
            query: (*query).to_owned(),
            lang: Some("sparql".to_owned()),
            complexity: complexity.map(str::to_owned),
            ..GoldPair::default()
        };
        let pairs: Vec<GoldPair> = queries.iter().map(pair).collect();
        statistics(&pairs.iter().collect::<Vec<_>>())
    }

    fn operators(query: &str) -> Vec<String> {
        let mut names: Vec<String> = of(&[(query, None)]).operators.into_iter().map(|(name, _)| name).collect();
        names.sort();
        names
    }

    #[test]
    fn operators_are_those_of_the_algebra() {
        assert_eq!(operators("SELECT ?x { ?x wdt:P31 wd:Q5 }"), [""; 0]);
        assert_eq!(
            operators(
                "SELECT DISTINCT ?x ?xLabel { ?x wdt:P31/wdt:P279* wd:Q5 . OPTIONAL { ?x wdt:P18 ?i } SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } } ORDER BY ?x LIMIT 3"
            ),
            ["DISTINCT", "LIMIT", "OPTIONAL", "ORDER BY", "label service", "path *", "property path"]
        );
        assert_eq!(
            operators(
                "SELECT ?c (COUNT(?x) AS ?n) { ?x wdt:P17 ?c . BIND(1 AS ?one) FILTER NOT EXISTS { ?x wdt:P576 ?d } } GROUP BY ?c HAVING(?n > 2)"
            ),
            ["BIND", "COUNT", "EXISTS", "FILTER", "GROUP BY", "HAVING", "NOT EXISTS", "aggregate"]
        );
        assert_eq!(
            operators("SELECT ?x { { SELECT ?x { ?x ?p ?o } } VALUES ?o { \"BIND\" } }"),
            ["VALUES", "subquery"]
        );
        assert_eq!(operators("SELECT ?x WITH { SELECT ?x { ?x ?p ?o } } AS %a { INCLUDE %a }"), ["named subquery"]);
        assert_eq!(operators("ASK { ?x ?p ?o }"), [""; 0]);
    }

    #[test]
    fn names_forms_and_errors() {
        let found = of(&[
            ("SELECT ?x { ?x wdt:P31 wd:Q515 ; wdt:P17 wd:Q233 }", Some("simple")),
            ("select ?y where { ?y wdt:P31 wd:Q5 ; wdt:P27 wd:Q38 . } # people", Some("moderate")),
            ("ASK { wd:Q233 a schema:Place }", None),
            ("SELECT ?x { ?x foo:bar ?y }", None),
            ("SELECT ?x { ?x wdt:P31 ", None),
            ("SELECT ?x { ?x wdt:P31 \"\\z\" }", None),
        ]);
        assert_eq!(found.forms, BTreeMap::from([("ASK", 1), ("SELECT", 2)]));
        let invalid = [("lexical exception", 1), ("parse exception", 1), ("undefined prefix", 1)];
        assert_eq!(found.invalid, BTreeMap::from(invalid));
        assert_eq!((found.entities, found.predicates, found.classes), (4, 4, 3));
        assert_eq!(found.top_predicates[0], ("wdt:P31".to_owned(), 2));
        assert_eq!(found.agreement["moderate"], BTreeMap::from([("simple", 1)]));
        assert_eq!(found.triple_patterns.unwrap().max, 2);
    }

    #[test]
    fn the_class_of_a_query() {
        let class = |query: &str| complexity(query).map(ComplexityClass::name);
        // The examples of Instruct-to-SPARQL's tables 4 and 2.
        assert_eq!(
            class("SELECT ?movie WHERE { ?movie wdt:P31 wd:Q11424. ?movie wdt:P57 wd:Q25191. }"),
            Some("simple")
        );
        let fictional = "SELECT (COUNT(DISTINCT ?article) AS ?count) WHERE {?article wdt:P31/wdt:P279* wd:Q95074}";
        assert_eq!(class(fictional), Some("moderate"));
        assert_eq!(class("SELECT ?a { { ?a wdt:P31 wd:Q5 } UNION { ?a wdt:P31 wd:Q6 } }"), Some("complex"));
        assert_eq!(class("SELECT"), None);
    }

    #[test]
    fn classes_of_subclasses() {
        let found = of(&[("SELECT ?x { ?x wdt:P31/wdt:P279* wd:Q515 . ?x wdt:P17/wdt:P30 wd:Q46 }", None)]);
        assert_eq!(found.top_classes, [("wd:Q515".to_owned(), 1)]);
    }

    #[test]
    fn a_template_has_no_names() {
        let same = ["SELECT ?x { ?x wdt:P31 wd:Q5 } LIMIT 3", "PREFIX a: <x:>\nselect ?y {?y a:b <x:c>} limit 40"];
        assert_eq!(template(same[0]), template(same[1]));
        assert_ne!(template("SELECT ?x { ?x wdt:P31 wd:Q5 }"), template("SELECT ?x { ?x wdt:P31 5 }"));
    }
}
