//! `unused-result`: the result of the last statements goes nowhere.

use terrapin_overpass::lint::sets;
use terrapin_overpass::syntax::StatementKind;

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "unused-result",
        severity: LintSeverity::Warning,
        summary: "A query writes to the default set, and no later statement reads it.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    let statements = &lint.script.statements;
    for (at, statement) in statements.iter().enumerate() {
        let is_query = matches!(statement.kind, StatementKind::Query(_) | StatementKind::Recursion(_));
        if !is_query || statement.kind.result_set().is_none_or(|set| set != "_") {
            continue;
        }
        let rest = statements.get(at + 1..).unwrap_or_default();
        let is_used = rest
            .iter()
            .any(|later| sets::read_within(later).contains("_") || sets::written_within(later).contains("_"));
        // Without any output, another rule reports the query.
        let outputs = statements.iter().any(sets::outputs);
        if !is_used && outputs {
            findings.add(statement.span, "the result is never used or output".to_owned());
        }
    }
}
