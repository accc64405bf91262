//! What a program is made of. A block solves one group of patterns: its steps stand one after another, and each hands
//! every solution on to the next, which is the next one in the list unless it says otherwise.

use oxrdf::Variable;

use super::condition::{BindValue, Condition};
use super::operand::{Operand, Slot};
use crate::functions::aggregates::Fold;
use terrapin_triples::TermId;

/// A step.
#[derive(Debug)]
pub enum Step {
    /// Goes on with every triple that fits.
    Triple([Operand; 3]),
    /// Goes on with the steps after it, up to [`Step::Matched`]; where none of these came so far, at `end`.
    Optional { flag: usize, end: usize },
    /// The end of an optional part.
    Matched { flag: usize },
    /// Goes on at each of these in turn.
    Union(Vec<usize>),
    /// Goes on elsewhere.
    Go(usize),
    /// Goes on with every row that fits.
    Values { slots: Vec<Slot>, rows: Vec<Box<[Option<TermId>]>> },
    /// Goes on with every row of a table that fits. `key` are columns that have a value on both sides.
    Probe { table: usize, slots: Vec<Slot>, key: Vec<usize> },
    /// Goes on if no row of a table fits that has a value in common.
    Minus { table: usize, slots: Vec<Slot>, key: Vec<usize> },
    /// Goes on if a table will have rows: its first one is looked for.
    Any { table: usize },
    /// Goes on if the condition holds.
    Filter(Condition),
    /// Goes on with a value, if there is one, for a slot.
    Bind { slot: Slot, value: BindValue },
    /// All that the answer shows is known: goes on only if it is new, and only until the end is reached once.
    Once,
    /// A solution.
    Emit,
    /// What was asked for exists.
    Found,
}

/// A step, and what it is expected to give each time it is asked.
#[derive(Debug)]
pub struct Planned {
    /// The step.
    pub step: Step,
    /// About how many solutions.
    pub estimate: f64,
    /// How deep it stands in optional parts and the like.
    pub depth: usize,
}

/// An aggregate.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// What is made of the values; they are counted, if nothing.
    pub fold: Option<Fold>,
    /// The column of the values; solutions are counted, if none.
    pub column: Option<usize>,
    /// Whether each value counts once.
    pub distinct: bool,
    /// Whether a solution without a value does not matter. Else it makes the aggregate an error.
    pub skips: bool,
}

/// What becomes of a block's solutions where they are grouped.
#[derive(Debug)]
pub struct Group {
    /// How many columns, from the first, are keys.
    pub keys: usize,
    /// The columns of the groups after the keys.
    pub aggregates: Vec<Aggregate>,
}

impl Group {
    /// How many columns the groups have.
    pub fn width(&self) -> usize {
        self.keys + self.aggregates.len()
    }
}

/// Steps that solve a group of patterns.
#[derive(Debug)]
pub struct Block {
    /// The first step.
    pub start: usize,
    /// How many slots there are.
    pub slots: Vec<Variable>,
    /// How many flags of optional parts.
    pub flags: usize,
    /// The slots that a solution shows; none for a variable that never has a value.
    pub columns: Vec<Option<Slot>>,
    /// Whether equal solutions are one.
    pub distinct: bool,
    /// Whether there is a [`Step::Once`].
    pub once: bool,
    /// Whether they are grouped.
    pub group: Option<Group>,
}

/// A program.
#[derive(Debug)]
pub struct Program {
    /// All blocks' steps.
    pub steps: Vec<Planned>,
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The blocks of the tables.
    pub tables: Vec<usize>,
    /// The block of the answer.
    pub main: usize,
}

impl Program {
    /// How many steps there are.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether every term in it is the snapshot's, so that it says the same in another query's view.
    pub fn is_portable(&self) -> bool {
        let own = |place: &Operand| matches!(place, Operand::Term(id) if id.is_of_query());
        self.steps.iter().all(|planned| match &planned.step {
            Step::Triple(places) => !places.iter().any(own),
            Step::Values { rows, .. } => !rows.iter().flatten().flatten().any(|id| id.is_of_query()),
            Step::Bind { value: BindValue::Operand(place), .. } => !own(place),
            Step::Filter(condition) => condition.places(&mut |place| !own(&place)),
            _ => true,
        })
    }
}
