//! The numbers of a run: means with intervals, errors by class, scores by difficulty.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::benchmarks::overpassnl::ErrorClass;
use super::bootstrap::{intervals, mean};
use super::difficulty::{HARD_BY, Third, thirds};
use super::record::{Instance, Record};
use super::runs::About;

/// A metric: its name in files, its name in the papers, and where a record has it.
pub struct Metric {
    /// As in `results.jsonl`.
    pub name: &'static str,
    /// As in the papers.
    pub title: &'static str,
    /// The score, 0 to 1, of a record that has one.
    pub of: fn(&Record) -> Option<f64>,
}

/// The published metrics in the order of the paper's table, then the stricter ones.
pub const METRICS: [Metric; 9] = [
    Metric { name: "em", title: "EM", of: |r| Some(f64::from(r.similarity?.em)) },
    Metric { name: "chrf", title: "chrF", of: |r| Some(r.similarity?.chrf) },
    Metric { name: "kvs", title: "KVS", of: |r| Some(r.similarity?.kvs) },
    Metric { name: "trees", title: "TreeS", of: |r| Some(r.similarity?.trees) },
    Metric { name: "oqs", title: "OQS", of: |r| Some(r.similarity?.oqs) },
    Metric { name: "ex", title: "EX", of: |r| Some(f64::from(r.execution.as_ref()?.ex)) },
    Metric { name: "ex_soft", title: "EX_soft", of: |r| Some(r.execution.as_ref()?.ex_soft) },
    Metric { name: "multiset", title: "multiset", of: |r| Some(f64::from(r.execution.as_ref()?.multiset?)) },
    Metric { name: "f1", title: "row F1", of: |r| r.execution.as_ref()?.f1 },
];

/// The metric of a name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

/// The summary of a run, with what it depends on. Means are in per cent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// What was run.
    #[serde(flatten)]
    pub about: About,
    /// Instances.
    pub n: usize,
    /// The means of the metrics that were computed.
    #[serde(flatten)]
    pub scores: BTreeMap<&'static str, f64>,
    /// The 95 % bootstrap intervals of the means.
    pub intervals: BTreeMap<&'static str, [f64; 2]>,
    /// What running gave, where queries were run.
    #[serde(flatten)]
    pub execution: Option<ExecutionTotals>,
    /// Means by measure of difficulty and third.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub difficulty: BTreeMap<String, BTreeMap<&'static str, Part>>,
    /// Means over OverpassNL's hard instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard: Option<Part>,
}

/// How many queries of a run failed, gave nothing or were cut.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct ExecutionTotals {
    /// Predictions with an error, by class; classes without any are left out.
    pub errors: BTreeMap<ErrorClass, usize>,
    /// Gold queries with an error, by class: there should be none.
    pub ref_errors: BTreeMap<ErrorClass, usize>,
    /// Gold queries without results, where neither query had an error.
    pub ref_empty: usize,
    /// Predictions without results, where neither query had an error.
    pub pred_empty: usize,
    /// Instances whose results a limit cut: the stricter scores leave them out.
    pub limited: usize,
}

/// The means over some of the instances.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Part {
    /// How many they are.
    pub n: usize,
    /// The means in per cent.
    #[serde(flatten)]
    pub scores: BTreeMap<&'static str, f64>,
}

impl Part {
    fn of<'a>(records: impl Iterator<Item = &'a Record> + Clone) -> Part {
        Part { n: records.clone().count(), scores: scores(records) }
    }
}

/// The mean of every metric that at least one record has, over those that have it.
fn scores<'a>(records: impl Iterator<Item = &'a Record> + Clone) -> BTreeMap<&'static str, f64> {
    let mean_of = |metric: &Metric| {
        let values: Vec<f64> = records.clone().filter_map(metric.of).collect();
        (!values.is_empty()).then(|| (metric.name, 100.0 * mean(&values)))
    };
    METRICS.iter().filter_map(mean_of).collect()
}

impl Summary {
    /// The summary of a whole run; instances and records are in the order of their lines.
    pub fn of(about: About, instances: &[Instance], records: &[Record]) -> Summary {
        let columns = METRICS.iter().map(|metric| (metric.name, records.iter().filter_map(metric.of).collect()));
        let columns: Vec<(&str, Vec<f64>)> = columns.filter(|(_, values): &(_, Vec<f64>)| !values.is_empty()).collect();
        let mut bounds = BTreeMap::new();
        // Metrics that not every record has are drawn on their own.
        let lengths: BTreeSet<usize> = columns.iter().map(|(_, values)| values.len()).collect();
        for length in lengths {
            let (names, same): (Vec<&str>, Vec<Vec<f64>>) =
                columns.iter().filter(|(_, values)| values.len() == length).cloned().unzip();
            let percent = intervals(&same).into_iter().map(|bounds| bounds.map(|bound| 100.0 * bound));
            bounds.extend(names.into_iter().zip(percent));
        }
        let mut difficulty = BTreeMap::new();
        for (measure, third_of) in thirds(instances) {
            let part = |third: Third| {
                let within = records.iter().filter(|record| third_of.get(&record.line) == Some(&third));
                (third.name(), Part::of(within))
            };
            difficulty.insert(measure.to_owned(), Third::ALL.map(part).into());
        }
        let hard =
            difficulty.get(HARD_BY).and_then(|parts: &BTreeMap<&str, Part>| parts.get(Third::Hard.name())).cloned();
        Summary {
            about,
            n: records.len(),
            scores: scores(records.iter()),
            intervals: bounds,
            execution: execution_totals(records),
            difficulty,
            hard,
        }
    }
}

fn execution_totals(records: &[Record]) -> Option<ExecutionTotals> {
    let mut totals = ExecutionTotals::default();
    let mut any = false;
    for execution in records.iter().filter_map(|record| record.execution.as_ref()) {
        any = true;
        for (class, classes) in [(execution.error, &mut totals.errors), (execution.ref_error, &mut totals.ref_errors)] {
            if let Some(class) = class {
                *classes.entry(class).or_default() += 1;
            }
        }
        if execution.error.is_none() && execution.ref_error.is_none() {
            totals.ref_empty += usize::from(execution.ref_n == Some(0));
            totals.pred_empty += usize::from(execution.pred_n == Some(0));
        }
        totals.limited += usize::from(execution.limited);
    }
    any.then_some(totals)
}

/// For people: a line a number.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: &dyn fmt::Display| writeln!(f, "{name:<14} {value}");
        for metric in &METRICS {
            if let (Some(score), Some([low, high])) = (self.scores.get(metric.name), self.intervals.get(metric.name)) {
                line(metric.title, &format_args!("{score:.2}  ({low:.1} to {high:.1})"))?;
            }
        }
        if let Some(hard) = &self.hard {
            let scores: Vec<String> = ["oqs", "ex", "ex_soft"]
                .iter()
                .filter_map(|name| Some(format!("{} {:.2}", metric(name)?.title, hard.scores.get(name)?)))
                .collect();
            line("hard third", &scores.join(", "))?;
        }
        line("instances", &self.n)?;
        if let Some(totals) = &self.execution {
            for (name, classes) in [("errors", &totals.errors), ("gold errors", &totals.ref_errors)] {
                line(name, &classes.values().sum::<usize>())?;
                for (class, count) in classes {
                    line("", &format_args!("{count} {}", class.name()))?;
                }
            }
            line("empty", &totals.pred_empty)?;
            line("gold empty", &totals.ref_empty)?;
            line("cut by limits", &totals.limited)?;
        }
        if let Some(snapshot) = &self.about.snapshot {
            line("snapshot", snapshot)?;
        }
        line("engine", &self.about.engine)
    }
}
