//! State that a block keeps about its solutions: the distinct ones, and groups with their aggregates. Both are charged
//! to the query's memory limit.

use oxrdf::Literal;
use rustc_hash::{FxHashMap, FxHashSet};
use spareval::AggregateFunctionAccumulator;

use super::program::{GroupAggregate, GroupingStep};
use crate::functions::aggregates::Fold;
use crate::row::term_bytes;
use terrapin_base::deferred::Deferred;
use terrapin_triples::{ReadError, TermId, TripleView};

/// Values of columns.
type Row = Box<[Option<TermId>]>;

/// The set of rows that were already returned.
#[derive(Default)]
pub(super) struct DistinctRows {
    one: FxHashSet<Option<TermId>>,
    two: FxHashSet<[Option<TermId>; 2]>,
    more: Deferred<FxHashSet<Row>>,
    /// The bytes that are charged to the query.
    held: i64,
}

impl DistinctRows {
    pub fn has(&self, row: &[Option<TermId>]) -> bool {
        match *row {
            [one] => self.one.contains(&one),
            [one, two] => self.two.contains(&[one, two]),
            _ => self.more.contains(row),
        }
    }

    /// Adds a row. Returns whether it is new.
    pub fn insert(&mut self, view: &TripleView, row: &[Option<TermId>]) -> Result<bool, ReadError> {
        let new = match *row {
            [one] => self.one.insert(one),
            [one, two] => self.two.insert([one, two]),
            _ => !self.more.contains(row) && self.more.insert(row.into()),
        };
        if new {
            let bytes = row.len() as i64 * 8 + 32;
            self.held += bytes;
            view.hold(bytes)?;
        }
        Ok(new)
    }

    /// Returns the bytes that are charged to the query.
    pub fn held(&self) -> i64 {
        self.held
    }
}

/// The state of an aggregate of one group.
struct AggregateState {
    count: u64,
    /// The accumulator; `None` if the values are only counted or one was an error.
    fold: Option<Box<dyn AggregateFunctionAccumulator + Send + Sync>>,
    seen: FxHashSet<TermId>,
    solutions: DistinctRows,
    last: Option<TermId>,
    /// The bytes that are charged to the query, without those for solutions.
    held: i64,
}

impl AggregateState {
    fn new(aggregate: &GroupAggregate) -> AggregateState {
        AggregateState {
            count: 0,
            fold: aggregate.fold.as_ref().map(Fold::begin),
            seen: FxHashSet::default(),
            solutions: DistinctRows::default(),
            last: None,
            held: 0,
        }
    }

    fn add(&mut self, aggregate: &GroupAggregate, view: &TripleView, row: &[Option<TermId>]) -> Result<(), ReadError> {
        let Some(column) = aggregate.column else {
            let solution = aggregate.solution.iter().map(|&column| row.get(column).copied().flatten());
            if !aggregate.distinct || self.solutions.insert(view, &solution.collect::<Vec<_>>())? {
                self.count += 1;
            }
            return Ok(());
        };
        let Some(value) = row.get(column).copied().flatten() else {
            if !aggregate.skips {
                self.fold = None;
            }
            return Ok(());
        };
        if aggregate.distinct {
            if !self.seen.insert(value) {
                return Ok(());
            }
            self.held += 16;
            view.hold(16)?;
        }
        self.count += 1;
        let (Some(fold), Some(state)) = (&aggregate.fold, &mut self.fold) else { return Ok(()) };
        if self.last == Some(value) && fold.ignores_repetition() {
            return Ok(());
        }
        self.last = Some(value);
        let term = view.term(value)?;
        if fold.keeps_values() {
            let bytes = term_bytes(&term) as i64 + 96;
            self.held += bytes;
            view.hold(bytes)?;
        }
        state.accumulate(term);
        Ok(())
    }

    fn finish(self, aggregate: &GroupAggregate, view: &TripleView) -> Option<TermId> {
        let term = match aggregate.fold {
            None => Some(Literal::from(i64::try_from(self.count).unwrap_or(i64::MAX)).into()),
            Some(_) => self.fold?.finish(),
        };
        term.map(|term| view.id(&term))
    }
}

/// Groups solutions and aggregates their values.
pub(super) struct Groups<'g> {
    group: &'g GroupingStep,
    places: Deferred<FxHashMap<Row, usize>>,
    groups: Deferred<Vec<(Row, Vec<AggregateState>)>>,
    /// The bytes that are charged to the query, without those for aggregates.
    held: i64,
}

impl<'g> Groups<'g> {
    pub fn new(group: &'g GroupingStep) -> Self {
        let mut groups = Groups { group, places: Deferred::default(), groups: Deferred::default(), held: 0 };
        if group.keys == 0 {
            groups.place(&[]);
        }
        groups
    }

    fn place(&mut self, key: &[Option<TermId>]) -> usize {
        if let Some(&place) = self.places.get(key) {
            return place;
        }
        self.groups.push((key.into(), self.group.aggregates.iter().map(AggregateState::new).collect()));
        self.places.insert(key.into(), self.groups.len() - 1);
        self.groups.len() - 1
    }

    /// Adds a solution to its group.
    pub fn add(&mut self, view: &TripleView, row: &[Option<TermId>]) -> Result<(), ReadError> {
        let before = self.groups.len();
        let place = self.place(row.get(..self.group.keys).unwrap_or(row));
        if self.groups.len() > before {
            let bytes = (row.len() * 16 + 128 + self.group.aggregates.len() * size_of::<AggregateState>()) as i64;
            self.held += bytes;
            view.hold(bytes)?;
        }
        let Some((_, states)) = self.groups.get_mut(place) else { return Ok(()) };
        self.group.aggregates.iter().zip(states).try_for_each(|(aggregate, state)| state.add(aggregate, view, row))
    }

    /// Returns the bytes that are charged to the query.
    pub fn held(&self) -> i64 {
        let states = self.groups.iter().flat_map(|(_, states)| states);
        self.held + states.map(|state| state.held + state.solutions.held()).sum::<i64>()
    }

    /// Returns a row for each group: its keys, then its aggregates.
    pub fn finish(mut self, view: &TripleView) -> impl Iterator<Item = Vec<Option<TermId>>> {
        let aggregates = &self.group.aggregates;
        self.groups.take().into_iter().map(move |(key, states)| {
            let values = aggregates.iter().zip(states).map(|(aggregate, state)| state.finish(aggregate, view));
            key.iter().copied().chain(values).collect()
        })
    }
}
