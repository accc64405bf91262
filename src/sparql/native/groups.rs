//! What a block keeps of the solutions that it has given: the distinct ones, and counts of groups. Both are held against
//! the query's memory budget.

use rustc_hash::{FxHashMap, FxHashSet};

use super::program::{Count, Group};
use crate::rdf::{ReadError, TermId, View};

/// Rows that have been given.
#[derive(Default)]
pub(super) struct Seen {
    one: FxHashSet<Option<TermId>>,
    two: FxHashSet<[Option<TermId>; 2]>,
    more: FxHashSet<Box<[Option<TermId>]>>,
}

impl Seen {
    pub fn has(&self, row: &[Option<TermId>]) -> bool {
        match *row {
            [one] => self.one.contains(&one),
            [one, two] => self.two.contains(&[one, two]),
            _ => self.more.contains(row),
        }
    }

    /// Whether it was not there before.
    pub fn insert(&mut self, view: &View, row: &[Option<TermId>]) -> Result<bool, ReadError> {
        let new = match *row {
            [one] => self.one.insert(one),
            [one, two] => self.two.insert([one, two]),
            _ => !self.more.contains(row) && self.more.insert(row.into()),
        };
        if new {
            view.hold(row.len() as i64 * 8 + 32)?;
        }
        Ok(new)
    }
}

/// What is known of one group.
pub(super) struct Counted {
    pub counts: Vec<u64>,
    seen: Vec<FxHashSet<TermId>>,
}

/// Puts solutions into groups.
pub(super) struct Groups<'g> {
    group: &'g Group,
    places: FxHashMap<Box<[Option<TermId>]>, usize>,
    pub groups: Vec<(Box<[Option<TermId>]>, Counted)>,
}

impl<'g> Groups<'g> {
    pub fn new(group: &'g Group) -> Self {
        let mut groups = Groups { group, places: FxHashMap::default(), groups: Vec::new() };
        if group.keys == 0 {
            groups.place(&[]);
        }
        groups
    }

    fn place(&mut self, key: &[Option<TermId>]) -> usize {
        if let Some(&place) = self.places.get(key) {
            return place;
        }
        let counted = self.group.counts.len();
        let empty = Counted { counts: vec![0; counted], seen: vec![FxHashSet::default(); counted] };
        self.groups.push((key.into(), empty));
        self.places.insert(key.into(), self.groups.len() - 1);
        self.groups.len() - 1
    }

    pub fn add(&mut self, view: &View, row: &[Option<TermId>]) -> Result<(), ReadError> {
        let before = self.groups.len();
        let place = self.place(row.get(..self.group.keys).unwrap_or(row));
        if self.groups.len() > before {
            view.hold((row.len() * 16 + 128 + self.group.counts.len() * 48) as i64)?;
        }
        let Some((_, counted)) = self.groups.get_mut(place) else { return Ok(()) };
        for ((Count { column, distinct }, count), seen) in
            self.group.counts.iter().zip(&mut counted.counts).zip(&mut counted.seen)
        {
            let counts = match column.map(|column| row.get(column).copied().flatten()) {
                None => true,
                Some(None) => false,
                Some(Some(value)) if *distinct => {
                    let new = seen.insert(value);
                    if new {
                        view.hold(16)?;
                    }
                    new
                }
                Some(Some(_)) => true,
            };
            *count += u64::from(counts);
        }
        Ok(())
    }
}
