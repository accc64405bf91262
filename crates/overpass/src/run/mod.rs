//! Runs a query: executes its statements one after another over named sets, one module per statement.

mod areas;
mod check;
mod compare;
mod complete;
pub mod convert;
mod count;
mod date;
mod diff;
mod filters;
mod foreach;
mod if_;
mod is_in;
mod local;
pub mod make;
mod map_to_area;
mod moment;
pub mod out;
mod query;
mod recurse;
mod select;
mod timeline;
mod topology;
mod union;

pub use check::{check, uses_areas};
pub use filters::to_osm;
pub use moment::{MomentStates, damaged};

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::budget::OverpassBudget;
use super::evaluators::EvaluatorEnvironment;
use super::output::AnswerWriter;
use super::plan::TagMemo;
use super::reader::StoreReader;
use super::set::{Derived, ElementSet};
use super::syntax::{Block, Item, Script, SetName, SourceSpan, Statement, StatementKind, Timestamp};
use super::{OverpassDiagnostic, OverpassFailure};
use terrapin_budget as budget;
use terrapin_osm::Osm;

/// A receiver of the contents of sets while a query runs.
pub trait SetObserver {
    /// Receives the content that the statement at a position in the text gives a set. A statement in a loop is reported
    /// for each round. Only sets of the current state of the data are reported.
    fn assigned(&mut self, statement: SourceSpan, name: &str, set: &ElementSet);

    /// Receives that a set got elements of an older state of the data.
    fn assigned_older(&mut self);
}

/// The state of a running query.
pub struct RunContext<'a> {
    /// The visible data: the state at the query's date if the data has older versions.
    pub osm: &'a Osm,
    /// The current state of the data.
    pub current: &'a Osm,
    /// The states that the query has opened.
    states: &'a MomentStates,
    /// The query.
    pub script: &'a Script,
    /// Deadline, memory and cancellation.
    pub budget: &'a OverpassBudget,
    /// The named sets. A missing name is an empty set.
    pub sets: BTreeMap<SetName, Arc<ElementSet>>,
    /// The common value of the group in a set while a `for` iterates over it: `_.val`.
    pub loop_values: BTreeMap<SetName, String>,
    /// The sets that existed when the innermost `retro`, loop or union began, and that it has not assigned since.
    pub inherited: BTreeSet<SetName>,
    /// The sets that come from another date, with their content in that state.
    outside: moment::Outside<'a>,
    /// The writer of `out`.
    pub answer: &'a mut dyn AnswerWriter,
    /// The date at which the data is seen; `None` for now.
    pub date: Option<Timestamp>,
    /// The progress of a query with two moments.
    pub diff: Option<diff::Diff<'a>>,
    /// The changes between two moments, for the most recently used pair.
    changed: RefCell<Option<moment::ChangedIds>>,
    /// The last id given to a derived element.
    pub last_derived_id: i64,
    /// The cached results for tag filters.
    pub tags: TagMemo,
    /// The queries that the reference rejects as too broad. The run continues without them, in order to report all of
    /// them. No output is written.
    pub weak: Vec<OverpassDiagnostic>,
    /// The reader of the last `out`, with its cached pages.
    pub(super) reader: Option<StoreReader<'a>>,
    /// The receiver of the contents of sets, if any.
    pub(super) observer: Option<&'a mut dyn SetObserver>,
    /// The position of the running statement.
    running: SourceSpan,
}

impl<'a> RunContext<'a> {
    /// Creates the state before the first statement.
    pub fn new(
        osm: &'a Osm,
        script: &'a Script,
        budget: &'a OverpassBudget,
        answer: &'a mut dyn AnswerWriter,
        states: &'a MomentStates,
    ) -> RunContext<'a> {
        RunContext {
            osm,
            current: osm,
            states,
            script,
            budget,
            sets: BTreeMap::new(),
            loop_values: BTreeMap::new(),
            inherited: BTreeSet::new(),
            outside: BTreeMap::new(),
            answer,
            date: None,
            diff: diff::Diff::of(script),
            changed: RefCell::default(),
            last_derived_id: 0,
            tags: TagMemo::default(),
            weak: Vec::new(),
            reader: None,
            observer: None,
            running: SourceSpan { start: 0, end: 0 },
        }
    }

    /// Passes the contents of sets to an observer from now on.
    pub fn observe(&mut self, observer: &'a mut dyn SetObserver) {
        self.observer = Some(observer);
    }

    /// Returns the parts of the state that evaluators can read.
    pub fn environment(&self) -> EvaluatorEnvironment<'_> {
        EvaluatorEnvironment { osm: self.osm, current: self.current, sets: &self.sets, loop_values: &self.loop_values }
    }

    /// Returns the content of a set.
    pub fn set(&self, name: &str) -> Arc<ElementSet> {
        self.sets.get(name).cloned().unwrap_or_default()
    }

    /// Sets the content of a set.
    pub fn assign(&mut self, name: &str, set: ElementSet) {
        self.share(name, Arc::new(set));
    }

    /// Gives a set the content of another.
    fn share(&mut self, name: &str, set: Arc<ElementSet>) {
        self.loop_values.remove(name);
        if let Some(diff) = &mut self.diff {
            diff.forget(name);
        }
        self.inherited.remove(name);
        self.outside.remove(name);
        match &mut self.observer {
            Some(observer) if std::ptr::eq(self.osm, self.current) => observer.assigned(self.running, name, &set),
            Some(observer) => observer.assigned_older(),
            None => {}
        }
        self.sets.insert(name.to_owned(), set);
    }

    /// Enters a loop, a union or a difference: from now on, the existing sets are inherited from outside. Returns the
    /// value for `leave`.
    fn enter(&mut self) -> BTreeSet<SetName> {
        std::mem::replace(&mut self.inherited, self.sets.keys().cloned().collect())
    }

    /// Leaves the block. The sets that it has assigned also count as assigned in the enclosing block.
    fn leave(&mut self, mut outer: BTreeSet<SetName>) {
        outer.retain(|name| self.inherited.contains(name));
        self.inherited = outer;
    }

    /// Takes the derived elements out of all sets that have no other owner.
    pub fn take_derived(&mut self) -> Vec<Arc<Derived>> {
        let sets = std::mem::take(&mut self.sets).into_values();
        sets.filter_map(Arc::into_inner).flat_map(|set| set.derived).collect()
    }

    /// Runs the whole query.
    pub fn run_script(&mut self) -> Result<(), OverpassFailure> {
        let done = if self.diff.is_some() { diff::run(self) } else { self.run_at_date() };
        let mut diagnostics = std::mem::take(&mut self.weak);
        if diagnostics.is_empty() {
            return done;
        }
        diagnostics.extend(done.err().into_iter().flat_map(|failure| failure.diagnostics));
        Err(OverpassFailure { diagnostics })
    }

    /// Runs the statements of a script.
    fn run_statements(&mut self, all: &'a Block) -> Result<(), OverpassFailure> {
        // The short way to a count has no set to observe.
        if let Some((before, query, last)) = count::split(all).filter(|_| self.observer.is_none()) {
            before.iter().try_for_each(|statement| self.run_statement(statement))?;
            if count::run(self, query, last)? {
                return Ok(());
            }
            return all[before.len()..].iter().try_for_each(|statement| self.run_statement(statement));
        }
        self.run_block(all)
    }

    /// Runs the statements over the state of the query's date.
    fn run_at_date(&mut self) -> Result<(), OverpassFailure> {
        self.look_at(date::of(self.script))?;
        self.run_statements(&self.script.statements)
    }

    /// Runs the statements of a block in order.
    pub fn run_block(&mut self, block: &Block) -> Result<(), OverpassFailure> {
        block.iter().try_for_each(|statement| self.run_statement(statement))
    }

    /// Runs one statement.
    pub fn run_statement(&mut self, statement: &Statement) -> Result<(), OverpassFailure> {
        self.budget.enter(statement);
        let outer = std::mem::replace(&mut self.running, statement.span);
        budget::check();
        match &statement.kind {
            StatementKind::Query(query) => query::run(self, query, statement.line)?,
            StatementKind::Union(union) => union::run(self, union)?,
            StatementKind::Difference(difference) => union::difference(self, difference)?,
            StatementKind::Item(Item { from, into }) => {
                let (set, outside) = (self.set(from), self.outside.get(from).cloned());
                self.share(into, set);
                self.outside.extend(outside.map(|set| (into.clone(), set)));
            }
            StatementKind::Recursion(recursion) => recurse::run(self, recursion),
            StatementKind::IsIn(is_in) => is_in::run(self, is_in),
            StatementKind::MapToArea(map) => map_to_area::run(self, map),
            StatementKind::Foreach(foreach) => foreach::run(self, foreach)?,
            StatementKind::For(group) => foreach::run_grouped(self, group)?,
            StatementKind::If(choice) => if_::run(self, choice)?,
            StatementKind::Complete(complete) => complete::run(self, complete)?,
            StatementKind::Make(make) => make::run(self, make)?,
            StatementKind::Convert(convert) => convert::run(self, convert)?,
            StatementKind::Out(out) => out::run(self, out, statement.span.start)?,
            StatementKind::Retro(retro) => date::retro(self, retro)?,
            StatementKind::Timeline(timeline) => timeline::run(self, timeline),
            StatementKind::Compare(compare) => compare::run(self, compare, statement.span.start)?,
            StatementKind::Local(local) => local::run(self, local),
        }
        self.running = outer;
        budget::ensure_memory(self.held());
        Ok(())
    }

    /// Returns the approximate size of all sets in bytes.
    fn held(&self) -> u64 {
        self.sets.values().map(|s| s.bytes()).sum::<u64>() + self.diff.as_ref().map_or(0, |diff| diff.bytes())
    }
}
