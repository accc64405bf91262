//! How high a query's tree is. Planning and evaluating go down it by recursion, so that its height has to be bounded;
//! groups within groups are bounded by the parser, but patterns that follow each other pile up as well.

use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};

use super::error::{Class, Error};
use super::expression::children;

/// The highest tree that is answered.
const MOST: usize = 400;

enum Node<'q> {
    Pattern(&'q GraphPattern),
    Expression(&'q Expression),
}

/// Refuses a query whose tree is too high.
///
/// # Errors
/// It is.
pub(super) fn check(query: &Query) -> Result<(), Error> {
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    let mut open = vec![(Node::Pattern(pattern), 0)];
    while let Some((node, height)) = open.pop() {
        // The patterns of a group become a chain.
        let own = match node {
            Node::Pattern(GraphPattern::Bgp { patterns }) => patterns.len(),
            _ => 1,
        };
        let height = height + own;
        if height > MOST {
            let message = format!("the query has more than {MOST} patterns or conditions that build on each other");
            return Err(Error::new(Class::Unsupported, "too-large", message)
                .help("VALUES and IN take lists of any length; a large query may be asked in parts"));
        }
        match node {
            Node::Pattern(pattern) => open.extend(inside(pattern).into_iter().map(|node| (node, height))),
            Node::Expression(Expression::Exists(pattern)) => open.push((Node::Pattern(pattern), height)),
            Node::Expression(expression) => {
                open.extend(children(expression).into_iter().map(|child| (Node::Expression(child), height)));
            }
        }
    }
    Ok(())
}

/// What a pattern is made of.
fn inside(pattern: &GraphPattern) -> Vec<Node<'_>> {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => Vec::new(),
        GraphPattern::Join { left, right }
        | GraphPattern::Lateral { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right } => vec![Node::Pattern(left), Node::Pattern(right)],
        GraphPattern::LeftJoin { left, right, expression } => {
            let expression = expression.iter().map(Node::Expression);
            [Node::Pattern(left), Node::Pattern(right)].into_iter().chain(expression).collect()
        }
        GraphPattern::Filter { expr, inner } => vec![Node::Expression(expr), Node::Pattern(inner)],
        GraphPattern::Extend { inner, expression, .. } => vec![Node::Pattern(inner), Node::Expression(expression)],
        GraphPattern::OrderBy { inner, expression } => {
            let keys = expression.iter().map(|order| match order {
                OrderExpression::Asc(expression) | OrderExpression::Desc(expression) => Node::Expression(expression),
            });
            std::iter::once(Node::Pattern(inner)).chain(keys).collect()
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            let values = aggregates.iter().filter_map(|(_, aggregate)| match aggregate {
                AggregateExpression::FunctionCall { expr, .. } => Some(Node::Expression(expr)),
                AggregateExpression::CountSolutions { .. } => None,
            });
            std::iter::once(Node::Pattern(inner)).chain(values).collect()
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Service { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => vec![Node::Pattern(inner)],
    }
}

#[cfg(test)]
mod tests {
    use crate::sparql::{Settings, prepare};

    #[test]
    fn towers_are_refused_and_lists_are_not() {
        let refused = |text: &str| prepare(text, &Settings::default()).map_err(|error| error.code).err();
        let many = |part: &str| part.repeat(500);
        assert_eq!(refused(&format!("SELECT * {{ {} }}", many("?a ?b ?c . "))), Some("too-large"));
        assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c {} }}", many("OPTIONAL { ?a ?d ?e } "))), Some("too-large"));
        assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c FILTER(?a = 1{}) }}", many(" || ?a = 2"))), None);
        assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c FILTER(?c IN (1{})) }}", many(", 2"))), None);
        assert_eq!(refused(&format!("SELECT * {{ ?a ?b ?c VALUES ?c {{ {} }} }}", many("1 "))), None);
    }
}
