//! Labels of the blank nodes that a query makes.

use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple};

use super::row::Row;

/// Blank nodes that the evaluator made have random labels; in an answer they are numbered as they come.
#[derive(Default)]
pub(super) struct Labels {
    names: std::collections::HashMap<BlankNode, BlankNode>,
    next: usize,
}

impl Labels {
    /// Whether a label is one that the evaluator made up.
    fn is_random(node: &BlankNode) -> bool {
        let label = node.as_str();
        (28..=32).contains(&label.len()) && label.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    }

    /// The next one.
    pub fn fresh(&mut self) -> BlankNode {
        self.next += 1;
        BlankNode::new_unchecked(format!("new{}", self.next - 1))
    }

    fn node(&mut self, node: BlankNode) -> BlankNode {
        if !Self::is_random(&node) {
            return node;
        }
        if let Some(known) = self.names.get(&node) {
            return known.clone();
        }
        let fresh = self.fresh();
        self.names.insert(node, fresh.clone());
        fresh
    }

    fn term(&mut self, term: Term) -> Term {
        match term {
            Term::BlankNode(node) => self.node(node).into(),
            term => term,
        }
    }

    /// A solution with its blank nodes numbered; nothing where it has none to number.
    pub fn solution(&mut self, values: &[Option<Term>]) -> Option<Row> {
        let random = |value: &Option<Term>| matches!(value, Some(Term::BlankNode(node)) if Self::is_random(node));
        values
            .iter()
            .any(random)
            .then(|| values.iter().map(|value| value.clone().map(|term| self.term(term))).collect())
    }

    /// A triple with its blank nodes numbered.
    pub fn triple(&mut self, triple: Triple) -> Triple {
        let subject = match triple.subject {
            NamedOrBlankNode::BlankNode(node) => self.node(node).into(),
            subject => subject,
        };
        Triple { subject, predicate: triple.predicate, object: self.term(triple.object) }
    }
}
