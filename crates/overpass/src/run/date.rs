//! `[date:]` and `retro`. Over data that has only the current version of every element, what is newer than the date is
//! not there; else [`super::moment`] gives the state of the date.

use super::Context;
use crate::plan::{MetaTest, Plan};
use crate::set::Set;
use crate::syntax::{self, Retro, Script, TimeFrame, Timestamp};
use crate::{Failure, evaluators};
use terrapin_osm::ElementType;

/// The test that elements must pass to be seen; `None` if all are. As in the reference, an element without a timestamp is
/// not there at any date, not even at one after all data; yet data without a single timestamp is there at every date.
pub fn test(ctx: &Context) -> Option<MetaTest> {
    ctx.date.filter(|_| ctx.history().is_none() && ctx.osm.data_time() != 0).map(MetaTest::Until)
}

/// The date that a query is to be answered for from its first statement on.
pub fn of(script: &Script) -> Option<Timestamp> {
    match script.settings.time {
        TimeFrame::Date(moment) => Some(moment),
        _ => None,
    }
}

/// Runs `retro`: a block at another date. What it leaves in sets stays within; where the evaluator gives no date, it
/// does not run.
pub fn retro(ctx: &mut Context, Retro { at, body }: &Retro) -> Result<(), Failure> {
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
