//! `terrapin leaderboard`: a table of runs.

use std::path::PathBuf;

use super::eval::{read_run, unusable, unwritten};
use super::{CommandError, stdout};
use crate::eval::benchmarks;
use crate::eval::files;
use crate::eval::metric::Metric;
use crate::eval::runs::{self, LeaderboardFormat, LeaderboardRows, RunCosts, TokenPrice};

/// Print one table of runs, with the 95 % confidence interval of every mean
///
/// A row is named by the run's --name, else by its --model, else by its folder. Rows are sorted by the first metric,
/// best first. Runs with different snapshots, engines, versions of the metrics, benchmarks or instances are rejected.
/// Intervals come from a bootstrap over the instances (1000 resamples, fixed seed), as in the runs' summaries.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin leaderboard run-base run-tuned
  terrapin leaderboard seed-* --group --metrics ex --html runs.html
  terrapin leaderboard ask-* --metrics ex,ex_soft --price 0.15,0.6
  terrapin leaderboard runs/* --metrics ex,ex_soft,oqs --format latex > table.tex")]
pub struct LeaderboardArgs {
    /// Folders of the runs
    #[arg(required = true)]
    runs: Vec<PathBuf>,
    /// Metrics to show, by their names in results.jsonl, in column order [default: all]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    metrics: Vec<String>,
    /// Also show the tokens and seconds of a model's replies, of runs of `terrapin eval ask` and `refine`
    #[arg(long)]
    costs: bool,
    /// Price of a million tokens in prompts and in replies, such as 0.15,0.6; also shows the price of each run
    #[arg(long, value_name = "IN,OUT")]
    price: Option<TokenPrice>,
    /// One row for all runs of a system: those with the same --model, or, without it, the same --name. Shows the mean and
    /// the standard deviation of the runs, such as those with several seeds
    #[arg(long)]
    group: bool,
    /// Write an HTML page with the table and plots: quality over size, over difficulty, by class of complexity
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
    /// Write the plots of the page as SVG
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value = "markdown")]
    format: LeaderboardOutput,
    /// Print everything as JSON
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LeaderboardOutput {
    /// A table in GitHub's Markdown
    Markdown,
    /// A LaTeX tabular with booktabs rules
    Latex,
    /// An HTML table without the surrounding page
    Html,
}

/// Runs the command.
pub fn run(args: &LeaderboardArgs) -> Result<(), CommandError> {
    let metric = |name: &String| -> Result<&'static Metric, CommandError> {
        benchmarks::metric(name).ok_or_else(|| {
            let known: Vec<&str> = benchmarks::metrics().iter().map(|metric| metric.name).collect();
            CommandError::usage(format!("--metrics {name}: unknown metric; known metrics: {}", known.join(", ")))
        })
    };
    let metrics = args.metrics.iter().map(metric).collect::<Result<Vec<_>, _>>()?;
    let read = |path: &PathBuf| {
        let name =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        Ok((name, read_run(path)?))
    };
    let runs = args.runs.iter().map(read).collect::<Result<Vec<_>, CommandError>>()?;
    let costs: Vec<Option<RunCosts>> = if args.costs || args.price.is_some() {
        let read = |path: &PathBuf| RunCosts::read(path, args.price).map_err(unusable);
        args.runs.iter().map(read).collect::<Result<_, _>>()?
    } else {
        Vec::new()
    };
    let by = if args.group { LeaderboardRows::Systems } else { LeaderboardRows::Runs };
    let board = runs::leaderboard_of(by, &runs, &metrics, &costs).map_err(unusable)?;
    if let Some(path) = &args.html {
        files::write_text(path, &board.page()).map_err(unwritten)?;
    }
    if let Some(folder) = &args.plots {
        for (name, plot) in board.plots() {
            files::write_text(&folder.join(name), &plot).map_err(unwritten)?;
        }
    }
    if args.json {
        return stdout::print_json(&board);
    }
    stdout::print(&board.show(match args.format {
        LeaderboardOutput::Markdown => LeaderboardFormat::Markdown,
        LeaderboardOutput::Latex => LeaderboardFormat::Latex,
        LeaderboardOutput::Html => LeaderboardFormat::Html,
    }))
}
