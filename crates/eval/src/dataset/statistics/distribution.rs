//! Summarises numbers: mean, quartiles and a histogram.

use std::collections::BTreeMap;

use serde::Serialize;

/// The most bins of a histogram with bins of equal width.
const MOST_BINS: u64 = 12;

/// A summary of numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Distribution {
    /// How many numbers there are.
    pub count: usize,
    /// The mean.
    pub mean: f64,
    /// The smallest.
    pub min: u64,
    /// The first quartile: the number at rank `count / 4`, from 0.
    pub q1: u64,
    /// The median: the number at rank `count / 2`, from 0.
    pub median: u64,
    /// The third quartile: the number at rank `3 * count / 4`, from 0.
    pub q3: u64,
    /// The largest.
    pub max: u64,
    /// The histogram.
    pub histogram: Vec<HistogramBin>,
}

/// A bin of a histogram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct HistogramBin {
    /// The smallest number in the bin.
    pub from: u64,
    /// The largest number in the bin.
    pub to: u64,
    /// How many numbers are in the bin.
    pub count: usize,
}

impl Distribution {
    /// Summarises numbers with bins of equal width: 1, 2 or 5 times a power of ten. Returns `None` without numbers.
    pub fn of(numbers: impl Iterator<Item = u64>) -> Option<Distribution> {
        Distribution::binned(numbers, |max| {
            let mut widths = (0..19).flat_map(|power| [1, 2, 5].map(|step| step * 10u64.pow(power)));
            let width = widths.find(|width| max / width < MOST_BINS).unwrap_or(u64::MAX);
            (0..=max / width).map(|bin| (bin * width, (bin * width).saturating_add(width - 1))).collect()
        })
    }

    /// Summarises numbers with a bin for 0 and one for each number of digits. Returns `None` without numbers.
    pub fn by_digits(numbers: impl Iterator<Item = u64>) -> Option<Distribution> {
        Distribution::binned(numbers, |max| {
            let mut bins = vec![(0, 0)];
            let mut from = 1u64;
            while from <= max {
                bins.push((from, from.saturating_mul(10) - 1));
                from = from.saturating_mul(10);
                if from == u64::MAX {
                    break;
                }
            }
            bins
        })
    }

    fn binned(numbers: impl Iterator<Item = u64>, bins: impl Fn(u64) -> Vec<(u64, u64)>) -> Option<Distribution> {
        let mut sorted: Vec<u64> = numbers.collect();
        sorted.sort_unstable();
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let at = |rank: usize| sorted.get(rank).copied().unwrap_or(max);
        let sum: f64 = sorted.iter().map(|number| *number as f64).sum();
        let bin = |(from, to): (u64, u64)| HistogramBin {
            from,
            to,
            count: sorted.partition_point(|number| *number <= to) - sorted.partition_point(|number| *number < from),
        };
        Some(Distribution {
            count: sorted.len(),
            mean: crate::stored(sum / sorted.len() as f64),
            min,
            q1: at(sorted.len() / 4),
            median: at(sorted.len() / 2),
            q3: at(3 * sorted.len() / 4),
            max,
            histogram: bins(max).into_iter().map(bin).collect(),
        })
    }
}

/// Counts names, the most frequent first.
pub fn ranked(counts: BTreeMap<String, usize>, most: usize) -> Vec<(String, usize)> {
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    counts.truncate(most);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(distribution: &Distribution) -> Vec<(u64, u64, usize)> {
        distribution.histogram.iter().map(|bin| (bin.from, bin.to, bin.count)).collect()
    }

    #[test]
    fn bins_of_equal_width_cover_all_numbers() {
        let found = Distribution::of([3, 14, 15, 43].into_iter()).unwrap();
        assert_eq!((found.mean, found.min, found.median, found.max), (18.75, 3, 15, 43));
        assert_eq!(bins(&found)[..4], [(0, 4, 1), (5, 9, 0), (10, 14, 1), (15, 19, 1)]);
        assert_eq!(bins(&found).last(), Some(&(40, 44, 1)));
        assert_eq!(Distribution::of([].into_iter()), None);
        assert_eq!(bins(&Distribution::of([0].into_iter()).unwrap()), [(0, 0, 1)]);
        assert_eq!(
            Distribution::of([u64::MAX].into_iter()).unwrap().histogram.iter().map(|b| b.count).sum::<usize>(),
            1
        );
    }

    #[test]
    fn bins_by_digits_have_zero_apart() {
        let found = Distribution::by_digits([0, 1, 9, 10, 1_000, 9_999].into_iter()).unwrap();
        assert_eq!(bins(&found), [(0, 0, 1), (1, 9, 2), (10, 99, 1), (100, 999, 0), (1_000, 9_999, 2)]);
        assert_eq!(bins(&Distribution::by_digits([0, 0].into_iter()).unwrap()), [(0, 0, 2)]);
    }
}
