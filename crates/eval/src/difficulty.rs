//! Instances by how hard they are: thirds of equal size by each measure that a benchmark gives.

use std::collections::BTreeMap;

use super::record::Instance;

/// The measure by which OverpassNL chooses its hard instances: how little like a training query a query is.
pub const HARD_BY: &str = "train_sim_oqo";

/// A third of the instances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Third {
    /// The lowest values.
    Easy,
    /// What is between.
    Medium,
    /// The highest values: `n / 3` instances, rounded down.
    Hard,
}

impl Third {
    /// All, the easy one first.
    pub const ALL: [Third; 3] = [Third::Easy, Third::Medium, Third::Hard];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Third::Easy => "easy",
            Third::Medium => "medium",
            Third::Hard => "hard",
        }
    }
}

/// For each measure the third of each instance that has a value, by line. Equal values are told apart by the line.
pub fn thirds(instances: &[Instance]) -> BTreeMap<&str, BTreeMap<usize, Third>> {
    let mut values: BTreeMap<&str, Vec<(f64, usize)>> = BTreeMap::new();
    for instance in instances {
        for (measure, value) in &instance.difficulty {
            values.entry(measure).or_default().push((*value, instance.line));
        }
    }
    let assign = |mut values: Vec<(f64, usize)>| {
        values.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let third = values.len() / 3;
        let hard = values.len() - third;
        let of = |rank: usize| match rank {
            rank if rank < third => Third::Easy,
            rank if rank < hard => Third::Medium,
            _ => Third::Hard,
        };
        values.into_iter().enumerate().map(|(rank, (_, line))| (line, of(rank))).collect()
    };
    values.into_iter().map(|(measure, values)| (measure, assign(values))).collect()
}

/// The name of a measure from the name of its file: what stands behind `diff_` or `difficulty_`.
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
    fn the_hard_third_is_rounded_down() {
        let instances: Vec<Instance> = (1..=10)
            .map(|line| Instance {
                line,
                difficulty: [("len".to_owned(), -(line as f64 / 2.0).floor())].into(),
                ..Instance::default()
            })
            .collect();
        let thirds = thirds(&instances);
        let of = |third| thirds["len"].iter().filter(|(_, t)| **t == third).map(|(line, _)| *line).collect::<Vec<_>>();
        assert_eq!((of(Third::Hard), of(Third::Medium)), (vec![1, 2, 3], vec![4, 5, 6, 7]));
        assert_eq!(of(Third::Easy), [8, 9, 10]);
    }

    #[test]
    fn measures_are_named_by_their_files() {
        assert_eq!(measure_of("dataset.dev.diff_len_nl"), "len_nl");
        assert_eq!(measure_of("dataset.test.difficulty_train_sim_oqo"), HARD_BY);
        assert_eq!(measure_of("mine"), "mine");
    }
}
