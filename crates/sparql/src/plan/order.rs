//! Walks a pattern from the bottom up and puts its joins in order.

use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};

use super::scope::{self, Variables};
use terrapin_sparql_syntax::walk::map_exists;
use terrapin_triples::View;

/// Plans one query.
pub struct Planner<'v> {
    /// What the query is run on.
    pub view: &'v View,
    /// Whether something in the plan needs the evaluator's optimiser.
    pub optimise: bool,
}

/// A planned part of the pattern.
#[derive(Debug, Clone)]
pub struct Part {
    /// The pattern.
    pub pattern: GraphPattern,
    /// About how many solutions it has each time it is asked.
    pub rows: f64,
}

impl Part {
    fn new(pattern: GraphPattern, rows: f64) -> Part {
        Part { pattern, rows }
    }

    /// Whether there is certainly no solution.
    fn is_none(&self) -> bool {
        matches!(&self.pattern, GraphPattern::Values { bindings, .. } if bindings.is_empty())
    }

    /// The pattern of no solutions that binds the same variables.
    pub fn none(variables: &Variables) -> Part {
        Part::new(GraphPattern::Values { variables: variables.sorted(), bindings: Vec::new() }, 0.0)
    }
}

/// The pattern of one solution that binds nothing.
pub fn nothing() -> GraphPattern {
    GraphPattern::Bgp { patterns: Vec::new() }
}

impl Planner<'_> {
    /// Plans a pattern that will be asked with the variables of `bound` bound.
    pub fn pattern(&mut self, pattern: GraphPattern, bound: &Variables) -> Part {
        let alone = Variables::default();
        match pattern {
            GraphPattern::Bgp { .. } | GraphPattern::Join { .. } => self.group(pattern, bound),
            GraphPattern::Lateral { left, right } => {
                let known = bound.or(&scope::bound(&left).0);
                let (left, right) = (self.pattern(*left, bound), self.pattern(*right, &known));
                Part::new(
                    GraphPattern::Lateral { left: Box::new(left.pattern), right: Box::new(right.pattern) },
                    left.rows * right.rows,
                )
            }
            GraphPattern::LeftJoin { left, right, expression } => self.optional(*left, *right, expression, bound),
            GraphPattern::Filter { expr, inner } => {
                self.optimise = true;
                let known = bound.or(&scope::bound(&inner).0);
                let inner = self.pattern(*inner, bound);
                let expr = self.expression(expr, &known);
                Part::new(GraphPattern::Filter { expr, inner: Box::new(inner.pattern) }, inner.rows / 2.0)
            }
            GraphPattern::Union { left, right } => {
                let (left, right) = (self.pattern(*left, bound), self.pattern(*right, bound));
                let rows = left.rows + right.rows;
                let (left, right) = (Box::new(left.pattern), Box::new(right.pattern));
                Part::new(GraphPattern::Union { left, right }, rows)
            }
            GraphPattern::Extend { inner, variable, expression } => {
                let known = bound.or(&scope::bound(&inner).0);
                let inner = self.pattern(*inner, bound);
                let expression = self.expression(expression, &known);
                Part::new(GraphPattern::Extend { inner: Box::new(inner.pattern), variable, expression }, inner.rows)
            }
            GraphPattern::Minus { left, right } => {
                // Without a variable in common nothing is taken away, which the evaluator's optimiser does not know.
                if scope::bound(&left).0.common(&scope::bound(&right).0) == 0 {
                    return self.pattern(*left, bound);
                }
                self.optimise = true;
                let (left, right) = (self.pattern(*left, bound), self.pattern(*right, &alone));
                let (rows, left, right) = (left.rows, Box::new(left.pattern), Box::new(right.pattern));
                Part::new(GraphPattern::Minus { left, right }, rows)
            }
            GraphPattern::Values { ref bindings, .. } => {
                let rows = bindings.len() as f64;
                Part::new(pattern, rows)
            }
            GraphPattern::OrderBy { inner, expression } => {
                let known = scope::bound(&inner).0;
                let inner = self.pattern(*inner, &alone);
                let expression = expression
                    .into_iter()
                    .map(|order| match order {
                        OrderExpression::Asc(e) => OrderExpression::Asc(self.expression(e, &known)),
                        OrderExpression::Desc(e) => OrderExpression::Desc(self.expression(e, &known)),
                    })
                    .collect();
                Part::new(GraphPattern::OrderBy { inner: Box::new(inner.pattern), expression }, inner.rows)
            }
            GraphPattern::Project { inner, variables } => {
                let inner = self.pattern(*inner, &alone);
                Part::new(GraphPattern::Project { inner: Box::new(inner.pattern), variables }, inner.rows)
            }
            GraphPattern::Distinct { inner } => {
                let inner = self.pattern(*inner, &alone);
                Part::new(GraphPattern::Distinct { inner: Box::new(inner.pattern) }, inner.rows)
            }
            GraphPattern::Reduced { inner } => {
                let inner = self.pattern(*inner, &alone);
                Part::new(GraphPattern::Reduced { inner: Box::new(inner.pattern) }, inner.rows)
            }
            GraphPattern::Slice { inner, start, length } => {
                let inner = self.pattern(*inner, &alone);
                let rows = length.map_or(inner.rows, |length| inner.rows.min(length as f64));
                Part::new(GraphPattern::Slice { inner: Box::new(inner.pattern), start, length }, rows)
            }
            GraphPattern::Group { inner, variables, aggregates } => {
                let known = scope::bound(&inner).0;
                let inner = self.pattern(*inner, &alone);
                let rows = if variables.is_empty() { 1.0 } else { inner.rows.sqrt() };
                let aggregates = aggregates
                    .into_iter()
                    .map(|(variable, aggregate)| match aggregate {
                        AggregateExpression::FunctionCall { name, expr, distinct } => {
                            let expr = self.expression(expr, &known);
                            (variable, AggregateExpression::FunctionCall { name, expr, distinct })
                        }
                        count @ AggregateExpression::CountSolutions { .. } => (variable, count),
                    })
                    .collect();
                Part::new(GraphPattern::Group { inner: Box::new(inner.pattern), variables, aggregates }, rows)
            }
            GraphPattern::Path { .. } | GraphPattern::Graph { .. } | GraphPattern::Service { .. } => {
                self.optimise = true;
                Part::new(pattern, 1000.0)
            }
        }
    }

    /// Plans the patterns of the EXISTS in an expression, which are asked with the solution's variables bound.
    fn expression(&mut self, expression: Expression, bound: &Variables) -> Expression {
        map_exists(expression, &mut |pattern| self.pattern(pattern, bound).pattern)
    }

    fn optional(
        &mut self,
        left: GraphPattern,
        right: GraphPattern,
        expression: Option<Expression>,
        bound: &Variables,
    ) -> Part {
        let entry = bound.or(&scope::bound(&left).0);
        let shares = scope::bound(&right).0.common(&entry) > 0;
        let left = self.pattern(left, bound);
        // A variable that the left side has not bound in a solution is free in what is asked for that solution, too; and
        // the expression sees both sides' values in either form.
        if shares && scope::fits(&right, &entry) {
            let right = self.pattern(right, &entry);
            if right.is_none() {
                return left;
            }
            let rows = left.rows * right.rows.max(1.0);
            // This form asks the right side once for each solution of the left one.
            let right = GraphPattern::LeftJoin {
                left: Box::new(nothing()),
                right: Box::new(right.pattern),
                expression: expression.map(|e| self.expression(e, &entry)),
            };
            return Part::new(GraphPattern::Lateral { left: Box::new(left.pattern), right: Box::new(right) }, rows);
        }
        self.optimise = true;
        let known = entry.or(&scope::bound(&right).0);
        let right = self.pattern(right, &Variables::default());
        let expression = expression.map(|e| self.expression(e, &known));
        Part::new(
            GraphPattern::LeftJoin { left: Box::new(left.pattern), right: Box::new(right.pattern), expression },
            left.rows,
        )
    }
}
