//! Finds what a query asks for that cannot be run, before anything runs.

use crate::syntax::{Block, FilterKind, QueryType, Script, Statement, StatementKind};
use crate::{Class, Diagnostic, Failure, evaluators};

/// Blocks may be nested this deep.
const DEEPEST: usize = 100;

/// Every use of something that cannot be run.
pub fn check(script: &Script) -> Result<(), Failure> {
    let mut found = Vec::new();
    block(&script.statements, 0, &mut found);
    if found.is_empty() { Ok(()) } else { Err(Failure { diagnostics: found }) }
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
    match &s.kind {
        StatementKind::Union { members, .. } => block(members, depth + 1, found),
        StatementKind::Difference { base, minus, .. } => {
            statement(base, depth + 1, found);
            statement(minus, depth + 1, found);
        }
        StatementKind::Foreach { body, .. } | StatementKind::Complete { body, .. } => block(body, depth + 1, found),
        StatementKind::For { key, body, .. } => {
            evaluators::check(key, s.line, found);
            block(body, depth + 1, found);
        }
        StatementKind::If { condition, then, otherwise } => {
            evaluators::check(condition, s.line, found);
            block(then, depth + 1, found);
            block(otherwise, depth + 1, found);
        }
        StatementKind::Retro { at, body } => {
            evaluators::check(at, s.line, found);
            block(body, depth + 1, found);
        }
        StatementKind::Compare { delta, body, .. } => {
            if let Some(delta) = delta {
                evaluators::check(delta, s.line, found);
            }
            block(body, depth + 1, found);
        }
        StatementKind::Make { properties, .. } | StatementKind::Convert { properties, .. } => {
            properties.iter().filter_map(|p| p.value.as_ref()).for_each(|e| evaluators::check(e, s.line, found));
        }
        StatementKind::Query(query) => {
            for filter in &query.filters {
                if let FilterKind::If(condition) = &filter.kind {
                    evaluators::check(condition, s.line, found);
                }
            }
        }
        StatementKind::Timeline { .. }
        | StatementKind::Local { .. }
        | StatementKind::Item { .. }
        | StatementKind::IsIn { .. }
        | StatementKind::MapToArea { .. }
        | StatementKind::Out(_)
        | StatementKind::Recurse { .. } => {}
    }
}

/// Whether a block asks for areas anywhere, so that its answer tells their time.
pub fn uses_areas(statements: &[Statement]) -> bool {
    statements.iter().any(|s| match &s.kind {
        StatementKind::Query(query) => {
            query.what == QueryType::Area || query.filters.iter().any(|f| is_area_filter(&f.kind))
        }
        StatementKind::Union { members, .. } => uses_areas(members),
        StatementKind::Difference { base, minus, .. } => {
            uses_areas(std::slice::from_ref(base)) || uses_areas(std::slice::from_ref(minus))
        }
        StatementKind::Foreach { body, .. }
        | StatementKind::For { body, .. }
        | StatementKind::Complete { body, .. }
        | StatementKind::Retro { body, .. }
        | StatementKind::Compare { body, .. } => uses_areas(body),
        StatementKind::If { then, otherwise, .. } => uses_areas(then) || uses_areas(otherwise),
        StatementKind::IsIn { .. } | StatementKind::MapToArea { .. } => true,
        _ => false,
    })
}

fn is_area_filter(filter: &FilterKind) -> bool {
    matches!(filter, FilterKind::AreaSet(_) | FilterKind::AreaId(_))
}
