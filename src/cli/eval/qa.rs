//! `terrapin eval qald|lcquad2|spinach|geoquestions1089`: published benchmarks of question answering over triples.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::{Error, open};
use super::{Extract, RunArgs, digest, forms, unusable};
use crate::budget::Limits;
use crate::eval::about::{About, engine};
use crate::eval::benchmarks::qa::{self, QuestionAnswering, Set};
use crate::sparql::Environment;

/// What all of them take.
#[derive(Debug, clap::Args)]
struct Common {
    /// The snapshot file to run both queries on; without it, the answers are compared that the files have
    snapshot: Option<PathBuf>,
    /// The benchmark's file, as its authors publish it
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// What else the predictions are in, where that is not a query a line: json, csv, fenced, quoted, or two of them
    #[arg(long, value_name = "FORM", value_enum, value_delimiter = ',')]
    extract: Vec<Extract>,
    #[command(flatten)]
    run: RunArgs,
}

/// Score SPARQL as GERBIL QA does for QALD
///
/// The values of both answers are held against each other as sets: precision, recall and F1 of each question, whose means are
/// GERBIL QA's macro scores, and Macro F1 QALD, for which an empty answer is no wrong one. Literals and addresses are equal
/// where they are the same text; GERBIL's lookups of labels and of owl:sameAs are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval qald wikidata.terrapin --gold qald_10.json --pred queries.txt --out run
  terrapin eval qald --gold qald_9_plus.json --pred system.qald.json --out run")]
pub struct QaldArgs {
    #[command(flatten)]
    common: Common,
    /// The predictions: QALD's JSON, whose questions are found by their ids, or a query a line in the order of the questions
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
    /// The language of the questions that the report shows
    #[arg(long, value_name = "TAG", default_value = "en")]
    language: String,
}

/// Score SPARQL over LC-QuAD 2.0, by precision, recall and F1 of answers as sets
///
/// The gold queries are those over Wikidata. The scores are those of `terrapin eval qald`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval lcquad2 wikidata.terrapin --gold train.json --pred queries.txt --out run")]
pub struct LcQuad2Args {
    #[command(flatten)]
    common: Common,
    /// The predictions, a query a line in the order of the questions
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
}

/// Score SPARQL by SPINACH's F1 over rows
///
/// Rows of both answers are matched one to one so that they have most values in common; what columns are called does not count,
/// labels and descriptions neither. The numbers are those of the authors' code, ties among matchings included.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval spinach wikidata.terrapin --gold dev.json --pred queries.txt --out run
  terrapin eval spinach --gold spinach_output_dev.json --out run")]
pub struct SpinachArgs {
    #[command(flatten)]
    common: Common,
    /// The predictions, a query a line in the order of the questions; none where --gold is the output of SPINACH's own code,
    /// which has them and both answers
    #[arg(long, value_name = "FILE")]
    pred: Option<PathBuf>,
}

/// Score GeoSPARQL over GeoQuestions1089: executable queries and correct answers
///
/// A prediction is executable where it has an answer, and correct where that has the same rows as the gold's, whatever their
/// order and their columns' names. The report has the scores by the benchmark's categories.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval geoquestions1089 yago2geo.terrapin --gold GeoQuestions1089.json --pred queries.txt --out run")]
pub struct GeoQuestionsArgs {
    #[command(flatten)]
    common: Common,
    /// The predictions, a query a line in the order of the questions
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
}

/// Runs `qald`.
pub fn run_qald(args: &QaldArgs) -> Result<(), Error> {
    run(Set::Qald, &args.common, Some(&args.pred), &args.language)
}

/// Runs `lcquad2`.
pub fn run_lcquad2(args: &LcQuad2Args) -> Result<(), Error> {
    run(Set::LcQuad2, &args.common, Some(&args.pred), "en")
}

/// Runs `spinach`.
pub fn run_spinach(args: &SpinachArgs) -> Result<(), Error> {
    run(Set::Spinach, &args.common, args.pred.as_ref(), "en")
}

/// Runs `geoquestions1089`.
pub fn run_geoquestions(args: &GeoQuestionsArgs) -> Result<(), Error> {
    run(Set::GeoQuestions1089, &args.common, Some(&args.pred), "en")
}

fn run(set: Set, args: &Common, pred: Option<&PathBuf>, language: &str) -> Result<(), Error> {
    let mut golds = qa::read_golds(set, &args.gold, language).map_err(unusable)?;
    let mut inputs = BTreeMap::from([("gold".to_owned(), digest(&args.gold)?)]);
    match pred {
        Some(pred) => {
            qa::with_predictions(&mut golds, pred, &forms(&args.extract)).map_err(unusable)?;
            inputs.insert("pred".to_owned(), digest(pred)?);
        }
        None if golds.predicted => {}
        None => return Err(Error::usage(format!("{} has no predictions: give them by --pred", args.gold.display()))),
    }
    let mut instances = golds.instances;
    if instances.is_empty() {
        return Err(Error::input("empty", format!("{}: there is no question to score", args.gold.display())));
    }
    let opened = args.snapshot.as_deref().map(open::snapshot).transpose()?;
    let mut triples: Option<Environment> = None;
    if let (Some(opened), Some(path)) = (&opened, args.snapshot.as_deref()) {
        triples = Some(open::triples(opened, path)?);
        // What was run is compared, not what the files say.
        instances.iter_mut().for_each(|instance| instance.answers = None);
    } else if let Some(instance) = instances.iter().find(|instance| instance.answers.is_none()) {
        return Err(Error::usage(format!(
            "without a snapshot both files need answers, and question {} has none: give a snapshot to run the queries on",
            instance.id.clone().unwrap_or_else(|| instance.line.to_string())
        )));
    }
    let snapshot = opened.as_ref().map(|opened| opened.snapshot.digest());
    let cache = args.run.cache.open(args.snapshot.as_deref())?;
    let benchmark = QuestionAnswering {
        set,
        triples: triples.as_ref(),
        snapshot: snapshot.as_deref().unwrap_or_default(),
        cache: &*cache,
        limits: Limits::default(),
    };
    let about = About {
        benchmark: set.registration().name.to_owned(),
        snapshot: snapshot.clone(),
        content: opened.as_ref().and_then(open::Opened::content),
        engine: engine(),
        inputs,
        ..About::default()
    };
    args.run.score(&benchmark, about, instances, None, &*cache)
}
