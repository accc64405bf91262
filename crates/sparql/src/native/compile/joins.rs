//! Compiles joins, optional parts, and parts that are solved separately.

use super::{CompileContext, Compiler, GivenVariable, Modifiers, PatternEntry, Result};
use crate::native::condition::BindValue;
use crate::native::layout::{PlanNode, Sequence, strip};
use crate::native::operand::{GraphOperand, ProgramOperand};
use crate::native::program::{ProgramStep, TableLookup};
use crate::native::scope::{BlockScope, Mask, bit};
use crate::plan::{Variables, bound, is_plain};
use terrapin_sparql_syntax::algebra::{
    AggregateCall as Aggregation, AggregateFunction, Expression, Helper, QueryPattern,
};
use terrapin_sparql_syntax::walk::{on_all_variables, on_patterns};

impl Compiler<'_> {
    pub(super) fn join(
        &mut self,
        left: &QueryPattern,
        right: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let entry = PatternEntry { known: context.known, slots: scope.slots.len(), at: out.len() };
        if left.is_unit() {
            return self.sequence(right, context, scope, out);
        }
        if context.known == 0 && bound(left).0.common(&bound(right).0) == 0 {
            return self.product(left, right, context, scope, out);
        }
        // In an EXISTS, the table of a plain side is computed once; the order of the sides is free.
        let (left, right) = if context.asked && !is_plain(right) { (right, left) } else { (left, right) };
        let known = self.sequence(left, context, scope, out)?;
        self.probe(right, CompileContext { known, ..context }, entry, scope, out)
    }

    /// Compiles a Cartesian product. The planner puts the smaller sides first: these are stored as tables, and the last
    /// side is scanned once. If a side has no solution, no other work is done.
    pub(super) fn product(
        &mut self,
        left: &QueryPattern,
        right: &QueryPattern,
        context: CompileContext,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let entry = PatternEntry { known: context.known, slots: scope.slots.len(), at: out.len() };
        let mut sides = Vec::new();
        let mut first = left;
        while let QueryPattern::Join { left, right } = first
            && !left.is_unit()
            && bound(left).0.common(&bound(right).0) == 0
        {
            sides.push(&**right);
            first = left;
        }
        sides.push(first);
        let mut probes = Vec::new();
        for side in sides.into_iter().rev() {
            let (lookup, certain, _) = self.lookup(side, context, entry, scope, out)?;
            let any = ProgramStep::Any { table: lookup.table, given: lookup.given.clone() };
            out.push((PlanNode::Step(any, f64::NAN), context.known));
            probes.push((ProgramStep::Probe(lookup), certain));
        }
        let mut known = self.sequence(right, context, scope, out)?;
        for (probe, certain) in probes {
            known |= certain;
            out.push((PlanNode::Step(probe, f64::NAN), known));
        }
        Ok(known)
    }

    /// Compiles a pattern that is solved separately and then looked up.
    pub(super) fn probe(
        &mut self,
        pattern: &QueryPattern,
        context: CompileContext,
        entry: PatternEntry,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<Mask> {
        let (lookup, certain, _) = self.lookup(pattern, context, entry, scope, out)?;
        let known = context.known | certain;
        out.push((PlanNode::Step(ProgramStep::Probe(lookup), f64::NAN), known));
        Ok(known)
    }

    /// Returns the variables that a part that is solved separately gets from outside: those that it shows and that may
    /// be bound at the entry. A variable that may be bound only later is copied at the entry.
    pub(super) fn given(
        &self,
        pattern: &QueryPattern,
        entry: PatternEntry,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Vec<GivenVariable> {
        let mut variables = Variables::default();
        match Modifiers::of(pattern).inner {
            QueryPattern::Project { variables: shown, .. } => shown.iter().for_each(|v| variables.add(v)),
            inner => on_all_variables(inner, &mut |variable| variables.add(variable)),
        }
        let mut given = Vec::new();
        for variable in variables.sorted() {
            let Some(slot) = scope.known(&variable).filter(|slot| *slot < entry.slots) else { continue };
            let certain = entry.known & bit(slot) != 0;
            let outer = if certain {
                slot
            } else {
                let copy = scope.slot(&Helper::Outer(scope.slots.len()).into());
                let value = BindValue::Operand(ProgramOperand::Slot(slot));
                out.insert(entry.at, (PlanNode::Step(ProgramStep::Bind { slot: copy, value }, 1.0), entry.known));
                copy
            };
            given.push(GivenVariable { outer, variable, certain });
        }
        given
    }

    /// Compiles a pattern to a table. Returns the lookup of its rows, the slots that are bound in every row, and whether
    /// it gets values from outside.
    pub(super) fn lookup(
        &mut self,
        pattern: &QueryPattern,
        context: CompileContext,
        entry: PatternEntry,
        scope: &mut BlockScope,
        out: &mut Sequence,
    ) -> Result<(TableLookup, Mask, bool)> {
        let asked = context.asked && !is_plain(pattern) || has_limits(pattern);
        let mut given = if asked { self.given(pattern, entry, scope, out) } else { Vec::new() };
        let graph = match context.graph {
            GraphOperand::Named(ProgramOperand::Slot(outer)) => {
                given.push(GivenVariable { outer, variable: Helper::Graph(0).into(), certain: true });
                GraphOperand::Named(ProgramOperand::Slot(given.len() - 1))
            }
            graph => graph,
        };
        let block = self.block(pattern, &given, CompileContext { known: 0, asked, graph })?;
        scope.depth = scope.depth.max(self.depth);
        let variables = match Modifiers::of(pattern).inner {
            QueryPattern::Project { variables, .. } => variables.clone(),
            QueryPattern::Group { variables, aggregates, .. } => {
                variables.iter().chain(aggregates.iter().map(|(variable, _)| variable)).cloned().collect()
            }
            pattern => bound(pattern).0.sorted(),
        };
        let slots = variables.iter().map(|v| scope.slot(v)).collect::<Vec<_>>();
        let mut certain = scope.mask(&bound(pattern).1);
        if let QueryPattern::Group { aggregates, .. } = pattern {
            // Any aggregate except a count may be an error.
            for (variable, aggregate) in aggregates {
                if is_count(aggregate) {
                    certain |= bit(scope.slot(variable));
                }
            }
        }
        let both = context.known & certain;
        let key = (0..slots.len()).filter(|&column| slots.get(column).is_some_and(|s| both & bit(*s) != 0)).collect();
        self.tables.push(block);
        let given = given.into_iter().map(|given| given.outer).collect();
        Ok((TableLookup { table: self.tables.len() - 1, slots, key, given }, certain, asked))
    }

    /// Adds an optional part, `body`, with an optional condition. Returns the slots that are always bound after it.
    pub(super) fn optional(
        &mut self,
        condition: Option<&Expression>,
        context: CompileContext,
        inside: Mask,
        scope: &mut BlockScope,
        mut body: Sequence,
        out: &mut Sequence,
    ) -> Result<Mask> {
        if let Some(condition) = condition {
            self.filter(condition, context, inside, scope, &mut body, 0)?;
        }
        out.push((PlanNode::Optional(strip(body)), context.known));
        Ok(context.known)
    }
}

/// Returns whether a pattern contains LIMIT or OFFSET, so that values from outside must be known before.
fn has_limits(pattern: &QueryPattern) -> bool {
    let mut any = false;
    on_patterns(pattern, &mut |pattern| any |= matches!(pattern, QueryPattern::Slice { .. }));
    any
}

fn is_count(aggregate: &Aggregation) -> bool {
    match aggregate {
        Aggregation::CountSolutions { .. } => true,
        Aggregation::Call { function, .. } => *function == AggregateFunction::Count,
    }
}
