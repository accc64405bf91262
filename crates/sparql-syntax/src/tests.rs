//! Tests that compare the grammar with spargebra's, and tests of the extensions.

use regex::Regex;
use spargebra::SparqlParser;
use spargebra::algebra::GraphPattern;

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
    "SELECT * { << ?s ?p 'x'@ar--rtl ~ ?r >> . ?r <http://q> << <http://a> a ?o >> . ?s ?p <<( ?s a <<( _:b <http://p> 1 )>> )>> }",
    "SELECT * { ?s ?p ?o FILTER(isTRIPLE(?o) && SUBJECT(?o) = ?s && <<( ?s a <<( ?s ?p 1 )>> )>> = TRIPLE(?s, PREDICATE(?o), OBJECT(?o))) VALUES ?o { <<( <http://a> a <<( <http://a> <http://b> 'x' )>> )>> } }",
    "SELECT * { ?s ?p ?o FILTER(hasLANG(?o) && hasLANGDIR(?o) && LANGDIR(?o) = 'rtl' && ?o != STRLANGDIR('x', 'ar', 'rtl')) }",
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

/// Returns the triples of a query without other patterns, sorted.
fn triples(query: &spargebra::Query) -> Vec<String> {
    let spargebra::Query::Select { pattern: GraphPattern::Project { inner, .. }, .. } = query else {
        panic!("{query}")
    };
    let GraphPattern::Bgp { patterns } = &**inner else { panic!("{query}") };
    let mut triples: Vec<String> = patterns.iter().map(ToString::to_string).collect();
    triples.sort();
    triples
}

#[test]
fn annotations_are_the_triples_of_the_reference() {
    let helper = Regex::new(r"_:(\.[0-9]+|[0-9a-f]{20,32})").unwrap();
    for text in [
        "SELECT * { ?s ?p ?o ~ <http://r> {| a ?t ; <http://q> 1, 2 |} ~ ?r ~ _:b {| a ?t |} }",
        "SELECT * { ?s <http://p> ?o ~ ?r {| a ?t ~ ?u {| a 3 |} |}, 'x' ~ ?v ; ?q << ?s ?p << ?o a 1 ~ ?w >> ~ ?x >> }",
        "SELECT * { << ?s ?p 'x'@ar--rtl ~ ?r >> <http://q> << <http://a> a ?o >> }",
        "SELECT * { << << ?s ?p ?o ~ ?r >> a << ?s a <<( ?s a 1 )>> ~ ?u >> ~ ?v >> . [ a 1 ] a ?o ~ ?w }",
    ] {
        let theirs = SparqlParser::new().parse_query(text).unwrap();
        let parsed = convert::query(parse(text, Dialect::Standard).unwrap().query);
        let plain = |triples: Vec<String>| {
            let mut plain: Vec<String> = triples.iter().map(|t| helper.replace_all(t, "_:new").into_owned()).collect();
            plain.sort();
            plain
        };
        assert_eq!(plain(triples(&parsed)), plain(triples(&theirs)), "{text}");
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

/// The comparison `<-'>'` looks like an IRI. Reading the body of a subquery tokenizes the text after it again.
#[test]
fn named_subqueries_may_contain_comparisons_that_look_like_iris() {
    let bodies = ["?x wdt:P1 ?v FILTER(?v<-'>')", "?x wdt:P1 ?v BIND(1 AS ?n) FILTER(?v<3&&4>?v) FILTER(?v<5&&6>?v)"];
    for body in bodies {
        let text = format!("SELECT ?x WITH {{ SELECT ?x {{ {body} }} }} AS %a {{ INCLUDE %a ?x wdt:P2 <urn:c> }}");
        let spaced = text.replace('<', " < ").replace("< urn:c", "<urn:c");
        let tree = |text: &str| parse(text, Dialect::Wdqs).map(|parsed| (parsed.query, parsed.named));
        assert_eq!(tree(&text).unwrap(), tree(&spaced).unwrap(), "{text}");
    }
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

/// A suggested word is also an edit, which mends the query.
#[test]
fn suggested_words_are_edits() {
    for (mistake, meant) in [
        ("SELECT (UPPER(?x) AS ?y) {}", "SELECT (UCASE(?x) AS ?y) {}"),
        ("SELECT * { ?s WDT:P31 ?o }", "SELECT * { ?s wdt:P31 ?o }"),
        ("SELECT * { ?s osmt:name ?o }", "SELECT * { ?s osmkey:name ?o }"),
    ] {
        let error = parse(mistake, Dialect::Wdqs).unwrap_err();
        let edit = error.edit.as_ref().unwrap_or_else(|| panic!("{mistake}: {error:?}"));
        assert_eq!(edit.apply(mistake).as_deref(), Some(meant));
        parse(meant, Dialect::Wdqs).unwrap();
        assert!(error.help.is_some_and(|help| help.contains(&edit.text)));
    }
    assert_eq!(parse("SELECT * { ?s xyz:p ?o }", Dialect::Wdqs).unwrap_err().edit, None);
}

/// The standard predeclares no prefixes, so that the remedy is a declaration, with the usual IRI.
#[test]
fn the_standard_dialect_advises_to_declare_a_prefix() {
    for (prefix, iri) in [
        ("ql", "http://qlever.cs.uni-freiburg.de/builtin-functions/"),
        ("wdt", "http://www.wikidata.org/prop/direct/"),
        ("WDT", "http://..."),
    ] {
        let error = parse(&format!("SELECT * {{ ?s {prefix}:p ?o }}"), Dialect::Standard).unwrap_err();
        let advice = format!("declare it in front of the query: PREFIX {prefix}: <{iri}>");
        assert_eq!((error.help, error.edit), (Some(advice), None));
    }
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
    // What a short form repeats counts with each repetition.
    let long = format!("<http://e/{}>", "p".repeat(100_000));
    for triple in ["?s LONG 1", "?s (LONG|^LONG)+ 1", "LONG ?p 1"] {
        let text = format!("SELECT * {{ {}{} }}", triple.replace("LONG", &long), ", 1".repeat(1000));
        assert_eq!(error(&text).code, SparqlCode::TooLong, "{triple}");
    }
    for triple in ["?s LONG ?o", "?s ?p LONG", "LONG ?p ?o"] {
        let text = format!("SELECT * {{ {}{} }}", triple.replace("LONG", &long), " ~ ?r".repeat(1000));
        assert_eq!(error(&text).code, SparqlCode::TooLong, "{triple}");
    }
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
    assert_eq!(needs("SELECT * { ?x ?y ?z FILTER(?x<=?a&&?b>?y) }"), [Extension::ComparedIri]);
    assert_eq!(needs("SELECT * { ?x ?y ?z FILTER(?x< ?a&&?b>?y) }"), []);
    assert!(parse("SELECT * { ?x ?y ?z FILTER(?x<?a&&?b>?y) }", Dialect::Standard).is_err());
}

#[test]
fn an_aggregate_is_not_in_the_argument_of_another() {
    let nested = "SELECT (COUNT(COUNT(*)) AS ?c) {}";
    assert!(parse(nested, Dialect::Standard).unwrap_err().message.contains("argument of another"));
    let apart = "SELECT (SUM(IF(EXISTS { SELECT (COUNT(*) AS ?d) {} }, 1, 0)) AS ?c) {}";
    assert!(parse(apart, Dialect::Standard).is_ok());
    assert!(parse("VERSION \"1.2\" ASK {}", Dialect::Standard).is_ok());
    assert!(parse("VERSION 1.2 ASK {}", Dialect::Standard).is_err());
}

#[test]
fn nested_lengths_of_paths_are_counted_before_they_are_copied() {
    let text = "SELECT * { ?s (((((((wdt:P1{64})?){64})?){64})?){64}) ?o }";
    let error = parse(text, Dialect::Qlever).unwrap_err();
    assert_eq!(error.code, error::SparqlCode::TooLarge, "{error}");
    assert!(parse("SELECT * { ?s (wdt:P1{4}|wdt:P2){4} ?o }", Dialect::Qlever).is_ok());
}
