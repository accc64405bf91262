//! The query statement: `node[...](...)->.set`.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::filters::{self, area, recurse};
use super::{Context, date};
use crate::plan::{BoxRegion, MetaTest, Plan, Region, sorted};
use crate::set::Set;
use crate::syntax::{FilterKind, Query, QueryType};
use crate::{Class, Diagnostic, Failure, evaluators};
use terrapin_osm::{ElementType, Ordinal};

/// Runs the statement.
pub fn run(ctx: &mut Context, query: &Query, line: u32) -> Result<(), Failure> {
    let wanted: Vec<&FilterKind> = query.filters.iter().map(|f| &f.kind).filter(|f| !is_empty(f)).collect();
    let outer = ctx.script.settings.bbox.filter(|_| !stands_alone(query.what, &wanted));
    let mut regions = Vec::new();
    if let Some(bbox) = outer {
        regions.push(Arc::new(BoxRegion::new(filters::to_osm(&bbox))) as Arc<dyn Region>);
    }
    for filter in &wanted {
        if let Some(region) = filters::region(ctx, filter)? {
            regions.push(region);
        }
    }
    let mut set = Set::default();
    match query.what {
        QueryType::Derived => set.derived = derived(ctx, &wanted),
        QueryType::Area => area::select(ctx, &wanted, &regions, &mut set, line)?,
        what => {
            for &kind in kinds(what) {
                *set.part_mut(kind) = select(ctx, kind, &wanted, &regions, None, line)?;
                ctx.budget.memory(set.bytes())?;
            }
        }
    }
    for filter in &wanted {
        if let FilterKind::If(expr) = filter {
            set = evaluators::filter(ctx, expr, &set)?;
        }
    }
    ctx.assign(&query.into, set);
    Ok(())
}

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

/// Derived elements come from sets only.
fn derived(ctx: &Context, filters: &[&FilterKind]) -> Vec<Arc<crate::set::Derived>> {
    let mut sets: Vec<Arc<Set>> = filters
        .iter()
        .filter_map(|f| match f {
            FilterKind::Set(name) => Some(ctx.set(name)),
            _ => None,
        })
        .collect();
    // Of elements with the same id, those of the last set are the answer.
    let Some(last) = sets.pop() else { return Vec::new() };
    let passes = |d: &Arc<crate::set::Derived>| {
        sets.iter().all(|s| s.derived.binary_search_by_key(&(d.id as u64), |o| o.id as u64).is_ok())
            && filters.iter().all(|f| filters::holds_for_derived(f, d))
    };
    last.derived.iter().filter(|d| passes(d)).cloned().collect()
}

/// The types of element that a query looks for.
fn kinds(what: QueryType) -> &'static [ElementType] {
    use ElementType::{Node, Relation, Way};
    match what {
        QueryType::Node => &[Node],
        QueryType::Way => &[Way],
        QueryType::Relation => &[Relation],
        QueryType::Nwr => &[Node, Way, Relation],
        QueryType::Nw => &[Node, Way],
        QueryType::Nr => &[Node, Relation],
        QueryType::Wr => &[Way, Relation],
        QueryType::Area | QueryType::Derived => &[],
    }
}

/// `[key=""]` asks for nothing at all, as the reference has it.
fn is_empty(filter: &FilterKind) -> bool {
    matches!(filter, FilterKind::Equals { value, .. } | FilterKind::NotEquals { value, .. } if value.is_empty())
}

/// Whether the global box does not apply: to what the reference's QL front end makes a statement of its own and not a
/// query, which is the case with a single filter of some kinds.
fn stands_alone(what: QueryType, filters: &[&FilterKind]) -> bool {
    let [one] = filters else { return false };
    match one {
        FilterKind::Recurse(_) | FilterKind::WayCount { .. } => true,
        FilterKind::Ids(_) | FilterKind::IdRange { .. } => {
            matches!(what, QueryType::Node | QueryType::Way | QueryType::Relation)
        }
        FilterKind::Bbox(_) | FilterKind::AroundSet { .. } | FilterKind::AroundPoints { .. } | FilterKind::Poly(_) => {
            what == QueryType::Node
        }
        _ => false,
    }
}

fn too_weak(line: u32) -> Failure {
    Failure::from(Diagnostic {
        class: Class::Runtime,
        code: "too-weak",
        line,
        span: None,
        message: "Filters too weak in query statement: specify in addition a bbox, a tag filter, or similar."
            .to_owned(),
        help: Some("add a box, an area or a tag that must be there".to_owned()),
    })
}
