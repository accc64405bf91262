//! Loading triples: files of RDF into the snapshot's sections of triples.

use std::path::PathBuf;
use std::sync::Arc;

use oxrdf::NamedNodeRef;
use terrapin_loaders as loaders;

use super::{Options, describe};
use crate::osm::build::{BuildError, Progress, Scratch};
use crate::rdf::Store;
use crate::rdf::build::Builder;
use crate::snapshot::{Error, Manifest, Snapshot, Source, TripleCounts, Writer};

const WIKIDATA_LICENCE: &str = "CC0-1.0, Wikidata contributors";
const UNKNOWN_LICENCE: &str = "as its publisher says";
/// What says when an entity was changed last.
const MODIFIED: NamedNodeRef<'_> = NamedNodeRef::new_unchecked("http://schema.org/dateModified");

/// Writes the sections of triples and enters them into the manifest.
pub fn load(
    options: &Options,
    scratch: &Scratch,
    writer: &mut Writer,
    manifest: &mut Manifest,
    progress: &dyn Progress,
) -> Result<(), BuildError> {
    let wikidata = options.wikidata.iter().map(|path| (path, WIKIDATA_LICENCE));
    let files: Vec<(&PathBuf, &str)> = wikidata.chain(options.rdf.iter().map(|path| (path, UNKNOWN_LICENCE))).collect();
    let mut builder = Builder::new(scratch);
    let sources = std::thread::scope(|threads| {
        let sources = threads.spawn(|| {
            files.iter().map(|(path, licence)| describe(path, licence)).collect::<Result<Vec<Source>, BuildError>>()
        });
        for (path, _) in &files {
            read(path, &mut builder, progress)?;
        }
        // A thread that panicked has said why already; there is nothing to add here.
        sources.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    // The order of the files on the command line must not show.
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&i| (&sources[i].sha256, &sources[i].name));
    let mut places = vec![0; sources.len()];
    for (place, &file) in (0..).zip(&order) {
        places[file] = place;
    }
    let built = builder.finish(writer, &places, progress)?;
    let newest = newest(options, writer)?;
    manifest.sources.extend(order.into_iter().map(|i| sources[i].clone()));
    let crate::rdf::build::Built { triples, terms, predicates } = built;
    manifest.triples = Some(TripleCounts { triples, terms, predicates, newest });
    if options.osm.is_none() {
        manifest.data_timestamp = newest;
        manifest.replication_timestamp = newest;
    }
    Ok(())
}

fn read(path: &PathBuf, builder: &mut Builder, progress: &dyn Progress) -> Result<(), BuildError> {
    progress.phase("reading triples", std::fs::metadata(path).map_or(0, |m| m.len()));
    builder.begin_file();
    let mut read = 0;
    loaders::rdf::read(path, &loaders::rdf::Options::default(), |triples, at| {
        progress.advance(at.bytes_read - read);
        read = at.bytes_read;
        builder.add(&triples)
    })?;
    Ok(())
}

/// The newest time of a change, from the triples just written.
fn newest(options: &Options, writer: &mut Writer) -> Result<i64, BuildError> {
    let (file, sections) = writer.so_far()?;
    let partial = Snapshot::partial(&file, &sections).map_err(|e| Error::io(&options.out, e))?;
    let Some(store) = Store::open(&Arc::new(partial))? else { return Ok(0) };
    let Some(modified) = store.id(MODIFIED.into()) else { return Ok(0) };
    let times = store.triples(None, Some(modified), None).filter_map(|[_, _, time]| match store.term(time)? {
        oxrdf::Term::Literal(time) => time.value().parse::<jiff::Timestamp>().ok(),
        _ => None,
    });
    let newest = times.max().map_or(0, jiff::Timestamp::as_second);
    store.check()?;
    Ok(newest)
}
