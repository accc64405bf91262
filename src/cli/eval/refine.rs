//! `terrapin eval refine`: a language model improves given queries, which are scored.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::CommandError;
use super::super::examples::ExampleArgs;
use super::super::model::ModelArgs;
use super::asking::{self, AskOptions};
use super::suite::SuiteArgs;
use super::{ExtractionFormat, RunArgs, digest, forms, unread};
use crate::eval::about::RefineSettings;
use crate::eval::input::extract::read_predictions;
use crate::eval::input::same_length;
use crate::eval::language::QueryLanguage;

/// Let a language model improve given queries, and score the results
///
/// Each query is put to the model once with OverpassNL's prompt for self-refinement (TACL 2024, figure 8) and the
/// examples, with the error or the first results of the query, or without. A reply without a query keeps the given one.
/// The prompt is for OverpassQL. Files, resuming and scores are those of `terrapin eval ask`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval refine malta.terrapin questions.jsonl --pred preds.txt --only errors --feedback on \\
    --examples train.jsonl --model-url http://127.0.0.1:8080/v1 --model-name qwen --out refined
  terrapin eval compare run refined")]
pub struct EvalRefineArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// The questions with their gold queries, as for `terrapin eval ask`
    file: PathBuf,
    /// The queries to improve, one per line, in the order of the questions [default: the field `pred` of the questions]
    #[arg(long, value_name = "FILE")]
    pred: Option<PathBuf>,
    /// Form of the queries, if not one per line: json, csv, reply, or two of them
    #[arg(long, value_name = "FORM", value_enum, value_delimiter = ',', requires = "pred")]
    extract: Vec<ExtractionFormat>,
    /// The queries that go to the model: those that fail, or all
    #[arg(long, value_enum)]
    only: RefinedQueries,
    /// Whether the model sees the error or the first results of a query
    #[arg(long, value_enum)]
    feedback: Switch,
    /// Timeout of one question in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    examples: ExampleArgs,
    #[command(flatten)]
    suite: SuiteArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// The queries that go to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum RefinedQueries {
    /// Those that fail
    Errors,
    /// All
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    /// Yes
    On,
    /// No
    Off,
}

/// Runs the command.
pub fn run(args: &EvalRefineArgs) -> Result<(), CommandError> {
    let mut questions = asking::read(&args.file, None)?;
    let mut inputs = BTreeMap::new();
    match &args.pred {
        Some(path) => {
            let preds =
                read_predictions(path, &forms(&args.extract), Some(QueryLanguage::OverpassQl)).map_err(unread)?;
            let all = questions.instances.len();
            same_length((&args.file, all), (path, preds.len())).map_err(|e| CommandError::input("line-count", e))?;
            inputs.insert("hypotheses".to_owned(), digest(path)?);
            for (instance, pred) in questions.instances.iter_mut().zip(preds) {
                instance.pred = pred;
            }
        }
        None if questions.instances.iter().all(|instance| instance.pred.trim().is_empty()) => {
            return Err(CommandError::usage("no queries to improve: pass --pred"));
        }
        None => {}
    }
    if let Some(shard) = args.run.shard {
        questions.instances.retain(|instance| shard.has(instance.line));
    }
    let only = match args.only {
        RefinedQueries::Errors => "errors",
        RefinedQueries::All => "all",
    };
    let options = AskOptions {
        snapshot: &args.snapshot,
        tag_docs: None,
        search: false,
        timeout: args.timeout,
        model: &args.model,
        examples: &args.examples,
        dialect: None,
        suite: &args.suite,
        run: &args.run,
        baseline: None,
        refine: Some(RefineSettings { only: only.to_owned(), feedback: args.feedback == Switch::On }),
        system: None,
    };
    asking::run(&options, questions, inputs)
}
