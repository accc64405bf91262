//! Assigns numbers to relations.

use terrapin_sparql_syntax::convert;
use terrapin_triples::{TermRelation, TripleView};

/// Registers a relation with a view. Returns the number by which patterns refer to it. `label` appears in query plans.
pub fn register(relation: Box<dyn TermRelation>, label: String, view: &mut TripleView) -> usize {
    let number = view.relations();
    view.register(convert::relation(number), label, relation);
    number
}
