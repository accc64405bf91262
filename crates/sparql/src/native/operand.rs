//! Slots and operands of steps.

use terrapin_triples::TermId;

/// The index of a variable's value in a block.
pub type Slot = usize;

/// The graphs that a triple pattern reads.
#[derive(Debug, Clone, Copy)]
pub enum GraphOperand {
    /// All graphs together.
    All,
    /// The default graph of the query's dataset.
    Default,
    /// A named graph.
    Named(ProgramOperand),
}

/// A position in a triple pattern.
#[derive(Debug, Clone, Copy)]
pub enum ProgramOperand {
    /// A term.
    Term(TermId),
    /// A variable.
    Slot(Slot),
}
