//! Runs the evaluator alone, over a dataset in memory.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxrdf::{Dataset, GraphName, NamedNode, Quad, Variable};
use spareval::{QueryEvaluator, QueryResults};
use spargebra::{Query, SparqlParser};

use super::answer::ConformanceAnswer;
use super::manifest::{W3cTest, W3cTestKind, graph, url};

/// Returns whether the evaluator passes a test.
pub fn passes(test: &W3cTest) -> bool {
    let parsed = SparqlParser::new().with_base_iri(url(&test.file)).expect("an IRI").parse_query(&test.text);
    match (test.kind, parsed) {
        (W3cTestKind::PositiveSyntax, parsed) => parsed.is_ok(),
        (W3cTestKind::NegativeSyntax, parsed) => parsed.is_err(),
        (W3cTestKind::Evaluation, Ok(query)) => {
            let expected = test.result.as_deref();
            let expected = expected.and_then(|file| ConformanceAnswer::read(file, is_graph(&query), test.lax));
            let found = catch_unwind(AssertUnwindSafe(|| answer(test, &query))).ok().flatten();
            expected.is_some() && found == expected
        }
        (W3cTestKind::Evaluation, Err(_)) => false,
    }
}

/// Returns whether the answer consists of triples.
pub fn is_graph(query: &Query) -> bool {
    matches!(query, Query::Construct { .. } | Query::Describe { .. })
}

fn answer(test: &W3cTest, query: &Query) -> Option<ConformanceAnswer> {
    let mut dataset = Dataset::new();
    for (path, name) in test
        .data
        .iter()
        .map(|path| (path, GraphName::DefaultGraph))
        .chain(test.graphs.iter().map(|path| (path, NamedNode::new_unchecked(url(path)).into())))
    {
        for triple in &graph(path) {
            dataset.insert(&Quad::new(triple.subject, triple.predicate, triple.object, name.clone()));
        }
    }
    let evaluator = QueryEvaluator::new();
    match evaluator.prepare(query).execute(&dataset).ok()? {
        QueryResults::Boolean(value) => Some(ConformanceAnswer::Boolean(value)),
        QueryResults::Graph(triples) => Some(ConformanceAnswer::triples(triples.collect::<Result<_, _>>().ok()?)),
        QueryResults::Solutions(solutions) => {
            let owned = |(v, t): (&Variable, &oxrdf::Term)| (v.clone(), t.clone());
            let all: Result<Vec<_>, _> = solutions.map(|s| s.map(|s| s.iter().map(owned).collect())).collect();
            Some(ConformanceAnswer::solutions(all.ok()?, test.lax))
        }
    }
}
