//! `terrapin eval jsonl`: any benchmark, from a file of JSON lines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::{Error, open, stdout};
use super::{Extract, RunArgs, digest, forms, unusable};
use crate::eval::about::{About, engine};
use crate::eval::benchmarks::jsonl::{self, JsonLines};
use crate::eval::benchmarks::overpassnl::Bounds;
use crate::geocoder::{Areas, Chain, Places, Table};
use crate::sparql::Environment;

/// Score any benchmark from a file of JSON lines, CSV, TSV or Parquet
///
/// Each line is an object with `gold` and `pred` (or `reference` and `prediction`), the two queries, and may have `id`,
/// `nl` (the question), `lang` (overpassql or sparql), `complexity` (a class), `bbox` (what {{bbox}} stands for:
/// "south,west,north,east") and `places` (where names lead, in the shape of nominatim_cache.json). A prediction of null is
/// none, other fields are left alone. An array of such objects will do, and so will Parquet and a table whose first line has the
/// names. OverpassQL is prepared as Overpass Turbo prepares
/// it, with the time of the data as now, and asked for JSON. SPARQL runs as it is; its answers are compared by values:
/// columns may have any name and order, rows are a multiset, and two empty answers are the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval jsonl malta.terrapin mine.jsonl --out run
  terrapin eval jsonl malta.terrapin mine.csv --extract reply --model mine-7b --out run")]
pub struct Args {
    /// The snapshot file
    snapshot: PathBuf,
    /// The instances
    file: PathBuf,
    /// Form of the predictions: reply for replies of a language model; lines takes them unchanged
    #[arg(long, value_name = "FORM", value_enum, value_delimiter = ',')]
    extract: Vec<Extract>,
    /// Where names lead that an instance does not know itself, in the shape of nominatim_cache.json
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let jsonl::Read { instances, unused } = jsonl::read(&args.file, &forms(&args.extract)).map_err(unusable)?;
    if !unused.is_empty() {
        let names: Vec<&str> = unused.iter().map(String::as_str).collect();
        stdout::tell(&format!("note: fields that nothing here uses: {}", names.join(", ")));
    }
    if instances.is_empty() {
        return Err(Error::input("empty", format!("{}: there is no line to score", args.file.display())));
    }
    let mut inputs = BTreeMap::from([("instances".to_owned(), digest(&args.file)?)]);
    if let Some(path) = &args.places {
        inputs.insert("places".to_owned(), digest(path)?);
    }
    let table =
        args.places.as_deref().map(Table::open).transpose().map_err(|e| Error::input("places-unreadable", e))?;
    let (opened, osm) = open::elements(&args.snapshot)?;
    let triples = Environment::open_beside(&opened.snapshot, &osm).map_err(open::error)?;
    if let (None, Some(instance)) = (&triples, instances.iter().find(|instance| jsonl::is_sparql(instance))) {
        let message = format!("line {} is SPARQL, and the snapshot has no triples", instance.line);
        return Err(Error::input("no-triples", message));
    }
    let areas = Areas::new(&osm);
    let mut places = Chain::default();
    places.0.extend(table.as_ref().map(|table| table as &dyn Places));
    places.0.push(&areas);
    let snapshot = opened.snapshot.digest();
    let now = opened.manifest.data_timestamp;
    let cache = args.run.cache.open(Some(&args.snapshot))?;
    let benchmark = JsonLines {
        osm: Some(&osm),
        snapshot: &snapshot,
        triples: triples.as_ref(),
        now,
        places: &places,
        cache: &*cache,
        bounds: Bounds::default(),
    };
    let about = About {
        benchmark: jsonl::REGISTRATION.name.to_owned(),
        snapshot: Some(snapshot.clone()),
        content: opened.content(),
        engine: engine(),
        inputs,
        ..About::default()
    };
    args.run.score(&benchmark, about, instances, args.places.as_deref(), &*cache)
}
