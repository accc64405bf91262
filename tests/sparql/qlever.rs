//! Tests QLever's dialect over a few triples, and the texts that two dialects read differently. Expected values follow
//! QLever's documentation (<https://docs.qlever.dev>).

use std::sync::LazyLock;

use crate::common::triples::{ValueLines, environment};
use terrapin::sparql::{Dialect, Environment, SparqlBounds, SparqlError, SparqlSettings, prepare, translate};

const DATA: &str = r#"
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix geo: <http://www.opengis.net/ont/geosparql#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
wd:Q1 rdfs:label "moon walk"@en, "Mondspaziergang"@de ; wdt:P2046 1 ; wdt:P31 wd:Q9 ;
  wdt:P625 "Point(14.50 35.90)"^^geo:wktLiteral .
wd:Q2 rdfs:label "walking on the moon"@en ; wdt:P2046 3 ; wdt:P31 wd:Q9, wd:Q8 ;
  wdt:P625 "Point(14.51 35.90)"^^geo:wktLiteral .
wd:Q3 rdfs:label "sun"@en ; wdt:P2046 4 ; wdt:P625 "Point(14.60 35.90)"^^geo:wktLiteral .
wd:Q11 wdt:P279 wd:Q12 . wd:Q12 wdt:P279 wd:Q13 . wd:Q11 wdt:P279 wd:Q14 . wd:Q14 wdt:P279 wd:Q13 .
wd:Q13 wdt:P279 wd:Q11 .
"#;

static ENVIRONMENT: LazyLock<Environment> = LazyLock::new(|| environment("x.ttl", DATA));

fn try_run(text: &str, dialect: Dialect) -> Result<Vec<String>, SparqlError> {
    let settings = SparqlSettings { dialect, ..SparqlSettings::default() };
    let mut lines = ValueLines::new("-");
    prepare(text, &settings)?.run(&ENVIRONMENT, &SparqlBounds::default(), &mut lines)?;
    Ok(lines.lines)
}

#[track_caller]
fn run(text: &str, dialect: Dialect) -> Vec<String> {
    try_run(text, dialect).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Runs a query in QLever's dialect, which is also detected.
#[track_caller]
fn ask(text: &str) -> Vec<String> {
    let rows = run(text, Dialect::Auto);
    assert_eq!(run(text, Dialect::Qlever), rows, "{text}");
    rows
}

#[track_caller]
fn refused(text: &str, dialect: Dialect) -> String {
    try_run(text, dialect).unwrap_err().to_string()
}

#[test]
fn named_subqueries_stand_in_front_of_the_query() {
    let text = "WITH %sized AS { ?x wdt:P2046 ?area }
        SELECT ?x (100 * ?area / ?all AS ?share) {
          { SELECT ?x ?area { INCLUDE %sized } } { SELECT (SUM(?area) AS ?all) { INCLUDE %sized } } } ORDER BY ?x";
    assert_eq!(ask(text), ["Q1 12.5", "Q2 37.5", "Q3 50"]);
    assert!(refused(text, Dialect::Wdqs).contains("QLever's form of a named subquery"));
    assert!(refused(text, Dialect::Standard).contains("line 1, column 1"));
    let renamed = "WITH %a AS { ?x wdt:P31 ?c } WITH %b AS { { SELECT ?x { INCLUDE %a } } ?x wdt:P2046 ?n }
        SELECT ?y ?n { { SELECT (?x AS ?y) ?n { INCLUDE %b } } } ORDER BY ?y";
    assert_eq!(ask(renamed), ["Q1 1", "Q2 3", "Q2 3"]);
    // An INCLUDE must show its variables.
    let whole = "WITH %a AS { ?x wdt:P31 ?c } SELECT ?x { INCLUDE %a }";
    assert!(refused(whole, Dialect::Auto).contains("the whole body of a subquery"));
    let star = "WITH %a AS { ?x wdt:P31 ?c } SELECT ?x { { SELECT * { INCLUDE %a } } }";
    assert!(refused(star, Dialect::Auto).contains("the whole body of a subquery"));
    assert!(
        refused("WITH %a AS { ?x ?p ?o } SELECT ?x { { SELECT ?x { INCLUDE %b } } }", Dialect::Auto).contains("%b")
    );
    // The form of the Wikidata Query Service is refused with its name.
    let theirs = "SELECT ?x WITH { SELECT ?x { ?x wdt:P2046 3 } } AS %a { INCLUDE %a }";
    assert_eq!(run(theirs, Dialect::Auto), ["Q2"]);
    assert!(refused(theirs, Dialect::Qlever).contains("the dialect wdqs accepts it"));
}

#[test]
fn texts_are_literals_with_all_words() {
    assert_eq!(
        ask("SELECT ?t { ?t ql:contains-word \"Moon walk*\" } ORDER BY ?t"),
        ["moon walk", "walking on the moon"]
    );
    assert_eq!(ask("SELECT ?t { ?t ql:contains-word \"moon walk\" }"), ["moon walk"]);
    assert_eq!(
        ask("SELECT ?x ?w { ?x rdfs:label ?n . ?t ql:contains-entity ?n . ?t ql:contains-word \"walk*\" .
             BIND(?ql_matchingword_t_walk AS ?w) } ORDER BY ?x"),
        ["Q1 walk", "Q2 walking"]
    );
    let service = "SELECT ?t ?m { SERVICE textSearch: { ?t textSearch:contains [ textSearch:word \"walk*\" ;
        textSearch:prefix-match ?m ] . ?t textSearch:contains [ textSearch:word \"moon\" ] } } ORDER BY ?t";
    assert_eq!(ask(service), ["moon walk walk", "walking on the moon walking"]);
    // A word without letters is no word; a repeated one counts once.
    assert_eq!(ask("SELECT ?t { ?t ql:contains-word \"moon - walk* walk*\" }").len(), 2);
    assert!(refused("SELECT ?t { ?t ql:contains-word \"the *\" }", Dialect::Auto).contains("before '*'"));
    let mentions = "SELECT ?t { ?x wdt:P31 wd:Q9 . ?t ql:contains-entity ?x . ?t ql:contains-word \"moon\" }";
    assert!(refused(mentions, Dialect::Auto).contains("mention none"));
    let score =
        "SELECT ?t { SERVICE textSearch: { ?t textSearch:contains [ textSearch:word \"a\" ; textSearch:score ?s ] } }";
    assert!(refused(score, Dialect::Auto).contains("no scores"));
}

#[test]
fn has_predicate_gives_each_pair_once() {
    let count = |pattern: &str| ask(&format!("SELECT (COUNT(*) AS ?n) {{ {pattern} }}")).join("");
    assert_eq!(count("wd:Q2 ql:has-predicate ?p"), "4");
    assert_eq!(count("?x ql:has-predicate wdt:P31"), "2");
    assert_eq!(count("wd:Q2 ql:has-predicate wdt:P31"), "1");
    let all = run("SELECT (COUNT(*) AS ?n) { SELECT DISTINCT ?s ?p { ?s ?p ?o } }", Dialect::Standard).join("");
    assert_eq!(count("?x ql:has-predicate ?p"), all);
    assert_eq!(count("?x wdt:P31 wd:Q9 . ?x ql:has-predicate ?p"), "8");
}

#[test]
fn predicates_have_languages_and_paths_lengths() {
    assert_eq!(ask("SELECT ?l { wd:Q1 @de@rdfs:label ?l }"), ["Mondspaziergang"]);
    assert_eq!(ask("SELECT ?x { ?x @en@<http://www.w3.org/2000/01/rdf-schema#label> 'sun'@en }"), ["Q3"]);
    assert_eq!(ask("SELECT ?x ?l { ?x wdt:P2046 4 OPTIONAL { ?x @de@rdfs:label ?l } }"), ["Q3 -"]);
    let reached = |length: &str| ask(&format!("SELECT DISTINCT ?y {{ wd:Q11 wdt:P279{length} ?y }} ORDER BY ?y"));
    assert_eq!(reached("{1}"), ["Q12", "Q14"]);
    assert_eq!(reached("{2}"), ["Q13"]);
    assert_eq!(reached("{1,2}"), ["Q12", "Q13", "Q14"]);
    assert_eq!(reached("{,1}"), ["Q11", "Q12", "Q14"]);
    assert_eq!(reached("{3,}"), ["Q11", "Q12", "Q13", "Q14"]);
    assert!(refused("SELECT ?y { ?x wdt:P279{2,1} ?y }", Dialect::Auto).contains("at most fewer"));
    assert_eq!(
        ask("PREFIX r: <http://www.w3.org/2000/01/rdf-schema#> WITH %a AS { wd:Q1 @de@r:label ?l }
             SELECT ?l { { SELECT ?l { INCLUDE %a } } }"),
        ["Mondspaziergang"]
    );
    assert!(refused("SELECT ?x { ?x @de@rdfs:label 'sun'@en }", Dialect::Auto).contains("never has the language de"));
    let path = refused("SELECT ?p { wd:Q1 ql:has-predicate+ ?p }", Dialect::Auto);
    assert!(path.contains("cannot be part of a path"), "{path}");
    let path = refused("SELECT ?p { ?a (wdt:P625|<max-distance-in-meters:5>)* ?p }", Dialect::Auto);
    assert!(path.contains("cannot be part of a path"), "{path}");
    // The rows of a VALUES are no length.
    assert_eq!(run("SELECT ?x { VALUES ?n { 4 } ?x wdt:P2046 ?n }", Dialect::Auto), ["Q3"]);
}

#[test]
fn paths_are_found_with_their_edges() {
    let search = |more: &str| {
        ask(&format!(
            "SELECT ?start ?end ?path ?edge {{ SERVICE pathSearch: {{
               _:p pathSearch:algorithm pathSearch:allPaths ; pathSearch:source wd:Q11 ; pathSearch:pathColumn ?path ;
                   pathSearch:edgeColumn ?edge ; pathSearch:start ?start ; pathSearch:end ?end {more} .
               {{ SELECT * {{ ?start wdt:P279 ?end }} }} }} }} ORDER BY ?path ?edge"
        ))
    };
    assert_eq!(search("; pathSearch:target wd:Q13"), ["Q11 Q12 0 0", "Q12 Q13 0 1", "Q11 Q14 1 0", "Q14 Q13 1 1"]);
    assert_eq!(search("; pathSearch:target wd:Q13 ; pathSearch:numPathsPerTarget 1"), ["Q11 Q12 0 0", "Q12 Q13 0 1"]);
    assert_eq!(search("; pathSearch:maxDepth 1"), ["Q11 Q12 0 0", "Q11 Q14 1 0"]);
    let targets = "SELECT ?t (COUNT(DISTINCT ?path) AS ?n) { VALUES ?t { wd:Q12 wd:Q13 } SERVICE pathSearch: {
        _:p pathSearch:source wd:Q11 ; pathSearch:target ?t ; pathSearch:pathColumn ?path ; pathSearch:edgeColumn ?edge ;
            pathSearch:start ?a ; pathSearch:end ?b . ?a wdt:P279 ?b } } GROUP BY ?t ORDER BY ?t";
    assert_eq!(ask(targets), ["Q12 1", "Q13 2"]);
    let missing =
        "SELECT * { SERVICE pathSearch: { _:p pathSearch:source wd:Q11 ; pathSearch:start ?a . ?a wdt:P279 ?b } }";
    assert!(refused(missing, Dialect::Auto).contains("needs the parameter end"));
    let wrong = |parameters: &str| {
        let text = format!(
            "SELECT * {{ SERVICE pathSearch: {{ _:p pathSearch:pathColumn ?path ; pathSearch:edgeColumn ?edge ;
               {parameters} . ?a wdt:P279 ?b }} }}"
        );
        refused(&text, Dialect::Auto)
    };
    assert!(wrong("pathSearch:start ?start ; pathSearch:end ?b").contains("needs ?start in the pattern of the edges"));
    let twice = wrong("pathSearch:start ?a ; pathSearch:end ?b ; pathSearch:source ?a");
    assert!(twice.contains("has the variable ?a for two parameters"), "{twice}");
    let pairs = wrong(
        "pathSearch:start ?a ; pathSearch:end ?b ; pathSearch:cartesian false ; pathSearch:source wd:Q11, wd:Q12 ;
         pathSearch:target wd:Q11, wd:Q12, wd:Q13",
    );
    assert!(pairs.contains("2 sources and 3 targets"), "{pairs}");
}

#[test]
fn places_are_near_or_nearest() {
    let search = |parameters: &str, columns: &str| {
        ask(&format!(
            "SELECT {columns} {{ wd:Q1 wdt:P625 ?l . SERVICE spatialSearch: {{
               _:c spatialSearch:left ?l ; spatialSearch:right ?r ; {parameters} .
               {{ ?x wdt:P625 ?r ; wdt:P2046 ?n }} }} }} ORDER BY ?x ?n"
        ))
    };
    assert_eq!(search("spatialSearch:maxDistance 1000 ; spatialSearch:payload ?x", "?x ?n"), ["Q1 -", "Q2 -"]);
    assert_eq!(
        search("spatialSearch:maxDistance 1000 ; spatialSearch:payload spatialSearch:all", "?x ?n"),
        ["Q1 1", "Q2 3"]
    );
    assert_eq!(search("spatialSearch:numNearestNeighbors 2 ; spatialSearch:payload ?x", "?x"), ["Q1", "Q2"]);
    let kilometres =
        search("spatialSearch:numNearestNeighbors 3 ; spatialSearch:bindDistance ?d", "(ROUND(?d) AS ?km)");
    assert_eq!(kilometres, ["0", "1", "9"]);
    let each = "SELECT (COUNT(*) AS ?n) { ?a wdt:P625 ?l . SERVICE spatialSearch: { _:c spatialSearch:left ?l ;
        spatialSearch:right ?r ; spatialSearch:numNearestNeighbors 2 . { ?b wdt:P625 ?r } } }";
    assert_eq!(ask(each), ["6"]);
    // Each of the two nearest searches has a distance of its own.
    let two = "SELECT (COUNT(*) AS ?n) { ?a wdt:P625 ?l . SERVICE spatialSearch: { _:c spatialSearch:left ?l ;
        spatialSearch:right ?r ; spatialSearch:numNearestNeighbors 2 . { ?b wdt:P625 ?r } } SERVICE spatialSearch: {
        _:d spatialSearch:left ?l ; spatialSearch:right ?q ; spatialSearch:numNearestNeighbors 3 . { ?c wdt:P625 ?q } } }";
    assert_eq!(ask(two), ["18"]);
    let before = "SELECT * { SERVICE spatialSearch: { _:c spatialSearch:left ?l ; spatialSearch:right ?r ;
        spatialSearch:numNearestNeighbors 2 . { ?b wdt:P625 ?r } } ?a wdt:P625 ?l }";
    assert!(
        refused(before, Dialect::Auto).contains("follows, in its group, the patterns that bind the left variable ?l")
    );
    let join = |parameters: &str| {
        let text = format!(
            "SELECT * {{ ?a wdt:P625 ?l . ?b wdt:P625 ?r SERVICE spatialSearch: {{
               _:c spatialSearch:left ?l ; spatialSearch:right ?r ; spatialSearch:joinType spatialSearch:de9im {parameters} }} }}"
        );
        try_run(&text, Dialect::Auto).map(|rows| rows.len()).map_err(|error| error.to_string())
    };
    assert!(join("").unwrap_err().contains("needs de9imFilter"));
    assert!(join("; spatialSearch:de9imFilter 'TTT'").unwrap_err().contains("nine of the characters"));
    // The matrix of "equals" in the OGC's Simple Features.
    assert_eq!(join("; spatialSearch:de9imFilter 't*f**fff*'"), Ok(3));
    assert_eq!(ask("SELECT ?b { wd:Q3 wdt:P625 ?l . ?l <max-distance-in-meters:100> ?r . ?b wdt:P625 ?r }"), ["Q3"]);
}

#[test]
fn functions_and_aggregates() {
    let row = "SELECT (math:pow(2, 3) AS ?a) (ql:toEpoch('1970-01-01T00:02:00Z'^^xsd:dateTime) AS ?b)
        (xsd:int('7') AS ?c) (geof:length('LINESTRING(0 0,1 0)'^^geo:wktLiteral, unit:KiloM) AS ?d) {}";
    assert!(ask(row)[0].starts_with("8 120 7 111.19"));
    // 1, 3 and 4 have the mean 8/3 and the sum of squares 14/3.
    let deviation = ask("SELECT (STDEV(?n) AS ?d) { ?x wdt:P2046 ?n }").join("");
    assert!((deviation.parse::<f64>().unwrap() - (7.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{deviation}");
    assert_eq!(ask("SELECT ?x { ?x wdt:P2046 ?n } INTERNAL SORT BY ?n LIMIT 1 TEXTLIMIT 1"), ["Q1"]);
}

#[test]
fn what_a_snapshot_lacks_is_refused_by_name() {
    let view = "SELECT ?s { SERVICE view:geometries { [ view:column-subject ?s ] } }";
    assert!(refused(view, Dialect::Auto).contains("no materialized view 'geometries'"));
    assert!(refused("SELECT ?s { ?s view:geometries-area ?a }", Dialect::Auto).contains("materialized view"));
    let cached = "SELECT ?s { SERVICE ql:cached-result-with-name-x {} }";
    assert!(refused(cached, Dialect::Auto).contains("no cached results"));
    assert!(refused("SELECT ?s { ?s ql:has-pattern ?p }", Dialect::Auto).contains("internal to QLever"));
    let labels = "SELECT ?x ?xLabel { ?x ql:has-predicate wdt:P31 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }";
    assert!(refused(labels, Dialect::Auto).contains("the label service belongs to the Wikidata Query Service"));
}

/// The table "One text, two meanings" of `docs/reference/qlever.md`.
#[test]
fn one_text_two_meanings() {
    let [wdqs, qlever] = [Dialect::Wdqs, Dialect::Qlever];
    let days = "SELECT ('2020-03-13'^^xsd:date - '2019-12-31'^^xsd:date AS ?d) {}";
    assert_eq!((run(days, wdqs), run(days, qlever)), (vec!["73".to_owned()], vec!["P73D".to_owned()]));
    let outside = "SELECT ?x ?l { ?x wdt:P2046 ?n OPTIONAL { ?x rdfs:label ?l FILTER(?n > 3) } } ORDER BY ?x ?l";
    assert_eq!(run(outside, wdqs), ["Q1 -", "Q2 -", "Q3 sun"]);
    assert_eq!(run(outside, qlever), ["Q1 -", "Q2 -", "Q3 -"]);
    let exists = "SELECT ?x { ?x wdt:P2046 ?n FILTER EXISTS { ?x rdfs:label ?l FILTER(?n > 3) } }";
    assert_eq!((run(exists, wdqs), run(exists, qlever).len()), (vec!["Q3".to_owned()], 0));
    let order = "SELECT ?x { ?x wdt:P2046 ?n FILTER(?x < wd:Q2) }";
    assert_eq!((run(order, wdqs).len(), run(order, qlever)), (0, vec!["Q1".to_owned()]));
    let bind = "SELECT ?m { BIND(?n + 1 AS ?m) wd:Q1 wdt:P2046 ?n }";
    assert_eq!((run(bind, wdqs), run(bind, qlever)), (vec!["2".to_owned()], vec!["-".to_owned()]));
    for text in [
        "SELECT ?x ?n (COUNT(*) AS ?c) { ?x wdt:P2046 ?n } GROUP BY ?x",
        "SELECT (1 AS ?x) { ?x wdt:P2046 ?n }",
        "SELECT ?x { ?x wdt:P2046 ?n BIND(3 AS ?n) }",
    ] {
        assert!(try_run(text, wdqs).is_ok() && try_run(text, qlever).is_err(), "{text}");
    }
    let labels = "SELECT ?xLabel { ?x wdt:P2046 4 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }";
    assert_eq!(run(labels, wdqs), ["sun"]);
    assert!(refused(labels, qlever).contains("label service"));
    let text = "SELECT ?t { ?t ql:contains-word 'sun' }";
    assert_eq!((run(text, wdqs).len(), run(text, qlever)), (0, vec!["sun".to_owned()]));
    let having = "SELECT (SUM(?n) AS ?s) { ?x wdt:P2046 ?n } HAVING (?s > 1)";
    assert_eq!((run(having, wdqs), run(having, qlever)), (vec!["8".to_owned()], vec!["8".to_owned()]));
    // The standard has no predeclared prefixes either.
    let declared = format!("PREFIX wdt: <http://www.wikidata.org/prop/direct/> {having}");
    assert_eq!(run(&declared, Dialect::Standard).len(), 0);
    assert!(refused(having, Dialect::Standard).contains("wdt:"));
    // Ill-formed dates, which the standards make errors; and days compared with times.
    let ill = "SELECT (YEAR('1950-00-00T00:00:00Z'^^xsd:dateTime) AS ?y) {}";
    assert_eq!((run(ill, wdqs), run(ill, qlever)), (vec!["1950".to_owned()], vec!["-".to_owned()]));
    let mixed = "SELECT ('2020-01-01'^^xsd:date < '2020-01-01T12:00:00Z'^^xsd:dateTime AS ?b) {}";
    assert_eq!((run(mixed, wdqs), run(mixed, qlever)), (vec!["true".to_owned()], vec!["-".to_owned()]));
}

/// A translation gives the rows of the original.
#[test]
fn translations_have_the_same_rows() {
    let [wdqs, qlever, standard] = [Dialect::Wdqs, Dialect::Qlever, Dialect::Standard];
    for (text, to) in [
        ("SELECT ?x ?xLabel { ?x wdt:P2046 ?n SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }", qlever),
        ("SELECT ?x ?xLabel { ?x wdt:P2046 ?n SERVICE wikibase:label { bd:serviceParam wikibase:language 'de,en' } }", standard),
        ("SELECT ?x ?cLabel { ?x wdt:P2046 ?n OPTIONAL { ?x wdt:P31 ?c } SERVICE wikibase:label { bd:serviceParam
           wikibase:language '[AUTO_LANGUAGE]' } }", qlever),
        ("SELECT ?x ?n WITH { SELECT ?x ?n { ?x wdt:P2046 ?n } } AS %a { INCLUDE %a ?x wdt:P31 wd:Q9 }", qlever),
        ("SELECT ?x ?n WITH { SELECT ?x ?n { ?x wdt:P2046 ?n } } AS %a { INCLUDE %a ?x wdt:P31 wd:Q9 }", standard),
        ("SELECT ?x (COUNT(?c) AS ?k) ?n { ?x wdt:P2046 ?n ; wdt:P31 ?c } GROUP BY ?x", standard),
        ("SELECT (?n + 1 AS ?n) { wd:Q1 wdt:P2046 ?n }", standard),
        ("SELECT ?m { BIND(?n + 1 AS ?m) wd:Q1 wdt:P2046 ?n }", qlever),
        ("SELECT ?x { ?x wdt:P2046 ?n BIND(3 AS ?n) hint:Query hint:optimizer 'None' }", qlever),
        ("SELECT ('2020-03-13'^^xsd:date - '2019-12-31'^^xsd:date AS ?d) {}", qlever),
        ("SELECT ('2020-03-13'^^xsd:date - '2019-12-31'^^xsd:date AS ?d) {}", standard),
        ("SELECT (?b - ?a AS ?d) { VALUES (?a ?b) { (1 3) ('1999-12-31T12:00:00Z'^^xsd:dateTime '2000-03-01T00:00:00Z'^^xsd:dateTime)
           ('-0044-03-15T00:00:00Z'^^xsd:dateTime '0014-08-19T00:00:00Z'^^xsd:dateTime) } hint:Query hint:optimizer 'None' }", standard),
        ("SELECT (?b - ?a AS ?d) { VALUES (?a ?b) { (1 3) ('1999-12-31T12:00:00Z'^^xsd:dateTime '2000-03-01T00:00:00Z'^^xsd:dateTime) }
           hint:Query hint:optimizer 'None' }", qlever),
        ("SELECT (YEAR('2020-03-13T00:00:00Z'^^xsd:dateTime - 'P20Y'^^xsd:duration) AS ?y) { hint:Query hint:optimizer 'None' }", standard),
        ("SELECT (ql:toEpoch(?a) AS ?s) { VALUES ?a { '1970-01-02T00:00:01Z'^^xsd:dateTime '2000-02-29T00:00:00Z'^^xsd:dateTime } }", standard),
        ("SELECT (ROUND(ql:toEpoch(?a)) AS ?s) { VALUES ?a { '1970-01-02T00:00:01Z'^^xsd:dateTime } }", wdqs),
        ("SELECT ?x ?l { ?x wdt:P2046 ?n OPTIONAL { ?x rdfs:label ?l FILTER(?n > 1) } }", qlever),
        ("SELECT ?x { ?x wdt:P2046 ?n FILTER NOT EXISTS { ?x wdt:P31 ?c ; wdt:P2046 ?m FILTER(?n = ?m) } }", qlever),
        ("SELECT ?x { ?x wdt:P31 ?c ; wdt:P2046 ?n FILTER EXISTS { ?y wdt:P2046 ?m FILTER(?m > ?n && ?n > 1) } }", qlever),
        ("SELECT ?x ?xLabel { ?x wdt:P2046 ?n SERVICE wikibase:label { bd:serviceParam wikibase:language '[AUTO_LANGUAGE],en' } }", qlever),
        ("SELECT ?y { SERVICE gas:service { gas:program gas:gasClass 'com.bigdata.rdf.graph.analytics.SSSP' ; gas:in wd:Q11 ;
           gas:linkType wdt:P279 ; gas:out ?y ; gas:out1 ?depth ; gas:maxIterations 2 } }", standard),
        ("SELECT ?x { SERVICE wikibase:around { ?x wdt:P625 ?l . bd:serviceParam wikibase:center
           'Point(14.5 35.9)'^^geo:wktLiteral ; wikibase:radius '1' } }", qlever),
        ("SELECT ?x ?d { SERVICE wikibase:around { ?x wdt:P625 ?l . bd:serviceParam wikibase:center
           'Point(14.5 35.9)'^^geo:wktLiteral ; wikibase:radius '1' } }", standard),
        ("SELECT ?x { SERVICE wikibase:box { ?x wdt:P625 ?l . bd:serviceParam wikibase:cornerSouthWest
           'Point(14 35)'^^geo:wktLiteral ; wikibase:cornerNorthEast 'Point(14.505 36)'^^geo:wktLiteral } }", standard),
        ("SELECT ?y { SERVICE gas:service { gas:program gas:gasClass 'com.bigdata.rdf.graph.analytics.BFS' ; gas:in wd:Q11 ;
           gas:linkType wdt:P279 ; gas:out ?y ; gas:maxIterations 1 } }", qlever),
        ("WITH %a AS { ?x wdt:P2046 ?n } SELECT ?x { { SELECT ?x { INCLUDE %a } } ?x wdt:P31 wd:Q9 }", wdqs),
        ("WITH %a AS { ?x wdt:P2046 ?n } SELECT ?x { { SELECT ?x { INCLUDE %a } } ?x wdt:P31 wd:Q9 }", standard),
        ("SELECT ?x ?p { ?x wdt:P31 wd:Q8 ; ql:has-predicate ?p }", wdqs),
        ("SELECT ?x ?l { ?x wdt:P2046 ?n OPTIONAL { ?x @de@rdfs:label ?l } }", standard),
        ("SELECT ?y { wd:Q11 wdt:P279{2} ?y }", standard),
        ("SELECT ?x ?y { ?x wdt:P625 ?l . ?y wdt:P625 ?r . ?l <max-distance-in-meters:2000> ?r }", wdqs),
    ] {
        assert_same_rows(text, Dialect::Auto, to);
    }
    for text in [
        "SELECT (COUNT(DISTINCT *) AS ?k) { ?x wdt:P31 [] . hint:Query hint:optimizer 'None' }",
        "SELECT (COUNT(DISTINCT *) AS ?k) { [] wdt:P31 [] . hint:Query hint:optimizer 'None' }",
        "SELECT ?x (COUNT(DISTINCT *) AS ?k) { ?x wdt:P31/wdt:P31* ?y . ?x wdt:P31 [] BIND(?x AS ?y2) hint:Query hint:optimizer 'None' } GROUP BY ?x",
    ] {
        assert_same_rows(text, wdqs, standard);
    }
    // What the dialects read differently.
    for text in [
        "SELECT ?x ?l { ?x wdt:P2046 ?n OPTIONAL { ?x rdfs:label ?l FILTER(?n > 3) } }",
        "SELECT ?x { ?x wdt:P2046 ?n FILTER NOT EXISTS { ?x rdfs:label ?l FILTER(?n > 3) } }",
        "SELECT ?x { ?x wdt:P31 ?c ; wdt:P2046 ?n FILTER(?x < ?c && ?n >= 3) }",
    ] {
        assert_same_rows(text, qlever, wdqs);
        assert_same_rows(text, qlever, standard);
    }
}

/// Asserts that a translation is written anew and gives the rows of the original.
#[track_caller]
fn assert_same_rows(text: &str, from: Dialect, to: Dialect) {
    let translation = translate(text, from, to, "en").unwrap_or_else(|error| panic!("{text}: {error}"));
    let sorted = |mut rows: Vec<String>| {
        rows.sort();
        rows
    };
    let original = sorted(run(text, from));
    let translated = sorted(run(&translation.text, to));
    assert_eq!(translated, original, "{text}\n{}", translation.text);
    assert!(!original.is_empty() && translation.is_rewritten, "{text}");
}

/// 30 named subqueries that include the one before twice have 2^30 triples.
#[test]
fn copies_of_named_subqueries_are_limited() {
    let mut text = "SELECT ?x ?xLabel WITH { SELECT ?x { ?x wdt:P2046 ?n } } AS %i0".to_owned();
    for number in 1..30 {
        let before = number - 1;
        text += &format!(" WITH {{ SELECT ?x {{ INCLUDE %i{before} . INCLUDE %i{before} }} }} AS %i{number}");
    }
    text += " { INCLUDE %i29 SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }";
    let error = translate(&text, Dialect::Wdqs, Dialect::Standard, "en").unwrap_err();
    assert!(error.message.contains("named subqueries that are included so often"), "{error}");
    let error = translate(&text, Dialect::Wdqs, Dialect::Qlever, "en").unwrap_err();
    assert!(error.message.contains("nested more than 64 levels deep"), "{error}");
}

#[test]
fn what_cannot_be_translated_is_named() {
    for (text, to, missing) in [
        (
            "SELECT * { SERVICE pathSearch: { ?a ?b ?c } }",
            Dialect::Standard,
            "SPARQL 1.1 has no equivalent of SERVICE pathSearch:",
        ),
        ("SELECT ?t { ?t ql:contains-word 'x' }", Dialect::Wdqs, "the predicate"),
        ("SELECT (STDEV(?n) AS ?d) { ?x wdt:P2046 ?n }", Dialect::Wdqs, "the aggregate STDEV"),
        (
            "SELECT * { SERVICE bd:sample { ?a ?b ?c . bd:serviceParam bd:sample.limit 3 } }",
            Dialect::Qlever,
            "QLever has no equivalent of SERVICE bd:sample",
        ),
        (
            "SELECT ?xAltLabel { ?x wdt:P2046 ?n SERVICE wikibase:label { bd:serviceParam wikibase:language 'en' } }",
            Dialect::Standard,
            "the joined alternative labels ?xAltLabel",
        ),
        (
            "SELECT (?a - ?b AS ?d) { ?x wdt:P569 ?a ; wdt:P570 ?b } TEXTLIMIT 1",
            Dialect::Wdqs,
            "a difference of dates, which is a duration, and that of two variables may be one",
        ),
        (
            "SELECT ?x { ?x wdt:P2046 ?n OPTIONAL { ?x wdt:P31 ?c } FILTER EXISTS { ?y wdt:P31 ?d FILTER(?d = ?c) } }",
            Dialect::Qlever,
            "an EXISTS whose FILTER uses ?c from outside",
        ),
        (
            "SELECT ?y ?depth { SERVICE gas:service { gas:program gas:gasClass 'com.bigdata.rdf.graph.analytics.BFS' ;
               gas:in wd:Q11 ; gas:linkType wdt:P279 ; gas:out ?y ; gas:out1 ?depth } }",
            Dialect::Standard,
            "gas:out1 (the distance or predecessor of a node)",
        ),
        (
            "SELECT ?x { ?x wdt:P2046 ?n FILTER EXISTS { ?x wdt:P31 ?c BIND(?n AS ?m) FILTER(?m > 1) } }",
            Dialect::Qlever,
            "an EXISTS whose BIND uses ?n from outside",
        ),
        (
            "SELECT ?x { ?x wdt:P2046 ?n FILTER EXISTS { { ?x wdt:P31 ?c FILTER(?n > 1) } UNION { ?x wdt:P279 ?c } } }",
            Dialect::Qlever,
            "an EXISTS whose FILTER uses ?n from outside",
        ),
        ("SELECT ?d { SERVICE gas:service { gas:program gas:out1 ?d } }", Dialect::Qlever, "gas:out1"),
        (
            "SELECT ?y { SERVICE gas:service { gas:program gas:gasClass 'com.bigdata.rdf.graph.analytics.PR' ;
               gas:in wd:Q11 ; gas:linkType wdt:P279 ; gas:out ?y } }",
            Dialect::Qlever,
            "the program 'com.bigdata.rdf.graph.analytics.PR'",
        ),
        (
            "SELECT ?y { SERVICE gas:service { gas:program gas:gasClass 'BFS' ; gas:in wd:Q11 ;
               gas:linkType wdt:P279 ; gas:out ?y ; gas:traversalDirection 'Sideways' } }",
            Dialect::Standard,
            "gas:traversalDirection 'Sideways'",
        ),
        (
            "SELECT ?y { SERVICE gas:service { gas:program gas:gasClass 'BFS' ; gas:in wd:Q11 ;
               gas:linkType wdt:P279 ; gas:out ?y . ?y wdt:P31 ?c } }",
            Dialect::Standard,
            "patterns other than its parameters",
        ),
    ] {
        let error = translate(text, Dialect::Auto, to, "en").unwrap_err();
        assert!(error.message.contains(missing), "{text}: {error}");
        assert_eq!(error.code.name(), "untranslatable", "{text}");
    }
    // A query without constructs of its dialect keeps its text.
    let plain = translate("SELECT ?x # all\n{ ?x wdt:P31 wd:Q9 }", Dialect::Auto, Dialect::Qlever, "en").unwrap();
    assert!(!plain.is_rewritten && plain.text.ends_with("SELECT ?x # all\n{ ?x wdt:P31 wd:Q9 }"));
    assert!(plain.text.starts_with("PREFIX wd: <http://www.wikidata.org/entity/>\n"));
}
