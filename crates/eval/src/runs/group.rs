//! Groups the runs of one system, such as those with several seeds: mean and standard deviation as in the papers, beside
//! the bootstrap interval over the instances.

use std::collections::BTreeMap;

use super::EvalRun;
use super::costs::RunCosts;
use super::row::{Cell, LeaderboardRow};
use crate::about::RunNames;
use crate::bootstrap::{intervals, mean};
use crate::metric::Metric;

/// Returns the groups of runs as positions in the list, in the order of their first run. Runs of one group have the same
/// model, or, without a model, the same name. Runs without both are groups of their own.
pub fn groups<'a>(names: impl Iterator<Item = &'a RunNames>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, names) in names.enumerate() {
        let key = names.model.as_deref().or(names.name.as_deref());
        match key.and_then(|key| known.get(key).copied()).and_then(|group| groups.get_mut(group)) {
            Some(group) => group.push(at),
            None => {
                known.extend(key.map(|key| (key, groups.len())));
                groups.push(vec![at]);
            }
        }
    }
    groups
}

/// Returns the sample standard deviation, with n − 1 as the divisor; `None` for fewer than two values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let middle = mean(values);
    let squares: f64 = values.iter().map(|value| (value - middle) * (value - middle)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Merges the rows of one system's runs. A cell has the mean and deviation of the runs' means; its interval resamples
/// the instances, each with its mean over the runs.
pub fn merged(
    rows: &[&LeaderboardRow],
    runs: &[&EvalRun],
    metrics: &[&'static Metric],
    name: String,
) -> LeaderboardRow {
    let cell = |metric: &&'static Metric| {
        let cells: Vec<&Cell> = rows.iter().filter_map(|row| row.scores.get(metric.name)).collect();
        let means: Vec<f64> = cells.iter().map(|cell| cell.mean).collect();
        let mut of_line: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for outcome in runs.iter().flat_map(|run| &run.outcomes) {
            if let Some(score) = metric.score(&outcome.record) {
                of_line.entry(outcome.record.line).or_default().push(score);
            }
        }
        let column: Vec<f64> = of_line.values().map(|scores| 100.0 * mean(scores)).collect();
        let n = column.len();
        let interval = intervals(&[column]).into_iter().next()?;
        (!cells.is_empty())
            .then(|| (metric.name, Cell { mean: mean(&means), interval, n, deviation: deviation(&means) }))
    };
    let costs: Vec<RunCosts> = rows.iter().filter_map(|row| row.costs).collect();
    LeaderboardRow {
        name,
        runs: rows.len(),
        scores: metrics.iter().filter_map(cell).collect(),
        costs: mean_costs(&costs),
    }
}

/// Returns the mean costs of a run.
fn mean_costs(costs: &[RunCosts]) -> Option<RunCosts> {
    if costs.is_empty() {
        return None;
    }
    let of = |value: fn(&RunCosts) -> f64| mean(&costs.iter().map(value).collect::<Vec<_>>());
    let known = |value: fn(&RunCosts) -> Option<f64>| {
        let values: Vec<f64> = costs.iter().filter_map(value).collect();
        (!values.is_empty()).then(|| mean(&values))
    };
    Some(RunCosts {
        prompt_tokens: of(|costs| costs.prompt_tokens),
        reply_tokens: of(|costs| costs.reply_tokens),
        estimate: costs.iter().any(|costs| costs.estimate),
        seconds: known(|costs| costs.seconds),
        price: known(|costs| costs.price),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deviations_are_those_of_a_sample() {
        // Python: statistics.stdev([1, 2, 4]).
        assert!((deviation(&[1.0, 2.0, 4.0]).unwrap() - 1.527_525_231_651_946_7).abs() < 1e-12);
        assert_eq!((deviation(&[3.0]), deviation(&[2.0, 2.0])), (None, Some(0.0)));
    }

    #[test]
    fn runs_of_one_model_belong_together() {
        let names = |model: Option<&str>, name: Option<&str>| RunNames {
            model: model.map(str::to_owned),
            name: name.map(str::to_owned),
            ..RunNames::default()
        };
        let all = [
            names(Some("a"), Some("seed 1")),
            names(None, None),
            names(Some("b"), None),
            names(Some("a"), Some("seed 2")),
            names(None, None),
            names(None, Some("b")),
        ];
        assert_eq!(groups(all.iter()), [vec![0, 3], vec![1], vec![2, 5], vec![4]]);
    }
}
