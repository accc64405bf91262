//! Reads the outermost solution modifiers of a SPARQL query.

use terrapin_sparql::syntax::algebra::{QueryForm, QueryPattern};
use terrapin_sparql::{Dialect, syntax};

/// The outermost solution modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Top {
    /// The query has an ORDER BY.
    pub orders: bool,
    /// The LIMIT.
    pub limit: Option<usize>,
}

impl Top {
    /// Reads the modifiers of a query; none if it is not a SELECT.
    pub fn of(query: &str, dialect: Dialect) -> Top {
        let mut top = Top::default();
        let Ok(parsed) = syntax::parse(query, dialect) else { return top };
        if parsed.query.form != QueryForm::Select {
            return top;
        }
        let mut pattern = &parsed.query.pattern;
        loop {
            pattern = match pattern {
                QueryPattern::Slice { inner, length, .. } => {
                    top.limit = *length;
                    inner
                }
                QueryPattern::Distinct { inner } | QueryPattern::Reduced { inner } => inner,
                QueryPattern::Project { inner, .. } => {
                    top.orders = matches!(&**inner, QueryPattern::OrderBy { .. });
                    return top;
                }
                _ => return top,
            };
        }
    }

    /// Reports whether a LIMIT without an ORDER BY may have cut this many rows arbitrarily.
    pub fn cuts(self, rows: usize) -> bool {
        !self.orders && self.limit.is_some_and(|limit| rows >= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_at_the_top() {
        let of = |query: &str| {
            let top = Top::of(query, Dialect::Auto);
            (top.orders, top.limit)
        };
        assert_eq!(of("SELECT ?x { ?x ?y ?z } ORDER BY ?x LIMIT 10"), (true, Some(10)));
        assert_eq!(
            of("SELECT ?x { { SELECT ?x { ?x ?y ?z } ORDER BY ?x LIMIT 3 } } limit 5 offset 2"),
            (false, Some(5))
        );
        assert_eq!(of("SELECT DISTINCT ?order { ?order ?y ?z } # ORDER BY ?order"), (false, None));
        assert_eq!(of("SELECT (COUNT(*) AS ?n) { ?x ?y ?z } GROUP BY ?x ORDER BY ?n"), (true, None));
        let top = Top { orders: false, limit: Some(2) };
        assert!(top.cuts(2) && !top.cuts(1) && !Top { orders: true, ..top }.cuts(2));
    }
}
