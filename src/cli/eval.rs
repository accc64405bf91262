//! `terrapin eval`: scores a file of predicted queries against a file of gold ones.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};

use super::{Error, open, stdout};
use crate::eval::benchmarks::overpassnl::{self, Instance, Summary};
use crate::eval::{input, report};
use crate::places::{Areas, Chain, Places, Table};

/// Score predicted queries against gold ones
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Debug, clap::Subcommand)]
enum Benchmark {
    Overpassnl(Overpassnl),
}

/// Score OverpassQL by execution, as OverpassNL's evaluation does
///
/// Line by line both queries are prepared as the published evaluation prepares them ({{shortcuts}}, JSON, 300 seconds,
/// at most 1 GiB), run on the snapshot, and compared: EX is 1 where the type/id lists are the same and not empty,
/// EX_soft the share of common elements in the larger list. Writes results.jsonl, a line per instance, and
/// summary.json into the folder given with --out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval overpassnl malta.terrapin --gold gold.query --pred pred.query --out run
  terrapin eval overpassnl planet.terrapin --gold dataset.dev.query --bbox dataset.dev.bbox \\
    --pred preds.txt --places nominatim_cache.json --out run
  jq -c 'select(.ex == 0) | {line, error, missing, extra}' run/results.jsonl")]
struct Overpassnl {
    /// The snapshot file
    snapshot: PathBuf,
    /// The gold queries, one a line
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// The predicted queries, one a line, in the same order
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
    /// What {{bbox}} and {{center}} stand for, one box a line: south,west,north,east
    #[arg(long, value_name = "FILE")]
    bbox: Option<PathBuf>,
    /// Where geocoded names lead, in the shape of the authors' nominatim_cache.json; names that are not in it are
    /// looked up among the snapshot's own areas
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    /// How many queries run at once; the results do not depend on it [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The folder for results.jsonl and summary.json
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    match &args.benchmark {
        Benchmark::Overpassnl(args) => run_overpassnl(args),
    }
}

fn run_overpassnl(args: &Overpassnl) -> Result<(), Error> {
    let gold = read(&args.gold)?;
    let pred = read(&args.pred)?;
    let bbox = args.bbox.as_deref().map(read).transpose()?;
    let belong = |path: &Path, lines: usize| {
        input::same_length((&args.gold, gold.len()), (path, lines)).map_err(|e| Error::input("line-count", e))
    };
    belong(&args.pred, pred.len())?;
    if let (Some(path), Some(lines)) = (&args.bbox, &bbox) {
        belong(path, lines.len())?;
    }
    if gold.is_empty() {
        return Err(Error::input("empty", format!("{}: there is no line to score", args.gold.display())));
    }
    let table =
        args.places.as_deref().map(Table::open).transpose().map_err(|e| Error::input("places-unreadable", e))?;
    let (opened, osm) = open::elements(&args.snapshot)?;
    // Better now than after the run.
    std::fs::create_dir_all(&args.out).map_err(|e| Error::system("output", format!("{}: {e}", args.out.display())))?;

    let instances: Vec<Instance> = gold
        .iter()
        .zip(&pred)
        .enumerate()
        .map(|(i, (gold, pred))| Instance {
            line: i + 1,
            gold,
            pred,
            bbox: bbox.as_ref().and_then(|lines| lines.get(i)).map(|line| line.trim()),
        })
        .collect();
    if bbox.is_none() {
        warn_without_boxes(&instances);
    }
    let areas = Areas::new(&osm);
    let mut places = Chain::default();
    places.0.extend(table.as_ref().map(|table| table as &dyn Places));
    places.0.push(&areas);

    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, usize::from))
        .build()
        .map_err(|e| Error::system("threads", e))?;
    let bar = progress(instances.len());
    let records = pool.install(|| overpassnl::run(&osm, &instances, &places, &|| bar.inc(1)));
    bar.finish_and_clear();

    let summary = Summary::of(&records, &opened.snapshot.digest());
    let written = |result: Result<(), report::WriteError>| result.map_err(|e| Error::system("output", e));
    written(report::write_lines(&args.out.join("results.jsonl"), &records))?;
    written(report::write_object(&args.out.join("summary.json"), &summary))?;
    if args.json { stdout::print_json(&summary) } else { stdout::print(&summary.to_string()) }
}

fn read(path: &Path) -> Result<Vec<String>, Error> {
    input::read_lines(path).map_err(|e| Error::input("lines-unreadable", e))
}

/// Without a box such a query is refused, and its line scores nothing.
fn warn_without_boxes(instances: &[Instance<'_>]) {
    let wants = |i: &&Instance| overpassnl::wants_bbox(i.gold) || overpassnl::wants_bbox(i.pred);
    let mut lines = instances.iter().filter(wants).map(|instance| instance.line);
    if let Some(first) = lines.next() {
        eprintln!(
            "warning: {} lines use {{{{bbox}}}} or {{{{center}}}}, the first is line {first}: give their boxes with --bbox",
            1 + lines.count()
        );
    }
}

/// A bar on a terminal, else nothing.
fn progress(lines: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(lines as u64);
    match ProgressStyle::with_template("scoring {wide_bar} {pos}/{len} {per_sec:>10} {eta:>4} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
