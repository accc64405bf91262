//! The numbers of a run: means with intervals, errors by class, scores by difficulty.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::about::About;
use super::bootstrap::{intervals, mean};
use super::difficulty::{HARD_BY, Tertile, tertiles};
use super::record::{Compat, ErrorClass, FailureClass, Instance, Record};

/// A metric: its name in files, its name in the papers, and where a record has it.
pub struct Metric {
    /// As in `results.jsonl`.
    pub name: &'static str,
    /// As in the papers.
    pub title: &'static str,
    /// The score, 0 to 1, of a record that has one.
    pub of: fn(&Record) -> Option<f64>,
}

/// The published metrics in the order of the paper's table, then the stricter ones; then those of SPARQL, whose names
/// say to which set they belong.
pub const METRICS: [Metric; 22] = [
    Metric { name: "em", title: "EM", of: |r| Some(f64::from(r.similarity?.em)) },
    Metric { name: "chrf", title: "chrF", of: |r| Some(r.similarity?.chrf) },
    Metric { name: "kvs", title: "KVS", of: |r| Some(r.similarity?.kvs) },
    Metric { name: "trees", title: "TreeS", of: |r| Some(r.similarity?.trees) },
    Metric { name: "oqs", title: "OQS", of: |r| Some(r.similarity?.oqs) },
    Metric { name: "ex", title: "EX", of: |r| Some(f64::from(r.execution.as_ref()?.ex)) },
    Metric { name: "ex_soft", title: "EX_soft", of: |r| Some(r.execution.as_ref()?.ex_soft) },
    Metric { name: "multiset", title: "multiset", of: |r| Some(f64::from(r.execution.as_ref()?.multiset?)) },
    Metric { name: "f1", title: "row F1", of: |r| r.execution.as_ref()?.f1 },
    Metric { name: "compat.em", title: "compat EM", of: |r| compat(r, |c| Some(f64::from(c.em))) },
    Metric { name: "compat.codebleu", title: "compat CodeBLEU", of: |r| compat(r, |c| Some(c.codebleu)) },
    Metric { name: "compat.syntax", title: "compat Syntax", of: |r| compat(r, |c| c.syntax.map(f64::from)) },
    Metric { name: "compat.overlap", title: "compat Overlap", of: |r| compat(r, |c| c.overlap) },
    Metric { name: "compat.jaccard", title: "compat Jaccard", of: |r| compat(r, |c| c.jaccard) },
    Metric { name: "compat.dice", title: "compat Dice", of: |r| compat(r, |c| c.dice) },
    Metric { name: "strict.syntax", title: "strict Syntax", of: |r| Some(f64::from(r.strict.as_ref()?.syntax)) },
    Metric { name: "strict.overlap", title: "strict Overlap", of: |r| Some(r.strict.as_ref()?.overlap) },
    Metric { name: "strict.jaccard", title: "strict Jaccard", of: |r| Some(r.strict.as_ref()?.jaccard) },
    Metric { name: "strict.dice", title: "strict Dice", of: |r| Some(r.strict.as_ref()?.dice) },
    Metric { name: "strict.multiset", title: "strict multiset", of: |r| Some(f64::from(r.strict.as_ref()?.multiset?)) },
    Metric { name: "strict.ordered", title: "strict ordered", of: |r| Some(f64::from(r.strict.as_ref()?.ordered?)) },
    Metric { name: "strict.f1", title: "strict row F1", of: |r| r.strict.as_ref()?.f1 },
];

/// A score of the published code, where it counts the instance.
fn compat(record: &Record, score: fn(&Compat) -> Option<f64>) -> Option<f64> {
    record.compat.as_ref()?.counted(score)
}

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
    /// Over how many instances a mean is that not every instance has a score for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counted: BTreeMap<&'static str, usize>,
    /// The 95 % bootstrap intervals of the means.
    pub intervals: BTreeMap<&'static str, [f64; 2]>,
    /// What running gave, where queries were run.
    #[serde(flatten)]
    pub execution: Option<ExecutionTotals>,
    /// What running gave, where queries were SPARQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparql: Option<SparqlTotals>,
    /// Means by measure of difficulty and tertile.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub difficulty: BTreeMap<String, BTreeMap<&'static str, Part>>,
    /// Means by the class of complexity that the benchmark gives.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub complexity: BTreeMap<String, Part>,
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

/// How many SPARQL queries of a run failed, gave nothing or were cut.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct SparqlTotals {
    /// Predictions without an answer, by class; classes without any are left out.
    pub errors: BTreeMap<FailureClass, usize>,
    /// Gold queries without an answer, by class: there should be none.
    pub ref_errors: BTreeMap<FailureClass, usize>,
    /// Gold queries whose answer is empty.
    pub ref_empty: usize,
    /// Predictions whose answer is empty.
    pub pred_empty: usize,
    /// Instances whose answers a limit cut: the stricter scores leave them out.
    pub limited: usize,
    /// Instances that the published code leaves out of every mean, and so do the `compat` scores.
    pub dropped: usize,
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
        for (measure, tertile_of) in tertiles(instances) {
            let part = |tertile: Tertile| {
                let within = records.iter().filter(|record| tertile_of.get(&record.line) == Some(&tertile));
                (tertile.name(), Part::of(within))
            };
            difficulty.insert(measure.to_owned(), Tertile::ALL.map(part).into());
        }
        let mut classes: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
        for instance in instances {
            if let Some(class) = &instance.complexity {
                classes.entry(class).or_default().insert(instance.line);
            }
        }
        let of_class = |(class, lines): (&str, BTreeSet<usize>)| {
            (class.to_owned(), Part::of(records.iter().filter(|record| lines.contains(&record.line))))
        };
        let hard =
            difficulty.get(HARD_BY).and_then(|parts: &BTreeMap<&str, Part>| parts.get(Tertile::Hard.name())).cloned();
        let counted = columns.iter().map(|(name, values)| (*name, values.len()));
        Summary {
            about,
            n: records.len(),
            scores: scores(records.iter()),
            counted: counted.filter(|(_, count)| *count != records.len()).collect(),
            intervals: bounds,
            execution: execution_totals(records),
            sparql: sparql_totals(records),
            difficulty,
            complexity: classes.into_iter().map(of_class).collect(),
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

fn sparql_totals(records: &[Record]) -> Option<SparqlTotals> {
    let mut totals = SparqlTotals::default();
    let mut any = false;
    for record in records {
        totals.dropped += usize::from(record.compat.as_ref().is_some_and(|compat| compat.dropped.is_some()));
        let Some(strict) = &record.strict else { continue };
        any = true;
        for (class, classes) in [(strict.error, &mut totals.errors), (strict.ref_error, &mut totals.ref_errors)] {
            if let Some(class) = class {
                *classes.entry(class).or_default() += 1;
            }
        }
        totals.ref_empty += usize::from(strict.ref_n == Some(0));
        totals.pred_empty += usize::from(strict.pred_n == Some(0));
        totals.limited += usize::from(strict.limited);
    }
    any.then_some(totals)
}

/// For people: a line a number.
impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: &dyn fmt::Display| writeln!(f, "{name:<14} {value}");
        for metric in &METRICS {
            if let (Some(score), Some([low, high])) = (self.scores.get(metric.name), self.intervals.get(metric.name)) {
                let of = self.counted.get(metric.name).map_or_else(String::new, |count| format!(" of {count}"));
                line(metric.title, &format_args!("{score:.2}  ({low:.1} to {high:.1}){of}"))?;
            }
        }
        if let Some(hard) = &self.hard {
            let scores: Vec<String> = ["oqs", "ex", "ex_soft"]
                .iter()
                .filter_map(|name| Some(format!("{} {:.2}", metric(name)?.title, hard.scores.get(name)?)))
                .collect();
            line("hard tertile", &scores.join(", "))?;
        }
        for (class, part) in &self.complexity {
            let score = |metric: &Metric| Some(format!("{} {:.2}", metric.title, part.scores.get(metric.name)?));
            line(
                class,
                &format_args!("{} of {}", METRICS.iter().filter_map(score).collect::<Vec<_>>().join(", "), part.n),
            )?;
        }
        line("instances", &self.n)?;
        let mut counts = |classes: [Vec<(&str, usize)>; 2], counts: [usize; 3]| {
            for (name, classes) in ["errors", "gold errors"].into_iter().zip(classes) {
                line(name, &classes.iter().map(|(_, count)| count).sum::<usize>())?;
                for (class, count) in classes {
                    line("", &format_args!("{count} {class}"))?;
                }
            }
            ["empty", "gold empty", "cut by limits"].iter().zip(counts).try_for_each(|(name, count)| line(name, &count))
        };
        if let Some(t) = &self.execution {
            let named = |classes: &BTreeMap<ErrorClass, usize>| classes.iter().map(|(c, n)| (c.name(), *n)).collect();
            counts([named(&t.errors), named(&t.ref_errors)], [t.pred_empty, t.ref_empty, t.limited])?;
        }
        if let Some(t) = &self.sparql {
            let named = |classes: &BTreeMap<FailureClass, usize>| classes.iter().map(|(c, n)| (c.name(), *n)).collect();
            counts([named(&t.errors), named(&t.ref_errors)], [t.pred_empty, t.ref_empty, t.limited])?;
            line("compat drops", &t.dropped)?;
        }
        if let Some(snapshot) = &self.about.snapshot {
            line("snapshot", snapshot)?;
        }
        line("engine", &self.about.engine)
    }
}
