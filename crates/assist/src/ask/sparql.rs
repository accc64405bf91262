//! Keeps the first solutions of a query and counts all.

use std::io;

use oxrdf::{Term, Triple, Variable};

use terrapin_sparql::ResultSink;

/// A sink that keeps the first solutions and counts all.
#[derive(Default)]
pub struct FirstSolutions {
    /// The variables.
    pub columns: Vec<String>,
    /// The first solutions.
    pub rows: Vec<Vec<Option<Term>>>,
    /// Number of all solutions.
    pub total: u64,
    /// The answer to an ASK.
    pub boolean: Option<bool>,
    /// Maximum number of rows.
    pub most: usize,
}

impl ResultSink for FirstSolutions {
    fn variables(&mut self, variables: &[Variable]) -> io::Result<()> {
        self.columns = variables.iter().map(|variable| variable.as_str().to_owned()).collect();
        Ok(())
    }

    fn solution(&mut self, values: &[Option<Term>]) -> io::Result<()> {
        if self.rows.len() < self.most {
            self.rows.push(values.to_vec());
        }
        self.total += 1;
        Ok(())
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        self.boolean = Some(value);
        self.total = 1;
        Ok(())
    }

    fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        if self.columns.is_empty() {
            self.columns = ["subject", "predicate", "object"].map(str::to_owned).to_vec();
        }
        self.solution(&[
            Some(triple.subject.clone().into()),
            Some(triple.predicate.clone().into()),
            Some(triple.object.clone()),
        ])
    }
}
