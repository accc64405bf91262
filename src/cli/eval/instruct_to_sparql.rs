//! `terrapin eval instruct-to-sparql`: SPARQL by the metrics of Instruct-to-SPARQL.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::{CommandError, open};
use super::dialect::DialectArgs;
use super::jsonl::on_member;
use super::suite::SuiteArgs;
use super::{RunArgs, RunSnapshots, digest, unusable};
use crate::engine::Engine;
use crate::eval::about::{About, engine};
use crate::eval::benchmarks::instruct_to_sparql::{
    self, InstructToSparql, Instructions, extract, read_generated, read_gold, read_predictions,
};
use crate::eval::input::extract::{PredictionFormat, form_of_texts};
use crate::eval::language::QueryLanguage;
use crate::eval::record::Instance;
use crate::eval::reply;

/// Score SPARQL as the Instruct-to-SPARQL code and paper do
///
/// Prints two separate sets of scores. `compat` repeats the authors' code: CodeBLEU of the queries, Syntax by the
/// endpoint's status, Jaccard, overlap and Dice over matched columns of the answers, without the instances that the
/// code skips. `strict` follows the paper: values only, optimally assigned columns, rows as multisets, two empty
/// answers are equal, no instance skipped. It adds equal multisets, F1 over rows and, if the gold query has an order,
/// equal rows in order; these three only if no limit cut the answers. Without a snapshot, only the queries are
/// compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval instruct-to-sparql wikidata.terrapin --gold test.jsonl --pred preds.jsonl --out run
  terrapin eval instruct-to-sparql wikidata.terrapin --generated generated_queries.csv --out run
  terrapin eval instruct-to-sparql wikidata.terrapin --gold test.jsonl --pred preds.jsonl --labelled --out run
  jq -c 'select(.strict.multiset == 0) | {id, error: .strict.error, missing: .strict.missing}' run/results.jsonl")]
pub struct InstructToSparqlArgs {
    /// Snapshot file to run the queries on; without it, only the queries are compared
    snapshot: Option<PathBuf>,
    /// Dataset: JSON lines with `id`, `query` or `sparql_query`, and optionally `annotated` or `sparql_annotated`,
    /// `complexity`, `instructions`
    #[arg(long, value_name = "FILE", requires = "pred", required_unless_present = "generated")]
    gold: Option<PathBuf>,
    /// Predictions: JSON lines with one text each in the order of the dataset, or objects with `id` and `prediction`.
    /// The query is the text between [QUERY] and [/QUERY]
    #[arg(long, value_name = "FILE", requires = "gold")]
    pred: Option<PathBuf>,
    /// Dataset and predictions in one file as the authors' code writes it: generated_queries.csv
    #[arg(long, value_name = "FILE", conflicts_with_all = ["gold", "pred"])]
    generated: Option<PathBuf>,
    /// Instruction of each query to use, a number from 1; `all` makes an instance of each: predictions then follow the
    /// instructions, or have ids such as 7/2
    #[arg(long, value_name = "N|all", default_value = "1", conflicts_with = "generated")]
    instructions: Instructions,
    /// Predictions are bare queries without tags
    #[arg(long)]
    plain: bool,
    /// Markup around the query in a prediction
    #[arg(long, value_name = "FORM", value_enum, conflicts_with = "plain")]
    extract: Option<QueryMarkup>,
    /// Queries have labels instead of identifiers, such as wdt:[property:instance of]; the snapshot resolves them
    #[arg(long)]
    labelled: bool,
    #[command(flatten)]
    dialect: DialectArgs,
    #[command(flatten)]
    suite: SuiteArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// The markup around a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum QueryMarkup {
    /// [QUERY] and [/QUERY], the benchmark's format
    Tags,
    /// Reply of a language model: the query is found by the rules of docs/reference/replies.md
    Reply,
    /// The same as reply: fences of three backticks
    Fenced,
    /// The same as reply: quotes
    Quoted,
}

/// Extracts the query of a prediction.
fn query(args: &InstructToSparqlArgs, text: &str) -> String {
    match args.extract {
        _ if args.plain => text.to_owned(),
        None | Some(QueryMarkup::Tags) => extract(text).to_owned(),
        Some(QueryMarkup::Reply | QueryMarkup::Fenced | QueryMarkup::Quoted) => {
            reply::query(text, Some(QueryLanguage::Sparql))
        }
    }
}

/// Runs the command.
pub fn run(args: &InstructToSparqlArgs) -> Result<(), CommandError> {
    let mut inputs = BTreeMap::new();
    let (gold, said) = match (&args.generated, &args.gold, &args.pred) {
        (Some(path), ..) => {
            inputs.insert("generated".to_owned(), digest(path)?);
            read_generated(path).map_err(unusable)?
        }
        (None, Some(gold), Some(pred)) => {
            inputs.insert("gold".to_owned(), digest(gold)?);
            inputs.insert("pred".to_owned(), digest(pred)?);
            let gold = read_gold(gold, args.instructions).map_err(unusable)?;
            let said = read_predictions(pred, &gold).map_err(unusable)?;
            (gold, said)
        }
        _ => return Err(CommandError::usage("give --gold and --pred, or --generated")),
    };
    if gold.is_empty() {
        return Err(CommandError::input("empty", "the file has no lines to score"));
    }
    if !args.plain && args.extract.is_none() {
        refuse_without_tags(&said)?;
    }
    let mut instances: Vec<Instance> = gold
        .into_iter()
        .zip(said)
        .enumerate()
        .map(|(index, (gold, text))| gold.instance(index + 1, query(args, &text), args.labelled))
        .collect();
    let dialect = args.dialect.apply(&mut instances);
    let opened = args.snapshot.as_deref().map(open::engine).transpose()?;
    if let (Some(path), None) = (&args.snapshot, opened.as_ref().and_then(Engine::triples)) {
        return Err(CommandError::input("no-triples", format!("{} has no triples", path.display())));
    }
    let snapshot = opened.as_ref().map(Engine::digest);
    let cache = args.run.cache.open(args.snapshot.as_deref())?;
    let benchmark = InstructToSparql { engine: opened.as_ref(), cache: &*cache };
    let about = About {
        benchmark: instruct_to_sparql::REGISTRATION.name.to_owned(),
        snapshot: snapshot.map(str::to_owned),
        content: opened.as_ref().and_then(Engine::content),
        engine: engine(),
        inputs,
        dialect,
        ..About::default()
    };
    let suite = args.suite.open(opened.as_ref(), |path| args.run.cache.open(Some(path)))?;
    suite.need_triples()?;
    let snapshots = RunSnapshots { first: opened.as_ref(), suite: &suite };
    suite.score(&benchmark, None, &on_member, |benchmark| {
        args.run.score(benchmark, snapshots, about, instances, None, &*cache)
    })
}

/// Returns an error if no prediction has tags: then they are almost certainly in another form.
fn refuse_without_tags(said: &[String]) -> Result<(), CommandError> {
    if said.iter().all(|text| text.trim().is_empty()) || said.iter().any(|text| !extract(text).is_empty()) {
        return Ok(());
    }
    let form = match form_of_texts(said) {
        Some(PredictionFormat::Fenced) => "use --extract fenced for the text between fences (```)",
        Some(PredictionFormat::Quoted) => "use --extract quoted for the text in quotes",
        _ => "use --plain to take each text as a query",
    };
    let message =
        format!("no prediction has a query between [QUERY] and [/QUERY]: {form}; --extract tags scores them anyway");
    Err(CommandError::input("other-form", message))
}
