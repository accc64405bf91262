//! Runs a prepared query: first its tables, then its pattern within the budget, then the modifiers at its top.

mod describe;
mod explain;
mod forms;

use std::sync::Arc;

use oxrdf::Term;
use spareval::{QueryEvaluationError, QueryEvaluator, QueryResults};

use super::RunnableQuery;
use super::answer::{ResultSink, SparqlBounds, SparqlSummary};
use super::each_graph::EachGraph;
use super::elements::ElementSource;
use super::environment::Environment;
use super::functions::{self, exact::exactly_within};
use super::guard::{GuardedView, exceeded, read, watched};
use super::native::{self, Fallback};
use super::plan::{EvaluatedPattern, Goal, plan_with, unplanned};
use super::refusal::QueryRefusal;
use super::rewrite::Rewritten;
use super::row::{Row, row_bytes};
use super::services::ServiceRows;
use super::solve::{Collector, SolvePlan};
use super::tables::{Tables, fill_tables};
use terrapin_budget::Budget;
use terrapin_sparql_syntax::algebra::{QueryDataset, QueryForm, QueryPattern, SparqlQuery};
use terrapin_sparql_syntax::convert;
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};
use terrapin_triples::{ReadError, TripleView};

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
        let mut run = QueryRun::new(prepared, of_query(prepared, environment), budget.clone(), &refusal, bounds.rows);
        run.evaluator = run.evaluator.compute_statistics();
        run.explain()
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
        let evaluator = functions::register(QueryEvaluator::new(), &rewritten.functions, &environment, &patterns);
        let evaluator = functions::aggregates::register(evaluator, &rewritten.separators);
        QueryRun { rewritten, environment, budget, evaluator, patterns, most: rows.unwrap_or(u64::MAX) }
    }

    fn view(&self) -> TripleView {
        let mut view = TripleView::new(self.environment.store.clone(), self.budget.clone());
        if self.rewritten.standard {
            view.keep_graphs_apart();
        }
        if let Some(elements) = self.elements() {
            view.compute(elements.clone());
        }
        view
    }

    /// Returns the elements if the query uses them.
    fn elements(&self) -> Option<&Arc<ElementSource>> {
        self.environment.elements.as_ref().filter(|_| self.rewritten.elements)
    }

    /// Returns the graphs that the query is restricted to. A snapshot without named graphs has a single graph, which
    /// every query uses.
    fn dataset(&self) -> Option<QueryDataset> {
        self.environment.store.graphs().and(self.rewritten.dataset.clone())
    }

    /// Returns whether the query is restricted to some of the snapshot's graphs.
    fn has_graphs(&self) -> bool {
        let certain = self.rewritten.standard || self.rewritten.dataset.is_some();
        certain && self.environment.store.graphs().is_some()
    }

    /// Compiles a planned projection to a program. Returns the reason if it needs the evaluator.
    fn compile(
        &self,
        pattern: &QueryPattern,
        view: &TripleView,
        estimates: bool,
    ) -> std::result::Result<native::Program, Fallback> {
        if self.has_graphs() {
            return Err(Fallback::Graphs);
        }
        native::compile(pattern, view, &self.rewritten.separators, estimates)
    }

    /// Plans a pattern with the statistics of all graphs together. If a query is restricted to some graphs, the
    /// evaluator orders its joins.
    fn plan(&self, pattern: QueryPattern, view: &mut TripleView, first: bool) -> EvaluatedPattern {
        if self.has_graphs() {
            return unplanned(pattern, view);
        }
        let goal = Goal { first };
        plan_with(pattern, view, goal, self.elements())
    }

    /// Builds a query for the evaluator.
    fn query(&self, form: QueryForm, mut pattern: QueryPattern) -> spargebra::Query {
        exactly_within(&mut pattern);
        let base = self.rewritten.base.clone();
        convert::query(SparqlQuery { form, dataset: self.dataset(), base, pattern })
    }

    /// Returns the evaluator, with or without its own optimiser.
    fn evaluator(&self, optimise: bool) -> QueryEvaluator {
        let evaluator = self.evaluator.clone();
        if optimise { evaluator } else { evaluator.without_optimizations() }
    }

    /// Computes the tables. Each may depend on earlier ones.
    fn tables(&self) -> Result<Vec<Arc<Vec<Row>>>> {
        let mut tables = Vec::with_capacity(self.rewritten.tables.len());
        let mut bytes = 0;
        for table in &self.rewritten.tables {
            let rows = match table {
                ServiceRows::Plan(plan) => self.rows(plan, &tables)?,
                ServiceRows::Graphs(each) => self.each_graph(each, &tables)?,
                ServiceRows::Service(found) => found.rows(&self.environment, &self.budget)?,
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

    /// Returns the solutions of a pattern in each named graph.
    fn each_graph(&self, each: &EachGraph, tables: &Tables) -> Result<Vec<Row>> {
        let inner = fill_tables(&each.inner, tables);
        let column = each.variables.iter().position(|variable| *variable == each.name);
        let mut rows = Vec::new();
        for graph in self.rows(&each.names, tables)?.into_iter().flatten().flatten() {
            let Term::NamedNode(name) = &graph else {
                let message = "this GRAPH pattern needs a graph without an IRI, which is not supported";
                return Err(SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::Evaluation, message));
            };
            let pattern = QueryPattern::Graph { name: name.clone().into(), inner: Box::new(inner.clone()) };
            let plan = SolvePlan::of(QueryPattern::project(pattern, each.variables.clone()));
            for mut row in self.rows(&plan, &[])? {
                match column.and_then(|column| row.get_mut(column)) {
                    None => row.push(Some(graph.clone())),
                    Some(Some(value)) if *value != graph => continue,
                    Some(value) => *value = Some(graph.clone()),
                }
                rows.push(row);
            }
        }
        Ok(rows)
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
        let planned = self.plan(fill_tables(&plan.pattern, tables), &mut view, false);
        match self.compile(&planned.pattern, &view, false) {
            Ok(program) => self.solve_new(plan, program, &view, each),
            Err(_) => self.evaluate(planned, &view, each),
        }
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

    /// Evaluates a pattern with the evaluator.
    fn evaluate(
        &self,
        planned: EvaluatedPattern,
        view: &TripleView,
        each: &mut dyn FnMut(&[Option<Term>]) -> Result<bool>,
    ) -> Result<()> {
        let query = self.query(QueryForm::Select, planned.pattern);
        let result = self.evaluator(planned.optimise).prepare(&query).execute(GuardedView(view)).map_err(evaluation)?;
        if let QueryResults::Solutions(solutions) = result {
            for solution in solutions {
                let solution = solution.map_err(evaluation)?;
                if !each(solution.values())? {
                    break;
                }
            }
        }
        view.check().map_err(read)
    }
}

fn evaluation(error: QueryEvaluationError) -> SparqlError {
    match error {
        QueryEvaluationError::Dataset(inner) => match inner.downcast::<ReadError>() {
            Ok(inner) => read(*inner),
            Err(inner) => SparqlError::new(SparqlErrorClass::Internal, SparqlCode::Evaluation, inner.to_string()),
        },
        QueryEvaluationError::UnsupportedCustomFunction(_)
        | QueryEvaluationError::UnsupportedCustomFunctionArity { .. } => {
            SparqlError::new(SparqlErrorClass::Unsupported, SparqlCode::UnknownFunction, error.to_string())
        }
        other => SparqlError::new(SparqlErrorClass::Internal, SparqlCode::Evaluation, other.to_string()),
    }
}
