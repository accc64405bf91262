//! Query planning: from the algebra to a form that runs in an efficient order.
//! - Property paths become relations over term ids (`paths.rs`), as do triple terms with variables (`reified.rs`) and
//!   conditions on the position of a point (`near.rs`).
//! - Conditions that list the terms of a variable become VALUES (`equal.rs`).
//! - Joins are ordered by the snapshot's cardinalities (`order.rs`, `group.rs`) and the selectivity of filters
//!   (`condition.rs`).
//! - Patterns on OpenStreetMap elements become relations (`elements.rs`), with candidates limited by the query's other
//!   patterns (`asked.rs`).
//!
//! A `Lateral` (or `LeftLateral`) runs as an index nested loop: its right side is evaluated once per solution of the
//! left, with the variables bound. A `Join` runs as a hash join.
//!
//! The counts are those of all graphs together, also for patterns that read some graphs only.
//!
//! Planning does not change any result. It relies only on the commutativity of joins, and on joins with an empty
//! pattern being empty.

mod asked;
mod condition;
mod elements;
mod equal;
mod estimate;
mod group;
mod has_predicate;
mod near;
mod order;
mod paths;
mod register;
mod reified;
mod scope;

use std::sync::Arc;

pub(crate) use self::elements::{describes, speak};
pub(crate) use self::estimate::PatternCardinality;
pub(crate) use self::paths::name_blank;
pub(crate) use self::register::register;
pub(crate) use self::reified::constant;
pub(crate) use self::scope::{Variables, bound, is_plain};
use crate::elements::ElementSource;
use terrapin_sparql_syntax::algebra::QueryPattern;
use terrapin_triples::TripleView;

/// Requirements for a plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct Goal {
    /// Whether one solution is enough.
    pub first: bool,
}

/// Plans a pattern and registers its relations with the view on which it will run.
pub fn plan(pattern: QueryPattern, view: &mut TripleView, goal: Goal) -> QueryPattern {
    plan_with(pattern, view, goal, None)
}

/// Plans a pattern like [`plan`], with a snapshot's elements if there are any.
pub(crate) fn plan_with(
    mut pattern: QueryPattern,
    view: &mut TripleView,
    goal: Goal,
    elements: Option<&Arc<ElementSource>>,
) -> QueryPattern {
    if elements.is_some() {
        elements::split(&mut pattern);
    }
    paths::rewrite(&mut pattern, view);
    if let Some(elements) = elements {
        elements::rewrite(&mut pattern, view, elements);
    }
    let mut planner = order::Planner { view, first: goal.first };
    match pattern {
        // One solution of the inner pattern is enough as well.
        QueryPattern::Project { mut inner, variables } if goal.first => {
            *inner = planner.pattern(*inner, &scope::Variables::default()).pattern;
            QueryPattern::Project { inner, variables }
        }
        pattern => planner.pattern(pattern, &scope::Variables::default()).pattern,
    }
}
