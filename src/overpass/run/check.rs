//! Finds what a query asks for that is not there yet, before anything runs.

use crate::overpass::syntax::{Block, Query, Script, Span, Statement, StatementKind, TimeFrame};
use crate::overpass::{Class, Diagnostic, Failure};

/// Blocks may be nested this deep.
const DEEPEST: usize = 100;

/// Every use of something that cannot be run.
pub fn check(script: &Script) -> Result<(), Failure> {
    let mut found = Vec::new();
    match &script.settings.time {
        TimeFrame::Now => {}
        TimeFrame::Date(_) => found.push(unsupported("The setting [date:]", 0, None)),
        TimeFrame::Diff { augmented: false, .. } => found.push(unsupported("The setting [diff:]", 0, None)),
        TimeFrame::Diff { augmented: true, .. } => found.push(unsupported("The setting [adiff:]", 0, None)),
    }
    block(&script.statements, 0, &mut found);
    if found.is_empty() { Ok(()) } else { Err(Failure { diagnostics: found }) }
}

/// The error for a feature that is not there yet.
pub fn unsupported(what: &str, line: u32, span: Option<Span>) -> Diagnostic {
    Diagnostic {
        class: Class::Runtime,
        code: "unsupported",
        line,
        span,
        message: format!("{what} is not supported yet."),
        help: None,
    }
}

fn block(statements: &Block, depth: usize, found: &mut Vec<Diagnostic>) {
    statements.iter().for_each(|s| statement(s, depth, found));
}

fn statement(s: &Statement, depth: usize, found: &mut Vec<Diagnostic>) {
    if depth > DEEPEST {
        found.push(Diagnostic {
            class: Class::Runtime,
            code: "too-deep",
            line: s.line,
            span: Some(s.span),
            message: format!("Statements are nested more than {DEEPEST} deep."),
            help: None,
        });
        return;
    }
    let mut missing = |what: &str| found.push(unsupported(what, s.line, Some(s.span)));
    match &s.kind {
        StatementKind::Query(query) => filters(query, s.line, found),
        StatementKind::Union { members, .. } => block(members, depth + 1, found),
        StatementKind::Difference { base, minus, .. } => {
            statement(base, depth + 1, found);
            statement(minus, depth + 1, found);
        }
        StatementKind::Foreach { body, .. }
        | StatementKind::For { body, .. }
        | StatementKind::Complete { body, .. } => block(body, depth + 1, found),
        StatementKind::If { then, otherwise, .. } => {
            block(then, depth + 1, found);
            block(otherwise, depth + 1, found);
        }
        StatementKind::Retro { .. } => missing("The statement \"retro\""),
        StatementKind::Compare { .. } => missing("The statement \"compare\""),
        StatementKind::Timeline { .. } => missing("The statement \"timeline\""),
        StatementKind::Local { .. } => missing("The statement \"local\""),
        StatementKind::IsIn { .. } => missing("The statement \"is_in\""),
        StatementKind::MapToArea { .. } => missing("The statement \"map_to_area\""),
        StatementKind::Make { .. } => missing("The statement \"make\""),
        StatementKind::Convert { .. } => missing("The statement \"convert\""),
        StatementKind::Item { .. } | StatementKind::Out(_) | StatementKind::Recurse { .. } => {}
    }
}

fn filters(_query: &Query, _line: u32, _found: &mut Vec<Diagnostic>) {}
