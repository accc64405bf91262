//! `terrapin eval ask`: asks questions that have gold queries, as `terrapin ask` does, and scores the queries.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::CommandError;
use super::super::examples::ExampleArgs;
use super::super::model::ModelArgs;
use super::RunArgs;
use super::asking::{self, AskOptions};
use super::dialect::DialectArgs;
use super::suite::SuiteArgs;
use super::system::SystemArgs;
use crate::ask::AskBaseline;

/// Ask a language model questions as `terrapin ask` does, and score its queries against gold queries
///
/// The file has a question (`nl`, `question` or `instruction`) and a gold query (`gold`, `reference` or `query`) for
/// each, in any form that `terrapin eval jsonl` reads, with `lang` if that is sparql; or it is a folder of OverpassNL,
/// of which the split dev is read, or the beginning of the names of its files (overpassnl/dataset.test). The last query
/// of the model for a question is its prediction, and is scored as there. Run it with --no-search, --examples and other
/// --repairs, each to a folder of its own, and compare the folders by `terrapin leaderboard` and `terrapin eval
/// compare`. asked.jsonl has the settings and all steps of every question, times.jsonl the times. Equal runs have equal
/// files, except times.jsonl and timings.jsonl. A stopped run resumes and asks no question twice.
///
/// With --system a system over HTTP is asked instead of a model, and its query is the prediction.
///
/// With --model nearest no model is asked: the answer is the query of the nearest question of --examples, with the place
/// of the new question put in. With --model words the answer is the query of `terrapin query --words`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval ask malta.terrapin questions.jsonl --model-url http://127.0.0.1:8080/v1 --model-name qwen --out run
  terrapin eval ask malta.terrapin questions.jsonl --no-search --repairs 0 --out bare
  terrapin eval ask malta.terrapin questions.jsonl --examples train.jsonl --prompt overpassnl-5shot --out shots
  terrapin eval ask malta.terrapin questions.jsonl --examples train.jsonl --model nearest --out baseline
  terrapin eval ask malta.terrapin questions.jsonl --model words --out words
  terrapin eval ask corporate.terrapin questions_ck25.yml --system http://127.0.0.1:8000 --out theirs
  terrapin leaderboard bare run shots baseline")]
pub struct EvalAskArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// The questions with their gold queries
    file: PathBuf,
    /// Skip the search for names and things in a question
    #[arg(long)]
    no_search: bool,
    /// Timeout of one question in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// Descriptions of keys and tags, which are also searched: data items of OpenStreetMap's wiki as JSON lines, or
    /// taginfo's pages of it (key, value, lang, description) as JSON lines or CSV
    #[arg(long, value_name = "FILE")]
    tag_docs: Option<PathBuf>,
    #[command(flatten)]
    system: SystemArgs,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    examples: ExampleArgs,
    #[command(flatten)]
    dialect: DialectArgs,
    #[command(flatten)]
    suite: SuiteArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub fn run(args: &EvalAskArgs) -> Result<(), CommandError> {
    let baseline = args.run.names.model.as_deref().and_then(AskBaseline::named);
    let system = args.system.of(&args.file, args.timeout)?;
    if let (Some(_), Some(baseline)) = (&system, baseline) {
        let name = baseline.name();
        return Err(CommandError::usage(format!("--system and --model {name} are two systems: use two runs")));
    }
    let options = AskOptions {
        snapshot: &args.snapshot,
        tag_docs: args.tag_docs.as_deref(),
        search: !args.no_search,
        timeout: args.timeout,
        model: &args.model,
        examples: &args.examples,
        dialect: Some(args.dialect),
        suite: &args.suite,
        run: &args.run,
        baseline,
        refine: None,
        system,
    };
    asking::run(&options, asking::read(&args.file, args.run.shard)?, BTreeMap::new())
}
