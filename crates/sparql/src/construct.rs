//! CONSTRUCT: fills a template with solutions and returns each triple once.

use std::collections::{BTreeMap, HashSet};

use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple, Variable};

use super::row::term_bytes;
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
            let mut node = |node: &'q str| blanks.entry(node).or_insert_with(&mut blank).clone();
            let Some(triple) = filled(pattern, &value, &mut node) else { continue };
            if self.seen.insert(triple.clone()) {
                self.bytes +=
                    TRIPLE_BYTES + (term_bytes(&triple.subject.clone().into()) + term_bytes(&triple.object)) as u64;
                triples.push(triple);
            }
        }
        triples
    }
}

/// Fills a triple of the template; `None` if it is invalid.
fn filled<'q>(
    pattern: &'q TriplePattern,
    value: &impl Fn(&Variable) -> Option<Term>,
    blank: &mut impl FnMut(&'q str) -> BlankNode,
) -> Option<Triple> {
    let mut term = |term: &'q TermPattern| match term {
        TermPattern::NamedNode(node) => Some(node.clone().into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        TermPattern::Variable(variable) => value(variable),
        TermPattern::BlankNode(node) => Some(blank(node.as_str()).into()),
        TermPattern::Triple(triple) => filled(triple, value, blank).map(Term::from),
    };
    let subject = NamedOrBlankNode::try_from(term(&pattern.subject)?).ok()?;
    let predicate = match &pattern.predicate {
        NamedNodePattern::NamedNode(node) => node.clone(),
        NamedNodePattern::Variable(variable) => match value(variable)? {
            Term::NamedNode(node) => node,
            _ => return None,
        },
    };
    Some(Triple { subject, predicate, object: term(&pattern.object)? })
}
