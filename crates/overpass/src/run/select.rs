//! The elements of one type that filters let pass, whatever statement they stand in.

use std::sync::Arc;

use super::filters::known;
use super::{Context, date};
use crate::plan::{MetaTest, Plan, Region};
use crate::syntax::{Changed, FilterKind, RecurseFilter, RecurseFilterKind, Tag};
use crate::{Class, Code, Diagnostic, Failure};
use terrapin_osm::{ElementType, Ordinal};

/// The elements of one type that pass all filters but `if`; `among` are the only ones that come into question.
pub fn select(
    ctx: &Context,
    kind: ElementType,
    filters: &[&FilterKind],
    regions: &[Arc<dyn Region>],
    among: Option<Vec<Ordinal>>,
    line: u32,
) -> Result<Vec<Ordinal>, Failure> {
    // what areas are made from is seen at all times
    let date = if among.is_some() { None } else { date::test(ctx) };
    let mut plan = Plan { known: among, regions: regions.to_vec(), ..Plan::default() };
    plan.meta.extend(date);
    for filter in filters {
        if let (FilterKind::RecurseFilter(RecurseFilter { kind: RecurseFilterKind::BnWr, set, .. }), 2..) =
            (filter, filters.len())
        {
            // observed only: together with other filters it lets nothing pass, or is forgotten with those for ways
            let enough = !regions.is_empty() || filters.iter().any(|f| !is_bn_wr(f) && is_enough(f));
            let forgets = kind == ElementType::Way && ctx.sets.contains_key(set) && !enough;
            return if forgets { Err(too_weak(line)) } else { Ok(Vec::new()) };
        }
        if let (FilterKind::Changed(Changed { since: Some(_), until: None }), Some(_)) = (filter, &ctx.diff) {
            // observed only: the reference finds nothing, whatever the moment
            return Ok(Vec::new());
        }
        if let (FilterKind::Changed(Changed { since: None, .. }), Some(diff)) = (filter, &ctx.diff) {
            plan.meta.push(diff.changed());
        } else if let Some(test) = MetaTest::compile(ctx.osm, filter) {
            plan.meta.push(test);
        }
        if let Some(known) = known(ctx, kind, filter)? {
            plan.restrict_to(known);
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

/// `wr(bn)`.
fn is_bn_wr(filter: &FilterKind) -> bool {
    matches!(filter, FilterKind::RecurseFilter(RecurseFilter { kind: RecurseFilterKind::BnWr, .. }))
}

/// Whether the reference takes a filter for reason enough to look for elements where it does not count on keys.
fn is_enough(filter: &FilterKind) -> bool {
    match filter {
        FilterKind::Tag(tag) => matches!(tag, Tag::Equals { .. }),
        FilterKind::Newer(_) | FilterKind::Condition(_) => false,
        _ => true,
    }
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
