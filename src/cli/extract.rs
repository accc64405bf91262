//! `terrapin extract`: makes a snapshot from a part of another.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use sha2::{Digest, Sha256};

use super::benchmark::pairs::pairs;
use super::benchmark::region::{RegionArgs, RegionReport};
use super::load::tell;
use super::progress::Shown;
use super::query::{self, text_of};
use super::whole::stop_on_signal;
use super::work::{self, WorkArgs};
use super::{CommandError, open, slips, stdout};
use crate::base::bitmap::NumberBitmap;
use crate::engine::{OverpassQuery, OverpassRejection, QueryContext};
use crate::load::extract::{ExtractOptions, ExtractRegion, RegionBoxes, Strategy, What};
use crate::load::{self, Base, Entities, LoadError, LoadOptions, LoadProgress, Quiet, region};
use crate::osm::{BoundingBox, Coord, ElementType, Ordinal, Osm};
use crate::overpass::output::{ElementSink, OutCounts, OutputItem};
use crate::overpass::{self, Limits};
use crate::snapshot::{self, hex};

/// Make a snapshot from a part of another snapshot
///
/// The part is a bounding box, polygons or the output of a query. The strategy has osmium's names. simple: the nodes
/// in the region, the ways with such a node, and the relations with such a node or way. complete-ways: also all nodes
/// of these ways, and relations of relations. smart: also all ways and nodes of the multipolygons. For a query, its
/// printed elements are taken; complete-ways adds the nodes of its ways, smart the ways and nodes of its
/// multipolygons. complete-relations completes all relations. The manifest records the source and the region. Triples
/// are left out.
///
/// --for-benchmark runs the gold queries of a file on the snapshot. The part is their region (terrapin benchmark
/// region) with all elements that they read, by default with the strategy complete-relations, so that it answers these
/// queries as the whole snapshot does.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin extract malta.terrapin --bbox 14.48,35.88,14.53,35.91 --out valletta.terrapin
  terrapin extract europe.terrapin --poly malta.poly --strategy smart --out malta.terrapin
  terrapin extract malta.terrapin --overpass 'nwr[amenity];out;' --out amenities.terrapin
  terrapin extract planet.terrapin --for-benchmark dev.jsonl --geocoder nominatim_cache.json --out dev.terrapin")]
#[command(mut_group("RegionArgs", |options| options.requires("for_benchmark")))]
#[command(group = clap::ArgGroup::new("part").required(true).args(["bbox", "poly", "overpass", "for_benchmark"]))]
pub struct ExtractArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// Bounding box in degrees: west,south,east,north
    #[arg(long, value_name = "W,S,E,N", allow_hyphen_values = true, value_parser = region::bbox)]
    bbox: Option<BoundingBox>,
    /// File of polygons: Osmosis .poly or GeoJSON
    #[arg(long, value_name = "FILE")]
    poly: Option<PathBuf>,
    /// OverpassQL query, or a file with one; - is standard input
    #[arg(long, value_name = "QUERY")]
    overpass: Option<String>,
    /// File of questions and gold queries that the part has to answer
    #[arg(long, value_name = "FILE")]
    for_benchmark: Option<PathBuf>,
    #[command(flatten)]
    region: RegionArgs,
    /// Strategy for completing the elements of the part [default: complete-ways, for a benchmark complete-relations]
    #[arg(long, value_enum)]
    strategy: Option<ExtractStrategy>,
    /// Snapshot file to write
    #[arg(long, value_name = "SMALL.terrapin")]
    out: PathBuf,
    #[command(flatten)]
    work: WorkArgs,
}

/// The strategies.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ExtractStrategy {
    #[value(alias = "complete_ways")]
    CompleteWays,
    Smart,
    Simple,
    CompleteRelations,
}

impl From<ExtractStrategy> for Strategy {
    fn from(named: ExtractStrategy) -> Strategy {
        match named {
            ExtractStrategy::CompleteWays => Strategy::CompleteWays,
            ExtractStrategy::Smart => Strategy::Smart,
            ExtractStrategy::Simple => Strategy::Simple,
            ExtractStrategy::CompleteRelations => Strategy::CompleteRelations,
        }
    }
}

/// Runs the command.
pub fn run(args: &ExtractArgs) -> Result<(), CommandError> {
    slips::no_address(&args.snapshot)?;
    work::not_itself(&args.snapshot, &args.out)?;
    let pool = work::pool(args.work.threads.map_or(0, usize::from))?;
    let (name, what) = pool.install(|| what(args))?;
    let default = if args.for_benchmark.is_some() { Strategy::CompleteRelations } else { Strategy::CompleteWays };
    let cut = ExtractOptions { what, strategy: args.strategy.map_or(default, Strategy::from), name };
    let base =
        Base { snapshot: args.snapshot.clone(), changes: Vec::new(), time: None, cut: Some(cut), perturbation: None };
    let options = LoadOptions {
        memory: args.work.memory,
        temporary: args.work.temp.clone(),
        ..LoadOptions::new(args.out.clone())
    };
    let shown = (!args.work.json).then(|| Arc::new(Shown::new()));
    let progress: &dyn LoadProgress = shown.as_deref().map_or(&Quiet, |shown| shown);
    stop_on_signal(args.out.clone(), args.work.json, shown.clone())?;
    crate::allocator::prepare_for_arrays();
    let result = pool.install(|| load::load_from(&base, &options, &Entities::default(), progress));
    if let Some(shown) = &shown {
        shown.finish();
    }
    tell(&args.out, &result.map_err(|e| error(args, e))?, args.work.json)
}

/// Returns the part's first elements or region, and its description for the manifest: by content, not by file name.
fn what(args: &ExtractArgs) -> Result<(String, What), CommandError> {
    if let Some(area) = args.bbox {
        let [west, south, east, north] =
            [area.west, area.south, area.east, area.north].map(|side| f64::from(side) / 1e7);
        return Ok((format!("bbox {west},{south},{east},{north}"), What::Region(ExtractRegion::Box(area))));
    }
    if let Some(path) = &args.poly {
        let polygons = region::polygons(path).map_err(|e| CommandError::input("region-broken", e))?;
        let bytes = std::fs::read(path).map_err(|e| CommandError::input("region-broken", e))?;
        return Ok((format!("polygons of SHA-256 {}", hex(&Sha256::digest(bytes))), What::Region(polygons)));
    }
    if let Some(file) = &args.for_benchmark {
        return for_benchmark(args, file);
    }
    let given = args.overpass.as_deref().unwrap_or_default();
    let file = Some(Path::new(given)).filter(|path| given == "-" || path.is_file());
    let (text, origin) = text_of(file.is_none().then_some(given), file)?;
    let elements = found(&args.snapshot, &text, origin)?;
    Ok((format!("query {}", text.trim()), What::Elements(elements)))
}

/// Returns the region of a benchmark with the elements that its queries read, and prints a summary.
fn for_benchmark(args: &ExtractArgs, file: &Path) -> Result<(String, What), CommandError> {
    let pairs = pairs(&[file.to_owned()])?;
    let engine = open::engine(&args.snapshot)?;
    let mut found = args.region.survey(Some(&engine), &pairs)?;
    let rectangles = found.rectangles(args.region.rectangles());
    let relations = &mut found.elements[ElementType::Relation as usize];
    open::checked(Some(&engine), || add_areas_around(engine.osm(), &rectangles, relations))?;
    if !args.work.json {
        stdout::tell(RegionReport::of(&found, &rectangles).for_people().trim_end());
    }
    // A cut that does not answer all queries says so to programs as well.
    let lost = found.queries.iter().filter(|query| !query.observed);
    lost.for_each(|query| stdout::tell(&format!("not covered: {}: {}", query.id, query.reason)));
    let mut all = Sha256::new();
    pairs.iter().for_each(|pair| all.update(format!("{}\0{}\0", pair.query, pair.bbox.as_deref().unwrap_or_default())));
    let digest = hex(&all.finalize());
    let observed = found.queries.iter().filter(|query| query.observed).count();
    let name = format!(
        "region of {} gold queries of SHA-256 {digest}, {observed} of them answered, {} rectangles",
        pairs.len(),
        rectangles.len()
    );
    let elements = found.elements.map(|set| set.iter().collect());
    Ok((name, What::RegionAndElements(ExtractRegion::Boxes(RegionBoxes::new(&rectangles)), elements)))
}

/// Adds the relations whose areas contain the middle of a rectangle, such as its country: `is_in` and other queries
/// about the region find them.
fn add_areas_around(osm: &Osm, rectangles: &[BoundingBox], relations: &mut NumberBitmap) {
    for area in rectangles {
        let middle = |low: i32, high: i32| ((i64::from(low) + i64::from(high)) / 2) as i32;
        let at = Coord { lat: middle(area.south, area.north), lon: middle(area.west, area.east) };
        let around = osm.areas().at(osm, at);
        let mut around: Vec<Ordinal> = around.into_iter().filter_map(|area| osm.areas().relation(area)).collect();
        around.sort_unstable();
        relations.extend(&around);
    }
}

/// Returns the elements that a query prints.
fn found(path: &Path, written: &str, origin: String) -> Result<[Vec<Ordinal>; 3], CommandError> {
    let engine = open::engine(path)?;
    let (osm, places) = (engine.osm(), engine.places(None));
    let context = QueryContext { bbox: None, places: &places };
    let prepared = engine.checked(|| engine.prepare_overpass(written, &context)).map_err(open::error)?;
    let OverpassQuery { text, script } = match prepared {
        Ok(query) => query,
        Err(OverpassRejection::Shortcut(problem)) => return Err(CommandError::usage(format!("the query: {problem}"))),
        Err(OverpassRejection::Syntax { text, failure }) => {
            return Err(query::stopped(failure, text.into_owned(), origin));
        }
    };
    let mut found = FoundElements { osm, elements: Default::default(), other: None };
    let result = engine.checked(|| overpass::run_into(osm, &script, &Limits::default(), &mut found));
    result.map_err(open::error)?.map_err(|failure| query::stopped(failure, text.into_owned(), origin))?;
    if let Some(other) = found.other {
        let message = format!("the query prints {other:?}; an extract takes nodes, ways and relations");
        return Err(CommandError::refused("not-extractable", message));
    }
    let mut elements = found.elements;
    for elements in &mut elements {
        elements.sort_unstable();
        elements.dedup();
    }
    Ok(elements)
}

/// The elements that a query prints.
struct FoundElements<'a> {
    osm: &'a Osm,
    elements: [Vec<Ordinal>; 3],
    /// The first printed element that an extract cannot take.
    other: Option<String>,
}

impl ElementSink for FoundElements<'_> {
    fn element(&mut self, item: &OutputItem<'_>) -> io::Result<()> {
        let kind = ElementType::ALL.into_iter().find(|kind| kind.name() == item.type_name);
        match kind.zip(item.id).and_then(|(kind, id)| Some((kind, self.osm.find(kind, id)?))) {
            Some((kind, ordinal)) => self.elements[kind as usize].push(ordinal),
            None => {
                let id = item.id.map_or_else(String::new, |id| format!(" {id}"));
                self.other.get_or_insert_with(|| format!("{}{id}", item.type_name));
            }
        }
        Ok(())
    }

    fn count(&mut self, _: &OutCounts) -> io::Result<()> {
        self.other.get_or_insert_with(|| "count".to_owned());
        Ok(())
    }
}

fn error(args: &ExtractArgs, error: LoadError) -> CommandError {
    match error {
        LoadError::Snapshot(snapshot::Error::Io { path, source }) if path != args.snapshot => {
            CommandError::system("output", format!("{}: {source}", path.display()))
        }
        LoadError::Snapshot(error) => open::error(error),
        error @ LoadError::Temporary(_) => CommandError::system("output", error),
        error @ LoadError::NothingThere(_) => CommandError::input("nothing-there", error),
        error => CommandError::input("source-broken", error),
    }
}
