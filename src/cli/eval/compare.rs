//! `terrapin eval compare`: compares two runs.

use std::fmt::Write;
use std::path::PathBuf;

use super::super::{CommandError, stdout};
use super::{read_run, unusable, unwritten};
use crate::eval::files;
use crate::eval::record::{Ran, ResultRecord};
use crate::eval::runs::{self, EvalRun};

/// Compare two runs over the same instances
///
/// Prints for each metric both means, the difference with its 95 % bootstrap interval, the two-sided p-value of a
/// paired bootstrap test, and the numbers of instances on which the second run is better and worse. Then lists the
/// instances that changed in one metric.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval compare run-base run-tuned
  terrapin eval compare run-base run-tuned --html compared.html
  terrapin eval compare run-base run-tuned --json | jq '.changes[] | {metric, difference, p}'")]
pub struct EvalCompareArgs {
    /// The folder of the first run
    first: PathBuf,
    /// The folder of the second run
    second: PathBuf,
    /// Metric for the list of changed instances [default: ex, or oqs if no query ran]
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Maximum number of instances listed on each side
    #[arg(long, value_name = "N", default_value_t = 10)]
    list: usize,
    /// Write an HTML page with all of it, and both predictions of each changed instance next to each other
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &EvalCompareArgs) -> Result<(), CommandError> {
    let (first, second) = (read_run(&args.first)?, read_run(&args.second)?);
    let comparison = runs::compare(&first, &second).map_err(unusable)?;
    let change = match args.by.as_deref() {
        Some(name) => Some(comparison.changes.iter().find(|change| change.metric == name).ok_or_else(|| {
            let known: Vec<&str> = comparison.changes.iter().map(|change| change.metric).collect();
            CommandError::usage(format!("--by {name}: the runs have {}", known.join(", ")))
        })?),
        None => ["ex", "oqs"].iter().find_map(|name| comparison.changes.iter().find(|c| c.metric == *name)),
    };
    if let Some(path) = &args.html {
        let page = runs::comparison_html(&first, &second, &comparison, change);
        files::write_text(path, &page).map_err(unwritten)?;
    }
    if args.json {
        return stdout::print_json(&comparison);
    }
    let mut text = comparison.to_string();
    if let Some(change) = change {
        for (what, lines) in [("better", &change.better), ("worse", &change.worse)] {
            let _ = writeln!(text, "\n{what} by {}: {}", change.metric, lines.len());
            for line in lines.iter().take(args.list) {
                write_pair(&mut text, *line, &first, &second);
            }
        }
    }
    stdout::print(&text)
}

fn write_pair(text: &mut String, line: usize, first: &EvalRun, second: &EvalRun) {
    let record = |run: &'_ EvalRun| run.outcomes.iter().map(|o| &o.record).find(|record| record.line == line).cloned();
    let (Some(first), Some(second)) = (record(first), record(second)) else { return };
    let name = first.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
    let gold = first.ran().and_then(|ran| ran.ref_n).map_or_else(String::new, |n| format!("  -> {n}"));
    let _ = writeln!(text, "  line {line}{name}\n    gold    {}{gold}", first.gold);
    for (side, record) in [("first ", &first), ("second", &second)] {
        let _ = writeln!(text, "    {side}  {}{}", record.pred, outcome(record));
    }
}

fn outcome(record: &ResultRecord) -> String {
    match record.ran() {
        Some(Ran { error: Some(error), .. }) => format!("  -> {error}"),
        Some(Ran { pred_n: Some(n), .. }) => format!("  -> {n}"),
        _ => String::new(),
    }
}
