//! Describes how a query is executed: its tables, then the query itself, each step with its number of solutions. Steps
//! of the evaluator also show their time.

use std::fmt::Write as _;

use serde_json::Value;
use spareval::QueryResults;

use super::{QueryRun, Result, evaluation, gone};
use crate::guard::{GuardedView, read};
use crate::native::{self, Fallback};
use crate::services::ServiceRows;
use crate::solve::SolvePlan;
use crate::tables::{Tables, fill_tables};
use terrapin_sparql_syntax::algebra::QueryForm;
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};

impl QueryRun<'_> {
    /// Describes the execution of the tables and the query.
    pub(super) fn explain(&self) -> Result<String> {
        let tables = self.tables()?;
        let mut out = String::new();
        for (number, (table, rows)) in self.rewritten.tables.iter().zip(&tables).enumerate() {
            out.push_str(&format!("table {number}: {} rows\n", rows.len()));
            if let ServiceRows::Plan(plan) = table {
                out.push_str(&self.steps(plan, &tables, None)?);
            }
        }
        out.push_str("query:\n");
        let plan = &self.rewritten.plan;
        let described = matches!(self.rewritten.form, QueryForm::Describe) && plan.streams();
        out.push_str(&self.steps(plan, &tables, described.then_some(Fallback::Describe))?);
        out.push_str(&format!("{} units of work\n", self.budget.work_done()));
        Ok(out)
    }

    /// Describes the steps of a plan. The plan is run to its end, that of an ASK to its first solution. `whole` is the
    /// reason to run the whole plan with the evaluator, if there is one.
    fn steps(&self, top: &SolvePlan, tables: &Tables, whole: Option<Fallback>) -> Result<String> {
        let mut view = self.view();
        let first = matches!(self.rewritten.form, QueryForm::Ask) && std::ptr::eq(top, &self.rewritten.plan);
        let planned = self.plan(fill_tables(&top.pattern, tables), &mut view, first);
        let program = match whole {
            None => self.compile(&planned.pattern, &view, true),
            Some(why) => Err(why),
        };
        let why = match program {
            Err(why) => why,
            Ok(program) => {
                let mut counts = vec![0; program.len()];
                native::solve(&program, &view, &self.evaluator, &self.patterns, &mut counts, &mut |_| Ok(!first))?;
                view.check().map_err(read)?;
                return native::explain(&program, &view, &counts).map_err(read);
            }
        };
        let expected =
            format!("about {:.0} solutions expected; steps of the evaluator, used because {why}:\n", planned.rows);
        let query = self.query(QueryForm::Select, planned.pattern);
        let evaluator = self.evaluator(planned.optimise);
        let (result, explanation) = evaluator.prepare(&query).explain(GuardedView(&view));
        if let QueryResults::Solutions(solutions) = result.map_err(evaluation)? {
            for solution in solutions {
                solution.map_err(evaluation)?;
            }
        }
        view.check().map_err(read)?;
        let mut json = Vec::new();
        explanation.write_in_json(&mut json).map_err(gone)?;
        Ok(expected + &render(&json)?)
    }
}

/// Formats one step a line, with its inputs indented below it.
fn render(json: &[u8]) -> Result<String> {
    let failed = |why: String| SparqlError::new(SparqlErrorClass::Internal, SparqlCode::Explain, why);
    let explanation: Value = serde_json::from_slice(json).map_err(|e| failed(e.to_string()))?;
    let mut out = String::new();
    // The nesting of a query is bounded, so this stack is bounded as well.
    let mut open = vec![(0, &explanation["plan"])];
    while let Some((depth, node)) = open.pop() {
        let name = node["name"].as_str().unwrap_or("?");
        let _ = write!(out, "{}{name}", "  ".repeat(depth));
        if let Some(rows) = node["number of results"].as_u64() {
            let _ = write!(out, "  [{rows} solutions");
            if let Some(seconds) = node["duration in seconds"].as_f64() {
                let _ = write!(out, ", {:.1} ms", seconds * 1000.0);
            }
            out.push(']');
        }
        out.push('\n');
        let children = node["children"].as_array().map(Vec::as_slice).unwrap_or_default();
        open.extend(children.iter().rev().map(|child| (depth + 1, child)));
    }
    Ok(out)
}
