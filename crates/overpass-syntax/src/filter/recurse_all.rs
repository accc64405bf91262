//! A recursion within a query: `<recurse type="down">`. The element is that of a statement (`statement/recurse.rs`).

use super::{Facts, Syntax};
use crate::Form;
use crate::tree::{Recurse, SetName};

/// What a recursion finds.
#[derive(Debug, Clone, PartialEq)]
pub struct RecurseAll {
    /// Which way, and how far.
    pub kind: Recurse,
    /// The set that it starts from.
    pub set: SetName,
}

pub(super) const SYNTAX: Syntax = Syntax { form: Form { name: "recurse", ..Form::NONE }, ..Syntax::NONE };

impl Facts for RecurseAll {
    fn set(&self) -> Option<&SetName> {
        Some(&self.set)
    }
}

/// Whether a type of the element is one of these.
pub(super) fn is_kind(name: &str) -> bool {
    matches!(name, "down" | "down-rel" | "up" | "up-rel")
}
