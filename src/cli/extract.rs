//! `terrapin extract`: makes a snapshot from a part of another.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use sha2::{Digest, Sha256};

use super::load::tell;
use super::progress::Shown;
use super::query::{self, text_of};
use super::whole::stop_on_signal;
use super::{CommandError, open, slips};
use crate::engine::{OverpassQuery, OverpassRejection, QueryContext};
use crate::load::extract::{ExtractOptions, ExtractRegion, Strategy, What};
use crate::load::{self, Base, Entities, LoadError, LoadOptions, LoadProgress, Quiet, region};
use crate::osm::{BoundingBox, ElementType, Ordinal, Osm};
use crate::overpass::output::{ElementSink, OutCounts, OutputItem};
use crate::overpass::{self, Limits};
use crate::size;
use crate::snapshot::{self, hex};

/// Make a snapshot from a part of another snapshot
///
/// The part is a bounding box, polygons or the output of a query. The strategy has osmium's names. simple: the nodes
/// in the region, the ways with such a node, and the relations with such a node or way. complete-ways: also all nodes
/// of these ways, and relations of relations. smart: also all ways and nodes of the multipolygons. For a query, its
/// printed elements are taken; complete-ways adds the nodes of its ways, smart the ways and nodes of its
/// multipolygons. The manifest records the source and the region. Triples are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin extract malta.terrapin --bbox 14.48,35.88,14.53,35.91 --out valletta.terrapin
  terrapin extract europe.terrapin --poly malta.poly --strategy smart --out malta.terrapin
  terrapin extract malta.terrapin --overpass 'nwr[amenity];out;' --out amenities.terrapin")]
#[command(group = clap::ArgGroup::new("part").required(true).args(["bbox", "poly", "overpass"]))]
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
    /// Strategy for completing the elements of the part
    #[arg(long, value_enum, default_value = "complete-ways")]
    strategy: ExtractStrategy,
    /// Snapshot file to write
    #[arg(long, value_name = "SMALL.terrapin")]
    out: PathBuf,
    /// Memory limit; larger sorts spill to temporary files
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Folder for temporary files [default: the folder of --out]
    #[arg(long, value_name = "DIR")]
    temp: Option<PathBuf>,
    /// Print a summary as one JSON object, and no progress
    #[arg(long)]
    json: bool,
}

/// The strategies.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ExtractStrategy {
    #[value(alias = "complete_ways")]
    CompleteWays,
    Smart,
    Simple,
}

impl From<ExtractStrategy> for Strategy {
    fn from(named: ExtractStrategy) -> Strategy {
        match named {
            ExtractStrategy::CompleteWays => Strategy::CompleteWays,
            ExtractStrategy::Smart => Strategy::Smart,
            ExtractStrategy::Simple => Strategy::Simple,
        }
    }
}

/// Runs the command.
pub fn run(args: &ExtractArgs) -> Result<(), CommandError> {
    slips::no_address(&args.snapshot)?;
    if let (Ok(from), Ok(to)) = (args.snapshot.canonicalize(), args.out.canonicalize())
        && from == to
    {
        return Err(CommandError::usage(format!(
            "{} is the snapshot itself: choose another output file",
            args.out.display()
        )));
    }
    let (name, what) = what(args)?;
    let cut = ExtractOptions { what, strategy: args.strategy.into(), name };
    let base = Base { snapshot: args.snapshot.clone(), changes: Vec::new(), time: None, cut: Some(cut) };
    let options =
        LoadOptions { memory: args.memory, temporary: args.temp.clone(), ..LoadOptions::new(args.out.clone()) };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, usize::from))
        .build()
        .map_err(|e| CommandError::system("threads", e))?;
    let shown = (!args.json).then(|| Arc::new(Shown::new()));
    let progress: &dyn LoadProgress = shown.as_deref().map_or(&Quiet, |shown| shown);
    stop_on_signal(args.out.clone(), args.json, shown.clone())?;
    crate::allocator::prepare_for_arrays();
    let result = pool.install(|| load::load_from(&base, &options, &Entities::default(), progress));
    if let Some(shown) = &shown {
        shown.finish();
    }
    tell(&args.out, &result.map_err(|e| error(args, e))?, args.json)
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
    let given = args.overpass.as_deref().unwrap_or_default();
    let file = Some(Path::new(given)).filter(|path| given == "-" || path.is_file());
    let (text, origin) = text_of(file.is_none().then_some(given), file)?;
    let elements = found(&args.snapshot, &text, origin)?;
    Ok((format!("query {}", text.trim()), What::Elements(elements)))
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
