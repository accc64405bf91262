//! Cases of each rule: texts that it reports, and similar ones that it does not. Rules that need data are tested with
//! the program, in `tests/lint.rs`.

use std::collections::BTreeSet;

use super::*;

/// The cases of a rule: texts with a finding, then texts without one.
type Cases = (&'static str, &'static [&'static str], &'static [&'static str]);

const OVERPASS_CASES: &[Cases] = &[
    (
        "no-output",
        &["node[a];", "node[a]->.x;.x->.y;", "(node[a];way[a];);>;", "foreach{node(1);}", "{{geocodeArea:X}}->.a;"],
        &["node[a];out;", "node[a];out count;", ".a local;", "foreach{out;}", "if(1==1){out;}", "make x a=1;out;"],
    ),
    (
        "unused-set",
        &[
            "node[a]->.x;node[b];out;",
            "area[a]->.s;node[b];out;",
            "(node[a];)->.x;out;",
            "node[a]->.xy;node[b]->.x;.x out;",
        ],
        &[
            "node[a]->.x;.x out;",
            "area[a]->.s;node(area.s);out;",
            "node[a]->.x;make c n=x.count(nodes);out;",
            "node[a]->.x;node(around.x:5);out;",
            "node[a]->.x;way(bn.x);out;",
            "node[a]->.x;foreach.x->.y{node(1);out;}",
            "node[a]->.x;way(if:x.count(nodes)>1);out;",
            "node[a]->.x;node.x[b];out;",
            "node[a]->.x;(.x;>;);out;",
        ],
    ),
    (
        "unused-result",
        &["node[a]->.x;.x out;way[b];", "node[a];out;way[b];", "node[a];out;>;"],
        &["node[a];out;", "node[a];>;out;", "way[a];(._;>;);out;", "node[a];", "node[a];out;>;out skel;"],
    ),
    (
        "unfilled-set",
        &["node(area.town);out;", ".x out;", "node.x[a];out;", "(.x;node[a];);out;", "node(around.c:5);out;"],
        &[
            "area[a]->.t;node(area.t);out;",
            "node[a];out;",
            "{{geocodeArea:X}}->.t;node(area.t);out;",
            "foreach->.x{.x out;}",
        ],
    ),
    (
        "empty-output",
        &["node[a]->.x;out;", "out;node[a];out;", ".x out;node[a]->.x;.x out;", "node[a]->.x;out geom;"],
        &[
            "node[a];out;",
            "node[a]->.x;.x out;",
            "foreach{out;}",
            "node[a]->.x;foreach.x->.y{.y out;}",
            "(node[a];);out;",
            "node[a]->.x;foreach.x{out;}",
        ],
    ),
    (
        "overwritten-result",
        &[
            "node[a];way[a];out;",
            "node[a]->.x;way[b]->.x;.x out;",
            "node[a];(way[b];);out;",
            "foreach{node(1);way(2);out;}",
        ],
        &[
            "(node[a];way[a];);out;",
            "node[a];out;way[a];out;",
            "way[a];node(w);out;",
            "area[a]->.x;node(area.x)->.x;.x out;",
            "node[a];>;out;",
            "node[a];way(around:5);out;",
            "way[a];node(w)->.x;way[b];.x out;",
            "node[a];make x n=count(nodes);out;",
            "node[a];if(count(nodes)>0){out;}else{way[b];out;}",
            "node[a];if(1==1){way[b];}out;",
        ],
    ),
    (
        "area-of-relations",
        &[
            "rel[name=X]->.a;node(area.a);out;",
            "node[place]->.a;way(area.a);out;",
            "relation(1)->.s;nwr[b](area.s);out;",
            "{{geocodeId:X}}->.a;node(area.a);out;",
        ],
        &[
            "area[name=X]->.a;node(area.a);out;",
            "rel[name=X]->.a;.a map_to_area->.a;node(area.a);out;",
            "rel[name=X];map_to_area->.a;node(area.a);out;",
            "{{geocodeArea:X}}->.a;node(area.a);out;",
            "way[leisure=park]->.p;node(area.p);out;",
            "(area[a];area[b];)->.a;node(area.a);out;",
            "is_in(1,2)->.a;node(area.a);out;",
            "rel[name=X];node(area);out;",
        ],
    ),
    (
        "contradictory-filters",
        &[
            "node[amenity=cafe][amenity=bar];out;",
            "way[a=b](1,2,3,4)[a=c];out;",
            "node[a=b][!a];out;",
            "node[a=b][a!=b];out;",
        ],
        &[
            "node[amenity=cafe];out;",
            "node[a=b][c=b];out;",
            "node[a=b][a~b];out;",
            "node[a=b][a!=c];out;",
            "node[a=b][a=b];out;",
            "node[a=b][!c];out;",
        ],
    ),
    (
        "repeated-filter",
        &[
            "node[a=b][a=b];out;",
            "node[a][c][a];out;",
            "node(area.x)(area.x);out;",
            "node[a~b][a~b];out;",
            "node(1,2,3,4)(1,2,3,4);out;",
        ],
        &[
            "node[a=b][a=c];out;",
            "node[a];way[a];out;",
            "node(area.x)(area.y);out;",
            "node[a~b][a~b,i];out;",
            "node({{bbox}})({{geocodeBbox:X}});out;",
            "node(if:t[\"a\"]==1)(if:t[\"a\"]==1);out;",
        ],
    ),
    (
        "equals-in-key",
        &["node[\"amenity=cafe\"];out;", "way['a=b'];out;", "node[!\"a=b\"];out;"],
        &["node[amenity=cafe];out;", "node[\"a\"=\"b=c\"];out;", "node[\"name:en\"];out;", "node[a~\"b=c\"];out;"],
    ),
    (
        "plain-regex",
        &[
            "node[name~\"^Malta$\"];out;",
            "way[\"a\"~'^b c$'];out;",
            "node[a!~\"^b$\"];out;",
            "node[a ~ \"^b:c$\"];out;",
        ],
        &[
            "node[name~\"Malta\"];out;",
            "node[a~\"^b$\",i];out;",
            "node[a~\"^b|c$\"];out;",
            "node[a~\"^b.c$\"];out;",
            "node[a~\"^$\"];out;",
            "node[~a~\"^b$\"];out;",
            "node[a~\"^b\"];out;",
            "node[a=\"^b$\"];out;",
        ],
    ),
    (
        "needless-recursion",
        &[
            "way[a];(._;>;);out geom;",
            "way[a];out geom;>;out skel qt;",
            "nwr[a];(._;>;);out geom qt;",
            "way[a];(._;>>;);out body geom;",
        ],
        &[
            "way[a];(._;>;);out;",
            "way[a];out;>;out skel qt;",
            "way[a];(._;<;);out geom;",
            "way[a];out geom;",
            "way[a];out geom;<;out;",
            "way[a];(._;>;);out center;",
        ],
    ),
    (
        "round-block",
        &["foreach(out;);", "node[a];foreach->.b(.b out;);", "foreach.a(out;);"],
        &["foreach{out;}", "foreach.a->.b{(node(1););out;}", "foreach{out;};", "(node[a];);out;"],
    ),
    (
        "date-dependent",
        &[
            "node(newer:\"{{date:1 day}}\");out;",
            "node(changed:\"{{date}}\");out;",
            "[date:\"{{date: 2 weeks}}\"];node(1);out;",
        ],
        &[
            "node(newer:\"2020-01-01T00:00:00Z\");out;",
            "node(newer:\"{{date:2020-01-01T00:00:00Z}}\");out;",
            "node[date];out;",
        ],
    ),
    (
        "place-dependent",
        &[
            "node({{bbox}});out;",
            "[bbox:{{bbox}}];node[a];out;",
            "node(around:5,{{center}});out;",
            "{{b={{bbox}}}}node({{b}});out;",
        ],
        &[
            "node(1,2,3,4);out;",
            "{{geocodeArea:X}}->.a;node(area.a);out;",
            "{{bbox=area:X}}node[a];out;",
            "node[name=\"bbox\"];out;",
        ],
    ),
];

const SPARQL_CASES: &[Cases] = &[
    (
        "unbound-variable",
        &[
            "SELECT ?x ?y { ?x wdt:P31 wd:Q5 }",
            "SELECT ?itemLabel { ?item wdt:P31 wd:Q5 }",
            "SELECT ?x { { SELECT ?y { ?z wdt:P31 wd:Q5 } } ?x wdt:P1 ?z }",
            "SELECT ?Item { ?item wdt:P31 wd:Q5 }",
            "SELECT ?x ?n { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
        ],
        &[
            "SELECT ?x { ?x wdt:P31 wd:Q5 }",
            "SELECT * { ?x wdt:P31 wd:Q5 }",
            "SELECT (COUNT(?x) AS ?n) { ?x wdt:P31 wd:Q5 }",
            "SELECT ?x ?xLabel ?xDescription { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
            "SELECT ?x ?y { ?x wdt:P31 wd:Q5 OPTIONAL { ?x wdt:P1 ?y } }",
            "SELECT ?x ?y { ?x wdt:P31 wd:Q5 BIND(1 AS ?y) }",
            "SELECT ?x { VALUES ?x { 1 } }",
            "ASK { ?x wdt:P31 wd:Q5 }",
            "CONSTRUCT { ?x wdt:P1 ?y } { ?x wdt:P31 wd:Q5 }",
            "SELECT ?x ?n { { SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P31 wd:Q5 } GROUP BY ?x } }",
        ],
    ),
    (
        "unbound-in-filter",
        &[
            "SELECT * { ?x wdt:P1 ?y FILTER(?z > 1) }",
            "SELECT * { ?x wdt:P1 ?y { ?x wdt:P2 ?z FILTER(?y > 1) } }",
            "SELECT * { ?x wdt:P1 ?y { ?x wdt:P2 ?z FILTER(?y > 1) } UNION { ?x wdt:P3 ?z } }",
            "SELECT * { ?x wdt:P1 ?y FILTER(LANG(?label) = \"en\") }",
        ],
        &[
            "SELECT * { ?x wdt:P1 ?y FILTER(?y > 1) }",
            "SELECT * { FILTER(?y > 1) ?x wdt:P1 ?y }",
            "SELECT * { ?x wdt:P1 ?y OPTIONAL { ?x wdt:P2 ?z FILTER(?z > ?y) } }",
            "SELECT * { ?x wdt:P1 ?y FILTER EXISTS { ?x wdt:P2 ?z FILTER(?z > ?y) } }",
            "SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P1 ?y } GROUP BY ?x HAVING(?n > 1)",
            "SELECT * { ?x wdt:P1 ?y OPTIONAL { ?x wdt:P2 ?z } FILTER(!BOUND(?z)) }",
        ],
    ),
    (
        "ungrouped-variable",
        &["SELECT ?x ?y (COUNT(*) AS ?n) { ?x wdt:P1 ?y } GROUP BY ?x", "SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P1 ?y }"],
        &["SELECT ?x (COUNT(*) AS ?n) { ?x wdt:P1 ?y } GROUP BY ?x", "SELECT (COUNT(*) AS ?n) { ?x wdt:P1 ?y }"],
    ),
    (
        "cartesian-product",
        &[
            "SELECT * { ?a wdt:P1 ?b . ?c wdt:P2 ?d }",
            "SELECT * { ?a wdt:P1 ?b . OPTIONAL { ?c wdt:P2 ?d } }",
            "SELECT * { ?a wdt:P31 wd:Q5 . ?b wdt:P31/wdt:P279* wd:Q6 }",
            "SELECT * { VALUES ?a { 1 2 } ?b wdt:P1 ?c }",
            "SELECT * { { ?a wdt:P1 ?b . ?c wdt:P2 ?d } UNION { ?a wdt:P3 ?b } }",
            "SELECT * { ?a wdt:P1 ?b { SELECT ?c { ?c wdt:P2 ?d } } }",
            "SELECT * { { SELECT ?a { ?a wdt:P1 ?x } } { SELECT ?b { ?b wdt:P2 ?x } } }",
        ],
        &[
            "SELECT * { ?a wdt:P1 ?b . ?b wdt:P2 ?c }",
            "SELECT * { ?a wdt:P1 ?b . ?c wdt:P2 ?d FILTER(?b = ?d) }",
            "SELECT * { ?a wdt:P1 ?b . ?c wdt:P2 ?d . ?b wdt:P3 ?c }",
            "SELECT * { ?a wdt:P1 ?b BIND(?b AS ?c) ?c wdt:P2 ?d }",
            "SELECT * { wd:Q1 wdt:P1 wd:Q2 . ?a wdt:P1 ?b }",
            "SELECT * { VALUES ?a { wd:Q1 } ?b wdt:P1 ?c }",
            "SELECT * { ?a wdt:P1 ?b SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
            "SELECT * { ?a p:P1 [ ps:P1 ?b ; pq:P2 ?c ] }",
            "SELECT * { { ?a wdt:P1 ?b } UNION { ?c wdt:P2 ?d } }",
            "SELECT * { ?a wdt:P1 ?b { SELECT (COUNT(*) AS ?n) { ?c wdt:P2 ?d } } }",
            "SELECT * { ?a wdt:P1 ?b MINUS { ?a wdt:P2 ?d } }",
            "SELECT * { ?a wdt:P1 ?b . ?c wdt:P2 ?d FILTER EXISTS { ?a wdt:P3 ?c } }",
            "SELECT ?a (COUNT(?b) AS ?n) { ?a wdt:P1 ?b } GROUP BY ?a ORDER BY ?n LIMIT 5",
            "SELECT * WITH { SELECT ?a { ?a wdt:P1 ?b } } AS %i { INCLUDE %i ?a wdt:P2 ?c }",
        ],
    ),
    (
        "limit-without-order",
        &[
            "SELECT * { ?a wdt:P1 ?b } LIMIT 5",
            "SELECT DISTINCT ?a { ?a wdt:P1 ?b } limit 5",
            "SELECT * { { SELECT ?a { ?a wdt:P1 ?b } LIMIT 5 } }",
            "SELECT * { ?a wdt:P1 ?b } OFFSET 5",
        ],
        &[
            "SELECT * { ?a wdt:P1 ?b } ORDER BY ?a LIMIT 5",
            "SELECT * { ?a wdt:P1 ?b }",
            "SELECT DISTINCT ?a { ?a wdt:P1 ?b } ORDER BY ?a LIMIT 5",
            "SELECT (COUNT(*) AS ?n) { ?a wdt:P1 ?b } LIMIT 1",
        ],
    ),
    (
        "label-without-language",
        &[
            "SELECT * { ?a wdt:P1 ?b SERVICE wikibase:label {} }",
            "SELECT * { ?a wdt:P1 ?b SERVICE wikibase:label { ?a rdfs:label ?l } }",
        ],
        &[
            "SELECT * { ?a wdt:P1 ?b SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
            "SELECT * { ?a wdt:P1 ?b }",
        ],
    ),
    (
        "unused-prefix",
        &[
            "PREFIX a: <http://a/> SELECT * { ?a wdt:P1 ?b }",
            "PREFIX wd: <http://www.wikidata.org/entity/>\nSELECT * { ?a wdt:P1 ?b }",
            "PREFIX : <http://a/> SELECT * { ?a wdt:P1 ?b }",
        ],
        &[
            "PREFIX a: <http://a/> SELECT * { ?a a:b ?b }",
            "PREFIX : <http://a/> SELECT * { ?a :b ?b }",
            "PREFIX x: <http://a/> SELECT * { ?a wdt:P1 \"1\"^^x:y }",
        ],
    ),
    (
        "now-dependent",
        &["SELECT * { ?a wdt:P1 ?d FILTER(?d < NOW()) }", "SELECT (YEAR(now()) AS ?y) {}"],
        &["SELECT * { ?a wdt:P1 \"NOW()\" }", "SELECT * { ?now wdt:P1 ?d }"],
    ),
    (
        "random",
        &["SELECT * { ?a wdt:P1 ?b } ORDER BY RAND()", "SELECT (UUID() AS ?u) {}", "SELECT (STRUUID() AS ?u) {}"],
        &["SELECT * { ?rand wdt:P1 ?b }", "SELECT * { ?a wdt:P1 \"RAND()\" }"],
    ),
];

fn codes_of(text: &str, is_sparql: bool) -> BTreeSet<&'static str> {
    let findings = match is_sparql {
        true => sparql(text, None).unwrap_or_else(|error| panic!("{text}: {error:?}")),
        false => overpass(text, OverpassData::default()).unwrap_or_else(|error| panic!("{text}: {error:?}")),
    };
    for finding in &findings {
        assert!(text.get(finding.range.clone()).is_some_and(|part| !part.is_empty()), "{text}: {finding:?}");
    }
    findings.iter().map(|finding| finding.rule.code).collect()
}

#[test]
fn cases() {
    let mut wrong = Vec::new();
    for (cases, is_sparql) in [(OVERPASS_CASES, false), (SPARQL_CASES, true)] {
        for (code, with, without) in cases {
            for (text, expected) in with.iter().map(|text| (text, true)).chain(without.iter().map(|text| (text, false)))
            {
                if std::panic::catch_unwind(|| codes_of(text, is_sparql)).is_err() {
                    wrong.push(format!("{code}: an error in {text}"));
                } else if codes_of(text, is_sparql).contains(code) != expected {
                    wrong.push(format!("{code} {} {text}", if expected { "misses" } else { "reports" }));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_rule_has_cases_and_a_section() {
    let docs = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lint.md")).unwrap();
    let needs_data =
        ["no-such-key", "no-such-value", "no-such-id", "no-such-area", "no-such-term", "no-such-predicate"];
    let tested: BTreeSet<&str> = OVERPASS_CASES.iter().chain(SPARQL_CASES).map(|(code, ..)| *code).collect();
    for rule in rules() {
        let is_tested =
            tested.contains(rule.code) || needs_data.contains(&rule.code) || rule.code.starts_with("no-such");
        assert!(is_tested, "{} has no cases", rule.code);
        assert!(docs.contains(&format!("\n### {}\n", rule.code)), "docs/lint.md has no section {}", rule.code);
    }
}

#[test]
fn fixes_keep_the_meaning() {
    for (text, expected) in [
        ("node[a=b] [a=b](1);out;", "node[a=b](1);out;"),
        ("node(1,2,3,4)[a](1,2,3,4)->.b;.b out;", "node(1,2,3,4)[a]->.b;.b out;"),
        ("node[\"name\" ~ '^St. X$'];out;", "node[\"name\" ~ '^St. X$'];out;"),
        ("node[\"name\" ~ '^Malta$'][a!~\"^b$\"];out;", "node[\"name\"=\"Malta\"][a!=\"b\"];out;"),
        ("node[a];foreach->.b(.b out;);out;", "node[a];foreach->.b{.b out;};out;"),
        ("node[{{k}}][{{k}}]; {{k=a}}out;", "node[{{k}}][{{k}}]; {{k=a}}out;"),
    ] {
        let findings = overpass(text, OverpassData::default()).unwrap();
        assert_eq!(fixed(text, &findings), expected);
    }
    let text = "PREFIX a: <http://a/>\nPREFIX b: <http://b/>\nSELECT * { ?a b:c ?b }";
    let findings = sparql(text, None).unwrap();
    assert_eq!(fixed(text, &findings), "PREFIX b: <http://b/>\nSELECT * { ?a b:c ?b }");
}

#[test]
fn positions_are_those_of_the_text_with_shortcuts() {
    let text = "{{geocodeArea:Malta}}->.a;\nnode[\"a=b\"](area.a);out;";
    let findings = overpass(text, OverpassData::default()).unwrap();
    assert_eq!(findings.len(), 1);
    assert_eq!(&text[findings[0].range.clone()], "[\"a=b\"]");
}

#[test]
fn queries_with_errors_are_errors() {
    assert!(matches!(overpass("nod(1);", OverpassData::default()), Err(OverpassLintError::Query(..))));
    assert!(matches!(overpass("{{date:soon}}", OverpassData::default()), Err(OverpassLintError::Shortcut(_))));
    assert!(sparql("SELECT", None).is_err());
}
