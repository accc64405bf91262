//! Runs a SPARQL query for a benchmark.

use std::io;
use std::time::{Duration, Instant};

use oxrdf::{Term, Triple, Variable};

use super::answer::SparqlAnswer;
use crate::record::{FailedQuery, FailureClass};
use terrapin_budget::Limits;
use terrapin_sparql::{Dialect, Environment, QueryResultForm, ResultSink, SparqlBounds, SparqlSettings, prepare};

/// The time limit of a query: as long as the authors of Instruct-to-SPARQL wait.
pub const TIMEOUT: Duration = Duration::from_secs(60);
/// The maximum number of rows of an answer.
const MOST_ROWS: u64 = 1_000_000;
/// The memory limit of a query in bytes.
const MOST_MEMORY: u64 = 2 << 30;

/// Runs a query within `limits`, if they are tighter than those of every run. A fault of the engine in one query does
/// not lose the other results.
///
/// # Errors
/// Returns an error if the query has no answer.
pub fn ask(
    environment: &Environment,
    query: &str,
    dialect: Dialect,
    limits: &Limits,
) -> Result<SparqlAnswer, FailedQuery<FailureClass>> {
    if query.trim().is_empty() {
        return Err(FailedQuery::new(FailureClass::NoQuery, "there is no query"));
    }
    FailedQuery::guard(|| run(environment, query, dialect, limits))
}

fn run(
    environment: &Environment,
    query: &str,
    dialect: Dialect,
    limits: &Limits,
) -> Result<SparqlAnswer, FailedQuery<FailureClass>> {
    let prepared = prepare(query, &SparqlSettings { dialect, ..SparqlSettings::default() })?;
    let deadline = [Instant::now().checked_add(TIMEOUT), limits.deadline].into_iter().flatten().min();
    let memory = Some(limits.memory.map_or(MOST_MEMORY, |memory| memory.min(MOST_MEMORY)));
    let limits = Limits { deadline, memory, ..limits.clone() };
    let mut answer = SparqlAnswer { form: prepared.form(), columns: Vec::new(), rows: Vec::new() };
    if answer.form == QueryResultForm::Graph {
        answer.columns = ["subject", "predicate", "object"].map(str::to_owned).into();
    }
    prepared.run(environment, &SparqlBounds { limits, rows: Some(MOST_ROWS) }, &mut answer)?;
    Ok(answer)
}

impl ResultSink for SparqlAnswer {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        self.columns = variables.iter().map(|variable| variable.as_str().to_owned()).collect();
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        self.rows.push(values.to_vec());
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.columns = vec!["boolean".to_owned()];
        self.rows = vec![vec![Some(oxrdf::Literal::from(value).into())]];
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        let parts = [triple.subject.clone().into(), triple.predicate.clone().into(), triple.object.clone()];
        self.rows.push(parts.map(Some).into());
        Ok(())
    }
}
