//! Runs a program. Every step passes on its solutions by calling the next one. The recursion depth is limited by the
//! size of the program. Every loop counts its reads against the query's budget.

use std::rc::Rc;

use spareval::QueryEvaluator;

use super::condition::{AmongValue, BindValue, ProgramCondition, equal};
use super::frame::{BlockFrame, Sink};
use super::groups::{DistinctRows, Groups};
use super::operand::{GraphOperand, ProgramOperand, Slot};
use super::program::{Arrangement, GroupingStep, Program, ProgramBlock, ProgramStep, TableLookup};
use super::sorted::SortedRows;
use super::table::SolutionTable;
use crate::functions::Patterns;
use crate::guard::read;
use terrapin_budget::{self as budget, ExceededLimit};
use terrapin_sparql_syntax::error::SparqlError;
use terrapin_triples::{GraphSelection, ReadError, Subjects, TermId, TripleView};

/// Maximum number of subjects for which a search among them is faster than a lookup of the triple.
const CLOSE: u64 = 1 << 16;

/// Number of rows that are computed to test whether a table is empty. A smaller table is then complete.
const FEW: usize = 1000;

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

    /// Runs a block with grouped solutions.
    fn groups(&mut self, block: &'a ProgramBlock, group: &GroupingStep, given: &[Option<TermId>], sink: &mut Sink<'_>) {
        let view = self.view;
        let mut groups = Groups::new(group);
        self.solutions(block, given, &mut |row| groups.add(view, row).map(|()| true).map_err(read));
        if self.failure.is_some() {
            return;
        }
        let held = groups.held();
        self.pass_on(groups.finish(view), sink);
        self.release(held);
    }

    /// Returns memory to the query's limit.
    fn release(&mut self, bytes: i64) {
        if let Err(error) = self.view.hold(-bytes) {
            let _ = self.fail(error);
        }
    }

    /// Passes rows to the sink until it needs no more.
    fn pass_on<R: AsRef<[Option<TermId>]>>(&mut self, rows: impl Iterator<Item = R>, sink: &mut Sink<'_>) {
        for row in rows {
            match self.view.work(1).map_err(read).and_then(|()| sink(row.as_ref())) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    self.failure = Some(error);
                    return;
                }
            }
        }
    }

    /// Runs a block with ORDER BY, OFFSET or LIMIT.
    fn arranged(
        &mut self,
        block: &'a ProgramBlock,
        arrangement: &Arrangement,
        given: &[Option<TermId>],
        sink: &mut Sink<'_>,
    ) {
        let Arrangement { start, length, .. } = *arrangement;
        let end = length.map_or(usize::MAX, |length| start.saturating_add(length));
        if length == Some(0) {
            return;
        }
        if arrangement.keys.is_empty() {
            let mut count = 0;
            self.solutions(block, given, &mut |row| {
                count += 1;
                Ok((count <= start || sink(row)?) && count < end)
            });
            return;
        }
        let view = self.view;
        let mut rows = SortedRows::new(arrangement);
        self.solutions(block, given, &mut |row| rows.add(view, row).map(|()| true).map_err(read));
        if self.failure.is_some() {
            return;
        }
        match rows.finish(view) {
            Ok(sorted) => self.pass_on(sorted.into_iter().take(end).skip(start), sink),
            Err(error) => self.failure = Some(read(error)),
        }
        self.release(rows.held());
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
            previous: None,
            sink: &mut |row| sink(row),
        };
        let _ = self.run(&mut frame, block.start);
        let held = frame.seen.held();
        self.release(held);
    }

    /// Returns a table for the values of the slots `given`. It is computed at its first use and when these values have
    /// changed. If it would have more than `most` rows, only these are computed and the table is not cached.
    fn table(
        &mut self,
        frame: &BlockFrame<'_>,
        number: usize,
        key: &[usize],
        given: &[Slot],
        most: usize,
    ) -> Option<Rc<SolutionTable>> {
        let cached = self.tables.get_mut(number)?;
        if let Some(KeptTable { given: values, table }) = cached {
            if given.iter().map(|slot| frame.get(*slot)).eq(values.iter().copied()) {
                return Some(Rc::clone(table));
            }
            let held = SolutionTable::row_bytes(table.width()) * table.len() as i64;
            *cached = None;
            self.release(held);
        }
        let given: Box<[Option<TermId>]> = given.iter().map(|slot| frame.get(*slot)).collect();
        let program = self.program;
        let &block = program.tables.get(number)?;
        let width = program.blocks.get(block).map_or(0, ProgramBlock::width);
        let mut table = SolutionTable::new(width);
        let view = self.view;
        let mut more = false;
        let full = ExceededLimit::Memory(SolutionTable::row_bytes(width).unsigned_abs() * u64::from(u32::MAX));
        self.block(block, &given, &mut |row| {
            if table.len() == most {
                more = true;
                return Ok(false);
            }
            view.hold(SolutionTable::row_bytes(width)).map_err(read)?;
            match table.push(row) {
                true => Ok(true),
                false => Err(read(full.into())),
            }
        });
        if self.failure.is_some() {
            return None;
        }
        if more {
            if let Err(error) = view.hold(-(SolutionTable::row_bytes(width) * table.len() as i64)) {
                let _ = self.fail(error);
                return None;
            }
            return Some(Rc::new(table));
        }
        table.index(key);
        let table = Rc::new(table);
        if let Some(place) = self.tables.get_mut(number) {
            *place = Some(KeptTable { given, table: Rc::clone(&table) });
        }
        Some(table)
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

    /// Returns whether no row of a table removes the solution.
    #[inline]
    fn minus(&mut self, frame: &BlockFrame<'_>, lookup: &TableLookup, shares: bool) -> Result<bool, StepFlow> {
        let TableLookup { table, slots, key, given } = lookup;
        let table = self.table(frame, *table, key, given, usize::MAX).ok_or(StepFlow::Stop)?;
        let meets = self.meets(frame, &table, slots, key, shares).map_err(|error| self.fail(error))?;
        Ok(!meets)
    }

    /// Returns whether a table has rows.
    #[inline]
    fn any(&mut self, frame: &BlockFrame<'_>, table: usize, given: &[Slot]) -> Result<bool, StepFlow> {
        let table = self.table(frame, table, &[], given, FEW).ok_or(StepFlow::Stop)?;
        Ok(table.len() > 0)
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
        if frame.block.reduced {
            if frame.previous.as_ref() == Some(&frame.row) {
                return StepFlow::More;
            }
            frame.previous = Some(frame.row.clone());
        }
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

    /// Continues with every triple of some of the graphs that matches a pattern.
    fn in_graph(
        &mut self,
        frame: &mut BlockFrame<'_>,
        at: usize,
        graph: GraphOperand,
        places: &[ProgramOperand; 3],
    ) -> StepFlow {
        let view = self.view;
        let selection = match graph {
            GraphOperand::All => GraphSelection::All,
            GraphOperand::Default => GraphSelection::Default,
            GraphOperand::Named(name) => match frame.value(name) {
                Some(name) => GraphSelection::Named(name),
                None => return StepFlow::More,
            },
        };
        if let Err(error) = view.work(1) {
            return self.fail(error);
        }
        let [subject, predicate, object] = places.map(|place| frame.value(place));
        let relation = predicate.and_then(|name| Some((name, view.relation(name)?)));
        let around = view.select(selection);
        let mut triples: Box<dyn Iterator<Item = Result<[TermId; 3], ReadError>>> = match relation {
            Some((name, relation)) => {
                let pairs = relation.pairs(view, subject, object);
                Box::new(pairs.map(move |pair| pair.map(|(subject, object)| [subject, name, object])))
            }
            None => Box::new(view.triples(subject, predicate, object)),
        };
        loop {
            // The following steps may read other graphs.
            let next = triples.next();
            view.select(around);
            let flow = match next {
                None => return StepFlow::More,
                Some(Ok(triple)) => self.matched(frame, at, places, triple),
                Some(Err(error)) => self.fail(error),
            };
            if flow != StepFlow::More {
                return flow;
            }
            view.select(selection);
        }
    }

    /// Continues with every named graph, or if the operand has a value, tests whether that is one.
    fn graphs(&mut self, frame: &mut BlockFrame<'_>, at: usize, name: ProgramOperand) -> StepFlow {
        let names = match frame.value(name) {
            Some(name) if self.view.has_graph(name) => vec![name],
            Some(_) => Vec::new(),
            None => self.view.graph_names(),
        };
        for graph in names {
            if let Err(error) = self.view.work(1) {
                return self.fail(error);
            }
            let mark = frame.trail.len();
            let fits = match name {
                ProgramOperand::Term(_) => true,
                ProgramOperand::Slot(slot) => frame.unify(slot, graph),
            };
            let flow = self.go_on(frame, at, fits, mark);
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

    fn probe(&mut self, frame: &mut BlockFrame<'_>, at: usize, lookup: &TableLookup) -> StepFlow {
        let TableLookup { table, slots, key, given } = lookup;
        let Some(table) = self.table(frame, *table, key, given, usize::MAX) else { return StepFlow::Stop };
        let mut next = table.first(key, |column| slots.get(column).and_then(|slot| frame.get(*slot)));
        while let Some(row) = next {
            if let Err(error) = self.view.work(1) {
                return self.fail(error);
            }
            let flow = self.row(frame, at, slots, table.row(row));
            if flow != StepFlow::More {
                return flow;
            }
            next = table.after(key, row);
        }
        StepFlow::More
    }

    /// Returns whether a row of a table is compatible with a solution and shares a bound variable with it. If `shares`,
    /// every row does.
    fn meets(
        &self,
        frame: &BlockFrame<'_>,
        table: &SolutionTable,
        slots: &[Slot],
        key: &[usize],
        shares: bool,
    ) -> Result<bool, ReadError> {
        let mut next = table.first(key, |column| slots.get(column).and_then(|slot| frame.get(*slot)));
        while let Some(row) = next {
            self.view.work(1)?;
            let mut common = shares;
            let fits = slots.iter().zip(table.row(row)).all(|(slot, value)| match (frame.get(*slot), value) {
                (Some(a), Some(b)) => {
                    common = true;
                    a == *b
                }
                _ => true,
            });
            if fits && common {
                return Ok(true);
            }
            next = table.after(key, row);
        }
        Ok(false)
    }

    /// Returns whether a condition holds; `None` if it is an error in SPARQL. The `Err` is the step's result.
    fn holds(&mut self, frame: &mut BlockFrame<'_>, condition: &ProgramCondition) -> Result<Option<bool>, StepFlow> {
        let all = |machine: &mut Self, frame: &mut BlockFrame<'_>, conditions: &[ProgramCondition], stop: bool| {
            let mut result = Some(!stop);
            for condition in conditions {
                match machine.holds(frame, condition)? {
                    Some(value) if value == stop => return Ok(Some(stop)),
                    Some(_) => {}
                    None => result = None,
                }
            }
            Ok(result)
        };
        match condition {
            ProgramCondition::And(conditions) => all(self, frame, conditions, false),
            ProgramCondition::Or(conditions) => all(self, frame, conditions, true),
            ProgramCondition::Not(condition) => Ok(self.holds(frame, condition)?.map(|value| !value)),
            ProgramCondition::Exists(start) => match self.run(frame, *start) {
                StepFlow::More => Ok(Some(false)),
                StepFlow::Enough => Ok(Some(true)),
                StepFlow::Stop => Err(StepFlow::Stop),
            },
            ProgramCondition::Bound(slot) => Ok(Some(frame.get(*slot).is_some())),
            ProgramCondition::Same(a, b) => Ok(frame.value(*a).zip(frame.value(*b)).map(|(a, b)| a == b)),
            ProgramCondition::Equal(a, b, leaf) => {
                let Some((a, b)) = frame.value(*a).zip(frame.value(*b)) else { return Ok(None) };
                match equal(self.view, a, b) {
                    Ok(Some(equal)) => Ok(Some(equal)),
                    Ok(None) => self.leaf(frame, leaf),
                    Err(error) => Err(self.fail(error)),
                }
            }
            ProgramCondition::Compared(comparison, leaf) => {
                budget::checkpoint();
                match comparison.holds(self.view, |slot| frame.get(slot)) {
                    Some(holds) => Ok(Some(holds)),
                    None => self.leaf(frame, leaf),
                }
            }
            ProgramCondition::Calculated(comparison, leaf) => match comparison.holds(self.view, |slot| frame.get(slot))
            {
                Ok(Some(holds)) => Ok(Some(holds)),
                Ok(None) => self.leaf(frame, leaf),
                Err(error) => Err(self.fail(error)),
            },
            ProgramCondition::Text(test, leaf) => {
                budget::checkpoint();
                match test.holds(self.view, self.patterns, |slot| frame.get(slot)) {
                    Ok(Some(holds)) => Ok(Some(holds)),
                    Ok(None) => self.leaf(frame, leaf),
                    Err(error) => Err(self.fail(error)),
                }
            }
            ProgramCondition::Among(value, constants) => {
                budget::checkpoints(4);
                let term = match value {
                    AmongValue::Slot(slot) => frame.get(*slot).map(|id| self.view.term(id)).transpose(),
                    AmongValue::Leaf(leaf) => leaf.term(self.view, self.evaluator, |slot| frame.get(slot)),
                };
                let term = term.map_err(|error| self.fail(error))?;
                Ok(term.and_then(|term| constants.contain(&term)))
            }
            ProgramCondition::Leaf(leaf) => self.leaf(frame, leaf),
        }
    }

    fn leaf(&mut self, frame: &BlockFrame<'_>, leaf: &super::condition::Leaf) -> Result<Option<bool>, StepFlow> {
        leaf.holds(self.view, self.evaluator, |slot| frame.get(slot)).map_err(|error| self.fail(error))
    }
}

/// Returns the triple if all its terms are given and the predicate is not a relation, which has no triples in the
/// store.
#[inline]
fn whole([subject, predicate, object]: [Option<TermId>; 3]) -> Option<[TermId; 3]> {
    let predicate = predicate.filter(|predicate| !predicate.is_of_query())?;
    Some([subject?, predicate, object?])
}
