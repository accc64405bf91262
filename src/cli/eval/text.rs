//! `terrapin eval text`: scores texts generated from queries.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::CommandError;
use super::suite::SuiteSnapshots;
use super::{ExtractionFormat, RunArgs, RunSnapshots, digest, forms, unusable};
use crate::eval::about::{About, engine};
use crate::eval::benchmarks::text::{self, TextBenchmark};
use crate::eval::cache::NoCache;

/// Score texts generated from queries against reference texts: BLEU, chrF, ROUGE-L
///
/// The reverse task: a question for a query. BLEU and chrF are sacreBLEU's (13a tokenizer, exp smoothing; character
/// n-grams up to six), ROUGE-L is that of the package rouge-score without its stemmer. These metrics compare texts,
/// not meanings. To test the meaning, make a round trip: let a system generate queries from the texts and score them
/// against the original queries with `terrapin eval overpassnl` or `jsonl`. METEOR is left out, because it needs
/// WordNet and a paraphrase table whose versions change its numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval text --gold dataset.dev.nl --pred texts.txt --out run
The round trip, with queries.txt what a system made of texts.txt:
  terrapin eval overpassnl malta.terrapin --gold dataset.dev.query --nl texts.txt --pred queries.txt --out round-trip")]
pub struct EvalTextArgs {
    /// Reference texts, one per line
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// Generated texts, one per line, in the same order
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
    /// Form of the texts, if not one per line: json, csv, reply, or two of them
    #[arg(long, value_name = "FORM", value_enum, value_delimiter = ',')]
    extract: Vec<ExtractionFormat>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub fn run(args: &EvalTextArgs) -> Result<(), CommandError> {
    let instances = text::read(&args.gold, &args.pred, &forms(&args.extract)).map_err(unusable)?;
    let inputs = BTreeMap::from([("gold".to_owned(), digest(&args.gold)?), ("pred".to_owned(), digest(&args.pred)?)]);
    let about = About { benchmark: text::REGISTRATION.name.to_owned(), engine: engine(), inputs, ..About::default() };
    args.run.score(
        &TextBenchmark,
        RunSnapshots { first: None, suite: &SuiteSnapshots::default() },
        about,
        instances,
        None,
        &NoCache,
    )
}
