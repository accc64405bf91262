//! `[date:]` over data that has only the current version of every element: what is newer than the date is not there.

use super::Context;
use crate::osm::ElementType;
use crate::overpass::Failure;
use crate::overpass::plan::{MetaTest, Plan};
use crate::overpass::set::Set;
use crate::overpass::syntax::TimeFrame;

/// The test that elements must pass to be seen; `None` where all are.
pub fn test(ctx: &Context) -> Option<MetaTest> {
    match ctx.script.settings.time {
        TimeFrame::Date(moment) if moment < ctx.osm.data_time() => Some(MetaTest::Until(moment)),
        _ => None,
    }
}

/// Leaves what is seen of a set.
pub fn restrict(ctx: &Context, mut set: Set) -> Result<Set, Failure> {
    if test(ctx).is_none() {
        return Ok(set);
    }
    for kind in ElementType::ALL {
        let known = Some(std::mem::take(set.part_mut(kind)));
        let plan = Plan { known, meta: test(ctx).into_iter().collect(), ..Plan::default() };
        *set.part_mut(kind) = plan.select(ctx.osm, ctx.budget, kind)?;
    }
    Ok(set)
}
