//! `unused-set`: a named set is filled and never read.

use std::collections::BTreeSet;

use terrapin_overpass::syntax::on_statements;

use super::{OverpassFindings, OverpassLint, OverpassRule, sets};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "unused-set",
        severity: LintSeverity::Warning,
        summary: "A named set is filled and never used or output.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    let read: BTreeSet<&str> = lint.script.statements.iter().flat_map(sets::read_within).collect();
    let mut seen = BTreeSet::new();
    on_statements(&lint.script.statements, &mut |statement| {
        // The set of a loop is for its body, and may be left unused there.
        let is_loop = statement.kind.blocks().into_iter().any(|block| !block.is_empty())
            && !matches!(statement.kind.name(), "union" | "difference");
        let Some(into) = statement.kind.result_set().filter(|set| *set != "_" && !is_loop) else { return };
        if !read.contains(into.as_str()) && seen.insert(into.clone()) {
            findings.add(statement.span, format!("the set .{into} is filled and never used or output"));
        }
    });
}
