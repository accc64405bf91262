//! The modifiers at the top of a query, applied outside the program: ORDER BY with a total order, LIMIT and OFFSET
//! (only the needed rows are stored), and DISTINCT combined with them. For a LIMIT without ORDER BY, rows are returned
//! in canonical order.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::sync::Arc;

use oxrdf::{Term, Variable};

use super::guard::exceeded;
use super::native::ProgramCache;
use super::order::{TermOrderKey, canonical_rows};
use super::row::{Row, row_bytes};
use super::tables::has_tables;
use terrapin_base::deferred::Deferred;
use terrapin_budget::Budget;
use terrapin_budget::checkpoint;
use terrapin_sparql_syntax::algebra::{Expression, Helper, QueryPattern, SortKey};
use terrapin_sparql_syntax::error::SparqlError;
use terrapin_sparql_syntax::walk::on_in_scope;

/// Maximum number of solutions up to which a LIMIT without ORDER BY returns the first rows in canonical order. If there
/// are more, it returns the rows that were found first; the order of a program is the same everywhere.
const CANONICAL: usize = 100_000;

/// A pattern and the modifiers that are applied to its solutions.
#[derive(Debug)]
pub(crate) struct SolvePlan {
    /// The pattern to evaluate: a projection to the variables, followed by the sort keys.
    pub pattern: QueryPattern,
    /// Whether the pattern contains tables; their rows may differ in each run.
    pub has_tables: bool,
    /// The program of an earlier run.
    pub program: ProgramCache,
    /// The variables of the answer.
    pub variables: Vec<Variable>,
    /// The sort keys of ORDER BY: the column, and whether the order is descending.
    keys: Vec<(usize, bool)>,
    distinct: bool,
    start: usize,
    length: Option<usize>,
}

impl SolvePlan {
    /// Splits a query's pattern into its modifiers and the rest.
    pub fn of(pattern: QueryPattern) -> SolvePlan {
        let (mut start, mut length, mut sliced, mut distinct) = (0, None, false, false);
        let mut inner = pattern;
        if let QueryPattern::Slice { inner: below, start: from, length: most } = inner {
            (start, length, sliced) = (from, most, true);
            inner = *below;
        }
        // REDUCED permits to remove duplicates, and does not require it.
        if let QueryPattern::Distinct { inner: below } | QueryPattern::Reduced { inner: below } = inner {
            distinct = true;
            inner = *below;
        }
        let QueryPattern::Project { inner: below, variables } = inner else {
            // A pattern without a projection has all of its variables as columns.
            let mut variables = Vec::new();
            on_in_scope(&inner, &mut |v| {
                if !variables.contains(v) {
                    variables.push(v.clone());
                }
            });
            let keys = Vec::new();
            return SolvePlan::new(inner, variables, keys, distinct, start, length);
        };
        let mut pattern = *below;
        let mut keys = Vec::new();
        let mut columns = variables.clone();
        if let QueryPattern::OrderBy { inner, keys: sorted } = pattern {
            pattern = *inner;
            for (number, SortKey { expression, descends }) in sorted.into_iter().enumerate() {
                let variable = match expression {
                    Expression::Variable(variable) => variable,
                    expression => {
                        let variable = Variable::from(Helper::SortKey(number));
                        pattern = QueryPattern::extend(pattern, variable.clone(), expression);
                        variable
                    }
                };
                let column = columns.iter().position(|c| *c == variable).unwrap_or_else(|| {
                    columns.push(variable);
                    columns.len() - 1
                });
                keys.push((column, descends));
            }
        }
        pattern = QueryPattern::project(pattern, columns);
        if distinct && keys.is_empty() && !sliced {
            // DISTINCT stays in the pattern, because comparing term identifiers is faster than comparing terms.
            pattern = QueryPattern::Distinct { inner: Box::new(pattern) };
            distinct = false;
        }
        SolvePlan::new(pattern, variables, keys, distinct, start, length)
    }

    fn new(
        pattern: QueryPattern,
        variables: Vec<Variable>,
        keys: Vec<(usize, bool)>,
        distinct: bool,
        start: usize,
        length: Option<usize>,
    ) -> SolvePlan {
        let has_tables = has_tables(&pattern);
        SolvePlan { pattern, has_tables, program: ProgramCache::default(), variables, keys, distinct, start, length }
    }

    /// Returns whether solutions can be written as they are found.
    pub fn streams(&self) -> bool {
        self.keys.is_empty() && !self.distinct && self.start == 0 && self.length.is_none()
    }

    /// Returns the number of solutions that OFFSET skips.
    pub fn offset(&self) -> usize {
        self.start
    }

    /// Returns whether the plan can have no solution because of LIMIT 0.
    pub fn is_empty(&self) -> bool {
        self.length == Some(0)
    }
}

/// Collects the solutions of a plan that does not stream.
pub(crate) struct Collector<'p> {
    plan: &'p SolvePlan,
    budget: Arc<Budget>,
    /// The rows, each with its ORDER BY keys and its arrival number.
    rows: Deferred<Vec<(Vec<TermOrderKey>, usize, Row)>>,
    /// The first rows to arrive, used for a LIMIT without ORDER BY.
    first: Vec<Row>,
    seen: Deferred<HashSet<Row>>,
    count: usize,
    bytes: u64,
}

impl<'p> Collector<'p> {
    pub fn new(plan: &'p SolvePlan, budget: &Arc<Budget>) -> Self {
        Collector {
            plan,
            budget: budget.clone(),
            rows: Deferred::default(),
            first: Vec::new(),
            seen: Deferred::default(),
            count: 0,
            bytes: 0,
        }
    }

    /// Returns the maximum number of rows that can affect the result.
    fn most(&self) -> Option<usize> {
        Some(self.plan.start.saturating_add(self.plan.length?))
    }

    fn unordered(&self) -> bool {
        self.plan.keys.is_empty()
    }

    /// Adds a solution. Returns false if further solutions cannot change the result.
    pub fn push(&mut self, values: &[Option<Term>]) -> Result<bool, SparqlError> {
        checkpoint();
        self.count += 1;
        let width = self.plan.variables.len();
        let row: Row = values.get(..width).unwrap_or(values).to_vec();
        if self.unordered() && self.most().is_some_and(|most| self.first.len() < most) {
            let fresh = !self.plan.distinct || self.seen.insert(row.clone());
            if fresh {
                self.hold(&row)?;
                self.first.push(row.clone());
            }
        }
        if self.unordered() && self.most().is_some() && self.count > CANONICAL {
            self.rows.clear();
            return Ok(self.most().is_some_and(|most| self.first.len() < most));
        }
        self.hold(&row)?;
        let keys = self
            .plan
            .keys
            .iter()
            .map(|(column, _)| TermOrderKey::of(values.get(*column).and_then(Option::as_ref)))
            .collect();
        self.rows.push((keys, self.count, row));
        if let Some(most) = self.most()
            && self.rows.len() >= most.saturating_mul(2).saturating_add(4096)
        {
            self.cut(most);
        }
        Ok(true)
    }

    fn hold(&mut self, row: &Row) -> Result<(), SparqlError> {
        self.bytes += row_bytes(row);
        self.budget.memory(self.bytes).map_err(exceeded)
    }

    fn compare(plan: &SolvePlan, a: &(Vec<TermOrderKey>, usize, Row), b: &(Vec<TermOrderKey>, usize, Row)) -> Ordering {
        checkpoint();
        for ((a, b), (_, descends)) in a.0.iter().zip(&b.0).zip(&plan.keys) {
            let order = if *descends { b.cmp(a) } else { a.cmp(b) };
            if order.is_ne() {
                return order;
            }
        }
        canonical_rows(&a.2, &b.2).then(a.1.cmp(&b.1))
    }

    /// Sorts the rows, removes duplicates if the plan is DISTINCT, and keeps the first `most`.
    fn cut(&mut self, most: usize) {
        let plan = self.plan;
        self.rows.sort_unstable_by(|a, b| Self::compare(plan, a, b));
        if plan.distinct {
            let mut seen: HashSet<&Row> = HashSet::with_capacity(self.rows.len());
            let fresh: Vec<bool> = self.rows.iter().map(|(_, _, row)| seen.insert(row)).collect();
            let mut fresh = fresh.into_iter();
            self.rows.retain(|_| fresh.next().unwrap_or(true));
        }
        self.rows.truncate(most);
        self.bytes = self.rows.iter().map(|(_, _, row)| row_bytes(row)).sum();
    }

    /// Returns the rows of the answer in their order.
    pub fn finish(mut self) -> Vec<Row> {
        let (start, most) = (self.plan.start, self.most());
        if self.unordered() && most.is_some() && self.count > CANONICAL {
            return self.first.into_iter().skip(start).collect();
        }
        if !self.unordered() || most.is_some() || self.plan.distinct || start > 0 {
            self.cut(most.unwrap_or(usize::MAX));
        }
        self.rows.take().into_iter().skip(start).map(|(_, _, row)| row).collect()
    }
}
