//! `random`: RAND(), UUID() and STRUUID().

use terrapin_sparql::syntax::algebra::Function;

use super::{SparqlFindings, SparqlLint, SparqlRule};
use crate::finding::{LintRule, LintSeverity};

pub const RULE: SparqlRule = SparqlRule {
    rule: &LintRule {
        code: "random",
        severity: LintSeverity::Note,
        summary: "The query has RAND(), UUID() or STRUUID(): other engines answer differently each time.",
    },
    check,
};

fn check(lint: &SparqlLint<'_>, findings: &mut SparqlFindings) {
    let mut found = None;
    lint.on_calls(&mut |function| match function {
        Function::Rand => found = Some("RAND"),
        Function::Uuid => found = Some("UUID"),
        Function::StrUuid => found = Some("STRUUID"),
        _ => {}
    });
    if let Some(name) = found {
        findings.add(lint.place(name), format!("{name}() has another value on each run of other engines"));
    }
}
