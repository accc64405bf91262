//! The codes by which programs identify warnings.

use terrapin_budget::codes;
use terrapin_diagnostic::QueryWarning;

codes! {
    /// A likely mistake in a query.
    pub enum LintCode {
        NoSuchKey = "no-such-key", "No element has the key of a filter.";
        NoSuchValue = "no-such-value", "No element has the key of a filter with its value.";
        NoSuchId = "no-such-id", "No element of the type has the id.";
        NoSuchArea = "no-such-area", "There is no area of the id, or none that fits the filters.";
        FindsNothing = "finds-nothing", "A statement finds nothing when it is run alone.";
        UnusedSet = "unused-set", "A set is filled, and neither used nor output.";
        UnfilledSet = "unfilled-set", "A set is used, and never filled.";
        NoOutput = "no-output", "There is no out.";
    }
}

/// Creates a warning.
pub fn warning(code: LintCode, message: String, nearest: Vec<String>) -> QueryWarning {
    QueryWarning { nearest, ..QueryWarning::new(code.name(), message) }
}
