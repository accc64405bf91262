//! Bootstrap confidence intervals and paired tests with a fixed seed, so that the same scores always give the same
//! numbers.

use serde::Serialize;

/// The number of resamples.
pub const RESAMPLES: usize = 1000;
const SEED: u64 = 0x7465_7272_6170_696e;

/// Returns the 95 % interval of each column's mean. All columns have a value per instance.
pub fn intervals(columns: &[Vec<f64>]) -> Vec<[f64; 2]> {
    resampled_means(columns).into_iter().map(|means| middle(means, 0.95)).collect()
}

/// The result of a paired test of two runs over the same instances.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Paired {
    /// The mean of the differences, second minus first.
    pub difference: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// The two-sided p-value, at least 1 / resamples.
    pub p: f64,
}

/// Tests whether the mean of the differences is zero.
pub fn paired(differences: Vec<f64>) -> Paired {
    let difference = mean(&differences);
    if differences.iter().all(|d| *d == 0.0) {
        return Paired { difference, interval: [0.0, 0.0], p: 1.0 };
    }
    let means = resampled_means(&[differences]).into_iter().next().unwrap_or_default();
    let share = |test: &dyn Fn(f64) -> bool| means.iter().filter(|m| test(**m)).count() as f64 / RESAMPLES as f64;
    let p = 2.0 * share(&|m| m <= 0.0).min(share(&|m| m >= 0.0));
    Paired { difference, interval: middle(means, 0.95), p: p.clamp(1.0 / RESAMPLES as f64, 1.0) }
}

/// Returns the mean, summed in order; 0 for an empty list.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Returns the means of every column over the same resamples.
fn resampled_means(columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = columns.iter().map(Vec::len).min().unwrap_or_default();
    let mut means = vec![Vec::with_capacity(RESAMPLES); columns.len()];
    if n == 0 {
        return means;
    }
    let mut random = SplitMix(SEED);
    let mut drawn = vec![0; n];
    for _ in 0..RESAMPLES {
        drawn.fill_with(|| random.below(n));
        for (column, means) in columns.iter().zip(&mut means) {
            let sum: f64 = drawn.iter().filter_map(|i| column.get(*i)).sum();
            means.push(sum / n as f64);
        }
    }
    means
}

/// Returns the central interval with a share of the values.
fn middle(mut values: Vec<f64>, share: f64) -> [f64; 2] {
    values.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| {
        let index = (share * values.len().saturating_sub(1) as f64).round() as usize;
        values.get(index).copied().unwrap_or_default()
    };
    [at((1.0 - share) / 2.0), at((1.0 + share) / 2.0)]
}

/// The generator SplitMix of Steele, Lea and Flood.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        ((u128::from(z) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_about_two_standard_errors_wide() {
        let half: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
        let [low, high] = intervals(std::slice::from_ref(&half))[0];
        // The standard error is 0.5 / 20.
        assert!((low - 0.451).abs() < 0.008 && (high - 0.549).abs() < 0.008, "{low} {high}");
        assert_eq!(intervals(std::slice::from_ref(&half)), intervals(std::slice::from_ref(&half)));
        assert_eq!(intervals(&[vec![1.0; 5]]), [[1.0, 1.0]]);
        assert_eq!(intervals(&[Vec::new()]), [[0.0, 0.0]]);
    }

    #[test]
    fn a_paired_test_tells_luck_from_better() {
        let better = paired((0..100).map(|i| if i % 10 == 0 { -1.0 } else { 0.5 }).collect());
        assert!(better.p <= 0.002 && better.difference == 0.35, "{better:?}");
        let luck = paired((0..100).map(|i| if i % 2 == 0 { -1.0 } else { 1.0 }).collect());
        assert!(luck.p > 0.5 && luck.interval[0] < 0.0 && luck.interval[1] > 0.0, "{luck:?}");
        assert_eq!(paired(vec![0.0; 3]).p, 1.0);
    }
}
