//! Groups instances by difficulty: tertiles of equal size by each measure of a benchmark.

use std::collections::BTreeMap;

use super::record::Instance;

/// The measure that selects OverpassNL's hard instances: the dissimilarity to training queries.
pub const HARD_BY: &str = "train_sim_oqo";

/// A tertile of the instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tertile {
    /// The lowest values.
    Easy,
    /// The values between.
    Medium,
    /// The highest values: `n / 3` instances, rounded down.
    Hard,
}

impl Tertile {
    /// All, easy first.
    pub const ALL: [Tertile; 3] = [Tertile::Easy, Tertile::Medium, Tertile::Hard];

    /// Returns the name in files.
    pub fn name(self) -> &'static str {
        match self {
            Tertile::Easy => "easy",
            Tertile::Medium => "medium",
            Tertile::Hard => "hard",
        }
    }
}

/// Returns for each measure the tertile of each instance with a value, by line. Ties are broken by line.
pub fn tertiles(instances: &[Instance]) -> BTreeMap<&str, BTreeMap<usize, Tertile>> {
    let mut values: BTreeMap<&str, Vec<(f64, usize)>> = BTreeMap::new();
    for instance in instances {
        for (measure, value) in &instance.difficulty {
            values.entry(measure).or_default().push((*value, instance.line));
        }
    }
    let assign = |mut values: Vec<(f64, usize)>| {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let tertile = values.len() / 3;
        let hard = values.len() - tertile;
        let of = |rank: usize| match rank {
            rank if rank < tertile => Tertile::Easy,
            rank if rank < hard => Tertile::Medium,
            _ => Tertile::Hard,
        };
        values.into_iter().enumerate().map(|(rank, (_, line))| (line, of(rank))).collect()
    };
    values.into_iter().map(|(measure, values)| (measure, assign(values))).collect()
}

/// Returns the name of a measure from its file name: the part after `diff_` or `difficulty_`.
pub fn measure_of(file_name: &str) -> &str {
    ["difficulty_", "diff_"]
        .iter()
        .find_map(|mark| file_name.rsplit_once(mark).map(|(_, measure)| measure))
        .unwrap_or(file_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hard_tertile_is_rounded_down() {
        let instances: Vec<Instance> = (1..=10)
            .map(|line| Instance {
                line,
                difficulty: [("len".to_owned(), -(line as f64 / 2.0).floor())].into(),
                ..Instance::default()
            })
            .collect();
        let tertiles = tertiles(&instances);
        let of =
            |tertile| tertiles["len"].iter().filter(|(_, t)| **t == tertile).map(|(line, _)| *line).collect::<Vec<_>>();
        assert_eq!((of(Tertile::Hard), of(Tertile::Medium)), (vec![1, 2, 3], vec![4, 5, 6, 7]));
        assert_eq!(of(Tertile::Easy), [8, 9, 10]);
    }

    #[test]
    fn measures_are_named_by_their_files() {
        assert_eq!(measure_of("dataset.dev.diff_len_nl"), "len_nl");
        assert_eq!(measure_of("dataset.test.difficulty_train_sim_oqo"), HARD_BY);
        assert_eq!(measure_of("mine"), "mine");
    }
}
