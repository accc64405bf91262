//! Classifies SPARQL queries by their structure.
//!
//! The classes of Instruct-to-SPARQL (simple, moderate, complex) were assigned by a language model (section 3.3 of the
//! paper), which cannot be repeated. This rule has the same classes and needs only the query.

use std::collections::BTreeSet;

/// A class of complexity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ComplexityClass {
    /// At most two triple patterns, and no operators except DISTINCT, LIMIT and the label service.
    Simple,
    /// Neither simple nor complex.
    Moderate,
    /// A subquery, UNION, MINUS, EXISTS or HAVING, or more than four of the other operators, or more than eight triple
    /// patterns.
    Complex,
}

/// The structure of a query that its class depends on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct QueryShape {
    /// The names of its operators.
    pub operators: BTreeSet<&'static str>,
    /// Its triple patterns and paths.
    pub patterns: u64,
}

/// Operators that do not make a query harder.
const PLAIN: [&str; 3] = ["DISTINCT", "LIMIT", "label service"];
/// Operators of complex queries.
const HARD: [&str; 7] = ["EXISTS", "HAVING", "MINUS", "NOT EXISTS", "UNION", "named subquery", "subquery"];
/// Operators that are counted under another name as well: aggregate functions and steps of paths.
const COUNTED_ONCE: [&str; 2] = ["aggregate", "property path"];
/// The most triple patterns of a simple query.
const SIMPLE_PATTERNS: u64 = 2;
/// The most triple patterns of a moderate query.
const MODERATE_PATTERNS: u64 = 8;
/// The most operators of a moderate query.
const MODERATE_OPERATORS: usize = 4;

impl ComplexityClass {
    /// Returns its name in files.
    pub fn name(self) -> &'static str {
        match self {
            ComplexityClass::Simple => "simple",
            ComplexityClass::Moderate => "moderate",
            ComplexityClass::Complex => "complex",
        }
    }

    /// Returns the class of a structure.
    pub fn of(shape: &QueryShape) -> ComplexityClass {
        let counted =
            shape.operators.iter().filter(|name| !PLAIN.contains(name) && !COUNTED_ONCE.contains(name)).count();
        if shape.operators.iter().any(|name| HARD.contains(name))
            || counted > MODERATE_OPERATORS
            || shape.patterns > MODERATE_PATTERNS
        {
            ComplexityClass::Complex
        } else if counted == 0 && shape.patterns <= SIMPLE_PATTERNS {
            ComplexityClass::Simple
        } else {
            ComplexityClass::Moderate
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(operators: &[&'static str], patterns: u64) -> &'static str {
        ComplexityClass::of(&QueryShape { operators: operators.iter().copied().collect(), patterns }).name()
    }

    #[test]
    fn a_class_depends_on_the_structure_only() {
        assert_eq!((class(&[], 2), class(&["DISTINCT", "LIMIT", "label service"], 1)), ("simple", "simple"));
        assert_eq!((class(&[], 3), class(&["ORDER BY"], 1)), ("moderate", "moderate"));
        assert_eq!((class(&["UNION"], 1), class(&[], 9)), ("complex", "complex"));
        // An aggregate counts once.
        let four = ["COUNT", "GROUP BY", "ORDER BY", "FILTER", "aggregate"];
        assert_eq!(class(&four, 1), "moderate");
        assert_eq!(class(&[&four[..], &["OPTIONAL"]].concat(), 1), "complex");
    }
}
