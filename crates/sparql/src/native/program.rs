//! The parts of a program. A block solves one group of patterns. Its steps are stored in sequence; each passes every
//! solution on to the next step in the list unless it names another one.

use oxrdf::Variable;

use super::condition::{BindValue, ProgramCondition};
use super::operand::{GraphOperand, ProgramOperand, Slot};
use crate::functions::aggregates::Fold;
use terrapin_triples::TermId;

/// A step of a program.
#[derive(Debug)]
pub enum ProgramStep {
    /// Continues with every triple that matches.
    Triple([ProgramOperand; 3]),
    /// Continues with every triple of some of the graphs that matches.
    InGraph(GraphOperand, [ProgramOperand; 3]),
    /// Continues with every named graph, or tests whether a known one exists.
    Graphs(ProgramOperand),
    /// Continues if a slot is empty or has the graph's name, which it then gets.
    Equate { graph: Slot, slot: Slot },
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
    /// Continues with every row of a table that matches.
    Probe(TableLookup),
    /// Continues if no row of a table is compatible and shares a bound variable. If `shares`, all share one.
    Minus { lookup: TableLookup, shares: bool },
    /// Continues if a table has rows; only its first rows are computed.
    Any { table: usize, given: Vec<Slot> },
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

/// A lookup of rows in a table.
#[derive(Debug)]
pub struct TableLookup {
    /// The number of the table.
    pub table: usize,
    /// The slots of its columns.
    pub slots: Vec<Slot>,
    /// The columns that are bound on both sides.
    pub key: Vec<usize>,
    /// The slots with values that the table depends on: they become the first slots of its block.
    pub given: Vec<Slot>,
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
    /// The columns of a solution, to count distinct ones.
    pub solution: Vec<usize>,
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

/// ORDER BY, OFFSET and LIMIT of a block's solutions.
#[derive(Debug)]
pub struct Arrangement {
    /// The columns to sort by, and whether the order is descending.
    pub keys: Vec<(usize, bool)>,
    /// The number of columns that are shown. Those of sort keys follow.
    pub width: usize,
    /// Whether duplicates are removed after sorting.
    pub distinct: bool,
    /// The number of solutions to skip.
    pub start: usize,
    /// The maximum number of solutions after those.
    pub length: Option<usize>,
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
    /// Whether duplicate solutions are removed as they are found.
    pub distinct: bool,
    /// The order and the limits of the solutions, if there are any.
    pub arrangement: Option<Arrangement>,
    /// Whether the block contains a [`Step::Once`].
    pub once: bool,
    /// The grouping of the solutions, if there is one.
    pub group: Option<GroupingStep>,
}

impl ProgramBlock {
    /// Returns whether duplicate solutions are removed.
    pub fn is_distinct(&self) -> bool {
        self.distinct || self.arrangement.as_ref().is_some_and(|arrangement| arrangement.distinct)
    }

    /// Returns the number of columns of the block's solutions.
    pub fn width(&self) -> usize {
        match (&self.group, &self.arrangement) {
            (Some(group), _) => group.width(),
            (None, Some(arrangement)) => arrangement.width,
            (None, None) => self.columns.len(),
        }
    }
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
            ProgramStep::InGraph(GraphOperand::Named(name), places) => !places.iter().chain([name]).any(own),
            ProgramStep::InGraph(_, places) => !places.iter().any(own),
            ProgramStep::Graphs(name) => !own(name),
            ProgramStep::Values { rows, .. } => !rows.iter().flatten().flatten().any(|id| id.is_of_query()),
            ProgramStep::Bind { value: BindValue::Operand(place), .. } => !own(place),
            ProgramStep::Filter(condition) => condition.places(&mut |place| !own(&place)),
            _ => true,
        })
    }
}
