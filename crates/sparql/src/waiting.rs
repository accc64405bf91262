//! What waits for values from elsewhere in the query.

use oxrdf::Variable;
use spargebra::algebra::{Expression, GraphPattern};

/// Something that has to wait until its variables have values: a filter, or a value for a variable.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    /// What it is about.
    pub needs: Vec<Variable>,
    /// The condition, or the value of the variable.
    pub expression: Expression,
    /// The variable that gets the value; None for a condition.
    pub variable: Option<Variable>,
}

impl Pending {
    /// The pattern with it, now that it can be.
    pub fn apply(self, pattern: GraphPattern) -> GraphPattern {
        let inner = Box::new(pattern);
        match self.variable {
            Some(variable) => GraphPattern::Extend { inner, variable, expression: self.expression },
            None => GraphPattern::Filter { inner, expr: self.expression },
        }
    }
}

/// A pattern and what waits for values from around it.
pub(crate) type Waiting = (GraphPattern, Vec<Pending>);
