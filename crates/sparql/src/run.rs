//! Running a prepared query: its tables first, then the evaluator under watch, then what stands at the query's top.

use std::sync::Arc;

use oxrdf::Term;
use spareval::{QueryEvaluationError, QueryEvaluator, QueryResults};

use super::Prepared;
use super::answer::{Bounds, Sink, Summary};
use super::blank::Labels;
use super::construct::Template;
use super::environment::Environment;
use super::functions;
use super::guard::{Guarded, exceeded, read, watched};
use super::native::{self, Fallback};
use super::plan::{Planned, plan, unplanned};
use super::rewrite::Rewritten;
use super::row::{Row, row_bytes};
use super::services::Table;
use super::solve::{Collector, Plan};
use super::tables::{Tables, fill_tables};
use terrapin_budget::Budget;
use terrapin_sparql_syntax::algebra::{Pattern, Query, QueryDataset, QueryForm};
use terrapin_sparql_syntax::convert;
use terrapin_sparql_syntax::error::{Class, Code, Error};
use terrapin_triples::{ReadError, View};

type Result<T> = std::result::Result<T, Error>;

/// The environment of one query, whose random values depend on the query, too.
fn of_query(prepared: &Prepared, environment: &Environment) -> Arc<Environment> {
    let mut seed = environment.seed.clone();
    seed.extend_from_slice(&prepared.digest);
    Arc::new(Environment { store: environment.store.clone(), now: environment.now.clone(), seed })
}

/// Tells how a query is solved: its tables first, each with its number, then the query itself.
pub(super) fn explain(prepared: &Prepared, environment: &Environment, bounds: &Bounds) -> Result<String> {
    let budget = Arc::new(Budget::new(&bounds.limits));
    watched(&budget, || {
        let mut run = Run::new(prepared, of_query(prepared, environment), budget.clone(), bounds.rows);
        run.evaluator = run.evaluator.compute_statistics();
        run.explain()
    })
}

/// Runs a query.
pub(super) fn run(
    prepared: &Prepared,
    environment: &Environment,
    bounds: &Bounds,
    sink: &mut dyn Sink,
) -> Result<Summary> {
    let budget = Arc::new(Budget::new(&bounds.limits));
    let environment = of_query(prepared, environment);
    let rows = watched(&budget, || {
        let run = Run::new(prepared, environment, budget.clone(), bounds.rows);
        run.answer(sink)
    })?;
    Ok(Summary { rows, work: budget.work_done() })
}

struct Run<'p> {
    rewritten: &'p Rewritten,
    environment: Arc<Environment>,
    budget: Arc<Budget>,
    evaluator: QueryEvaluator,
    most: u64,
}

fn gone(error: std::io::Error) -> Error {
    Error::new(Class::Internal, Code::Output, format!("the answer cannot be written: {error}"))
}

impl<'p> Run<'p> {
    fn new(prepared: &'p Prepared, environment: Arc<Environment>, budget: Arc<Budget>, rows: Option<u64>) -> Self {
        let rewritten = &prepared.rewritten;
        let evaluator = functions::register(QueryEvaluator::new(), &rewritten.functions, &environment);
        let evaluator = functions::aggregates::register(evaluator, &rewritten.separators);
        Run { rewritten, environment, budget, evaluator, most: rows.unwrap_or(u64::MAX) }
    }

    fn view(&self) -> View {
        let mut view = View::new(self.environment.store.clone(), self.budget.clone());
        if self.rewritten.apart {
            view.keep_graphs_apart();
        }
        view
    }

    /// The graphs that the query is about. A snapshot without named graphs has one, which every query is about.
    fn dataset(&self) -> Option<QueryDataset> {
        self.environment.store.graphs().and(self.rewritten.dataset.clone())
    }

    /// Whether the query is about certain ones of the snapshot's graphs, not all together.
    fn has_graphs(&self) -> bool {
        let certain = self.rewritten.apart || self.rewritten.dataset.is_some();
        certain && self.environment.store.graphs().is_some()
    }

    /// The program for a planned projection, or why it needs the evaluator.
    fn compile(
        &self,
        pattern: &Pattern,
        view: &View,
        estimates: bool,
    ) -> std::result::Result<native::Program, Fallback> {
        if self.has_graphs() {
            return Err(Fallback::Graphs);
        }
        native::compile(pattern, view, &self.rewritten.separators, estimates)
    }

    /// Plans a pattern by the counts of all graphs together; a query about certain graphs is the evaluator's to order.
    fn plan(&self, pattern: Pattern, view: &mut View) -> Planned {
        if self.has_graphs() {
            return unplanned(pattern);
        }
        plan(pattern, view)
    }

    /// Counts a row of the answer.
    fn count(&self, rows: &mut u64) -> Result<()> {
        *rows += 1;
        if *rows <= self.most {
            return Ok(());
        }
        let message = format!("the answer has more than {} rows", self.most);
        Err(Error::new(Class::Limit, Code::Rows, message).help("set a LIMIT"))
    }

    fn answer(&self, sink: &mut dyn Sink) -> Result<u64> {
        let tables = self.tables()?;
        let plan = &self.rewritten.plan;
        let mut rows = 0;
        match &self.rewritten.form {
            QueryForm::Select => {
                sink.variables(&plan.variables).map_err(gone)?;
                let mut labels = Labels::default();
                if plan.streams() {
                    self.solutions(plan, &tables, &mut |values| {
                        self.count(&mut rows)?;
                        let numbered = labels.solution(values);
                        sink.solution(numbered.as_deref().unwrap_or(values)).map_err(gone)?;
                        Ok(true)
                    })?;
                } else {
                    for row in self.rows(plan, &tables)? {
                        self.count(&mut rows)?;
                        let numbered = labels.solution(&row);
                        sink.solution(numbered.as_deref().unwrap_or(&row)).map_err(gone)?;
                    }
                }
            }
            QueryForm::Ask => {
                let value = self.exists(fill_tables(&plan.pattern, &tables))?;
                sink.boolean(value).map_err(gone)?;
            }
            QueryForm::Construct(template) => {
                let mut labels = Labels::default();
                let mut template = Template::new(template, &plan.variables);
                let mut fill = |values: &[Option<Term>]| {
                    for triple in template.fill(values, || labels.fresh()) {
                        self.count(&mut rows)?;
                        sink.triple(&labels.triple(triple)).map_err(gone)?;
                    }
                    self.budget.memory(template.bytes).map_err(exceeded)?;
                    Ok(true)
                };
                if plan.streams() {
                    self.solutions(plan, &tables, &mut fill)?;
                } else {
                    for row in self.rows(plan, &tables)? {
                        fill(&row)?;
                    }
                }
            }
            QueryForm::Describe => {
                let pattern = if plan.streams() {
                    fill_tables(&plan.pattern, &tables)
                } else {
                    let rows = Arc::new(self.rows(plan, &tables)?);
                    Pattern::Values { variables: plan.variables.clone(), rows }
                };
                let mut view = self.view();
                let planned = self.plan(pattern, &mut view);
                let query = self.query(QueryForm::Describe, planned.pattern);
                let evaluator = self.evaluator(planned.optimise);
                let result = evaluator.prepare(&query).execute(Guarded(&view)).map_err(evaluation)?;
                if let QueryResults::Graph(triples) = result {
                    let mut labels = Labels::default();
                    for triple in triples {
                        self.count(&mut rows)?;
                        sink.triple(&labels.triple(triple.map_err(evaluation)?)).map_err(gone)?;
                    }
                }
                view.check().map_err(read)?;
            }
        }
        Ok(rows)
    }

    /// Whether a pattern has a solution.
    fn exists(&self, pattern: Pattern) -> Result<bool> {
        let mut view = self.view();
        let planned = self.plan(pattern, &mut view);
        let pattern = Pattern::project(planned.pattern, Vec::new());
        let mut value = false;
        if let Ok(program) = self.compile(&pattern, &view, false) {
            native::solve(&program, &view, &self.evaluator, &mut [], &mut |_| {
                value = true;
                Ok(false)
            })?;
        } else {
            let query = self.query(QueryForm::Ask, pattern);
            let result =
                self.evaluator(planned.optimise).prepare(&query).execute(Guarded(&view)).map_err(evaluation)?;
            value = matches!(result, QueryResults::Boolean(true));
        }
        view.check().map_err(read)?;
        Ok(value)
    }

    /// A query for the evaluator.
    fn query(&self, form: QueryForm, pattern: Pattern) -> spargebra::Query {
        let base = self.rewritten.base.clone();
        convert::query(Query { form, dataset: self.dataset(), base, pattern })
    }

    /// The evaluator, with its own optimiser or without.
    fn evaluator(&self, optimise: bool) -> QueryEvaluator {
        let evaluator = self.evaluator.clone();
        if optimise { evaluator } else { evaluator.without_optimizations() }
    }

    /// How the tables and the query are solved.
    fn explain(&self) -> Result<String> {
        let tables = self.tables()?;
        let mut out = String::new();
        for (number, (table, rows)) in self.rewritten.tables.iter().zip(&tables).enumerate() {
            out.push_str(&format!("table {number}: {} rows\n", rows.len()));
            if let Table::Plan(plan) = table {
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

    /// The steps for a plan, which is solved to the end; `whole` says why it is the evaluator's whatever stands in it.
    fn steps(&self, top: &Plan, tables: &Tables, whole: Option<Fallback>) -> Result<String> {
        let mut view = self.view();
        let planned = self.plan(fill_tables(&top.pattern, tables), &mut view);
        let program = match whole {
            None => self.compile(&planned.pattern, &view, true),
            Some(why) => Err(why),
        };
        let why = match program {
            Err(why) => why,
            Ok(program) => {
                let mut counts = vec![0; program.len()];
                native::solve(&program, &view, &self.evaluator, &mut counts, &mut |_| Ok(true))?;
                view.check().map_err(read)?;
                return native::explain(&program, &view, &counts).map_err(read);
            }
        };
        let expected = format!("about {:.0} solutions expected; the evaluator's steps, as {why}:\n", planned.rows);
        let query = self.query(QueryForm::Select, planned.pattern);
        let evaluator = self.evaluator(planned.optimise);
        let (result, explanation) = evaluator.prepare(&query).explain(Guarded(&view));
        if let QueryResults::Solutions(solutions) = result.map_err(evaluation)? {
            for solution in solutions {
                solution.map_err(evaluation)?;
            }
        }
        view.check().map_err(read)?;
        let mut json = Vec::new();
        explanation.write_in_json(&mut json).map_err(gone)?;
        Ok(expected + &super::explain::render(&json)?)
    }

    /// Makes the tables, each of which may need those before it.
    fn tables(&self) -> Result<Vec<Arc<Vec<Row>>>> {
        let mut tables = Vec::with_capacity(self.rewritten.tables.len());
        let mut bytes = 0;
        for table in &self.rewritten.tables {
            let rows = match table {
                Table::Plan(plan) => self.rows(plan, &tables)?,
                Table::Service(found) => found.rows(&self.environment, &self.budget)?,
            };
            bytes += rows.iter().map(row_bytes).sum::<u64>();
            self.budget.memory(bytes).map_err(exceeded)?;
            tables.push(Arc::new(rows));
        }
        Ok(tables)
    }

    /// The solutions of a plan, all of them.
    fn rows(&self, plan: &Plan, tables: &Tables) -> Result<Vec<Row>> {
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
        view: &View,
        each: &mut dyn FnMut(&[Option<Term>]) -> Result<bool>,
    ) -> Result<()> {
        let mut decoder = native::Decoder::default();
        native::solve(program, view, &self.evaluator, &mut [], &mut |row| {
            each(decoder.decode(view, row).map_err(read)?)
        })?;
        view.check().map_err(read)
    }

    /// Has a plan's pattern solved; `each` takes the solutions and tells whether it wants more.
    fn solutions(
        &self,
        plan: &Plan,
        tables: &Tables,
        each: &mut dyn FnMut(&[Option<Term>]) -> Result<bool>,
    ) -> Result<()> {
        let mut view = self.view();
        let store = &self.environment.store;
        if let Some(program) = plan.program.get(store) {
            return self.solve(program, &view, each);
        }
        let planned = self.plan(fill_tables(&plan.pattern, tables), &mut view);
        if let Ok(program) = self.compile(&planned.pattern, &view, false) {
            if plan.has_tables {
                return self.solve(&program, &view, each);
            }
            return match (plan.program.keep(store, program), plan.program.get(store)) {
                (Err(program), _) => self.solve(&program, &view, each),
                (Ok(()), Some(program)) => self.solve(program, &view, each),
                (Ok(()), None) => Ok(()),
            };
        }
        let query = self.query(QueryForm::Select, planned.pattern);
        let result = self.evaluator(planned.optimise).prepare(&query).execute(Guarded(&view)).map_err(evaluation)?;
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

fn evaluation(error: QueryEvaluationError) -> Error {
    match error {
        QueryEvaluationError::Dataset(inner) => match inner.downcast::<ReadError>() {
            Ok(inner) => read(*inner),
            Err(inner) => Error::new(Class::Internal, Code::Evaluation, inner.to_string()),
        },
        QueryEvaluationError::UnsupportedCustomFunction(_)
        | QueryEvaluationError::UnsupportedCustomFunctionArity { .. } => {
            Error::new(Class::Unsupported, Code::UnknownFunction, error.to_string())
        }
        other => Error::new(Class::Internal, Code::Evaluation, other.to_string()),
    }
}
