//! The canonical form of SPARQL.
//!
//! The algebra is written as a text in which commutative parts are sorted. Variables are named in the order of their
//! colours: the colour of a variable is the digest of the form in which it is marked and the others have their
//! earlier colours (colour refinement as in Weisfeiler and Leman, 1968). Variables that remain alike are named by
//! their order in the query, so that the forms of two equal queries may differ, but never those of different
//! queries agree.
//!
//! `?xLabel`, `?xAltLabel` and `?xDescription` keep their relation to `?x`, because Wikidata's label service reads it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use oxrdf::Variable;
use terrapin_budget as budget;
use terrapin_sparql::Dialect;
use terrapin_sparql::syntax::algebra::{
    AggregateCall, Binary, Expression, NamedNodePattern, Path, QueryForm, QueryPattern, SortKey, TermPattern,
    TriplePattern,
};
use terrapin_sparql::syntax::{self, ParsedQuery};

use super::list::list;

/// The suffixes of the variables that the label service binds.
const SUFFIXES: [&str; 3] = ["AltLabel", "Label", "Description"];
/// The maximum number of refinements.
const ROUNDS: usize = 3;
/// The maximum number of variables times the length of the form in bytes. In a larger query, variables are named by
/// their order.
const MOST_WORK: usize = 1 << 20;

/// Reports whether two queries have the same canonical form.
pub fn equal(gold: &str, pred: &str) -> bool {
    let (Some(gold), Some(pred)) = (CanonicalQuery::parse(gold), CanonicalQuery::parse(pred)) else { return false };
    // Most pairs already differ when all variables are alike.
    gold.skeleton() == pred.skeleton() && gold.form() == pred.form()
}

/// Returns the canonical form; `None` if the query cannot be parsed.
pub fn canonical(query: &str) -> Option<String> {
    CanonicalQuery::parse(query).map(|query| query.form())
}

/// A parsed query and its variables in the order of the algebra.
struct CanonicalQuery {
    parsed: ParsedQuery,
    variables: Vec<Variable>,
    /// The same by name.
    names: BTreeMap<String, Variable>,
}

impl CanonicalQuery {
    fn parse(query: &str) -> Option<CanonicalQuery> {
        let parsed = syntax::parse(query, Dialect::Auto).ok()?;
        let seen = RefCell::new((BTreeSet::new(), Vec::new()));
        let collect = |variable: &Variable| {
            let (known, variables) = &mut *seen.borrow_mut();
            if known.insert(variable.clone()) {
                variables.push(variable.clone());
            }
            String::new()
        };
        FormWriter { name: &collect }.query(&parsed);
        let (_, variables) = seen.into_inner();
        let names = variables.iter().map(|variable| (variable.as_str().to_owned(), variable.clone())).collect();
        Some(CanonicalQuery { parsed, variables, names })
    }

    /// Returns the form in which all variables are alike.
    fn skeleton(&self) -> String {
        FormWriter { name: &|_| "?".to_owned() }.query(&self.parsed)
    }

    /// Reports whether the variables can be told apart in reasonable time.
    fn is_small(&self) -> bool {
        self.variables.len().saturating_mul(self.skeleton().len()) <= MOST_WORK
    }

    /// Returns the variable of which another has the label, or the label of a label, with all suffixes.
    fn base<'v>(&self, variable: &'v Variable) -> Option<(Variable, &'v str)> {
        let stem = |name: &str| {
            let mut stems = SUFFIXES.into_iter().filter_map(|suffix| name.strip_suffix(suffix));
            stems.find_map(|stem| self.names.get(stem))
        };
        let mut base = stem(variable.as_str())?;
        while let Some(next) = stem(base.as_str()) {
            base = next;
        }
        Some((base.clone(), variable.as_str().strip_prefix(base.as_str())?))
    }

    fn form(&self) -> String {
        let mut plain: Vec<&Variable> = Vec::new();
        let mut labels: BTreeMap<&Variable, (Variable, &str)> = BTreeMap::new();
        for variable in &self.variables {
            match self.base(variable) {
                Some(base) => drop(labels.insert(variable, base)),
                None => plain.push(variable),
            }
        }
        let mut colours: BTreeMap<&Variable, String> =
            plain.iter().map(|variable| (*variable, "?".to_owned())).collect();
        let written = |names: &BTreeMap<&Variable, String>, marked: Option<&Variable>| {
            let of = |variable: &Variable| {
                let mark = if marked == Some(variable) { "*" } else { "" };
                format!("{mark}{}", names.get(variable).map_or("?", String::as_str))
            };
            let name = |variable: &Variable| match labels.get(variable) {
                Some((base, suffix)) => format!("{}{suffix}", of(base)),
                None => of(variable),
            };
            FormWriter { name: &name }.query(&self.parsed)
        };
        let rounds = if self.is_small() { ROUNDS } else { 0 };
        for _ in 0..rounds {
            budget::checkpoint();
            let refined = plain.iter().map(|variable| {
                let form = written(&colours, Some(variable));
                (*variable, format!("?{}", blake3::hash(form.as_bytes()).to_hex()))
            });
            let refined: BTreeMap<&Variable, String> = refined.collect();
            let count = |colours: &BTreeMap<&Variable, String>| colours.values().collect::<BTreeSet<_>>().len();
            let (before, after) = (count(&colours), count(&refined));
            colours = refined;
            if after == plain.len() || (after == before && before > 1) {
                break;
            }
        }
        // The sort is stable: variables of one colour keep the order of the query.
        plain.sort_by(|a, b| colours.get(a).cmp(&colours.get(b)));
        let names = plain.iter().enumerate().map(|(number, variable)| (*variable, format!("?{number}"))).collect();
        written(&names, None)
    }
}

/// Writes the algebra with a name for each variable.
struct FormWriter<'a> {
    name: &'a dyn Fn(&Variable) -> String,
}

impl FormWriter<'_> {
    fn query(&self, parsed: &ParsedQuery) -> String {
        let query = &parsed.query;
        let mut text = match &query.form {
            QueryForm::Select => "select".to_owned(),
            QueryForm::Ask => "ask".to_owned(),
            QueryForm::Describe => "describe".to_owned(),
            QueryForm::Construct(template) => {
                format!("construct {}", sorted(template.iter().map(|triple| self.triple(triple))))
            }
        };
        if let Some(dataset) = &query.dataset {
            let _ = write!(text, " from {dataset:?}");
        }
        if let Some(base) = &query.base {
            let _ = write!(text, " base {base}");
        }
        for (index, (_, pattern)) in parsed.named.iter().enumerate() {
            let _ = write!(text, " with {index} {}", self.pattern(pattern, parsed));
        }
        text + " " + &self.pattern(&query.pattern, parsed)
    }

    fn variable(&self, variable: &Variable) -> String {
        (self.name)(variable)
    }

    fn term(&self, term: &TermPattern) -> String {
        match term {
            TermPattern::Variable(variable) => self.variable(variable),
            other => other.to_string(),
        }
    }

    fn name(&self, name: &NamedNodePattern) -> String {
        match name {
            NamedNodePattern::Variable(variable) => self.variable(variable),
            other @ NamedNodePattern::NamedNode(_) => other.to_string(),
        }
    }

    fn triple(&self, TriplePattern { subject, predicate, object }: &TriplePattern) -> String {
        format!("{} {} {}", self.term(subject), self.name(predicate), self.term(object))
    }

    fn variables(&self, variables: &[Variable]) -> String {
        sorted(variables.iter().map(|variable| self.variable(variable)))
    }

    /// Writes a pattern in brackets, so that no two patterns have the same text.
    fn pattern(&self, pattern: &QueryPattern, parsed: &ParsedQuery) -> String {
        let of = |pattern: &QueryPattern| self.pattern(pattern, parsed);
        let value = |expression: &Expression| self.expression(expression, parsed);
        let inside = match pattern {
            QueryPattern::Bgp { .. } | QueryPattern::Join { .. } => {
                let mut parts = Vec::new();
                self.joined(pattern, parsed, &mut parts);
                format!("join {}", sorted(parts.into_iter()))
            }
            QueryPattern::Path { subject, path, object } => {
                format!("path {} {} {}", self.term(subject), path_text(path), self.term(object))
            }
            QueryPattern::Relation { subject, number, object } => {
                format!("relation {number} {} {}", self.term(subject), self.term(object))
            }
            QueryPattern::Values { variables, rows } => {
                let row = |row: &Vec<Option<oxrdf::Term>>| {
                    let cell = |(variable, value): (&Variable, &Option<oxrdf::Term>)| {
                        Some(format!("{}={}", self.variable(variable), value.as_ref()?))
                    };
                    sorted(variables.iter().zip(row).filter_map(cell))
                };
                format!("values {} {}", self.variables(variables), sorted(rows.iter().map(row)))
            }
            QueryPattern::Table { number, variables } => format!("table {number} {}", self.variables(variables)),
            QueryPattern::Include { name, variables } => {
                let index = parsed.named.iter().position(|(known, _)| known == name);
                // The columns are matched by name.
                format!("include {index:?} {}", self.variables(variables))
            }
            QueryPattern::Lateral { left, right } => format!("lateral {} {}", of(left), of(right)),
            QueryPattern::LeftJoin { left, right, condition } => {
                format!("optional {} {} {}", of(left), of(right), list(condition.iter().map(value)))
            }
            QueryPattern::LeftLateral { left, right, condition } => {
                format!("optional lateral {} {} {}", of(left), of(right), list(condition.iter().map(value)))
            }
            QueryPattern::Union { .. } => {
                let mut parts = Vec::new();
                self.alternatives(pattern, parsed, &mut parts);
                format!("union {}", sorted(parts.into_iter()))
            }
            QueryPattern::Minus { left, right } => format!("minus {} {}", of(left), of(right)),
            QueryPattern::Filter { .. } => {
                let (mut conditions, mut inner) = (Vec::new(), pattern);
                while let QueryPattern::Filter { inner: next, condition } = inner {
                    self.conditions(Binary::And, condition, parsed, &mut conditions);
                    inner = next;
                }
                format!("filter {} {}", sorted(conditions.into_iter()), of(inner))
            }
            QueryPattern::Extend { inner, variable, expression } => {
                format!("extend {} {} {}", self.variable(variable), value(expression), of(inner))
            }
            QueryPattern::Graph { name, inner } => format!("graph {} {}", self.name(name), of(inner)),
            QueryPattern::Service { name, inner, silent } => {
                format!("service {} {silent} {}", self.name(name), of(inner))
            }
            QueryPattern::Group { inner, variables, aggregates } => {
                let aggregates = aggregates.iter().map(|(variable, aggregate)| {
                    format!("{} = {}", self.variable(variable), self.aggregate(aggregate, parsed))
                });
                format!("group {} {} {}", self.variables(variables), sorted(aggregates), of(inner))
            }
            QueryPattern::OrderBy { inner, keys } => {
                let key = |SortKey { expression, descends }: &SortKey| format!("{} {descends}", value(expression));
                format!("order {} {}", list(keys.iter().map(key)), of(inner))
            }
            QueryPattern::Project { inner, variables } => {
                format!("project {} {}", self.variables(variables), of(inner))
            }
            QueryPattern::Distinct { inner } => format!("distinct {}", of(inner)),
            QueryPattern::Reduced { inner } => format!("reduced {}", of(inner)),
            QueryPattern::Slice { inner, start, length } => format!("slice {start} {length:?} {}", of(inner)),
        };
        format!("({inside})")
    }

    /// Adds the parts of a join: its triple patterns, and other patterns.
    fn joined(&self, pattern: &QueryPattern, parsed: &ParsedQuery, parts: &mut Vec<String>) {
        match pattern {
            QueryPattern::Bgp { patterns } => parts.extend(patterns.iter().map(|triple| self.triple(triple))),
            QueryPattern::Join { left, right } => {
                self.joined(left, parsed, parts);
                self.joined(right, parsed, parts);
            }
            other => parts.push(self.pattern(other, parsed)),
        }
    }

    fn alternatives(&self, pattern: &QueryPattern, parsed: &ParsedQuery, parts: &mut Vec<String>) {
        match pattern {
            QueryPattern::Union { left, right } => {
                self.alternatives(left, parsed, parts);
                self.alternatives(right, parsed, parts);
            }
            other => parts.push(self.pattern(other, parsed)),
        }
    }

    /// Adds the operands of nested operators of one kind.
    fn conditions(&self, of: Binary, condition: &Expression, parsed: &ParsedQuery, parts: &mut Vec<String>) {
        match condition {
            Expression::Binary(operator, left, right) if *operator == of => {
                self.conditions(of, left, parsed, parts);
                self.conditions(of, right, parsed, parts);
            }
            other => parts.push(self.expression(other, parsed)),
        }
    }

    fn expression(&self, expression: &Expression, parsed: &ParsedQuery) -> String {
        let of = |expression: &Expression| self.expression(expression, parsed);
        let all = |items: &[Expression]| list(items.iter().map(of));
        match expression {
            Expression::NamedNode(node) => node.to_string(),
            Expression::Literal(literal) => literal.to_string(),
            Expression::Variable(variable) => self.variable(variable),
            Expression::Bound(variable) => format!("bound({})", self.variable(variable)),
            Expression::Exists(pattern) => format!("exists{}", self.pattern(pattern, parsed)),
            Expression::Unary(operator, a) => format!("{operator:?}({})", of(a)),
            Expression::Binary(operator @ (Binary::And | Binary::Or), ..) => {
                let mut parts = Vec::new();
                self.conditions(*operator, expression, parsed, &mut parts);
                format!("{operator:?}{}", sorted(parts.into_iter()))
            }
            Expression::Binary(operator @ (Binary::Equal | Binary::SameTerm), a, b) => {
                format!("{operator:?}{}", sorted([of(a), of(b)].into_iter()))
            }
            // One way to write a comparison.
            Expression::Binary(Binary::Greater, a, b) => format!("Less {}", list([of(b), of(a)])),
            Expression::Binary(Binary::GreaterOrEqual, a, b) => format!("LessOrEqual {}", list([of(b), of(a)])),
            Expression::Binary(operator, a, b) => format!("{operator:?} {}", list([of(a), of(b)])),
            Expression::In(a, items) => format!("In {} {}", of(a), sorted(items.iter().map(of))),
            Expression::If(a, b, c) => format!("If {}", list([of(a), of(b), of(c)])),
            Expression::Coalesce(items) => format!("Coalesce {}", all(items)),
            Expression::Call(function, items) => format!("{function:?} {}", all(items)),
            Expression::Own(function, items) => format!("own {function:?} {}", all(items)),
        }
    }

    fn aggregate(&self, aggregate: &AggregateCall, parsed: &ParsedQuery) -> String {
        match aggregate {
            AggregateCall::CountSolutions { distinct } => format!("count * {distinct}"),
            AggregateCall::Call { function, argument, distinct } => {
                format!("{function:?} {distinct} {}", self.expression(argument, parsed))
            }
        }
    }
}

/// Writes a path with sorted alternatives.
fn path_text(path: &Path) -> String {
    match path {
        Path::NamedNode(node) => node.to_string(),
        Path::Reverse(inner) => format!("^({})", path_text(inner)),
        Path::Sequence(a, b) => format!("({}/{})", path_text(a), path_text(b)),
        Path::Alternative(..) => {
            let mut parts = Vec::new();
            path_alternatives(path, &mut parts);
            format!("|{}", sorted(parts.into_iter()))
        }
        Path::ZeroOrMore(inner) => format!("({})*", path_text(inner)),
        Path::OneOrMore(inner) => format!("({})+", path_text(inner)),
        Path::ZeroOrOne(inner) => format!("({})?", path_text(inner)),
        Path::NegatedPropertySet(nodes) => format!("!{}", sorted(nodes.iter().map(ToString::to_string))),
    }
}

fn path_alternatives(path: &Path, parts: &mut Vec<String>) {
    match path {
        Path::Alternative(a, b) => {
            path_alternatives(a, parts);
            path_alternatives(b, parts);
        }
        other => parts.push(path_text(other)),
    }
}

/// Joins texts in ascending order, so that different multisets give different texts.
fn sorted(texts: impl Iterator<Item = String>) -> String {
    let mut texts: Vec<String> = texts.collect();
    texts.sort_unstable();
    list(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_without_effect_do_not_count() {
        for (one, other) in [
            (
                "SELECT ?x { ?x wdt:P31 wd:Q5 . ?x wdt:P106 ?y }",
                "select ?a where { ?a wdt:P106 ?b . ?a wdt:P31 wd:Q5 }",
            ),
            (
                "PREFIX w: <http://www.wikidata.org/entity/> SELECT ?x { ?x wdt:P31 w:Q5 }",
                "SELECT ?y { ?y <http://www.wikidata.org/prop/direct/P31> wd:Q5 }",
            ),
            (
                "SELECT ?x { { ?x wdt:P31 wd:Q5 } UNION { ?x wdt:P31 wd:Q6 } FILTER(?x != wd:Q1 && ?x != wd:Q2) }",
                "SELECT ?y { { ?y wdt:P31 wd:Q6 } UNION { ?y wdt:P31 wd:Q5 } FILTER(?y != wd:Q2) FILTER(?y != wd:Q1) }",
            ),
            ("SELECT ?x ?y { ?x wdt:P1 ?y FILTER(?y > 3) }", "SELECT ?b ?a { ?b wdt:P1 ?a FILTER(3 < ?a) }"),
            ("SELECT ?x { ?x wdt:P1|wdt:P2 ?y }", "SELECT ?x { ?x wdt:P2|wdt:P1 ?z }"),
            (
                "SELECT ?i ?iLabel { ?i wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
                "SELECT ?p ?pLabel { ?p wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
            ),
            (
                "SELECT (COUNT(?x) AS ?n) { ?x wdt:P31 ?c } GROUP BY ?c ORDER BY DESC(?n)",
                "SELECT (COUNT(?a) AS ?b) { ?a wdt:P31 ?k } GROUP BY ?k ORDER BY DESC(?b)",
            ),
            ("SELECT ?x { VALUES ?x { wd:Q1 wd:Q2 } ?x ?p ?o }", "SELECT ?y { ?y ?q ?v VALUES ?y { wd:Q2 wd:Q1 } }"),
            // A cycle: all variables are alike.
            ("SELECT * { ?a wdt:P1 ?b . ?b wdt:P1 ?a }", "SELECT * { ?y wdt:P1 ?x . ?x wdt:P1 ?y }"),
        ] {
            assert!(equal(one, other), "{one}\n{other}\n{:?}\n{:?}", canonical(one), canonical(other));
        }
    }

    #[test]
    fn other_meanings_are_not_equal() {
        for (one, other) in [
            ("SELECT ?x { ?x wdt:P31 wd:Q5 }", "SELECT ?x { ?x wdt:P31 wd:Q6 }"),
            ("SELECT ?x { ?x wdt:P1 ?y }", "SELECT ?y { ?x wdt:P1 ?y }"),
            ("SELECT ?x { ?x wdt:P1 ?y . ?y wdt:P1 ?z }", "SELECT ?x { ?x wdt:P1 ?y . ?z wdt:P1 ?y }"),
            ("SELECT ?x { ?x wdt:P1 ?y }", "SELECT DISTINCT ?x { ?x wdt:P1 ?y }"),
            ("SELECT ?x { ?x wdt:P1 ?y } ORDER BY ?y", "SELECT ?x { ?x wdt:P1 ?y } ORDER BY DESC(?y)"),
            ("SELECT ?x { ?x wdt:P1 ?y OPTIONAL { ?y wdt:P2 ?z } }", "SELECT ?x { ?x wdt:P1 ?y . ?y wdt:P2 ?z }"),
            ("SELECT ?x { ?x wdt:P1 ?y FILTER(?y > 3) }", "SELECT ?x { ?x wdt:P1 ?y FILTER(?y < 3) }"),
            (
                "SELECT ?i ?iLabel { ?i wdt:P1 ?p SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
                "SELECT ?i ?pLabel { ?i wdt:P1 ?p SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
            ),
            (
                "SELECT ?aLabelLabel { ?a wdt:P1 ?b BIND(?a AS ?aLabel) BIND(?b AS ?bLabel) \
                 BIND(?a AS ?aLabelLabel) BIND(?b AS ?bLabelLabel) }",
                "SELECT ?bLabelLabel { ?a wdt:P1 ?b BIND(?a AS ?aLabel) BIND(?b AS ?bLabel) \
                 BIND(?a AS ?aLabelLabel) BIND(?b AS ?bLabelLabel) }",
            ),
            ("SELECT ?x { ?x wdt:P1 ?y } LIMIT 3", "SELECT ?x { ?x wdt:P1 ?y } LIMIT 4"),
            ("SELECT ?x { ?x wdt:P1/wdt:P2 ?y }", "SELECT ?x { ?x wdt:P2/wdt:P1 ?y }"),
        ] {
            assert!(!equal(one, other), "{one}\n{other}");
        }
        assert_eq!(canonical("SELECT ?x {"), None);
    }
}
