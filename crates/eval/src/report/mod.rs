//! The report of a run: one self-contained page, and plots for papers.

mod order;
mod plots;
mod run_plots;
mod words;

pub use plots::plots;
pub use run_plots::{PlottedSystem, run_plots};

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::difficulty::{Tertile, tertiles};
use super::record::{Counterexample, Instance, MapPoints, StoredOutcome};
use super::summary::RunSummary;
use order::ordered;
pub(crate) use order::rank;
pub(crate) use words::words;

/// The style sheet of pages.
pub(crate) const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const PAGE: &str = include_str!("page.html");

/// An instance on the page.
#[derive(Serialize)]
struct ReportRow<'a> {
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nl: Option<&'a str>,
    gold: &'a str,
    pred: &'a str,
    /// In the order of the metrics.
    scores: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ref_n: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pred_n: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ref_error: Option<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    limited: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    extra: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<&'a Counterexample>,
    #[serde(skip_serializing_if = "Option::is_none")]
    complexity: Option<&'a str>,
    /// Its tertile by each measure of difficulty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tertiles: Vec<&'static str>,
    #[serde(skip_serializing_if = "MapPoints::is_empty")]
    map: &'a MapPoints,
}

#[derive(Serialize)]
struct ReportInputs<'a> {
    summary: &'a RunSummary,
    /// Name, title and meaning.
    metrics: Vec<[&'static str; 3]>,
    /// The error classes that occur, in words.
    words: BTreeMap<&'a str, &'a str>,
    measures: Vec<&'a str>,
    rows: Vec<ReportRow<'a>>,
}

/// Returns the page of a run: its instances, their outcomes and the summary.
pub fn html(instances: &[Instance], outcomes: &[StoredOutcome], summary: &RunSummary) -> String {
    let tertiles = tertiles(instances);
    let metrics = ordered();
    let rows = instances
        .iter()
        .zip(outcomes)
        .map(|(instance, outcome)| {
            let record = &outcome.record;
            let tertile = |of: &BTreeMap<usize, Tertile>| of.get(&record.line).map_or("", |tertile| tertile.name());
            let ran = record.ran().unwrap_or_default();
            let rounded = |score: f64| (score * 1e4).round() / 1e4;
            let scores = metrics.iter().map(|metric| metric.score(record).map(rounded));
            ReportRow {
                line: record.line,
                id: instance.id.as_deref(),
                nl: instance.nl.as_deref(),
                gold: &instance.gold,
                pred: &instance.pred,
                scores: scores.collect(),
                ref_n: ran.ref_n,
                pred_n: ran.pred_n,
                error: ran.error,
                error_text: ran.error_text,
                ref_error: ran.ref_error,
                limited: ran.limited,
                missing: ran.missing,
                extra: ran.extra,
                counterexample: record.counterexample.as_ref(),
                complexity: instance.complexity.as_deref(),
                tertiles: tertiles.values().map(tertile).collect(),
                map: &outcome.map,
            }
        })
        .collect();
    let of =
        |outcome: &'_ StoredOutcome| outcome.record.ran().map(|ran| [ran.error, ran.ref_error]).unwrap_or_default();
    let examples = outcomes.iter().filter_map(|outcome| outcome.record.counterexample.as_ref());
    let elsewhere = examples.filter_map(|example| example.error.as_deref());
    let classes: BTreeSet<&str> = outcomes.iter().flat_map(of).flatten().chain(elsewhere).collect();
    let data = ReportInputs {
        summary,
        metrics: metrics.iter().map(|metric| [metric.name, metric.title, metric.meaning]).collect(),
        words: classes.into_iter().map(|class| (class, words(class))).collect(),
        measures: tertiles.keys().copied().collect(),
        rows,
    };
    let plots: String = plots(summary).into_iter().map(|(_, plot)| plot).collect();
    // Within a script, only "<" could end it or begin a comment.
    let data = serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c");
    let title = html_escape::encode_text(summary.about.names.name.as_deref().unwrap_or("Scores")).into_owned();
    let parts = [
        ("{{title}}", title.as_str()),
        ("{{style}}", STYLE),
        ("{{heading}}", &title),
        ("{{plots}}", &plots),
        ("{{script}}", SCRIPT),
        ("{{data}}", &data),
    ];
    fill(PAGE, &parts)
}

/// Fills in the placeholders of a page.
pub(crate) fn fill(page: &str, parts: &[(&str, &str)]) -> String {
    // In one pass from the front, so that inserted text is not searched again.
    let (mut filled, mut rest) = (String::new(), page);
    for (mark, text) in parts {
        if let Some((before, after)) = rest.split_once(mark) {
            filled.push_str(before);
            filled.push_str(text);
            rest = after;
        }
    }
    filled + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::About;
    use crate::record::ResultRecord;

    #[test]
    fn queries_cannot_break_out_of_the_page() {
        let gold = "</script><script>alert(1)</script>{{data}}<!--".to_owned();
        let instance = Instance { line: 1, gold: gold.clone(), pred: gold, ..Instance::default() };
        let outcome = StoredOutcome { record: ResultRecord::of(&instance), ..StoredOutcome::default() };
        let summary =
            RunSummary::of(About::default(), std::slice::from_ref(&instance), std::slice::from_ref(&outcome.record));
        let page = html(&[instance], &[outcome], &summary);
        assert_eq!(page.matches("</script>").count(), 1);
        assert!(page.contains(r"\u003c/script>\u003cscript>alert(1)"));
        assert!(!page.contains("src=") && !page.contains("@import"), "the page needs nothing else");
    }
}
