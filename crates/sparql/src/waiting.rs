//! What waits for values from elsewhere in the query.

use oxrdf::Variable;

use terrapin_sparql_syntax::algebra::{Expression, Pattern};

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
    pub fn apply(self, pattern: Pattern) -> Pattern {
        match self.variable {
            Some(variable) => Pattern::extend(pattern, variable, self.expression),
            None => Pattern::filter(pattern, self.expression),
        }
    }
}

/// A pattern and what waits for values from around it.
pub(crate) type Waiting = (Pattern, Vec<Pending>);
