//! Runs `[date:]` and `retro`. If the data has only the current version of each element, elements newer than the date
//! are hidden. Otherwise [`super::moment`] provides the state at the date.

use super::RunContext;
use crate::plan::{MetaTest, TypePlan};
use crate::set::ElementSet;
use crate::syntax::{self, Retro, Script, TimeFrame, Timestamp};
use crate::{OverpassFailure, evaluators};
use terrapin_osm::ElementType;

/// Returns the test that decides which elements are visible; `None` if all are. As in the reference, an element without
/// a timestamp is hidden at every date, even after the latest data. However, if the data has no timestamps at all, all
/// elements are visible at every date.
pub fn test(ctx: &RunContext) -> Option<MetaTest> {
    ctx.date.filter(|_| ctx.history().is_none() && ctx.osm.data_time() != 0).map(MetaTest::Until)
}

/// Returns the date that applies to a query from its first statement on.
pub fn of(script: &Script) -> Option<Timestamp> {
    match script.settings.time {
        TimeFrame::Date(moment) => Some(moment),
        _ => None,
    }
}

/// Runs `retro`: a block at another date. Its changes to sets do not leave the block. If the evaluator gives no date,
/// the block does not run.
pub fn retro(ctx: &mut RunContext, Retro { at, body }: &Retro) -> Result<(), OverpassFailure> {
    let Some(moment) = syntax::timestamp(&evaluators::text(ctx.environment(), at)?) else { return Ok(()) };
    let outside = (ctx.sets.clone(), ctx.loop_values.clone(), ctx.outside.clone());
    let osm = ctx.osm;
    let outer = ctx.look_at(Some(moment))?;
    ctx.carry(osm);
    let inherited = std::mem::replace(&mut ctx.inherited, ctx.sets.keys().cloned().collect());
    let done = ctx.run_block(body);
    ctx.look_at(outer)?;
    ctx.inherited = inherited;
    (ctx.sets, ctx.loop_values, ctx.outside) = outside;
    done
}

/// Removes the hidden elements from a set.
pub fn restrict(ctx: &RunContext, mut set: ElementSet) -> ElementSet {
    if test(ctx).is_none() {
        return set;
    }
    for kind in ElementType::ALL {
        let known = Some(std::mem::take(set.part_mut(kind)));
        let plan = TypePlan { known, meta: test(ctx).into_iter().collect(), ..TypePlan::default() };
        *set.part_mut(kind) = plan.select(ctx.osm, kind);
    }
    set
}
