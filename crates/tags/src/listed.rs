//! One page of a sorted list, computed without keeping the whole list.

use terrapin_budget as budget;

/// The page of a list to return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowPage {
    /// Number of rows to skip.
    pub skip: usize,
    /// Maximum number of rows; `None` for all.
    pub take: Option<usize>,
}

/// A page of rows with the total number of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// Number of rows of the whole list.
    pub total: u64,
    /// The rows of the page.
    pub rows: Vec<T>,
}

impl<T> Listed<T> {
    /// Converts each row.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Listed<U> {
        Listed { total: self.total, rows: self.rows.into_iter().map(f).collect() }
    }
}

/// The sort key of a row: quality of the match, the number to sort by, and its position in byte order. The smallest is
/// first.
pub type Place = (u8, u64, u32);

/// Returns the number to sort by, inverted for a descending order.
pub fn sorted(number: u64, descending: bool) -> u64 {
    if descending { !number } else { number }
}

/// A bounded collector of the first rows of a list, pushed in any order.
pub struct PageCollector<P> {
    part: RowPage,
    kept: Vec<P>,
    total: u64,
}

/// Minimum number of surplus rows before they are dropped.
const SLACK: usize = 1024;

impl<P: Ord> PageCollector<P> {
    /// Creates an empty collector.
    pub fn new(part: RowPage) -> PageCollector<P> {
        PageCollector { part, kept: Vec::new(), total: 0 }
    }

    /// Adds a row.
    pub fn push(&mut self, place: P) {
        self.total += 1;
        if self.kept.len() == self.kept.capacity() {
            budget::charge(self.kept.len() as u64 * 2 * size_of::<P>() as u64);
        }
        self.kept.push(place);
        if let Some(most) = self.most()
            && self.kept.len() >= most.saturating_mul(2).saturating_add(SLACK)
        {
            self.kept.select_nth_unstable(most);
            self.kept.truncate(most);
        }
    }

    fn most(&self) -> Option<usize> {
        self.part.take.map(|take| take.saturating_add(self.part.skip))
    }

    /// Returns the rows of the page, in order.
    pub fn listed(mut self) -> Listed<P> {
        self.kept.sort_unstable();
        self.kept.truncate(self.most().unwrap_or(usize::MAX));
        self.kept.drain(..self.part.skip.min(self.kept.len()));
        Listed { total: self.total, rows: self.kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rows_of_many() {
        let part = RowPage { skip: 10, take: Some(5) };
        let mut first = PageCollector::new(part);
        // A permutation of 0..99,991, a prime.
        (0..99_991_u64).for_each(|n| first.push((0, sorted(n * 7_919 % 99_991, true), 0)));
        let listed = first.listed();
        assert_eq!(listed.total, 99_991);
        let numbers: Vec<u64> = listed.rows.iter().map(|(_, number, _)| !number).collect();
        assert_eq!(numbers, [99_980, 99_979, 99_978, 99_977, 99_976]);
    }

    #[test]
    fn beyond_the_end_there_is_nothing() {
        let mut first: PageCollector<Place> = PageCollector::new(RowPage { skip: 3, take: None });
        (0..3).for_each(|n| first.push((0, n, 0)));
        assert_eq!(first.listed(), Listed { total: 3, rows: vec![] });
    }
}
