//! Runs the evaluator alone, over a dataset in memory.

use std::panic::{AssertUnwindSafe, catch_unwind};

use oxrdf::{Dataset, GraphName, NamedNode, Quad, Variable};
use spareval::{QueryEvaluator, QueryResults};
use spargebra::{Query, SparqlParser};

use super::answer::Answer;
use super::manifest::{Kind, Test, graph, url};

/// Returns whether the evaluator passes a test.
pub fn passes(test: &Test) -> bool {
    let parsed = SparqlParser::new().with_base_iri(url(&test.file)).expect("an IRI").parse_query(&test.text);
    match (test.kind, parsed) {
        (Kind::PositiveSyntax, parsed) => parsed.is_ok(),
        (Kind::NegativeSyntax, parsed) => parsed.is_err(),
        (Kind::Evaluation, Ok(query)) => {
            let expected = test.result.as_deref();
            let expected = expected.and_then(|file| Answer::read(file, is_graph(&query), test.lax));
            let found = catch_unwind(AssertUnwindSafe(|| answer(test, &query))).ok().flatten();
            expected.is_some() && found == expected
        }
        (Kind::Evaluation, Err(_)) => false,
    }
}

/// Returns whether the answer consists of triples.
pub fn is_graph(query: &Query) -> bool {
    matches!(query, Query::Construct { .. } | Query::Describe { .. })
}

fn answer(test: &Test, query: &Query) -> Option<Answer> {
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
        QueryResults::Boolean(value) => Some(Answer::Boolean(value)),
        QueryResults::Graph(triples) => Some(Answer::triples(triples.collect::<Result<_, _>>().ok()?)),
        QueryResults::Solutions(solutions) => {
            let owned = |(v, t): (&Variable, &oxrdf::Term)| (v.clone(), t.clone());
            let all: Result<Vec<_>, _> = solutions.map(|s| s.map(|s| s.iter().map(owned).collect())).collect();
            Some(Answer::solutions(all.ok()?, test.lax))
        }
    }
}
