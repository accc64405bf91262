//! Defines the failure of a query: its errors, in the reference's order.

use std::fmt;

use terrapin_diagnostic::Diagnostic;

use super::code::{OverpassCode, OverpassDiagnostic};

/// A query that was rejected or stopped: at least one error, in the reference's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverpassFailure {
    /// The errors.
    pub diagnostics: Vec<OverpassDiagnostic>,
}

impl From<OverpassDiagnostic> for OverpassFailure {
    fn from(diagnostic: OverpassDiagnostic) -> Self {
        OverpassFailure { diagnostics: vec![diagnostic] }
    }
}

impl OverpassFailure {
    /// Returns whether the cause is not the query: a damaged snapshot, unwritable temporary files or a failure of the
    /// program.
    pub fn is_fault(&self) -> bool {
        let faults = [OverpassCode::Damaged, OverpassCode::Temporary, OverpassCode::Internal];
        self.diagnostics.iter().any(|diagnostic| faults.contains(&diagnostic.code))
    }

    /// Returns the errors without the types of the language.
    pub fn erase(self) -> Vec<Diagnostic> {
        self.diagnostics.into_iter().map(OverpassDiagnostic::erase).collect()
    }

    /// Returns the suggested action of the first error that has one.
    pub fn help(&self) -> Option<&str> {
        self.diagnostics.iter().find_map(|diagnostic| diagnostic.help.as_deref())
    }
}

impl fmt::Display for OverpassFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, d) in self.diagnostics.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{d}")?;
        }
        Ok(())
    }
}

impl std::error::Error for OverpassFailure {}
