//! Reports the unsupported parts of a query before it runs.

use crate::syntax::{Script, Statement};
use crate::{DiagnosticClass, OverpassCode, OverpassDiagnostic, OverpassFailure, evaluators};

/// The maximum nesting depth of blocks.
const DEEPEST: usize = 100;

/// Returns an error that lists every unsupported part of a query.
pub fn check(script: &Script) -> Result<(), OverpassFailure> {
    let mut found = Vec::new();
    block(&script.statements, 0, &mut found);
    if found.is_empty() { Ok(()) } else { Err(OverpassFailure { diagnostics: found }) }
}

fn block(statements: &[Statement], depth: usize, found: &mut Vec<OverpassDiagnostic>) {
    statements.iter().for_each(|s| statement(s, depth, found));
}

fn statement(s: &Statement, depth: usize, found: &mut Vec<OverpassDiagnostic>) {
    if depth > DEEPEST {
        let message = format!("Statements are nested more than {DEEPEST} deep.");
        let error = OverpassDiagnostic::new(DiagnosticClass::Runtime, OverpassCode::TooDeep, message);
        found.push(error.in_line(s.line).spanning(s.span));
        return;
    }
    s.kind.expressions().into_iter().for_each(|expression| evaluators::check(expression, s.line, found));
    s.kind.blocks().into_iter().for_each(|statements| block(statements, depth + 1, found));
}

/// Returns whether a block uses areas anywhere. If so, the answer contains their time.
pub fn uses_areas(statements: &[Statement]) -> bool {
    let uses = |s: &Statement| s.kind.asks_for_areas() || s.kind.blocks().into_iter().any(uses_areas);
    statements.iter().any(uses)
}
