//! Optimal assignment of rows to columns with the largest sum of weights.

/// Returns the column of each row, or `None` if there are fewer columns than rows. The sum of the weights is maximal;
/// ties are always resolved the same way. Rows must have equal lengths.
///
/// Uses the Hungarian method with potentials: n² × m steps, where n is the smaller of the numbers of rows and columns
/// and m the larger.
pub fn assign(weights: &[Vec<i64>]) -> Vec<Option<usize>> {
    let rows = weights.len();
    let columns = weights.iter().map(Vec::len).min().unwrap_or_default();
    let cost =
        |row: usize, column: usize| -weights.get(row).and_then(|row| row.get(column)).copied().unwrap_or_default();
    if rows <= columns {
        return each_row(rows, columns, &cost).into_iter().map(Some).collect();
    }
    let mut assigned = vec![None; rows];
    for (column, row) in each_row(columns, rows, &|column, row| cost(row, column)).into_iter().enumerate() {
        put(&mut assigned, row, Some(column));
    }
    assigned
}

/// Returns the column of each row with the smallest sum of costs. There must be at most as many rows as columns.
fn each_row(rows: usize, size: usize, cost: &dyn Fn(usize, usize) -> i64) -> Vec<usize> {
    // Index 0 means none; all others count from 1.
    let (mut of_row, mut of_column) = (vec![0_i64; rows + 1], vec![0_i64; size + 1]);
    let mut row_at = vec![0_usize; size + 1];
    for row in 1..=rows {
        let mut column = 0;
        put(&mut row_at, 0, row);
        let (mut least, mut way, mut used) = (vec![i64::MAX; size + 1], vec![0; size + 1], vec![false; size + 1]);
        loop {
            put(&mut used, column, true);
            let current = get(&row_at, column);
            let (mut delta, mut next) = (i64::MAX, 0);
            for j in 1..=size {
                if get(&used, j) {
                    continue;
                }
                let reduced = cost(current - 1, j - 1) - get(&of_row, current) - get(&of_column, j);
                if reduced < get(&least, j) {
                    put(&mut least, j, reduced);
                    put(&mut way, j, column);
                }
                if get(&least, j) < delta {
                    (delta, next) = (get(&least, j), j);
                }
            }
            for j in 0..=size {
                if get(&used, j) {
                    let row = get(&row_at, j);
                    add(&mut of_row, row, delta);
                    add(&mut of_column, j, -delta);
                } else if j > 0 {
                    add(&mut least, j, -delta);
                }
            }
            column = next;
            if get(&row_at, column) == 0 {
                break;
            }
        }
        while column != 0 {
            let before = get(&way, column);
            let moved = get(&row_at, before);
            put(&mut row_at, column, moved);
            column = before;
        }
    }
    let mut assigned = vec![0; rows];
    for (column, row) in row_at.iter().enumerate().skip(1) {
        if let Some(row) = row.checked_sub(1) {
            put(&mut assigned, row, column - 1);
        }
    }
    assigned
}

fn get<T: Copy + Default>(of: &[T], at: usize) -> T {
    of.get(at).copied().unwrap_or_default()
}

fn add(of: &mut [i64], at: usize, value: i64) {
    if let Some(place) = of.get_mut(at) {
        *place += value;
    }
}

fn put<T>(of: &mut [T], at: usize, value: T) {
    if let Some(place) = of.get_mut(at) {
        *place = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the largest sum by exhaustive search.
    fn best(weights: &[Vec<i64>], row: usize, taken: &mut Vec<usize>) -> i64 {
        if row == weights.len() {
            return 0;
        }
        let mut most = best(weights, row + 1, taken);
        for column in 0..weights[row].len() {
            if !taken.contains(&column) {
                taken.push(column);
                most = most.max(weights[row][column] + best(weights, row + 1, taken));
                taken.pop();
            }
        }
        most
    }

    #[test]
    fn no_other_assignment_is_better() {
        let mut seed = 7_u32;
        for case in 0..200 {
            let (rows, columns) = (1 + case % 5, 1 + case / 5 % 5);
            let mut weight = || {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                i64::from(seed >> 28)
            };
            let weights: Vec<Vec<i64>> = (0..rows).map(|_| (0..columns).map(|_| weight()).collect()).collect();
            let assigned = assign(&weights);
            let mut columns_used: Vec<usize> = assigned.iter().flatten().copied().collect();
            columns_used.sort_unstable();
            columns_used.dedup();
            assert_eq!(columns_used.len(), rows.min(columns), "{weights:?}: {assigned:?}");
            let sum: i64 = assigned.iter().zip(&weights).filter_map(|(c, row)| c.map(|c| row[c])).sum();
            assert_eq!(sum, best(&weights, 0, &mut Vec::new()), "{weights:?}: {assigned:?}");
        }
        assert!(assign(&[]).is_empty());
    }
}
