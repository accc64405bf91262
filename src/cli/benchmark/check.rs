//! `terrapin benchmark check`: whether a benchmark can be published.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::{Error, stdout};
use super::{Data, EngineArgs, bar, pairs, pool};
use crate::eval::about::engine;
use crate::eval::dataset::{self, Checked, Finding, Kind, Pair};

/// Check questions and gold queries before they are published
///
/// Every gold query is run twice, once on one thread and once on several. It has to run, to give the same bytes, something
/// at all, and nothing that a limit cut without an order; its answer may depend neither on the day ({{date:1 week}}, NOW())
/// nor on chance. The same question or query twice is named, within a split and between splits, as it stands and normalised:
/// questions without case and punctuation, OverpassQL as OverpassNL's exact match normalises it, SPARQL as its algebra. Each
/// pair gets the measures of difficulty of OverpassNL's paper.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A file is what `terrapin eval jsonl` reads, without predictions: `nl` (or `question`) and `gold` (or `query`,
`reference`), and where wanted `lang`, `id`, `bbox`, `places`, `split`. A pair's split is what it says, else what its file is
called: train.jsonl, dataset.dev.csv.

Exit status 1 where something was found that --allow does not name. leak-query, duplicate-question, duplicate-query and
cut-in-order are told, and no error.

Examples:
  terrapin benchmark check malta.terrapin train.jsonl dev.jsonl
  terrapin benchmark check malta.terrapin dev.csv --allow empty --json | jq .kinds"
)]
pub struct Args {
    /// The snapshot file
    snapshot: PathBuf,
    /// The questions and gold queries, a file a split
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Kinds of findings that are no error, such as empty,cut
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    allow: Vec<Kind>,
    /// How many findings of each kind are shown; 0 for all
    #[arg(long, value_name = "N", default_value_t = 5)]
    list: usize,
    /// Print everything as JSON: findings, and every pair with its number of results, the digest of its answer and its
    /// difficulty
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Report<'a> {
    snapshot: String,
    engine: String,
    sound: bool,
    splits: BTreeMap<&'a str, usize>,
    kinds: BTreeMap<&'static str, usize>,
    #[serde(flatten)]
    checked: &'a Checked,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let pairs = pairs(&args.files)?;
    let (checked, digest) = checked(&args.snapshot, &args.engine, &pairs)?;
    let errors = errors(&checked, &args.allow);
    if args.json {
        let report = Report {
            snapshot: digest,
            engine: engine(),
            sound: errors == 0,
            splits: splits(&pairs),
            kinds: checked.kinds().into_iter().map(|(kind, count)| (kind.name(), count)).collect(),
            checked: &checked,
        };
        stdout::print_json(&report)?;
    } else {
        stdout::print(&for_people(&checked, &splits(&pairs), &args.allow, args.list, &digest))?;
    }
    refuse(errors)
}

/// Checks the pairs on a snapshot, whose digest comes with what came out.
pub(super) fn checked(snapshot: &Path, args: &EngineArgs, pairs: &[Pair]) -> Result<(Checked, String), Error> {
    let table = args.table()?;
    let data = Data::open(snapshot, pairs)?;
    let alone = (0..args.threads()).map(|_| pool(1)).collect::<Result<Vec<_>, _>>()?;
    // Two threads show what several do; a machine with one core has them, too.
    let together = pool(args.threads().max(2))?;
    let bar = bar(2 * pairs.len());
    let checked =
        data.with(args, table.as_ref(), |engine| dataset::check(engine, pairs, &alone, &together, &|| bar.inc(1)));
    bar.finish_and_clear();
    Ok((checked, data.digest()))
}

/// How many findings are errors that nobody allowed.
pub(super) fn errors(checked: &Checked, allowed: &[Kind]) -> usize {
    let is_error = |finding: &&Finding| finding.kind.is_error() && !allowed.contains(&finding.kind);
    checked.findings.iter().filter(is_error).count()
}

/// An error where some of them are.
pub(super) fn refuse(errors: usize) -> Result<(), Error> {
    match errors {
        0 => Ok(()),
        1 => Err(Error::refused("benchmark-unsound", "the benchmark has an error")),
        _ => Err(Error::refused("benchmark-unsound", format!("the benchmark has {errors} errors"))),
    }
}

/// How many pairs each split has.
pub(super) fn splits(pairs: &[Pair]) -> BTreeMap<&str, usize> {
    let mut splits = BTreeMap::new();
    pairs.iter().for_each(|pair| *splits.entry(pair.split.as_str()).or_default() += 1);
    splits
}

fn for_people(
    checked: &Checked,
    splits: &BTreeMap<&str, usize>,
    allowed: &[Kind],
    list: usize,
    digest: &str,
) -> String {
    let mut text = String::new();
    for (kind, count) in checked.kinds() {
        let rank = match (kind.is_error(), allowed.contains(&kind)) {
            (true, false) => "error",
            (true, true) => "allowed",
            (false, _) => "note",
        };
        let _ = writeln!(text, "{rank}: {} {}", count, kind.name());
        let shown = if list == 0 { count } else { list };
        for finding in checked.findings.iter().filter(|finding| finding.kind == kind).take(shown) {
            let id = finding.id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
            // A message of several lines is cut to its first.
            let message = finding.message.lines().next().unwrap_or_default();
            let _ = writeln!(text, "  {} line {}{id}: {message}", finding.split, finding.line);
        }
        if count > shown {
            let _ = writeln!(text, "  and {} more", count - shown);
        }
    }
    let counts: Vec<String> = splits.iter().map(|(split, count)| format!("{count} {split}")).collect();
    let _ = writeln!(text, "{:<14} {}", "pairs", counts.join(", "));
    let found: std::collections::BTreeSet<_> = checked
        .findings
        .iter()
        .filter(|finding| finding.kind.is_error() && !allowed.contains(&finding.kind))
        .map(|finding| (finding.split.as_str(), finding.line))
        .collect();
    let _ = writeln!(text, "{:<14} {}", "sound", checked.pairs.len().saturating_sub(found.len()));
    let _ = writeln!(text, "{:<14} {digest}", "snapshot");
    text
}
