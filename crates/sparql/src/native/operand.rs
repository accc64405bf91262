//! Slots and operands of steps.

use terrapin_triples::TermId;

/// The index of a variable's value in a block.
pub type Slot = usize;

/// A position in a triple pattern.
#[derive(Debug, Clone, Copy)]
pub enum ProgramOperand {
    /// A term.
    Term(TermId),
    /// A variable.
    Slot(Slot),
}
