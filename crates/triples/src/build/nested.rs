//! Triple terms with blank nodes. Their keys contain the labels of the blank nodes, which are known only after all triples
//! have been added. Until then, such a term is handled like a blank node with three triples of its own: the triples that
//! connect it with its subject, predicate and object. Labels of blank nodes therefore depend also on the triple terms
//! that contain them. Blank nodes and triple terms with blank nodes become terms of the snapshot even if they occur only
//! within other triple terms.

use oxrdf::{NamedOrBlankNode, Term, TermRef, Triple};
use rustc_hash::FxHashMap;

use super::blank::{TripleEnd, digest};
use super::{TripleBuildError, TripleBuilder};
use crate::{key, layout};

/// A component of a triple term.
enum Component {
    /// The key of a term without blank nodes.
    Key(Vec<u8>),
    /// The index of a blank node, or of a triple term with blank nodes.
    Blank(u32),
}

/// The triple terms with blank nodes, by their indices among the blank nodes: subject, predicate, object.
#[derive(Default)]
pub struct NestedTriples(FxHashMap<u32, [Component; 3]>);

/// Returns whether a triple term contains a blank node.
pub fn has_blank_node(triple: &Triple) -> bool {
    triple.subject.is_blank_node()
        || match &triple.object {
            Term::BlankNode(_) => true,
            Term::Triple(inner) => has_blank_node(inner),
            Term::NamedNode(_) | Term::Literal(_) => false,
        }
}

impl NestedTriples {
    /// Appends the key of a blank node or of a triple term with blank nodes, by its index.
    pub fn push_key(&self, out: &mut Vec<u8>, index: u32, labels: &[String]) {
        let Some(components) = self.0.get(&index) else {
            let label = labels.get(index as usize).map_or("", String::as_str);
            return key::push(out, oxrdf::BlankNodeRef::new_unchecked(label).into());
        };
        key::push_triple(out, |number, out| match components.get(usize::from(number)) {
            Some(Component::Key(key)) => out.extend_from_slice(key),
            Some(Component::Blank(index)) => self.push_key(out, *index, labels),
            None => {}
        });
    }
}

impl TripleBuilder {
    /// Returns the index of a triple term with blank nodes among the blank nodes.
    pub(super) fn nested(&mut self, triple: &Triple) -> Result<u32, TripleBuildError> {
        // No blank node has a label of this form. The text may be long, and contains those of all inner terms.
        let text = TermRef::Triple(triple).to_string();
        let label = format!("<<( {}", terrapin_snapshot::hex(&digest(text.as_bytes())));
        if let Some(&index) = self.labels.get(&label) {
            return Ok(index);
        }
        let subject = match &triple.subject {
            NamedOrBlankNode::NamedNode(node) => self.component(node.as_ref().into())?,
            NamedOrBlankNode::BlankNode(node) => self.component(node.as_ref().into())?,
        };
        let predicate = self.component(triple.predicate.as_ref().into())?;
        let object = self.component(triple.object.as_ref())?;
        let index = self.new_blank(label)?;
        let components = [subject, predicate, object];
        for (component, role) in components.iter().zip(["subject", "predicate", "object"]) {
            let end = match component {
                Component::Key(key) => TripleEnd::Term(digest(key)),
                Component::Blank(index) => TripleEnd::Blank(*index),
            };
            let role = digest(format!("{}.{role}", layout::STRINGS).as_bytes());
            self.blank.triples.push((TripleEnd::Blank(index), role, end));
        }
        self.nested.0.insert(index, components);
        Ok(index)
    }

    fn component(&mut self, term: TermRef<'_>) -> Result<Component, TripleBuildError> {
        match term {
            TermRef::BlankNode(node) => Ok(Component::Blank(self.blank_node(node)?)),
            TermRef::Triple(triple) if has_blank_node(triple) => Ok(Component::Blank(self.nested(triple)?)),
            term => {
                let mut key = Vec::new();
                key::push(&mut key, term);
                Ok(Component::Key(key))
            }
        }
    }
}
