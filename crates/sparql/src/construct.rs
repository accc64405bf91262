//! CONSTRUCT: fills a template with solutions and returns each triple once.

use std::collections::{BTreeMap, HashSet};

use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple, Variable};

use terrapin_base::deferred::Deferred;
use terrapin_sparql_syntax::algebra::{NamedNodePattern, TermPattern, TriplePattern};

/// Approximate size in bytes of a stored triple without its texts.
const TRIPLE_BYTES: u64 = 160;

/// A CONSTRUCT template and the set of triples that it has produced.
pub(super) struct Template<'q> {
    patterns: &'q [TriplePattern],
    columns: &'q [Variable],
    seen: Deferred<HashSet<Triple>>,
    /// Approximate size of these triples in bytes.
    pub bytes: u64,
}

impl<'q> Template<'q> {
    /// Creates a template for solutions with these columns.
    pub fn new(patterns: &'q [TriplePattern], columns: &'q [Variable]) -> Template<'q> {
        Template { patterns, columns, seen: Deferred::default(), bytes: 0 }
    }

    /// Returns the triples of a solution that no earlier solution produced. Invalid triples are skipped: those with an
    /// unbound variable or with a literal as the subject. `blank` creates the blank nodes; each solution has its own.
    pub fn fill(&mut self, values: &[Option<Term>], mut blank: impl FnMut() -> BlankNode) -> Vec<Triple> {
        let mut blanks: BTreeMap<&str, BlankNode> = BTreeMap::new();
        let mut triples = Vec::new();
        let value = |variable: &Variable| {
            let column = self.columns.iter().position(|column| column == variable)?;
            values.get(column)?.clone()
        };
        for pattern in self.patterns {
            let mut term = |term: &'q TermPattern| match term {
                TermPattern::NamedNode(node) => Some(node.clone().into()),
                TermPattern::Literal(literal) => Some(literal.clone().into()),
                TermPattern::Variable(variable) => value(variable),
                TermPattern::BlankNode(node) => {
                    Some(blanks.entry(node.as_str()).or_insert_with(&mut blank).clone().into())
                }
            };
            let subject = match term(&pattern.subject) {
                Some(Term::NamedNode(node)) => NamedOrBlankNode::from(node),
                Some(Term::BlankNode(node)) => node.into(),
                _ => continue,
            };
            let predicate = match &pattern.predicate {
                NamedNodePattern::NamedNode(node) => node.clone(),
                NamedNodePattern::Variable(variable) => match value(variable) {
                    Some(Term::NamedNode(node)) => node,
                    _ => continue,
                },
            };
            let Some(object) = term(&pattern.object) else { continue };
            let triple = Triple { subject, predicate, object };
            if self.seen.insert(triple.clone()) {
                self.bytes += TRIPLE_BYTES + text(&triple.subject.clone().into()) + text(&triple.object);
                triples.push(triple);
            }
        }
        triples
    }
}

/// Returns the length of a term's text in bytes.
fn text(term: &Term) -> u64 {
    match term {
        Term::NamedNode(node) => node.as_str().len() as u64,
        Term::BlankNode(node) => node.as_str().len() as u64,
        Term::Literal(literal) => literal.value().len() as u64,
    }
}
