//! Loads from a snapshot: all elements or an extract of them, with files of changes applied.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use oxrdf::{NamedOrBlankNode, Term, Triple};
use rayon::prelude::*;
use terrapin_base::LoadProgress;
use terrapin_loaders as loaders;
use terrapin_osm::build::{ElementBatch, ElementBuildError, ElementBuilder};
use terrapin_osm::history::History;
use terrapin_osm::{ElementType, Osm};
use terrapin_snapshot::{Manifest, ManifestSource, Snapshot, hex};
use terrapin_triples::{Store, TermId};

use super::extract::{ElementSelection, ExtractOptions};
use super::perturb::{Perturbation, ValueLists};
use super::sources::{describe, warnings_of};
use super::{LoadError, LoadOptions, UNDER_WAY, room};

/// The fraction of the memory for decoded pages of the base: one in this many parts.
const CACHE: u64 = 8;
/// The number of pages per block.
const PAGES: usize = 16;
/// The number of triples copied at once.
const TRIPLES: usize = 1 << 16;

/// A snapshot from which another is made.
#[derive(Debug, Clone)]
pub struct Base {
    /// The snapshot file.
    pub snapshot: PathBuf,
    /// Files of changes, oldest first.
    pub changes: Vec<PathBuf>,
    /// The time of the data after the changes, in seconds since 1970, if known.
    pub time: Option<i64>,
    /// The extract to take; `None` takes everything.
    pub cut: Option<ExtractOptions>,
    /// The perturbation of the elements; `None` keeps them unchanged.
    pub perturbation: Option<Arc<Perturbation>>,
}

impl Base {
    /// Estimates the length in bytes of its elements and the changes as PBF; `None` for an extract, because its size is
    /// unknown.
    pub(super) fn as_pbf(&self) -> Option<u64> {
        let all = || {
            let snapshot = room::of_snapshot(&self.snapshot)?;
            self.changes.iter().try_fold(snapshot, |bytes, path| Ok::<_, io::Error>(bytes + room::as_pbf(path)?))
        };
        if self.cut.is_none() { all().ok() } else { None }
    }
}

/// An open base.
pub(super) struct OpenBase<'a> {
    base: &'a Base,
    osm: Osm,
    snapshot: Arc<Snapshot>,
    manifest: Manifest,
    values: OnceLock<ValueLists>,
}

impl<'a> OpenBase<'a> {
    pub(super) fn open(base: &'a Base, memory: u64) -> Result<Self, LoadError> {
        let snapshot = Arc::new(Snapshot::open(&base.snapshot)?);
        let osm = Osm::open_with(snapshot.clone(), memory / CACHE)?;
        let manifest = snapshot.manifest().cloned().unwrap_or_else(|| unreachable!("an open snapshot has one"));
        Ok(Self { base, osm, snapshot, manifest, values: OnceLock::new() })
    }

    /// Returns the base and the changes as sources for the new manifest.
    pub(super) fn sources(&self) -> Result<Vec<ManifestSource>, LoadError> {
        let mut licences: Vec<&str> = self.manifest.sources.iter().map(|source| &*source.licence).collect();
        licences.sort_unstable();
        licences.dedup();
        // The digest covers all bytes except the names of the sources, which must not matter here.
        let sections = self.manifest.sections.iter();
        let own = ManifestSource {
            name: self.base.snapshot.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            bytes: sections.map(|section| section.offset + section.len).max().unwrap_or_default(),
            sha256: self.snapshot.digest(),
            licence: licences.join("; "),
        };
        let changes = self.base.changes.iter().map(|path| describe(path, super::OSM_LICENCE));
        std::iter::once(Ok(own)).chain(changes).collect()
    }

    /// Reads the elements, then the changes. Returns the selection of an extract, and adds unknown parts of the
    /// changes to `warnings`.
    pub(super) fn read(
        &self,
        options: &LoadOptions,
        builder: &mut ElementBuilder,
        progress: &dyn LoadProgress,
        warnings: &mut Vec<String>,
    ) -> Result<Option<ElementSelection>, LoadError> {
        let selection = self.base.cut.as_ref().map(|cut| cut.select(&self.osm, progress)).transpose()?;
        let total: u64 = ElementType::ALL.into_iter().map(|kind| u64::from(self.osm.page_count(kind))).sum();
        progress.phase("taking over elements", if selection.is_none() { total } else { 0 });
        for kind in ElementType::ALL {
            match &selection {
                None => {
                    let mut pages = 0..self.osm.page_count(kind);
                    self.take_over(kind, &mut pages, |_, _| true, builder, progress)?;
                }
                Some(selection) => {
                    let keep = |page, slot| selection.has(kind, page, slot);
                    self.take_over(kind, &mut selection.pages(kind), keep, builder, progress)?;
                }
            }
        }
        self.osm.check()?;
        for path in &self.base.changes {
            builder.begin_changes();
            let header = read_changes(path, options, builder, progress).map_err(|error| self.name_files(error))?;
            warnings.extend(warnings_of(path, &header));
        }
        Ok(selection)
    }

    /// Returns the most frequent values of each key.
    fn values(&self) -> &ValueLists {
        self.values.get_or_init(|| ValueLists::of(&self.osm))
    }

    fn take_over(
        &self,
        kind: ElementType,
        pages: &mut dyn Iterator<Item = u32>,
        keep: impl Fn(u32, usize) -> bool + Sync,
        builder: &mut ElementBuilder,
        progress: &dyn LoadProgress,
    ) -> Result<(), LoadError> {
        let at_once = PAGES * 2 * rayon::current_num_threads();
        loop {
            let some: Vec<u32> = pages.take(at_once).collect();
            if some.is_empty() {
                return Ok(());
            }
            let batch = |pages: &[u32]| -> Result<ElementBatch, LoadError> {
                let block = self.osm.block(kind, pages, &keep);
                let block = match &self.base.perturbation {
                    Some(perturbation) => perturbation.apply(&block, &self.osm, self.values())?,
                    None => block,
                };
                Ok(ElementBatch::read(&block, None)?)
            };
            let batches: Vec<ElementBatch> = some.par_chunks(PAGES).map(batch).collect::<Result<_, LoadError>>()?;
            batches.into_iter().try_for_each(|batch| builder.add(batch))?;
            progress.advance(some.len() as u64);
        }
    }

    /// Replaces the numbers of files of changes in an error by their names.
    pub(super) fn name_files(&self, error: LoadError) -> LoadError {
        let LoadError::Elements(ElementBuildError::Backwards { kind, id, versions, files }) = error else {
            return error;
        };
        let file = |number: usize| self.base.changes.get(number.wrapping_sub(1)).cloned().unwrap_or_default();
        LoadError::Backwards { kind, id, versions, files: files.map(file) }
    }

    /// Returns the manifest's remark on the origin of the data.
    pub(super) fn remark(&self, dropped: u64, selection: Option<&ElementSelection>) -> Vec<String> {
        let content = self.manifest.content.map_or_else(String::new, |content| format!(", content {}", hex(&content)));
        let snapshot = format!("the snapshot {}{content} (source 1)", self.snapshot.digest());
        let mut remarks = vec![match (&self.base.cut, selection, self.base.changes.len()) {
            (Some(cut), Some(_), _) => format!("cut from {snapshot}: {}", cut.told()),
            (_, _, 0) => match &self.base.perturbation {
                Some(perturbation) => format!("perturbed from {snapshot}: {}", perturbation.told()),
                None => format!("taken over from {snapshot}"),
            },
            (_, _, files) => format!(
                "{files} file{} of changes applied to {snapshot}: {dropped} versions replaced, deleted or older than others",
                if files == 1 { "" } else { "s" }
            ),
        }];
        if self.base.cut.is_some() && self.manifest.triples.is_some() {
            remarks.push("the triples of the snapshot were left out".to_owned());
        }
        if History::of(&self.osm).is_some() {
            remarks.push("the older versions of the snapshot's elements were left out".to_owned());
        }
        remarks
    }

    /// Returns the replication time and the time of the data.
    pub(super) fn times(&self, newest: i64) -> (i64, i64) {
        let data = self.manifest.data_timestamp.max(newest);
        (self.base.time.unwrap_or_else(|| self.manifest.replication_timestamp.max(newest)), data)
    }

    /// Opens the triples of the base to copy; an extract has none.
    pub(super) fn triples(&self) -> Result<Option<Store>, LoadError> {
        if self.base.cut.is_some() { Ok(None) } else { Ok(Store::open(&self.snapshot)?) }
    }
}

/// Returns the files of a mirrored replication folder that are newer than a snapshot's data, up to a time in seconds
/// since 1970 or to the newest state, and the time they reach.
///
/// # Errors
/// Returns an error if the snapshot cannot be opened, or the folder lacks a needed file.
pub fn replication(
    snapshot: &Path,
    folder: &Path,
    until: Option<i64>,
) -> Result<loaders::replication::ChangeSequence, LoadError> {
    Ok(loaders::replication::changes(folder, replicated_until(snapshot)?, until)?)
}

/// Returns the time in seconds since 1970 up to which a snapshot has all changes.
///
/// # Errors
/// Returns an error if the snapshot cannot be opened.
pub fn replicated_until(snapshot: &Path) -> Result<i64, LoadError> {
    let opened = Snapshot::open(snapshot)?;
    Ok(opened.manifest().map_or(0, |manifest| manifest.replication_timestamp))
}

fn read_changes(
    path: &Path,
    load: &LoadOptions,
    builder: &mut ElementBuilder,
    progress: &dyn LoadProgress,
) -> Result<loaders::SourceHeader, LoadError> {
    progress.phase("reading changes", std::fs::metadata(path).map_or(0, |m| m.len()));
    let mut read = 0;
    let options = loaders::ReadOptions { memory: load.memory / UNDER_WAY, ..loaders::ReadOptions::default() };
    let map = |block: &loaders::ElementBlock| ElementBatch::read(block, None).map_err(LoadError::from);
    loaders::read_changes(path, &options, map, |batch, at| {
        progress.advance(at.bytes_read - read);
        read = at.bytes_read;
        builder.add(batch).map_err(LoadError::from)
    })
}

/// Passes all triples of a snapshot to `add`, some thousand at a time, with the names of their graphs as readers pass
/// them.
pub(super) fn each_triple(
    store: &Store,
    mut add: impl FnMut(&[Triple], &[(usize, NamedOrBlankNode)]) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    let mut graph = |name: Option<TermId>, triples: &mut dyn Iterator<Item = [TermId; 3]>| -> Result<(), LoadError> {
        let name = name.and_then(|name| node(store, name));
        loop {
            let some: Vec<[TermId; 3]> = triples.take(TRIPLES).collect();
            if some.is_empty() {
                return Ok(());
            }
            // Damaged triples are missing here; the check below reports them.
            let triples: Vec<Triple> = some.par_iter().filter_map(|triple| whole(store, *triple)).collect();
            let graphs: Vec<_> =
                name.iter().flat_map(|name| (0..triples.len()).map(|place| (place, name.clone()))).collect();
            add(&triples, &graphs)?;
        }
    };
    match store.graphs() {
        None => graph(None, &mut store.triples(None, None, None))?,
        Some(graphs) => {
            for name in graphs.names().map(Some).chain([None]) {
                graph(name, &mut graphs.triples(name, [None; 3]))?;
            }
        }
    }
    Ok(store.check()?)
}

fn node(store: &Store, term: TermId) -> Option<NamedOrBlankNode> {
    match store.term(term)? {
        Term::NamedNode(node) => Some(node.into()),
        Term::BlankNode(node) => Some(node.into()),
        _ => None,
    }
}

fn whole(store: &Store, [subject, predicate, object]: [TermId; 3]) -> Option<Triple> {
    let NamedOrBlankNode::NamedNode(predicate) = node(store, predicate)? else { return None };
    Some(Triple::new(node(store, subject)?, predicate, store.term(object)?))
}
