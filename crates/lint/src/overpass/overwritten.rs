//! `overwritten-result`: a statement overwrites a result that nothing has read.

use terrapin_overpass::lint::sets;
use terrapin_overpass::syntax::{Statement, StatementKind, on_statements};

use super::{OverpassFindings, OverpassLint, OverpassRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: OverpassRule = OverpassRule {
    rule: &LintRule {
        code: "overwritten-result",
        severity: LintSeverity::Warning,
        summary: "The result of a query is overwritten before a statement reads it.",
    },
    check,
};

fn check(lint: &OverpassLint<'_>, findings: &mut OverpassFindings<'_>) {
    block(&lint.script.statements, findings);
    on_statements(&lint.script.statements, &mut |statement| {
        // The operands of a union or a difference are all read.
        if !matches!(statement.kind, StatementKind::Union(_) | StatementKind::Difference(_)) {
            statement.kind.blocks().into_iter().for_each(|inner| block(inner, findings));
        }
    });
}

fn block(statements: &[Statement], findings: &mut OverpassFindings<'_>) {
    for (at, statement) in statements.iter().enumerate() {
        if !matches!(statement.kind, StatementKind::Query(_)) {
            continue;
        }
        let Some(set) = statement.kind.result_set().map(String::as_str) else { continue };
        for later in statements.get(at + 1..).unwrap_or_default() {
            if sets::read_within(later).contains(set) {
                break;
            }
            let is_block = later.kind.blocks().into_iter().any(|block| !block.is_empty())
                && !matches!(later.kind, StatementKind::Union(_) | StatementKind::Difference(_));
            if later.kind.result_set().is_some_and(|into| into == set) && !is_block {
                let name = if set == "_" { "default set".to_owned() } else { format!("set .{set}") };
                let message = format!(
                    "the result is lost: line {} overwrites the {name}; join both with `( ... );`, or name the sets",
                    later.line
                );
                findings.add(statement.span, message);
                break;
            }
            if is_block || sets::written_within(later).contains(set) {
                break;
            }
        }
    }
}
