//! `empty-output`: `out` of a set that no earlier statement has filled.

use std::collections::BTreeSet;

use terrapin_overpass::lint::sets;
use terrapin_overpass::syntax::{Statement, StatementKind};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "empty-output",
        severity: LintSeverity::Warning,
        summary: "An out statement outputs a set that no statement before it fills.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    let all: BTreeSet<&str> = lint.script.statements.iter().flat_map(sets::written_within).collect();
    block(&lint.script.statements, &mut BTreeSet::new(), &all, findings);
}

fn block<'s>(
    statements: &'s [Statement],
    filled: &mut BTreeSet<&'s str>,
    all: &BTreeSet<&str>,
    findings: &mut OverpassFindings<'_>,
) {
    for statement in statements {
        if let StatementKind::Out(out) = &statement.kind {
            let is_named = out.from != "_";
            // A named set that is never filled is reported as such.
            if !filled.contains(out.from.as_str()) && (!is_named || all.contains(out.from.as_str())) {
                let set = if is_named { format!("set .{}", out.from) } else { "default set".to_owned() };
                let finding = findings.add(statement.span, format!("the {set} is empty here"));
                finding.nearest = filled.iter().map(|set| format!(".{set} out")).collect();
            }
        }
        // A body may run again after its last statement.
        filled.append(&mut sets::written_within(statement));
        for inner in statement.kind.blocks() {
            block(inner, filled, all, findings);
        }
    }
}
