//! The slots of one block while it is compiled.

use oxrdf::Variable;

use super::fallback::Fallback;
use super::limits::MOST_SLOTS;
use super::operand::Slot;
use crate::plan::Variables;

/// A set of slots.
pub(super) type Mask = u128;

/// Returns the set with a single slot.
pub(super) fn bit(slot: Slot) -> Mask {
    1 << slot
}

/// The variables of a block while it is compiled.
#[derive(Default)]
pub(super) struct BlockScope {
    /// The variable of each slot.
    pub slots: Vec<Variable>,
    /// Number of flags for optional parts so far.
    pub flags: usize,
    /// The variables that are bound so far, for estimates.
    pub values: Variables,
}

impl BlockScope {
    /// Returns the slot of a variable, adding it if necessary; an error if there are too many.
    pub fn slot(&mut self, variable: &Variable) -> Result<Slot, Fallback> {
        if let Some(slot) = self.slots.iter().position(|v| v == variable) {
            return Ok(slot);
        }
        self.slots.push(variable.clone());
        if self.slots.len() <= MOST_SLOTS { Ok(self.slots.len() - 1) } else { Err(Fallback::Variables) }
    }

    /// Returns the slot of a variable if it has one.
    pub fn known(&self, variable: &Variable) -> Option<Slot> {
        self.slots.iter().position(|v| v == variable)
    }

    /// Returns the slots of variables as a set.
    pub fn mask(&mut self, variables: &Variables) -> Result<Mask, Fallback> {
        variables.sorted().iter().try_fold(0, |mask, variable| Ok(mask | bit(self.slot(variable)?)))
    }
}
