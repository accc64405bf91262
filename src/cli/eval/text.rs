//! `terrapin eval text`: texts made of queries.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::Error;
use super::{Extract, RunArgs, digest, forms, unusable};
use crate::eval::about::{About, engine};
use crate::eval::benchmarks::text::{self, Text};
use crate::eval::cache::NoCache;

/// Score texts that a system made of queries against those that people wrote: BLEU, chrF, ROUGE-L
///
/// The reverse task: a question for a query. BLEU and chrF are sacreBLEU's (13a tokenizer, exp smoothing; characters up to
/// six), ROUGE-L is the package rouge-score's without its stemmer. These are text metrics: they say how alike two texts are.
/// Whether the text says what the query asks shows the round trip: have a system make queries of the texts, and score those
/// against the queries that the texts were made of, by `terrapin eval overpassnl` or `jsonl`. METEOR is left out: it needs
/// WordNet and a table of paraphrases, whose versions change its numbers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval text --gold dataset.dev.nl --pred texts.txt --out run
The round trip, with queries.txt what a system made of texts.txt:
  terrapin eval overpassnl malta.terrapin --gold dataset.dev.query --nl texts.txt --pred queries.txt --out round-trip")]
pub struct Args {
    /// The texts that people wrote, one a line
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// The texts that a system made, one a line, in the same order
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
    /// What else the texts are in, where that is not a text a line: json, csv, fenced, quoted, or two of them
    #[arg(long, value_name = "FORM", value_enum, value_delimiter = ',')]
    extract: Vec<Extract>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let instances = text::read(&args.gold, &args.pred, &forms(&args.extract)).map_err(unusable)?;
    let inputs = BTreeMap::from([("gold".to_owned(), digest(&args.gold)?), ("pred".to_owned(), digest(&args.pred)?)]);
    let about = About { benchmark: text::REGISTRATION.name.to_owned(), engine: engine(), inputs, ..About::default() };
    args.run.score(&Text, about, instances, None, &NoCache)
}
