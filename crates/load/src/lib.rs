//! Makes a snapshot from source files. The only crate that uses both the readers of files and the builders of
//! sections. It does not know query languages.

mod base;
pub mod content;
mod entities;
mod error;
pub mod extract;
pub mod perturb;
pub mod region;
pub mod room;
mod sources;
mod triples;

pub use base::{Base, replicated_until, replication};
pub use error::LoadError;
pub use terrapin_base::progress::{LoadProgress, Quiet};

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use terrapin_loaders as loaders;
use terrapin_loaders::wikidata::recipe::{Recipe, RecipeLists};

use sources::{describe, warnings_of, while_described};
use terrapin_base::external_sort::SpillScratch;
use terrapin_osm::build::{ElementBatch, ElementBuildReport, ElementBuilder};
use terrapin_osm::{CACHE_BYTES, Osm, areas, names};
use terrapin_snapshot::{Error, Manifest, Snapshot, SnapshotWriter, TIMES};

/// The zstd level for pages. Higher levels cost more time than they save space.
const LEVEL: i32 = 3;

/// The fraction of the memory for blocks in transit: one in this many parts.
const UNDER_WAY: u64 = 4;

/// The licence of OpenStreetMap data.
const OSM_LICENCE: &str = "ODbL-1.0, © OpenStreetMap contributors";

/// The inputs and the output of a load.
#[derive(Debug, Clone)]
pub struct LoadOptions {
    /// The OpenStreetMap file, if any.
    pub osm: Option<PathBuf>,
    /// Files of triples of a part of Wikidata, and dumps of its entities.
    pub wikidata: Vec<PathBuf>,
    /// Files of other triples.
    pub rdf: Vec<PathBuf>,
    /// The time to load from a history file, in seconds since 1970; `None` loads the newest state.
    pub at: Option<i64>,
    /// Keep all versions of a history file.
    pub history: bool,
    /// Leave out versions, timestamps, changesets and users.
    pub without_metadata: bool,
    /// Keep literals as written: `01` and `1` become different terms.
    pub lexical_forms: bool,
    /// The snapshot file to write.
    pub out: PathBuf,
    /// The memory limit in bytes; larger sorts spill to temporary files.
    pub memory: u64,
    /// The folder for temporary files; `None` means the folder of `out`.
    pub temporary: Option<PathBuf>,
}

impl LoadOptions {
    /// Returns options without inputs and with 4 GiB of memory.
    #[must_use]
    pub fn new(out: PathBuf) -> LoadOptions {
        LoadOptions {
            osm: None,
            wikidata: Vec::new(),
            rdf: Vec::new(),
            at: None,
            history: false,
            without_metadata: false,
            lexical_forms: false,
            out,
            memory: 4 << 30,
            temporary: None,
        }
    }
}

/// The result of a load.
#[derive(Debug)]
pub struct Loaded {
    /// The snapshot's digest.
    pub digest: String,
    /// Its manifest.
    pub manifest: Manifest,
    /// The errors of some skipped lines.
    pub warnings: Vec<String>,
}

/// Options for entities of Wikidata.
#[derive(Debug, Clone, Default)]
pub struct Entities {
    /// The recipe with the lists in its files; `None` takes all entities.
    pub recipe: Option<(Recipe, RecipeLists)>,
    /// Skip and count wrong lines, in dumps of entities, N-Triples and N-Quads.
    pub skip_bad: bool,
    /// Accept files without triples, and recipes without a selected entity.
    pub allow_empty: bool,
}

/// Makes a snapshot from an OpenStreetMap file, from triples, or from both, on the current rayon pool.
///
/// # Errors
/// Returns an error if a source is broken or the disk is full. No file remains then.
pub fn load(options: &LoadOptions, progress: &dyn LoadProgress) -> Result<Loaded, LoadError> {
    load_entities(options, &Entities::default(), progress)
}

/// Works like [`load`], with options for entities of Wikidata.
///
/// # Errors
/// Returns the same errors as [`load`].
pub fn load_entities(
    options: &LoadOptions,
    entities: &Entities,
    progress: &dyn LoadProgress,
) -> Result<Loaded, LoadError> {
    make(options, entities, None, progress)
}

/// Works like [`load_entities`], with the elements of a snapshot instead of those of a file; unless only an extract
/// is taken, also with its triples.
///
/// # Errors
/// Returns the same errors as [`load`]. Also returns an error if the base is damaged, or the changes are invalid or not
/// in order. The base stays unchanged.
pub fn load_from(
    base: &Base,
    options: &LoadOptions,
    entities: &Entities,
    progress: &dyn LoadProgress,
) -> Result<Loaded, LoadError> {
    make(options, entities, Some(base), progress)
}

/// Estimates the disk space of a load of elements. Triples, extracts of unknown size, and systems that do not report
/// free space are not covered.
#[must_use]
pub fn room_needed(options: &LoadOptions, base: Option<&Base>) -> Vec<room::Room> {
    let bytes = match base {
        None => options.osm.as_deref().and_then(|path| room::as_pbf(path).ok()),
        Some(base) => base.as_pbf(),
    };
    bytes.map_or_else(Vec::new, |bytes| room::needed(options, bytes))
}

fn make(
    options: &LoadOptions,
    entities: &Entities,
    base: Option<&Base>,
    progress: &dyn LoadProgress,
) -> Result<Loaded, LoadError> {
    check_paths(options, base)?;
    if let Some(room) = room_needed(options, base).into_iter().find(|room| room.free < room.least) {
        return Err(LoadError::Room(room));
    }
    let folder = options.temporary.clone().unwrap_or_else(|| room::folder_of(&options.out));
    let scratch = SpillScratch::new(&folder, options.memory);
    let mut writer = SnapshotWriter::create(&options.out)?;
    let base = base.map(|base| base::OpenBase::open(base, options.memory)).transpose()?;
    let old = base.as_ref().map(base::OpenBase::triples).transpose()?.flatten();
    if options.lexical_forms && old.as_ref().is_some_and(|old| !old.keeps_lexical_forms()) {
        return Err(LoadError::LexicalForms);
    }
    let mut warnings = Vec::new();
    let sink = LoadSink { scratch: &scratch, writer: &mut writer, warnings: &mut warnings };
    let mut manifest = load_osm(options, entities.skip_bad, base.as_ref(), sink, progress)?;
    if old.is_some() || !(options.wikidata.is_empty() && options.rdf.is_empty()) {
        let place = triples::TripleLoad { options, scratch: &scratch, writer: &mut writer, manifest: &mut manifest };
        warnings.extend(triples::load(place, entities, old.as_ref(), progress)?);
    }
    if let Some(base) = &base {
        (manifest.replication_timestamp, manifest.data_timestamp) = base.times(manifest.data_timestamp);
    }
    manifest.content = Some(content::of_parts(&options.out, &scratch, &mut writer, &manifest, progress)?);
    progress.phase("syncing", 0);
    writer.finish(manifest)?;
    let snapshot = Snapshot::open(&options.out)?;
    let manifest = snapshot.manifest().cloned().ok_or_else(|| Error::damaged("manifest", "it is not there"))?;
    Ok(Loaded { digest: snapshot.digest(), manifest, warnings })
}

/// The outputs of a load of elements.
struct LoadSink<'a> {
    scratch: &'a SpillScratch,
    writer: &'a mut SnapshotWriter,
    /// Skipped parts of the sources that are not errors.
    warnings: &'a mut Vec<String>,
}

/// Writes the sections of elements, empty without a source, and begins the manifest.
fn load_osm(
    options: &LoadOptions,
    skip_bad: bool,
    base: Option<&base::OpenBase<'_>>,
    sink: LoadSink<'_>,
    progress: &dyn LoadProgress,
) -> Result<Manifest, LoadError> {
    let LoadSink { scratch, writer, warnings } = sink;
    let mut builder = ElementBuilder::new(scratch);
    if options.history {
        builder.keep_versions();
    }
    if options.without_metadata {
        builder.drop_metadata();
    }
    // In a history file, a version without a position is a redacted one; elsewhere such a node is an error.
    if skip_bad || options.history || options.at.is_some() {
        builder.leave_out_unplaced();
    }
    let (mut sources, mut header, mut selection) = (Vec::new(), loaders::SourceHeader::default(), None);
    if let Some(osm) = &options.osm {
        let describe = || Ok(vec![describe(osm, OSM_LICENCE)?]);
        (sources, header) = while_described(describe, || read(osm, options, &mut builder, progress))?;
        warnings.extend(warnings_of(osm, &header));
    } else if let Some(base) = base {
        let read = || base.read(options, &mut builder, progress, warnings);
        (sources, selection) = while_described(|| base.sources(), read)?;
    }

    let built = builder.finish(writer, LEVEL, progress).map_err(LoadError::from);
    let built = built.map_err(|error| match base {
        Some(base) => base.name_files(error),
        None => error,
    })?;
    let mut remarks = match base {
        Some(base) => base.remark(built.dropped, selection.as_ref()),
        None => remarks(options, &header, built.dropped),
    };
    remarks.extend(left_out(&built));

    progress.phase("building areas", 0);
    let (file, sections) = writer.so_far()?;
    let partial = Snapshot::partial(&file, &sections).map_err(|e| Error::io(&options.out, e))?;
    let osm = Osm::of(Arc::new(partial), built.counts, built.newest, CACHE_BYTES);
    let (found, areas) = areas::build(&osm);
    osm.check()?;
    names::write(&osm, scratch, writer, progress)?;
    drop(osm);
    found.write(writer)?;

    let mut counts = built.counts;
    counts.areas = areas.made;
    Ok(Manifest {
        format_version: 0,
        writer: String::new(),
        sources,
        counts,
        bounding_box: built.bounding_box.map(|b| [b.south, b.west, b.north, b.east]),
        replication_timestamp: options
            .at
            .or(header.replication_timestamp.filter(|t| TIMES.contains(t)))
            .unwrap_or(built.newest),
        data_timestamp: built.newest,
        areas,
        remarks,
        sections: Vec::new(),
        triples: None,
        content: None,
    })
}

/// Returns the manifest's remarks on a file of elements.
fn remarks(options: &LoadOptions, header: &loaders::SourceHeader, dropped: u64) -> Vec<String> {
    if options.history {
        vec![format!(
            "the extract is a history file: loaded with its history, {dropped} older or deleted versions kept"
        )]
    } else if let Some(at) = options.at {
        let at = jiff::Timestamp::from_second(at).map_or_else(|_| at.to_string(), |at| at.to_string());
        vec![format!(
            "the extract is a history file: loaded as it was at {at}, {dropped} other or deleted versions left out"
        )]
    } else if header.history {
        vec![format!(
            "the extract is a history file: loaded as its newest visible state, {dropped} older or deleted versions left out"
        )]
    } else if dropped > 0 {
        vec![format!("{dropped} older, repeated or deleted versions left out")]
    } else {
        Vec::new()
    }
}

/// Returns the manifest's remarks on skipped content.
fn left_out(built: &ElementBuildReport) -> Vec<String> {
    let some = |count: u64, one: &str, many: &str, what: &str| match count {
        0 => None,
        1 => Some(format!("1 {one} {what}")),
        _ => Some(format!("{count} {many} {what}")),
    };
    let redacted = "without a position, as redacted ones are: there the node does not exist";
    [
        some(
            built.repeated,
            "element has",
            "elements have",
            "a key more than once: the first value of each key was kept",
        ),
        some(built.redacted, "older version of a node", "older versions of nodes", redacted),
        some(built.unplaced, "node", "nodes", "without a position left out"),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Rejects paths that would waste the work or destroy data: the final rename replaces a device or the source itself
/// as readily as an older snapshot.
fn check_paths(options: &LoadOptions, base: Option<&Base>) -> Result<(), Error> {
    let LoadOptions { osm, wikidata, rdf, out, .. } = options;
    let refuse = |path: &Path, kind, why: &str| Err(Error::io(path, io::Error::new(kind, why)));
    // The base may be replaced, because it stays mapped until the end.
    let changes = base.map_or(&[][..], |base| &base.changes);
    for source in osm.iter().chain(wikidata).chain(rdf).chain(changes) {
        // A source is read twice at the same time, for its content and its digest.
        if std::fs::metadata(source).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return refuse(source, io::ErrorKind::InvalidInput, "not a regular file");
        }
        if let (Ok(from), Ok(to)) = (source.canonicalize(), out.canonicalize())
            && from == to
            && !from.is_dir()
        {
            return refuse(out, io::ErrorKind::AlreadyExists, "is the source; a snapshot needs a file of its own");
        }
    }
    match std::fs::metadata(out) {
        Ok(m) if m.is_dir() => return refuse(out, io::ErrorKind::IsADirectory, "is a directory"),
        Ok(m) if !m.is_file() => {
            return refuse(out, io::ErrorKind::AlreadyExists, "is not a regular file, so no snapshot replaces it");
        }
        _ => {}
    }
    Ok(())
}

fn read(
    path: &Path,
    load: &LoadOptions,
    builder: &mut ElementBuilder,
    progress: &dyn LoadProgress,
) -> Result<loaders::SourceHeader, LoadError> {
    progress.phase("reading", std::fs::metadata(path).map_or(0, |m| m.len()));
    let mut read = 0;
    let options = loaders::ReadOptions { memory: load.memory / UNDER_WAY, ..loaders::ReadOptions::default() };
    let map = |block: &loaders::ElementBlock| ElementBatch::read(block, load.at).map_err(LoadError::from);
    let header = loaders::read(path, &options, map, |batch, at| {
        progress.advance(at.bytes_read - read);
        read = at.bytes_read;
        builder.add(batch).map_err(LoadError::from)
    })?;
    // A date needs all versions up to it.
    match load.at {
        _ if load.history && !header.history => Err(LoadError::NoHistory { path: path.to_owned() }),
        Some(_) if !header.history => Err(LoadError::NoHistory { path: path.to_owned() }),
        _ => Ok(header),
    }
}
