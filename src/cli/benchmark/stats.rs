//! `terrapin benchmark stats`: describes a dataset by the figures of the papers.

use std::path::PathBuf;

use super::super::eval::field_map;
use super::super::{CommandError, stdout};
use super::{EngineArgs, GoldEnvironment, all_pairs, bar, pool};
use crate::eval::dataset;
use crate::eval::input::published::FieldMap;

/// Describe a dataset: sizes, words, lengths, language features, keys, templates, results
///
/// Prints the figures of OverpassNL's paper: instances, different words, lengths of questions and queries, syntactic
/// units, features of OverpassQL in use, keys, values and pairs, templates. Of SPARQL: query forms, operators, classes
/// and predicates, complexity, invalid queries. With --db, the queries run on a snapshot, and the results per query are
/// counted.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "A file is anything that `terrapin benchmark check` reads: JSON lines, a JSON array, CSV, TSV, Parquet, and the shapes
of docs/published.md, such as a folder of OverpassNL or one of its files dataset.dev.query.

Examples:
  terrapin benchmark stats overpassnl/
  terrapin benchmark stats dataset.dev.query --db malta.terrapin --places nominatim_cache.json
  terrapin benchmark stats queries.jsonl --json | jq .sparql.complexity"
)]
pub struct BenchmarkStatsArgs {
    /// Files or folders of questions and gold queries
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Snapshot file to run the queries on
    #[arg(long, value_name = "SNAPSHOT")]
    db: Option<PathBuf>,
    /// Names of fields in the file, such as gold=sparql,nl=text
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',')]
    map: Vec<String>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &BenchmarkStatsArgs) -> Result<(), CommandError> {
    let map: FieldMap = field_map(&args.map)?;
    let pairs = all_pairs(&args.files, &map)?;
    let pool = pool(args.engine.threads())?;
    let mut statistics = pool.install(|| dataset::statistics(&pairs));
    if let Some(snapshot) = &args.db {
        let table = args.engine.table()?;
        let data = GoldEnvironment::open(snapshot, &pairs)?;
        let bar = bar(pairs.len());
        let results = data.with(&args.engine, table.as_ref(), |engine| {
            pool.install(|| dataset::results(engine, &pairs, &|| bar.inc(1)))
        });
        bar.finish_and_clear();
        statistics.results = Some(results);
    }
    if args.json { stdout::print_json(&statistics) } else { stdout::print(&statistics.to_string()) }
}
