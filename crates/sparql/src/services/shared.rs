//! What the services share: the count of work, and constants in patterns.

use oxrdf::Term;
use terrapin_budget::{Budget, checkpoint};
use terrapin_sparql_syntax::algebra::TermPattern;

use super::super::guard::exceeded;
use super::Result;

/// Counts units of work.
pub fn work(budget: &Budget, units: u64) -> Result<()> {
    checkpoint();
    budget.work(units).map_err(exceeded)
}

/// Returns the term of a pattern that is a constant.
pub fn ground(pattern: &TermPattern) -> Option<Term> {
    match pattern {
        TermPattern::NamedNode(node) => Some(node.clone().into()),
        TermPattern::Literal(literal) => Some(literal.clone().into()),
        _ => None,
    }
}
