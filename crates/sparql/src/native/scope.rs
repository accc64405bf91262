//! The slots of one block while it is made.

use oxrdf::Variable;

use super::place::Slot;
use super::program::MOST_SLOTS;
use crate::plan::Variables;

/// A set of slots.
pub(super) type Mask = u128;

/// The set of one slot.
pub(super) fn bit(slot: Slot) -> Mask {
    1 << slot
}

/// What is known while one block is made.
#[derive(Default)]
pub(super) struct Scope {
    /// The variable of each slot.
    pub slots: Vec<Variable>,
    /// Flags of optional parts so far.
    pub flags: usize,
    /// The variables that have values so far, for estimates.
    pub values: Variables,
}

impl Scope {
    /// The slot of a variable; none where there are too many.
    pub fn slot(&mut self, variable: &Variable) -> Option<Slot> {
        if let Some(slot) = self.slots.iter().position(|v| v == variable) {
            return Some(slot);
        }
        self.slots.push(variable.clone());
        (self.slots.len() <= MOST_SLOTS).then(|| self.slots.len() - 1)
    }

    /// The slot of a variable that has one.
    pub fn known(&self, variable: &Variable) -> Option<Slot> {
        self.slots.iter().position(|v| v == variable)
    }

    /// The slots of variables.
    pub fn mask(&mut self, variables: &Variables) -> Option<Mask> {
        variables.sorted().iter().try_fold(0, |mask, variable| Some(mask | bit(self.slot(variable)?)))
    }
}
