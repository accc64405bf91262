//! SPINACH's row-matching F1: rows of two answers are matched one to one so that they share the most values; a row
//! counts by the share of the gold row's values that it has. Column names, labels and descriptions are ignored.
//!
//! The score depends on the choice among equally good matchings, so the algorithm is that of SciPy's
//! `linear_sum_assignment`, which the published code calls: Crouse's shortest augmenting paths, including the order
//! of ties.

use std::collections::BTreeMap;

use terrapin_budget::checkpoints;

/// The maximum number of row pairs for a matching.
const MOST_PAIRS: usize = 25_000_000;

/// A value of a row: its type, text, language or datatype, in any form that preserves equality.
pub type Value = String;

/// A row: the names of its columns and their values.
pub type Row = Vec<(String, Value)>;

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpinachAnswer {
    /// No answer: the query failed.
    None,
    /// A boolean.
    Boolean(bool),
    /// Rows.
    Rows(Vec<Row>),
}

/// Returns the F1 of a prediction's answer, 0 to 1. `None` if both have no rows, for which the published code has no
/// number, or if there are too many rows to match.
pub fn f1(gold: &SpinachAnswer, pred: &SpinachAnswer) -> Option<f64> {
    let (gold, pred) = match (gold, pred) {
        (_, SpinachAnswer::None) => return Some(0.0),
        (SpinachAnswer::Rows(gold), SpinachAnswer::Rows(pred)) => (gold, pred),
        (SpinachAnswer::None, _) => return None,
        (gold, pred) => return Some(f64::from(u8::from(gold == pred))),
    };
    if (gold.is_empty() && pred.is_empty()) || gold.len().saturating_mul(pred.len()) > MOST_PAIRS {
        return None;
    }
    let golds: Vec<BTreeMap<&str, usize>> = gold.iter().map(counted).collect();
    let costs: Vec<f64> = pred.iter().flat_map(|row| golds.iter().map(|gold| ratio(row, gold))).collect();
    let matched = assign(&costs, pred.len(), gold.len());
    let (mut right, mut wrong) = (0.0, 0.0);
    for (row, column) in &matched {
        let ratio = costs.get(row * gold.len() + column).copied().unwrap_or_default();
        if ratio > 0.0 {
            right += ratio;
            wrong += 1.0 - ratio;
        } else {
            wrong += 2.0;
        }
    }
    wrong += (pred.len() - matched.len() + gold.len() - matched.len()) as f64;
    Some(2.0 * right / (2.0 * right + wrong))
}

/// Counts each value of a gold row, except labels and descriptions.
fn counted(row: &Row) -> BTreeMap<&str, usize> {
    let mut counted = BTreeMap::new();
    for (name, value) in row {
        if !(name.ends_with("Label") || name.ends_with("Description")) {
            *counted.entry(value.as_str()).or_default() += 1;
        }
    }
    counted
}

/// Returns the share of the gold row's values that a row has, with multiplicity.
fn ratio(pred: &Row, gold: &BTreeMap<&str, usize>) -> f64 {
    checkpoints(1 + pred.len());
    let all: usize = gold.values().sum();
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, value) in pred {
        if gold.contains_key(value.as_str()) {
            *found.entry(value).or_default() += 1;
        }
    }
    let overlap: usize = found.iter().map(|(value, n)| (*n).min(gold.get(value).copied().unwrap_or_default())).sum();
    if all == 0 { 0.0 } else { overlap as f64 / all as f64 }
}

/// Returns the assignment of rows to columns with the largest sum. `costs` has the rows one after another.
fn assign(costs: &[f64], rows: usize, columns: usize) -> Vec<(usize, usize)> {
    // The algorithm needs at most as many rows as columns.
    let turned = rows > columns;
    let (n, m) = if turned { (columns, rows) } else { (rows, columns) };
    let cost = |i: usize, j: usize| {
        let at = if turned { j * columns + i } else { i * columns + j };
        -costs.get(at).copied().unwrap_or_default()
    };
    let mut search = AssignmentSearch::new(n, m);
    for row in 0..n {
        search.augment(row, &cost);
    }
    let pairs = search.column_of.iter().enumerate().filter_map(|(i, j)| Some((i, (*j)?)));
    let mut pairs: Vec<(usize, usize)> = pairs.map(|(i, j)| if turned { (j, i) } else { (i, j) }).collect();
    pairs.sort_unstable();
    pairs
}

/// Crouse, "On implementing 2D rectangular assignment algorithms" (2016).
struct AssignmentSearch {
    u: Vec<f64>,
    v: Vec<f64>,
    column_of: Vec<Option<usize>>,
    row_of: Vec<Option<usize>>,
    path: Vec<usize>,
    shortest: Vec<f64>,
}

#[allow(
    clippy::indexing_slicing,
    reason = "every index is below the number of rows or columns that the lists are made with"
)]
impl AssignmentSearch {
    fn new(n: usize, m: usize) -> AssignmentSearch {
        AssignmentSearch {
            u: vec![0.0; n],
            v: vec![0.0; m],
            column_of: vec![None; n],
            row_of: vec![None; m],
            path: vec![0; m],
            shortest: vec![0.0; m],
        }
    }

    fn augment(&mut self, first: usize, cost: &dyn Fn(usize, usize) -> f64) {
        let m = self.v.len();
        self.shortest.fill(f64::INFINITY);
        // From last to first, because the order decides ties.
        let mut remaining: Vec<usize> = (0..m).rev().collect();
        let (mut seen_rows, mut seen_columns) = (Vec::new(), Vec::new());
        let (mut row, mut least) = (first, 0.0);
        let sink = loop {
            checkpoints(1 + remaining.len());
            seen_rows.push(row);
            let (mut index, mut lowest) = (0, f64::INFINITY);
            for (at, &j) in remaining.iter().enumerate() {
                let reduced = least + cost(row, j) - self.u[row] - self.v[j];
                if reduced < self.shortest[j] {
                    self.path[j] = row;
                    self.shortest[j] = reduced;
                }
                // Among ties, prefers a free one.
                if self.shortest[j] < lowest || (self.shortest[j] == lowest && self.row_of[j].is_none()) {
                    (index, lowest) = (at, self.shortest[j]);
                }
            }
            least = lowest;
            if remaining.is_empty() {
                return;
            }
            let j = remaining.swap_remove(index);
            seen_columns.push(j);
            match self.row_of[j] {
                None => break j,
                Some(next) => row = next,
            }
        };
        self.u[first] += least;
        for &i in seen_rows.iter().filter(|i| **i != first) {
            if let Some(j) = self.column_of[i] {
                self.u[i] += least - self.shortest[j];
            }
        }
        for &j in &seen_columns {
            self.v[j] -= least - self.shortest[j];
        }
        let mut j = sink;
        loop {
            let i = self.path[j];
            self.row_of[j] = Some(i);
            let before = self.column_of[i].replace(j);
            match before {
                Some(next) if i != first => j = next,
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> SpinachAnswer {
        let row = |row: &str| {
            let cell = |cell: &str| cell.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()));
            row.split(' ').filter_map(cell).collect()
        };
        SpinachAnswer::Rows(text.split(';').filter(|row| !row.is_empty()).map(row).collect())
    }

    fn of(pred: &str, gold: &str) -> f64 {
        f1(&rows(gold), &rows(pred)).unwrap()
    }

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} {b}");
    }

    #[test]
    fn rows_count_for_what_they_have() {
        near(of("item=a itemLabel=A", "item=a itemLabel=B"), 1.0);
        near(of("item=a", "x=a xLabel=A"), 1.0);
        near(of("x=a;x=b", "x=b;x=a"), 1.0);
        near(of("x=a;x=a;x=c;x=d;x=f", "x=a"), 2.0 / 6.0);
        near(of("x=a", "x=a;x=a;x=c;x=d;x=f"), 2.0 / 6.0);
        near(of("x=a;x=c;x=s", "x=a;x=a;x=c;x=d;x=f"), 4.0 / 8.0);
        near(of("x=a;x=b;x=s;x=t", "x=b y=c;x=a y=c"), 2.0 / 5.0);
        near(
            of("x=b y=c;x=a y=c;x=s y=c;x=t y=c", "x=b y=c z=abc;x=a y=c z=abc"),
            (8.0 / 3.0) / (8.0 / 3.0 + 2.0 / 3.0 + 2.0),
        );
    }

    #[test]
    fn answers_that_are_no_rows() {
        let some = rows("x=a");
        assert_eq!(f1(&some, &SpinachAnswer::None), Some(0.0));
        assert_eq!(f1(&SpinachAnswer::Boolean(true), &SpinachAnswer::Boolean(true)), Some(1.0));
        assert_eq!(f1(&SpinachAnswer::Boolean(true), &some), Some(0.0));
        assert_eq!(
            (f1(&some, &rows("")), f1(&rows(""), &some), f1(&rows(""), &rows(""))),
            (Some(0.0), Some(0.0), None)
        );
        assert_eq!(f1(&rows("xLabel=a"), &some), Some(0.0), "a row of labels alone has nothing to match");
    }

    #[test]
    fn the_best_matching_is_found() {
        assert_eq!(assign(&[0.5, 1.0, 0.0, 1.0], 2, 2), [(0, 0), (1, 1)]);
        assert_eq!(assign(&[0.1, 0.0, 0.9, 0.0, 0.2, 0.8], 3, 2), [(1, 0), (2, 1)], "three rows, two columns");
    }
}
