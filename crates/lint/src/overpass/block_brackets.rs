//! `round-block`: the statements of a loop are in round brackets.

use terrapin_diagnostic::TextEdit;
use terrapin_overpass::syntax::{StatementKind, on_statements};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "round-block",
        severity: LintSeverity::Warning,
        summary: "The block of foreach is in round brackets, an old form. The fix uses braces.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    on_statements(&lint.script.statements, &mut |statement| {
        if !matches!(statement.kind, StatementKind::Foreach(_)) {
            return;
        }
        let Some(written) = lint.written(statement.span) else { return };
        let range = lint.expanded.source(&(statement.span.start..statement.span.end));
        let body = written.trim_end().trim_end_matches(';').trim_end();
        let (Some(open), Some(_)) = (written.find(['(', '{']), body.strip_suffix(')')) else { return };
        if written.get(open..=open) != Some("(") || written.get(..open).is_some_and(|head| head.contains('/')) {
            return;
        }
        let edit = |at: usize, text: &str| TextEdit {
            start: range.start + at,
            end: range.start + at + 1,
            text: text.to_owned(),
        };
        let fix = vec![edit(open, "{"), edit(body.len() - 1, "}")];
        findings.add(statement.span, "round brackets around a block are an old form: use { }".to_owned()).fix = fix;
    });
}
