//! Query planning: from the algebra to a form that the evaluator runs in an efficient order.
//! - Property paths become relations over term ids (`paths.rs`), as do conditions on the position of a point
//!   (`near.rs`).
//! - Conditions that list the terms of a variable become VALUES (`equal.rs`).
//! - Joins are ordered by the snapshot's cardinalities (`order.rs`, `group.rs`) and the selectivity of filters
//!   (`condition.rs`).
//! - Patterns on OpenStreetMap elements become relations (`elements.rs`), with candidates limited by the query's other
//!   patterns (`asked.rs`).
//!
//! A `Lateral` (or `LeftLateral`) runs as an index nested loop: its right side is evaluated once per solution of the
//! left, with the variables bound. The evaluator runs a `Join` as a hash join, but only after its own optimiser has
//! found the shared variables. The plan therefore uses nested `Lateral`s if they are equivalent and cheaper.
//!
//! That optimiser cannot be interrupted, and its time grows with the cube of the number of joined patterns. It is
//! therefore used for small joins only (`optimiser.rs`).
//!
//! Planning does not change any result. It relies only on the commutativity of joins, and on joins with an empty
//! pattern being empty.

mod asked;
mod condition;
mod elements;
mod equal;
mod estimate;
mod group;
mod near;
mod optimiser;
mod order;
mod paths;
mod register;
mod scope;

use std::sync::Arc;

pub(crate) use self::elements::{describes, speak};
pub(crate) use self::estimate::PatternCardinality;
pub(crate) use self::scope::{Variables, bound, is_plain};
use crate::elements::ElementSource;
use terrapin_sparql_syntax::algebra::QueryPattern;
use terrapin_triples::TripleView;

/// A pattern to be evaluated.
#[derive(Debug, Clone)]
pub struct EvaluatedPattern {
    /// The pattern; its relations are registered with the view.
    pub pattern: QueryPattern,
    /// Whether the pattern needs the evaluator's optimiser. A pattern without hash joins starts faster without it
    /// (`QueryEvaluator::without_optimizations`).
    pub optimise: bool,
    /// The estimated number of solutions.
    pub rows: f64,
}

/// Requirements for a plan.
#[derive(Debug, Clone, Copy, Default)]
pub struct Goal {
    /// Whether one solution is enough.
    pub first: bool,
}

/// Plans a pattern and registers its relations with the view on which it will run.
pub fn plan(pattern: QueryPattern, view: &mut TripleView, goal: Goal) -> EvaluatedPattern {
    plan_with(pattern, view, goal, None)
}

/// Plans a pattern like [`plan`], with a snapshot's elements if there are any.
pub(crate) fn plan_with(
    mut pattern: QueryPattern,
    view: &mut TripleView,
    goal: Goal,
    elements: Option<&Arc<ElementSource>>,
) -> EvaluatedPattern {
    if elements.is_some() {
        elements::split(&mut pattern);
    }
    paths::rewrite(&mut pattern, view);
    if let Some(elements) = elements {
        elements::rewrite(&mut pattern, view, elements);
    }
    let mut planner = order::Planner { view, optimise: false, first: goal.first };
    let part = planner.pattern(pattern, &scope::Variables::default());
    let optimise = planner.optimise && optimiser::is_quick(&part.pattern);
    EvaluatedPattern { pattern: part.pattern, optimise, rows: part.rows }
}

/// Returns a pattern in its written order; the evaluator's optimiser orders it.
pub fn unplanned(mut pattern: QueryPattern, view: &mut TripleView) -> EvaluatedPattern {
    paths::rewrite_without_steps(&mut pattern, view);
    let optimise = optimiser::is_quick(&pattern);
    EvaluatedPattern { pattern, optimise, rows: 0.0 }
}
