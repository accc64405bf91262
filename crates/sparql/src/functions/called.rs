//! The functions that a query calls.

use oxrdf::NamedNode;

use terrapin_sparql_syntax::algebra::{Expression, OwnFunction};

/// The functions that a query calls, each once.
#[derive(Debug, Default)]
pub(crate) struct Called {
    /// The names of functions in the query, in the order of their first calls.
    pub names: Vec<NamedNode>,
    /// The crate's own functions, in the order of their first calls.
    pub own: Vec<OwnFunction>,
}

impl Called {
    /// Returns whether the query calls a function.
    pub fn contains(&self, name: &NamedNode) -> bool {
        self.names.contains(name)
    }

    /// Records a call.
    pub fn add(&mut self, name: &NamedNode) {
        if !self.contains(name) {
            self.names.push(name.clone());
        }
    }

    /// Builds and records a call of one of the crate's own functions.
    pub fn own(&mut self, function: OwnFunction, arguments: Vec<Expression>) -> Expression {
        if !self.own.contains(&function) {
            self.own.push(function);
        }
        Expression::Own(function, arguments)
    }
}
