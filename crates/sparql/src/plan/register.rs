//! Relations get numbers.

use terrapin_sparql_syntax::convert;
use terrapin_triples::{Relation, View};

/// Registers a relation with a view; its number, by which patterns have it.
pub fn register(relation: Box<dyn Relation>, view: &mut View) -> usize {
    let number = view.relations();
    view.register(convert::relation(number), relation);
    number
}
