//! `terrapin extract`: a part of a snapshot as a snapshot of its own.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use sha2::{Digest, Sha256};

use super::load::tell;
use super::progress::Shown;
use super::query::{self, text_of};
use super::whole::stop_on_signal;
use super::{Error, open, slips};
use crate::geocoder::Areas;
use crate::load::extract::{Cut, Region, Strategy, What};
use crate::load::{self, Base, Entities, LoadError, Options, Progress, Quiet, region};
use crate::osm::{BoundingBox, ElementType, Ordinal, Osm};
use crate::overpass::syntax::{CsvField, CsvSettings, OutputFormat};
use crate::overpass::turbo::{self, Surroundings};
use crate::overpass::{self, Limits};
use crate::size;
use crate::snapshot::{self, hex};

/// Make a snapshot of a part of another one
///
/// The part is a box, polygons, or what a query prints. What comes with it says the strategy, by the names that osmium has:
/// simple takes the nodes in the region, the ways that have one of them and the relations that have one of these;
/// complete-ways also all nodes of these ways, and relations of relations; smart also all ways and nodes of
/// multipolygons among them. Of a query the elements that it prints are taken; complete-ways adds the nodes of its ways, smart
/// the ways and nodes of its multipolygons. The manifest says what the part was cut from, and how. Triples are left
/// out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin extract malta.terrapin --bbox 14.48,35.88,14.53,35.91 --out valletta.terrapin
  terrapin extract europe.terrapin --poly malta.poly --strategy smart --out malta.terrapin
  terrapin extract malta.terrapin --overpass 'nwr[amenity];out;' --out amenities.terrapin")]
#[command(group = clap::ArgGroup::new("part").required(true).args(["bbox", "poly", "overpass"]))]
pub struct Args {
    /// The snapshot file
    snapshot: PathBuf,
    /// The box, in degrees: west,south,east,north
    #[arg(long, value_name = "W,S,E,N", allow_hyphen_values = true, value_parser = region::bbox)]
    bbox: Option<BoundingBox>,
    /// A file of polygons: .poly as Osmosis has it, or GeoJSON
    #[arg(long, value_name = "FILE")]
    poly: Option<PathBuf>,
    /// A query in OverpassQL, or a file that has one; - is standard input
    #[arg(long, value_name = "QUERY")]
    overpass: Option<String>,
    /// What is taken with the elements of the part
    #[arg(long, value_enum, default_value = "complete-ways")]
    strategy: Named,
    /// The snapshot file to make
    #[arg(long, value_name = "SMALL.terrapin")]
    out: PathBuf,
    /// Memory to use before temporary files are
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
    /// Threads to use [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// The folder for temporary files [default: that of --out]
    #[arg(long, value_name = "DIR")]
    temp: Option<PathBuf>,
    /// Tell what was made as one JSON object, and nothing of the progress
    #[arg(long)]
    json: bool,
}

/// The strategies.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Named {
    #[value(alias = "complete_ways")]
    CompleteWays,
    Smart,
    Simple,
}

impl From<Named> for Strategy {
    fn from(named: Named) -> Strategy {
        match named {
            Named::CompleteWays => Strategy::CompleteWays,
            Named::Smart => Strategy::Smart,
            Named::Simple => Strategy::Simple,
        }
    }
}

/// Runs the command.
pub fn run(args: &Args) -> Result<(), Error> {
    slips::no_address(&args.snapshot)?;
    if let (Ok(from), Ok(to)) = (args.snapshot.canonicalize(), args.out.canonicalize())
        && from == to
    {
        return Err(Error::usage(format!("{} is the snapshot; the part needs a file of its own", args.out.display())));
    }
    let (name, what) = what(args)?;
    let cut = Cut { what, strategy: args.strategy.into(), name };
    let base = Base { snapshot: args.snapshot.clone(), changes: Vec::new(), time: None, cut: Some(cut) };
    let options = Options { memory: args.memory, temporary: args.temp.clone(), ..Options::new(args.out.clone()) };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.threads.map_or(0, usize::from))
        .build()
        .map_err(|e| Error::system("threads", e))?;
    let shown = (!args.json).then(|| Arc::new(Shown::new()));
    let progress: &dyn Progress = shown.as_deref().map_or(&Quiet, |shown| shown);
    stop_on_signal(args.out.clone(), args.json, shown.clone())?;
    crate::allocator::prepare_for_arrays();
    let result = pool.install(|| load::load_from(&base, &options, &Entities::default(), progress));
    if let Some(shown) = &shown {
        shown.finish();
    }
    tell(&args.out, &result.map_err(|e| error(args, e))?, args.json)
}

/// What the part begins with, and how the manifest calls it: by what it is, not by a file's name.
fn what(args: &Args) -> Result<(String, What), Error> {
    if let Some(area) = args.bbox {
        let [west, south, east, north] =
            [area.west, area.south, area.east, area.north].map(|side| f64::from(side) / 1e7);
        return Ok((format!("bbox {west},{south},{east},{north}"), What::Region(Region::Box(area))));
    }
    if let Some(path) = &args.poly {
        let polygons = region::polygons(path).map_err(|e| Error::input("region-broken", e))?;
        let bytes = std::fs::read(path).map_err(|e| Error::input("region-broken", e))?;
        return Ok((format!("polygons of SHA-256 {}", hex(&Sha256::digest(bytes))), What::Region(polygons)));
    }
    let given = args.overpass.as_deref().unwrap_or_default();
    let file = Some(Path::new(given)).filter(|path| given == "-" || path.is_file());
    let (text, origin) = text_of(file.is_none().then_some(given), file)?;
    let elements = found(&args.snapshot, &text, origin)?;
    Ok((format!("query {}", text.trim()), What::Elements(elements)))
}

/// The elements that a query prints.
fn found(path: &Path, written: &str, origin: String) -> Result<[Vec<Ordinal>; 3], Error> {
    let (opened, osm) = open::elements(path)?;
    let areas = Areas::new(&osm);
    let surroundings = Surroundings { bbox: None, now: opened.manifest.data_timestamp, places: &areas };
    let text = turbo::expand(written, &surroundings).map_err(|e| Error::usage(format!("the query: {e}")))?.into_owned();
    let mut lines = Vec::new();
    let result = overpass::parse(&text).and_then(|mut script| {
        let fields = ["type", "id"].map(|name| CsvField::Special(name.to_owned())).into();
        script.settings.output = OutputFormat::Csv(CsvSettings { fields, header: false, separator: " ".to_owned() });
        overpass::run(&osm, &script, &Limits::default(), &mut lines as &mut dyn Write)
    });
    osm.check().map_err(open::error)?;
    result.map_err(|failure| query::stopped(failure, text, origin))?;
    let mut elements = <[Vec<Ordinal>; 3]>::default();
    for line in String::from_utf8_lossy(&lines).lines().filter(|line| !line.trim().is_empty()) {
        let (kind, ordinal) = element(&osm, line).ok_or_else(|| {
            let message = format!("the query prints {line:?}; an extract takes nodes, ways and relations");
            Error::refused("not-extractable", message)
        })?;
        elements[kind as usize].push(ordinal);
    }
    for elements in &mut elements {
        elements.sort_unstable();
        elements.dedup();
    }
    Ok(elements)
}

/// The element that a line of type and id is of.
fn element(osm: &Osm, line: &str) -> Option<(ElementType, Ordinal)> {
    let (name, id) = line.split_once(' ')?;
    let kind = ElementType::ALL.into_iter().find(|kind| kind.name() == name)?;
    Some((kind, osm.find(kind, id.trim().parse().ok()?)?))
}

fn error(args: &Args, error: LoadError) -> Error {
    match error {
        LoadError::Snapshot(snapshot::Error::Io { path, source }) if path != args.snapshot => {
            Error::system("output", format!("{}: {source}", path.display()))
        }
        LoadError::Snapshot(error) => open::error(error),
        error @ LoadError::Temporary(_) => Error::system("output", error),
        error @ LoadError::NothingThere(_) => Error::input("nothing-there", error),
        error => Error::input("source-broken", error),
    }
}
