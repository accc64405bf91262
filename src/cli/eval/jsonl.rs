//! `terrapin eval jsonl`: scores any benchmark from a table of queries.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::{CommandError, open, stdout};
use super::dialect::DialectArgs;
use super::suite::{MemberInputs, SuiteArgs};
use super::{ExtractionFormat, RunArgs, RunSnapshots, digest, digest_of, field_map, forms, unusable};
use crate::eval::about::{About, engine};
use crate::eval::benchmarks::Benchmark;
use crate::eval::benchmarks::jsonl::{self, JsonLines};
use crate::eval::benchmarks::overpassnl::AnswerBounds;

/// Score any benchmark from JSON lines, CSV, TSV or Parquet
///
/// Each record has `gold` and `pred` (or `reference` and `prediction`), and optionally `id`, `nl` (the question),
/// `lang` (overpassql or sparql), `dialect` (of SPARQL: auto, wdqs, qlever or standard), `complexity` (a class), `bbox`
/// (for {{bbox}}: "south,west,north,east") and `places` (geocoded names in the format of nominatim_cache.json). A null
/// prediction counts as missing; other fields are ignored. The file may be JSON lines, a JSON array, Parquet, or a
/// table with a header line. OverpassQL is prepared like Overpass Turbo does, with the time of the data as `now` and
/// JSON output. SPARQL runs unchanged; its answers are compared by values: columns may have any name and order, rows
/// are a multiset, and two empty answers are equal. Lines of T2S-Metrics (`golden`, `generated`, `order_matters`) and
/// the shapes of docs/guides/published.md are read unchanged;
/// --map renames the fields of others.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval jsonl malta.terrapin mine.jsonl --out run
  terrapin eval jsonl malta.terrapin mine.csv --extract reply --model mine-7b --out run
  terrapin eval jsonl corporate.terrapin questions_ck25.yml --pred answers.json --out run
  terrapin eval jsonl wikidata.terrapin theirs.jsonl --map gold=query.sparql,pred=answer,nl=text --out run")]
pub struct EvalJsonlArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// File or folder of instances
    file: PathBuf,
    /// Form of the predictions: reply for replies of a language model; lines for bare queries
    #[arg(long, value_name = "FORM", value_enum, value_delimiter = ',')]
    extract: Vec<ExtractionFormat>,
    /// Predictions, if the file has none: rows with the ids of the instances, such as the answers of TEXT2SPARQL's
    /// client, or one query per line in the same order
    #[arg(long, value_name = "FILE")]
    pred: Option<PathBuf>,
    /// Names of fields in the file, such as gold=sparql,pred=generated; a name may be a path: gold=query.sparql
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',')]
    map: Vec<String>,
    /// Geocoded places for instances without their own, as a JSON file in the format of nominatim_cache.json
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    #[command(flatten)]
    dialect: DialectArgs,
    #[command(flatten)]
    suite: SuiteArgs,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub fn run(args: &EvalJsonlArgs) -> Result<(), CommandError> {
    let (forms, map) = (forms(&args.extract), field_map(&args.map)?);
    let read = match &args.pred {
        None => jsonl::read(&args.file, &forms, &map),
        Some(pred) => jsonl::read_with_predictions(&args.file, pred, &forms, &map),
    };
    let jsonl::JsonlContents { mut instances, unused } = read.map_err(unusable)?;
    if !unused.is_empty() {
        let names: Vec<&str> = unused.iter().map(String::as_str).collect();
        stdout::tell(&format!("note: unused fields: {}", names.join(", ")));
    }
    if instances.is_empty() {
        return Err(CommandError::input("empty", format!("{}: the file has no lines to score", args.file.display())));
    }
    let dialect = args.dialect.apply(&mut instances);
    let mut inputs = BTreeMap::from([("instances".to_owned(), digest_of(&args.file)?)]);
    if let Some(path) = &args.pred {
        inputs.insert("pred".to_owned(), digest(path)?);
    }
    if let Some(path) = &args.places {
        inputs.insert("places".to_owned(), digest(path)?);
    }
    let table = open::places(args.places.as_deref())?;
    let snapshot = open::engine(&args.snapshot)?;
    if let (None, Some(instance)) = (snapshot.triples(), instances.iter().find(|instance| jsonl::is_sparql(instance))) {
        let message = format!("line {} is SPARQL, and the snapshot has no triples", instance.line);
        return Err(CommandError::input("no-triples", message));
    }
    let places = snapshot.places(table.as_ref());
    let cache = args.run.cache.open(Some(&args.snapshot))?;
    let benchmark = JsonLines {
        engine: Some(&snapshot),
        places: &places,
        similarity: true,
        cache: &*cache,
        bounds: AnswerBounds::default(),
    };
    let about = About {
        benchmark: jsonl::REGISTRATION.name.to_owned(),
        snapshot: Some(snapshot.digest().to_owned()),
        content: snapshot.content(),
        engine: engine(),
        inputs,
        dialect,
        ..About::default()
    };
    let suite = args.suite.open(Some(&snapshot), |path| args.run.cache.open(Some(path)))?;
    if instances.iter().any(jsonl::is_sparql) {
        suite.need_triples()?;
    }
    let snapshots = RunSnapshots { first: Some(&snapshot), suite: &suite };
    suite.score(&benchmark, table.as_ref(), &on_member, |benchmark| {
        args.run.score(benchmark, snapshots, about, instances, args.places.as_deref(), &*cache)
    })
}

/// Returns the benchmark on a further snapshot, where only the results are compared.
pub(super) fn on_member(MemberInputs { engine, places, cache }: MemberInputs<'_>) -> Box<dyn Benchmark + '_> {
    Box::new(JsonLines { engine: Some(engine), places, similarity: false, cache, bounds: AnswerBounds::default() })
}
