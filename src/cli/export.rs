//! `terrapin export`: writes a snapshot's elements or triples to a file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::json;

use super::progress::Shown;
use super::whole::{OutputTarget, is_stdout, stop_on_signal};
use super::{CommandError, open, stdout, work};
use crate::base::external_sort::SpillScratch;
use crate::engine::{Engine, EngineOptions};
use crate::export::{self, Compression, ExportError};
use crate::load::{LoadProgress, Quiet};
use crate::osm::layout::VERSION_TIMES;
use crate::rdf::Store;
use crate::size::{self, count};
use crate::temporary;

/// The fraction of the memory for decoded pages: one in this many parts.
const CACHE: u64 = 4;

/// Export the elements or triples of a snapshot to a file
///
/// Elements are written as PBF or XML, by type and id, with tags, members and metadata; triples as N-Triples or
/// N-Quads. Loading the file again gives the same content digest. The same snapshot gives the same bytes, independent
/// of threads, memory and time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  terrapin export malta.terrapin --osm-pbf malta.osm.pbf
  terrapin export malta.terrapin --osm-xml - | bzip2 > malta.osm.bz2
  terrapin export towns.terrapin --nt towns.nt
  terrapin export malta.terrapin --geoparquet malta/
  terrapin export europe.terrapin --osm-pbf europe.osm.pbf --memory 16GiB --temp /scratch")]
#[command(group = clap::ArgGroup::new("target").required(true).args(["osm_pbf", "osm_xml", "nt", "nq"]))]
pub struct ExportArgs {
    /// The snapshot file
    snapshot: PathBuf,
    /// Write the elements as PBF; - is standard output
    #[arg(long, value_name = "FILE")]
    osm_pbf: Option<PathBuf>,
    /// Write the elements as OSM XML
    #[arg(long, value_name = "FILE")]
    osm_xml: Option<PathBuf>,
    /// Write the triples as N-Triples
    #[arg(long, value_name = "FILE")]
    nt: Option<PathBuf>,
    /// Write the triples as N-Quads, with their graphs
    #[arg(long, value_name = "FILE")]
    nq: Option<PathBuf>,
    /// Write the elements as GeoParquet into an empty folder: one subfolder per type, tags as a map, geometry as WKB,
    /// row groups along the Hilbert curve
    #[arg(long, value_name = "DIR", group = "target")]
    geoparquet: Option<PathBuf>,
    /// Compression of PBF blocks; some programs cannot read zstd
    #[arg(long, value_enum, default_value = "zlib", conflicts_with_all = ["osm_xml", "nt", "nq"])]
    compression: Packing,
    /// Memory limit; larger sorts spill to temporary files
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = size::parse)]
    memory: u64,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Folder for temporary files [default: the folder of the output file; for standard output the system's]
    #[arg(long, value_name = "DIR")]
    temp: Option<PathBuf>,
    /// Print a summary as one JSON object, and no progress
    #[arg(long)]
    json: bool,
}

/// The compression of PBF blocks.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Packing {
    Zlib,
    Zstd,
    None,
}

impl From<Packing> for Compression {
    fn from(packing: Packing) -> Compression {
        match packing {
            Packing::Zlib => Compression::Zlib,
            Packing::Zstd => Compression::Zstd,
            Packing::None => Compression::None,
        }
    }
}

impl ExportArgs {
    fn out(&self) -> &Path {
        let out = self.osm_pbf.as_ref().or(self.osm_xml.as_ref()).or(self.nt.as_ref()).or(self.nq.as_ref());
        out.map_or(Path::new(""), PathBuf::as_path)
    }

    fn scratch(&self) -> SpillScratch {
        let out = self.out();
        let folder = match (&self.temp, out.parent()) {
            (Some(folder), _) => folder.clone(),
            (None, _) if is_stdout(out) => temporary::folder(),
            (None, Some(folder)) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        SpillScratch::new(&folder, self.memory)
    }
}

/// Runs the command.
pub fn run(args: &ExportArgs) -> Result<(), CommandError> {
    let options = EngineOptions { cache: args.memory / CACHE, ..EngineOptions::default() };
    let engine = open::engine_with(&args.snapshot, options)?;
    let pool = work::pool(args.threads.map_or(0, usize::from))?;
    #[cfg(not(feature = "geoparquet"))]
    if args.geoparquet.is_some() {
        return Err(super::features::missing("--geoparquet", "geoparquet"));
    }
    #[cfg(feature = "geoparquet")]
    if let Some(folder) = &args.geoparquet {
        return pool.install(|| super::geoparquet::write(&engine, folder, args.json));
    }
    let out = args.out();
    work::not_itself(&args.snapshot, out)?;
    if is_stdout(out) && args.json {
        return Err(CommandError::usage(
            "--json prints its summary to standard output, which already takes the data: write the data to a file",
        ));
    }
    let elements = args.osm_pbf.is_some() || args.osm_xml.is_some();
    let store = if elements { None } else { Some(store(&engine, &args.snapshot)?) };
    let shown = (!args.json).then(|| Arc::new(Shown::new()));
    let progress: &dyn LoadProgress = shown.as_deref().map_or(&Quiet, |shown| shown);
    let mut target = OutputTarget::create(out)?;
    stop_on_signal(out.to_owned(), args.json, shown.clone())?;
    crate::allocator::prepare_for_arrays();
    let result = pool.install(|| match store {
        Some(store) => export::triples(store, args.nq.is_some(), &mut target, progress),
        None => {
            let osm = engine.osm();
            match &args.osm_pbf {
                Some(_) => export::pbf(osm, args.compression.into(), &args.scratch(), &mut target, progress),
                None => export::xml(osm, &args.scratch(), &mut target, progress),
            }
        }
    });
    if let Some(shown) = &shown {
        shown.finish();
    }
    result.map_err(error)?;
    if elements && engine.snapshot().place(VERSION_TIMES).is_some() {
        stdout::tell("terrapin: left out: versions older than the newest");
    }
    let Some(bytes) = target.finish()? else { return Ok(()) };
    let counts = &engine.manifest().counts;
    let triples = store.map(|store| store.len());
    if args.json {
        let snapshot = engine.digest();
        return stdout::print_json(&match triples {
            Some(triples) => json!({"snapshot": snapshot, "bytes": bytes, "triples": triples}),
            None => json!({"snapshot": snapshot, "bytes": bytes, "nodes": counts.nodes, "ways": counts.ways,
                "relations": counts.relations}),
        });
    }
    let what = match triples {
        Some(triples) => format!("{} triples", count(triples)),
        None => {
            format!("{} nodes, {} ways, {} relations", count(counts.nodes), count(counts.ways), count(counts.relations))
        }
    };
    stdout::print(&format!("{}: {}, {what}\n", out.display(), size::show(bytes)))
}

fn store<'a>(engine: &'a Engine, path: &Path) -> Result<&'a Store, CommandError> {
    let store = engine.triples().map(|triples| &*triples.store);
    store.ok_or_else(|| CommandError::input("no-triples", format!("{} has no triples", path.display())))
}

fn error(error: ExportError) -> CommandError {
    match error {
        ExportError::Snapshot(error) => open::error(error),
        ExportError::Temporary(error) => CommandError::system("temporary", error),
        ExportError::Output(error) => CommandError::output(error),
        ExportError::Graphs => CommandError::input("named-graphs", format!("{}: --nq", ExportError::Graphs)),
        other => CommandError::input("not-exportable", other),
    }
}
