//! `terrapin benchmark region`: computes the part of the globe that gold queries need.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;

use super::super::eval::{field_map, unwritten};
use super::super::work::pool;
use super::super::{CommandError, open, stdout};
use super::bar::bar;
use super::pairs::pairs_of;
use crate::engine::Engine;
use crate::eval::dataset::GoldPair;
use crate::eval::files::{write_lines, write_text};
use crate::eval::region::{BenchmarkRegion, RegionSources, square_kilometres, survey, to_geojson, to_poly};

/// Compute the region that each gold query needs, and their union for `terrapin extract`
///
/// Follows the sets of each query through its syntax tree: boxes of [bbox:] and filters, circles of around, polygons,
/// areas and ids. --geocoder gives the names in {{geocodeArea:...}} their areas. With --snapshot, each query runs on
/// it: areas get their borders, sets that are searched around get their extents, and queries without a place are
/// known to be complete. Queries without a place are listed as global.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Writes a line per query: id, kind (box, area, ids, global, unresolved, nothing, unread), boxes as
south, west, north, east in degrees, areas by id, elements by id, and the reason of the last four kinds.

Examples:
  terrapin benchmark region dataset.dev.query --geocoder nominatim_cache.json --out regions.jsonl
  terrapin benchmark region dev.jsonl --snapshot planet.terrapin --out regions.jsonl --union region.geojson"
)]
pub struct BenchmarkRegionArgs {
    /// Files or folders of questions and gold queries
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The file of regions to write; default: only the summary
    #[arg(long, value_name = "FILE.jsonl")]
    out: Option<PathBuf>,
    /// The file to write the union of all boxes to: GeoJSON, or Osmosis' format if it ends with .poly
    #[arg(long, value_name = "FILE")]
    union: Option<PathBuf>,
    /// Names of fields in the file, such as gold=sparql,nl=text
    #[arg(long, value_name = "FIELD=NAME", value_delimiter = ',')]
    map: Vec<String>,
    /// The snapshot to run the queries on
    #[arg(long, value_name = "SNAPSHOT", required_unless_present = "geocoder")]
    snapshot: Option<PathBuf>,
    #[command(flatten)]
    options: RegionArgs,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Options for regions, also of `terrapin extract`.
#[derive(Debug, clap::Args)]
pub struct RegionArgs {
    /// Geocoded places, as a JSON file in the format of OverpassNL's nominatim_cache.json
    #[arg(long, value_name = "FILE")]
    geocoder: Option<PathBuf>,
    /// Margin around boxes in metres
    #[arg(long, value_name = "METRES", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    margin: u32,
    /// Largest region of a query in square kilometres; a query with a larger one counts as global: of its region, only
    /// the elements that it reads are needed
    #[arg(long, value_name = "KM2", default_value_t = 510_100_000)]
    largest: u32,
    /// Maximum number of rectangles of the union
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    rectangles: u32,
    /// Timeout of a query on the snapshot in seconds; a query that reaches it counts as not covered
    #[arg(long = "query-timeout", value_name = "SECONDS", default_value_t = 180)]
    timeout: u64,
}

impl RegionArgs {
    /// Computes the regions of pairs, on the current rayon pool.
    pub fn survey(&self, engine: Option<&Engine>, pairs: &[GoldPair]) -> Result<BenchmarkRegion, CommandError> {
        let table = open::places(self.geocoder.as_deref())?;
        let sources = RegionSources {
            engine,
            table: table.as_ref(),
            margin: f64::from(self.margin),
            largest: f64::from(self.largest),
            timeout: Duration::from_secs(self.timeout),
        };
        let bar = bar(pairs.len());
        let found = open::checked(engine, || survey(pairs, &sources, &|| bar.inc(1)))?;
        bar.finish_and_clear();
        Ok(found)
    }

    /// Returns the maximum number of rectangles.
    pub fn rectangles(&self) -> usize {
        self.rectangles as usize
    }
}

/// The summary.
#[derive(Serialize)]
pub struct RegionReport {
    queries: usize,
    kinds: std::collections::BTreeMap<&'static str, usize>,
    /// The queries whose elements are known, because they were run.
    observed: usize,
    rectangles: usize,
    square_kilometres: u64,
    /// The nodes, ways and relations that the queries read.
    elements: [u64; 3],
}

impl RegionReport {
    /// Summarises regions and their union.
    pub fn of(found: &BenchmarkRegion, rectangles: &[crate::osm::BoundingBox]) -> RegionReport {
        RegionReport {
            queries: found.queries.len(),
            kinds: found.kinds(),
            observed: found.queries.iter().filter(|query| query.observed).count(),
            rectangles: rectangles.len(),
            square_kilometres: square_kilometres(rectangles).round() as u64,
            elements: [0, 1, 2].map(|kind: usize| found.elements.get(kind).map_or(0, |set| set.len())),
        }
    }

    /// Writes it for people.
    pub fn for_people(&self) -> String {
        let kinds: Vec<String> = self.kinds.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let mut text = format!(
            "{:<14} {}: {}\n{:<14} {} rectangles, {} km²\n",
            "queries",
            self.queries,
            kinds.join(", "),
            "region",
            self.rectangles,
            crate::size::count(self.square_kilometres),
        );
        if self.observed > 0 {
            let [nodes, ways, relations] = self.elements.map(crate::size::count);
            text.push_str(&format!(
                "{:<14} {} queries, which read {nodes} nodes, {ways} ways, {relations} relations\n",
                "run", self.observed
            ));
        }
        text
    }
}

/// Runs the command.
pub fn run(args: &BenchmarkRegionArgs) -> Result<(), CommandError> {
    let pairs = pairs_of(&args.files, &field_map(&args.map)?)?;
    let engine = args.snapshot.as_deref().map(open::engine).transpose()?;
    let found = pool(0)?.install(|| args.options.survey(engine.as_ref(), &pairs))?;
    let rectangles = found.rectangles(args.options.rectangles());
    if let Some(out) = &args.out {
        write_lines(out, &found.queries).map_err(unwritten)?;
    }
    if let Some(path) = &args.union {
        let is_poly = path.extension().is_some_and(|extension| extension == "poly");
        let text = if is_poly { to_poly(&rectangles) } else { format!("{}\n", to_geojson(&rectangles)) };
        write_text(Path::new(path), &text).map_err(unwritten)?;
    }
    let report = RegionReport::of(&found, &rectangles);
    if args.json { stdout::print_json(&report) } else { stdout::print(&report.for_people()) }
}
