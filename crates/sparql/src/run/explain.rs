//! Describes how a query is executed: its tables, then the query itself, each step with its number of solutions.

use super::{QueryRun, Result};
use crate::guard::read;
use crate::native;
use crate::services::ServiceRows;
use crate::solve::SolvePlan;
use crate::tables::{Tables, fill_tables};
use terrapin_sparql_syntax::algebra::QueryForm;

impl QueryRun<'_> {
    /// Describes the execution of the tables and the query.
    pub(super) fn explain(&self) -> Result<String> {
        let tables = self.tables()?;
        let mut out = String::new();
        for (number, (table, rows)) in self.rewritten.tables.iter().zip(&tables).enumerate() {
            out.push_str(&format!("table {number}: {} rows\n", rows.len()));
            if let ServiceRows::Plan(plan) = table {
                out.push_str(&self.steps(plan, &tables)?);
            }
        }
        out.push_str("query:\n");
        out.push_str(&self.steps(&self.rewritten.plan, &tables)?);
        out.push_str(&format!("{} units of work\n", self.budget.work_done()));
        Ok(out)
    }

    /// Describes the steps of a plan. The plan is run to its end, that of an ASK to its first solution.
    fn steps(&self, top: &SolvePlan, tables: &Tables) -> Result<String> {
        let mut view = self.view();
        let first = matches!(self.rewritten.form, QueryForm::Ask) && std::ptr::eq(top, &self.rewritten.plan);
        let program = self.compile(fill_tables(&top.pattern, tables), &mut view, first, true)?;
        let mut counts = vec![0; program.len()];
        native::solve(&program, &view, &self.evaluator, &self.patterns, &mut counts, &mut |_| Ok(!first))?;
        view.check().map_err(read)?;
        native::explain(&program, &view, &counts).map_err(read)
    }
}
