//! The functions that a query calls.

use oxrdf::NamedNode;

use super::{Own, call};
use terrapin_sparql_syntax::algebra::{Expression, Function};

/// The functions that a query calls, each once.
#[derive(Debug, Default)]
pub(crate) struct Called {
    /// The names of the functions, in the order of their first calls.
    pub names: Vec<NamedNode>,
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
    pub fn own(&mut self, function: Own, arguments: Vec<Expression>) -> Expression {
        let call = call(function, arguments);
        if let Expression::Call(Function::Custom(name), _) = &call {
            self.add(name);
        }
        call
    }
}
