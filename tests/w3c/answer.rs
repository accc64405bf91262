//! Answers in a form that can be compared independent of the labels of blank nodes.

use std::path::Path;
use std::str::FromStr;

use oxrdf::graph::CanonicalizationAlgorithm;
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Graph, NamedNode, NamedNodeRef, Term, TermRef, Triple, TripleRef, Variable};
use oxsdatatypes::Integer;
use sparesults::{QueryResultsFormat, QueryResultsParser, ReaderQueryResultsParserOutput};
use spareval::ExpressionTerm;

use super::manifest;

const RS: &str = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#";

/// Returns a term with its value in canonical form. Other notations of the same number or date are equally right, and
/// the suite's answers use many of them.
fn one_form(term: Term) -> Term {
    match &term {
        // The evaluator handles these two as other types.
        Term::Literal(literal) if Integer::from_str(literal.value()).is_ok() && literal.datatype() != xsd::INTEGER => {
            let is_float = [xsd::DECIMAL, xsd::DOUBLE, xsd::FLOAT, xsd::BOOLEAN].contains(&literal.datatype());
            if is_float { ExpressionTerm::from(term).into() } else { term }
        }
        Term::Literal(literal) if literal.datatype() == xsd::DATE_TIME_STAMP => term,
        Term::Literal(_) => ExpressionTerm::from(term).into(),
        _ => term,
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub enum ConformanceAnswer {
    /// The answer of an ASK.
    Boolean(bool),
    /// Solutions, or triples, as a canonical graph.
    Graph(Box<Graph>),
}

impl ConformanceAnswer {
    /// Converts solutions to blank nodes with their bindings. If duplicates may be removed (`lax`), each solution
    /// counts once.
    pub fn solutions(solutions: impl IntoIterator<Item = Vec<(Variable, Term)>>, lax: bool) -> ConformanceAnswer {
        let mut graph = Graph::new();
        let mut all: Vec<Vec<(Variable, Term)>> = Vec::new();
        for mut bindings in solutions {
            bindings.sort_by(|a, b| a.0.cmp(&b.0));
            if !(lax && all.contains(&bindings)) {
                all.push(bindings);
            }
        }
        for (number, bindings) in all.into_iter().enumerate() {
            let solution = BlankNode::new_unchecked(format!("solution{number}"));
            let is_a = NamedNode::new_unchecked("urn:solution");
            graph.insert(&Triple::new(solution.clone(), is_a.clone(), is_a));
            for (variable, value) in bindings {
                let name = NamedNode::new_unchecked(format!("urn:variable:{}", variable.as_str()));
                graph.insert(&Triple::new(solution.clone(), name, one_form(value)));
            }
        }
        ConformanceAnswer::triples(graph)
    }

    /// Converts triples.
    pub fn triples(graph: Graph) -> ConformanceAnswer {
        let one = |t: TripleRef<'_>| Triple::new(t.subject, t.predicate, one_form(t.object.into_owned()));
        let mut graph: Graph = graph.iter().map(one).collect();
        graph.canonicalize(CanonicalizationAlgorithm::Unstable);
        ConformanceAnswer::Graph(Box::new(graph))
    }

    /// Reads the answer from a file of the suite. `is_graph` distinguishes triples of a CONSTRUCT from solutions
    /// written as triples.
    pub fn read(path: &Path, is_graph: bool, lax: bool) -> Option<ConformanceAnswer> {
        let extension = path.extension()?.to_str()?;
        let Some(format) = QueryResultsFormat::from_extension(extension) else {
            let graph = manifest::graph(path);
            return if is_graph { Some(ConformanceAnswer::triples(graph)) } else { result_set(&graph, lax) };
        };
        let bytes = std::fs::read(path).ok()?;
        match QueryResultsParser::from_format(format).for_reader(bytes.as_slice()).ok()? {
            ReaderQueryResultsParserOutput::Boolean(value) => Some(ConformanceAnswer::Boolean(value)),
            ReaderQueryResultsParserOutput::Solutions(solutions) => {
                let owned = |(v, t): (&Variable, &Term)| (v.clone(), t.clone());
                let all: Result<Vec<_>, _> = solutions.map(|s| s.map(|s| s.iter().map(owned).collect())).collect();
                Some(ConformanceAnswer::solutions(all.ok()?, lax))
            }
        }
    }
}

/// Reads solutions in the vocabulary of result sets, which the suite of SPARQL 1.0 uses.
fn result_set(graph: &Graph, lax: bool) -> Option<ConformanceAnswer> {
    let node = |name: &str| NamedNode::new_unchecked(format!("{RS}{name}"));
    if let Some(triple) = graph.triples_for_predicate(&node("boolean")).next() {
        return Some(ConformanceAnswer::Boolean(matches!(triple.object, TermRef::Literal(l) if l.value() == "true")));
    }
    let is_a = NamedNodeRef::new_unchecked("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
    graph.subject_for_predicate_object(is_a, &node("ResultSet"))?;
    let mut solutions = Vec::new();
    for solution in graph.triples_for_predicate(&node("solution")).map(|t| t.object) {
        let TermRef::BlankNode(solution) = solution else { return None };
        let mut bindings = Vec::new();
        for binding in graph.objects_for_subject_predicate(solution, &node("binding")) {
            let TermRef::BlankNode(binding) = binding else { return None };
            let variable = graph.object_for_subject_predicate(binding, &node("variable"))?;
            let value = graph.object_for_subject_predicate(binding, &node("value"))?;
            let TermRef::Literal(variable) = variable else { return None };
            bindings.push((Variable::new_unchecked(variable.value()), value.into_owned()));
        }
        solutions.push(bindings);
    }
    Some(ConformanceAnswer::solutions(solutions, lax))
}
