//! Answers in a form that can be compared independent of the labels of blank nodes.

use std::path::Path;
use std::str::FromStr;

use oxrdf::graph::CanonicalizationAlgorithm;
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Graph, NamedNode, NamedNodeRef, Term, TermRef, Triple, Variable};
use oxsdatatypes::Integer;
use sparesults::QueryResultsFormat;
use spareval::ExpressionTerm;

use super::program::Pass;
use super::{manifest, program};

const RS: &str = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#";

/// Returns a term with its value in canonical form. Other notations of the same number or date are equally right, and
/// the suite's answers use many of them.
fn one_form(term: Term) -> Term {
    if let Term::Triple(mut triple) = term {
        triple.object = one_form(triple.object);
        return triple.into();
    }
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

/// The values of one solution.
pub type Solution = Vec<(Variable, Term)>;

/// An answer.
#[derive(Debug, Clone)]
pub enum ConformanceAnswer {
    /// The answer of an ASK.
    Boolean(bool),
    /// The answer of a SELECT; `is_ordered` if the suite defines the order.
    Solutions {
        /// The solutions.
        rows: Vec<Solution>,
        /// Whether their order counts.
        is_ordered: bool,
    },
    /// Triples.
    Graph(Box<Graph>),
}

impl ConformanceAnswer {
    /// Compares an answer with the suite's. If duplicates may be removed (`lax`), each solution counts once.
    ///
    /// # Errors
    /// Returns an error with both answers if they differ.
    pub fn compare(&self, expected: &ConformanceAnswer, lax: bool) -> Result<Pass, String> {
        let differ = || Err(format!("answers {self:?}, not {expected:?}"));
        let (found, wanted) = match (self, expected) {
            (ConformanceAnswer::Boolean(a), ConformanceAnswer::Boolean(b)) => {
                return if a == b { Ok(Pass::ByTerm) } else { differ() };
            }
            (ConformanceAnswer::Graph(a), ConformanceAnswer::Graph(b)) => (a.as_ref().clone(), b.as_ref().clone()),
            (ConformanceAnswer::Solutions { rows, .. }, ConformanceAnswer::Solutions { rows: others, is_ordered }) => {
                let order = |rows: &[Solution]| rows.iter().map(|row| anonymous(row)).collect::<Vec<_>>();
                if *is_ordered && order(rows) != order(others) {
                    return Err(format!("orders {rows:?}, not {others:?}"));
                }
                (as_graph(rows, lax), as_graph(others, lax))
            }
            _ => return differ(),
        };
        if canonical(found.clone()) == canonical(wanted.clone()) {
            return Ok(Pass::ByTerm);
        }
        if canonical(by_value(&found)) == canonical(by_value(&wanted)) { Ok(Pass::ByValue) } else { differ() }
    }

    /// Reads the answer from a file of the suite. `is_graph` distinguishes triples of a CONSTRUCT from solutions
    /// written as triples.
    pub fn read(path: &Path, is_graph: bool) -> Option<ConformanceAnswer> {
        let extension = path.extension()?.to_str()?;
        let Some(format) = QueryResultsFormat::from_extension(extension) else {
            let graph = manifest::graph(path);
            return if is_graph { Some(ConformanceAnswer::Graph(Box::new(graph))) } else { result_set(&graph) };
        };
        program::results(format, &std::fs::read(path).ok()?).ok()
    }
}

/// Returns a solution with values in one form and blank nodes without labels.
fn anonymous(row: &[(Variable, Term)]) -> Solution {
    let plain = |term: &Term| match term {
        Term::BlankNode(_) => BlankNode::new_unchecked("b").into(),
        term => one_form(term.clone()),
    };
    let mut row: Solution = row.iter().map(|(variable, term)| (variable.clone(), plain(term))).collect();
    row.sort_by(|a, b| a.0.cmp(&b.0));
    row
}

/// Converts solutions to blank nodes with their bindings.
fn as_graph(rows: &[Solution], lax: bool) -> Graph {
    let mut graph = Graph::new();
    let mut all: Vec<Solution> = Vec::new();
    for bindings in rows {
        let mut bindings = bindings.clone();
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
            graph.insert(&Triple::new(solution.clone(), name, value));
        }
    }
    graph
}

fn by_value(graph: &Graph) -> Graph {
    graph.iter().map(|t| Triple::new(t.subject, t.predicate, one_form(t.object.into_owned()))).collect()
}

fn canonical(mut graph: Graph) -> Graph {
    graph.canonicalize(CanonicalizationAlgorithm::Unstable);
    graph
}

/// Reads solutions in the vocabulary of result sets, which the suite of SPARQL 1.0 uses.
fn result_set(graph: &Graph) -> Option<ConformanceAnswer> {
    let node = |name: &str| NamedNode::new_unchecked(format!("{RS}{name}"));
    if let Some(triple) = graph.triples_for_predicate(&node("boolean")).next() {
        return Some(ConformanceAnswer::Boolean(matches!(triple.object, TermRef::Literal(l) if l.value() == "true")));
    }
    let is_a = NamedNodeRef::new_unchecked("http://www.w3.org/1999/02/22-rdf-syntax-ns#type");
    graph.subject_for_predicate_object(is_a, &node("ResultSet"))?;
    let mut solutions: Vec<(Option<u64>, Solution)> = Vec::new();
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
        let index = graph.object_for_subject_predicate(solution, &node("index")).and_then(|index| match index {
            TermRef::Literal(index) => index.value().parse().ok(),
            _ => None,
        });
        solutions.push((index, bindings));
    }
    let is_ordered = !solutions.is_empty() && solutions.iter().all(|(index, _)| index.is_some());
    solutions.sort_by_key(|(index, _)| *index);
    Some(ConformanceAnswer::Solutions { rows: solutions.into_iter().map(|(_, row)| row).collect(), is_ordered })
}
