//! Feedback on queries that were rejected or stopped.

use terrapin_budget::{Budget, ExceededLimit};
use terrapin_diagnostic::{Diagnostic, DiagnosticClass, LocatedDiagnostic};
use terrapin_overpass::{OverpassCode, OverpassFailure};

use super::Feedback;

/// The maximum number of reported errors, since a recovering parser finds many for one mistake.
const ERRORS: usize = 3;

/// Returns the error for an exceeded budget.
pub fn reached(budget: &Budget, when: &str) -> Feedback {
    over(budget.check().err().unwrap_or(ExceededLimit::Cancelled), when)
}

/// Returns the error for a limit exceeded outside the run of the query.
pub fn over(exceeded: ExceededLimit, when: &str) -> Feedback {
    let (code, message) = (OverpassCode::from(exceeded).name(), format!("{exceeded}, {when}"));
    let error = Diagnostic::new(DiagnosticClass::Runtime, code, message);
    failed([error.help("ask for less: fewer filters, fewer names").into()])
}

/// Returns the error for a panic outside the run of the query.
pub fn panicked(panic: &str) -> Feedback {
    let message = format!("looking at the query failed, by a fault of the program: {panic}");
    failed([Diagnostic::new(DiagnosticClass::Runtime, OverpassCode::Defect.name(), message).into()])
}

/// Returns the feedback on a query with errors.
pub fn failed(errors: impl IntoIterator<Item = LocatedDiagnostic>) -> Feedback {
    Feedback { errors: errors.into_iter().collect(), ..Feedback::default() }
}

/// Returns the feedback on a query that was rejected or stopped.
pub fn rejected(text: &str, failure: OverpassFailure) -> Feedback {
    let first = failure.diagnostics.into_iter().take(ERRORS);
    failed(first.map(|diagnostic| LocatedDiagnostic::new(diagnostic.erase(), text)))
}
