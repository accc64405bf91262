//! The state of a running block: the values of its slots.

use super::groups::DistinctRows;
use super::operand::{ProgramOperand, Slot};
use super::program::ProgramBlock;
use terrapin_sparql_syntax::error::SparqlError;
use terrapin_triples::TermId;

/// Receives a solution. Returns `false` if no more are wanted.
pub type Sink<'s> = dyn FnMut(&[Option<TermId>]) -> Result<bool, SparqlError> + 's;

/// The state of a running block.
pub struct BlockFrame<'f> {
    /// The block.
    pub block: &'f ProgramBlock,
    /// The values of the slots.
    pub slots: Vec<Option<TermId>>,
    /// The slots that the steps so far have set, in their order.
    pub trail: Vec<Slot>,
    /// Which optional parts had a solution.
    pub flags: Vec<bool>,
    /// The columns of the current solution.
    pub row: Vec<Option<TermId>>,
    /// The distinct solutions so far.
    pub seen: DistinctRows,
    /// Receives the solutions.
    pub sink: &'f mut Sink<'f>,
}

impl BlockFrame<'_> {
    /// Returns the value of a slot.
    #[inline]
    pub fn get(&self, slot: Slot) -> Option<TermId> {
        self.slots.get(slot).copied().flatten()
    }

    /// Returns the value of an operand.
    #[inline]
    pub fn value(&self, place: ProgramOperand) -> Option<TermId> {
        match place {
            ProgramOperand::Term(id) => Some(id),
            ProgramOperand::Slot(slot) => self.get(slot),
        }
    }

    /// Sets or empties a slot.
    #[inline]
    pub fn set(&mut self, slot: Slot, value: Option<TermId>) {
        if let Some(place) = self.slots.get_mut(slot) {
            *place = value;
        }
    }

    /// Sets an empty slot and records it in the trail, or compares the value of a set one. Returns whether the value
    /// fits.
    #[inline]
    pub fn unify(&mut self, slot: Slot, value: TermId) -> bool {
        match self.slots.get_mut(slot) {
            Some(place @ None) => {
                *place = Some(value);
                self.trail.push(slot);
                true
            }
            Some(Some(there)) => *there == value,
            None => false,
        }
    }

    /// Empties the slots that were recorded after the first `mark` ones.
    #[inline]
    pub fn clear(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some(slot) = self.trail.pop() {
                self.set(slot, None);
            }
        }
    }

    /// Records whether an optional part had a solution.
    #[inline]
    pub fn mark(&mut self, flag: usize, matched: bool) {
        if let Some(place) = self.flags.get_mut(flag) {
            *place = matched;
        }
    }

    /// Returns whether an optional part had a solution.
    #[inline]
    pub fn is_marked(&self, flag: usize) -> bool {
        self.flags.get(flag).copied().unwrap_or(true)
    }

    /// Copies the projected values of the solution to `row`.
    pub fn show(&mut self) {
        self.row.clear();
        let slots = &self.slots;
        let shown = self.block.columns.iter().map(|slot| slot.and_then(|slot| slots.get(slot).copied().flatten()));
        self.row.extend(shown);
    }
}
