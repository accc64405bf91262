//! Filters and values that need variables from elsewhere in the query.

use oxrdf::Variable;

use terrapin_sparql_syntax::algebra::{Expression, QueryPattern};

/// A filter or an assignment that cannot be applied until its variables are bound.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    /// The variables that must be bound first.
    pub needs: Vec<Variable>,
    /// The condition, or the value that is assigned.
    pub expression: Expression,
    /// The variable that the value is assigned to; `None` for a condition.
    pub variable: Option<Variable>,
}

impl Pending {
    /// Applies the filter or the assignment to a pattern.
    pub fn apply(self, pattern: QueryPattern) -> QueryPattern {
        match self.variable {
            Some(variable) => QueryPattern::extend(pattern, variable, self.expression),
            None => QueryPattern::filter(pattern, self.expression),
        }
    }
}

/// A pattern, and the filters and assignments that need variables from around it.
pub(crate) type Waiting = (QueryPattern, Vec<Pending>);
