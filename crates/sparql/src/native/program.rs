//! The parts of a program. A block solves one group of patterns. Its steps are stored in sequence; each passes every
//! solution on to the next step in the list unless it names another one.

use oxrdf::Variable;

use super::condition::{BindValue, ProgramCondition};
use super::operand::{ProgramOperand, Slot};
use crate::functions::aggregates::Fold;
use terrapin_triples::TermId;

/// A step of a program.
#[derive(Debug)]
pub enum ProgramStep {
    /// Continues with every triple that matches.
    Triple([ProgramOperand; 3]),
    /// Continues with the steps after it, up to [`Step::Matched`]. If that was never reached, continues at `end`.
    Optional { flag: usize, end: usize },
    /// Ends an optional part.
    Matched { flag: usize },
    /// Continues at each of these steps in turn.
    Union(Vec<usize>),
    /// Jumps to a step.
    Go(usize),
    /// Continues with every row that matches.
    Values { slots: Vec<Slot>, rows: Vec<Box<[Option<TermId>]>> },
    /// Continues with every row of a table that matches. `key` contains the columns that are bound on both sides.
    Probe { table: usize, slots: Vec<Slot>, key: Vec<usize> },
    /// Continues if no row of a table is compatible and shares a bound variable.
    Minus { table: usize, slots: Vec<Slot>, key: Vec<usize> },
    /// Continues if a table has rows; only its first rows are computed.
    Any { table: usize },
    /// Continues if the condition holds.
    Filter(ProgramCondition),
    /// Assigns a value to a slot if there is one, and continues.
    Bind { slot: Slot, value: BindValue },
    /// All projected variables are bound: continues only if their values are new, and only until the first solution.
    Once,
    /// Returns a solution of the block.
    Emit,
    /// Ends the steps of an EXISTS: a solution exists.
    Found,
}

/// A step with its expected number of solutions for each input solution.
#[derive(Debug)]
pub struct PlannedStep {
    /// The step.
    pub step: ProgramStep,
    /// The expected number of solutions.
    pub estimate: f64,
    /// The nesting depth in optional parts, unions and EXISTS.
    pub depth: usize,
}

/// An aggregate.
#[derive(Debug, Clone)]
pub struct GroupAggregate {
    /// The function that combines the values; `None` to count them.
    pub fold: Option<Fold>,
    /// The column of the values; `None` to count solutions.
    pub column: Option<usize>,
    /// Whether equal values are counted once.
    pub distinct: bool,
    /// Whether solutions without a value are skipped; otherwise, they make the aggregate an error.
    pub skips: bool,
}

/// The grouping of a block's solutions.
#[derive(Debug)]
pub struct GroupingStep {
    /// The number of key columns, which come first.
    pub keys: usize,
    /// The aggregates; their columns follow the keys.
    pub aggregates: Vec<GroupAggregate>,
}

impl GroupingStep {
    /// Returns the number of columns of the groups.
    pub fn width(&self) -> usize {
        self.keys + self.aggregates.len()
    }
}

/// The steps that solve a group of patterns.
#[derive(Debug)]
pub struct ProgramBlock {
    /// The index of the first step.
    pub start: usize,
    /// The variable of each slot.
    pub slots: Vec<Variable>,
    /// The number of flags for optional parts.
    pub flags: usize,
    /// The slots of the projected variables; `None` for a variable that is never bound.
    pub columns: Vec<Option<Slot>>,
    /// Whether duplicate solutions are removed.
    pub distinct: bool,
    /// Whether the block contains a [`Step::Once`].
    pub once: bool,
    /// The grouping of the solutions, if there is one.
    pub group: Option<GroupingStep>,
}

/// A compiled pattern.
#[derive(Debug)]
pub struct Program {
    /// The steps of all blocks.
    pub steps: Vec<PlannedStep>,
    /// The blocks.
    pub blocks: Vec<ProgramBlock>,
    /// The block of each table.
    pub tables: Vec<usize>,
    /// The block of the answer.
    pub main: usize,
}

impl Program {
    /// Returns the number of steps.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Returns whether all terms belong to the snapshot, so that the program has the same result in another query's
    /// view.
    pub fn is_portable(&self) -> bool {
        let own = |place: &ProgramOperand| matches!(place, ProgramOperand::Term(id) if id.is_of_query());
        self.steps.iter().all(|planned| match &planned.step {
            ProgramStep::Triple(places) => !places.iter().any(own),
            ProgramStep::Values { rows, .. } => !rows.iter().flatten().flatten().any(|id| id.is_of_query()),
            ProgramStep::Bind { value: BindValue::Operand(place), .. } => !own(place),
            ProgramStep::Filter(condition) => condition.places(&mut |place| !own(&place)),
            _ => true,
        })
    }
}
