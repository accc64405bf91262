//! Compares two tables of values. Columns are matched by content, since variables may have any name; rows are
//! multisets.

use std::collections::BTreeMap;

use super::assignment::assign;
use super::execution::multiset_intersection;

/// Tables with more columns are matched by name only.
const MOST_COLUMNS: usize = 64;
/// The maximum number of unequal row pairs for an optimal matching; above it, only equal rows count.
const MOST_PAIRS: usize = 40_000;
/// The weight of a column that shares all its values.
const WHOLE: f64 = 1e6;
/// More than the total weight of names and positions of columns.
const TIES: i64 = 4 * (MOST_COLUMNS * MOST_COLUMNS) as i64;
/// The maximum number of cells examined for swapping columns.
const MOST_SWAPPED: usize = 50_000_000;

/// The results of a query as values, without kind, language and type of the terms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ValueTable {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows in order, with a value per column; empty if unbound.
    pub rows: Vec<Vec<String>>,
}

/// The scores of a prediction's table. Two empty tables are equal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableScore {
    /// Both have the same number of columns and the same rows in any order.
    pub multiset: bool,
    /// They also have the same order.
    pub ordered: bool,
    /// The common rows divided by all rows, 0 to 1; columns only in the prediction are ignored, here and below.
    pub jaccard: f64,
    /// The common rows divided by those of the smaller table, 0 to 1.
    pub overlap: f64,
    /// Twice the common rows divided by the sum of both tables' rows, 0 to 1.
    pub dice: f64,
    /// F1 over rows matched one to one, 0 to 1; a row counts by the share of the gold row's values that it has.
    pub f1: f64,
}

/// Scores a prediction's table.
pub fn score(gold: &ValueTable, pred: &ValueTable) -> TableScore {
    let same_width = gold.columns.len() == pred.columns.len();
    if gold.rows.is_empty() || pred.rows.is_empty() {
        let both = gold.rows.len() == pred.rows.len();
        let share = f64::from(u8::from(both));
        return TableScore { multiset: both, ordered: both, jaccard: share, overlap: share, dice: share, f1: share };
    }
    let column_of = columns(gold, pred);
    let gold_rows: Vec<Vec<Option<&str>>> = gold.rows.iter().map(|row| whole(row)).collect();
    let pred_rows: Vec<Vec<Option<&str>>> = pred.rows.iter().map(|row| picked(row, &column_of)).collect();
    let (mut gold_sorted, mut pred_sorted) = (gold_rows.clone(), pred_rows.clone());
    gold_sorted.sort_unstable();
    pred_sorted.sort_unstable();
    let common = multiset_intersection(&gold_sorted, &pred_sorted);
    let all = gold_rows.len() + pred_rows.len();
    let multiset = same_width && gold_sorted == pred_sorted;
    let matched = common as f64 + partial(&gold_sorted, &pred_sorted);
    TableScore {
        multiset,
        ordered: multiset && gold_rows == pred_rows,
        jaccard: common as f64 / (all - common) as f64,
        overlap: common as f64 / gold_rows.len().min(pred_rows.len()) as f64,
        dice: 2.0 * common as f64 / all as f64,
        f1: 2.0 * matched / all as f64,
    }
}

/// A row with a value per gold column; `None` if no column matches.
pub type AlignedRow<'a> = Vec<Option<&'a str>>;

/// Returns the rows of both tables in their order, in the gold table's columns. Tables of another width have no equal
/// rows.
pub fn aligned<'a>(gold: &'a ValueTable, pred: &'a ValueTable) -> (Vec<AlignedRow<'a>>, Vec<AlignedRow<'a>>) {
    let gold_rows: Vec<AlignedRow<'a>> = gold.rows.iter().map(|row| whole(row)).collect();
    if gold.rows.is_empty() || pred.rows.is_empty() || gold.columns.len() != pred.columns.len() {
        return (gold_rows, Vec::new());
    }
    let column_of = columns(gold, pred);
    let pred_rows = pred.rows.iter().map(|row| picked(row, &column_of)).collect();
    (gold_rows, pred_rows)
}

/// Returns for each gold column the predicted column that shares the most values; ties are broken by name, then by
/// position. If columns can be swapped without sharing fewer values, the rows decide.
fn columns(gold: &ValueTable, pred: &ValueTable) -> Vec<Option<usize>> {
    if gold.columns.len().max(pred.columns.len()) > MOST_COLUMNS {
        return gold.columns.iter().map(|name| pred.columns.iter().position(|other| other == name)).collect();
    }
    let values = |table: &'_ ValueTable, column: usize| {
        let mut values: Vec<String> = table.rows.iter().filter_map(|row| row.get(column).cloned()).collect();
        values.sort_unstable();
        values
    };
    let of_pred: Vec<Vec<String>> = (0..pred.columns.len()).map(|column| values(pred, column)).collect();
    let share_of = |(column, _): (usize, &String)| -> Vec<i64> {
        let of_gold = values(gold, column);
        let share = |values: &Vec<String>| {
            let common = multiset_intersection(&of_gold, values);
            let share = common as f64 / (of_gold.len() + values.len() - common).max(1) as f64;
            (share * WHOLE).round() as i64
        };
        of_pred.iter().map(share).collect()
    };
    let shares: Vec<Vec<i64>> = gold.columns.iter().enumerate().map(share_of).collect();
    let weigh = |(i, (name, shares)): (usize, (&String, &Vec<i64>))| -> Vec<i64> {
        let weight = |(j, (other, share)): (usize, (&String, &i64))| {
            // All tie weights together never outweigh one shared value.
            share * TIES + i64::from(other == name) * 2 * MOST_COLUMNS as i64 + i64::from(i == j)
        };
        pred.columns.iter().zip(shares).enumerate().map(weight).collect()
    };
    let mut assigned = assign(&gold.columns.iter().zip(&shares).enumerate().map(weigh).collect::<Vec<_>>());
    swap_by_rows(gold, pred, &shares, &mut assigned);
    assigned
}

/// Swaps columns that share as many values either way while more rows become equal.
fn swap_by_rows(gold: &ValueTable, pred: &ValueTable, shares: &[Vec<i64>], assigned: &mut [Option<usize>]) {
    let share = |i: usize, j: Option<usize>| j.and_then(|j| shares.get(i)?.get(j)).copied().unwrap_or_default();
    let mut swaps = Vec::new();
    for (i, a) in assigned.iter().enumerate() {
        for (k, b) in assigned.iter().enumerate().skip(i + 1) {
            if share(i, *a) + share(k, *b) == share(i, *b) + share(k, *a) {
                swaps.push((i, k));
            }
        }
    }
    let cells = (gold.rows.len() + pred.rows.len()) * gold.columns.len();
    if swaps.is_empty() || cells * swaps.len() > MOST_SWAPPED {
        return;
    }
    let mut gold_rows: Vec<Vec<Option<&str>>> = gold.rows.iter().map(|row| whole(row)).collect();
    gold_rows.sort_unstable();
    let common = |assigned: &[Option<usize>]| {
        let mut rows: Vec<Vec<Option<&str>>> = pred.rows.iter().map(|row| picked(row, assigned)).collect();
        rows.sort_unstable();
        multiset_intersection(&gold_rows, &rows)
    };
    let mut most = common(assigned);
    for (i, k) in swaps {
        assigned.swap(i, k);
        let now = common(assigned);
        if now > most {
            most = now;
        } else {
            assigned.swap(i, k);
        }
    }
}

/// Returns a row of the gold table.
fn whole(row: &[String]) -> Vec<Option<&str>> {
    row.iter().map(|value| Some(value.as_str())).collect()
}

/// Returns a row of the prediction in the gold table's columns.
fn picked<'a>(row: &'a [String], columns: &[Option<usize>]) -> Vec<Option<&'a str>> {
    columns.iter().map(|column| column.and_then(|column| row.get(column)).map(String::as_str)).collect()
}

/// Returns the similarity of the unequal rows in an optimal one-to-one matching.
///
/// Removing equal rows first is optimal: if both rows of an equal pair are matched elsewhere, matching them with each
/// other and their partners with each other is no worse.
fn partial(gold: &[Vec<Option<&str>>], pred: &[Vec<Option<&str>>]) -> f64 {
    let (gold, pred) = (without(gold, pred), without(pred, gold));
    let width = gold.first().map_or(0, |row| row.len());
    if width < 2 || gold.len() * pred.len() > MOST_PAIRS {
        return 0.0;
    }
    let equal = |a: &[Option<&str>], b: &[Option<&str>]| a.iter().zip(b).filter(|(a, b)| a == b).count() as i64;
    let weights: Vec<Vec<i64>> = gold.iter().map(|a| pred.iter().map(|b| equal(a, b)).collect()).collect();
    let assigned = assign(&weights);
    let sum: i64 = assigned.iter().zip(&weights).filter_map(|(column, row)| row.get((*column)?)).sum();
    sum as f64 / width as f64
}

/// Returns the rows of one ascending list without those of the other, with multiplicity.
fn without<'a, 'b>(rows: &'b [Vec<Option<&'a str>>], other: &[Vec<Option<&'a str>>]) -> Vec<&'b [Option<&'a str>]> {
    let mut counts: BTreeMap<&[Option<&str>], usize> = BTreeMap::new();
    for row in other {
        *counts.entry(row).or_default() += 1;
    }
    let mut left = Vec::new();
    for row in rows {
        match counts.get_mut(row.as_slice()) {
            Some(count) if *count > 0 => *count -= 1,
            _ => left.push(row.as_slice()),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(columns: &str, rows: &[&str]) -> ValueTable {
        let cut = |text: &str| text.split(' ').map(|value| value.trim_matches('-').to_owned()).collect();
        ValueTable { columns: cut(columns), rows: rows.iter().map(|row| cut(row)).collect() }
    }

    /// Returns: equal, in order, Jaccard, overlap, Dice, F1.
    fn scores(gold: &ValueTable, pred: &ValueTable) -> (bool, bool, [f64; 4]) {
        let score = score(gold, pred);
        (score.multiset, score.ordered, [score.jaccard, score.overlap, score.dice, score.f1])
    }

    #[test]
    fn names_and_order_of_columns_do_not_count() {
        let gold = table("city country", &["Rome Italy", "Oslo Norway"]);
        let pred = table("a b", &["Italy Rome", "Norway Oslo"]);
        assert_eq!(scores(&gold, &pred), (true, true, [1.0; 4]));
        let turned = table("a b", &["Norway Oslo", "Italy Rome"]);
        assert_eq!(scores(&gold, &turned), (true, false, [1.0; 4]));
    }

    #[test]
    fn of_columns_with_the_same_values_the_rows_decide() {
        // Both columns have the same values, so either assignment shares all; only one gives equal rows.
        let gold = table("a b", &["x y", "z x", "y z"]);
        assert_eq!(scores(&gold, &table("c d", &["x y", "z x", "y z"])), (true, true, [1.0; 4]));
        assert_eq!(scores(&gold, &table("c d", &["y x", "x z", "z y"])), (true, true, [1.0; 4]));
    }

    #[test]
    fn rows_are_multisets() {
        let gold = table("x", &["a", "a", "b"]);
        let pred = table("x", &["a", "b", "b"]);
        // Common: a and b, of 3 + 3 rows.
        assert_eq!(scores(&gold, &pred), (false, false, [0.5, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]));
    }

    #[test]
    fn a_row_counts_for_what_it_has() {
        let gold = table("x y", &["a 1", "b 2"]);
        let pred = table("x y", &["a 1", "b 3", "c 4"]);
        // One whole row and half a row, of 2 and 3.
        assert_eq!(scores(&gold, &pred), (false, false, [0.25, 0.5, 0.4, 3.0 / 5.0]));
        // A column is missing: half of each row.
        let short = table("x", &["a", "b"]);
        assert_eq!(scores(&gold, &short), (false, false, [0.0, 0.0, 0.0, 0.5]));
        // An extra column only prevents equality.
        assert_eq!(scores(&short, &gold), (false, false, [1.0; 4]));
    }

    #[test]
    fn rows_are_matched_as_well_as_can_be() {
        // A greedy matching would give "a 1 z" to the first row and leave the second unmatched.
        let gold = table("x y z", &["a 1 p", "a 1 q"]);
        let pred = table("x y z", &["a 1 z", "a 2 p"]);
        assert_eq!(scores(&gold, &pred).2[3], 2.0 * (2.0 / 3.0 + 2.0 / 3.0) / 4.0);
    }

    #[test]
    fn empty_against_empty_is_the_same() {
        let (empty, some) = (table("x", &[]), table("x", &["a"]));
        assert_eq!(scores(&empty, &table("y z", &[])), (true, true, [1.0; 4]));
        assert_eq!(scores(&empty, &some), (false, false, [0.0; 4]));
        assert_eq!(scores(&some, &empty), (false, false, [0.0; 4]));
    }
}
