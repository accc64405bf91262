//! Where values stand.

use terrapin_triples::TermId;

/// A place for a variable's value in a block.
pub type Slot = usize;

/// A place of a triple pattern.
#[derive(Debug, Clone, Copy)]
pub enum Operand {
    /// A term.
    Term(TermId),
    /// A variable.
    Slot(Slot),
}
