//! Writes the answer of each query form from its solutions.

use oxrdf::Term;

use super::{QueryRun, Result, gone};
use crate::answer::ResultSink;
use crate::blank::BlankLabels;
use crate::construct::Template;
use crate::guard::{exceeded, read};
use crate::native;
use crate::solve::SolvePlan;
use crate::tables::{Tables, fill_tables};
use terrapin_sparql_syntax::algebra::{QueryForm, QueryPattern, TriplePattern};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};

impl QueryRun<'_> {
    /// Writes the answer. Returns its number of rows.
    pub(super) fn answer(&self, sink: &mut dyn ResultSink) -> Result<u64> {
        let tables = self.tables()?;
        match &self.rewritten.form {
            QueryForm::Select => self.select(&tables, sink),
            QueryForm::Ask => self.ask(&tables, sink),
            QueryForm::Construct(template) => self.construct(template, &tables, sink),
            QueryForm::Describe => self.describe(&tables, sink),
        }
    }

    fn select(&self, tables: &Tables, sink: &mut dyn ResultSink) -> Result<u64> {
        let plan = &self.rewritten.plan;
        let (mut rows, mut labels) = (0, BlankLabels::default());
        sink.variables(&plan.variables).map_err(gone)?;
        self.each_row(plan, tables, |values| {
            self.count(&mut rows)?;
            let numbered = labels.solution(values);
            sink.solution(numbered.as_deref().unwrap_or(values)).map_err(gone)
        })?;
        Ok(rows)
    }

    fn ask(&self, tables: &Tables, sink: &mut dyn ResultSink) -> Result<u64> {
        let plan = &self.rewritten.plan;
        let mut pattern = fill_tables(&plan.pattern, tables);
        if plan.offset() > 0 {
            pattern = QueryPattern::Slice { inner: Box::new(pattern), start: plan.offset(), length: Some(1) };
        }
        let value = !plan.is_empty() && self.exists(pattern)?;
        sink.boolean(value).map_err(gone)?;
        Ok(0)
    }

    fn construct(&self, template: &[TriplePattern], tables: &Tables, sink: &mut dyn ResultSink) -> Result<u64> {
        let plan = &self.rewritten.plan;
        let (mut rows, mut labels) = (0, BlankLabels::default());
        let mut template = Template::new(template, &plan.variables);
        self.each_row(plan, tables, |values| {
            for triple in template.fill(values, || labels.fresh()) {
                self.count(&mut rows)?;
                sink.triple(&labels.triple(triple)).map_err(gone)?;
            }
            self.budget.memory(template.bytes).map_err(exceeded)
        })?;
        Ok(rows)
    }

    /// Passes the rows of a plan to `each`. If no modifier needs all rows first, they are passed as they are found.
    pub(super) fn each_row(
        &self,
        plan: &SolvePlan,
        tables: &Tables,
        mut each: impl FnMut(&[Option<Term>]) -> Result<()>,
    ) -> Result<()> {
        if plan.streams() {
            return self.solutions(plan, tables, &mut |values| each(values).map(|()| true));
        }
        self.rows(plan, tables)?.into_iter().try_for_each(|row| each(&row))
    }

    /// Counts a row of the answer. Returns an error if there are too many.
    pub(super) fn count(&self, rows: &mut u64) -> Result<()> {
        *rows += 1;
        if *rows <= self.most {
            return Ok(());
        }
        let message = format!("the answer has more than {} rows", self.most);
        Err(SparqlError::new(SparqlErrorClass::Limit, SparqlCode::Rows, message).help("set a LIMIT"))
    }

    /// Returns whether a pattern has a solution.
    fn exists(&self, pattern: QueryPattern) -> Result<bool> {
        let mut view = self.view();
        let pattern = QueryPattern::project(unshown(pattern), Vec::new());
        let program = self.compile(pattern, &mut view, true, false)?;
        let mut value = false;
        native::solve(&program, &view, &self.evaluator, &self.patterns, &mut [], &mut |_| {
            value = true;
            Ok(false)
        })?;
        view.check().map_err(read)?;
        Ok(value)
    }
}

/// Removes modifiers that do not affect whether a solution exists: projection, duplicates, order. Otherwise, all
/// solutions would be computed first.
fn unshown(mut pattern: QueryPattern) -> QueryPattern {
    loop {
        pattern = match pattern {
            QueryPattern::Project { inner, .. }
            | QueryPattern::Distinct { inner }
            | QueryPattern::Reduced { inner }
            | QueryPattern::OrderBy { inner, .. }
            | QueryPattern::Slice { inner, start: 0, length: None | Some(1..) } => *inner,
            pattern => return pattern,
        }
    }
}
