//! Splits a dataset: sizes by share, equal shares of every class, and near duplicates in one split.

use std::collections::BTreeMap;

use super::near::groups;
use super::pairs::GoldPair;

/// The sizes of the splits, as names and shares that sum to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitSizes(Vec<(String, f64)>);

/// The options of a split.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitOptions {
    /// The sizes.
    pub sizes: SplitSizes,
    /// The seed; the same seed, pairs and options give the same splits.
    pub seed: u64,
    /// The similarity from which two pairs stay together; 1 keeps equal ones together.
    pub near: f64,
}

/// The splits of pairs.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitPairs {
    /// The number of the split of each pair, in the order of the sizes.
    pub splits: Vec<usize>,
    /// The number of groups of near duplicates with more than one pair.
    pub groups: usize,
    /// The number of pairs in the largest group.
    pub largest: usize,
}

impl std::str::FromStr for SplitSizes {
    type Err = String;

    /// Parses `train=0.8,dev=0.1,test=0.1`.
    fn from_str(text: &str) -> Result<SplitSizes, String> {
        let mut sizes: Vec<(String, f64)> = Vec::new();
        for part in text.split(',') {
            let expected = || format!("{part:?}: expected NAME=SHARE, such as train=0.8");
            let (name, share) = part.split_once('=').ok_or_else(expected)?;
            let share: f64 = share.trim().parse().map_err(|_| expected())?;
            let name = name.trim().to_owned();
            let fits = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) {
                return Err(format!("split {name:?}: expected letters, digits, \"-\", \"_\" and \".\""));
            }
            if !(share > 0.0 && share <= 1.0) {
                return Err(format!("{part:?}: expected a share above 0 and at most 1"));
            }
            if sizes.iter().any(|(known, _)| *known == name) {
                return Err(format!("the split {name:?} is named twice"));
            }
            sizes.push((name, share));
        }
        let sum: f64 = sizes.iter().map(|(_, share)| share).sum();
        if (sum - 1.0).abs() > 1e-6 {
            return Err(format!("the shares sum to {sum}: expected 1"));
        }
        Ok(SplitSizes(sizes))
    }
}

impl SplitSizes {
    /// Iterates over the names of the splits.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

/// Assigns pairs to splits. `strata` has the class of each pair, of which every split gets its share.
///
/// Near duplicates form groups, and so do their near duplicates. Groups are assigned largest first, in an order that
/// the seed sets among groups of equal size, each to the split with the largest lack of the group's classes, relative
/// to the split's share.
pub fn split(pairs: &[GoldPair], strata: &[String], options: &SplitOptions) -> SplitPairs {
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, group) in groups(pairs, options.near).into_iter().enumerate() {
        members.entry(group).or_default().push(index);
    }
    let mut groups: Vec<Vec<usize>> = members.into_values().collect();
    groups.sort_by_cached_key(|group| {
        let first = group.first().and_then(|index| pairs.get(*index));
        (std::cmp::Reverse(group.len()), first.map(|pair| order_of(pair, options.seed)), group.first().copied())
    });
    let mut lacks: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut totals: Vec<f64> = Vec::new();
    for (_, share) in &options.sizes.0 {
        totals.push(share * pairs.len() as f64);
        for stratum in strata {
            lacks.entry(stratum).or_insert_with(|| vec![0.0; options.sizes.0.len()]);
        }
    }
    for stratum in strata {
        if let Some(lack) = lacks.get_mut(stratum.as_str()) {
            lack.iter_mut().zip(&options.sizes.0).for_each(|(lack, (_, share))| *lack += share);
        }
    }
    let mut splits = vec![0; pairs.len()];
    for group in &groups {
        let best = best_split(group, strata, &lacks, &totals, &options.sizes);
        for index in group {
            if let Some(split) = splits.get_mut(*index) {
                *split = best;
            }
            if let Some(lack) = strata.get(*index).and_then(|stratum| lacks.get_mut(stratum.as_str()))
                && let Some(lack) = lack.get_mut(best)
            {
                *lack -= 1.0;
            }
            if let Some(total) = totals.get_mut(best) {
                *total -= 1.0;
            }
        }
    }
    let largest = groups.iter().map(Vec::len).max().unwrap_or(0);
    SplitPairs { splits, groups: groups.iter().filter(|group| group.len() > 1).count(), largest }
}

/// Returns the split with the largest lack of a group's classes; the lack of pairs in all breaks ties.
fn best_split(
    group: &[usize],
    strata: &[String],
    lacks: &BTreeMap<&str, Vec<f64>>,
    totals: &[f64],
    sizes: &SplitSizes,
) -> usize {
    let lack_of = |split: usize| -> f64 {
        let lacks = group.iter().filter_map(|index| lacks.get(strata.get(*index)?.as_str())?.get(split));
        lacks.copied().fold(0.0, |sum: f64, lack| sum + lack)
    };
    let rank = |split: usize| {
        let share = sizes.0.get(split).map_or(1.0, |(_, share)| *share);
        let total = totals.get(split).copied().unwrap_or_default();
        // A group that a split cannot take would make it too large.
        let fits = total + 0.5 >= group.len() as f64;
        (fits, lack_of(split) / share, total / share)
    };
    let mut best = 0;
    for split in 1..sizes.0.len() {
        let (one, other) = (rank(split), rank(best));
        let order = one.0.cmp(&other.0).then(one.1.total_cmp(&other.1)).then(one.2.total_cmp(&other.2));
        if order.is_gt() {
            best = split;
        }
    }
    best
}

/// Returns the position of a pair in an order that the seed sets. It depends on the pair, not on its line.
fn order_of(pair: &GoldPair, seed: u64) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    for text in [pair.id.as_deref().unwrap_or_default(), &pair.question, &pair.query] {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(sizes: &str, seed: u64) -> SplitOptions {
        SplitOptions { sizes: sizes.parse().unwrap(), seed, near: 0.9 }
    }

    fn pairs() -> (Vec<GoldPair>, Vec<String>) {
        let words = ["cafe", "bar", "pub", "school", "park", "museum", "hotel", "bank", "shop", "church"];
        let mut pairs = Vec::new();
        for (i, word) in words.iter().enumerate() {
            for n in 0..20 {
                let query = format!("node[amenity={word}][ref{n}][x{i}y{n}](around:{n},{i},{n});out {};", n + 1);
                let question = format!("{word}{n} {i}");
                pairs.push(GoldPair { question, query, ..GoldPair::default() });
            }
        }
        let strata = (0..pairs.len()).map(|i| if i % 4 == 0 { "hard" } else { "easy" }.to_owned()).collect();
        (pairs, strata)
    }

    #[test]
    fn every_split_has_its_share_of_every_class() {
        let (pairs, strata) = pairs();
        let found = split(&pairs, &strata, &options("train=0.8,dev=0.1,test=0.1", 1));
        let count = |split: usize, class: &str| {
            found.splits.iter().zip(&strata).filter(|(s, stratum)| **s == split && *stratum == class).count()
        };
        assert_eq!([count(0, "easy"), count(1, "easy"), count(2, "easy")], [120, 15, 15]);
        assert_eq!([count(0, "hard"), count(1, "hard"), count(2, "hard")], [40, 5, 5]);
        assert_eq!((found.groups, found.largest), (0, 1));
        let again = split(&pairs, &strata, &options("train=0.8,dev=0.1,test=0.1", 1));
        assert_eq!(found, again);
        assert_ne!(found.splits, split(&pairs, &strata, &options("train=0.8,dev=0.1,test=0.1", 2)).splits);
    }

    #[test]
    fn near_duplicates_stay_together() {
        let (mut pairs, mut strata) = pairs();
        // Every tenth pair again, with another output format.
        for index in (0..200).step_by(10) {
            let query = format!("[out:xml];{}", pairs[index].query);
            pairs.push(GoldPair { query, ..pairs[index].clone() });
            strata.push(strata[index].clone());
        }
        let found = split(&pairs, &strata, &options("a=0.5,b=0.5", 7));
        for (number, index) in (0..200).step_by(10).enumerate() {
            assert_eq!(found.splits[index], found.splits[200 + number]);
        }
        assert_eq!((found.groups, found.largest), (20, 2));
        assert_eq!(found.splits.iter().filter(|split| **split == 0).count(), 110);
    }

    #[test]
    fn sizes_have_names_and_sum_to_one() {
        let sizes: SplitSizes = "train=0.8, dev=0.1,test=0.1".parse().unwrap();
        assert_eq!(sizes.names().collect::<Vec<_>>(), ["train", "dev", "test"]);
        for (text, says) in [
            ("train", "expected NAME=SHARE"),
            ("train=x", "expected NAME=SHARE"),
            ("train=0.5,dev=0.6", "the shares sum to 1.1"),
            ("a=0.5,a=0.5", "named twice"),
            ("a/b=1", "expected letters"),
            ("a=0,b=1", "above 0"),
        ] {
            let sizes = text.parse::<SplitSizes>();
            assert!(sizes.as_ref().is_err_and(|e| e.contains(says)), "{text}: {sizes:?}");
        }
    }
}
