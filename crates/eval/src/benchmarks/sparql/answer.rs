//! Running a SPARQL query for a benchmark: its answer as a table of terms.

use std::io;
use std::time::{Duration, Instant};

use oxrdf::{Term, Triple, Variable};
use serde::{Deserialize, Serialize};
use spargebra::Query;
use spargebra::algebra::GraphPattern;

use super::failure::{Failed, FailureClass};
use super::kept::Text;
use crate::metrics::table::Table;
use terrapin_base::stack::caught;
use terrapin_budget::Limits;
use terrapin_sparql::{Bounds, Dialect, Environment, Form, Settings, Sink, prepare, syntax};

/// How long a query may take: as long as the authors of Instruct-to-SPARQL wait.
const PATIENCE: Duration = Duration::from_secs(60);
/// Rows that an answer may have.
const MOST_ROWS: u64 = 1_000_000;
/// Bytes that a query may hold.
const MOST_MEMORY: u64 = 2 << 30;

/// What a query gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Text", into = "Text")]
pub struct Answer {
    /// What kind of answer it is.
    pub form: Form,
    /// The names of the columns; of a graph `subject`, `predicate`, `object`, of a yes or no `boolean`.
    pub columns: Vec<String>,
    /// The rows in their order, a value for each column.
    pub rows: Vec<Vec<Option<Term>>>,
}

impl Answer {
    /// The values alone.
    pub fn table(&self) -> Table {
        let row = |row: &Vec<Option<Term>>| row.iter().map(|v| v.as_ref().map(value).unwrap_or_default()).collect();
        Table { columns: self.columns.clone(), rows: self.rows.iter().map(row).collect() }
    }
}

/// The value of a term: its IRI or its text. What a blank node is called says nothing.
fn value(term: &Term) -> String {
    match term {
        Term::NamedNode(node) => node.as_str().to_owned(),
        Term::Literal(literal) => literal.value().to_owned(),
        Term::BlankNode(_) => "_:".to_owned(),
        #[allow(unreachable_patterns)]
        other => other.to_string(),
    }
}

/// Runs a query. A fault of the engine in one query must not lose the other lines' results.
///
/// # Errors
/// The query has no answer.
pub fn ask(environment: &Environment, query: &str) -> Result<Answer, Failed> {
    if query.trim().is_empty() {
        return Err(Failed::new(FailureClass::NoQuery, "there is no query"));
    }
    caught(|| run(environment, query)).unwrap_or_else(|text| Err(Failed::new(FailureClass::Internal, text)))
}

fn run(environment: &Environment, query: &str) -> Result<Answer, Failed> {
    let prepared = prepare(query, &Settings::default())?;
    let deadline = Instant::now().checked_add(PATIENCE);
    let limits = Limits { deadline, memory: Some(MOST_MEMORY), ..Limits::default() };
    let mut answer = Answer { form: prepared.form(), columns: Vec::new(), rows: Vec::new() };
    if answer.form == Form::Graph {
        answer.columns = ["subject", "predicate", "object"].map(str::to_owned).into();
    }
    prepared.run(environment, &Bounds { limits, rows: Some(MOST_ROWS) }, &mut answer)?;
    if environment.store.check().is_err() {
        return Err(Failed::new(FailureClass::Internal, "the snapshot is damaged"));
    }
    Ok(answer)
}

impl Sink for Answer {
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

/// What stands at the top of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Top {
    /// Whether it says in which order its rows come.
    pub orders: bool,
    /// How many rows it lets through.
    pub limit: Option<usize>,
}

impl Top {
    /// Reads a query for it; nothing stands at the top of what is no SELECT.
    pub fn of(query: &str) -> Top {
        let mut top = Top::default();
        let Ok(parsed) = syntax::parse(query, Dialect::Wdqs) else { return top };
        let Query::Select { pattern, .. } = parsed.query else { return top };
        let mut pattern = &pattern;
        loop {
            pattern = match pattern {
                GraphPattern::Slice { inner, length, .. } => {
                    top.limit = *length;
                    inner
                }
                GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner } => inner,
                GraphPattern::Project { inner, .. } => {
                    top.orders = matches!(&**inner, GraphPattern::OrderBy { .. });
                    return top;
                }
                _ => return top,
            };
        }
    }

    /// Whether a limit without an order can have cut so many rows: which ones it left is nobody's choice.
    pub fn cuts(self, rows: usize) -> bool {
        !self.orders && self.limit.is_some_and(|limit| rows >= limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_at_the_top() {
        let of = |query: &str| (Top::of(query).orders, Top::of(query).limit);
        assert_eq!(of("SELECT ?x { ?x ?y ?z } ORDER BY ?x LIMIT 10"), (true, Some(10)));
        assert_eq!(
            of("SELECT ?x { { SELECT ?x { ?x ?y ?z } ORDER BY ?x LIMIT 3 } } limit 5 offset 2"),
            (false, Some(5))
        );
        assert_eq!(of("SELECT DISTINCT ?order { ?order ?y ?z } # ORDER BY ?order"), (false, None));
        assert_eq!(of("SELECT (COUNT(*) AS ?n) { ?x ?y ?z } GROUP BY ?x ORDER BY ?n"), (true, None));
        let top = Top { orders: false, limit: Some(2) };
        assert!(top.cuts(2) && !top.cuts(1) && !Top { orders: true, ..top }.cuts(2));
    }
}
