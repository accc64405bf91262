//! The summary of a run: means with intervals, errors by class, scores by difficulty.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::Serialize;

use super::about::About;
use super::benchmarks::{benchmark, metric, metrics, suite};
use super::bootstrap::{intervals, mean};
use super::difficulty::{HARD_BY, Tertile, tertiles};
use super::metric::Metric;
use super::record::{
    ErrorClass, Execution, FailureClass, FailureKind, Instance, Ran, ResultRecord, StrictResults, published_error,
};

/// The summary of a run, with its identity. Means are in per cent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSummary {
    /// The identity of the run.
    #[serde(flatten)]
    pub about: About,
    /// The number of instances.
    pub n: usize,
    /// The number of predictions that do not begin like a query of their language, if any.
    #[serde(skip_serializing_if = "is_none")]
    pub not_queries: usize,
    /// The number of predictions with an identifier that the snapshot lacks, if any.
    #[serde(skip_serializing_if = "is_none")]
    pub with_unknown: usize,
    /// The number of gold queries with results, if queries ran. The others carry no signal about a prediction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usable: Option<usize>,
    /// The number of gold queries that ran: none does for a prediction that is no query.
    #[serde(skip)]
    pub golds_run: usize,
    /// The means of the computed metrics.
    #[serde(flatten)]
    pub scores: BTreeMap<&'static str, f64>,
    /// The corpus metrics, which are not means.
    #[serde(flatten)]
    pub corpus: BTreeMap<&'static str, f64>,
    /// The number of instances of a mean, if not all have a score.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counted: BTreeMap<&'static str, usize>,
    /// The 95 % bootstrap intervals of the means.
    pub intervals: BTreeMap<&'static str, [f64; 2]>,
    /// The totals of the execution, if queries ran.
    #[serde(flatten)]
    pub execution: Option<Totals<ErrorClass>>,
    /// The totals of the execution, if queries are SPARQL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparql: Option<SparqlTotals>,
    /// The failed SPARQL predictions by the classes of Instruct-to-SPARQL's table 1.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub published_errors: BTreeMap<&'static str, usize>,
    /// The totals of a suite of snapshots, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suite_totals: Option<SuiteTotals>,
    /// Means by measure of difficulty and tertile.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub difficulty: BTreeMap<String, BTreeMap<&'static str, PartialMeans>>,
    /// Means by the benchmark's class of complexity.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub complexity: BTreeMap<String, PartialMeans>,
    /// Means over OverpassNL's hard instances.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard: Option<PartialMeans>,
}

/// The fields added since summaries are verified: an older file without them is valid.
pub const ADDED: &[&str] = &["not_queries", "with_unknown", "usable", "published_errors"];

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// The numbers of failed, empty and cut queries of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Totals<C> {
    /// The failed predictions by class; classes without any are left out.
    pub errors: BTreeMap<C, usize>,
    /// The failed gold queries by class; there should be none.
    pub ref_errors: BTreeMap<C, usize>,
    /// Gold queries without results.
    pub ref_empty: usize,
    /// Predictions without results.
    pub pred_empty: usize,
    /// Number of instances with results cut by a limit; the stricter scores skip them.
    pub limited: usize,
}

/// The same for SPARQL, with the numbers of its published code.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SparqlTotals {
    /// The totals of the execution.
    #[serde(flatten)]
    pub totals: Totals<FailureClass>,
    /// The instances that the published code, and therefore the `compat` scores, skip.
    pub dropped: usize,
}

/// The numbers of right pairs in a suite of snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuiteTotals {
    /// The number of snapshots after the first one.
    pub snapshots: usize,
    /// Pairs that are right on the first snapshot.
    pub right: usize,
    /// Those that differ on another one.
    pub refuted: usize,
    /// The same by the snapshot of the counterexample.
    pub by: BTreeMap<String, usize>,
}

impl SuiteTotals {
    /// Counts the records; `None` without a suite.
    fn of(snapshots: usize, records: &[ResultRecord]) -> Option<SuiteTotals> {
        if snapshots == 0 {
            return None;
        }
        let mut totals = SuiteTotals { snapshots, right: 0, refuted: 0, by: BTreeMap::new() };
        for record in records.iter().filter(|record| suite::is_right(record) == Some(true)) {
            totals.right += 1;
            if let Some(counterexample) = &record.counterexample {
                totals.refuted += 1;
                *totals.by.entry(counterexample.name.clone()).or_default() += 1;
            }
        }
        Some(totals)
    }
}

/// The means over a part of the instances.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartialMeans {
    /// The number of instances.
    pub n: usize,
    /// The means in per cent.
    #[serde(flatten)]
    pub scores: BTreeMap<&'static str, f64>,
}

impl PartialMeans {
    fn of<'a>(records: impl Iterator<Item = &'a ResultRecord> + Clone) -> PartialMeans {
        PartialMeans { n: records.clone().count(), scores: scores(records) }
    }
}

/// Returns the mean of every metric over the records that have it.
fn scores<'a>(records: impl Iterator<Item = &'a ResultRecord> + Clone) -> BTreeMap<&'static str, f64> {
    let mean_of = |metric: &Metric| {
        let values: Vec<f64> = records.clone().filter_map(|record| metric.score(record)).collect();
        (!values.is_empty()).then(|| (metric.name, 100.0 * mean(&values)))
    };
    metrics().iter().copied().filter_map(mean_of).collect()
}

impl RunSummary {
    /// Returns the summary of a whole run; instances and records are in the order of their lines.
    pub fn of(about: About, instances: &[Instance], records: &[ResultRecord]) -> RunSummary {
        let values = |metric: &Metric| records.iter().filter_map(|record| metric.score(record)).collect();
        let columns = metrics().iter().map(|metric| (metric.name, values(metric)));
        let columns: Vec<(&str, Vec<f64>)> = columns.filter(|(_, values): &(_, Vec<f64>)| !values.is_empty()).collect();
        let mut bounds = BTreeMap::new();
        // Metrics that some records lack are resampled separately.
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
                (tertile.name(), PartialMeans::of(within))
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
            (class.to_owned(), PartialMeans::of(records.iter().filter(|record| lines.contains(&record.line))))
        };
        let hard = difficulty
            .get(HARD_BY)
            .and_then(|parts: &BTreeMap<&str, PartialMeans>| parts.get(Tertile::Hard.name()))
            .cloned();
        let counted = columns.iter().map(|(name, values)| (*name, values.len()));
        let corpus = benchmark(&about.benchmark).map(|benchmark| (benchmark.corpus)(instances, records));
        RunSummary {
            corpus: corpus.unwrap_or_default().into_iter().collect(),
            n: records.len(),
            not_queries: instances.iter().filter(|instance| !instance.pred_looks_like_query()).count(),
            with_unknown: records.iter().filter(|record| record.unknown_identifiers.is_some()).count(),
            usable: usable(records),
            golds_run: records.iter().filter_map(ResultRecord::ran).filter(|ran| ran.ref_n.is_some()).count(),
            scores: scores(records.iter()),
            counted: counted.filter(|(_, count)| *count != records.len()).collect(),
            intervals: bounds,
            published_errors: published_errors(records),
            suite_totals: SuiteTotals::of(about.suite.len(), records),
            execution: execution_totals(records),
            sparql: sparql_totals(records),
            difficulty,
            complexity: classes.into_iter().map(of_class).collect(),
            hard,
            about,
        }
    }
}

impl<C: FailureKind> Totals<C> {
    /// Sums the results and the failure classes of prediction and gold. `None` if no query ran.
    fn of<'a>(parts: impl Iterator<Item = (Ran<'a>, [Option<C>; 2])>) -> Option<Totals<C>> {
        let mut parts = parts.peekable();
        parts.peek()?;
        let (errors, ref_errors) = Default::default();
        let mut totals = Totals { errors, ref_errors, ref_empty: 0, pred_empty: 0, limited: 0 };
        for (ran, [error, ref_error]) in parts {
            for (class, classes) in [(error, &mut totals.errors), (ref_error, &mut totals.ref_errors)] {
                if let Some(class) = class {
                    *classes.entry(class).or_default() += 1;
                }
            }
            totals.ref_empty += usize::from(ran.ref_n == Some(0));
            totals.pred_empty += usize::from(ran.pred_n == Some(0));
            totals.limited += usize::from(ran.limited);
        }
        Some(totals)
    }

    /// Returns the number of failed predictions by class name.
    fn errors_by_name(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.errors.iter().map(|(class, count)| (class.name(), *count))
    }

    /// Formats one number per line.
    fn show(&self, line: &mut dyn FnMut(&str, &dyn fmt::Display) -> fmt::Result) -> fmt::Result {
        for (name, classes) in [("errors", &self.errors), ("gold errors", &self.ref_errors)] {
            line(name, &classes.values().sum::<usize>())?;
            for (class, count) in classes {
                line("", &format_args!("{count} {}", class.name()))?;
            }
        }
        line("empty", &self.pred_empty)?;
        line("gold empty", &self.ref_empty)?;
        line("cut by limits", &self.limited)
    }
}

fn execution_totals(records: &[ResultRecord]) -> Option<Totals<ErrorClass>> {
    fn part(execution: &Execution) -> (Ran<'_>, [Option<ErrorClass>; 2]) {
        let (mut ran, errors) = (execution.ran(), [execution.error, execution.ref_error]);
        // The published totals do not count empty results next to an error.
        if errors.iter().any(Option::is_some) {
            (ran.ref_n, ran.pred_n) = (None, None);
        }
        (ran, errors)
    }
    Totals::of(records.iter().filter_map(|record| record.execution.as_ref()).map(part))
}

fn sparql_totals(records: &[ResultRecord]) -> Option<SparqlTotals> {
    fn part(strict: &StrictResults) -> (Ran<'_>, [Option<FailureClass>; 2]) {
        (strict.ran(), [strict.error, strict.ref_error])
    }
    let totals = Totals::of(records.iter().filter_map(|record| record.strict.as_ref()).map(part))?;
    let is_dropped = |record: &&ResultRecord| record.compat.as_ref().is_some_and(|compat| compat.dropped.is_some());
    Some(SparqlTotals { totals, dropped: records.iter().filter(is_dropped).count() })
}

fn published_errors(records: &[ResultRecord]) -> BTreeMap<&'static str, usize> {
    let mut classes = BTreeMap::new();
    for record in records {
        let class = record.strict.as_ref().and_then(|strict| published_error(strict, &record.pred));
        if let Some(class) = class {
            *classes.entry(class).or_default() += 1;
        }
    }
    classes
}

/// Returns the number of gold queries with results; `None` if none ran.
fn usable(records: &[ResultRecord]) -> Option<usize> {
    let mut ran = records.iter().filter_map(ResultRecord::ran).peekable();
    ran.peek()?;
    Some(ran.filter(Ran::has_signal).count())
}

impl RunSummary {
    /// Returns the number of gold queries with results, and of those that ran, if there are too few for meaningful
    /// scores.
    pub fn few_usable(&self) -> Option<(usize, usize)> {
        self.usable.filter(|usable| 2 * usable < self.golds_run).map(|usable| (usable, self.golds_run))
    }

    /// Returns the number of failed predictions by class name.
    pub fn errors(&self) -> Vec<(&'static str, usize)> {
        let overpass = self.execution.iter().flat_map(Totals::errors_by_name);
        overpass.chain(self.sparql.iter().flat_map(|sparql| sparql.totals.errors_by_name())).collect()
    }
}

/// Formats one number per line.
impl fmt::Display for RunSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line = |name: &str, value: &dyn fmt::Display| writeln!(f, "{name:<14} {value}");
        if let Some((usable, all)) = self.few_usable() {
            let text =
                format!("only {usable} of {all} gold queries give something on this snapshot: the scores say little");
            line("warning", &text)?;
        }
        for metric in metrics() {
            if let (Some(score), Some([low, high])) = (self.scores.get(metric.name), self.intervals.get(metric.name)) {
                let of = self.counted.get(metric.name).map_or_else(String::new, |count| format!(" of {count}"));
                line(metric.title, &format_args!("{score:.2}  ({low:.1} to {high:.1}){of}"))?;
            }
        }
        for (name, value) in &self.corpus {
            line(name, &format_args!("{value:.2}"))?;
        }
        if let Some(hard) = &self.hard {
            let scores: Vec<String> = ["oqs", "ex", "ex_soft"]
                .iter()
                .filter_map(|name| Some(format!("{} {:.2}", metric(name)?.title, hard.scores.get(name)?)))
                .collect();
            line("hard tertile", &scores.join(", "))?;
        }
        for (class, part) in &self.complexity {
            let score = |metric: &&Metric| Some(format!("{} {:.2}", metric.title, part.scores.get(metric.name)?));
            line(
                class,
                &format_args!("{} of {}", metrics().iter().filter_map(score).collect::<Vec<_>>().join(", "), part.n),
            )?;
        }
        line("instances", &self.n)?;
        if let Some(usable) = self.usable {
            line("usable golds", &usable)?;
        }
        if self.not_queries > 0 {
            let (predictions, verb) = counted(self.not_queries, "do", "does");
            line("not queries", &format_args!("{predictions} {verb} not look like one"))?;
        }
        if self.with_unknown > 0 {
            let (predictions, verb) = counted(self.with_unknown, "have", "has");
            line("unknown names", &format_args!("{predictions} {verb} some"))?;
        }
        if let Some(totals) = &self.execution {
            totals.show(&mut line)?;
        }
        if let Some(SparqlTotals { totals, dropped }) = &self.sparql {
            totals.show(&mut line)?;
            line("compat drops", dropped)?;
        }
        for (class, count) in &self.published_errors {
            line("table 1", &format_args!("{count} {class}"))?;
        }
        if let Some(SuiteTotals { snapshots, right, refuted, by }) = &self.suite_totals {
            line(
                "suite",
                &format_args!("{refuted} of {right} right pairs differ on one of {snapshots} more snapshots"),
            )?;
            for (name, count) in by {
                line("", &format_args!("{count} {name}"))?;
            }
        }
        if let Some(snapshot) = &self.about.snapshot {
            line("snapshot", snapshot)?;
        }
        line("engine", &self.about.engine)
    }
}

/// Returns a number of predictions, and the form of the verb after it.
fn counted<'v>(number: usize, plural: &'v str, singular: &'v str) -> (String, &'v str) {
    match number {
        1 => ("1 prediction".to_owned(), singular),
        _ => (format!("{number} predictions"), plural),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_prediction_is_no_plural() {
        assert_eq!(counted(1, "have", "has"), ("1 prediction".to_owned(), "has"));
        assert_eq!(counted(0, "have", "has"), ("0 predictions".to_owned(), "have"));
        assert_eq!(counted(2, "do", "does"), ("2 predictions".to_owned(), "do"));
    }
}
