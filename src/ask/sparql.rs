//! The first solutions of a query, and how many there are.

use std::io;

use oxrdf::{Term, Triple, Variable};

use crate::sparql::Sink;

/// Counts what comes, and keeps some of it.
#[derive(Default)]
pub struct Kept {
    /// The variables.
    pub columns: Vec<String>,
    /// The first solutions.
    pub rows: Vec<Vec<Option<Term>>>,
    /// How many there are.
    pub total: u64,
    /// The answer to an ASK.
    pub boolean: Option<bool>,
    /// How many are kept.
    pub most: usize,
}

impl Sink for Kept {
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
