//! `terrapin feedback`: reports errors, results and warnings of a query, for its repair by a model.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::query::{SparqlDialect, text_of};
use super::stdout::{print, print_json};
use super::{CommandError, open, slips};
use crate::eval::feedback::{FeedbackRequest, NoTriples, feedback};
use crate::eval::language::QueryLanguage;
use crate::osm::BoundingBox;
use crate::overpass::Limits;

/// Report what a model needs to repair a query
///
/// For a query with errors: each error with its position and a hint. For a query that runs: the number of results, a
/// short sample, and warnings about keys and values that are missing from the data (with the nearest existing ones),
/// missing ids and areas, parts without results, and unused sets. The exit status is 0 in both cases.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin feedback malta.terrapin 'node[amenty=cafe];out;'
  terrapin feedback malta.terrapin --json -f query.overpassql")]
pub struct FeedbackArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// The query; `-` reads it from standard input
    #[arg(conflicts_with = "file", required_unless_present = "file")]
    query: Option<String>,
    /// Read the query from a file
    #[arg(short, long)]
    file: Option<PathBuf>,
    /// Language of the query: overpassql or sparql [default: detected from its beginning]
    #[arg(long, value_name = "LANGUAGE")]
    lang: Option<QueryLanguage>,
    /// Dialect of a SPARQL query
    #[arg(long, value_enum, ignore_case = true, default_value_t = SparqlDialect::Auto)]
    dialect: SparqlDialect,
    /// Bounding box for {{bbox}}: south,west,north,east
    #[arg(long, value_name = "BOX", allow_hyphen_values = true)]
    bbox: Option<BoundingBox>,
    /// Geocoded places as a JSON file in the format of OverpassNL's nominatim_cache.json
    #[arg(long, value_name = "FILE")]
    places: Option<PathBuf>,
    /// Maximum number of results to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    sample: usize,
    /// Timeout of the query, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    timeout: u64,
    /// Print everything as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(args: &FeedbackArgs) -> Result<(), CommandError> {
    slips::in_order(&args.snapshot, args.query.as_deref())?;
    let (query, _) = text_of(args.query.as_deref(), args.file.as_deref())?;
    let deadline = Instant::now().checked_add(Duration::from_secs(args.timeout));
    let limits = Limits { deadline, ..Limits::default() };
    let engine = open::engine(&args.snapshot)?;
    let table = open::places(args.places.as_deref())?;
    let places = engine.places(table.as_ref());
    let (language, dialect, bbox, sample) = (args.lang, args.dialect.into(), args.bbox, args.sample);
    let (query, places) = (query.as_str(), &places);
    let asked = FeedbackRequest { query, language, dialect, bbox, places, sample, run: true, limits };
    let said = engine.checked(|| feedback(&engine, &asked)).map_err(open::error)?;
    let said = said.map_err(|NoTriples| open::no_triples(&args.snapshot))?;
    if args.json { print_json(&said) } else { print(&said.to_string()) }
}
