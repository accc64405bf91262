//! `terrapin benchmark stats`: describes a dataset by the figures of the papers.

use std::path::{Path, PathBuf};

use super::super::eval::{field_map, unwritten};
use super::super::work::pool;
use super::super::{CommandError, stdout};
use super::bar::bar;
use super::pairs::all_pairs;
use super::{EngineArgs, GoldEnvironment};
use crate::eval::dataset::{self, ResultLocations};
use crate::eval::files::write_text;
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
of docs/guides/published.md, such as a folder of OverpassNL or one of its files dataset.dev.query.

Examples:
  terrapin benchmark stats overpassnl/
  terrapin benchmark stats dataset.dev.query --db malta.terrapin --places nominatim_cache.json
  terrapin benchmark stats moved.jsonl --db malta.terrapin --result-map results.svg
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
    /// Write a map of where the results lie: cells with counts, as GeoJSON, or as SVG if the name ends in .svg
    #[arg(long, value_name = "FILE", requires = "db")]
    result_map: Option<PathBuf>,
    /// Side of the map's cells in degrees, from 0.01 to 90 [default: at most 100 cells along each side]
    #[arg(long, value_name = "DEGREES", requires = "result_map", value_parser = side)]
    cell: Option<i32>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Parses the side of a cell. Returns hundredths of a degree.
fn side(text: &str) -> Result<i32, String> {
    let side = text.parse::<f64>().ok().filter(|side| (0.01..=90.0).contains(side));
    side.map(|side| (side * 100.0).round() as i32).ok_or_else(|| "expected degrees from 0.01 to 90".to_owned())
}

/// Writes the map of results.
fn write_map(path: &Path, side: Option<i32>, places: &ResultLocations) -> Result<(), CommandError> {
    let side = side.unwrap_or_else(|| places.default_side());
    let is_svg = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    let text = if is_svg { places.svg(side) } else { format!("{}\n", places.geojson(side)) };
    write_text(path, &text).map_err(unwritten)?;
    let unplaced =
        if places.unplaced > 0 { format!(", {} without a position", places.unplaced) } else { String::new() };
    stdout::tell(&format!("{}: {} results{unplaced}", path.display(), places.placed()));
    Ok(())
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
        let with_locations = args.result_map.is_some();
        let (results, places) = data.with(&args.engine, table.as_ref(), |engine| {
            pool.install(|| dataset::results(engine, &pairs, with_locations, &|| bar.inc(1)))
        });
        bar.finish_and_clear();
        statistics.results = Some(results);
        if let Some(path) = &args.result_map {
            write_map(path, args.cell, &places)?;
        }
    }
    if args.json { stdout::print_json(&statistics) } else { stdout::print(&statistics.to_string()) }
}
