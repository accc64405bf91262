use terrapin_grammar::GrammarFormat;

use super::*;
use crate::{Dialect, parse};

#[test]
fn every_rule_is_defined() {
    let names = SparqlNames { items: vec!["Q5".to_owned()], properties: vec!["P31".to_owned()] };
    for names in [SparqlNames::default(), names] {
        assert_eq!(sparql_grammar(&names).undefined(), Vec::<String>::new());
    }
}

#[test]
fn every_function_is_in_the_grammar() {
    let grammar = sparql_grammar(&SparqlNames::default());
    let literals = grammar.literals();
    let lacking: Vec<&str> =
        function::builtins().map(|(name, ..)| name).filter(|name| !literals.contains(name)).collect();
    assert!(lacking.is_empty(), "{lacking:?}");
}

#[test]
fn queries_are_accepted_and_other_texts_are_not() {
    let grammar = sparql_grammar(&SparqlNames::default());
    for text in [
        "select*{?s ?p ?o}",
        "ASK { wd:Q1 a wd:Q2 . FILTER NOT EXISTS { wd:Q1 wdt:P31/wdt:P279* ?x } }",
        "SELECT ?x (COUNT(DISTINCT ?y) AS ?n) WHERE { ?x wdt:P1 ?y; p:P2 [ps:P2 5, -1.5]. } GROUP BY ?x HAVING(COUNT(?y) > 3)",
        "SELECT ?a WHERE { VALUES (?a ?b) {(wd:Q1 \"x\"@en) (UNDEF true)} BIND(STR(?a)AS ?c) } ORDER BY DESC(?a) LIMIT 5",
        "SELECT ?a { ?a wdt:P1 ?b FILTER(?b<5&&?b >= 1||LANG(?b) IN(\"en\", 'de')) }",
        "# first\nSELECT ?a WITH { SELECT ?a { ?a ?b ?c } } AS %i WHERE { INCLUDE %i . OPTIONAL { ?a !(a|^a) ?d } } # end",
        "CONSTRUCT { ?a a ?b } WHERE { { ?a wdt:P1 ?b } UNION { ?b wdt:P1 ?a } MINUS { ?a wdt:P2 [] } }",
    ] {
        assert!(parse(text, Dialect::Auto).is_ok(), "{text}");
        assert!(grammar.accepts(text), "{text}");
    }
    for text in [
        "",
        "SELECT { ?s ?p ?o }",
        "SELECT * { ?s ?p }",
        "SELECT * { ?s ?p ?o } GROUP BY ?s",
        "SELECT ?x { FILTER(COUNT(?x) > 1) }",
        "SELECT ?x { ?x nope:P31 ?y }",
        "SELECT ?x { ?x ql:contains-word ?y }",
        "SELECT ?x { BIND(STRLEN(?x, 1) AS ?y) }",
        "SELECT ?x { VALUES (?x ?y) { (1) } }",
    ] {
        assert!(!grammar.accepts(text), "{text}");
    }
}

#[test]
fn ids_are_restricted() {
    let names = SparqlNames { items: vec!["Q5".to_owned()], properties: vec!["P31".to_owned()] };
    let grammar = sparql_grammar(&names);
    for text in ["ASK { ?x wdt:P31 wd:Q5 }", "ASK { ?x p:P31/ps:P31 wd:Q5 ; schema:about wd:P31 }"] {
        assert!(grammar.accepts(text), "{text}");
    }
    for text in ["ASK { ?x wdt:P31 wd:Q6 }", "ASK { ?x wdt:P32 wd:Q5 }", "ASK { ?x wdt:P31 wd:Q55 }"] {
        assert!(!grammar.accepts(text), "{text}");
    }
}

/// By default 300 samples; `TERRAPIN_SAMPLES` is another number.
#[test]
fn samples_are_parsed() {
    let grammar = sparql_grammar(&SparqlNames::default());
    let count = std::env::var("TERRAPIN_SAMPLES").map_or(300, |count| count.parse().expect("a number"));
    let mut refused = Vec::new();
    for seed in 0..count {
        let text = grammar.sample(seed, &sample_settings());
        if let Err(error) = parse(&text, Dialect::Auto) {
            refused.push(format!("sample {seed}: {error}\n{text}"));
        }
    }
    assert!(refused.is_empty(), "{} of {count}:\n{}", refused.len(), refused.join("\n\n"));
    assert!(grammar.accepts(&grammar.sample(1, &sample_settings())));
    assert!(grammar.render(GrammarFormat::Lark).contains("call_aggregated: "));
}
