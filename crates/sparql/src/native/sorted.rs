//! Sorts the solutions of a block.

use super::program::Arrangement;
use crate::order::TermOrderKey;
use terrapin_base::deferred::Deferred;
use terrapin_budget as budget;
use terrapin_triples::{ReadError, TermId, TripleView};

/// Values of columns.
type Row = Box<[Option<TermId>]>;

/// The solutions of a block with their sort keys.
pub(super) struct SortedRows<'a> {
    arrangement: &'a Arrangement,
    rows: Deferred<Vec<(Vec<TermOrderKey>, Row)>>,
    /// The bytes that are charged to the query.
    held: i64,
}

impl<'a> SortedRows<'a> {
    pub fn new(arrangement: &'a Arrangement) -> Self {
        SortedRows { arrangement, rows: Deferred::default(), held: 0 }
    }

    /// Adds a solution.
    pub fn add(&mut self, view: &TripleView, row: &[Option<TermId>]) -> Result<(), ReadError> {
        let key = |&(column, _): &(usize, bool)| {
            let term = row.get(column).copied().flatten().map(|id| view.term(id)).transpose()?;
            Ok(TermOrderKey::of(term.as_ref()))
        };
        let keys: Vec<TermOrderKey> = self.arrangement.keys.iter().map(key).collect::<Result<_, ReadError>>()?;
        let bytes = (row.len() * 8 + keys.len() * 64 + 64) as i64;
        self.held += bytes;
        view.hold(bytes)?;
        self.rows.push((keys, row.get(..self.arrangement.width).unwrap_or(row).into()));
        Ok(())
    }

    /// Returns the solutions in their order. Equal ones keep the order in which they were found.
    pub fn finish(&mut self, view: &TripleView) -> Result<Vec<Row>, ReadError> {
        let directions = &self.arrangement.keys;
        let mut rows = self.rows.take();
        rows.sort_by(|(a, _), (b, _)| {
            budget::checkpoint();
            let orders = a.iter().zip(b).zip(directions);
            let mut orders = orders.map(|((a, b), (_, descends))| if *descends { b.cmp(a) } else { a.cmp(b) });
            orders.find(|order| order.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        if self.arrangement.distinct {
            let mut seen = super::groups::DistinctRows::default();
            let mut fresh = Vec::with_capacity(rows.len());
            for row in &rows {
                fresh.push(seen.insert(view, row)?);
            }
            let mut fresh = fresh.into_iter();
            rows.retain(|_| fresh.next().unwrap_or(true));
            self.held += seen.held();
        }
        Ok(rows)
    }

    /// Returns the bytes that are charged to the query.
    pub fn held(&self) -> i64 {
        self.held
    }
}
