//! `terrapin eval qald|lcquad2|spinach|geoquestions1089|text2sparql`: published benchmarks of question answering over triples.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::{CommandError, open};
use super::dialect::DialectArgs;
use super::suite::SuiteSnapshots;
use super::{ExtractionFormat, RunArgs, RunSnapshots, digest, forms, unusable};
use crate::budget::Limits;
use crate::engine::Engine;
use crate::eval::about::{About, engine};
use crate::eval::benchmarks::jsonl;
use crate::eval::benchmarks::qa::{self, QaBenchmark, QuestionAnswering};
use crate::eval::input::published::FieldMap;
use crate::eval::record::Instance;

/// Options of all these benchmarks.
#[derive(Debug, clap::Args)]
struct QaOptions {
    /// Snapshot file to run both queries on; without it, the answers in the files are compared
    snapshot: Option<PathBuf>,
    /// Benchmark file, as its authors publish it
    #[arg(long, value_name = "FILE")]
    gold: PathBuf,
    /// Form of the predictions, if not one query per line: json, csv, reply, or two of them
    #[arg(long, value_name = "FORM", value_enum, value_delimiter = ',')]
    extract: Vec<ExtractionFormat>,
    #[command(flatten)]
    dialect: DialectArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Score SPARQL on QALD like GERBIL QA
///
/// The values of both answers are compared as sets. Prints the means of precision, recall and F1 of each question,
/// which are GERBIL QA's macro scores, and Macro F1 QALD, whose precision of an empty answer is 1. Literals and
/// IRIs are equal if their texts are; GERBIL's lookups of labels and owl:sameAs are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval qald wikidata.terrapin --gold qald_10.json --pred queries.txt --out run
  terrapin eval qald --gold qald_9_plus.json --pred system.qald.json --out run")]
pub struct QaldArgs {
    #[command(flatten)]
    common: QaOptions,
    /// Predictions: QALD's JSON, matched by question ids, or one query per line in the order of the questions
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
    /// Language of the questions in the report
    #[arg(long, value_name = "TAG", default_value = "en")]
    language: String,
}

/// Score SPARQL on LC-QuAD 2.0 by precision, recall and F1 of answers as sets
///
/// The gold queries are those for Wikidata. The scores are those of `terrapin eval qald`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval lcquad2 wikidata.terrapin --gold train.json --pred queries.txt --out run")]
pub struct LcQuad2Args {
    #[command(flatten)]
    common: QaOptions,
    /// Predictions, one query per line in the order of the questions
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
}

/// Score SPARQL by SPINACH's F1 over rows
///
/// Matches rows of both answers one to one so that they share most values; column names, labels and descriptions are
/// ignored. The numbers equal those of the authors' code, including ties among matchings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval spinach wikidata.terrapin --gold dev.json --pred queries.txt --out run
  terrapin eval spinach --gold spinach_output_dev.json --out run")]
pub struct SpinachArgs {
    #[command(flatten)]
    common: QaOptions,
    /// Predictions, one query per line in the order of the questions; omit them if --gold is the output of SPINACH's
    /// own code, which has them and both answers
    #[arg(long, value_name = "FILE")]
    pred: Option<PathBuf>,
}

/// Score GeoSPARQL on GeoQuestions1089: executable queries and correct answers
///
/// A prediction is executable if it has an answer, and correct if its rows equal those of the gold answer in any
/// order and under any column names. The report has the scores by the benchmark's categories.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval geoquestions1089 yago2geo.terrapin --gold GeoQuestions1089.json --pred queries.txt --out run")]
pub struct GeoQuestionsArgs {
    #[command(flatten)]
    common: QaOptions,
    /// Predictions, one query per line in the order of the questions
    #[arg(long, value_name = "FILE")]
    pred: PathBuf,
}

/// Score SPARQL on TEXT2SPARQL like the challenge's client
///
/// The file is the challenge's questions.yml, or any other file with SPARQL that `terrapin eval jsonl` reads, such as the
/// lines of T2S-Metrics. set_P, set_recall, set_F and ndcg are the client's, and text2sparql.f1_ndcg is its set_F_ndcg.
/// The scores of GERBIL QA (`eval qald`) and of SPINACH (`eval spinach`) on the same answers follow.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval text2sparql corporate.terrapin --gold questions.yml --pred answers.json --out run
  terrapin eval text2sparql corporate.terrapin --gold AIFB.jsonl --out run")]
pub struct Text2SparqlArgs {
    #[command(flatten)]
    common: QaOptions,
    /// Predictions: the answers of the challenge's client, other rows with the ids of the questions, or one query per
    /// line in the order of the questions; omit them if --gold has them
    #[arg(long, value_name = "FILE")]
    pred: Option<PathBuf>,
}

/// Runs `text2sparql`.
pub fn run_text2sparql(args: &Text2SparqlArgs) -> Result<(), CommandError> {
    let QaOptions { gold, extract, snapshot, .. } = &args.common;
    if snapshot.is_none() {
        return Err(CommandError::usage("the files have no answers: pass a snapshot to run the queries on"));
    }
    let (forms, map) = (forms(extract), FieldMap::default());
    let mut inputs = BTreeMap::from([("gold".to_owned(), digest(gold)?)]);
    let read = match &args.pred {
        Some(pred) => {
            inputs.insert("pred".to_owned(), digest(pred)?);
            jsonl::read_with_predictions(gold, pred, &forms, &map)
        }
        None => jsonl::read(gold, &forms, &map),
    };
    let instances = read.map_err(unusable)?.instances;
    if let Some(instance) = instances.iter().find(|instance| !jsonl::is_sparql(instance)) {
        let message = format!("{}: line {} is not SPARQL", gold.display(), instance.line);
        return Err(CommandError::input("lines-unreadable", message));
    }
    score(QaBenchmark::Text2Sparql, &args.common, instances, inputs)
}

/// Runs `qald`.
pub fn run_qald(args: &QaldArgs) -> Result<(), CommandError> {
    run(QaBenchmark::Qald, &args.common, Some(&args.pred), &args.language)
}

/// Runs `lcquad2`.
pub fn run_lcquad2(args: &LcQuad2Args) -> Result<(), CommandError> {
    run(QaBenchmark::LcQuad2, &args.common, Some(&args.pred), "en")
}

/// Runs `spinach`.
pub fn run_spinach(args: &SpinachArgs) -> Result<(), CommandError> {
    run(QaBenchmark::Spinach, &args.common, args.pred.as_ref(), "en")
}

/// Runs `geoquestions1089`.
pub fn run_geoquestions(args: &GeoQuestionsArgs) -> Result<(), CommandError> {
    run(QaBenchmark::GeoQuestions1089, &args.common, Some(&args.pred), "en")
}

fn run(set: QaBenchmark, args: &QaOptions, pred: Option<&PathBuf>, language: &str) -> Result<(), CommandError> {
    let mut golds = qa::read_golds(set, &args.gold, language).map_err(unusable)?;
    let mut inputs = BTreeMap::from([("gold".to_owned(), digest(&args.gold)?)]);
    match pred {
        Some(pred) => {
            qa::with_predictions(&mut golds, pred, &forms(&args.extract)).map_err(unusable)?;
            inputs.insert("pred".to_owned(), digest(pred)?);
        }
        None if golds.predicted => {}
        None => {
            return Err(CommandError::usage(format!(
                "{} has no predictions: pass them with --pred",
                args.gold.display()
            )));
        }
    }
    score(set, args, golds.instances, inputs)
}

/// Scores instances with predictions.
fn score(
    set: QaBenchmark,
    args: &QaOptions,
    mut instances: Vec<Instance>,
    inputs: BTreeMap<String, String>,
) -> Result<(), CommandError> {
    if instances.is_empty() {
        return Err(CommandError::input(
            "empty",
            format!("{}: the file has no questions to score", args.gold.display()),
        ));
    }
    let dialect = args.dialect.apply(&mut instances);
    let opened = args.snapshot.as_deref().map(open::engine).transpose()?;
    if let (Some(opened), Some(path)) = (&opened, args.snapshot.as_deref()) {
        open::with_triples(opened.triples(), path)?;
        // The answers of the queries are compared, not those of the files.
        instances.iter_mut().for_each(|instance| instance.answers = None);
    } else if let Some(instance) = instances.iter().find(|instance| instance.answers.is_none()) {
        return Err(CommandError::usage(format!(
            "question {} has no answer in both files: pass a snapshot to run the queries on",
            instance.id.clone().unwrap_or_else(|| instance.line.to_string())
        )));
    }
    let snapshot = opened.as_ref().map(Engine::digest);
    let cache = args.run.cache.open(args.snapshot.as_deref())?;
    let benchmark = QuestionAnswering { set, engine: opened.as_ref(), cache: &*cache, limits: Limits::default() };
    let about = About {
        benchmark: set.registration().name.to_owned(),
        snapshot: snapshot.map(str::to_owned),
        content: opened.as_ref().and_then(Engine::content),
        engine: engine(),
        inputs,
        dialect,
        ..About::default()
    };
    args.run.score(
        &benchmark,
        RunSnapshots { first: opened.as_ref(), suite: &SuiteSnapshots::default() },
        about,
        instances,
        None,
        &*cache,
    )
}
