//! `unfilled-set`: a named set is read and never filled.

use std::collections::BTreeSet;

use terrapin_overpass::syntax::on_statements;

use super::{OverpassFindings, OverpassLint, OverpassRule, sets};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "unfilled-set",
        severity: LintSeverity::Warning,
        summary: "A named set is used and never filled, so that it is empty.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    let filled: BTreeSet<&str> = lint.script.statements.iter().flat_map(sets::written_within).collect();
    let mut seen = BTreeSet::new();
    on_statements(&lint.script.statements, &mut |statement| {
        for set in sets::read(statement) {
            if set != "_" && !filled.contains(set) && seen.insert(set.to_owned()) {
                let finding = findings.add(statement.span, format!("the set .{set} is used and never filled"));
                finding.nearest = filled.iter().filter(|set| **set != "_").map(|set| format!(".{set}")).collect();
            }
        }
    });
}
