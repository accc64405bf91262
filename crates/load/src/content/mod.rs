//! The content digest of a snapshot identifies its elements and triples, independently of file, format and program
//! version. `docs/concepts/content-digest.md` defines the canonical form; changing it would change the meaning of all
//! digests.
//!
//! Every element and triple is a record of bytes. The digest is the SHA-256 of the number of records and their
//! SHA-256s in ascending order. It therefore does not depend on the order of the records and can be computed page by
//! page.

mod hashes;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oxrdf::Term;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use terrapin_base::LoadProgress;
use terrapin_base::external_sort::SpillScratch;
use terrapin_base::{machine, temporary};
use terrapin_osm::{CACHE_BYTES, ElementRef, ElementType, MetaRef, Osm, Remembered};
use terrapin_snapshot::{Error, Manifest, Snapshot, SnapshotWriter};
use terrapin_triples::{Store, TermId};

use self::hashes::{Hash, Hashes, hash};
use super::LoadError;

/// The prefix of the digested bytes.
const NAME: &[u8] = b"terrapin content 1\n";
/// The number of pages, or of blocks of triples, processed before their records are sorted.
const AT_ONCE: usize = 256;
/// The memory limit in bytes for sorting during verification: the default of a load.
const MEMORY: u64 = 4 << 30;

/// Computes the content digest of a snapshot.
///
/// # Errors
/// Returns an error if the snapshot is damaged, or a file in the system's temporary folder fails.
pub fn digest(snapshot: &Arc<Snapshot>) -> Result<[u8; 32], LoadError> {
    // The memory limit of a container may be lower.
    let memory = machine::memory().map_or(MEMORY, |memory| MEMORY.min(memory / 2));
    let scratch = SpillScratch::new(&temporary::folder(), memory);
    of_stores(&Osm::open(snapshot.clone())?, Store::open(snapshot)?.as_ref(), &scratch)
}

/// Computes the content digest of the sections written so far.
pub(super) fn of_parts(
    out: &Path,
    scratch: &SpillScratch,
    writer: &mut SnapshotWriter,
    manifest: &Manifest,
    progress: &dyn LoadProgress,
) -> Result<[u8; 32], LoadError> {
    progress.phase("digesting the content", 0);
    let (file, sections) = writer.so_far()?;
    let partial = Snapshot::partial(&file, &sections).map_err(|e| Error::io(PathBuf::from(out), e))?;
    let partial = Arc::new(partial);
    let osm = Osm::of(partial.clone(), manifest.counts, manifest.data_timestamp, CACHE_BYTES);
    let store = if manifest.triples.is_some() { Store::open(&partial)? } else { None };
    of_stores(&osm, store.as_ref(), scratch)
}

fn of_stores(osm: &Osm, store: Option<&Store>, scratch: &SpillScratch) -> Result<[u8; 32], LoadError> {
    let count: u64 = ElementType::ALL.into_iter().map(|kind| osm.count(kind)).sum();
    let mut hashes = Hashes::new(scratch, count + store.map_or(0, |store| store.len()));
    for kind in ElementType::ALL {
        let pages: Vec<u32> = (0..osm.page_count(kind)).collect();
        for pages in pages.chunks(AT_ONCE) {
            let found: Vec<Vec<Hash>> = pages.par_iter().map(|&page| elements(osm, kind, page)).collect();
            found.iter().try_for_each(|found| hashes.extend(found))?;
        }
    }
    osm.check()?;
    if let Some(store) = store {
        triples(store, &mut hashes)?;
        store.check()?;
    }
    let mut digest = Sha256::new();
    digest.update(NAME);
    hashes.digest(&mut digest)?;
    Ok(digest.finalize().into())
}

/// A record. Numbers are 8 bytes, little-endian; a text is its length in bytes and its bytes.
#[derive(Default)]
struct ContentRecord(Vec<u8>);

impl ContentRecord {
    /// Begins a new record in the same buffer.
    fn begin(&mut self, kind: u8) {
        self.0.clear();
        self.0.push(kind);
    }

    fn number(&mut self, number: i64) {
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as i64);
        self.0.extend(text.as_bytes());
    }

    fn hash(&self) -> Hash {
        hash(&Sha256::digest(&self.0))
    }
}

/// Returns `n`, `w` or `r`.
fn letter(kind: ElementType) -> u8 {
    kind.name().as_bytes()[0]
}

/// Returns the hashes of the records of a page's elements.
fn elements(osm: &Osm, kind: ElementType, page: u32) -> Vec<Hash> {
    let mut values = Remembered::new(|page| osm.value_page(page));
    let (tags, metadata) = (osm.tag_page(kind, page), osm.meta_page(kind, page));
    let mut record = ContentRecord::default();
    let mut finish = |slot: usize, id: i64, special: &dyn Fn(&mut ContentRecord)| {
        record.begin(letter(kind));
        record.number(id);
        let MetaRef { version, timestamp, changeset, uid, user } = metadata.meta(slot);
        [version.into(), timestamp, changeset, uid].into_iter().for_each(|number| record.number(number));
        record.text(osm.user_name(user));
        special(&mut record);
        let tags = tags.tags(slot);
        record.number(tags.len() as i64);
        for &pair in tags {
            let values = values.get(pair / Osm::VALUES_ON_PAGE as u32);
            let slot = (pair % Osm::VALUES_ON_PAGE as u32) as usize;
            record.text(osm.key_name(values.key(slot)));
            record.text(values.get(slot));
        }
        record.hash()
    };
    match kind {
        ElementType::Node => {
            let nodes = osm.node_page(page);
            let node = |(slot, (&id, coord)): (usize, (&i64, &terrapin_osm::Coord))| {
                finish(slot, id, &|record| {
                    record.number(coord.lat.into());
                    record.number(coord.lon.into());
                })
            };
            nodes.ids.iter().zip(&nodes.coords).enumerate().map(node).collect()
        }
        ElementType::Way => {
            let ways = osm.way_page(page);
            let all: Vec<ElementRef> = (0..ways.ids.len()).flat_map(|slot| ways.nodes(slot)).copied().collect();
            let all = osm.ref_ids(ElementType::Node, &all);
            let mut rest = &all[..];
            let way = |(slot, &id): (usize, &i64)| {
                let nodes;
                (nodes, rest) = rest.split_at(ways.nodes(slot).len());
                finish(slot, id, &|record| {
                    record.number(nodes.len() as i64);
                    nodes.iter().for_each(|&node| record.number(node));
                })
            };
            ways.ids.iter().enumerate().map(way).collect()
        }
        ElementType::Relation => {
            let relations = osm.relation_page(page);
            let relation = |(slot, &id): (usize, &i64)| {
                let members = relations.members(slot);
                finish(slot, id, &|record| {
                    record.number(members.len() as i64);
                    for member in members {
                        record.0.push(letter(member.kind));
                        let ids = osm.ref_ids(member.kind, &[member.element]);
                        record.number(ids.first().copied().unwrap_or_default());
                        record.text(osm.role(member.role));
                    }
                })
            };
            relations.ids.iter().enumerate().map(relation).collect()
        }
    }
}

/// Adds the hashes of the records of all triples: `t`, the graph's name or an empty text, subject, predicate and
/// object as in N-Triples.
fn triples(store: &Store, hashes: &mut Hashes) -> Result<(), LoadError> {
    match store.graphs() {
        None => hash_triples(store, None, store.triples(None, None, None), hashes),
        Some(graphs) => {
            for graph in graphs.names().map(Some).chain([None]) {
                hash_triples(store, graph, graphs.triples(graph, [None; 3]), hashes)?;
            }
            Ok(())
        }
    }
}

fn hash_triples(
    store: &Store,
    graph: Option<TermId>,
    mut triples: impl Iterator<Item = [TermId; 3]>,
    hashes: &mut Hashes,
) -> Result<(), LoadError> {
    let written = |term: TermId| store.term(term).map(|term: Term| term.to_string()).unwrap_or_default();
    let graph = graph.map(written).unwrap_or_default();
    loop {
        let some: Vec<[TermId; 3]> = triples.by_ref().take(AT_ONCE * 1000).collect();
        if some.is_empty() {
            return Ok(());
        }
        // Caches subjects and predicates, which repeat.
        let part = |triples: &[[TermId; 3]]| -> Vec<Hash> {
            let mut last: [Option<(TermId, String)>; 2] = [None, None];
            let mut record = ContentRecord::default();
            let hash = |[subject, predicate, object]: &[TermId; 3]| {
                record.begin(b't');
                record.text(&graph);
                for (term, last) in [subject, predicate].into_iter().zip(&mut last) {
                    if last.as_ref().is_none_or(|(number, _)| number != term) {
                        *last = Some((*term, written(*term)));
                    }
                    record.text(last.as_ref().map_or("", |(_, text)| text));
                }
                record.text(&written(*object));
                record.hash()
            };
            triples.iter().map(hash).collect()
        };
        let found: Vec<Vec<Hash>> = some.par_chunks(4096).map(part).collect();
        found.iter().try_for_each(|found| hashes.extend(found))?;
    }
}
