//! `terrapin benchmark check`: checks whether a benchmark can be published.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::work::pool;
use super::super::{CommandError, stdout};
use super::bar::bar;
use super::pairs::pairs;
use super::{EngineArgs, GoldEnvironment};
use crate::eval::about::engine;
use crate::eval::dataset::{self, BenchmarkCheck, BenchmarkFinding, FindingKind, GoldPair};

/// Check questions and gold queries before they are published
///
/// Runs every gold query twice, on one thread and on several. It must succeed, give the same bytes and a non-empty
/// answer, and not be cut by a limit without an order. Its answer may not depend on the day ({{date:1 week}}, NOW())
/// or on chance. Duplicate questions and queries are reported, within a split and between splits, as written and
/// normalised: questions without case and punctuation, OverpassQL as in OverpassNL's exact match, SPARQL by its
/// algebra. Near duplicates between splits are reported as well. Each pair gets the difficulty measures of OverpassNL's paper.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A file is what `terrapin eval jsonl` reads, without predictions: `nl` (or `question`) and `gold` (or `query`,
`reference`), and where wanted `lang`, `id`, `bbox`, `places`, `split`. A pair's split is what it says, else what its file is
called: train.jsonl, dataset.dev.csv.

Exit status 1 if there is a finding that --allow does not name. leak-query, duplicate-question, duplicate-query,
near-question, near-query and cut-in-order are printed as notes and are no errors.

Examples:
  terrapin benchmark check malta.terrapin train.jsonl dev.jsonl
  terrapin benchmark check malta.terrapin dev.csv --allow empty --json | jq .kinds"
)]
pub struct BenchmarkCheckArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// Files of questions and gold queries, one per split
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Kinds of findings that are not errors, such as empty,cut
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    allow: Vec<FindingKind>,
    /// Maximum number of findings to show per kind; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 5)]
    list: usize,
    /// Print everything as JSON: findings, and every pair with its number of results, the digest of its answer and
    /// its difficulty
    #[arg(long)]
    json: bool,
}

/// The output of `--json`.
#[derive(Serialize)]
struct CheckReport<'a> {
    snapshot: String,
    engine: String,
    sound: bool,
    splits: BTreeMap<&'a str, usize>,
    kinds: BTreeMap<&'static str, usize>,
    #[serde(flatten)]
    checked: &'a BenchmarkCheck,
}

/// Runs the command.
pub fn run(args: &BenchmarkCheckArgs) -> Result<(), CommandError> {
    let pairs = pairs(&args.files)?;
    let (checked, digest) = checked(&args.snapshot, &args.engine, &pairs)?;
    let errors = errors(&checked, &args.allow);
    if args.json {
        let report = CheckReport {
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

/// Checks the pairs on a snapshot and returns its digest with the findings.
pub(super) fn checked(
    snapshot: &Path,
    args: &EngineArgs,
    pairs: &[GoldPair],
) -> Result<(BenchmarkCheck, String), CommandError> {
    let table = args.table()?;
    let data = GoldEnvironment::open(snapshot, pairs)?;
    let alone = (0..args.threads()).map(|_| pool(1)).collect::<Result<Vec<_>, _>>()?;
    // Two threads are enough to show races; a machine with one core has them as well.
    let together = pool(args.threads().max(2))?;
    let bar = bar(2 * pairs.len());
    let checked =
        data.with(args, table.as_ref(), |engine| dataset::check(engine, pairs, &alone, &together, &|| bar.inc(1)));
    bar.finish_and_clear();
    Ok((checked, data.digest().to_owned()))
}

/// Counts the errors that `--allow` does not permit.
pub(super) fn errors(checked: &BenchmarkCheck, allowed: &[FindingKind]) -> usize {
    let is_error = |finding: &&BenchmarkFinding| finding.kind.is_error() && !allowed.contains(&finding.kind);
    checked.findings.iter().filter(is_error).count()
}

/// Returns an error if there are errors that are not permitted.
pub(super) fn refuse(errors: usize) -> Result<(), CommandError> {
    match errors {
        0 => Ok(()),
        1 => Err(CommandError::refused("benchmark-unsound", "the benchmark has an error")),
        _ => Err(CommandError::refused("benchmark-unsound", format!("the benchmark has {errors} errors"))),
    }
}

/// Counts the pairs of each split.
pub(super) fn splits(pairs: &[GoldPair]) -> BTreeMap<&str, usize> {
    let mut splits = BTreeMap::new();
    pairs.iter().for_each(|pair| *splits.entry(pair.split.as_str()).or_default() += 1);
    splits
}

fn for_people(
    checked: &BenchmarkCheck,
    splits: &BTreeMap<&str, usize>,
    allowed: &[FindingKind],
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
            // Messages are cut to their first line.
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
