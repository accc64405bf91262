//! Orders the joins of a pattern from the bottom up.

use std::sync::Arc;

use super::condition::Condition;
use super::scope::{self, Variables};
use terrapin_sparql_syntax::algebra::{Expression, Pattern};
use terrapin_sparql_syntax::walk::{NodeMut, on_patterns_below};
use terrapin_triples::View;

/// The state of planning one query.
pub struct Planner<'v> {
    /// The data that the query runs on.
    pub view: &'v View,
    /// Whether a part of the plan needs the evaluator's optimiser.
    pub optimise: bool,
    /// Whether one solution is enough.
    pub first: bool,
}

/// A planned part of the pattern.
#[derive(Debug, Clone)]
pub struct Part {
    /// The pattern.
    pub pattern: Pattern,
    /// Estimated number of solutions per evaluation.
    pub rows: f64,
}

impl Part {
    fn new(pattern: Pattern, rows: f64) -> Part {
        Part { pattern, rows }
    }

    /// Returns whether there is certainly no solution.
    fn is_none(&self) -> bool {
        matches!(&self.pattern, Pattern::Values { rows, .. } if rows.is_empty())
    }

    /// Returns an empty pattern with these variables.
    pub fn none(variables: &Variables) -> Part {
        Part::new(Pattern::Values { variables: variables.sorted(), rows: Arc::default() }, 0.0)
    }
}

impl Planner<'_> {
    /// Plans a pattern that will be evaluated with the variables of `bound` bound.
    pub fn pattern(&mut self, mut pattern: Pattern, bound: &Variables) -> Part {
        match pattern {
            Pattern::Bgp { .. } | Pattern::Relation { .. } | Pattern::Join { .. } => self.group(pattern, &[], bound),
            Pattern::Lateral { ref mut left, ref mut right } => {
                let known = bound.or(&scope::bound(left).0);
                let rows = self.within(left, bound) * self.within(right, &known);
                Part::new(pattern, rows)
            }
            Pattern::LeftJoin { left, right, condition } => self.optional(*left, *right, condition, bound),
            Pattern::Filter { ref mut inner, ref mut condition } => {
                self.optimise = true;
                let known = bound.or(&scope::bound(inner).0);
                let conditions = Condition::all(condition);
                let rows = match **inner {
                    Pattern::Join { .. } | Pattern::Bgp { .. } => {
                        let planned = self.group(std::mem::take(&mut **inner), &conditions, bound);
                        **inner = planned.pattern;
                        planned.rows
                    }
                    _ => self.within(inner, bound) / 2.0,
                };
                self.expression(condition, &known);
                Part::new(pattern, rows)
            }
            Pattern::Union { ref mut left, ref mut right } => {
                let rows = self.within(left, bound) + self.within(right, bound);
                Part::new(pattern, rows)
            }
            Pattern::Extend { ref mut inner, ref mut expression, .. } => {
                let known = bound.or(&scope::bound(inner).0);
                let rows = self.within(inner, bound);
                self.expression(expression, &known);
                Part::new(pattern, rows)
            }
            Pattern::Minus { mut left, mut right } => {
                // MINUS without a shared variable removes no solution. The evaluator's optimiser does not take this
                // into account.
                if scope::bound(&left).0.common(&scope::bound(&right).0) == 0 {
                    return self.pattern(*left, bound);
                }
                self.optimise = true;
                let rows = self.within(&mut left, bound);
                self.apart(&mut right);
                Part::new(Pattern::Minus { left, right }, rows)
            }
            Pattern::Values { ref rows, .. } => {
                let rows = rows.len() as f64;
                Part::new(pattern, rows)
            }
            Pattern::OrderBy { ref mut inner, ref mut keys } => {
                let known = scope::bound(inner).0;
                let rows = self.apart(inner);
                keys.iter_mut().for_each(|key| self.expression(&mut key.expression, &known));
                Part::new(pattern, rows)
            }
            Pattern::Project { ref mut inner, .. }
            | Pattern::Distinct { ref mut inner }
            | Pattern::Reduced { ref mut inner } => {
                let rows = self.apart(inner);
                Part::new(pattern, rows)
            }
            Pattern::Slice { ref mut inner, length, .. } => {
                let rows = self.apart(inner);
                Part::new(pattern, length.map_or(rows, |length| rows.min(length as f64)))
            }
            Pattern::Group { ref mut inner, ref variables, ref mut aggregates } => {
                let known = scope::bound(inner).0;
                let rows = self.apart(inner);
                let rows = if variables.is_empty() { 1.0 } else { rows.sqrt() };
                for (_, aggregate) in aggregates {
                    self.exists(NodeMut::Aggregate(aggregate), &known);
                }
                Part::new(pattern, rows)
            }
            // Patterns that the evaluator handles, and patterns that only the planner creates.
            Pattern::Path { .. }
            | Pattern::Table { .. }
            | Pattern::Include { .. }
            | Pattern::LeftLateral { .. }
            | Pattern::Graph { .. }
            | Pattern::Service { .. } => {
                self.optimise = true;
                Part::new(pattern, 1000.0)
            }
        }
    }

    /// Plans a part of a pattern in place. Returns its estimated number of solutions per evaluation.
    fn within(&mut self, part: &mut Pattern, bound: &Variables) -> f64 {
        let planned = self.pattern(std::mem::take(part), bound);
        *part = planned.pattern;
        planned.rows
    }

    /// Plans a part that sees no surrounding bindings. Returns the estimated number of its solutions.
    fn apart(&mut self, part: &mut Pattern) -> f64 {
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
        left: Pattern,
        right: Pattern,
        mut condition: Option<Expression>,
        bound: &Variables,
    ) -> Part {
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
            return Part::new(Pattern::LeftLateral { left, right, condition }, rows);
        }
        self.optimise = true;
        let known = entry.or(&scope::bound(&right).0);
        let right = self.pattern(right, &Variables::default());
        condition.iter_mut().for_each(|condition| self.expression(condition, &known));
        let rows = left.rows;
        let (left, right) = (Box::new(left.pattern), Box::new(right.pattern));
        Part::new(Pattern::LeftJoin { left, right, condition }, rows)
    }
}
