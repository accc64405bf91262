//! The page that compares two runs: self-contained, without scripts.

use std::fmt::Write;

use html_escape::encode_text;

use super::{Change, EvalRun, RunComparison};
use crate::benchmarks::metric;
use crate::metric::Metric;
use crate::record::{Instance, StoredOutcome};
use crate::report::{STYLE, fill, rank, words};

const PAGE: &str = include_str!("page.html");

/// Returns the page of a comparison. It lists the instances with a change in the metric `by`.
pub fn comparison_html(first: &EvalRun, second: &EvalRun, comparison: &RunComparison, by: Option<&Change>) -> String {
    let mut table = String::new();
    let mut changes: Vec<&Change> = comparison.changes.iter().collect();
    changes.sort_by_key(|change| rank(change.metric));
    for change in changes {
        row(&mut table, change);
    }
    let mut lists = String::new();
    if let Some(change) = by {
        let title = metric(change.metric).map_or(change.metric, |metric| metric.title);
        for (what, lines) in [("Better", &change.better), ("Worse", &change.worse)] {
            let _ = writeln!(lists, "<h2>{what} by {}: {}</h2>", encode_text(title), lines.len());
            for line in lines {
                instance(&mut lists, *line, first, second);
            }
        }
    }
    let parts = [
        ("{{style}}", STYLE.to_owned()),
        ("{{first}}", described(first, "first run")),
        ("{{second}}", described(second, "second run")),
        ("{{table}}", table),
        ("{{lists}}", lists),
    ];
    fill(PAGE, &parts.each_ref().map(|(mark, text)| (*mark, text.as_str())))
}

/// Returns the name and description of a run.
fn described(run: &EvalRun, otherwise: &str) -> String {
    let names = &run.about.names;
    let name = names.name.as_deref().or(names.model.as_deref()).unwrap_or(otherwise);
    let model = names.model.as_deref().filter(|_| names.name.is_some());
    let facts = [model, names.dataset.as_deref(), Some(&run.about.benchmark), run.about.snapshot.as_deref()];
    let facts: Vec<&str> = facts.into_iter().flatten().collect();
    format!("<b>{}</b> {}", encode_text(name), encode_text(&facts.join(" · ")))
}

fn row(table: &mut String, change: &Change) {
    let (title, meaning) =
        metric(change.metric).map_or((change.metric, ""), |Metric { title, meaning, .. }| (*title, *meaning));
    let [low, high] = change.test.interval;
    // A lower score may be the better one.
    let sign = if metric(change.metric).is_some_and(|metric| metric.lower_is_better) { -1.0 } else { 1.0 };
    let sure = if sign * low > 0.0 && sign * high > 0.0 {
        "good"
    } else if sign * low < 0.0 && sign * high < 0.0 {
        "bad"
    } else {
        ""
    };
    let cells = [
        ("first", format!("{:.2}", change.first)),
        ("second", format!("{:.2}", change.second)),
        (
            "change",
            format!(
                "<span class=\"{sure}\">{:+.2}</span><small>{low:+.2} to {high:+.2}</small>",
                change.test.difference
            ),
        ),
        ("p", format!("{:.3}", change.test.p)),
        ("better", change.better.len().to_string()),
        ("worse", change.worse.len().to_string()),
    ];
    let meaning = html_escape::encode_double_quoted_attribute(meaning);
    let _ = write!(table, "<tr><td title=\"{meaning}\">{}</td>", encode_text(title));
    for (name, cell) in cells {
        let _ = write!(table, "<td data-title=\"{name}\">{cell}</td>");
    }
    table.push_str("</tr>\n");
}

fn instance(lists: &mut String, line: usize, first: &EvalRun, second: &EvalRun) {
    let of = |run: &'_ EvalRun| run.outcomes.iter().position(|outcome| outcome.record.line == line);
    let (Some(at), Some(there)) = (of(first), of(second)) else { return };
    let (Some(instance), Some(a)) = (first.instances.get(at), first.outcomes.get(at)) else { return };
    let (Some(b), Some(prediction)) = (second.outcomes.get(there), second.instances.get(there)) else { return };
    let name = instance.id.clone().unwrap_or_else(|| line.to_string());
    let what = instance.nl.as_deref().unwrap_or(&instance.gold);
    let _ = write!(
        lists,
        "<details id=\"line-{line}\"><summary>{} {}</summary>\n<h3>gold{}</h3><pre>{}</pre>\n<div class=\"pair\">",
        encode_text(&name),
        encode_text(what),
        encode_text(&number(a.record.ran().and_then(|ran| ran.ref_n))),
        encode_text(&instance.gold)
    );
    for (side, instance, outcome) in [("first", instance, a), ("second", prediction, b)] {
        side_of(lists, side, instance, outcome);
    }
    lists.push_str("</div></details>\n");
}

fn side_of(lists: &mut String, side: &str, instance: &Instance, outcome: &StoredOutcome) {
    let ran = outcome.record.ran().unwrap_or_default();
    let came = ran.error.map_or_else(|| number(ran.pred_n), |class| format!(": {}", words(class)));
    let _ = write!(lists, "<div><h3>{side}{}</h3><pre>{}</pre>", encode_text(&came), encode_text(&instance.pred));
    if let Some(said) = ran.error_text {
        let _ = write!(lists, "<p class=\"said\">{}</p>", encode_text(said));
    }
    lists.push_str("</div>");
}

fn number(results: Option<i64>) -> String {
    results.map_or_else(String::new, |n| format!(": {n} results"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::{About, RunNames};
    use crate::record::{ErrorClass, Execution, ResultRecord};
    use crate::runs::compare;

    fn run(name: &str, ex: [u8; 2]) -> EvalRun {
        let gold = "</pre><script>alert(1)</script>{{lists}}".to_owned();
        let instance = |line| Instance { line, gold: gold.clone(), pred: format!("<b>{name}"), ..Instance::default() };
        let outcome = |line, ex| {
            let error = (ex == 0).then_some(ErrorClass::Nominatim);
            let execution = Some(Execution { ex, error, ref_n: Some(3), ..Execution::default() });
            let record = ResultRecord { line, execution, ..ResultRecord::default() };
            StoredOutcome { record, ..StoredOutcome::default() }
        };
        let names = RunNames { name: Some(format!("<i>{name}")), ..RunNames::default() };
        EvalRun {
            about: About { names, ..About::default() },
            instances: vec![instance(1), instance(2)],
            outcomes: vec![outcome(1, ex[0]), outcome(2, ex[1])],
            places: Default::default(),
        }
    }

    #[test]
    fn what_changed_is_shown_and_nothing_breaks_out() {
        let (first, second) = (run("base", [0, 1]), run("tuned", [1, 1]));
        let comparison = compare(&first, &second).unwrap();
        let page = comparison_html(&first, &second, &comparison, comparison.changes.iter().find(|c| c.metric == "ex"));
        assert!(!page.contains("<script") && !page.contains("<i>base") && !page.contains("{{table}}"), "{page}");
        assert!(page.contains("Better by EX: 1") && page.contains("Worse by EX: 0"), "{page}");
        assert!(page.contains("id=\"line-1\"") && !page.contains("id=\"line-2\""));
        assert!(page.contains("first: place not found") && page.contains("gold: 3 results"));
        assert!(page.contains("1 where both queries give the same results"), "a metric says what it means");
    }
}
