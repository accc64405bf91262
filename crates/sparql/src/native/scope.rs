//! The slots of one block while it is made.

use oxrdf::Variable;

use super::fallback::Fallback;
use super::limits::MOST_SLOTS;
use super::operand::Slot;
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
    /// The slot of a variable; an error where there are too many.
    pub fn slot(&mut self, variable: &Variable) -> Result<Slot, Fallback> {
        if let Some(slot) = self.slots.iter().position(|v| v == variable) {
            return Ok(slot);
        }
        self.slots.push(variable.clone());
        if self.slots.len() <= MOST_SLOTS { Ok(self.slots.len() - 1) } else { Err(Fallback::Variables) }
    }

    /// The slot of a variable that has one.
    pub fn known(&self, variable: &Variable) -> Option<Slot> {
        self.slots.iter().position(|v| v == variable)
    }

    /// The slots of variables.
    pub fn mask(&mut self, variables: &Variables) -> Result<Mask, Fallback> {
        variables.sorted().iter().try_fold(0, |mask, variable| Ok(mask | bit(self.slot(variable)?)))
    }
}
