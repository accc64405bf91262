//! Relations get numbers.

use terrapin_sparql_syntax::convert;
use terrapin_triples::{Relation, View};

/// Registers a relation with a view; its number, by which patterns have it. `label` tells people what it is.
pub fn register(relation: Box<dyn Relation>, label: String, view: &mut View) -> usize {
    let number = view.relations();
    view.register(convert::relation(number), label, relation);
    number
}
