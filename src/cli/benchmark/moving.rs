//! `terrapin benchmark move`: moves a benchmark to another snapshot.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use serde::Serialize;
use serde_json::Value;

use super::super::eval::{field_map, unwritten};
use super::super::work::{is_same, not_itself, pool};
use super::super::{CommandError, stdout};
use super::bar::bar;
use super::pairs::{pairs_of, row};
use super::{EngineArgs, GoldEnvironment};
use crate::eval::files::write_text;
use crate::eval::moving::{ATTEMPTS, MoveOptions, MovedPair, Mover, QuestionState, Replacement};

/// Move a benchmark to another snapshot: its places, boxes, ids, users, dates and absent tag values
///
/// What the snapshot lacks is replaced by what it has, in the queries and in the questions; the language of the queries
/// stays. A pair is tried several times, each time with larger places and boxes, until its query has results. The same
/// files, snapshot and seed give the same pairs. --places gives other names of the benchmark's places, by which they are
/// found in questions.
///
/// Items of Wikidata that the snapshot lacks are replaced by objects or subjects of the same property.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Writes the pairs to --out, in the format of `terrapin benchmark check`, and to OUT.moves.jsonl a line
per pair: its replacements, the number of results, and how the question follows the query:
  moved            every replaced name was found in it, or it needed no change
  guessed          the place was guessed: the only name after a preposition
  differs          a replaced value, user, date or item was not found in it, or the query has [date:], [diff:] or
                   [adiff:], whose dates stay
  place-not-found  a replaced place was not found in it

Examples:
  terrapin benchmark move overpassnl --to malta.terrapin --places nominatim_cache.json --out moved/dev.jsonl
  terrapin benchmark move dev.jsonl --to malta.terrapin --keep answered --question moved,guessed --out moved/dev.jsonl"
)]
pub struct BenchmarkMoveArgs {
    /// Files or folders of questions and gold queries
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The snapshot to move to
    #[arg(long, value_name = "SNAPSHOT")]
    to: PathBuf,
    /// Seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Maximum number of attempts for a pair
    #[arg(long, value_name = "N", default_value_t = ATTEMPTS, value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: u32,
    /// The pairs to write
    #[arg(long, value_enum, default_value = "all")]
    keep: Keep,
    /// Write only pairs whose questions are in these states, with commas
    #[arg(long, value_name = "STATE,...", value_enum, value_delimiter = ',')]
    question: Vec<QuestionFilter>,
    /// Names of fields in the file, such as gold=sparql,nl=text
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',')]
    map: Vec<String>,
    /// The file to write; it is replaced
    #[arg(long, value_name = "FILE.jsonl")]
    out: PathBuf,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// The pairs to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Keep {
    /// All
    All,
    /// Those whose query has results
    Answered,
}

/// The states of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum QuestionFilter {
    Moved,
    Guessed,
    Differs,
    PlaceNotFound,
}

impl QuestionFilter {
    fn state(self) -> QuestionState {
        match self {
            QuestionFilter::Moved => QuestionState::Moved,
            QuestionFilter::Guessed => QuestionState::Guessed,
            QuestionFilter::Differs => QuestionState::Differs,
            QuestionFilter::PlaceNotFound => QuestionState::PlaceNotFound,
        }
    }
}

/// A line of the record.
#[derive(Serialize)]
struct MoveRecord<'a> {
    split: &'a str,
    line: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    question: QuestionState,
    /// The number of the attempt, from 1.
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// The query has syntax errors or the XML form: only its shortcuts were read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unread: bool,
    replacements: &'a [Replacement],
    /// Whether the pair is in the output.
    written: bool,
}

/// The summary.
#[derive(Serialize)]
struct MoveReport<'a> {
    snapshot: &'a str,
    seed: u64,
    pairs: usize,
    written: usize,
    answered: usize,
    empty: usize,
    failed: usize,
    unread: usize,
    questions: BTreeMap<&'static str, usize>,
    replaced: BTreeMap<&'static str, usize>,
}

/// Runs the command.
pub fn run(args: &BenchmarkMoveArgs) -> Result<(), CommandError> {
    for written in [&args.out, &record_file(&args.out)] {
        not_itself(&args.to, written)?;
        if let Some(file) = args.files.iter().find(|file| is_same(file, written)) {
            let message = format!("{} would be replaced: choose another --out", file.display());
            return Err(CommandError::usage(message));
        }
    }
    let pairs = pairs_of(&args.files, &field_map(&args.map)?)?;
    let synonyms = args.engine.table()?;
    let environment = GoldEnvironment::open(&args.to, &pairs)?;
    let bar = bar(pairs.len());
    let options = MoveOptions { seed: args.seed, attempts: args.attempts };
    // The places of the benchmark are not those of the snapshot, and so they only help to read questions.
    let moved: Vec<MovedPair> = environment.with(&args.engine, None, |gold| {
        pool(args.engine.threads()).map(|pool| {
            pool.install(|| {
                let mover = Mover::new(gold, synonyms.as_ref(), options);
                let each = |pair| {
                    let moved = mover.move_pair(pair);
                    bar.inc(1);
                    moved
                };
                pairs.par_iter().map(each).collect()
            })
        })
    })?;
    bar.finish_and_clear();
    environment.engine.fail_if_damaged().map_err(super::open::error)?;
    write(args, &moved)?;
    let report = report(args, environment.digest(), &moved);
    if args.json { stdout::print_json(&report) } else { stdout::print(&for_people(&report)) }
}

/// Returns whether a pair is written.
fn is_kept(args: &BenchmarkMoveArgs, moved: &MovedPair) -> bool {
    let is_answered = args.keep == Keep::All || moved.is_answered();
    is_answered && (args.question.is_empty() || args.question.iter().any(|state| state.state() == moved.question))
}

/// Returns the file of the record: `dev.moves.jsonl` for `dev.jsonl`.
fn record_file(out: &Path) -> PathBuf {
    out.with_extension("moves.jsonl")
}

fn write(args: &BenchmarkMoveArgs, moved: &[MovedPair]) -> Result<(), CommandError> {
    let (mut lines, mut records) = (String::new(), String::new());
    for moved in moved {
        let written = is_kept(args, moved);
        if written {
            lines.push_str(&format!("{}\n", Value::Object(row(&moved.pair))));
        }
        let record = MoveRecord {
            split: &moved.pair.split,
            line: moved.pair.line,
            id: moved.pair.id.as_deref(),
            question: moved.question,
            attempt: moved.attempt + 1,
            results: moved.results.as_ref().ok().copied(),
            error: moved.results.as_ref().err().map(|text| text.lines().next().unwrap_or_default()),
            unread: moved.unread,
            replacements: &moved.replacements,
            written,
        };
        records.push_str(&serde_json::to_string(&record).map_err(|e| CommandError::system("output", e))?);
        records.push('\n');
    }
    write_text(&args.out, &lines).map_err(unwritten)?;
    write_text(&record_file(&args.out), &records).map_err(unwritten)
}

fn report<'a>(args: &BenchmarkMoveArgs, snapshot: &'a str, moved: &[MovedPair]) -> MoveReport<'a> {
    let (mut questions, mut replaced) = (BTreeMap::new(), BTreeMap::new());
    for moved in moved {
        *questions.entry(moved.question.name()).or_insert(0) += 1;
        for replacement in moved.replacements.iter().filter(|replacement| !replacement.new.is_empty()) {
            *replaced.entry(replacement.kind.name()).or_insert(0) += 1;
        }
    }
    let count = |test: &dyn Fn(&MovedPair) -> bool| moved.iter().filter(|moved| test(moved)).count();
    MoveReport {
        snapshot,
        seed: args.seed,
        pairs: moved.len(),
        written: count(&|moved| is_kept(args, moved)),
        answered: count(&|moved| moved.is_answered()),
        empty: count(&|moved| moved.results == Ok(0)),
        failed: count(&|moved| moved.results.is_err()),
        unread: count(&|moved| moved.unread),
        questions,
        replaced,
    }
}

fn for_people(report: &MoveReport<'_>) -> String {
    let listed = |counts: &BTreeMap<&'static str, usize>| {
        counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    };
    let share = 100.0 * report.answered as f64 / report.pairs.max(1) as f64;
    format!(
        "{:<14} {}, {} written\n{:<14} {} ({share:.1} %), {} empty, {} failed, {} not read\n{:<14} {}\n{:<14} {}\n",
        "pairs",
        report.pairs,
        report.written,
        "with results",
        report.answered,
        report.empty,
        report.failed,
        report.unread,
        "replaced",
        listed(&report.replaced),
        "questions",
        listed(&report.questions),
    )
}
