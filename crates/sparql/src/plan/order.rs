//! Orders the joins of a pattern from the bottom up.

use std::sync::Arc;

use super::condition::FilterCondition;
use super::scope::{self, Variables};
use terrapin_sparql_syntax::algebra::{Expression, QueryPattern};
use terrapin_sparql_syntax::walk::{NodeMut, on_patterns_below};
use terrapin_triples::TripleView;

/// The state of planning one query.
pub struct Planner<'v> {
    /// The data that the query runs on.
    pub view: &'v TripleView,
    /// Whether one solution is enough.
    pub first: bool,
}

/// A planned part of the pattern.
#[derive(Debug, Clone)]
pub struct PlannedPattern {
    /// The pattern.
    pub pattern: QueryPattern,
    /// Estimated number of solutions per evaluation.
    pub rows: f64,
}

impl PlannedPattern {
    fn new(pattern: QueryPattern, rows: f64) -> PlannedPattern {
        PlannedPattern { pattern, rows }
    }

    /// Returns whether there is certainly no solution.
    fn is_none(&self) -> bool {
        matches!(&self.pattern, QueryPattern::Values { rows, .. } if rows.is_empty())
    }

    /// Returns an empty pattern with these variables.
    pub fn none(variables: &Variables) -> PlannedPattern {
        PlannedPattern::new(QueryPattern::Values { variables: variables.sorted(), rows: Arc::default() }, 0.0)
    }
}

impl Planner<'_> {
    /// Plans a pattern that will be evaluated with the variables of `bound` bound.
    pub fn pattern(&mut self, mut pattern: QueryPattern, bound: &Variables) -> PlannedPattern {
        match pattern {
            QueryPattern::Bgp { .. } | QueryPattern::Relation { .. } | QueryPattern::Join { .. } => {
                self.group(pattern, &[], bound)
            }
            QueryPattern::Lateral { ref mut left, ref mut right } => {
                let known = bound.or(&scope::bound(left).0);
                let rows = self.within(left, bound) * self.within(right, &known);
                PlannedPattern::new(pattern, rows)
            }
            QueryPattern::LeftJoin { left, right, condition } => self.optional(*left, *right, condition, bound),
            QueryPattern::Filter { ref mut inner, ref mut condition } => {
                let known = bound.or(&scope::bound(inner).0);
                let conditions = FilterCondition::all(condition);
                let rows = match **inner {
                    QueryPattern::Join { .. } | QueryPattern::Bgp { .. } => {
                        let planned = self.group(std::mem::take(&mut **inner), &conditions, bound);
                        **inner = planned.pattern;
                        planned.rows
                    }
                    _ => self.within(inner, bound) / 2.0,
                };
                self.expression(condition, &known);
                PlannedPattern::new(pattern, rows)
            }
            QueryPattern::Union { ref mut left, ref mut right } => {
                let rows = self.within(left, bound) + self.within(right, bound);
                PlannedPattern::new(pattern, rows)
            }
            QueryPattern::Extend { ref mut inner, ref mut expression, .. } => {
                let known = bound.or(&scope::bound(inner).0);
                let rows = self.within(inner, bound);
                self.expression(expression, &known);
                PlannedPattern::new(pattern, rows)
            }
            QueryPattern::Minus { mut left, mut right } => {
                // MINUS without a shared variable removes no solution.
                if scope::bound(&left).0.common(&scope::bound(&right).0) == 0 {
                    return self.pattern(*left, bound);
                }
                let rows = self.within(&mut left, bound);
                self.apart(&mut right);
                PlannedPattern::new(QueryPattern::Minus { left, right }, rows)
            }
            QueryPattern::Values { ref rows, .. } => {
                let rows = rows.len() as f64;
                PlannedPattern::new(pattern, rows)
            }
            QueryPattern::OrderBy { ref mut inner, ref mut keys } => {
                let known = scope::bound(inner).0;
                let rows = self.apart(inner);
                keys.iter_mut().for_each(|key| self.expression(&mut key.expression, &known));
                PlannedPattern::new(pattern, rows)
            }
            QueryPattern::Project { ref mut inner, .. }
            | QueryPattern::Distinct { ref mut inner }
            | QueryPattern::Reduced { ref mut inner } => {
                let rows = self.apart(inner);
                PlannedPattern::new(pattern, rows)
            }
            QueryPattern::Slice { ref mut inner, length, .. } => {
                let rows = self.apart(inner);
                PlannedPattern::new(pattern, length.map_or(rows, |length| rows.min(length as f64)))
            }
            QueryPattern::Group { ref mut inner, ref variables, ref mut aggregates } => {
                let known = scope::bound(inner).0;
                let rows = self.apart(inner);
                let rows = if variables.is_empty() { 1.0 } else { rows.sqrt() };
                for (_, aggregate) in aggregates {
                    self.exists(NodeMut::Aggregate(aggregate), &known);
                }
                PlannedPattern::new(pattern, rows)
            }
            QueryPattern::Graph { ref mut inner, .. } => {
                let rows = self.within(inner, bound);
                PlannedPattern::new(pattern, rows)
            }
            // Patterns that earlier steps have replaced, and patterns that only the planner creates.
            QueryPattern::Path { .. }
            | QueryPattern::Table { .. }
            | QueryPattern::Include { .. }
            | QueryPattern::LeftLateral { .. }
            | QueryPattern::Service { .. } => PlannedPattern::new(pattern, 1000.0),
        }
    }

    /// Plans a part of a pattern in place. Returns its estimated number of solutions per evaluation.
    fn within(&mut self, part: &mut QueryPattern, bound: &Variables) -> f64 {
        let planned = self.pattern(std::mem::take(part), bound);
        *part = planned.pattern;
        planned.rows
    }

    /// Plans a part that sees no surrounding bindings. Returns the estimated number of its solutions.
    fn apart(&mut self, part: &mut QueryPattern) -> f64 {
        let first = std::mem::take(&mut self.first);
        let rows = self.within(part, &Variables::default());
        self.first = first;
        rows
    }

    /// Plans the patterns of EXISTS in an expression, which run with the solution's variables bound.
    fn expression(&mut self, expression: &mut Expression, bound: &Variables) {
        self.exists(NodeMut::Expression(expression), bound);
    }

    fn exists(&mut self, node: NodeMut<'_>, bound: &Variables) {
        on_patterns_below(node, &mut |pattern| {
            self.within(pattern, bound);
        });
    }

    fn optional(
        &mut self,
        left: QueryPattern,
        right: QueryPattern,
        mut condition: Option<Expression>,
        bound: &Variables,
    ) -> PlannedPattern {
        let entry = bound.or(&scope::bound(&left).0);
        let shares = scope::bound(&right).0.common(&entry) > 0;
        let left = self.pattern(left, bound);
        // If the left side leaves a variable unbound, it is unbound on the right side as well. In both forms, the
        // condition sees the values of both sides.
        if shares && scope::fits(&right, &entry) {
            let right = self.pattern(right, &entry);
            if right.is_none() {
                return left;
            }
            let rows = left.rows * right.rows.max(1.0);
            condition.iter_mut().for_each(|condition| self.expression(condition, &entry));
            let (left, right) = (Box::new(left.pattern), Box::new(right.pattern));
            return PlannedPattern::new(QueryPattern::LeftLateral { left, right, condition }, rows);
        }
        let known = entry.or(&scope::bound(&right).0);
        let right = self.pattern(right, &Variables::default());
        condition.iter_mut().for_each(|condition| self.expression(condition, &known));
        let rows = left.rows;
        let (left, right) = (Box::new(left.pattern), Box::new(right.pattern));
        PlannedPattern::new(QueryPattern::LeftJoin { left, right, condition }, rows)
    }
}
