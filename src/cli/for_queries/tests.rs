use std::time::{Duration, Instant};

use terrapin_loaders::wikidata::closure::QueryLinks;

use super::open_links::ALTERNATIVES;
use super::*;

fn uses(query: &str) -> QueryUses {
    let parsed = syntax::parse(query, Dialect::Wdqs).unwrap_or_else(|error| panic!("{query}: {error}"));
    let mut uses = QueryUses::default();
    add(&mut uses, query, &parsed);
    uses
}

/// Returns the links of the only alternative as text, such as `1 P31 Q5`; `?` marks optional ones.
fn links(query: &str) -> Vec<String> {
    let [links] = <[QueryLinks; 1]>::try_from(uses(query).links).unwrap();
    links.links.iter().map(shown).collect()
}

fn shown(link: &QueryLink) -> String {
    let end = |end: &LinkEnd| match end {
        LinkEnd::Entity(id) => id.clone(),
        LinkEnd::Variable(number) => number.to_string(),
        LinkEnd::Value => "-".to_owned(),
    };
    let inverse: Vec<String> = link.inverse.iter().map(|id| format!("^{id}")).collect();
    let path = [&link.properties[..], &inverse[..]].concat().join("|");
    let repeated = if link.repeated { "*" } else { "" };
    let optional = if link.required { "" } else { " ?" };
    format!("{} {path}{repeated} {}{optional}", end(&link.subject), end(&link.object))
}

fn is_unfollowed(query: &str) -> bool {
    uses(query).links.iter().any(|links| links.unfollowed)
}

fn languages(query: &str) -> Vec<String> {
    uses(query).languages.into_iter().collect()
}

#[test]
fn exists_is_read_as_optional() {
    for filter in ["FILTER EXISTS", "FILTER NOT EXISTS", "OPTIONAL", "MINUS"] {
        let query = format!("SELECT * {{ ?x wdt:P31 wd:Q5 {filter} {{ ?x wdt:P570 ?y }} }}");
        let found = links(&query);
        assert_eq!(found.len(), 2, "{query}: {found:?}");
        assert!(found.iter().any(|link| link.contains("P31 Q5") && !link.ends_with('?')), "{query}: {found:?}");
        assert!(found.iter().any(|link| link.contains("P570") && link.ends_with('?')), "{query}: {found:?}");
    }
    let nested = links("SELECT * { ?x wdt:P31 wd:Q5 FILTER(?x != wd:Q1 && !EXISTS { ?x wdt:P570 ?y }) }");
    assert_eq!(nested.len(), 2, "{nested:?}");
    let bound = links("SELECT * { ?x wdt:P31 wd:Q5 BIND(EXISTS { ?x wdt:P570 ?y } AS ?dead) }");
    assert_eq!(bound.len(), 2, "{bound:?}");
}

#[test]
fn values_are_required_only_where_every_solution_has_them() {
    let given = |query: &str| {
        let [links] = <[QueryLinks; 1]>::try_from(uses(query).links).unwrap();
        links.given.iter().map(|given| (given.ids.join(" "), given.required)).collect::<Vec<_>>()
    };
    let one = |required| vec![("Q1 Q2".to_owned(), required)];
    assert_eq!(given("SELECT * { VALUES ?x { wd:Q1 wd:Q2 } ?x wdt:P31 ?y }"), one(true));
    assert_eq!(given("SELECT * { VALUES ?x { wd:Q1 UNDEF wd:Q2 } ?x wdt:P31 ?y }"), one(false));
    assert_eq!(given("SELECT * { ?x wdt:P31 ?y OPTIONAL { VALUES ?x { wd:Q1 wd:Q2 } } }"), one(false));
    assert_eq!(given("SELECT * { ?x wdt:P31 ?y MINUS { VALUES ?x { wd:Q1 wd:Q2 } } }"), one(false));
    let two = given("SELECT * { VALUES (?x ?y) { (wd:Q1 UNDEF) (wd:Q2 wd:Q3) } ?x wdt:P31 ?y }");
    assert_eq!(two, [("Q1 Q2".to_owned(), true), ("Q3".to_owned(), false)]);
    assert_eq!(given("SELECT * { VALUES ?x { \"Q1\" } ?y wdt:P1 ?x }"), []);
    // A literal or another IRI is also a value.
    for other in ["\"Malta\"", "14", "<http://example.org/Q2>"] {
        let query = format!("SELECT * {{ VALUES ?x {{ wd:Q1 {other} }} ?y wdt:P1448 ?x }}");
        assert_eq!(given(&query), [("Q1".to_owned(), false)], "{query}");
    }
}

#[test]
fn paths_keep_their_direction() {
    assert_eq!(links("SELECT * { wd:Q1 ^wdt:P31 wd:Q2 }"), ["Q2 P31 Q1"]);
    assert_eq!(links("SELECT * { wd:Q1 wdt:P279* wd:Q2 }"), ["Q1 P279* Q2"]);
    assert_eq!(links("SELECT * { wd:Q1 (^wdt:P279)* wd:Q2 }"), ["Q1 ^P279* Q2"]);
    assert_eq!(links("SELECT * { wd:Q1 (wdt:P361|^wdt:P527)+ wd:Q2 }"), ["Q1 P361|^P527* Q2"]);
    assert_eq!(links("SELECT * { wd:Q1 (^(^wdt:P279))* wd:Q2 }"), ["Q1 P279* Q2"]);
    assert_eq!(links("SELECT * { wd:Q1 wdt:P22|wdt:P25 wd:Q2 }"), ["Q1 P22|P25 Q2"]);
    assert_eq!(links("SELECT * { wd:Q1 wdt:P22|^wdt:P40 wd:Q2 }"), ["Q1 P22|^P40 Q2"]);
}

#[test]
fn links_that_cannot_be_followed_are_open() {
    for query in [
        "SELECT * { wd:Q1 ?p ?o }",
        "SELECT * { wd:Q1 !wdt:P31 ?o }",
        "SELECT * { wd:Q1 (!wdt:P31)* ?o }",
        "SELECT * { wd:Q1 rdfs:seeAlso* ?o }",
        "SELECT * { ?x rdfs:label \"Valletta\"@en }",
        "SELECT * { ?x wdt:P31 wd:Q5 SERVICE <http://example.org/sparql> { ?x ?p ?o } }",
    ] {
        assert!(is_unfollowed(query), "{query}");
    }
    for query in [
        "SELECT * { ?x wdt:P31 wd:Q5 ; rdfs:label ?l }",
        "SELECT * { ?x p:P625/psv:P625 ?v . ?v wikibase:geoLatitude ?lat }",
        "SELECT ?x ?xLabel { ?x wdt:P31 wd:Q5 SERVICE wikibase:label { bd:serviceParam wikibase:language \"en\" } }",
    ] {
        assert!(!is_unfollowed(query), "{query}");
    }
    // A path without properties of Wikidata is no link without candidates.
    assert!(links("SELECT * { wd:Q1 rdfs:seeAlso* ?o }").is_empty());
}

#[test]
fn languages_are_codes_that_are_compared_with_one() {
    for (query, expected) in [
        ("SELECT * { ?x wdt:P1 ?l FILTER(LANG(?l) = \"en\") }", "en"),
        ("SELECT * { ?x wdt:P1 ?l FILTER(\"mt\" = LCASE(LANG(?l))) }", "mt"),
        ("SELECT * { ?x wdt:P1 ?l FILTER(LANGMATCHES(LANG(?l), \"pt-BR\")) }", "pt-br"),
        ("SELECT * { ?x wdt:P1 ?l FILTER(LANG(?l) IN (\"de\", \"fr\", \"\")) }", "de fr"),
        ("SELECT * { ?x wdt:P1 ?l BIND(LANG(?l) AS ?code) FILTER(?code = \"sv\") }", "sv"),
        ("SELECT * { ?x wdt:P1 ?l BIND(LANG(?l) AS ?a) BIND(LCASE(?a) AS ?b) FILTER(?b = \"sv\") }", "sv"),
        (
            "SELECT * { { ?x wdt:P1 ?l BIND(LANG(?l) AS ?a) } BIND(STR(?a) AS ?b) BIND(?b AS ?c) FILTER(?c = \"sv\") }",
            "sv",
        ),
        (
            "SELECT * WITH { SELECT ?l (LANG(?l) AS ?a) { ?x wdt:P1 ?l } } AS %l \
             WITH { SELECT (LCASE(?a) AS ?b) { INCLUDE %l } } AS %m { INCLUDE %m BIND(?b AS ?c) FILTER(?c = \"sv\") }",
            "sv",
        ),
        ("SELECT * { VALUES ?code { \"it\" \"nl\" } ?x wdt:P1 ?l FILTER(LANG(?l) = ?code) }", "it nl"),
        ("SELECT * { ?x rdfs:label \"Malta\"@en }", "en"),
        ("SELECT * { VALUES ?l { \"Malta\"@mt } ?x rdfs:label ?l }", "mt"),
        (
            "SELECT * { SERVICE wikibase:label { bd:serviceParam wikibase:language \"[AUTO_LANGUAGE],en,mul\" } }",
            "en mul",
        ),
        // Codes of countries and units are no languages.
        ("SELECT * { ?x wdt:P297 ?c FILTER(?c = \"mt\") }", ""),
        ("SELECT * { ?x wdt:P1 ?l FILTER(CONTAINS(?l, \"km\")) }", ""),
        ("SELECT * { ?x wdt:P1 ?l FILTER(LANGMATCHES(LANG(?l), \"*\")) }", ""),
    ] {
        assert_eq!(languages(query).join(" "), expected, "{query}");
    }
}

#[test]
fn alternatives_are_bounded() {
    let union = |n: u32, variable: &str| {
        let parts: Vec<String> = (1..=n).map(|i| format!("{{ ?x wdt:P{i} ?{variable} }}")).collect();
        parts.join(" UNION ")
    };
    assert_eq!(uses(&format!("SELECT * {{ {} }}", union(3, "y"))).links.len(), 3);
    let many = uses(&format!("SELECT * {{ {} }}", union(100, "y")));
    assert!(many.links.len() <= ALTERNATIVES, "{}", many.links.len());
    assert_eq!(many.followed().len(), 100);
    let product = uses(&format!("SELECT * {{ {{ {} }} {{ {} }} }}", union(20, "y"), union(20, "z")));
    assert!(product.links.len() <= ALTERNATIVES, "{}", product.links.len());
    assert_eq!(product.links.iter().map(|links| links.links.len()).max(), Some(21));
}

#[test]
fn variables_of_subqueries_are_their_own() {
    let found = links("SELECT * { ?y wdt:P2 wd:Q2 { SELECT ?x { ?x wdt:P1 ?y } } }");
    let [outer, inner] = <[String; 2]>::try_from(found).unwrap();
    let (outer, inner) = (outer.split_once(' ').unwrap().0, inner.rsplit_once(' ').unwrap().1);
    assert_ne!(outer, inner);
}

/// Returns the ends of a link.
fn ends(link: &str) -> [&str; 2] {
    let words: Vec<&str> = link.split(' ').collect();
    [words[0], words[2]]
}

#[test]
fn columns_of_named_subqueries_are_joined() {
    let found = links(
        "SELECT ?x WITH { SELECT ?y { ?y wdt:P31 ?z } } AS %a WHERE { INCLUDE %a . ?y wdt:P22 ?x . ?x wdt:P1 ?z }",
    );
    let [class, father, other] = <[String; 3]>::try_from(found).unwrap();
    assert_eq!(ends(&class)[0], ends(&father)[0]);
    assert_eq!(ends(&father)[1], ends(&other)[0]);
    // What a subquery does not return is its own.
    assert_ne!(ends(&class)[1], ends(&other)[1]);
    // A subquery within a subquery, and one in an optional pattern.
    let found = links(
        "SELECT ?x WITH { SELECT ?y { ?y wdt:P31 wd:Q5 } } AS %a WITH { SELECT ?y ?x { INCLUDE %a ?y wdt:P22 ?x } } AS %b \
         WHERE { INCLUDE %b ?x wdt:P19 ?p OPTIONAL { INCLUDE %a } }",
    );
    let [class, father, place, again] = <[String; 4]>::try_from(found).unwrap();
    assert_eq!((ends(&class)[0], ends(&father)[1]), (ends(&father)[0], ends(&place)[0]));
    assert_eq!(again, format!("{class} ?"));
    // Each INCLUDE has its own inner variables and statements.
    let found = links(
        "SELECT * WITH { SELECT ?y { ?z p:P22 ?s . ?s ps:P22 ?y } } AS %a { { SELECT * { INCLUDE %a } } { SELECT ?x { INCLUDE %a . ?y wdt:P1 ?x } } }",
    );
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!((ends(&found[0])[0], ends(&found[2])[0]), (ends(&found[1])[0], ends(&found[3])[0]));
    assert_ne!(ends(&found[0])[0], ends(&found[2])[0]);
    assert_eq!(ends(&found[3])[1], ends(&found[4])[0]);
}

#[test]
fn copies_of_named_subqueries_are_bounded() {
    let mut query = "SELECT * WITH { SELECT ?x { ?x wdt:P31 wd:Q5 } } AS %n0".to_owned();
    for i in 1..16 {
        let before = i - 1;
        query += &format!(" WITH {{ SELECT ?x {{ INCLUDE %n{before} OPTIONAL {{ INCLUDE %n{before} }} }} }} AS %n{i}");
    }
    let found = uses(&format!("{query} {{ INCLUDE %n15 }}"));
    assert!(found.links.iter().all(|links| links.unfollowed && links.links.len() <= 10_000), "{}", found.links.len());
}

#[test]
fn statements_belong_to_the_entities_of_their_alternative() {
    // A constant statement, or a value in its place, has no owner.
    let found = links(
        "SELECT * { ?x p:P31 <http://www.wikidata.org/entity/statement/Q42-1> . ?y wdt:P569 ?d . ?y p:P18 \"a\" }",
    );
    let [class, birth, image] = <[String; 3]>::try_from(found).unwrap();
    assert_eq!((ends(&class)[1], ends(&image)[1]), ("-", "-"));
    assert_eq!(ends(&birth)[0], ends(&image)[0]);
    assert_ne!(ends(&class)[0], ends(&image)[0]);
    assert_eq!(ends(&links("SELECT * { ?x p:P31 wd:Q1 . ?y wdt:P1 wd:Q1 }")[1])[1], "Q1");
    for pattern in ["OPTIONAL", "MINUS", "FILTER EXISTS"] {
        let found = links(&format!(
            "SELECT * {{ ?x wdt:P1 ?y {pattern} {{ {{ ?x p:P39 ?s . ?s ps:P39 ?v }} UNION {{ ?y p:P106 ?s . ?s ps:P106 ?v }} }} }}"
        ));
        let [first, own, value, other, other_value] = <[String; 5]>::try_from(found).unwrap();
        assert_eq!((ends(&own)[0], ends(&value)[0]), (ends(&first)[0], ends(&first)[0]), "{pattern}");
        assert_eq!((ends(&other)[0], ends(&other_value)[0]), (ends(&first)[1], ends(&first)[1]), "{pattern}");
    }
    // The statement may also be that of the pattern on the left.
    let found = links("SELECT * { ?x p:P39 ?s OPTIONAL { { ?s ps:P39 ?v } UNION { ?s pq:P580 ?v } } }");
    assert!(found.iter().all(|link| ends(link)[0] == ends(&found[0])[0]), "{found:?}");
}

/// A chain of triples that are no links, of which only the last may have a known end.
#[test]
fn long_chains_of_values_are_read_in_linear_time() {
    let is_unfollowed = |last: LinkEnd| {
        let chain = (0..20_000).map(|i| [LinkEnd::Variable(i), LinkEnd::Variable(i + 1)]);
        let ends = [[LinkEnd::Variable(20_000), last], [LinkEnd::Entity("Q1".to_owned()), LinkEnd::Value]];
        query_links(OpenLinks { others: chain.chain(ends).collect(), ..OpenLinks::default() }).unfollowed
    };
    let begun = Instant::now();
    assert!(!is_unfollowed(LinkEnd::Entity("Q1".to_owned())));
    // A literal does not connect.
    assert!(is_unfollowed(LinkEnd::Value));
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
