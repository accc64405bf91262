//! The slots of one block while it is compiled.

use oxrdf::Variable;

use super::limits::SET_SLOTS;
use super::operand::Slot;
use crate::plan::Variables;

/// A set of slots that are certainly bound.
pub(super) type Mask = u128;

/// Returns the set with a single slot; the empty one for a slot that sets cannot contain.
pub(super) fn bit(slot: Slot) -> Mask {
    if slot < SET_SLOTS { 1 << slot } else { 0 }
}

/// The variables of a block while it is compiled.
#[derive(Default)]
pub(super) struct BlockScope {
    /// The variable of each slot.
    pub slots: Vec<Variable>,
    /// Number of flags for optional parts so far.
    pub flags: usize,
    /// The largest number of steps that follow each other in a table of the block.
    pub depth: usize,
    /// Whether the snapshot keeps lexical forms.
    pub keeps_forms: bool,
    /// The variables that are bound so far, for estimates.
    pub values: Variables,
}

impl BlockScope {
    /// Returns the slot of a variable, adding it if necessary.
    pub fn slot(&mut self, variable: &Variable) -> Slot {
        self.known(variable).unwrap_or_else(|| {
            self.slots.push(variable.clone());
            self.slots.len() - 1
        })
    }

    /// Returns the slot of a variable if it has one.
    pub fn known(&self, variable: &Variable) -> Option<Slot> {
        self.slots.iter().position(|v| v == variable)
    }

    /// Returns the slots of variables as a set.
    pub fn mask(&mut self, variables: &Variables) -> Mask {
        variables.sorted().iter().fold(0, |mask, variable| mask | bit(self.slot(variable)))
    }
}
