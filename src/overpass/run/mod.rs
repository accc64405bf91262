//! Running a query: the statements one after another over named sets. A file a statement.

mod budget;

pub use budget::{Budget, Limits};

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Failure;
use super::output::Answer;
use super::set::Set;
use super::syntax::{Block, Script, SetName, Statement};
use crate::osm::Osm;

/// What a running query has.
pub struct Context<'a> {
    /// The data.
    pub osm: &'a Osm,
    /// The query.
    pub script: &'a Script,
    /// Deadline, memory and cancellation.
    pub budget: &'a Budget,
    /// The named sets; a name that was never given is an empty set.
    pub sets: BTreeMap<SetName, Arc<Set>>,
    /// Where `out` writes.
    pub answer: &'a mut dyn Answer,
    /// The last id given to a derived element.
    pub last_derived_id: i64,
}

impl Context<'_> {
    /// The content of a set.
    pub fn set(&self, name: &str) -> Arc<Set> {
        self.sets.get(name).cloned().unwrap_or_default()
    }

    /// Gives a set its content.
    pub fn assign(&mut self, name: &str, set: Set) {
        self.sets.insert(name.to_owned(), Arc::new(set));
    }

    /// Runs the statements of a block in order.
    pub fn run_block(&mut self, block: &Block) -> Result<(), Failure> {
        block.iter().try_for_each(|statement| self.run_statement(statement))
    }

    /// Runs one statement.
    pub fn run_statement(&mut self, statement: &Statement) -> Result<(), Failure> {
        let _ = statement;
        todo!("dispatch to a file a statement")
    }
}
