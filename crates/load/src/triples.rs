//! Loads files of RDF and dumps of entities into the snapshot's sections of triples.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxrdf::NamedNodeRef;
use terrapin_loaders as loaders;

use super::base::each_triple;
use super::entities::{Dumps, EntityLoadCounts};
use super::sources::describe;
use super::{Entities, LoadError, LoadOptions};
use terrapin_base::LoadProgress;
use terrapin_base::external_sort::SpillScratch;
use terrapin_snapshot::{Error, Manifest, ManifestSource, Snapshot, SnapshotWriter, TripleCounts};
use terrapin_triples::Store;
use terrapin_triples::build::TripleBuilder;

const WIKIDATA_LICENCE: &str = "CC0-1.0, Wikidata contributors";
const UNKNOWN_LICENCE: &str = "as its publisher says";
/// The predicate with the time of an entity's last change.
const MODIFIED: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://schema.org/dateModified");

/// The inputs and the output of a load of triples.
pub struct TripleLoad<'a> {
    pub options: &'a LoadOptions,
    pub scratch: &'a SpillScratch,
    pub writer: &'a mut SnapshotWriter,
    pub manifest: &'a mut Manifest,
}

/// Writes the sections of triples, including the derived ones, and adds them to the manifest. Returns the errors of
/// skipped lines.
pub fn load(
    place: TripleLoad<'_>,
    entities: &Entities,
    old: Option<&Store>,
    progress: &dyn LoadProgress,
) -> Result<Vec<String>, LoadError> {
    let TripleLoad { options, scratch, writer, manifest } = place;
    let wikidata = options.wikidata.iter().map(|path| (path, WIKIDATA_LICENCE));
    let files: Vec<(&PathBuf, &str)> = wikidata.chain(options.rdf.iter().map(|path| (path, UNKNOWN_LICENCE))).collect();
    let mut builder = TripleBuilder::new(scratch);
    if options.lexical_forms || old.is_some_and(Store::keeps_lexical_forms) {
        builder.keep_lexical_forms();
        manifest.remarks.push("literals of triples are kept as written".to_owned());
    }
    let mut dumps = Dumps::prepare(options, entities, writer, manifest)?;
    let mut reads = Vec::new();
    if let Some(old) = old {
        progress.phase("taking over triples", old.len());
        builder.begin_file();
        each_triple(old, |triples, graphs| {
            progress.advance(triples.len() as u64);
            Ok(builder.add(triples, graphs)?)
        })?;
    }
    let sources = std::thread::scope(|threads| {
        let sources = threads.spawn(|| {
            files
                .iter()
                .map(|(path, licence)| describe(path, licence))
                .collect::<Result<Vec<ManifestSource>, LoadError>>()
        });
        dumps.survey(progress)?;
        for (path, _) in &files {
            builder.begin_file();
            reads.push(if dumps.has(path) {
                dumps.read(path, progress, |triples| Ok(builder.add(triples, &[])?))?
            } else {
                read(path, options.memory, entities.skip_bad, progress, |batch| {
                    Ok(builder.add(&batch.triples, &batch.graphs)?)
                })?
            });
        }
        // The thread's panic was already printed.
        sources.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    if !entities.allow_empty {
        check_given(&files, &reads, &dumps)?;
    }
    let order = canonical(&sources);
    // The triples of the base count as the first file.
    let others = usize::from(old.is_some());
    let mut places = vec![0; others + sources.len()];
    for (place, &file) in (others as u32..).zip(&order) {
        places[others + file] = place;
    }
    let mut warnings = Vec::new();
    manifest.remarks.extend(dumps.recipe_text());
    for i in order {
        // Names the file by its number, because the digest does not cover its name.
        let number = manifest.sources.len() + 1;
        manifest.remarks.extend(reads[i].remark(&format!("source {number}")));
        warnings.append(&mut reads[i].errors);
        manifest.sources.push(sources[i].clone());
    }
    let built = builder.finish(writer, &places, progress)?;
    let newest = match written(options, writer)? {
        None => 0,
        Some(store) => {
            terrapin_triples::write_points(&store, scratch, writer)?;
            terrapin_triples::write_labels(&store, scratch, writer, progress)?;
            newest(&store)?
        }
    };
    let terrapin_triples::build::TripleBuildReport { triples, terms, predicates } = built;
    manifest.triples = Some(TripleCounts { triples, terms, predicates, newest });
    if options.osm.is_none() {
        manifest.data_timestamp = newest;
        manifest.replication_timestamp = newest;
    }
    Ok(warnings)
}

/// Returns the files in an order independent of the command line.
fn canonical(sources: &[ManifestSource]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&i| (&sources[i].sha256, &sources[i].name));
    order
}

/// Returns an error if a file has no triples or the recipe selects no entity, since the user probably meant another
/// file or recipe.
fn check_given(files: &[(&PathBuf, &str)], reads: &[EntityLoadCounts], dumps: &Dumps) -> Result<(), LoadError> {
    let mut by_recipe = (Vec::new(), 0);
    for ((path, _), read) in files.iter().zip(reads) {
        if dumps.has_recipe() && dumps.has(path) {
            by_recipe.0.push((*path).clone());
            by_recipe.1 += read.chosen;
        } else if read.triples == 0 {
            return Err(LoadError::NoTriples { path: (*path).clone() });
        }
    }
    match by_recipe {
        (dumps, 0) if !dumps.is_empty() => Err(LoadError::NothingTaken(dumps)),
        _ => Ok(()),
    }
}

fn read(
    path: &Path,
    memory: u64,
    skip_bad: bool,
    progress: &dyn LoadProgress,
    mut add: impl FnMut(&loaders::rdf::TripleBatch) -> Result<(), LoadError>,
) -> Result<EntityLoadCounts, LoadError> {
    progress.phase("reading triples", std::fs::metadata(path).map_or(0, |m| m.len()));
    let mut read = 0;
    let options =
        loaders::rdf::RdfOptions { skip_bad, memory: memory / super::UNDER_WAY, ..loaders::rdf::RdfOptions::default() };
    let summary = loaders::rdf::read(path, &options, |batch, at| {
        progress.advance(at.bytes_read - read);
        read = at.bytes_read;
        add(&batch)
    })?;
    let triples = summary.triples;
    Ok(EntityLoadCounts {
        entities: None,
        chosen: 0,
        triples,
        bad: summary.bad,
        errors: summary.errors.iter().map(ToString::to_string).collect(),
    })
}

/// Opens the triples just written.
fn written(options: &LoadOptions, writer: &mut SnapshotWriter) -> Result<Option<Store>, LoadError> {
    let (file, sections) = writer.so_far()?;
    let partial = Snapshot::partial(&file, &sections).map_err(|e| Error::io(&options.out, e))?;
    Ok(Store::open(&Arc::new(partial))?)
}

/// Returns the newest time of a change.
fn newest(store: &Store) -> Result<i64, LoadError> {
    let Some(modified) = store.id(MODIFIED.into()) else { return Ok(0) };
    let times = store.triples(None, Some(modified), None).filter_map(|[_, _, time]| match store.term(time)? {
        oxrdf::Term::Literal(time) => time.value().parse::<jiff::Timestamp>().ok(),
        _ => None,
    });
    let newest = times.max().map_or(0, jiff::Timestamp::as_second);
    store.check()?;
    Ok(newest)
}
