//! `terrapin benchmark audit`: flags gold queries by rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::super::eval::field_map;
use super::super::work::pool;
use super::super::{CommandError, stdout};
use super::bar::bar;
use super::pairs::pairs_of;
use super::{EngineArgs, GoldEnvironment};
use crate::eval::dataset::{self, BenchmarkFinding, FindingKind, GoldPair};

/// Flag gold queries for a review: empty, cut, volatile, dependent on a place, equal to another
///
/// Prints a table of the findings by kind, and writes every finding with its question and query as JSON lines. Without
/// --db only rules on the text apply: relative dates and random functions, {{bbox}} without a box, geocoded names
/// without places, queries without any place, duplicates and near duplicates. With --db every query runs once: failing,
/// empty and cut answers are flagged, and equal answers of different queries. A finding is a question to the authors,
/// not an error: the exit status is 0.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The files are those of `terrapin benchmark check`; docs/guides/benchmark.md describes the kinds.

Examples:
  terrapin benchmark audit dataset.dev.query --db malta.terrapin --out findings.jsonl
  terrapin benchmark audit train.jsonl dev.jsonl --json | jq -r 'select(.kind == \"map-view\") | .query'"
)]
pub struct BenchmarkAuditArgs {
    /// Files or folders of questions and gold queries
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Snapshot file to run the queries on
    #[arg(long, value_name = "SNAPSHOT")]
    db: Option<PathBuf>,
    /// File for the findings as JSON lines; an existing one is replaced
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Kinds of findings to report, such as empty,cut [default: all]
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<FindingKind>,
    /// Similarity from which two questions or queries are near duplicates, above 0.5
    #[arg(long, value_name = "SHARE", default_value_t = dataset::NEAR, value_parser = super::pairs::similarity)]
    near: f64,
    /// Names of fields in the file, such as gold=sparql,nl=text
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',')]
    map: Vec<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print the findings as JSON lines instead of the table
    #[arg(long)]
    json: bool,
}

/// A line of the output.
#[derive(Serialize)]
struct AuditLine<'a> {
    #[serde(flatten)]
    finding: &'a BenchmarkFinding,
    question: &'a str,
    query: &'a str,
}

/// Runs the command.
pub fn run(args: &BenchmarkAuditArgs) -> Result<(), CommandError> {
    let pairs = pairs_of(&args.files, &field_map(&args.map)?)?;
    let pool = pool(args.engine.threads())?;
    let mut findings = match &args.db {
        None => pool.install(|| dataset::audit(&pairs, None, args.near, &|| ())),
        Some(snapshot) => {
            let table = args.engine.table()?;
            let data = GoldEnvironment::open(snapshot, &pairs)?;
            let bar = bar(pairs.len());
            let findings = data.with(&args.engine, table.as_ref(), |engine| {
                pool.install(|| dataset::audit(&pairs, Some(engine), args.near, &|| bar.inc(1)))
            });
            bar.finish_and_clear();
            findings
        }
    };
    findings.retain(|finding| args.kinds.is_empty() || args.kinds.contains(&finding.kind));
    let lines = lines(&findings, &pairs)?;
    if let Some(path) = &args.out {
        std::fs::write(path, &lines).map_err(|e| CommandError::system("output", format!("{}: {e}", path.display())))?;
    }
    if args.json { stdout::print(&lines) } else { stdout::print(&table(&findings, &pairs)) }
}

/// Formats the findings as JSON lines.
fn lines(findings: &[BenchmarkFinding], pairs: &[GoldPair]) -> Result<String, CommandError> {
    let mut text = String::new();
    let known: BTreeMap<(&str, usize), &GoldPair> =
        pairs.iter().map(|pair| ((pair.split.as_str(), pair.line), pair)).collect();
    for finding in findings {
        let pair = known.get(&(finding.split.as_str(), finding.line));
        let (question, query) = pair.map_or(("", ""), |pair| (pair.question.as_str(), pair.query.as_str()));
        let line = serde_json::to_string(&AuditLine { finding, question, query });
        text += &line.map_err(|e| CommandError::system("output", e))?;
        text.push('\n');
    }
    Ok(text)
}

/// Formats the findings by kind.
fn table(findings: &[BenchmarkFinding], pairs: &[GoldPair]) -> String {
    let mut text = format!("{:<18} {:>7} {:>7}  {}\n", "kind", "pairs", "share", "first");
    for kind in FindingKind::ALL {
        let of_kind: Vec<&BenchmarkFinding> = findings.iter().filter(|finding| finding.kind == kind).collect();
        let Some(first) = of_kind.first() else { continue };
        let flagged: BTreeSet<(&str, usize)> = of_kind.iter().map(|f| (f.split.as_str(), f.line)).collect();
        let share = 100.0 * flagged.len() as f64 / pairs.len().max(1) as f64;
        let message: String = first.message.lines().next().unwrap_or_default().chars().take(90).collect();
        let place = format!("{} line {}", first.split, first.line);
        let _ = writeln!(text, "{:<18} {:>7} {share:>5.1} %  {place}: {message}", kind.name(), flagged.len());
    }
    let flagged: BTreeSet<(&str, usize)> = findings.iter().map(|f| (f.split.as_str(), f.line)).collect();
    let share = 100.0 * flagged.len() as f64 / pairs.len().max(1) as f64;
    let _ = writeln!(text, "{:<18} {:>7} {share:>5.1} %  of {}", "any", flagged.len(), pairs.len());
    text
}
