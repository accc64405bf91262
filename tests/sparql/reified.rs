//! Tests triples about triples and base directions: SPARQL 1.2 (<https://www.w3.org/TR/sparql12-query/>) over stored
//! triple terms of RDF 1.2. The W3C's tests are in `w3c.rs`; these are for what those do not have.

use std::sync::LazyLock;

use crate::common::triples::{ValueLines, environment};
use terrapin::sparql::{Dialect, Environment, SparqlBounds, SparqlError, SparqlSettings, prepare};

const DATA: &str = r#"VERSION "1.2"
@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:a :knows :b ~ :r1 {| :since 2001 ; :source :x |} .
:a :knows :c ~ :r2 {| :since 2005 |} {| :doubted true |} .
<< :c :knows :a ~ :r3 >> :since 1999 .
:r4 :says <<( :r5 :says <<( :a :age "1.50"^^xsd:decimal )>> )>> .
_:n :says <<( _:n :age 3 )>> .
:a :name "\u0633\u0644\u0627\u0645"@ar--rtl, "salam"@en--ltr, "salam"@en .
"#;

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| environment("x.ttl", DATA));

fn run(text: &str, dialect: Dialect) -> Result<Vec<String>, SparqlError> {
    let mut lines = ValueLines::new("-");
    let settings = SparqlSettings { dialect, ..SparqlSettings::default() };
    let text = format!("PREFIX : <http://e/> PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> {text}");
    prepare(&text, &settings)?.run(&ENVIRONMENT, &SparqlBounds::default(), &mut lines)?;
    lines.lines.sort();
    Ok(lines.lines)
}

/// Returns the sorted lines of the answer, which is the same in all dialects.
fn ask(text: &str) -> Vec<String> {
    let answer = run(text, Dialect::Standard).unwrap_or_else(|error| panic!("{text}: {error}"));
    for dialect in [Dialect::Wdqs, Dialect::Qlever] {
        assert_eq!(run(text, dialect).unwrap(), answer, "{text}");
    }
    answer
}

#[test]
fn the_three_notations_are_one() {
    let expected = ["a b 2001", "a c 2005"];
    for pattern in [
        "?s :knows ?o {| :since ?t |}",
        "?s :knows ?o ~ ?r . ?r :since ?t",
        "?s :knows ?o . << ?s :knows ?o >> :since ?t",
        "?s ?p ?o . ?r rdf:reifies <<( ?s ?p ?o )>> ; :since ?t FILTER(?p = :knows)",
        "?s :knows ?o . ?r rdf:reifies ?term . ?r :since ?t FILTER(SAMETERM(?term, TRIPLE(?s, :knows, ?o)))",
        "?s :knows ?o OPTIONAL { ?r rdf:reifies <<( ?s :knows ?o )>> . ?r :since ?t }",
        "?s :knows ?o BIND(<<( ?s :knows ?o )>> AS ?term) ?r rdf:reifies ?term ; :since ?t",
    ] {
        assert_eq!(ask(&format!("SELECT ?s ?o ?t {{ {pattern} }}")), expected, "{pattern}");
    }
    // Not stated, only reified.
    assert_eq!(ask("SELECT ?s ?o { << ?s :knows ?o >> :since ?t MINUS { ?s :knows ?o } }"), ["c a"]);
    assert_eq!(ask("ASK { << :c :knows :a ~ :r3 >> }"), ["true"]);
    assert_eq!(ask("ASK { << :c :knows :a ~ :r1 >> }"), ["false"]);
    assert_eq!(ask("SELECT ?o { ?s ?p ?o FILTER EXISTS { << ?s ?p ?o >> :source ?x } }"), ["b"]);
}

#[test]
fn triple_terms_are_matched_at_any_depth() {
    assert_eq!(ask("SELECT ?x ?y { :r4 :says <<( ?x :says <<( ?y :age ?age )>> )>> }"), ["r5 a"]);
    // Literals in triple terms have one form as everywhere.
    assert_eq!(ask("SELECT ?x { ?x :says <<( :r5 :says <<( :a :age 1.5 )>> )>> }"), ["r4"]);
    assert_eq!(ask("SELECT ?x { ?x :says <<( :r5 :says <<( ?x :age 1.5 )>> )>> }"), Vec::<String>::new());
    assert_eq!(ask("SELECT ?age { ?x :says <<( ?x :age ?age )>> }"), ["3"]);
    assert_eq!(ask("SELECT ?age { _:x :says <<( _:x :age ?age )>> }"), ["3"]);
    assert_eq!(ask("SELECT ?x ?y { ?x (:says|:since) <<( ?y :says ?z )>> }"), ["r4 r5"]);
    assert_eq!(ask("SELECT ?x ?y { <<( ?y :says ?z )>> ^:says ?x }"), ["r4 r5"]);
    assert_eq!(ask("SELECT ?x ?y { <<( ?y :says ?z )>> (^:says|:since) ?x }"), ["r4 r5"]);
    // No triple has a triple term as its subject.
    assert_eq!(ask("SELECT * { ?x :says ?y . <<( ?a ?b ?c )>> :says ?y }"), Vec::<String>::new());
    // The same graph pattern, from values.
    assert_eq!(ask("SELECT ?x { VALUES ?t { <<( :a :knows :b )>> } ?x rdf:reifies ?t }"), ["r1"]);
    assert_eq!(ask("SELECT (COUNT(DISTINCT ?t) AS ?n) { ?x ?p ?t FILTER(isTRIPLE(?t)) }"), ["5"]);
}

#[test]
fn values_of_triple_terms_are_compared() {
    let value = |expression: &str| ask(&format!("SELECT ({expression} AS ?v) {{}}")).join("");
    for (expression, expected) in [
        ("<<( :a :b 1 )>> = <<( :a :b 1.0 )>>", "true"),
        ("SAMETERM(<<( :a :b 1 )>>, <<( :a :b 1.0 )>>)", "false"),
        ("<<( :a :b 1 )>> IN (<<( :a :b 2 )>>, <<( :a :b 1.0 )>>)", "true"),
        ("<<( :a :b 1 )>> != <<( :a :c 1 )>>", "true"),
        ("<<( :a :b 1 )>> < <<( :a :b 2 )>>", "-"),
        ("<<( :a :b 1 )>> = :a", "false"),
        ("OBJECT(<<( :a :b 1 )>>) + 1", "2"),
        ("isTRIPLE(:a)", "false"),
        ("SUBJECT(:a)", "-"),
        ("TRIPLE('a', :b, :c)", "-"),
        ("STR(<<( :a :b 1 )>>)", "-"),
        ("LANGDIR(CONCAT('a'@ar--rtl, 'b'@ar--rtl))", "rtl"),
        ("LANGDIR(REPLACE('a'@ar--rtl, 'a', 'b'))", "rtl"),
        ("LANG(CONCAT('a'@ar--rtl, 'b'@ar))", ""),
        ("'a'@en--ltr = 'a'@en", "false"),
        ("STRLEN('abc'@ar--rtl)", "3"),
        ("DATATYPE('a'@ar--rtl)", "22-rdf-syntax-ns#dirLangString"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

/// SPARQL 1.2, 17.2.2; in SPARQL 1.1 the truth value of a string with a language is that of its text.
#[test]
fn strings_with_a_language_have_no_truth_value_in_the_standard() {
    for text in ["IF(?x, 1, 2)", "!?x", "?x && true", "!!?x"] {
        let text = format!("SELECT ({text} AS ?v) {{ VALUES ?x {{ 'a'@en }} }}");
        assert_eq!(run(&text, Dialect::Standard).unwrap(), ["-"], "{text}");
        assert_ne!(run(&text, Dialect::Wdqs).unwrap(), ["-"], "{text}");
    }
    assert_eq!(run("ASK { VALUES ?x { 'a'@en } FILTER(?x) }", Dialect::Standard).unwrap(), ["false"]);
    assert_eq!(run("ASK { VALUES ?x { 'a' } FILTER(?x || false) }", Dialect::Standard).unwrap(), ["true"]);
}

#[test]
fn base_directions_are_stored() {
    let names = ask("SELECT (LANG(?n) AS ?l) (LANGDIR(?n) AS ?d) { :a :name ?n }");
    assert_eq!(names, ["ar rtl", "en ", "en ltr"]);
    assert_eq!(ask("SELECT (hasLANGDIR('salam'@en--ltr) AS ?d) { :a :name 'salam'@en--ltr }"), ["true"]);
    assert_eq!(ask("ASK { :a :name 'salam'@en--rtl }"), ["false"]);
}

#[test]
fn templates_have_triple_terms() {
    let triples = ask("CONSTRUCT { ?o :knownBy ?s ~ _:x {| :since ?t |} } { ?s :knows ?o {| :since ?t |} }");
    assert_eq!(triples.len(), 6, "{triples:?}");
    let reified: Vec<&String> = triples.iter().filter(|triple| triple.contains("<<(")).collect();
    assert!(reified[0].ends_with("<<( <http://e/b> <http://e/knownBy> <http://e/a> )>>"), "{reified:?}");
    // A triple with an invalid component is left out.
    assert_eq!(ask("CONSTRUCT { :x :y <<( ?v ?p :o )>> } { VALUES (?v ?p) { (1 :p) (:s 'p') (UNDEF :p) } }"), [""; 0]);
}

#[test]
fn wrong_texts_are_named() {
    let error = |text: &str| run(text, Dialect::Standard).unwrap_err().to_string();
    for (text, part) in [
        ("SELECT * { ?s :p/:q ?o {| :r 1 |} }", "only a triple with a single predicate"),
        ("SELECT * { << ?s :p (1) >> :q 1 }", "a reified triple cannot contain a list"),
        ("SELECT * { ?s ?p <<( ?s :p/:q ?o )>> }", "expected a"),
        ("SELECT ('a'@en--up AS ?x) {}", "unknown base direction"),
        ("SELECT ('a'@en--LTR AS ?x) {}", "unknown base direction"),
        ("SELECT * { VALUES ?x { <<( 'a' :p 1 )>> } }", "expected an IRI"),
        ("SELECT * { BIND(<< ?s ?p ?o >> AS ?t) }", "expected an expression"),
        ("SELECT * { <<( ?s ?p ?o )>> }", "expected a predicate"),
    ] {
        assert!(error(text).contains(part), "{text}: {}", error(text));
    }
}
