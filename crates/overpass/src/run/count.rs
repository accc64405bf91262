//! Answers `way[building];out count;` at the end of a script from the lengths of posting lists, without reading them.
//! The query's set need not be filled: no later statement reads it.

use super::query::{is_empty, kinds};
use super::{RunContext, date, uses_areas};
use crate::OverpassFailure;
use crate::output::{OutCounts, disconnected};
use crate::plan::TagTest;
use crate::syntax::{Detail, FilterKind, Out, Query, QueryType, Statement, StatementKind, Tag};
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal};

/// Splits off the last two statements of a script, if they are a query and an `out count` of its elements. Also returns
/// the statements before them.
pub fn split(statements: &[Statement]) -> Option<(&[Statement], &Query, &Statement)> {
    let [before @ .., first, last] = statements else { return None };
    match (&first.kind, &last.kind) {
        (StatementKind::Query(query), StatementKind::Out(out)) if counts(query, out) => Some((before, query, last)),
        _ => None,
    }
}

fn counts(query: &Query, out: &Out) -> bool {
    let by_tag = |filter: &FilterKind| {
        matches!(filter, FilterKind::Tag(Tag::HasKey { .. } | Tag::Equals { .. })) && !is_empty(filter)
    };
    out.detail == Detail::Count
        && out.limit != Some(0)
        && out.from == query.into
        && !matches!(query.what, QueryType::Area | QueryType::Derived)
        && matches!(query.filters.as_slice(), [one] if by_tag(&one.kind))
}

/// Writes the count if it is known. Returns `false` if the statements still have to run.
pub fn run(ctx: &mut RunContext, query: &Query, last: &Statement) -> Result<bool, OverpassFailure> {
    let StatementKind::Out(out) = &last.kind else { return Ok(false) };
    let everywhere = ctx.script.settings.bbox.is_none() && date::test(ctx).is_none() && ctx.diff.is_none();
    if !everywhere || !ctx.weak.is_empty() {
        return Ok(false);
    }
    let mut found = [0; 3];
    for &kind in kinds(query.what) {
        let test = query.filters.first().and_then(|filter| TagTest::compile(ctx.osm, &ctx.tags, &filter.kind, 0));
        let Some(count) = test.and_then(|test| test.count(ctx.osm, kind)) else { return Ok(false) };
        found[kind as usize] = count;
    }
    ctx.budget.enter(last);
    budget::check();
    // Charges the memory that the elements would have used, so that the limit applies regardless of how the query runs.
    budget::ensure_memory(found.iter().sum::<u64>() * size_of::<Ordinal>() as u64);
    let of = |kind: ElementType| found[kind as usize];
    let counts = OutCounts {
        with_id: !out.noids,
        nodes: of(ElementType::Node),
        ways: of(ElementType::Way),
        relations: of(ElementType::Relation),
        areas: uses_areas(&ctx.script.statements).then_some(0),
    };
    ctx.answer.count(&counts).map_err(disconnected)?;
    Ok(true)
}
