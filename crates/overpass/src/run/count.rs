//! `way[building];out count;` at the end of a script: how many elements a tag's posting lists have, without reading them.
//! Nothing can tell the difference: the set that the query fills is seen by nobody else.

use super::query::{is_empty, kinds};
use super::{Context, date, uses_areas};
use crate::Failure;
use crate::output::{Counts, disconnected};
use crate::plan::TagTest;
use crate::syntax::{Detail, FilterKind, Out, Query, QueryType, Statement, StatementKind, Tag};
use terrapin_osm::{ElementType, Ordinal};

/// The last two statements of a script, where they are a query and what counts its elements; and those before.
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

/// Writes the count, if it is known; otherwise the statements are still to be run.
pub fn run(ctx: &mut Context, query: &Query, last: &Statement) -> Result<bool, Failure> {
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
    ctx.budget.check()?;
    // What the elements would have taken: a bound holds or does not, however a query is run.
    ctx.budget.memory(found.iter().sum::<u64>() * size_of::<Ordinal>() as u64)?;
    let of = |kind: ElementType| found[kind as usize];
    let counts = Counts {
        with_id: !out.noids,
        nodes: of(ElementType::Node),
        ways: of(ElementType::Way),
        relations: of(ElementType::Relation),
        areas: uses_areas(&ctx.script.statements).then_some(0),
    };
    ctx.answer.count(&counts).map_err(disconnected)?;
    Ok(true)
}
