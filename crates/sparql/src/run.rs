//! Runs a prepared query: first its tables, then its pattern within the budget, then the modifiers at its top.

mod describe;
mod explain;
mod forms;

use std::sync::Arc;

use oxrdf::{NamedNode, Term};
use spareval::QueryEvaluator;

use super::RunnableQuery;
use super::answer::{ResultSink, SparqlBounds, SparqlSummary};
use super::elements::ElementSource;
use super::entailment;
use super::environment::Environment;
use super::functions;
use super::guard::{exceeded, read, watched};
use super::native;
use super::plan::{Goal, plan_with};
use super::refusal::QueryRefusal;
use super::rewrite::Rewritten;
use super::row::{Row, row_bytes};
use super::services::ServiceRows;
use super::solve::{Collector, SolvePlan};
use super::tables::{Tables, fill_tables};
use terrapin_budget::Budget;
use terrapin_sparql_syntax::algebra::{QueryDataset, QueryPattern};
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_triples::{Dataset, TripleView};

type Result<T> = std::result::Result<T, SparqlError>;

/// Returns the environment of one query. Its random seed also depends on the query's text.
fn of_query(prepared: &RunnableQuery, environment: &Environment) -> Arc<Environment> {
    let mut seed = environment.seed.clone();
    seed.extend_from_slice(&prepared.digest);
    let Environment { store, elements, now, .. } = environment;
    Arc::new(Environment { store: store.clone(), elements: elements.clone(), now: now.clone(), seed })
}

/// Describes how a query is executed: first each table with its number, then the query itself.
pub(super) fn explain(prepared: &RunnableQuery, environment: &Environment, bounds: &SparqlBounds) -> Result<String> {
    let (budget, refusal) = (Arc::new(Budget::new(&bounds.limits)), QueryRefusal::default());
    let explained = watched(&budget, || {
        QueryRun::new(prepared, of_query(prepared, environment), budget.clone(), &refusal, bounds.rows).explain()
    });
    refusal.or(explained)
}

/// Runs a query.
pub(super) fn run(
    prepared: &RunnableQuery,
    environment: &Environment,
    bounds: &SparqlBounds,
    sink: &mut dyn ResultSink,
) -> Result<SparqlSummary> {
    let (budget, refusal) = (Arc::new(Budget::new(&bounds.limits)), QueryRefusal::default());
    let environment = of_query(prepared, environment);
    let answered = watched(&budget, || {
        let run = QueryRun::new(prepared, environment, budget.clone(), &refusal, bounds.rows);
        run.answer(sink)
    });
    let rows = refusal.or(answered)?;
    Ok(SparqlSummary { rows, work: budget.work_done() })
}

struct QueryRun<'p> {
    rewritten: &'p Rewritten,
    environment: Arc<Environment>,
    budget: Arc<Budget>,
    evaluator: QueryEvaluator,
    patterns: Arc<functions::Patterns>,
    most: u64,
}

fn gone(error: std::io::Error) -> SparqlError {
    if error.kind() == std::io::ErrorKind::InvalidData {
        return SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::Format, error.to_string());
    }
    SparqlError::new(SparqlErrorClass::Internal, SparqlCode::Output, format!("the answer cannot be written: {error}"))
}

impl<'p> QueryRun<'p> {
    fn new(
        prepared: &'p RunnableQuery,
        environment: Arc<Environment>,
        budget: Arc<Budget>,
        refusal: &QueryRefusal,
        rows: Option<u64>,
    ) -> Self {
        let rewritten = &prepared.rewritten;
        let patterns = Arc::new(functions::Patterns::new(refusal));
        let called = (&rewritten.functions, rewritten.standard);
        let evaluator = functions::register(QueryEvaluator::new(), called, &environment, &patterns);
        QueryRun { rewritten, environment, budget, evaluator, patterns, most: rows.unwrap_or(u64::MAX) }
    }

    fn view(&self) -> TripleView {
        let mut view = TripleView::new(self.environment.store.clone(), self.budget.clone());
        if let Some(elements) = self.elements() {
            view.compute(elements.clone());
        }
        if self.has_graphs() {
            let named = |name: &NamedNode| view.id(&name.clone().into());
            let dataset = match &self.rewritten.dataset {
                Some(QueryDataset { default, named: names }) => Dataset {
                    default: default.iter().map(|name| Some(named(name))).collect(),
                    named: names.as_ref().map(|names| names.iter().map(named).collect()),
                },
                None => Dataset { default: vec![None], named: None },
            };
            view.restrict(dataset);
        }
        view
    }

    /// Returns the elements if the query uses them.
    fn elements(&self) -> Option<&Arc<ElementSource>> {
        self.environment.elements.as_ref().filter(|_| self.rewritten.elements)
    }

    /// Returns whether the query is restricted to some of the snapshot's graphs. A snapshot without named graphs has a
    /// single graph, which every query uses.
    fn has_graphs(&self) -> bool {
        let certain = self.rewritten.standard || self.rewritten.dataset.is_some();
        certain && self.environment.store.graphs().is_some()
    }

    /// Plans a pattern and compiles it. With `first`, one solution is enough. With `estimates`, every step has its
    /// expected number of solutions.
    fn compile(
        &self,
        mut pattern: QueryPattern,
        view: &mut TripleView,
        first: bool,
        estimates: bool,
    ) -> Result<native::Program> {
        entailment::rewrite(&mut pattern, view, self.rewritten.entailment).map_err(read)?;
        // Elements are in no graph.
        let elements = self.elements().filter(|_| !self.has_graphs());
        let planned = plan_with(pattern, view, Goal { first }, elements);
        Ok(native::compile(&planned, view, &self.rewritten.separators, estimates)?)
    }

    /// Computes the tables. Each may depend on earlier ones.
    fn tables(&self) -> Result<Vec<Arc<Vec<Row>>>> {
        let mut tables = Vec::with_capacity(self.rewritten.tables.len());
        let mut bytes = 0;
        for table in &self.rewritten.tables {
            let rows = match table {
                ServiceRows::Plan(plan) => self.rows(plan, &tables)?,
                ServiceRows::Service(found) => found.rows(&self.environment, &self.budget)?,
                ServiceRows::Derived { of, columns, rows } => {
                    let from: &[Row] = tables.get(*of).map_or(&[], |table: &Arc<Vec<Row>>| table);
                    rows.rows(columns, from, &self.budget)?
                }
            };
            bytes += rows.iter().map(row_bytes).sum::<u64>();
            self.budget.memory(bytes).map_err(exceeded)?;
            tables.push(Arc::new(rows));
        }
        Ok(tables)
    }

    /// Returns all solutions of a plan.
    fn rows(&self, plan: &SolvePlan, tables: &Tables) -> Result<Vec<Row>> {
        if plan.is_empty() {
            return Ok(Vec::new());
        }
        let mut collector = Collector::new(plan, &self.budget);
        self.solutions(plan, tables, &mut |values| collector.push(values))?;
        Ok(collector.finish())
    }

    /// Runs a program.
    fn solve(
        &self,
        program: &native::Program,
        view: &TripleView,
        each: &mut dyn FnMut(&[Option<Term>]) -> Result<bool>,
    ) -> Result<()> {
        let mut decoder = native::Decoder::default();
        native::solve(program, view, &self.evaluator, &self.patterns, &mut [], &mut |row| {
            each(decoder.decode(view, row).map_err(read)?)
        })?;
        view.check().map_err(read)
    }

    /// Evaluates a plan's pattern. `each` receives the solutions and returns whether it needs more.
    fn solutions(
        &self,
        plan: &SolvePlan,
        tables: &Tables,
        each: &mut dyn FnMut(&[Option<Term>]) -> Result<bool>,
    ) -> Result<()> {
        let mut view = self.view();
        if let Some(program) = plan.program.get(&self.environment.store) {
            return self.solve(program, &view, each);
        }
        let program = self.compile(fill_tables(&plan.pattern, tables), &mut view, false, false)?;
        self.solve_new(plan, program, &view, each)
    }

    /// Runs a new program. It is cached in the plan unless its result would differ in another run.
    fn solve_new(
        &self,
        plan: &SolvePlan,
        program: native::Program,
        view: &TripleView,
        each: &mut dyn FnMut(&[Option<Term>]) -> Result<bool>,
    ) -> Result<()> {
        let store = &self.environment.store;
        if plan.has_tables {
            return self.solve(&program, view, each);
        }
        match (plan.program.keep(store, program), plan.program.get(store)) {
            (Err(program), _) => self.solve(&program, view, each),
            (Ok(()), Some(program)) => self.solve(program, view, each),
            (Ok(()), None) => Ok(()),
        }
    }
}
