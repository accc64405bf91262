//! Tests that compare the grammar with spargebra's, and tests of the extensions.

use regex::Regex;
use spargebra::SparqlParser;

use super::algebra::QueryPattern;
use super::*;

/// Replaces helper names by numbers in the order of their occurrence.
fn canonical(sse: &str) -> String {
    let helper = Regex::new(r"(\?|_:)(\.[0-9]+|[0-9a-f]{20,32})\b").unwrap();
    let mut names: Vec<String> = Vec::new();
    helper
        .replace_all(sse, |found: &regex::Captures| {
            let name = found[0].to_owned();
            let index = names.iter().position(|n| *n == name).unwrap_or_else(|| {
                names.push(name.clone());
                names.len() - 1
            });
            format!("{}h{index}", &found[1])
        })
        .into_owned()
}

fn ours(text: &str) -> String {
    canonical(&convert::query(parse(text, Dialect::Wdqs).unwrap().query).to_sse())
}

/// Queries that both parsers accept.
const STANDARD: &[&str] = &[
    "SELECT * { ?s a <http://a>, <http://b> ; <http://p>/^<http://q>* [ <http://r> 1, -2.5 ] . (1 ?x) <http://p> () }",
    "SELECT DISTINCT ?a (COUNT(DISTINCT ?b) AS ?c) { ?a ?p ?b OPTIONAL { ?b ?q ?d FILTER(?d > 1) } } GROUP BY ?a (STR(?a) AS ?e) HAVING (COUNT(DISTINCT ?b) > 2) ORDER BY DESC(?c) ?a LIMIT 3 OFFSET 1",
    "ASK { { ?a ?b ?c } UNION { ?c ?b 'x'@en-GB } UNION { VALUES (?a ?b) { (1 UNDEF) (<http://x> 'y') } } MINUS { ?a ?b true } }",
    "CONSTRUCT { ?s ?p _:x . _:x ?p [] } WHERE { ?s ?p ?o . FILTER NOT EXISTS { ?o ?p ?s } BIND(1 - 2 - 3 * 4 / -5 AS ?z) }",
    "CONSTRUCT WHERE { ?s ?p 'a' }",
    "DESCRIBE ?x <http://a> { ?x !(<http://p>|^<http://q>) ?y . ?y (<http://p>|<http://q>)+ ?z GRAPH ?g { ?z ?z ?z } }",
    "SELECT ?x FROM <http://g> FROM NAMED <http://h> { { SELECT ?x (SAMPLE(?y) AS ?z) { ?x ?p ?y } GROUP BY ?x } SERVICE SILENT <http://s> { ?x ?y ?z } } VALUES ?x { 1 2 }",
    "SELECT (GROUP_CONCAT(DISTINCT ?x; separator=\"\\t|\") AS ?y) { ?x ?y2 ?z FILTER(?x IN (1,2) && !BOUND(?z) || ?x NOT IN () && IF(?x<?z, REGEX(?z,'a','i'), COALESCE(?x)) ) }",
    "BASE <http://b/> PREFIX : <c#> SELECT ?a { ?a :d\\,e <f> OPTIONAL {{ ?a ?b ?c FILTER(?c) }} FILTER EXISTS {} }",
];

#[test]
fn standard_queries_give_the_algebra_of_the_reference() {
    for text in STANDARD {
        let theirs = SparqlParser::new().parse_query(text).unwrap();
        assert_eq!(ours(text), canonical(&theirs.to_sse()), "{text}");
    }
}

#[test]
fn variables_in_scope_are_those_of_the_reference() {
    for text in STANDARD {
        let query = parse(text, Dialect::Wdqs).unwrap().query;
        walk::on_patterns(&query.pattern, &mut |pattern| {
            let (mut ours, mut theirs) = (Vec::new(), Vec::new());
            walk::on_in_scope(pattern, &mut |variable| ours.push(variable.clone()));
            convert::pattern(pattern.clone()).on_in_scope_variable(|variable| theirs.push(variable.clone()));
            assert_eq!(ours, theirs, "{text}\n{pattern:?}");
        });
    }
}

/// SPARQL 1.1, 19.8: `AskQuery`, `ConstructQuery` and `DescribeQuery` end with a `SolutionModifier`, as `SelectQuery`
/// does. Only the `*` of SELECT cannot be combined with GROUP BY. spargebra accepts aggregates in `SelectQuery` alone.
#[test]
fn every_form_takes_solution_modifiers() {
    let modifiers = "GROUP BY ?s (STR(?p) AS ?q) HAVING (COUNT(?o) > 1) ORDER BY DESC(COUNT(?o)) LIMIT 2 OFFSET 1";
    for head in ["ASK", "CONSTRUCT { ?s ?q 1 } WHERE", "DESCRIBE ?s", "DESCRIBE *"] {
        for dialect in [Dialect::Wdqs, Dialect::Standard] {
            let text = format!("{head} {{ ?s ?p ?o }} {modifiers}");
            let parsed = parse(&text, dialect).unwrap_or_else(|error| panic!("{text}: {error}"));
            let mut groups = 0;
            walk::on_patterns(&parsed.query.pattern, &mut |pattern| {
                groups += usize::from(matches!(pattern, QueryPattern::Group { .. }));
                if let QueryPattern::Project { variables, .. } = pattern {
                    let names: Vec<&str> = variables.iter().map(oxrdf::Variable::as_str).collect();
                    assert_eq!(names, if head == "DESCRIBE ?s" { vec!["s"] } else { vec!["q", "s"] }, "{text}");
                }
            });
            assert_eq!((groups, parsed.extensions.len()), (1, 0), "{text}");
        }
    }
    for text in ["SELECT * { ?s ?p ?o } GROUP BY ?s", "SELECT * { ?s ?p ?o } HAVING (COUNT(*) > 1)"] {
        assert_eq!(parse(text, Dialect::Wdqs).unwrap_err().code, SparqlCode::Aggregate, "{text}");
    }
}

/// Queries of the W3C's SPARQL 1.1 test suite that violate the notes of its grammar and that the WDQS dialect accepts
/// here: agg08 to agg12, group06, group07, syn-bad-02, syn-bad-03, BINDscope6 to 8 and SELECTscope2.
#[test]
fn wrong_queries_that_the_dialect_takes_are_errors_of_the_standard() {
    let prefix = "PREFIX : <http://www.example.org/> ";
    for (text, extension) in [
        (
            "SELECT ((?O1 + ?O2) AS ?O12) (COUNT(?O1) AS ?C) { ?S :p ?O1; :q ?O2 } GROUP BY (?O1 + ?O2) ORDER BY ?O12",
            Extension::Ungrouped,
        ),
        ("SELECT ?P (COUNT(?O) AS ?C) { ?S ?P ?O } GROUP BY ?S", Extension::Ungrouped),
        ("SELECT ?P (COUNT(?O) AS ?C) { ?S ?P ?O }", Extension::Ungrouped),
        ("SELECT ((?O1 + ?O2) AS ?O12) (COUNT(?O1) AS ?C) { ?S :p ?O1; :q ?O2 } GROUP BY (?S)", Extension::Ungrouped),
        ("SELECT ?O1 (COUNT(?O2) AS ?C) { ?S :p ?O1; :q ?O2 } GROUP BY (?O1 + ?O2)", Extension::Ungrouped),
        ("SELECT ?s ?v { ?s :p ?v } GROUP BY ?s", Extension::Ungrouped),
        ("SELECT ?a ?b ?c { ?c :p ?a { SELECT ?a ?b { ?a :q ?b } } } GROUP BY ?a", Extension::Ungrouped),
        ("SELECT ?o { ?s ?p ?o } GROUP BY ?s", Extension::Ungrouped),
        ("SELECT (1 AS ?X) (1 AS ?X) {}", Extension::AliasOfVisible),
        ("SELECT * { :s :p ?o . :s :q ?o1 . BIND((1+?o) AS ?o1) }", Extension::BindToBound),
        ("SELECT * { { :s :p ?o . :s :q ?o1 } BIND((1+?o) AS ?o1) }", Extension::BindToBound),
        ("SELECT * { { { :s :p ?Y } UNION { :s :p ?Z } } BIND (1 AS ?Y) }", Extension::BindToBound),
        ("SELECT (1 AS ?X) { SELECT (2 AS ?X) {} }", Extension::AliasOfVisible),
    ] {
        let text = format!("{prefix}{text}");
        let error = parse(&text, Dialect::Standard).map(|parsed| parsed.extensions).unwrap_err();
        assert_eq!(error.class, SparqlErrorClass::Syntax, "{text}");
        assert!(parse(&text, Dialect::Wdqs).unwrap().extensions.contains(&extension), "{text}");
    }
}

#[test]
fn one_text_gives_one_tree() {
    let text = "SELECT (COUNT(*) AS ?n) { [] wdt:P31/wdt:P279 ?x }";
    assert_eq!(parse(text, Dialect::Wdqs).unwrap().query, parse(text, Dialect::Wdqs).unwrap().query);
}

#[test]
fn named_subqueries_may_come_in_any_order_and_often() {
    let text = "SELECT * WITH { SELECT ?x { INCLUDE %b } } AS %a # %c
        WITH { SELECT ?x { ?x wdt:P31 [] } } AS %b WHERE { INCLUDE %a . INCLUDE %b }";
    let parsed = parse(text, Dialect::Wdqs).unwrap();
    assert_eq!(parsed.extensions, [Extension::NamedSubquery]);
    // Each subquery is included by name; its pattern occurs once, after the subqueries it includes.
    let includes = |pattern: &QueryPattern| {
        let mut names = Vec::new();
        walk::on_patterns(pattern, &mut |pattern| {
            if let QueryPattern::Include { name, .. } = pattern {
                names.push(name.clone());
            }
        });
        names.sort();
        names
    };
    assert_eq!(includes(&parsed.query.pattern), ["a", "b"]);
    assert_eq!(parsed.named.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["b", "a"]);
    assert_eq!(includes(&parsed.named[1].1), ["b"]);
    assert!(parse(text, Dialect::Standard).is_err());
}

#[test]
fn errors_tell_place_and_advice() {
    let error = |text: &str| parse(text, Dialect::Wdqs).unwrap_err();
    let unknown = error("SELECT * {\n  ?s xyz:p ?o }");
    assert_eq!((unknown.code, unknown.line, unknown.column), (SparqlCode::UnknownPrefix, 2, 6));
    let named = error("SELECT * WITH { SELECT * {} } AS %a { INCLUDE %b }");
    assert_eq!((named.code, named.help.as_deref()), (SparqlCode::NamedSubquery, Some("defined are %a")));
    assert!(error("SELECT * WITH { SELECT * { INCLUDE %a } } AS %a { INCLUDE %a }").message.contains("itself"));
    assert_eq!(error("SELECT ?x { ?x wdt:P31 }").column, 24);
    assert_eq!(error("SELECT (UPPER(?x) AS ?y) {}").help.as_deref(), Some("did you mean UCASE?"));
    assert_eq!(error(&"{".repeat(100_000)).code, SparqlCode::Syntax);
    assert_eq!(error(&format!("SELECT * {}", "{".repeat(100_000))).code, SparqlCode::TooDeep);
    assert_eq!(error(&format!("SELECT * {{ FILTER({}", "!".repeat(100_000))).code, SparqlCode::TooDeep);
    assert_eq!(error(&format!("ASK {{ ?s {} ?o }}", ["a"; 1000].join("/"))).code, SparqlCode::TooLarge);
    let many: String = (0..5000).map(|n| format!(" ?v{n}")).collect();
    assert_eq!(error(&format!("SELECT{many} {{}}")).code, SparqlCode::TooLarge);
}

#[test]
fn extensions_are_named() {
    let needs = |text: &str| parse(text, Dialect::Wdqs).unwrap().extensions;
    assert_eq!(needs("SELECT (STR(?x) AS ?x) { ?x ?y ?z }"), [Extension::AliasOfVisible]);
    assert_eq!(needs("SELECT * { ?x ?y ?z BIND(1 AS ?z) }"), [Extension::BindToBound]);
    assert_eq!(needs("SELECT * { BIND(STR(?x) AS ?a) ?x ?y ?z }"), [Extension::EarlyBind]);
    assert_eq!(needs("SELECT * { BIND(STR(?x) AS ?a) ?y ?y ?z }"), []);
    assert_eq!(needs("SELECT ?x ?y { ?x ?y ?z } GROUP BY ?x"), [Extension::Ungrouped]);
    assert_eq!(needs("SELECT (COUNT(*) AS ?n) { ?x ?y ?z } GROUP BY ?x HAVING(?n > 1)"), [Extension::NamedInHaving]);
    assert_eq!(needs("SELECT * { <Q42> ?y ?z }"), [Extension::RelativeIri]);
    assert_eq!(needs("BASE <http://e/> SELECT * { <Q42> ?y ?z BIND(fn:upper-case(?z) AS ?u) }"), []);
    assert_eq!(needs("SELECT (COUNT(?x) AS ?c) (?c / 2 AS ?d) { ?x ?y ?z }"), []);
    assert_eq!(needs("SELECT * { ?x ?y ?z FILTER(?x<?a&&?b>?y) }"), [Extension::ComparedIri]);
    assert_eq!(needs("SELECT * { ?x ?y ?z FILTER(?x< ?a&&?b>?y) }"), []);
    assert!(parse("SELECT * { ?x ?y ?z FILTER(?x<?a&&?b>?y) }", Dialect::Standard).is_err());
}
