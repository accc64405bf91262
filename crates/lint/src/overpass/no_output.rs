//! `no-output`: the query outputs nothing.

use terrapin_overpass::syntax::{SourceSpan, StatementKind, on_statements};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "no-output",
        severity: LintSeverity::Warning,
        summary: "The query has no out statement, so that its answer is empty.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    let mut outputs = false;
    on_statements(&lint.script.statements, &mut |statement| {
        outputs |= matches!(statement.kind, StatementKind::Out(_) | StatementKind::Local(_));
    });
    if !outputs {
        let end = lint.expanded.text.trim_end().len();
        let start = lint.script.statements.last().map_or(0, |last| last.span.start);
        findings.add(SourceSpan { start, end }, "nothing is output: add `out;`".to_owned());
    }
}
