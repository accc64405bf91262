//! Compares two runs over the same instances and tests the significance of the changes.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::EvalRun;
use crate::benchmarks;
use crate::bootstrap::{Paired, mean, paired};
use crate::error::RunError;
use crate::metric::Metric;
use crate::record::ResultRecord;

/// The change of a metric from the first run to the second, in per cent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Its name in files.
    pub metric: &'static str,
    /// The mean of the first run over the instances scored in both.
    pub first: f64,
    /// The mean of the second.
    pub second: f64,
    /// The test of the difference.
    #[serde(flatten)]
    pub test: Paired,
    /// The number of instances scored in both.
    pub n: usize,
    /// The lines on which the second run scores better.
    pub better: Vec<usize>,
    /// The lines on which it scores worse.
    pub worse: Vec<usize>,
}

/// The changes of all common metrics.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunComparison {
    /// The changes in the order of the metrics.
    pub changes: Vec<Change>,
}

/// Compares two runs.
///
/// # Errors
/// Returns an error if the runs have different instances.
pub fn compare(first: &EvalRun, second: &EvalRun) -> Result<RunComparison, RunError> {
    let golds = |run: &'_ EvalRun| run.instances.iter().map(|i| (i.line, i.gold.clone())).collect::<BTreeMap<_, _>>();
    let (first_golds, second_golds) = (golds(first), golds(second));
    if first_golds != second_golds {
        let differing = first_golds.iter().find(|(line, gold)| second_golds.get(line) != Some(gold));
        let which = differing.map_or_else(|| "one has more".to_owned(), |(line, _)| format!("line {line} differs"));
        return Err(RunError::Unfit(format!("the runs are not over the same instances: {which}")));
    }
    let pairs: Vec<(&ResultRecord, &ResultRecord)> =
        first.outcomes.iter().zip(&second.outcomes).map(|(a, b)| (&a.record, &b.record)).collect();
    Ok(RunComparison { changes: benchmarks::metrics().iter().filter_map(|metric| change(metric, &pairs)).collect() })
}

fn change(metric: &Metric, pairs: &[(&ResultRecord, &ResultRecord)]) -> Option<Change> {
    let scored: Vec<(usize, f64, f64)> =
        pairs.iter().filter_map(|(a, b)| Some((a.line, metric.score(a)?, metric.score(b)?))).collect();
    if scored.is_empty() {
        return None;
    }
    let is_better = |a: f64, b: f64| if metric.lower_is_better { a < b } else { a > b };
    let percent = |score: &dyn Fn(&(usize, f64, f64)) -> f64| -> Vec<f64> {
        scored.iter().map(|scores| 100.0 * score(scores)).collect()
    };
    let lines = |test: &dyn Fn(f64, f64) -> bool| -> Vec<usize> {
        scored.iter().filter(|(_, a, b)| test(*a, *b)).map(|(line, ..)| *line).collect()
    };
    Some(Change {
        metric: metric.name,
        first: mean(&percent(&|(_, a, _)| *a)),
        second: mean(&percent(&|(_, _, b)| *b)),
        test: paired(percent(&|(_, a, b)| b - a)),
        n: scored.len(),
        better: lines(&|a, b| is_better(b, a)),
        worse: lines(&|a, b| is_better(a, b)),
    })
}

/// Formats the comparison as a table.
impl fmt::Display for RunComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "metric       first  second  change  95 % interval        p  better  worse")?;
        for change in &self.changes {
            let Paired { difference, interval: [low, high], p } = change.test;
            let interval = format!("{low:+.2} to {high:+.2}");
            writeln!(
                f,
                "{:<9} {:>8.2} {:>7.2} {difference:>+7.2}  {interval:<17} {p:>5.3} {:>7} {:>6}",
                change.metric,
                change.first,
                change.second,
                change.better.len(),
                change.worse.len()
            )?;
        }
        Ok(())
    }
}
