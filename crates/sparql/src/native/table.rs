//! Stores the solutions of a block, for lookups by some of their columns.

use std::hash::Hasher;

use rustc_hash::{FxHashMap, FxHasher};

use terrapin_triples::TermId;

/// Marks the end of a list of rows.
const NONE: u32 = u32::MAX;

/// Rows with an index: the build side of a hash join.
#[derive(Debug, Default)]
pub struct SolutionTable {
    width: usize,
    rows: usize,
    cells: Vec<Option<TermId>>,
    /// The first row of each key.
    heads: FxHashMap<u64, u32>,
    /// For each row, the next one with the same key.
    next: Vec<u32>,
}

/// Returns a hash of values.
#[inline]
fn digest(values: impl Iterator<Item = Option<TermId>>) -> u64 {
    let mut hasher = FxHasher::default();
    for value in values {
        hasher.write_u64(value.map_or(u64::MAX, TermId::bits));
    }
    hasher.finish()
}

impl SolutionTable {
    /// Creates a table with `width` columns.
    pub fn new(width: usize) -> SolutionTable {
        SolutionTable { width, ..SolutionTable::default() }
    }

    /// Adds a row; returns false if the table is full.
    pub fn push(&mut self, row: &[Option<TermId>]) -> bool {
        self.cells.extend_from_slice(row);
        self.rows += 1;
        self.rows < NONE as usize
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns the approximate size of a row in bytes.
    pub fn row_bytes(width: usize) -> i64 {
        (width * 8 + 24) as i64
    }

    /// Returns a row.
    #[inline]
    pub fn row(&self, row: usize) -> &[Option<TermId>] {
        self.cells.get(row * self.width..(row + 1) * self.width).unwrap_or_default()
    }

    /// Indexes the rows by the key's columns.
    pub fn index(&mut self, key: &[usize]) {
        if key.is_empty() || !self.heads.is_empty() {
            return;
        }
        self.next = vec![NONE; self.rows];
        // Backwards, so that the rows of a key are listed in their order.
        for row in (0..self.rows).rev() {
            let cells = self.row(row);
            let digest = digest(key.iter().map(|&column| cells.get(column).copied().flatten()));
            if let Some(after) = self.heads.insert(digest, row as u32)
                && let Some(next) = self.next.get_mut(row)
            {
                *next = after;
            }
        }
    }

    /// Returns the first row that may have these values in the key's columns. Without a key, every row may match.
    #[inline]
    pub fn first(&self, key: &[usize], value: impl Fn(usize) -> Option<TermId>) -> Option<usize> {
        if key.is_empty() {
            return (self.rows > 0).then_some(0);
        }
        self.heads.get(&digest(key.iter().map(|&column| value(column)))).map(|&row| row as usize)
    }

    /// Returns the next candidate after a row.
    #[inline]
    pub fn after(&self, key: &[usize], row: usize) -> Option<usize> {
        if key.is_empty() {
            return (row + 1 < self.rows).then_some(row + 1);
        }
        self.next.get(row).filter(|&&next| next != NONE).map(|&next| next as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_their_key_in_order() {
        let id = |n| Some(TermId::of_snapshot(n));
        let mut table = SolutionTable::new(2);
        for row in [[id(1), id(10)], [id(2), None], [id(1), id(11)]] {
            table.push(&row);
        }
        table.index(&[0]);
        let find = |n| {
            let mut found = Vec::new();
            let mut row = table.first(&[0], |_| id(n));
            while let Some(at) = row {
                found.push(at);
                row = table.after(&[0], at);
            }
            found
        };
        assert_eq!((find(1), find(2), find(3)), (vec![0, 2], vec![1], vec![]));
        assert_eq!(table.row(2), [id(1), id(11)]);
    }
}
