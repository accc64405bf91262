//! A table of several runs over the same instances: one row per run, with the 95 % interval of every mean.
//!
//! Intervals come from a bootstrap over the instances with a fixed seed. Wilson's interval would only suit
//! proportions such as EX, not EX_soft, F1 or chrF. Since all runs use the same resamples, rows can be compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::EvalRun;
use super::costs::RunCosts;
use super::group::{groups, merged};
use super::row::{Cell, LeaderboardRow};
use crate::benchmarks;
use crate::bootstrap::mean;
use crate::error::RunError;
use crate::metric::Metric;
use crate::report::{PlottedSystem, STYLE, fill, run_plots};
use crate::summary::RunSummary;

const PAGE: &str = include_str!("board.html");

/// The format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaderboardFormat {
    /// A table in GitHub's Markdown.
    Markdown,
    /// A `tabular` with `booktabs` rules.
    Latex,
    /// A `table` without the surrounding page.
    Html,
}

/// A table of runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Leaderboard {
    /// The common properties of all runs.
    pub common: SharedRunProperties,
    /// The metrics by their names in files, in column order.
    pub metrics: Vec<&'static str>,
    /// The columns for costs.
    #[serde(skip)]
    pub costs: Vec<CostColumn>,
    /// The runs sorted by the first metric, best first; ties keep their order.
    pub rows: Vec<LeaderboardRow>,
    /// The systems of the rows, with their scores by the first metric.
    #[serde(skip)]
    pub systems: Vec<PlottedSystem>,
}

/// The properties that runs in one table must share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SharedRunProperties {
    /// The benchmark.
    pub benchmark: String,
    /// The snapshot's digest; for snapshots of the same content, that of the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The name and version of the engine.
    pub engine: String,
    /// The version of the metrics.
    pub metrics: u32,
    /// The number of instances.
    pub instances: usize,
}

/// A column for costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostColumn {
    /// Mean tokens in the prompts of a question.
    PromptTokens,
    /// Mean tokens in the replies of a question.
    ReplyTokens,
    /// Mean seconds of a question.
    Seconds,
    /// The price of all questions.
    Price,
}

impl CostColumn {
    fn title(self) -> &'static str {
        match self {
            CostColumn::PromptTokens => "tokens in",
            CostColumn::ReplyTokens => "tokens out",
            CostColumn::Seconds => "seconds",
            CostColumn::Price => "price",
        }
    }

    fn cell(self, costs: Option<&RunCosts>) -> Option<String> {
        let costs = costs?;
        // A lower bound is marked.
        let tokens = |tokens: f64| format!("{}{tokens:.0}", if costs.estimate { "\u{2265} " } else { "" });
        match self {
            CostColumn::PromptTokens => Some(tokens(costs.prompt_tokens)),
            CostColumn::ReplyTokens => Some(tokens(costs.reply_tokens)),
            CostColumn::Seconds => costs.seconds.map(|seconds| format!("{seconds:.1}")),
            CostColumn::Price => costs.price.map(|price| format!("{price:.4}")),
        }
    }
}

/// The rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaderboardRows {
    /// A row for each run.
    Runs,
    /// A row for each system: the runs with the same model, or, without a model, the same name.
    Systems,
}

/// Builds a table of runs by some or all metrics, with a row for each run.
///
/// # Errors
/// Returns the errors of [`leaderboard_of`].
pub fn leaderboard(
    runs: &[(String, EvalRun)],
    metrics: &[&'static Metric],
    costs: &[Option<RunCosts>],
) -> Result<Leaderboard, RunError> {
    leaderboard_of(LeaderboardRows::Runs, runs, metrics, costs)
}

/// Builds a table of runs by some or all metrics. Each run comes with a fallback name. With `costs`, one for each run,
/// the table has columns for them.
///
/// # Errors
/// Returns an error if the list of runs is empty, a metric occurs in no run, or the runs have different snapshots,
/// engines, benchmarks, versions of the metrics, or instances.
pub fn leaderboard_of(
    by: LeaderboardRows,
    runs: &[(String, EvalRun)],
    metrics: &[&'static Metric],
    costs: &[Option<RunCosts>],
) -> Result<Leaderboard, RunError> {
    let Some((first_name, first)) = runs.first() else {
        return Err(RunError::Unfit("there is no run".to_owned()));
    };
    for (name, run) in runs.iter().skip(1) {
        if let Some(difference) = difference(first, run) {
            let message = format!("{first_name} and {name} do not belong in one table: {difference}");
            return Err(RunError::Unfit(message));
        }
    }
    let summaries: Vec<(&String, RunSummary)> = runs.iter().map(|(name, run)| (name, run.summary())).collect();
    let has = |metric: &&'static Metric| summaries.iter().any(|(_, summary)| summary.scores.contains_key(metric.name));
    let columns: Vec<&Metric> = match metrics {
        [] => benchmarks::metrics().iter().copied().filter(has).collect(),
        named => match named.iter().find(|metric| !has(metric)) {
            Some(metric) => return Err(RunError::Unfit(format!("no run has the metric {}", metric.name))),
            None => named.to_vec(),
        },
    };
    let cost = |at: usize| costs.get(at).copied().flatten();
    let of_runs: Vec<LeaderboardRow> = (summaries.iter().enumerate())
        .map(|(at, (name, summary))| LeaderboardRow { costs: cost(at), ..row(name, summary, &columns) })
        .collect();
    let groups = match by {
        LeaderboardRows::Runs => (0..runs.len()).map(|at| vec![at]).collect(),
        LeaderboardRows::Systems => groups(runs.iter().map(|(_, run)| &run.about.names)),
    };
    let mut rows: Vec<(LeaderboardRow, PlottedSystem)> = Vec::new();
    for group in groups {
        let of_group: Vec<&LeaderboardRow> = group.iter().filter_map(|at| of_runs.get(*at)).collect();
        let row = match of_group.as_slice() {
            [one] => (*one).clone(),
            several => {
                let runs: Vec<&EvalRun> = group.iter().filter_map(|at| Some(&runs.get(*at)?.1)).collect();
                let names = runs.first().map(|run| run.about.names.clone()).unwrap_or_default();
                let name = names.model.or(names.name).unwrap_or_default();
                merged(several, &runs, &columns, name)
            }
        };
        let summaries: Vec<&RunSummary> = group.iter().filter_map(|at| Some(&summaries.get(*at)?.1)).collect();
        let system = columns.first().map(|metric| plotted(&row, metric.name, &summaries)).unwrap_or_default();
        rows.push((row, system));
    }
    if let Some(by) = columns.first() {
        let sign = if by.lower_is_better { -1.0 } else { 1.0 };
        let score = |row: &LeaderboardRow| row.scores.get(by.name).map_or(f64::NEG_INFINITY, |cell| sign * cell.mean);
        rows.sort_by(|(a, _), (b, _)| score(b).total_cmp(&score(a)));
    }
    let (rows, systems) = rows.into_iter().unzip();
    let common = SharedRunProperties {
        benchmark: first.about.benchmark.clone(),
        snapshot: first.about.snapshot.clone(),
        engine: first.about.engine.clone(),
        metrics: first.about.metrics,
        instances: first.instances.len(),
    };
    let costs = if costs.is_empty() {
        Vec::new()
    } else {
        let has_price = costs.iter().flatten().any(|costs| costs.price.is_some());
        let price = has_price.then_some(CostColumn::Price);
        [CostColumn::PromptTokens, CostColumn::ReplyTokens, CostColumn::Seconds].into_iter().chain(price).collect()
    };
    Ok(Leaderboard { common, metrics: columns.iter().map(|metric| metric.name).collect(), costs, rows, systems })
}

/// Returns why two runs do not belong in one table.
fn difference(one: &EvalRun, other: &EvalRun) -> Option<String> {
    let (a, b) = (&one.about, &other.about);
    let unlike = |what: &str, one: &str, other: &str| (one != other).then(|| format!("{what} {one} and {other}"));
    // Snapshots of the same content give the same answers in every format.
    let same_content = a.content.is_some() && a.content == b.content;
    // A run without a suite only lacks its score.
    let both_have_suites = !a.suite.is_empty() && !b.suite.is_empty();
    let dialect = |dialect: &Option<String>| dialect.clone().unwrap_or_else(|| "auto".to_owned());
    let digest = |digest: &Option<String>| digest.clone().unwrap_or_else(|| "none".to_owned());
    unlike("benchmarks", &a.benchmark, &b.benchmark)
        .or_else(|| unlike("snapshots", &digest(&a.snapshot), &digest(&b.snapshot)).filter(|_| !same_content))
        .or_else(|| unlike("engines", &a.engine, &b.engine))
        .or_else(|| unlike("suites", &a.suite.join(", "), &b.suite.join(", ")).filter(|_| both_have_suites))
        .or_else(|| unlike("dialects", &dialect(&a.dialect), &dialect(&b.dialect)))
        .or_else(|| unlike("versions of the metrics", &a.metrics.to_string(), &b.metrics.to_string()))
        .or_else(|| {
            let golds =
                |run: &'_ EvalRun| run.instances.iter().map(|i| (i.line, i.gold.clone())).collect::<BTreeMap<_, _>>();
            let (one, other) = (golds(one), golds(other));
            let line = one.iter().chain(&other).map(|(line, _)| line).find(|line| one.get(line) != other.get(line))?;
            Some(format!("the gold of line {line} differs, or one does not have it"))
        })
}

fn row(name: &str, summary: &RunSummary, metrics: &[&'static Metric]) -> LeaderboardRow {
    let names = &summary.about.names;
    let cell = |metric: &&'static Metric| {
        let mean = *summary.scores.get(metric.name)?;
        let interval = summary.intervals.get(metric.name).copied().unwrap_or([mean; 2]);
        let n = summary.counted.get(metric.name).copied().unwrap_or(summary.n);
        Some((metric.name, Cell { mean, interval, n, deviation: None }))
    };
    LeaderboardRow {
        name: names.name.clone().or_else(|| names.model.clone()).unwrap_or_else(|| name.to_owned()),
        runs: 1,
        scores: metrics.iter().filter_map(cell).collect(),
        costs: None,
    }
}

/// Returns a row's data for plots by one metric: means over the runs of the system.
fn plotted(row: &LeaderboardRow, metric: &str, summaries: &[&RunSummary]) -> PlottedSystem {
    let mut difficulty: BTreeMap<String, BTreeMap<&'static str, Vec<f64>>> = BTreeMap::new();
    let mut complexity: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for summary in summaries {
        for (measure, parts) in &summary.difficulty {
            for (tertile, part) in parts {
                let scores = difficulty.entry(measure.clone()).or_default().entry(tertile).or_default();
                scores.extend(part.scores.get(metric));
            }
        }
        for (class, part) in &summary.complexity {
            complexity.entry(class.clone()).or_default().extend(part.scores.get(metric));
        }
    }
    let average = |scores: Vec<f64>| (!scores.is_empty()).then(|| mean(&scores));
    let cell = row.scores.get(metric);
    PlottedSystem {
        name: row.name.clone(),
        parameters: summaries.iter().find_map(|summary| summary.about.names.parameters),
        mean: cell.map_or(0.0, |cell| cell.mean),
        deviation: cell.and_then(|cell| cell.deviation),
        difficulty: difficulty
            .into_iter()
            .map(|(measure, parts)| {
                let parts = parts.into_iter().filter_map(|(tertile, scores)| Some((tertile, average(scores)?)));
                (measure, parts.collect())
            })
            .collect(),
        complexity: complexity.into_iter().filter_map(|(class, scores)| Some((class, average(scores)?))).collect(),
    }
}

/// Formats a deviation behind its mean, with a sign between them.
fn deviation_text(cell: &Cell, sign: &str) -> String {
    cell.deviation.map_or_else(String::new, |deviation| format!(" {sign} {deviation:.2}"))
}

impl Leaderboard {
    /// Returns the plots of the systems by the first metric: file names and contents.
    pub fn plots(&self) -> Vec<(String, String)> {
        run_plots(&self.systems, self.titles().next().unwrap_or_default())
    }

    /// Returns a self-contained page with the table and the plots.
    pub fn page(&self) -> String {
        let plots: String = self.plots().into_iter().map(|(_, plot)| plot).collect();
        fill(PAGE, &[("{{style}}", STYLE), ("{{table}}", &self.html()), ("{{plots}}", &plots)])
    }

    /// Formats the table, with an explanation of its numbers below it.
    pub fn show(&self, format: LeaderboardFormat) -> String {
        match format {
            LeaderboardFormat::Markdown => self.markdown(),
            LeaderboardFormat::Latex => self.latex(),
            LeaderboardFormat::Html => self.html(),
        }
    }

    fn titles(&self) -> impl Iterator<Item = &'static str> {
        let titles = self.metrics.iter().map(|name| benchmarks::metric(name).map_or(*name, |metric| metric.title));
        titles.chain(self.costs.iter().map(|column| column.title()))
    }

    fn cost_cells<'a>(&'a self, row: &'a LeaderboardRow) -> impl Iterator<Item = Option<String>> + 'a {
        self.costs.iter().map(|column| column.cell(row.costs.as_ref()))
    }

    fn cells<'a>(&'a self, row: &'a LeaderboardRow) -> impl Iterator<Item = Option<&'a Cell>> {
        self.metrics.iter().map(|name| row.scores.get(name))
    }

    fn note(&self) -> String {
        let SharedRunProperties { benchmark, snapshot, engine, metrics, instances } = &self.common;
        let snapshot = snapshot.as_ref().map(|digest| format!(", snapshot {digest}")).unwrap_or_default();
        let several = self.rows.iter().map(|row| row.runs).max().unwrap_or(1);
        let groups = if several > 1 {
            format!(" ± is the standard deviation over the runs of a system, at most {several} here.")
        } else {
            String::new()
        };
        let costs = if self.costs.is_empty() { "" } else { " Tokens and seconds are means of a question." };
        format!(
            "Means in per cent with 95 % bootstrap intervals ({} resamples, fixed seed). Benchmark {benchmark}, {instances} \
             instances{snapshot}, engine {engine}, metrics {metrics}.{groups}{costs}",
            crate::bootstrap::RESAMPLES
        )
    }

    fn markdown(&self) -> String {
        let escape = |text: &str| text.replace('\\', "\\\\").replace('|', "\\|").replace(['\n', '\r'], " ");
        let mut text = "| run |".to_owned();
        self.titles().for_each(|title| text += &format!(" {} |", escape(title)));
        text.push_str("\n|---|");
        self.titles().for_each(|_| text.push_str("---:|"));
        text.push('\n');
        for row in &self.rows {
            let _ = write!(text, "| {} |", escape(&row.name));
            for cell in self.cells(row) {
                match cell {
                    Some(cell @ Cell { mean, interval: [low, high], .. }) => {
                        let deviation = deviation_text(cell, "±");
                        let _ = write!(text, " {mean:.2}{deviation} ({low:.1}–{high:.1}) |");
                    }
                    None => text.push_str(" – |"),
                }
            }
            for cell in self.cost_cells(row) {
                let _ = write!(text, " {} |", cell.as_deref().unwrap_or("–"));
            }
            text.push('\n');
        }
        let _ = write!(text, "\n{}\n", self.note());
        text
    }

    fn latex(&self) -> String {
        let mut text =
            format!("% {}\n\\begin{{tabular}}{{l{}}}\n\\toprule\nrun", self.note(), "r".repeat(self.titles().count()));
        self.titles().for_each(|title| text += &format!(" & {}", latex(title)));
        text.push_str(" \\\\\n\\midrule\n");
        for row in &self.rows {
            text.push_str(&latex(&row.name));
            for cell in self.cells(row) {
                match cell {
                    Some(cell @ Cell { mean, interval: [low, high], .. }) => {
                        let deviation = deviation_text(cell, "$\\pm$");
                        let _ = write!(text, " & {mean:.2}{deviation} {{\\scriptsize ({low:.1}--{high:.1})}}");
                    }
                    None => text.push_str(" & --"),
                }
            }
            for cell in self.cost_cells(row) {
                let cell = cell.map_or_else(|| "--".to_owned(), |cell| cell.replace('\u{2265}', "$\\geq$"));
                let _ = write!(text, " & {cell}");
            }
            text.push_str(" \\\\\n");
        }
        text.push_str("\\bottomrule\n\\end{tabular}\n");
        text
    }

    fn html(&self) -> String {
        let escape = |text: &str| html_escape::encode_text(text).into_owned();
        let mut text = format!("<table>\n<caption>{}</caption>\n<thead><tr><th>run</th>", escape(&self.note()));
        self.titles().for_each(|title| text += &format!("<th>{}</th>", escape(title)));
        text.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            let _ = write!(text, "<tr><td>{}</td>", escape(&row.name));
            for cell in self.cells(row) {
                match cell {
                    Some(cell @ Cell { mean, interval: [low, high], .. }) => {
                        let deviation = deviation_text(cell, "±");
                        let _ = write!(text, "<td>{mean:.2}{deviation} <small>({low:.1}–{high:.1})</small></td>");
                    }
                    None => text.push_str("<td>–</td>"),
                }
            }
            for cell in self.cost_cells(row) {
                let _ = write!(text, "<td>{}</td>", cell.as_deref().unwrap_or("–"));
            }
            text.push_str("</tr>\n");
        }
        text.push_str("</tbody>\n</table>\n");
        text
    }
}

/// Escapes the special characters of LaTeX.
fn latex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '\n' | '\r' => escaped.push(' '),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::about::{About, RunNames};
    use crate::record::{Execution, Instance, ResultRecord, StoredOutcome};

    fn run(name: Option<&str>, right: usize) -> EvalRun {
        let instances: Vec<Instance> =
            (1..=20).map(|line| Instance { line, gold: format!("{line}"), ..Instance::default() }).collect();
        let outcome = |instance: &Instance| {
            let execution = Execution { ex: u8::from(instance.line <= right), ..Execution::default() };
            let record = ResultRecord { execution: Some(execution), ..ResultRecord::of(instance) };
            StoredOutcome { record, ..StoredOutcome::default() }
        };
        let about = About {
            benchmark: "overpassnl".to_owned(),
            names: RunNames { name: name.map(str::to_owned), ..RunNames::default() },
            snapshot: Some("abc".to_owned()),
            engine: "terrapin 1".to_owned(),
            ..About::default()
        };
        let outcomes = instances.iter().map(outcome).collect();
        EvalRun { about, instances, outcomes, places: BTreeMap::new() }
    }

    #[test]
    fn the_best_stands_first() {
        let ex = benchmarks::metric("ex").unwrap();
        let runs = [("a".to_owned(), run(None, 5)), ("b".to_owned(), run(Some("A_b|c <x>"), 10))];
        let board = leaderboard(&runs, &[ex], &[]).unwrap();
        assert_eq!(board.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["A_b|c <x>", "a"]);
        let markdown = board.show(LeaderboardFormat::Markdown);
        assert!(markdown.starts_with("| run | EX |\n|---|---:|\n| A_b\\|c <x> | 50.00 ("), "{markdown}");
        assert!(board.show(LeaderboardFormat::Latex).contains("A\\_b|c <x> & 50.00 {\\scriptsize ("));
        assert!(board.show(LeaderboardFormat::Html).contains("<tr><td>A_b|c &lt;x&gt;</td><td>50.00 <small>("));
        assert_eq!(leaderboard(&runs, &[ex], &[]).unwrap(), board, "the same again");
        // Costs follow their run.
        let costs =
            RunCosts { prompt_tokens: 1234.4, reply_tokens: 40.0, estimate: false, seconds: None, price: Some(0.5) };
        let board = leaderboard(&runs, &[ex], &[Some(costs), None]).unwrap();
        let markdown = board.show(LeaderboardFormat::Markdown);
        assert!(
            markdown.starts_with("| run | EX | tokens in | tokens out | seconds | price |\n|---|---:|---:|"),
            "{markdown}"
        );
        assert!(
            markdown.contains(") | – | – | – | – |\n| a | ") && markdown.contains(") | 1234 | 40 | – | 0.5000 |\n")
        );
        assert!(board.show(LeaderboardFormat::Latex).contains("\\begin{tabular}{lrrrrr}"));
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let refused = |change: &dyn Fn(&mut EvalRun)| {
            let mut other = run(None, 1);
            change(&mut other);
            leaderboard(&[("a".to_owned(), run(None, 1)), ("b".to_owned(), other)], &[], &[]).map_err(|e| e.to_string())
        };
        assert!(refused(&|_| ()).is_ok());
        for (says, change) in [
            (
                "snapshots abc and x",
                (&|run: &mut EvalRun| run.about.snapshot = Some("x".to_owned())) as &dyn Fn(&mut EvalRun),
            ),
            ("engines", &|run| run.about.engine = "terrapin 2".to_owned()),
            ("benchmarks", &|run| run.about.benchmark = "jsonl".to_owned()),
            ("versions of the metrics 1 and 2", &|run| run.about.metrics = 2),
            ("the gold of line 3 differs", &|run| run.instances[2].gold = "x".to_owned()),
        ] {
            assert!(refused(change).is_err_and(|e| e.contains(says)), "{says}");
        }
        assert!(leaderboard(&[], &[], &[]).is_err());
        let kvs = benchmarks::metric("kvs").unwrap();
        assert!(leaderboard(&[("a".to_owned(), run(None, 1))], &[kvs], &[]).is_err());
    }
}
