//! Runs a program. Every step passes on its solutions by calling the next one. The recursion depth is limited by the
//! size of the program. Every loop counts its reads against the query's budget.

mod blocks;
mod conditions;
mod graphs;
mod tables;

use std::rc::Rc;

use spareval::QueryEvaluator;

use super::condition::BindValue;
use super::frame::{BlockFrame, Sink};
use super::groups::DistinctRows;
use super::operand::{ProgramOperand, Slot};
use super::program::{Program, ProgramBlock, ProgramStep};
use super::table::SolutionTable;
use crate::functions::Patterns;
use crate::guard::read;
use terrapin_sparql_syntax::error::SparqlError;
use terrapin_triples::{ReadError, Subjects, TermId, TripleView};

/// Maximum number of subjects for which a search among them is faster than a lookup of the triple.
const CLOSE: u64 = 1 << 16;

/// The result of running a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
enum StepFlow {
    /// The step has passed on all its solutions.
    More,
    /// The innermost [`Step::Once`] or EXISTS has found its solution.
    Enough,
    /// No more solutions are needed, or an error occurred.
    Stop,
}

/// Runs a program. `each` receives the solutions and returns whether it needs more. `counts` is empty or has an entry
/// for each step, which receives the number of solutions that the step passed on.
///
/// # Errors
/// Returns an error if a limit was exceeded, the snapshot is damaged, or `each` failed.
pub fn solve(
    program: &Program,
    view: &TripleView,
    evaluator: &QueryEvaluator,
    patterns: &Patterns,
    counts: &mut [u64],
    each: &mut Sink<'_>,
) -> Result<(), SparqlError> {
    let tables = program.tables.iter().map(|_| None).collect();
    let mut machine =
        Machine { program, view, evaluator, patterns, tables, failure: None, counts, subjects: Vec::new() };
    machine.block(program.main, &[], each);
    match machine.failure {
        Some(failure) => Err(failure),
        None => Ok(()),
    }
}

/// A table, and the values that it depends on.
struct KeptTable {
    given: Box<[Option<TermId>]>,
    table: Rc<SolutionTable>,
}

struct Machine<'a> {
    program: &'a Program,
    view: &'a TripleView,
    evaluator: &'a QueryEvaluator,
    patterns: &'a Patterns,
    tables: Vec<Option<KeptTable>>,
    failure: Option<SparqlError>,
    counts: &'a mut [u64],
    /// Subjects for steps that test whether a triple with a constant predicate and object exists.
    subjects: Vec<Option<Subjects>>,
}

impl<'a> Machine<'a> {
    fn fail(&mut self, error: ReadError) -> StepFlow {
        self.failure.get_or_insert_with(|| read(error));
        StepFlow::Stop
    }

    /// Runs a block with values for its first slots.
    fn block(&mut self, number: usize, given: &[Option<TermId>], sink: &mut Sink<'_>) {
        let program = self.program;
        let Some(block) = program.blocks.get(number) else { return };
        match (&block.group, &block.arrangement) {
            (Some(group), _) => self.groups(block, group, given, sink),
            (None, Some(arrangement)) => self.arranged(block, arrangement, given, sink),
            (None, None) => self.solutions(block, given, sink),
        }
    }

    fn solutions(&mut self, block: &'a ProgramBlock, given: &[Option<TermId>], sink: &mut Sink<'_>) {
        let mut slots = vec![None; block.slots.len()];
        slots.iter_mut().zip(given).for_each(|(slot, value)| *slot = *value);
        let mut frame = BlockFrame {
            block,
            slots,
            trail: Vec::with_capacity(block.slots.len()),
            flags: vec![false; block.flags],
            row: Vec::with_capacity(block.columns.len()),
            seen: DistinctRows::default(),
            sink: &mut |row| sink(row),
        };
        let _ = self.run(&mut frame, block.start);
        let held = frame.seen.held();
        self.release(held);
    }

    #[inline]
    fn tally(&mut self, at: usize) {
        if let Some(count) = self.counts.get_mut(at) {
            *count += 1;
        }
    }

    /// Continues at a step. This loop handles steps that a solution passes or fails. A step that produces solutions
    /// calls this function for each of them and returns its result.
    fn run(&mut self, frame: &mut BlockFrame<'_>, mut at: usize) -> StepFlow {
        let program = self.program;
        loop {
            let Some(planned) = program.steps.get(at) else { return StepFlow::More };
            let passes = match &planned.step {
                ProgramStep::Triple(places) => {
                    let values = places.map(|place| frame.value(place));
                    match whole(values) {
                        Some(triple) => self.has(at, places, triple),
                        None => return self.triples(frame, at, places, values),
                    }
                }
                ProgramStep::Optional { flag, end } => {
                    frame.mark(*flag, false);
                    let flow = self.run(frame, at + 1);
                    if flow != StepFlow::More || frame.is_marked(*flag) {
                        return flow;
                    }
                    at = *end;
                    continue;
                }
                ProgramStep::Go(to) => {
                    at = *to;
                    continue;
                }
                ProgramStep::Matched { flag } => {
                    frame.mark(*flag, true);
                    Ok(true)
                }
                ProgramStep::Minus { lookup, shares } => self.minus(frame, lookup, *shares),
                ProgramStep::Any { table, given } => self.any(frame, *table, given),
                ProgramStep::Filter(condition) => self.holds(frame, condition).map(|holds| holds == Some(true)),
                ProgramStep::Union(starts) => return self.union(frame, starts),
                ProgramStep::Values { slots, rows } => return self.values(frame, at, slots, rows),
                ProgramStep::Probe(lookup) => return self.probe(frame, at, lookup),
                ProgramStep::InGraph(graph, places) => return self.in_graph(frame, at, *graph, places),
                ProgramStep::Graphs(name) => return self.graphs(frame, at, *name),
                ProgramStep::Equate { graph, slot } => return self.equate(frame, at, *graph, *slot),
                ProgramStep::Bind { slot, value } => return self.bind(frame, at, *slot, value),
                ProgramStep::Once => return self.once(frame, at),
                ProgramStep::Found => return StepFlow::Enough,
                ProgramStep::Emit => return self.emit(frame, at),
            };
            match passes {
                Ok(true) => {}
                Ok(false) => return StepFlow::More,
                Err(flow) => return flow,
            }
            self.tally(at);
            at += 1;
        }
    }

    /// Returns whether a triple exists, and charges for it.
    #[inline]
    fn has(&mut self, at: usize, places: &[ProgramOperand; 3], triple: [TermId; 3]) -> Result<bool, StepFlow> {
        self.view.work(1).map_err(|error| self.fail(error))?;
        Ok(self.is_triple(at, places, triple))
    }

    /// Continues at each of these steps in turn.
    #[inline]
    fn union(&mut self, frame: &mut BlockFrame<'_>, starts: &[usize]) -> StepFlow {
        for &start in starts {
            let flow = self.run(frame, start);
            if flow != StepFlow::More {
                return flow;
            }
        }
        StepFlow::More
    }

    /// Continues with every row that matches.
    #[inline]
    fn values(
        &mut self,
        frame: &mut BlockFrame<'_>,
        at: usize,
        slots: &[Slot],
        rows: &[Box<[Option<TermId>]>],
    ) -> StepFlow {
        for row in rows {
            if let Err(error) = self.view.work(1) {
                return self.fail(error);
            }
            let flow = self.row(frame, at, slots, row);
            if flow != StepFlow::More {
                return flow;
            }
        }
        StepFlow::More
    }

    /// Assigns a value to a slot if there is one, continues, and restores the previous value.
    #[inline]
    fn bind(&mut self, frame: &mut BlockFrame<'_>, at: usize, slot: Slot, value: &BindValue) -> StepFlow {
        let value = match value {
            BindValue::Operand(place) => Ok(frame.value(*place)),
            BindValue::Calculated(calculation, leaf) => match calculation.value(self.view, &|slot| frame.get(slot)) {
                Ok(Some(number)) => Ok(Some(self.view.id(&number.term()))),
                Ok(None) => leaf.value(self.view, self.evaluator, |slot| frame.get(slot)),
                Err(error) => Err(error),
            },
            BindValue::Leaf(leaf) => leaf.value(self.view, self.evaluator, |slot| frame.get(slot)),
            BindValue::Exists(start) => match self.run(frame, *start) {
                StepFlow::More => Ok(None),
                StepFlow::Enough => Ok(Some(TermId::of_snapshot(0))),
                StepFlow::Stop => return StepFlow::Stop,
            },
        };
        let value = match value {
            Ok(value) => value,
            Err(error) => return self.fail(error),
        };
        let before = frame.get(slot);
        if value.is_some() {
            frame.set(slot, value);
        }
        self.tally(at);
        let flow = self.run(frame, at + 1);
        frame.set(slot, before);
        flow
    }

    /// Continues until the first solution if the projected values are new.
    #[inline]
    fn once(&mut self, frame: &mut BlockFrame<'_>, at: usize) -> StepFlow {
        frame.show();
        if frame.seen.has(&frame.row) {
            return StepFlow::More;
        }
        self.tally(at);
        match self.run(frame, at + 1) {
            StepFlow::Enough => StepFlow::More,
            flow => flow,
        }
    }

    /// Returns whether a triple exists. If only the subject varies, it is searched among the subjects of the predicate
    /// and object. These are close together in memory unless there are very many.
    #[inline]
    fn is_triple(
        &mut self,
        at: usize,
        places: &[ProgramOperand; 3],
        [subject, predicate, object]: [TermId; 3],
    ) -> bool {
        let store = self.view.store();
        if let [ProgramOperand::Slot(_), ProgramOperand::Term(_), ProgramOperand::Term(_)] = places {
            if self.subjects.len() <= at {
                self.subjects.resize(at + 1, None);
            }
            if let Some(kept) = self.subjects.get_mut(at) {
                let subjects = *kept.get_or_insert_with(|| store.subjects(predicate, object));
                if subjects.len() <= CLOSE {
                    return store.is_among(subjects, subject);
                }
            }
        }
        store.count(Some(subject), Some(predicate), Some(object)) > 0
    }

    /// Passes a solution to the sink.
    fn emit(&mut self, frame: &mut BlockFrame<'_>, at: usize) -> StepFlow {
        self.tally(at);
        frame.show();
        if frame.block.distinct {
            match frame.seen.insert(self.view, &frame.row) {
                Ok(true) => {}
                Ok(false) if frame.block.once => return StepFlow::Enough,
                Ok(false) => return StepFlow::More,
                Err(error) => return self.fail(error),
            }
        }
        match (frame.sink)(&frame.row) {
            Ok(true) if frame.block.once => StepFlow::Enough,
            Ok(true) => StepFlow::More,
            Ok(false) => StepFlow::Stop,
            Err(error) => {
                self.failure = Some(error);
                StepFlow::Stop
            }
        }
    }

    /// Continues with every triple that matches a pattern.
    fn triples(
        &mut self,
        frame: &mut BlockFrame<'_>,
        at: usize,
        places: &[ProgramOperand; 3],
        [subject, predicate, object]: [Option<TermId>; 3],
    ) -> StepFlow {
        let view = self.view;
        if let Err(error) = view.work(1) {
            return self.fail(error);
        }
        if let Some(name) = predicate
            && name.is_of_query()
        {
            let Some(relation) = view.relation(name) else { return StepFlow::More };
            for pair in relation.pairs(view, subject, object) {
                let flow = match pair {
                    Ok((subject, object)) => self.matched(frame, at, places, [subject, name, object]),
                    Err(error) => self.fail(error),
                };
                if flow != StepFlow::More {
                    return flow;
                }
            }
            return StepFlow::More;
        }
        for triple in view.store().triples(subject, predicate, object) {
            if let Err(error) = view.work(1) {
                return self.fail(error);
            }
            let flow = self.matched(frame, at, places, triple);
            if flow != StepFlow::More {
                return flow;
            }
        }
        StepFlow::More
    }

    #[inline]
    fn matched(
        &mut self,
        frame: &mut BlockFrame<'_>,
        at: usize,
        places: &[ProgramOperand; 3],
        triple: [TermId; 3],
    ) -> StepFlow {
        let mark = frame.trail.len();
        let fits = places.iter().zip(triple).all(|(place, value)| match *place {
            ProgramOperand::Term(_) => true,
            ProgramOperand::Slot(slot) => frame.unify(slot, value),
        });
        self.go_on(frame, at, fits, mark)
    }

    /// Continues after a step if its values match, then clears them.
    #[inline]
    fn go_on(&mut self, frame: &mut BlockFrame<'_>, at: usize, fits: bool, mark: usize) -> StepFlow {
        let mut flow = StepFlow::More;
        if fits {
            self.tally(at);
            flow = self.run(frame, at + 1);
        }
        frame.clear(mark);
        flow
    }

    /// Continues with a row if it matches.
    #[inline]
    fn row(&mut self, frame: &mut BlockFrame<'_>, at: usize, slots: &[Slot], row: &[Option<TermId>]) -> StepFlow {
        let mark = frame.trail.len();
        let fits = slots.iter().zip(row).all(|(slot, value)| match value {
            None => true,
            Some(value) => frame.unify(*slot, *value),
        });
        self.go_on(frame, at, fits, mark)
    }
}

/// Returns the triple if all its terms are given and the predicate is not a relation, which has no triples in the
/// store.
#[inline]
fn whole([subject, predicate, object]: [Option<TermId>; 3]) -> Option<[TermId; 3]> {
    let predicate = predicate.filter(|predicate| !predicate.is_of_query())?;
    Some([subject?, predicate, object?])
}
