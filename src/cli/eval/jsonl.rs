//! `terrapin eval jsonl`: any benchmark, from a file of JSON lines.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::super::{Error, open};
use super::{RunArgs, digest, unusable};
use crate::eval::about::{About, engine};
use crate::eval::benchmarks::jsonl::{self, JsonLines};
use crate::geocoder::{Areas, Chain, Places, Table};
use crate::sparql::Environment;

/// Score any benchmark from a file of JSON lines
///
/// Each line is an object with `gold` and `pred`, the two queries, and may have `id`, `nl` (the question), `lang`
/// (overpassql or sparql), `complexity` (a class), `bbox` (what {{bbox}} stands for: "south,west,north,east") and
/// `places` (where names lead, in the shape of nominatim_cache.json). OverpassQL is prepared as Overpass Turbo prepares
/// it, with the time of the data as now, and asked for JSON. SPARQL runs as it is; its answers are compared by values:
/// columns may have any name and order, rows are a multiset, and two empty answers are the same.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin eval jsonl malta.terrapin mine.jsonl --out run")]
pub struct Args {
    /// The snapshot file
    snapshot: PathBuf,
    /// The instances
    file: PathBuf,
    /// Where names lead that an instance does not know itself, in the shape of nominatim_cache.json
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    let instances = jsonl::read(&args.file).map_err(unusable)?;
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
    let triples = Environment::open(&opened.snapshot).map_err(open::error)?;
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
    };
    let about = About {
        benchmark: jsonl::REGISTRATION.name.to_owned(),
        snapshot: Some(snapshot.clone()),
        content: opened.content(),
        engine: engine(),
        inputs,
        shard: None,
    };
    args.run.score(&benchmark, about, instances, args.places.as_deref(), &*cache)
}
