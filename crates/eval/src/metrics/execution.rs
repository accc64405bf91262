//! Execution accuracy: compares the results of two queries.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// An element of a result: its type's name and its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ResultElement {
    /// `node`, `way`, `relation`, `area`, or a derived type.
    pub kind: String,
    /// The id.
    pub id: i64,
}

/// Formats a key as `node/1`.
impl fmt::Display for ResultElement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.id)
    }
}

/// The results of a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExecutionResults {
    /// Elements in ascending order of type and id, repeated if the query printed them repeatedly; and the positions in
    /// that list in the order of the output, empty if it is the same.
    Elements(Vec<ResultElement>, Vec<u32>),
    /// A count.
    Count(i64),
}

impl ExecutionResults {
    /// Returns the results from elements in any order.
    pub fn elements(keys: Vec<ResultElement>) -> ExecutionResults {
        if keys.is_sorted() {
            return ExecutionResults::Elements(keys, Vec::new());
        }
        let mut numbered: Vec<(ResultElement, u32)> = keys.into_iter().zip(0..).collect();
        numbered.sort_unstable();
        let mut order = vec![0; numbered.len()];
        for (position, (_, printed)) in (0..).zip(&numbered) {
            if let Some(place) = order.get_mut(*printed as usize) {
                *place = position;
            }
        }
        ExecutionResults::Elements(numbered.into_iter().map(|(key, _)| key).collect(), order)
    }

    /// Returns the elements in the order of the output; `None` for a count.
    pub fn in_order(&self) -> Option<Vec<&ResultElement>> {
        match self {
            ExecutionResults::Elements(keys, order) if order.is_empty() => Some(keys.iter().collect()),
            ExecutionResults::Elements(keys, order) => {
                Some(order.iter().filter_map(|position| keys.get(*position as usize)).collect())
            }
            ExecutionResults::Count(_) => None,
        }
    }

    /// Reports whether both are the same multiset, or the same count.
    pub fn is_same(&self, other: &ExecutionResults) -> bool {
        match (self, other) {
            (ExecutionResults::Elements(a, _), ExecutionResults::Elements(b, _)) => a == b,
            (ExecutionResults::Count(a), ExecutionResults::Count(b)) => a == b,
            _ => false,
        }
    }

    /// Returns the number of elements, or the count.
    pub fn number(&self) -> i64 {
        match self {
            ExecutionResults::Elements(keys, _) => i64::try_from(keys.len()).unwrap_or(i64::MAX),
            ExecutionResults::Count(count) => *count,
        }
    }
}

/// The published scores of a prediction's results.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ExecutionScore {
    /// 1 if the results are equal and not empty, else 0.
    pub ex: u8,
    /// The share of common elements in the larger set, 0 to 1; for two counts, whether they are equal.
    pub ex_soft: f64,
}

/// Scores a prediction's results against the gold results. The score is zero if either is empty.
pub fn score(gold: &ExecutionResults, pred: &ExecutionResults) -> ExecutionScore {
    if gold.number() == 0 || pred.number() == 0 {
        return ExecutionScore::default();
    }
    let ex_soft = match (gold, pred) {
        (ExecutionResults::Count(a), ExecutionResults::Count(b)) => f64::from(u8::from(a == b)),
        (ExecutionResults::Elements(a, _), ExecutionResults::Elements(b, _)) => {
            let sides = ResultSides::of(a, b);
            let larger = (sides.common + sides.missing.len()).max(sides.common + sides.extra.len());
            sides.common as f64 / larger as f64
        }
        _ => 0.0,
    };
    ExecutionScore { ex: u8::from(gold.is_same(pred)), ex_soft }
}

/// Stricter scores: two empty results are equal, and a repeated element counts repeatedly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StrictScore {
    /// 1 if the results are equal multisets, else 0.
    pub multiset: u8,
    /// F1 over results matched one to one, 0 to 1.
    pub f1: f64,
}

/// Scores a prediction's results against the gold results as multisets. A count is a single result.
pub fn strict(gold: &ExecutionResults, pred: &ExecutionResults) -> StrictScore {
    let f1 = match (gold, pred) {
        (ExecutionResults::Elements(gold, _), ExecutionResults::Elements(pred, _))
            if gold.is_empty() && pred.is_empty() =>
        {
            1.0
        }
        (ExecutionResults::Elements(gold, _), ExecutionResults::Elements(pred, _)) => {
            2.0 * multiset_intersection(gold, pred) as f64 / (gold.len() + pred.len()) as f64
        }
        _ => f64::from(u8::from(gold.is_same(pred))),
    };
    StrictScore { multiset: u8::from(gold.is_same(pred)), f1 }
}

/// Returns the size of the multiset intersection of two ascending lists.
pub fn multiset_intersection<T: Ord>(a: &[T], b: &[T]) -> usize {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut count = 0;
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            Ordering::Less => drop(a.next()),
            Ordering::Greater => drop(b.next()),
            Ordering::Equal => {
                count += 1;
                a.next();
                b.next();
            }
        }
    }
    count
}

/// The comparison of two sets of elements; duplicates count once.
#[derive(Debug, Default)]
pub struct ResultSides<'a> {
    /// The number of common elements.
    pub common: usize,
    /// The gold elements missing from the prediction, ascending.
    pub missing: Vec<&'a ResultElement>,
    /// The predicted elements missing from the gold, ascending.
    pub extra: Vec<&'a ResultElement>,
}

impl<'a> ResultSides<'a> {
    /// Compares two ascending lists.
    pub fn of(gold: &'a [ResultElement], pred: &'a [ResultElement]) -> ResultSides<'a> {
        let mut sides = ResultSides::default();
        let (mut gold, mut pred) = (distinct(gold).peekable(), distinct(pred).peekable());
        loop {
            match (gold.peek(), pred.peek()) {
                (Some(a), Some(b)) if a == b => {
                    sides.common += 1;
                    gold.next();
                    pred.next();
                }
                (Some(a), Some(b)) if a < b => sides.missing.extend(gold.next()),
                (Some(_), Some(_)) => sides.extra.extend(pred.next()),
                (Some(_), None) => sides.missing.extend(gold.next()),
                (None, Some(_)) => sides.extra.extend(pred.next()),
                (None, None) => return sides,
            }
        }
    }
}

fn distinct(keys: &[ResultElement]) -> impl Iterator<Item = &ResultElement> {
    keys.chunk_by(|a, b| a == b).filter_map(|run| run.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(ids: &[i64]) -> ExecutionResults {
        ExecutionResults::elements(ids.iter().map(|id| ResultElement { kind: "node".to_owned(), id: *id }).collect())
    }

    #[test]
    fn equal_and_not_empty() {
        assert_eq!(score(&nodes(&[2, 1]), &nodes(&[1, 2])), ExecutionScore { ex: 1, ex_soft: 1.0 });
        assert_eq!(score(&nodes(&[]), &nodes(&[])), ExecutionScore::default());
        assert_eq!(score(&nodes(&[1]), &nodes(&[])), ExecutionScore::default());
    }

    #[test]
    fn overlap_over_the_larger_set() {
        assert_eq!(score(&nodes(&[1]), &nodes(&[1, 2, 3, 4])), ExecutionScore { ex: 0, ex_soft: 0.25 });
        assert_eq!(score(&nodes(&[1, 2, 3]), &nodes(&[3, 4])), ExecutionScore { ex: 0, ex_soft: 1.0 / 3.0 });
        // The lists differ in a repeated element, the sets do not.
        assert_eq!(score(&nodes(&[1, 1]), &nodes(&[1])), ExecutionScore { ex: 0, ex_soft: 1.0 });
    }

    #[test]
    fn counts_are_equal_or_not() {
        assert_eq!(
            score(&ExecutionResults::Count(5), &ExecutionResults::Count(5)),
            ExecutionScore { ex: 1, ex_soft: 1.0 }
        );
        assert_eq!(score(&ExecutionResults::Count(5), &ExecutionResults::Count(4)), ExecutionScore::default());
        assert_eq!(score(&ExecutionResults::Count(0), &ExecutionResults::Count(0)), ExecutionScore::default());
        assert_eq!(score(&ExecutionResults::Count(1), &nodes(&[1])), ExecutionScore::default());
    }
}
