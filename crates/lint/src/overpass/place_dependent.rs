//! `place-dependent`: the answer depends on the map that the user sees.

use std::ops::Range;

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "place-dependent",
        severity: LintSeverity::Note,
        summary: "The query has {{bbox}}, {{wsen}} or {{center}}: its answer depends on a box that it does not contain.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    on_shortcuts(lint.text, &mut |range, inner| {
        if matches!(inner.trim(), "bbox" | "wsen" | "center") {
            findings.add_at(range, "the answer depends on the current view of the map".to_owned());
        }
    });
}

/// Calls `each` with the range and the inner text of every innermost shortcut.
pub fn on_shortcuts(text: &str, each: &mut dyn FnMut(Range<usize>, &str)) {
    let mut end = 0;
    while let Some(close) = text.get(end..).and_then(|rest| rest.find("}}")).map(|at| end + at) {
        if let Some(open) = text.get(end..close).and_then(|before| before.rfind("{{")).map(|at| end + at) {
            each(open..close + 2, text.get(open + 2..close).unwrap_or_default());
        }
        end = close + 2;
    }
}
