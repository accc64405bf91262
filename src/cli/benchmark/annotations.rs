//! `terrapin benchmark annotations`: writes the questions that people wrote for a queue as a benchmark's pairs.

use std::path::PathBuf;

use super::super::annotation::unusable;
use super::super::eval::unusable as unusable_file;
use super::super::{CommandError, stdout};
use crate::eval::annotation::{AnnotatedQueue, AnnotationStatus};
use crate::eval::files;

/// Write the annotations of a queue as pairs of question and query
///
/// `terrapin serve --annotate QUEUE` collects them; the server may run meanwhile. A line has the fields that `terrapin
/// benchmark` and `terrapin eval jsonl` read, and all questions and verdicts with names and times. Without --status, the
/// entries with a question that was not rejected are written.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin benchmark annotations queue.jsonl --out all.jsonl
  terrapin benchmark annotations queue.jsonl --status agreed --out agreed.jsonl
  terrapin benchmark annotations queue.jsonl --disputed | jq .rounds
  terrapin benchmark annotations queue.jsonl --summary")]
pub struct BenchmarkAnnotationsArgs {
    /// The file of --annotate
    queue: PathBuf,
    /// Statuses to write: open, answered, corrected, rejected, agreed, or all
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = statuses)]
    status: Vec<StatusSelection>,
    /// Only entries whose question somebody corrected or rejected
    #[arg(long)]
    disputed: bool,
    /// File to write [default: standard output]
    #[arg(long, value_name = "FILE", conflicts_with = "summary")]
    out: Option<PathBuf>,
    /// Print counts of entries and annotators, and their agreement
    #[arg(long, conflicts_with_all = ["status", "disputed"])]
    summary: bool,
    /// Print the summary as JSON
    #[arg(long, requires = "summary")]
    json: bool,
}

/// A value of `--status`.
#[derive(Debug, Clone, Copy)]
enum StatusSelection {
    One(AnnotationStatus),
    All,
}

fn statuses(text: &str) -> Result<StatusSelection, String> {
    let one = || AnnotationStatus::named(text).map(StatusSelection::One);
    let all = (text == "all").then_some(StatusSelection::All);
    all.or_else(one).ok_or_else(|| "expected open, answered, corrected, rejected, agreed or all".to_owned())
}

impl BenchmarkAnnotationsArgs {
    fn statuses(&self) -> Vec<AnnotationStatus> {
        let selected = |selection: &StatusSelection| match selection {
            StatusSelection::One(status) => vec![*status],
            StatusSelection::All => AnnotationStatus::ALL.to_vec(),
        };
        match self.status.is_empty() {
            // A rejected question is a dispute.
            true if self.disputed => AnnotationStatus::ALL.to_vec(),
            true => AnnotationStatus::ALL.into_iter().filter(|status| status.has_question()).collect(),
            false => self.status.iter().flat_map(selected).collect(),
        }
    }
}

/// Runs the command.
pub fn run(args: &BenchmarkAnnotationsArgs) -> Result<(), CommandError> {
    let annotated = AnnotatedQueue::read(&args.queue).map_err(unusable)?;
    if annotated.ignored > 0 {
        let ignored = annotated.ignored;
        stdout::tell(&format!("note: {ignored} events of entries that are missing or have another query are ignored"));
    }
    if args.summary {
        let summary = annotated.summary();
        return if args.json { stdout::print_json(&summary) } else { stdout::print(&summary.to_string()) };
    }
    let statuses = args.statuses();
    let disputed =
        |id: &str| !args.disputed || annotated.entry(id).is_some_and(crate::eval::annotation::EntryState::is_disputed);
    let lines: Vec<_> = annotated.lines(&statuses).filter(|line| disputed(line.id)).collect();
    match &args.out {
        Some(path) => {
            files::write_lines(path, &lines).map_err(|error| unusable_file(error.into()))?;
            stdout::tell(&format!("{}: {} of {} entries", path.display(), lines.len(), annotated.queue.entries.len()));
            Ok(())
        }
        None => lines.iter().try_for_each(stdout::print_json),
    }
}
