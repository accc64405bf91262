//! Compares the solutions of planned queries over a snapshot with those of the evaluator alone over a plain set of
//! triples.

use std::sync::Arc;

use oxrdf::{Dataset, Quad};
use spareval::{QueryEvaluator, QueryResults};
use spargebra::{Query, SparqlParser};
use terrapin::budget::{Budget, Limits};
use terrapin::load::Quiet;
use terrapin::load::{LoadOptions, load};
use terrapin::rdf::{ReadError, Store, TripleView};
use terrapin::snapshot::Snapshot;
use terrapin::sparql::plan::{Goal, plan};
use terrapin::sparql::syntax::{self, Dialect, convert};

const QUERIES: &[&str] = &[
    "SELECT * { ?s ?p ?o }",
    // Variables outside of a group are not visible to its filter.
    "SELECT * { BIND(wd:Q2 AS ?z) { ?s wdt:P1 ?v FILTER(?v = ?z) } }",
    "SELECT * { wd:Q1 ?p ?o }",
    "SELECT * { ?s wdt:P1 wd:Q2 }",
    "SELECT * { ?s wdt:P1 ?o . ?o wdt:P2 ?x . ?x rdfs:label ?l }",
    "SELECT * { ?s wdt:P1 ?s }",
    "SELECT * { ?s wdt:P1 ?o . ?o wdt:P1 ?s }",
    "SELECT * { ?s wdt:P1 [ wdt:P2 ?x ] }",
    "SELECT * { ?a wdt:P3 wd:Q3 . ?b wdt:P3 wd:Q4 }",
    "SELECT * { wd:Q99999 wdt:P1 ?x . ?x ?p ?y }",
    "SELECT * { wd:Q1 wdt:P1/wdt:P2 ?x }",
    "SELECT * { ?x wdt:P1/wdt:P2 wd:Q5 }",
    "SELECT * { wd:Q1 wdt:P2* ?x }",
    "SELECT * { ?x wdt:P2* wd:Q1 }",
    "SELECT * { wd:Q1 wdt:P2+ ?x }",
    "SELECT * { ?x wdt:P2+ ?x }",
    "SELECT * { ?x wdt:P2+ ?y }",
    "SELECT * { ?x wdt:P2? ?y }",
    "SELECT * { ?x wdt:P2* ?y }",
    "SELECT * { wd:Q77777 wdt:P2+ wd:Q77777 }",
    "SELECT * { ?x wdt:P1/wdt:P2* ?y }",
    "SELECT * { ?x wdt:P1|wdt:P2 ?y }",
    "SELECT * { ?x wdt:P1|^wdt:P2 wd:Q3 }",
    "SELECT * { ?x (wdt:P1|^wdt:P2)+ wd:Q3 }",
    "SELECT * { wd:Q1 (wdt:P1/wdt:P2)* ?x }",
    "SELECT * { wd:Q1 (wdt:P1/wdt:P2?)+ ?x }",
    "SELECT * { wd:Q1 (^wdt:P1/wdt:P2*)? ?x }",
    "SELECT * { wd:Q1 !(wdt:P1|wdt:P2) ?x }",
    "SELECT * { ?x !(wdt:P1|^wdt:P2) wd:Q2 }",
    "SELECT * { wd:Q1 (!wdt:P1)* ?x }",
    "SELECT * { wd:Q1 ((wdt:P1*)*|wdt:P3)/wdt:P2 ?x }",
    "SELECT * { ?x wdt:P3 ?y . ?y wdt:P2* wd:Q1 }",
    "SELECT * { ?x wdt:P3 ?y . ?x wdt:P2* ?y }",
    "SELECT * { wd:Q1 wdt:P1* 5 . ?x wdt:P1 ?y }",
    "SELECT * { ?s wdt:P1 ?o OPTIONAL { ?o wdt:P2 ?x } }",
    "SELECT * { ?s wdt:P1 ?o OPTIONAL { ?o wdt:P2 ?x . ?x wdt:P3 ?y } OPTIONAL { ?s wdt:P4 ?y } }",
    "SELECT * { ?s wdt:P1 wd:Q2 OPTIONAL { ?s rdfs:label ?l FILTER(LANG(?l) = 'en') } }",
    "SELECT * { ?s wdt:P1 ?o OPTIONAL { ?s wdt:P5 ?v FILTER(?v = ?o) } }",
    "SELECT * { ?s wdt:P1 wd:Q1 OPTIONAL { ?t wdt:P3 wd:Q3 OPTIONAL { ?t wdt:P2 ?s } } }",
    "SELECT * { ?s wdt:P3 wd:Q3 OPTIONAL { ?s wdt:P2 ?x } . ?x wdt:P4 ?z }",
    "SELECT * { { ?s wdt:P1 wd:Q1 } UNION { ?s wdt:P2 wd:Q1 } . ?s wdt:P3 ?x }",
    "SELECT * { ?s wdt:P3 ?x . { ?s wdt:P1 ?a } UNION { ?x wdt:P2 ?b } }",
    "SELECT * { VALUES ?s { wd:Q1 wd:Q2 wd:Q88888 } ?s wdt:P1 ?o }",
    "SELECT * { ?s wdt:P1 ?o VALUES (?s ?o) { (wd:Q1 UNDEF) (UNDEF wd:Q2) } }",
    "SELECT * { ?s wdt:P1 ?o MINUS { ?s wdt:P2 ?x } }",
    "SELECT * { ?s wdt:P1 ?o FILTER NOT EXISTS { ?s wdt:P2 ?x . ?x wdt:P3 ?o2 } }",
    "SELECT * { ?s wdt:P1 ?o FILTER EXISTS { ?o wdt:P2+ ?s } }",
    "SELECT * { ?s wdt:P1 ?o FILTER(isLiteral(?o) && ?o > 20) }",
    "SELECT * { ?s wdt:P1 ?o BIND(STR(?o) AS ?t) ?s wdt:P2 ?x }",
    "SELECT * { BIND(wd:Q1 AS ?s) ?s wdt:P1 ?o }",
    "SELECT * { ?s wdt:P1 ?o { SELECT ?s (COUNT(*) AS ?n) { ?s wdt:P2 ?x } GROUP BY ?s } }",
    "SELECT * { { SELECT DISTINCT ?x { ?s wdt:P1 ?x } } ?x wdt:P2 ?y . ?y wdt:P3 ?z }",
    "SELECT (COUNT(*) AS ?n) (SUM(?o) AS ?t) { ?s wdt:P1 ?o }",
    "SELECT ?p (COUNT(DISTINCT ?s) AS ?n) { ?s ?p ?o } GROUP BY ?p HAVING(COUNT(*) > 3)",
    "SELECT * { GRAPH ?g { ?s ?p ?o } }",
    "SELECT * { ?s wdt:P1 ?o GRAPH ?g { ?s ?p ?o } }",
    "SELECT * { ?s wdt:P1 10 . ?s ?p ?o . ?o ?q ?r }",
    "SELECT * { ?s ?p ?o . ?p ?q ?r }",
    "SELECT * { ?s wdt:P1 ?v . FILTER(?v IN (1, 2, wd:Q2)) ?t wdt:P2 ?v }",
    "SELECT * { ?s wdt:P1 ?v . ?t wdt:P2 ?v FILTER(?v = wd:Q2) }",
    "SELECT * { ?s wdt:P1 ?v . ?t wdt:P2 ?v FILTER(?v IN (wd:Q2, wd:Q3, wd:Q2) && ?s != ?t) }",
    "SELECT * { ?s wdt:P1 ?v . ?s rdfs:label ?l FILTER(?l = \"label 3\"@en || ?l = \"label 4\"@en) }",
    "SELECT * { ?s wdt:P1 ?v . ?s rdfs:label ?l FILTER(\"label 3\"@en = ?l) }",
    "SELECT * { ?s wdt:P1 ?v OPTIONAL { ?v wdt:P2 ?x } FILTER(?x = wd:Q2) }",
    "SELECT * { ?s wdt:P1 ?v OPTIONAL { ?v wdt:P2 ?x } FILTER(sameTerm(?v, wd:Q2)) }",
    "SELECT * { { ?s wdt:P1 ?v } UNION { ?s wdt:P2 ?w } FILTER(?s = wd:Q2) }",
    "SELECT * { { ?s wdt:P1 ?v } UNION { ?s wdt:P2 ?w } FILTER(?v = wd:Q2) }",
    "SELECT * { ?s wdt:P1 ?v MINUS { ?s wdt:P2 ?w } BIND(STR(?v) AS ?t) FILTER(?s = wd:Q2 && ?t != \"x\") }",
    "SELECT * { ?s wdt:P1 ?v FILTER EXISTS { ?s wdt:P2 ?w FILTER(?w = wd:Q2 || ?w = ?v) } }",
    "SELECT * { ?s wdt:P1 ?v . ?s wdt:P2 ?w . ?w rdfs:label ?l FILTER(CONTAINS(?l, \"3\") && STR(?v) < STR(?w)) }",
    "SELECT * {}",
];

fn parse(query: &str) -> Query {
    let mut parser = SparqlParser::new();
    for (prefix, iri) in [
        ("wd", "http://www.wikidata.org/entity/"),
        ("wdt", "http://www.wikidata.org/prop/direct/"),
        ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ] {
        parser = parser.with_prefix(prefix, iri).unwrap();
    }
    parser.parse_query(query).unwrap()
}

fn solutions(results: QueryResults<'_>) -> Vec<String> {
    let QueryResults::Solutions(solutions) = results else { panic!("a SELECT") };
    let mut names: Vec<_> = solutions.variables().to_vec();
    names.sort_by(|a, b| a.as_str().cmp(b.as_str()));
    let row = |row: spareval::QuerySolution| {
        let values = names.iter().map(|name| row.get(name).map(ToString::to_string).unwrap_or_default());
        values.collect::<Vec<_>>().join("\t")
    };
    let mut rows: Vec<String> = solutions.map(|solution| row(solution.unwrap())).collect();
    rows.sort();
    rows
}

/// Returns 900 triples among few nodes, so that most patterns have matches.
fn triples() -> String {
    let mut seed = 7_u32;
    let mut next = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    let mut out = String::new();
    for _ in 0..900 {
        let object = match next(9) {
            0 => format!("\"{}\"^^<http://www.w3.org/2001/XMLSchema#integer>", next(40)),
            1 => format!("\"label {}\"@{}", next(30), ["en", "de"][next(2) as usize]),
            2 => format!("<http://www.wikidata.org/prop/direct/P{}>", next(5) + 1),
            _ => format!("<http://www.wikidata.org/entity/Q{}>", next(120)),
        };
        let predicate = match next(12) {
            0 => "http://www.w3.org/2000/01/rdf-schema#label".to_owned(),
            n => format!("http://www.wikidata.org/prop/direct/P{}", n % 5 + 1),
        };
        out.push_str(&format!("<http://www.wikidata.org/entity/Q{}> <{predicate}> {object} .\n", next(120)));
    }
    out
}

struct Both {
    store: Arc<Store>,
    dataset: Dataset,
}

fn both() -> Both {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("x.nt"), folder.path().join("x.terrapin"));
    let text = triples();
    std::fs::write(&file, &text).unwrap();
    let options = LoadOptions { wikidata: vec![file], memory: 1 << 26, ..LoadOptions::new(out.clone()) };
    load(&options, &Quiet).expect("it loads");
    let snapshot = Arc::new(Snapshot::open(&out).unwrap());
    let parser = oxrdfio::RdfParser::from_format(oxrdfio::RdfFormat::NTriples);
    let dataset: Dataset =
        parser.for_slice(&text).map(|quad| quad.unwrap()).collect::<Vec<Quad>>().into_iter().collect();
    Both { store: Arc::new(Store::open(&snapshot).unwrap().unwrap()), dataset }
}

fn planned(query: &str, view: &mut TripleView) -> Query {
    let query = format!("{}{query}", syntax::declarations(query));
    let mut query = syntax::parse(&query, Dialect::Standard).unwrap().query;
    query.pattern = plan(query.pattern, view, Goal::default());
    convert::query(query)
}

#[test]
fn planning_changes_no_solution() {
    let Both { store, dataset } = both();
    for text in QUERIES {
        let plain = parse(text);
        let expected = solutions(QueryEvaluator::new().prepare(&plain).execute(&dataset).unwrap());
        let mut view = TripleView::new(Arc::clone(&store), Arc::new(Budget::new(&Limits::default())));
        let query = planned(text, &mut view);
        let got = solutions(QueryEvaluator::new().prepare(&query).execute(&view).unwrap());
        assert!(got == expected, "{text}: {} solutions, {} expected\n{query}", got.len(), expected.len());
        view.check().unwrap();
    }
}

#[test]
fn a_bound_ends_a_walk_and_every_run_does_the_same_work() {
    let Both { store, .. } = both();
    let text = "SELECT * { ?x (wdt:P1|wdt:P2|^wdt:P3)* ?y }";
    let run = |limits: &Limits| {
        let budget = Arc::new(Budget::new(limits));
        let mut view = TripleView::new(Arc::clone(&store), Arc::clone(&budget));
        let query = planned(text, &mut view);
        let QueryResults::Solutions(rows) = QueryEvaluator::new().prepare(&query).execute(&view).unwrap() else {
            panic!("a SELECT")
        };
        let mut error = None;
        for row in rows {
            if let Err(e) = row {
                error = Some(e);
                break;
            }
        }
        (budget.work_done(), error)
    };
    let (work, error) = run(&Limits::default());
    assert!(error.is_none() && work > 10_000);
    assert_eq!(run(&Limits::default()).0, work);
    let (_, error) = run(&Limits { work: Some(work / 2), ..Limits::default() });
    let Some(spareval::QueryEvaluationError::Dataset(error)) = error else { panic!("{error:?}") };
    assert!(matches!(error.downcast_ref::<ReadError>(), Some(ReadError::Exceeded(_))), "{error}");
}
