//! Labels of the blank nodes that a query creates.

use oxrdf::{BlankNode, NamedOrBlankNode, Term, Triple};

use super::row::Row;

/// Renames blank nodes created by functions. Their labels are random; in an answer they are numbered in order of
/// appearance.
#[derive(Default)]
pub(super) struct BlankLabels {
    names: std::collections::HashMap<BlankNode, BlankNode>,
    next: usize,
}

impl BlankLabels {
    /// Returns whether a label was generated: 28 to 32 lower-case hexadecimal digits.
    fn is_random(node: &BlankNode) -> bool {
        let label = node.as_str();
        (28..=32).contains(&label.len()) && label.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    }

    /// Returns the next numbered blank node.
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
            Term::Triple(triple) => self.triple(*triple).into(),
            term => term,
        }
    }

    /// Returns whether a term is or contains a random blank node.
    fn has_random(term: &Term) -> bool {
        match term {
            Term::BlankNode(node) => Self::is_random(node),
            Term::Triple(triple) => {
                let of_subject = matches!(&triple.subject, NamedOrBlankNode::BlankNode(node) if Self::is_random(node));
                of_subject || Self::has_random(&triple.object)
            }
            Term::NamedNode(_) | Term::Literal(_) => false,
        }
    }

    /// Returns the solution with its random blank nodes numbered; `None` if it contains no such node.
    pub fn solution(&mut self, values: &[Option<Term>]) -> Option<Row> {
        let random = |value: &Option<Term>| value.as_ref().is_some_and(Self::has_random);
        values
            .iter()
            .any(random)
            .then(|| values.iter().map(|value| value.clone().map(|term| self.term(term))).collect())
    }

    /// Returns the triple with its random blank nodes numbered.
    pub fn triple(&mut self, triple: Triple) -> Triple {
        let subject = match triple.subject {
            NamedOrBlankNode::BlankNode(node) => self.node(node).into(),
            subject => subject,
        };
        Triple { subject, predicate: triple.predicate, object: self.term(triple.object) }
    }
}
