//! Tests values in SPARQL: numbers of any size, regular expressions, lists of constants, booleans. Unless another
//! source is given, expected numbers are from Python 3's integers and `decimal`.

use std::sync::LazyLock;
use std::time::Instant;

use crate::common::triples::{ValueLines, environment};
use terrapin::sparql::{Dialect, Environment, SparqlBounds, SparqlError, SparqlErrorClass, SparqlSettings, prepare};

/// Wikidata's values of the universe (Q1: diameter P2386, mass P2067) and of Earth's mass, in the notation of its
/// dumps.
const DATA: &str = r#"
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
wd:Q1 wdt:P2386 "+880000000000000000000000000"^^xsd:decimal ; wdt:P2067 "+100000000000000000000000000000000000000000000000000000"^^xsd:decimal .
wd:Q2 wdt:P2067 "+5972370000000000000000000"^^xsd:decimal .
wd:Q3 wdt:P2067 "5972370000000000000000000.0"^^xsd:decimal ; wdt:P2386 "12742"^^xsd:decimal .
wd:Q4 wdt:P2067 "+0.00000000000000000000000000091093837015"^^xsd:decimal ; wdt:P1 "18446744073709551616"^^xsd:integer .
wd:Q5 rdfs:label "Vincent van Gogh"@en . wd:Q6 rdfs:label "Paul Cézanne"@fr . wd:Q7 rdfs:label "408055" .
"#;

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| environment("x.ttl", DATA));

fn run(text: &str, dialect: Dialect) -> Result<Vec<String>, SparqlError> {
    let mut lines = ValueLines::new("-");
    let settings = SparqlSettings { dialect, ..SparqlSettings::default() };
    prepare(text, &settings)?.run(&ENVIRONMENT, &SparqlBounds::default(), &mut lines)?;
    Ok(lines.lines)
}

const PREFIXES: &str = "PREFIX wd: <http://www.wikidata.org/entity/> PREFIX wdt: <http://www.wikidata.org/prop/direct/>
PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> ";

/// Returns the answer, which must be the same in both dialects and in a subquery.
fn ask(text: &str) -> Vec<String> {
    let text = format!("{PREFIXES}{text}");
    let answer = run(&text, Dialect::Wdqs).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(run(&text, Dialect::Standard).unwrap(), answer, "{text}");
    // The answers have no duplicates that REDUCED could remove.
    if let Some((_, rest)) =
        text.split_once("SELECT ").filter(|(_, rest)| !rest.contains("GROUP") && !rest.starts_with("DISTINCT"))
    {
        let reduced = format!("{PREFIXES}SELECT * {{ {{ SELECT REDUCED {rest} }} }}");
        // `SELECT *` sorts columns by name.
        let is_one_column = answer.iter().all(|row| !row.contains(' '));
        if is_one_column && !rest.contains("ORDER") {
            let (mut ours, mut theirs) = (answer.clone(), run(&reduced, Dialect::Wdqs).unwrap());
            ours.sort();
            theirs.sort();
            assert_eq!(theirs, ours, "{reduced}");
        }
    }
    answer
}

/// Returns the value of an expression, or `-` for an error.
fn value(expression: &str) -> String {
    ask(&format!("SELECT ({expression} AS ?value) {{}}")).join("")
}

#[test]
fn numbers_of_any_size_are_numbers() {
    assert_eq!(ask("SELECT ?x { ?x wdt:P2386 ?d FILTER(?d > 1000000000000000000000) }"), ["Q1"]);
    assert_eq!(ask("SELECT ?x { ?x wdt:P2067 ?m FILTER(?m < 1) }"), ["Q4"]);
    assert_eq!(ask("SELECT ?x { ?x wdt:P2067 ?m FILTER(?m != 1) } ORDER BY ?x"), ["Q1", "Q2", "Q3", "Q4"]);
    // Two notations of the same value are one term.
    assert_eq!(ask("SELECT DISTINCT ?m { VALUES ?x { wd:Q2 wd:Q3 } ?x wdt:P2067 ?m }"), ["5972370000000000000000000"]);
    assert_eq!(
        ask("SELECT ?x { ?x wdt:P2067 \"+5972370000000000000000000.00\"^^xsd:decimal } ORDER BY ?x"),
        ["Q2", "Q3"]
    );
    assert_eq!(
        ask("SELECT (SUM(?m) AS ?s) (MAX(?m) AS ?g) (MIN(?m) AS ?l) { ?x wdt:P2067 ?m }"),
        ["100000000000000000000000000011944740000000000000000000.00000000000000000000000000091093837015 \
          100000000000000000000000000000000000000000000000000000 0.00000000000000000000000000091093837015"]
    );
    assert_eq!(ask("SELECT (AVG(?d) AS ?a) { ?x wdt:P2386 ?d }"), ["440000000000000000000006371"]);
    assert_eq!(ask("SELECT ?x { ?x wdt:P2067 ?m } ORDER BY DESC(?m) ?x"), ["Q1", "Q2", "Q3", "Q4"]);
    assert_eq!(
        ask("SELECT ?t (COUNT(*) AS ?n) { ?x wdt:P2067 ?m BIND(?m > 1 AS ?t) } GROUP BY ?t ORDER BY ?t"),
        ["false 1", "true 3"]
    );
    for (expression, expected) in [
        ("9223372036854775807 + 1", "9223372036854775808"),
        ("DATATYPE(9223372036854775807 + 1)", "XMLSchema#integer"),
        ("9223372036854775807 * 9223372036854775807 - 9223372036854775807 * 9223372036854775807", "0"),
        ("18446744073709551616 / 2", "9223372036854775808"),
        ("-18446744073709551616", "-18446744073709551616"),
        ("-(-9223372036854775808)", "9223372036854775808"),
        ("0.0000000001 * 0.0000000001", "0.00000000000000000001"),
        ("1.5e0 + 100000000000000000000", "100000000000000000000"),
        ("1 / 3", "0.333333333333333333"),
        ("1 / 0", "-"),
        ("1e0 / 0", "INF"),
        ("ROUND(-2.5)", "-2"),
        ("ROUND(99999999999999999999.5)", "100000000000000000000"),
        ("FLOOR(-99999999999999999999.5)", "-100000000000000000000"),
        ("CEIL(99999999999999999999.5)", "100000000000000000000"),
        ("ABS(-99999999999999999999)", "99999999999999999999"),
        ("isNumeric(99999999999999999999)", "true"),
        ("99999999999999999999 = 99999999999999999999.0", "true"),
        ("99999999999999999999 = \"+99999999999999999999\"^^xsd:decimal", "true"),
        ("99999999999999999999 != 1", "true"),
        ("99999999999999999999 = \"a\"", "false"),
        ("1e20 = 100000000000000000000", "true"),
        ("99999999999999999999 > 1e19", "true"),
        ("IF(99999999999999999999, 1, 2)", "1"),
        ("!99999999999999999999", "false"),
        ("99999999999999999999 && true", "true"),
        ("99999999999999999999 IN (1, \"a\", 99999999999999999999.0)", "true"),
        ("99999999999999999999 NOT IN (1, \"a\")", "true"),
        ("COALESCE(99999999999999999999 + 1, \"none\")", "100000000000000000000"),
        ("xsd:integer(99999999999999999999.9)", "99999999999999999999"),
        ("xsd:integer(1e30)", "1000000000000000019884624838656"),
        ("xsd:integer(\" 99999999999999999999 \")", "99999999999999999999"),
        ("xsd:decimal(\"+5972370000000000000000000\")", "5972370000000000000000000"),
        ("xsd:double(99999999999999999999999)", "100000000000000000000000"),
        ("xsd:boolean(99999999999999999999)", "true"),
        ("xsd:integer(\"1e5\")", "-"),
        ("STR(99999999999999999999)", "99999999999999999999"),
        ("STRDT(\"99999999999999999999\", xsd:integer) + 1", "100000000000000000000"),
        // The evaluator computes dates plus durations.
        ("\"2001-01-02\"^^xsd:date + \"P1D\"^^xsd:dayTimeDuration", "2001-01-03"),
        ("\"a\" + 1", "-"),
        ("\"a\" < \"b\"", "true"),
        ("\"a\" < 1", "-"),
        ("\"a\"@en = \"a\"", "false"),
        ("\"NaN\"^^xsd:double = \"NaN\"^^xsd:double", "false"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

/// <https://www.w3.org/TR/xpath-functions-31/#func-boolean-less-than>
#[test]
fn false_is_less_than_true() {
    for (expression, expected) in [
        ("true < false", "false"),
        ("false < true", "true"),
        ("true > false", "true"),
        ("true <= true", "true"),
        ("false >= true", "false"),
        ("\"1\"^^xsd:boolean = true", "true"),
        ("true < 1", "-"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
    assert_eq!(ask("SELECT ?a { VALUES ?a { true false } VALUES ?b { true } FILTER(?a < ?b) }"), ["false"]);
}

/// <https://www.w3.org/TR/xpath-functions-31/#casting-from-strings>
#[test]
fn a_day_that_the_calendar_has_not_is_no_date() {
    for (expression, expected) in [
        ("xsd:date(\"2020-02-30\")", "-"),
        ("xsd:date(\"2019-02-29\")", "-"),
        ("xsd:dateTime(\"2020-04-31T00:00:00Z\")", "-"),
        ("STR(xsd:date(\"2020-02-29\"))", "2020-02-29"),
    ] {
        let answers = [Dialect::Wdqs, Dialect::Standard]
            .map(|dialect| run(&format!("{PREFIXES}SELECT ({expression} AS ?value) {{}}"), dialect).unwrap());
        assert!(answers.iter().all(|answer| *answer == [expected]), "{expression}: {answers:?}");
    }
}

/// The examples of the standard and of QT3 are tested with the code (`functions/patterns/tests.rs`); these tests use
/// whole queries.
#[test]
fn regular_expressions_are_those_of_xpath() {
    for (expression, expected) in [
        // A call from Instruct-to-SPARQL.
        (r#"REPLACE("408055", "(..)80(..)", "$1A0$2")"#, "40A055"),
        (r#"REPLACE("abc", "(b)", "$1_x")"#, "ab_xc"),
        (r#"REPLACE("abc", "(b)", "$10")"#, "ab0c"),
        (r#"REPLACE("abc", "b", "\\$\\\\")"#, r"a$\c"),
        (r#"REPLACE("abc", "x*", "-")"#, "-"),
        (r#"REPLACE("abab", "B", "x", "i")"#, "axax"),
        (r#"REGEX("abab", "^(ab)\\1$")"#, "true"),
        (r#"REGEX("foobar", "foo(?=bar)")"#, "true"),
        (r#"!REGEX("foobar", "foo(?!bar)")"#, "true"),
        (r#"REGEX("é", "^\\p{IsBasicLatin}")"#, "false"),
        (r#"REGEX("e", "^[a-z-[aeiou]]$")"#, "false"),
        (r#"REGEX("_a", "^\\i\\c*$")"#, "true"),
        (r#"REGEX("a.b", "\\Qa.b\\E")"#, "true"),
        (r#"REGEX("Berlin", CONCAT("^b", "er"), "i")"#, "true"),
        // An invalid pattern that is computed is an error of its row only.
        (r#"REGEX("a", CONCAT("(", ""))"#, "-"),
        (r#"REGEX(1, "1")"#, "-"),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
    let label = |filter: &str| ask(&format!("SELECT ?x {{ ?x rdfs:label ?label FILTER({filter}) }} ORDER BY ?x"));
    assert_eq!(label(r#"REGEX(?label, "(?<!van) [GC]")"#), ["Q6"]);
    assert_eq!(label(r#"!REGEX(?label, "^(.).*\\1$")"#), ["Q5", "Q6", "Q7"]);
    assert_eq!(label(r#"REGEX(STR(?x), "Q[56]$") && REGEX(LCASE(?label), "^paul")"#), ["Q6"]);
    assert_eq!(label(r#"CONTAINS(?label, "van") || STRENDS(STR(?label), "55")"#), ["Q5", "Q7"]);
    assert_eq!(label(r#"STRSTARTS(UCASE(?label), "PAUL")"#), ["Q6"]);
}

#[test]
fn a_constant_that_is_no_pattern_is_an_error_of_the_query() {
    let refused = |expression: &str| {
        let text = format!("{PREFIXES}SELECT ?x {{ ?x rdfs:label ?l FILTER({expression}) }}");
        run(&text, Dialect::Wdqs).map_err(|error| (error.class, error.code.name()))
    };
    for wrong in
        [r#"REGEX(?l, "(")"#, r#"!REGEX(?l, "[z-a]")"#, r#"REGEX(?l, "a", "g")"#, r#"REPLACE(?l, "a", "$") = "b""#]
    {
        assert_eq!(refused(wrong), Err((SparqlErrorClass::Syntax, "pattern")), "{wrong}");
    }
    for unsupported in [r#"REGEX(?l, "\\G")"#, r#"REGEX(?l, "(?x)a")"#, r#"REGEX(?l, CONCAT("\\", "X"))"#] {
        assert_eq!(refused(unsupported), Err((SparqlErrorClass::Unsupported, "pattern")), "{unsupported}");
    }
    let endless = format!(r#"REGEX(CONCAT(?l, "{}b"), "(a|aa)+\\1?$")"#, "a".repeat(60));
    assert_eq!(refused(&endless.replace("(a|aa)", "^.*?(a|aa)")), Err((SparqlErrorClass::Limit, "pattern")));
}

#[test]
fn many_constants_are_looked_up() {
    // 1,000 constants for 1,000 values: a million comparisons would take seconds, lookups take milliseconds.
    let list = |of: &str| (0..1000).map(|n| of.replace('#', &n.to_string())).collect::<Vec<_>>();
    let values = list("wd:Q# \"#\" #").join(" ");
    let start = Instant::now();
    for (constants, inside) in [
        (list("wd:Q#").join(", "), 1000),
        (list("\"#\"").join(", "), 1000),
        (list("#.0").join(", "), 1000),
        (list("wd:Q#, \"#\", #e0").join(", "), 3000),
    ] {
        let count = |condition: &str| {
            let query =
                format!("SELECT (COUNT(*) AS ?n) {{ VALUES ?v {{ {values} }} FILTER({condition}) }} GROUP BY ()");
            run(&format!("{PREFIXES}{}", query.replace(" GROUP BY ()", "")), Dialect::Wdqs).unwrap().join("")
        };
        assert_eq!(count(&format!("?v IN ({constants})")), inside.to_string());
        assert_eq!(count(&format!("?v NOT IN ({constants})")), (3000 - inside).to_string());
        assert_eq!(count(&format!("STR(?v) IN ({constants})")), if constants.contains('"') { "2000" } else { "0" });
    }
    println!("{:.2} s", start.elapsed().as_secs_f64());
}
