//! The elements of one type that filters let pass, whatever statement they stand in.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::filters::{area, recurse};
use super::{Context, date};
use crate::plan::{MetaTest, Plan, Region};
use crate::sorted;
use crate::syntax::FilterKind;
use crate::{Class, Code, Diagnostic, Failure};
use terrapin_osm::{ElementType, Ordinal};

/// The elements of one type that pass all filters but `if`; `known` are the only ones that come into question.
pub fn select(
    ctx: &Context,
    kind: ElementType,
    filters: &[&FilterKind],
    regions: &[Arc<dyn Region>],
    known: Option<Vec<Ordinal>>,
    line: u32,
) -> Result<Vec<Ordinal>, Failure> {
    // what areas are made from is seen at all times
    let date = if known.is_some() { None } else { date::test(ctx) };
    let mut plan = Plan { known, regions: regions.to_vec(), ..Plan::default() };
    plan.meta.extend(date);
    for filter in filters {
        if let (FilterKind::Changed { since: Some(_), until: None }, Some(_)) = (filter, &ctx.diff) {
            // observed only: the reference finds nothing, whatever the moment
            return Ok(Vec::new());
        }
        if let (FilterKind::Changed { since: None, .. }, Some(diff)) = (filter, &ctx.diff) {
            plan.meta.push(diff.changed());
        } else if let Some(test) = MetaTest::compile(ctx.osm, filter) {
            plan.meta.push(test);
        }
        match filter {
            FilterKind::Ids(ids) => {
                let mut found: Vec<Ordinal> = ids.iter().filter_map(|&id| ctx.osm.find(kind, id)).collect();
                found.sort_unstable();
                found.dedup();
                plan.restrict_to(found);
            }
            FilterKind::IdRange { lower, upper } => plan.restrict_to(id_range(ctx, kind, *lower..=*upper)?),
            FilterKind::RecurseAll { kind: way, set } => {
                plan.restrict_to(super::recurse::as_filter(ctx, *way, set, kind)?);
            }
            FilterKind::Set(name) => plan.restrict_to(ctx.set(name).part(kind).to_vec()),
            FilterKind::Recurse(filter) => plan.restrict_to(recurse::elements(ctx, kind, filter)?),
            FilterKind::WayCount { link, set, lower, upper } => {
                let upper = upper.unwrap_or(u64::MAX);
                plan.restrict_to(recurse::counted(ctx, kind, *link, &ctx.set(set).ways, *lower..=upper)?);
            }
            FilterKind::Pivot(name) => plan.restrict_to(area::pivots(ctx, kind, &ctx.set(name))),
            _ => {}
        }
        if plan.never() {
            return Ok(Vec::new());
        }
    }
    plan.add_tags(ctx.osm, &ctx.tags, kind, filters);
    if plan.is_weak(ctx.osm, kind) {
        return Err(too_weak(line));
    }
    plan.select(ctx.osm, ctx.budget, kind)
}

/// Ranges of ids up to this size are looked up one by one.
const FEW_IDS: u64 = 1000;

/// The elements of one type with an id in a range.
fn id_range(ctx: &Context, kind: ElementType, range: RangeInclusive<u64>) -> Result<Vec<Ordinal>, Failure> {
    if range.end().saturating_sub(*range.start()) < FEW_IDS {
        let ids = range.filter_map(|id| i64::try_from(id).ok());
        return Ok(sorted::from_unsorted(ids.filter_map(|id| ctx.osm.find(kind, id)).collect()));
    }
    let (count, step) = (ctx.osm.count(kind), ctx.osm.page_size(kind));
    let mut found = Vec::new();
    let mut first = 0;
    while first < count {
        let page: Vec<Ordinal> = (first..count.min(first + step)).collect();
        ctx.budget.work(page.len())?;
        let ids = ctx.osm.ids(kind, &page);
        let inside = page.into_iter().zip(ids).filter(|(_, id)| range.contains(&(*id as u64)));
        found.extend(inside.map(|(ordinal, _)| ordinal));
        first += step;
    }
    Ok(found)
}

fn too_weak(line: u32) -> Failure {
    Failure::from(Diagnostic {
        class: Class::Runtime,
        code: Code::TooWeak,
        line,
        span: None,
        message: "Filters too weak in query statement: specify in addition a bbox, a tag filter, or similar."
            .to_owned(),
        help: Some("add a box, an area or a tag that must be there".to_owned()),
    })
}
