//! What all statements have: the reference's name, the sets they read and fill, the blocks and expressions in them. What
//! walks over a query asks here, so that a new statement is told once.

use super::tree::{Expr, FilterKind, Out, SetName, Statement, StatementKind};

impl StatementKind {
    /// The reference's name, by which its errors say where a query was stopped.
    pub fn name(&self) -> &'static str {
        match self {
            StatementKind::Query(_) => "query",
            StatementKind::Union { .. } => "union",
            StatementKind::Difference { .. } => "difference",
            StatementKind::Item { .. } => "item",
            StatementKind::Recurse { .. } => "recurse",
            StatementKind::IsIn { .. } => "coord-query",
            StatementKind::MapToArea { .. } => "map-to-area",
            StatementKind::Foreach { .. } => "foreach",
            StatementKind::For { .. } => "for",
            StatementKind::If { .. } => "if",
            StatementKind::Complete { .. } => "complete",
            StatementKind::Retro { .. } => "retro",
            StatementKind::Compare { .. } => "compare",
            StatementKind::Timeline { .. } => "timeline",
            StatementKind::Make { .. } | StatementKind::Convert { .. } => "make",
            StatementKind::Local { .. } => "local",
            StatementKind::Out(_) => "print",
        }
    }

    /// The set that it reads, filters aside.
    pub fn input_set(&self) -> Option<&SetName> {
        match self {
            StatementKind::Item { from, .. }
            | StatementKind::Recurse { from, .. }
            | StatementKind::MapToArea { from, .. }
            | StatementKind::Foreach { from, .. }
            | StatementKind::For { from, .. }
            | StatementKind::Complete { from, .. }
            | StatementKind::Compare { from, .. }
            | StatementKind::Make { from, .. }
            | StatementKind::Convert { from, .. }
            | StatementKind::Local { from, .. }
            | StatementKind::Out(Out { from, .. }) => Some(from),
            StatementKind::Query(_)
            | StatementKind::Union { .. }
            | StatementKind::Difference { .. }
            | StatementKind::IsIn { .. }
            | StatementKind::If { .. }
            | StatementKind::Retro { .. }
            | StatementKind::Timeline { .. } => None,
        }
    }

    /// The set that it fills; a loop's is for its body only.
    pub fn result_set(&self) -> Option<&SetName> {
        match self {
            StatementKind::Query(query) => Some(&query.into),
            StatementKind::Union { into, .. }
            | StatementKind::Difference { into, .. }
            | StatementKind::Item { into, .. }
            | StatementKind::Recurse { into, .. }
            | StatementKind::IsIn { into, .. }
            | StatementKind::MapToArea { into, .. }
            | StatementKind::Foreach { into, .. }
            | StatementKind::For { into, .. }
            | StatementKind::Complete { into, .. }
            | StatementKind::Compare { into, .. }
            | StatementKind::Timeline { into, .. }
            | StatementKind::Make { into, .. }
            | StatementKind::Convert { into, .. }
            | StatementKind::Local { into, .. } => Some(into),
            StatementKind::If { .. } | StatementKind::Retro { .. } | StatementKind::Out(_) => None,
        }
    }

    /// The blocks in it, in the order of the text; empty ones where it has fewer than two.
    pub fn blocks(&self) -> [&[Statement]; 2] {
        match self {
            StatementKind::Union { members: body, .. }
            | StatementKind::Foreach { body, .. }
            | StatementKind::For { body, .. }
            | StatementKind::Complete { body, .. }
            | StatementKind::Retro { body, .. }
            | StatementKind::Compare { body, .. } => [body, &[]],
            StatementKind::Difference { base, minus, .. } => [std::slice::from_ref(base), std::slice::from_ref(minus)],
            StatementKind::If { then, otherwise, .. } => [then, otherwise],
            StatementKind::Query(_)
            | StatementKind::Item { .. }
            | StatementKind::Recurse { .. }
            | StatementKind::IsIn { .. }
            | StatementKind::MapToArea { .. }
            | StatementKind::Timeline { .. }
            | StatementKind::Make { .. }
            | StatementKind::Convert { .. }
            | StatementKind::Local { .. }
            | StatementKind::Out(_) => [&[], &[]],
        }
    }

    /// The expressions that it evaluates itself, in the order of the text; those of its blocks are theirs.
    pub fn expressions(&self) -> Vec<&Expr> {
        match self {
            StatementKind::For { key: value, .. }
            | StatementKind::If { condition: value, .. }
            | StatementKind::Retro { at: value, .. } => vec![value],
            StatementKind::Compare { delta, .. } => delta.iter().collect(),
            StatementKind::Make { properties, .. } | StatementKind::Convert { properties, .. } => {
                properties.iter().filter_map(|property| property.value.as_ref()).collect()
            }
            StatementKind::Query(query) => {
                let conditions = query.filters.iter().filter_map(|filter| match &filter.kind {
                    FilterKind::If(condition) => Some(condition),
                    _ => None,
                });
                conditions.collect()
            }
            StatementKind::Union { .. }
            | StatementKind::Difference { .. }
            | StatementKind::Item { .. }
            | StatementKind::Recurse { .. }
            | StatementKind::IsIn { .. }
            | StatementKind::MapToArea { .. }
            | StatementKind::Foreach { .. }
            | StatementKind::Complete { .. }
            | StatementKind::Timeline { .. }
            | StatementKind::Local { .. }
            | StatementKind::Out(_) => Vec::new(),
        }
    }
}

/// Calls `f` with every statement of a block and of the blocks in it, outer ones first.
pub fn on_statements<'a>(block: &'a [Statement], f: &mut dyn FnMut(&'a Statement)) {
    for statement in block {
        f(statement);
        statement.kind.blocks().into_iter().for_each(|block| on_statements(block, f));
    }
}
