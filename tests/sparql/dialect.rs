//! Tests the dialect over a few triples: labels, named subqueries, dates, places, traversals, order, limits.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use crate::common::triples::{ValueLines, environment};
use terrapin::budget::Limits;
use terrapin::sparql::labelled::{NameMatchKind, SnapshotNames, label, unlabel};
use terrapin::sparql::syntax::declarations;
use terrapin::sparql::{Dialect, Environment, SparqlBounds, SparqlError, SparqlSettings, prepare};

const DATA: &str = r#"
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix geo: <http://www.opengis.net/ont/geosparql#> . @prefix wikibase: <http://wikiba.se/ontology#> .
wd:Q1 rdfs:label "one"@en, "eins"@de ; schema:description "a number"@en ; skos:altLabel "I"@en, "1"@en ;
  wdt:P31 wd:Q9 ; wdt:P569 "1952-03-11T00:00:00Z"^^xsd:dateTime ; wdt:P570 "1952-03-21T12:00:00Z"^^xsd:dateTime ;
  wdt:P625 "Point(14.5 35.9)"^^geo:wktLiteral ; wdt:P1082 "+10"^^xsd:decimal .
wd:Q2 rdfs:label "zwei"@de ; wdt:P31 wd:Q9 ; wdt:P625 "Point(14.51 35.9)"^^geo:wktLiteral ; wdt:P1082 "+9"^^xsd:decimal .
wd:Q3 wdt:P31 wd:Q9 ; wdt:P625 "Point(15.5 35.9)"^^geo:wktLiteral ; wdt:P279 wd:Q2 .
wd:Q2 wdt:P279 wd:Q1 .
wd:Q70 rdfs:label "Lake"@en . wd:Q71 rdfs:label "lake"@en ; wikibase:sitelinks 200 . wd:Q72 skos:altLabel "Lake"@en ;
  wikibase:sitelinks 300 . wd:Q8 rdfs:label "Lakeland"@en ; wikibase:sitelinks 9 . wd:P7 rdfs:label "lake"@en .
"#;

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| environment("x.ttl", DATA));

fn bounded(text: &str, bounds: &SparqlBounds) -> Result<Vec<String>, SparqlError> {
    let mut lines = ValueLines::new("");
    prepare(text, &SparqlSettings::default())?.run(&ENVIRONMENT, bounds, &mut lines)?;
    Ok(lines.lines)
}

fn ask(text: &str) -> Vec<String> {
    bounded(text, &SparqlBounds::default()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

const LABELS: &str = "SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],de\" }";

#[test]
fn labels_fall_back_and_are_never_overwritten() {
    let query =
        |select: &str, more: &str| ask(&format!("SELECT {select} {{ {LABELS} ?x wdt:P31 wd:Q9 {more} }} ORDER BY ?x"));
    assert_eq!(query("?x ?xLabel", ""), ["Q1 one", "Q2 zwei", "Q3 Q3"]);
    assert_eq!(query("?xDescription ?xAltLabel", ""), ["a number 1, I", " ", " "]);
    assert_eq!(query("?xLabel", "BIND(1 AS ?xLabel)"), ["1", "1", "1"]);
    assert_eq!(query("?xLabel (COUNT(*) AS ?n)", "").len(), 1, "an ungrouped variable is sampled");
    let manual = "SELECT ?n { ?x wdt:P279 wd:Q1 SERVICE wikibase:label { bd:serviceParam wikibase:language 'de' . ?x rdfs:label ?n } }";
    assert_eq!(ask(manual), ["zwei"]);
    assert_eq!(ask(&format!("SELECT * {{ {{ SELECT ?x ?xLabel {{ ?x wdt:P279 wd:Q1 {LABELS} }} }} }}")), ["Q2 zwei"]);
}

#[test]
fn subqueries_with_limits_are_solved_on_their_own() {
    let named = "SELECT ?x ?y WITH { SELECT ?x { ?x wdt:P31 wd:Q9 } ORDER BY DESC(?x) LIMIT 1 } AS %a
        WHERE { INCLUDE %a . { INCLUDE %a } ?x wdt:P279 ?y }";
    assert_eq!(ask(named), ["Q3 Q2"]);
    assert_eq!(ask("SELECT ?x { { SELECT ?x { ?x wdt:P1082 ?n } ORDER BY ?n LIMIT 1 } }"), ["Q2"]);
    assert_eq!(ask("SELECT ?x { ?x wdt:P31 [] } LIMIT 2 OFFSET 1"), ["Q2", "Q3"]);
    assert_eq!(
        ask("SELECT (GROUP_CONCAT(?n; separator='|') AS ?all) (SAMPLE(?n) AS ?one) { ?x wdt:P1082 ?n }"),
        ["10|9 10"]
    );
}

#[test]
fn blank_nodes_with_a_name_belong_to_a_solution() {
    let select = "(BNODE(?a) AS ?b) (BNODE(?c) AS ?d)";
    let values = "VALUES (?a ?c) { ('x' 'x') ('x' 'y') ('x' 'x') }";
    let expected = ["x x _:new0 _:new0", "x y _:new1 _:new2", "x x _:new3 _:new3"];
    assert_eq!(ask(&format!("SELECT ?a ?c {select} {{ {values} }}")), expected);
    // Each group in braces has its own solutions.
    assert_eq!(ask(&format!("SELECT REDUCED ?a ?c {select} {{ {values} }}")), expected);
    let apart = "{ BIND(BNODE('x') AS ?b) } { BIND(BNODE('x') AS ?d) BIND(BNODE('x') AS ?e) }";
    assert_eq!(ask(&format!("SELECT ?b ?d ?e {{ {apart} }}")), ["_:new0 _:new1 _:new1"]);
    assert_eq!(ask("SELECT (BNODE(1) AS ?b) (BNODE('x'@en) AS ?c) {}"), [" "]);
}

#[test]
fn what_is_concatenated_has_no_language() {
    let inner = "SELECT (GROUP_CONCAT(?n) AS ?all) { VALUES ?n { 'a'@en 'b'@en } }";
    assert_eq!(ask(&format!("SELECT (LANG(?all) AS ?l) ?all {{ {{ {inner} }} }}")), [" a b"]);
}

#[test]
fn having_sees_what_select_names() {
    let grouped = "SELECT ?class (COUNT(*) AS ?n) { ?item wdt:P31 ?class } GROUP BY ?class";
    assert_eq!(ask(&format!("{grouped} HAVING(?n > 2)")), ["Q9 3"]);
    assert_eq!(ask(&format!("{grouped} HAVING(?n > 3)")), [""; 0]);
    assert_eq!(ask(&format!("{grouped} HAVING(?n > 2 && COUNT(?item) < 4)")), ["Q9 3"]);
}

#[test]
fn dates_are_calculated_with_as_in_wdqs() {
    assert_eq!(ask("SELECT (?d - ?b AS ?days) { wd:Q1 wdt:P569 ?b ; wdt:P570 ?d }"), ["10.5"]);
    assert_eq!(ask("ASK { wd:Q1 wdt:P569 ?b FILTER(?b < '1952-03-12'^^xsd:date) }"), ["true"]);
    assert_eq!(
        ask("ASK { wd:Q1 wdt:P569 ?b FILTER(?b > '1952'^^xsd:dateTime && ?b < '1952-4-1T00:00:00'^^xsd:dateTime) }"),
        ["true"]
    );
    assert_eq!(ask("SELECT (YEAR(xsd:dateTime('1999-5')) AS ?y) (5 - 3 - 1 AS ?n) {}"), ["1999 1"]);
    assert_eq!(ask("SELECT ?y { BIND(YEAR(?b) AS ?y) wd:Q1 wdt:P569 ?b }"), ["1952"]);
}

#[test]
fn places_traversals_and_searches() {
    let around = "SELECT ?x (ROUND(?km * 10) AS ?r) { SERVICE wikibase:around { ?x wdt:P625 ?at .
        bd:serviceParam wikibase:center ?c ; wikibase:radius '5' ; wikibase:distance ?km } wd:Q1 wdt:P625 ?c } ORDER BY ?km";
    assert_eq!(ask(around), ["Q1 0", "Q2 9"]);
    let boxed = "SELECT ?x { SERVICE wikibase:box { ?x wdt:P625 ?at . bd:serviceParam wikibase:cornerWest 'Point(15 35)'^^geo:wktLiteral ;
        wikibase:cornerEast 'Point(16 36)'^^geo:wktLiteral } }";
    assert_eq!(ask(boxed), ["Q3"]);
    let gas = "SELECT ?x ?d ?p { SERVICE gas:service { gas:program gas:gasClass 'com.bigdata.rdf.graph.analytics.BFS' ; gas:in wd:Q1 ;
        gas:linkType wdt:P279 ; gas:traversalDirection 'Reverse' ; gas:out ?x ; gas:out1 ?d ; gas:out2 ?p } } ORDER BY ?d";
    assert_eq!(ask(gas), ["Q1 0 ", "Q2 1 Q1", "Q3 2 Q2"]);
    let search = "SELECT ?x { SERVICE wikibase:mwapi { bd:serviceParam wikibase:api 'EntitySearch' ; wikibase:endpoint 'www.wikidata.org' ;
        mwapi:search 'ON' ; mwapi:language 'en' . ?x wikibase:apiOutputItem mwapi:item } }";
    assert_eq!(ask(search), ["Q1"]);
    let sample =
        "SELECT (COUNT(*) AS ?n) { SERVICE bd:sample { ?x wdt:P31 wd:Q9 . bd:serviceParam bd:sample.limit 2 } }";
    assert_eq!(ask(sample), ["2"]);
}

#[test]
fn a_search_finds_the_best_known_item_first() {
    let search = |name: &str, more: &str, after: &str| {
        ask(&format!(
            "SELECT ?x {{ SERVICE wikibase:mwapi {{ bd:serviceParam wikibase:api 'EntitySearch' ; mwapi:search '{name}' ;
                mwapi:language 'en' {more} . ?x wikibase:apiOutputItem mwapi:item }} }} {after}"
        ))
    };
    // Labels come first, then aliases, then prefix matches; within each, entities with the most sitelinks come first.
    assert_eq!(search("lake", "", ""), ["Q71", "Q70", "Q72", "Q8"]);
    assert_eq!(search("lake", "", "LIMIT 1"), ["Q71"]);
    assert_eq!(search("lake", "", "ORDER BY DESC(?x) LIMIT 1"), ["Q8"]);
    assert_eq!(search("lake", "; mwapi:type 'property'", ""), ["P7"]);
    assert_eq!(search("lake", "; wikibase:limit 2", ""), ["Q71", "Q70"]);
    // Names with a small spelling difference come last; short texts must match exactly.
    assert_eq!(search("laek", "", ""), ["Q71", "Q70", "Q72"]);
    assert_eq!(search("lakelnd", "", ""), ["Q8"]);
    assert!(search("lak", "; mwapi:type 'lexeme'", "").is_empty());
    assert!(search("lek", "", "").is_empty());
}

#[test]
fn the_services_own_endpoints_are_this_snapshot() {
    for service in [
        "wdsubgraph:scholarly_articles",
        "wdsubgraph:wikidata_main",
        "<https://query.wikidata.org/sparql>",
        "<https://qlever.cs.uni-freiburg.de/api/wikidata>",
        "<https://qlever.dev/api/osm-planet>",
        "<https://query-main.wikidata.org/sparql>",
    ] {
        let query =
            format!("SELECT ?x ?xLabel {{ ?x wdt:P31 wd:Q9 SERVICE {service} {{ ?x wdt:P279 wd:Q1 }} {LABELS} }}");
        assert_eq!(ask(&query), ["Q2 zwei"], "{service}");
    }
}

#[test]
fn truth_values_are_keywords() {
    assert_eq!(ask("SELECT ?x { VALUES ?x { TRUE False true } FILTER(?x = True) }"), ["true", "true"]);
}

#[test]
fn ask_stops_at_the_first_solution() {
    let values = |name: &str| format!("VALUES ?{name} {{ {} }}", "1 2 3 4 5 6 7 8 9 10 ".repeat(30));
    let product = format!("{} {} {}", values("a"), values("b"), values("c"));
    let bounds = SparqlBounds { limits: Limits { work: Some(20_000), ..Limits::default() }, rows: None };
    for query in
        [format!("ASK {{ {product} }}"), format!("ASK {{ SELECT DISTINCT ?a ?b {{ {product} }} ORDER BY ?a }}")]
    {
        assert_eq!(bounded(&query, &bounds).unwrap(), ["true"], "{query}");
    }
}

#[test]
fn ask_makes_no_table_of_what_it_joins() {
    // Enough triples to make a hash table worthwhile if all solutions are needed.
    let data: String = (0..5000).map(|n| format!("<http://e/{n}> <http://e/p> <http://e/{}> .\n", n + 1)).collect();
    let environment = environment("x.ttl", &data);
    let run = |text: &str| {
        let bounds = SparqlBounds { limits: Limits { work: Some(4000), ..Limits::default() }, rows: None };
        let mut lines = ValueLines::new("");
        prepare(text, &SparqlSettings::default())?.run(&environment, &bounds, &mut lines)?;
        Ok::<_, SparqlError>(lines.lines)
    };
    assert_eq!(run("ASK { ?a ?p ?b . ?b ?q ?c . ?c ?r ?d }").unwrap(), ["true"]);
    assert_eq!(run("SELECT * { ?a ?p ?b . ?b ?q ?c . ?c ?r ?d }").unwrap_err().code.name(), "work");
}

#[test]
fn paths_are_walked_alike_from_everywhere_and_from_one_node() {
    // A cycle of 40 nodes, a path that leads into it, and a node with an edge to itself.
    let mut data: String = (0..40).map(|n| format!("wd:Q{n} wdt:P279 wd:Q{} .\n", (n + 1) % 40)).collect();
    data += "wd:Q100 wdt:P279 wd:Q101 . wd:Q101 wdt:P279 wd:Q5 . wd:Q200 wdt:P279 wd:Q200 . wd:Q3 wdt:P31 wd:Q100 .";
    let prefixes =
        "@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .";
    let environment = environment("x.ttl", &format!("{prefixes}\n{data}"));
    let count = |pattern: &str| {
        let text = format!("SELECT (COUNT(*) AS ?n) {{ {pattern} }}");
        let mut lines = ValueLines::new("");
        prepare(&text, &SparqlSettings::default())
            .unwrap()
            .run(&environment, &SparqlBounds::default(), &mut lines)
            .unwrap();
        lines.lines.join("")
    };
    assert_eq!(count("?x wdt:P279+ ?x"), "41");
    assert_eq!(count("?x (wdt:P279/wdt:P279)+ ?x"), "41");
    assert_eq!(count("?x (wdt:P279+/wdt:P31) ?x"), "1", "from Q100 by way of Q3");
    for path in ["wdt:P279+", "wdt:P279*", "(wdt:P279/wdt:P279)+", "(^wdt:P279|wdt:P31)+", "(wdt:P279/wdt:P31?)+"] {
        let apart = "{ SELECT DISTINCT ?x { { ?x ?p ?o } UNION { ?s ?p ?x } } }";
        assert_eq!(count(&format!("?x {path} ?y")), count(&format!("{apart} ?x {path} ?y")), "{path}");
    }
}

#[test]
fn a_path_without_steps_leads_every_term_of_the_query_to_itself() {
    let standard = |text: &str| {
        let settings = SparqlSettings { dialect: Dialect::Standard, ..SparqlSettings::default() };
        let mut lines = ValueLines::new("");
        let text = format!("{}{text}", declarations(text));
        prepare(&text, &settings).unwrap().run(&ENVIRONMENT, &SparqlBounds::default(), &mut lines).unwrap();
        lines.lines
    };
    assert_eq!(standard("SELECT ?x { wd:Q12345 wdt:P279* ?x }"), ["Q12345"]);
    assert_eq!(ask("SELECT ?x { wd:Q12345 wdt:P279* ?x }"), ["Q12345"]);
    assert_eq!(ask("SELECT ?x { ?x wdt:P279? 'none' }"), ["none"]);
    assert_eq!(ask("ASK { wd:Q12345 wdt:P279* wd:Q12345 }"), ["true"]);
    assert_eq!(standard("SELECT ?x { ?x (^wdt:P279|wdt:P31?) wd:Q12345 }"), ["Q12345"]);
    assert_eq!(standard("SELECT (1 AS ?one) { wd:Q12345 wdt:P279* wd:Q12345 }"), ["1"]);
    assert!(standard("SELECT ?x { wd:Q12345 wdt:P279+ ?x }").is_empty());
    assert!(standard("SELECT (1 AS ?one) { wd:Q12345 wdt:P279* wd:Q1 }").is_empty());
    // With two variables, a path of length zero applies only to nodes of the data; so does the node between two steps.
    assert!(standard("SELECT ?x { ?x (wdt:P279?/wdt:P31?) wd:Q12345 }").is_empty());
    assert!(standard("SELECT ?y { VALUES ?x { wd:Q12345 } ?x wdt:P279* ?y }").is_empty());
}

#[test]
fn times_are_compared_by_their_codes_as_the_evaluator_compares_them() {
    let times = ["1952-03-11T00:00:00Z", "1952-03-11T01:00:00+01:00", "1952-03-11T00:00:00", "1952-02-29T00:00:00Z"];
    let odd = ["-0044-03-15T00:00:00Z", "0000-01-01T00:00:00Z", "-0001-12-31T23:59:59Z", "12000-01-01T00:00:00Z"];
    let mut values: String = times.iter().chain(&odd).map(|time| format!("'{time}'^^xsd:dateTime ")).collect();
    values += "'1952-03-11'^^xsd:date 1952 '1952' wd:Q1952";
    let mut same = 0;
    for operator in ["=", "!=", "<", "<=", ">", ">="] {
        for right in ["'1952-03-11T00:00:00Z'^^xsd:dateTime", "'-0044-03-15T00:00:00Z'^^xsd:dateTime", "?e", "NOW()"] {
            let pattern = format!("VALUES ?d {{ {values} }} VALUES ?e {{ {values} }} FILTER(?d {operator} {right})");
            let ours = ask(&format!("SELECT ?d ?e {{ {pattern} }} ORDER BY ?d ?e"));
            // The comparison with COALESCE is evaluated by the library.
            let pattern = pattern.replace("FILTER(?d", "FILTER(COALESCE(?d)");
            let theirs = ask(&format!("SELECT ?d ?e {{ {pattern} }} ORDER BY ?d ?e"));
            assert_eq!(ours, theirs, "{operator} {right}");
            same += ours.len();
        }
    }
    assert!(same > 100, "{same}");
}

#[test]
fn a_minus_of_nothing_is_not_solved() {
    let values = |name: &str| format!("VALUES ?{name} {{ {} }}", "1 2 3 4 5 6 7 8 9 10 ".repeat(30));
    let product = format!("{} {} {}", values("a"), values("b"), values("c"));
    let bounds = SparqlBounds { limits: Limits { work: Some(20_000), ..Limits::default() }, rows: None };
    let query = format!("SELECT ?a {{ ?a wdt:P31 wd:Q404 MINUS {{ {product} }} }}");
    assert!(bounded(&query, &bounds).unwrap().is_empty());
}

#[test]
fn only_literals_have_an_order() {
    for operator in ["<=", ">=", "<", ">"] {
        let ask_of = |condition: &str| ask(&format!("SELECT ?x {{ ?x wdt:P31 wd:Q9 . ?x wdt:P31 ?y {condition} }}"));
        assert!(ask_of(&format!("FILTER(?x {operator} ?x)")).is_empty(), "{operator}");
        assert!(ask_of(&format!("FILTER(COALESCE(?x {operator} ?x, false))")).is_empty(), "{operator}");
    }
    assert_eq!(
        ask("SELECT ?n { VALUES (?n ?m) { (1 1) (2 1) ('a' 'b') ('a' 'a') } FILTER(?n <= ?m) }"),
        ["1", "a", "a"]
    );
}

/// SPARQL 1.1, 19.8 (grammar) and 18.2.4: groups in every query form, and the groups that HAVING keeps.
#[test]
fn every_form_may_have_groups() {
    assert_eq!(ask("ASK { ?x wdt:P31 ?c } GROUP BY ?c HAVING (COUNT(?x) > 2)"), ["true"]);
    assert_eq!(ask("ASK { ?x wdt:P31 ?c } GROUP BY ?c HAVING (COUNT(?x) > 3)"), ["false"]);
    // Without GROUP BY all solutions are one group, even if there is no solution.
    assert_eq!(ask("ASK { ?x wdt:P31 wd:Q404 } HAVING (COUNT(*) = 0)"), ["true"]);
    assert_eq!(ask("ASK { ?x wdt:P31 ?c } GROUP BY ?c LIMIT 0"), ["false"]);
    assert_eq!(ask("ASK { ?x wdt:P31 ?c } OFFSET 2"), ["true"]);
    assert_eq!(ask("ASK { ?x wdt:P31 ?c } OFFSET 3"), ["false"]);
    let triple = |s: &str, o: &str| {
        format!("<http://www.wikidata.org/entity/{s}> <http://e/of> <http://www.wikidata.org/entity/{o}>")
    };
    let count = "\"3\"^^<http://www.w3.org/2001/XMLSchema#integer>";
    let mut found = ask(
        "CONSTRUCT { ?c <http://e/of> ?c ; <http://e/lost> ?x } { ?x wdt:P31 ?c } GROUP BY ?c HAVING (COUNT(?x) = 3)",
    );
    found.sort();
    assert_eq!(found, [triple("Q9", "Q9")], "a variable that is not grouped has no value");
    let found = ask(
        "CONSTRUCT { ?c <http://e/n> ?n } { { SELECT ?c (COUNT(*) AS ?n) { ?x wdt:P31 ?c } GROUP BY ?c } } GROUP BY ?c ?n",
    );
    assert_eq!(found, [format!("<http://www.wikidata.org/entity/Q9> <http://e/n> {count}")]);
    let said = ask("DESCRIBE ?y { ?x wdt:P279 ?y } GROUP BY ?y HAVING (SAMPLE(?x) = wd:Q2)");
    assert!(!said.is_empty() && said.iter().all(|triple| triple.contains("entity/Q1> ")), "{said:?}");
    let all = ask("DESCRIBE * { ?x wdt:P279 ?y } GROUP BY ?y HAVING (SAMPLE(?x) = wd:Q2)");
    assert_eq!(all, said, "the aggregate of HAVING is not described");
}

/// Globes by Wikidata's manual: `wikibase:globe` is the globe to search, by default Earth (Q2).
#[test]
fn places_are_searched_on_one_globe() {
    let environment = environment(
        "x.ttl",
        r#"
        @prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
        @prefix geo: <http://www.opengis.net/ont/geosparql#> .
        wd:Q10 wdt:P625 "Point(14.5 35.9)"^^geo:wktLiteral . wd:Q11 wdt:P625 "<http://www.wikidata.org/entity/Q405> Point(14.5 35.9)"^^geo:wktLiteral .
        wd:Q12 wdt:P625 "<http://www.wikidata.org/entity/Q405> Point(15.5 35.9)"^^geo:wktLiteral .
        wd:Q13 wdt:P625 "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(14.51 35.9)"^^geo:wktLiteral .
        wd:Q14 wdt:P625 "<http://www.wikidata.org/entity/Q12345> Point(14.5 35.9)"^^geo:wktLiteral .
        "#,
    );
    let ask = |text: &str| {
        let mut lines = ValueLines::new("");
        prepare(text, &SparqlSettings::default())
            .unwrap()
            .run(&environment, &SparqlBounds::default(), &mut lines)
            .unwrap();
        lines.lines
    };
    let around = |centre: &str, radius: &str, globe: &str| {
        ask(&format!(
            "SELECT ?x (ROUND(?km * 10) AS ?r) {{ SERVICE wikibase:around {{ ?x wdt:P625 ?at . bd:serviceParam wikibase:center {centre} ;
              wikibase:radius '{radius}' ; wikibase:distance ?km . {globe} }} }} ORDER BY ?x"
        ))
    };
    let (plain, moon) = ("'Point(14.5 35.9)'^^geo:wktLiteral", "bd:serviceParam wikibase:globe wd:Q405 .");
    assert_eq!(around(plain, "100", ""), ["Q10 0", "Q13 9"]);
    assert_eq!(around(plain, "100", "bd:serviceParam wikibase:globe wd:Q2 ."), ["Q10 0", "Q13 9"]);
    // A degree of the parallel is 90.07 km on Earth and 24.56 km on the Moon, with a radius of 1737.4 km.
    assert_eq!(around(plain, "30", moon), ["Q11 0", "Q12 246"]);
    assert_eq!(around(plain, "20", moon), ["Q11 0"]);
    assert_eq!(
        around("'<http://www.wikidata.org/entity/Q405> Point(14.5 35.9)'^^geo:wktLiteral", "30", ""),
        ["Q11 0", "Q12 246"]
    );
    assert_eq!(
        around(
            "?c",
            "30",
            "bd:serviceParam wikibase:globe ?g . } VALUES (?c ?g) { ('Point(14.5 35.9)'^^geo:wktLiteral wd:Q405)"
        ),
        ["Q11 0", "Q12 246"]
    );
    let boxed = |globe: &str| {
        ask(&format!(
            "SELECT ?x {{ SERVICE wikibase:box {{ ?x wdt:P625 ?at . bd:serviceParam wikibase:cornerWest 'Point(14 35)'^^geo:wktLiteral ;
              wikibase:cornerEast 'Point(16 36)'^^geo:wktLiteral . {globe} }} }} ORDER BY ?x"
        ))
    };
    assert_eq!(boxed(""), ["Q10", "Q13"]);
    assert_eq!(boxed(moon), ["Q11", "Q12"]);
    assert_eq!(boxed("bd:serviceParam wikibase:globe wd:Q12345 ."), ["Q14"]);
    let crs = "'<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(14.5 35.9)'^^geo:wktLiteral";
    assert_eq!(ask(&format!("SELECT (geof:distance({crs}, {plain}) AS ?d) {{}}")), ["0"]);
    let wrong = "SELECT * { SERVICE wikibase:box { ?x wdt:P625 ?at . bd:serviceParam wikibase:cornerWest 'Point(14 35)'^^geo:wktLiteral ;
              wikibase:cornerEast 'Point(16 36)'^^geo:wktLiteral ; wikibase:globe 'Moon' } }";
    assert_eq!(prepare(wrong, &SparqlSettings::default()).unwrap_err().code.name(), "service-parameter");
}

#[test]
fn what_is_missing_is_found_before_running() {
    let code = |text: &str| bounded(text, &SparqlBounds::default()).map_err(|error| error.code.name());
    assert_eq!(code("SELECT * { SERVICE <http://dbpedia.org/sparql> { ?s ?p ?o } }"), Err("live-service"));
    assert_eq!(code("SELECT * { SERVICE SILENT <http://dbpedia.org/sparql> { ?s ?p ?o } }"), Ok(vec!["  ".to_owned()]));
    assert_eq!(code("SELECT * { SERVICE wikibase:nothing { } }"), Err("unknown-service"));
    assert_eq!(code("SELECT (<http://example.org/f>(1) AS ?x) {}"), Err("unknown-function"));
}

#[test]
fn bounds_hold_where_no_triple_is_read() {
    let values =
        |name: &str| format!("VALUES ?{name} {{ {} }}", (0..300).map(|n| n.to_string() + " ").collect::<String>());
    let product = format!("SELECT (COUNT(*) AS ?n) {{ {} {} {} }}", values("a"), values("b"), values("c"));
    let start = Instant::now();
    let limits = Limits { deadline: Some(start + Duration::from_millis(100)), ..Limits::default() };
    let error = bounded(&product, &SparqlBounds { limits, rows: None }).unwrap_err();
    assert_eq!(error.code.name(), "timeout");
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    let rows = SparqlBounds { rows: Some(2), ..SparqlBounds::default() };
    assert_eq!(bounded("SELECT * { ?x wdt:P31 ?y }", &rows).unwrap_err().code.name(), "rows");
    let limits = Limits { work: Some(1), ..Limits::default() };
    assert_eq!(bounded("SELECT * { ?x ?p ?y }", &SparqlBounds { limits, rows: None }).unwrap_err().code.name(), "work");
    let limits = Limits { memory: Some(100_000), ..Limits::default() };
    let sorted = format!("SELECT * {{ {} {} }} ORDER BY ?a", values("a"), values("b"));
    assert_eq!(bounded(&sorted, &SparqlBounds { limits, rows: None }).unwrap_err().code.name(), "memory");
}

#[test]
fn random_values_are_the_same_every_time() {
    let query = "SELECT (RAND() AS ?r) (STRUUID() AS ?u) (BNODE() AS ?b) (NOW() AS ?n) { ?x wdt:P31 [] }";
    let first = ask(query);
    assert_eq!(first, ask(query));
    assert_ne!(first[0], first[1]);
}

#[test]
fn generated_orders_over_mixed_values_never_panic() {
    let count = if cfg!(debug_assertions) { 300 } else { 10_000 };
    let mut seed = 7_u32;
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    for _ in 0..count {
        let mut values = String::new();
        for _ in 0..60 {
            let n = next(40);
            values.push_str(&match next(10) {
                0 => format!("{n} "),
                1 => format!("{n}.5 "),
                2 => format!("{n}e{} ", next(300)),
                3 => format!("'{n}'@en "),
                4 => format!("'{n}' "),
                5 => format!("'{}-01-01T00:00:00{}'^^xsd:dateTime ", 1000 + n, ["", "Z", "+14:00"][next(3) as usize]),
                6 => format!("'{}'^^xsd:float ", ["NaN", "INF", "-INF", "-0"][next(4) as usize]),
                7 => format!("'P{n}D'^^xsd:duration "),
                8 => format!("wd:Q{n} "),
                _ => ["UNDEF ", "true ", "'x'^^<urn:t> ", "'2001-01-01'^^xsd:date "][next(4) as usize].to_owned(),
            });
        }
        let text = format!("SELECT ?v {{ VALUES ?v {{ {values} }} }} ORDER BY DESC(?v) STR(?v)");
        assert_eq!(ask(&text).len(), 60);
    }
}

#[test]
fn labels_for_identifiers_and_back() {
    let store = &ENVIRONMENT.store;
    let query = "# wd:Q1\nSELECT ?x { ?x wdt:P279*/wdt:P31 wd:Q1 ; wdt:P279 wd:Q2, <http://x/Q1>, 'wd:Q1', ex:Q1 }";
    let labelled = label(query, store, "en");
    let expected = query.replace(" wd:Q1", " wd:[entity:one]").replace("wd:Q2", "wd:[entity:zwei]");
    assert_eq!(labelled.text, expected.replacen("wd:[entity:one]", "wd:Q1", 1));
    assert_eq!((labelled.replaced, labelled.kept), (2, vec!["P279".to_owned(), "P31".to_owned(), "P279".to_owned()]));
    let names = SnapshotNames { store, language: "en" };
    assert_eq!(unlabel(&labelled.text, &names).text, query);
    let found = |name: &str| {
        let unlabelled = unlabel(&format!("wd:[entity:{name}]"), &names);
        let name = &unlabelled.names[0];
        name.chosen().map(|c| (c.id.clone(), c.found, name.is_ambiguous()))
    };
    assert_eq!(found("one"), Some(("Q1".to_owned(), NameMatchKind::Label, false)));
    assert_eq!(found("1"), Some(("Q1".to_owned(), NameMatchKind::Alias, false)));
    assert_eq!(found("EINS"), Some(("Q1".to_owned(), NameMatchKind::Case, false)));
    assert_eq!(found("zw"), Some(("Q2".to_owned(), NameMatchKind::Prefix, false)));
    // Q1 has the names "one" and "eins"; both contain "e".
    assert_eq!(found("ei"), Some(("Q1".to_owned(), NameMatchKind::Prefix, false)));
    assert_eq!(found("w e"), Some(("Q2".to_owned(), NameMatchKind::Words, false)));
    assert_eq!(found("i"), Some(("Q1".to_owned(), NameMatchKind::Case, false)));
    assert_eq!(found("nothing"), None);
    assert_eq!(unlabel("wd:[entity:nothing]", &names).text, "wd:[entity:nothing]");
}

#[test]
fn names_of_ours_mean_nothing_in_a_text() {
    let told = "(isBlank(?b) AS ?blank) (isIRI(?i) AS ?iri) (STR(?i) AS ?text)";
    let iri = "{ SELECT (BNODE() AS ?b) {} LIMIT 1 } VALUES ?i { <urn:terrapin:blank:x> }";
    // With a constant and with a computed value.
    assert_eq!(ask(&format!("SELECT {told} {{ {iri} }}")), ["true true urn:terrapin:blank:x"]);
    assert_eq!(ask(&format!("SELECT REDUCED {told} {{ {iri} }}")), ["true true urn:terrapin:blank:x"]);
    let calculated = "BIND(IRI(CONCAT('urn:terrapin:', 'blank:x')) AS ?i) BIND(BNODE() AS ?b)";
    assert_eq!(ask(&format!("SELECT {told} {{ {calculated} }}")), ["true true urn:terrapin:blank:x"]);
    assert_eq!(ask("ASK { wd:Q3 wdt:P279+ wd:Q1 . wd:Q3 <urn:terrapin:path:0> wd:Q1 }"), ["false"]);
}

#[test]
fn every_pattern_is_explained_by_its_own_steps() {
    for (text, step) in [
        ("SELECT * { ?x wdt:P31 ?y }", "solution  ["),
        ("SELECT REDUCED ?x { ?x wdt:P31 ?y }", "solution  ["),
        ("SELECT * { GRAPH ?g { ?x wdt:P31 ?y } }", "?g = "),
        ("SELECT (COUNT(DISTINCT *) AS ?n) { ?x wdt:P31 ?y }", "group  ["),
        ("SELECT (BNODE() AS ?b) { ?x wdt:P31 ?y }", "bind ?b"),
        ("SELECT (EXISTS { ?x wdt:P279 [] } AS ?is) { ?x wdt:P31 ?y }", "exists (the steps above)"),
        (
            "SELECT * { ?x wdt:P31 ?y FILTER EXISTS { { SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P279 ?z } GROUP BY ?x } } }",
            "filter exists (the steps above)",
        ),
        ("DESCRIBE ?x { ?x wdt:P31 ?y }", "solution  ["),
    ] {
        let prepared = prepare(text, &SparqlSettings::default()).unwrap();
        let told = prepared.explain(&ENVIRONMENT, &SparqlBounds::default()).unwrap();
        assert!(told.contains(step), "{text}\n{told}");
    }
}
