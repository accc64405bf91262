//! Collects the elements of a source until it ends, then selects the newest version of each, with its tags.

use rayon::prelude::*;
use terrapin_base::external_sort::{RecordSpool, SortRows, Sorted, Sorter, SpillScratch, SpoolBlock, SpoolWriter};

use super::ElementBuildError;
use super::batch::ElementBatch;
use super::payload::{get_tags, put_members, put_tags};
use super::records::{ElementRecord, SourceVersion, WayNodePosition};
use super::values::PairNumbers;
use super::versions::VersionWriter;
use crate::ElementType;

/// Versions handled at once.
const WINDOW: usize = 1 << 16;

/// The meaning of the tag numbers in a block.
#[derive(Debug, Clone, Copy)]
pub enum BlockTags {
    /// Numbers within the block. `first` is the number of the block's first tag among the tags of all blocks.
    Slots {
        /// The number of the block's first.
        first: u64,
        /// The number of tags in the block.
        count: u32,
    },
    /// Pairs.
    Pairs,
}

/// Elements of one type.
struct GatheredElements {
    spool: SpoolWriter<BlockTags, ElementRecord>,
    /// Whether, so far, all ids were strictly ascending and no version was deleted.
    ordered: bool,
    last: Option<i64>,
    files: ChangeFiles,
}

/// The files of changes from which elements came. Elements before the first file belong to none.
#[derive(Debug, Clone, Default)]
struct ChangeFiles {
    /// Elements so far.
    len: u64,
    /// The number of elements at the start of each file.
    starts: Vec<u64>,
}

impl ChangeFiles {
    /// Returns the number, from 1, of the file that contains the element at a place; 0 if no file does.
    fn of(&self, place: u64) -> usize {
        self.starts.partition_point(|&start| start <= place)
    }
}

impl GatheredElements {
    fn new(scratch: &SpillScratch) -> GatheredElements {
        GatheredElements { spool: SpoolWriter::new(scratch), ordered: true, last: None, files: ChangeFiles::default() }
    }

    fn push(&mut self, tags: BlockTags, rows: SortRows<ElementRecord>) -> Result<(), ElementBuildError> {
        for element in &rows.records {
            self.ordered &= self.last.is_none_or(|last| last < element.id) && !element.is_deleted();
            self.last = Some(element.id);
        }
        self.files.len += rows.records.len() as u64;
        Ok(self.spool.push(tags, rows)?)
    }
}

/// All elements.
pub struct Gather {
    scratch: SpillScratch,
    types: [GatheredElements; 3],
    located: Sorter<WayNodePosition>,
}

impl Gather {
    /// Creates an empty collection.
    pub fn new(scratch: &SpillScratch) -> Gather {
        Gather {
            scratch: scratch.clone(),
            types: ElementType::ALL.map(|_| GatheredElements::new(scratch)),
            located: Sorter::new(scratch),
        }
    }

    /// Begins the next file of changes, to which all later elements belong.
    pub fn begin_changes(&mut self) {
        self.types.iter_mut().for_each(|GatheredElements { files, .. }| files.starts.push(files.len));
    }

    /// Takes in the elements of a block; roles and users are settled.
    pub fn extend(&mut self, batch: ElementBatch, tags: BlockTags) -> Result<(), ElementBuildError> {
        let ElementBatch { nodes, ways, located, relations, members, .. } = batch;
        self.located.extend(&located)?;
        let mut with_members = SortRows::default();
        let (mut rest, mut payload) = (members.into_iter(), Vec::new());
        for relation in &relations.records {
            payload.clear();
            payload.extend_from_slice(relations.payload(relation));
            put_members(&mut payload, rest.by_ref().take(relation.parts()));
            with_members.push(*relation, &payload);
        }
        for (gathered, rows) in self.types.iter_mut().zip([nodes, ways, with_members]) {
            gathered.push(tags, rows)?;
        }
        Ok(())
    }

    /// Returns the newest versions, and the nodes that only occur in ways of the source. All versions go to `versions`
    /// if they are kept. A newest version without a position is an error, unless such nodes are left out.
    pub fn finish(
        self,
        pairs: &PairNumbers,
        mut versions: Option<&mut VersionWriter<'_>>,
        without_unplaced: bool,
    ) -> Result<Newest, ElementBuildError> {
        let mut left_out = LeftOut::default();
        let mut spools = Vec::new();
        for (kind, GatheredElements { spool, ordered, files, .. }) in ElementType::ALL.into_iter().zip(self.types) {
            let spool = spool.finish()?;
            if ordered && versions.is_none() {
                spools.push(spool);
                continue;
            }
            if let Some(versions) = &mut versions {
                versions.begin(kind)?;
            }
            let choice = VersionSelection { kind, scratch: &self.scratch, pairs, files: &files, without_unplaced };
            spools.push(choice.newest(&spool, &mut left_out, versions.as_deref_mut())?);
            if let Some(versions) = &mut versions {
                versions.end()?;
            }
        }
        let located = self.located.finish()?;
        let mut spools = spools.into_iter();
        let mut next = || spools.next().ok_or(ElementBuildError::TooMany("types"));
        Ok(Newest { nodes: next()?, located, ways: next()?, relations: next()?, left_out })
    }
}

/// Counts of the versions of a source that are not the newest ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Versions that another one replaced, or that were deletions.
    pub dropped: u64,
    /// Of these, older versions of nodes without a position.
    pub redacted: u64,
    /// Nodes whose newest version has no position.
    pub unplaced: u64,
}

/// The newest version of every element.
pub struct Newest {
    /// The newest version of each node, in ascending order of id.
    pub nodes: RecordSpool<BlockTags, ElementRecord>,
    /// Positions that came with the ways.
    pub located: Sorted<WayNodePosition>,
    /// The newest version of each way, in ascending order of id.
    pub ways: RecordSpool<BlockTags, ElementRecord>,
    /// The newest version of each relation, in ascending order of id.
    pub relations: RecordSpool<BlockTags, ElementRecord>,
    /// Counts of the versions that were left out.
    pub left_out: LeftOut,
}

impl Newest {
    /// Returns the rest without the nodes, once these are sorted, and deletes their temporary files.
    pub fn without_nodes(self) -> Newest {
        Newest { nodes: RecordSpool::default(), located: Sorted::default(), ..self }
    }
}

/// The inputs for choosing the newest versions of a type.
struct VersionSelection<'a> {
    kind: ElementType,
    scratch: &'a SpillScratch,
    pairs: &'a PairNumbers,
    files: &'a ChangeFiles,
    without_unplaced: bool,
}

impl VersionSelection<'_> {
    /// Keeps the highest version of every id; among equal versions, the last one in the source. If that version is a
    /// deletion, the id is left out.
    fn newest(
        &self,
        spool: &RecordSpool<BlockTags, ElementRecord>,
        left_out: &mut LeftOut,
        mut kept_versions: Option<&mut VersionWriter<'_>>,
    ) -> Result<RecordSpool<BlockTags, ElementRecord>, ElementBuildError> {
        let mut versions = Sorter::new(self.scratch);
        let mut place = 0;
        spool.for_each(|blocks| {
            let settled: Vec<SortRows<SourceVersion>> =
                blocks.par_iter().map(|block| with_pairs(block, self.pairs)).collect();
            for mut rows in settled {
                for version in &mut rows.records {
                    version.place = place;
                    place += 1;
                }
                versions.append(rows.view())?;
            }
            Ok::<_, ElementBuildError>(())
        })?;
        let versions = versions.finish()?;
        let (mut stream, mut kept) = (versions.stream(), SpoolWriter::new(self.scratch));
        // The newest version so far of the last id in the previous window, and the file of changes that contains it or
        // an earlier version.
        let mut open: Option<(SourceVersion, Vec<u8>)> = None;
        let mut from = (0, 0);
        loop {
            let window = stream.take(WINDOW)?;
            let ended = window.records.is_empty();
            let mut rows = SortRows::default();
            for version in window.records {
                if let Some(kept) = &mut kept_versions {
                    kept.push(&version.element, window.payload(version))?;
                }
                let same = open.as_ref().is_some_and(|(last, _)| last.element.id == version.element.id);
                if same {
                    left_out.dropped += 1;
                    left_out.redacted += u64::from(open.as_ref().is_some_and(|(last, _)| last.element.is_unplaced()));
                } else {
                    self.close(&mut rows, open.take(), left_out)?;
                    from = (0, 0);
                }
                from = self.follow(from, version)?;
                open = Some((*version, window.payload(version).to_vec()));
            }
            if ended {
                self.close(&mut rows, open.take(), left_out)?;
            }
            kept.push(BlockTags::Pairs, rows)?;
            if ended {
                return Ok(kept.finish()?);
            }
        }
    }

    /// Keeps the newest version of an id, unless it is a deletion. Returns an error if it has no position.
    fn close(
        &self,
        rows: &mut SortRows<ElementRecord>,
        newest: Option<(SourceVersion, Vec<u8>)>,
        left_out: &mut LeftOut,
    ) -> Result<(), ElementBuildError> {
        match newest {
            Some((version, _)) if version.element.is_unplaced() && !self.without_unplaced => {
                let reason = "its newest version has no position; --skip-bad leaves such nodes out".to_owned();
                return Err(ElementBuildError::Element { kind: self.kind, id: version.element.id, reason });
            }
            Some((version, _)) if version.element.is_deleted() => {
                left_out.dropped += 1;
                left_out.unplaced += u64::from(version.element.is_unplaced());
            }
            Some((version, payload)) => rows.push(version.element, &payload),
            None => {}
        }
        Ok(())
    }

    /// Returns the file of changes that contains a version, and the version number. If the version is in no file of
    /// changes, returns `before`. Returns an error if a higher version is in an earlier file.
    fn follow(&self, before: (usize, u32), version: &SourceVersion) -> Result<(usize, u32), ElementBuildError> {
        let (file, number) = (self.files.of(version.place), version.element.version);
        match before {
            _ if file == 0 => Ok(before),
            (later, lower) if file < later => Err(ElementBuildError::Backwards {
                kind: self.kind,
                id: version.element.id,
                versions: [number, lower],
                files: [file, later],
            }),
            _ => Ok((file, number)),
        }
    }
}

/// Returns a block's elements with their tags as pairs.
fn with_pairs(block: &SpoolBlock<BlockTags, ElementRecord>, pairs: &PairNumbers) -> SortRows<SourceVersion> {
    let table = TagTable::of(block.head, pairs);
    let mut rows = SortRows::default();
    let mut payload = Vec::new();
    for element in &block.rows.records {
        let old = block.rows.payload(element);
        payload.clear();
        if !old.is_empty() {
            let (tags, reader) = get_tags(old);
            put_tags(&mut payload, &table.pairs(tags));
            payload.extend_from_slice(&old[reader.position()..]);
        }
        rows.push(SourceVersion { element: *element, place: 0 }, &payload);
    }
    rows
}

/// The table that maps the tag numbers of a block to pairs.
pub struct TagTable(Option<Vec<u32>>);

impl TagTable {
    /// Creates the table of a block.
    pub fn of(tags: BlockTags, pairs: &PairNumbers) -> TagTable {
        TagTable(match tags {
            BlockTags::Slots { first, count } => Some(pairs.range(first, count)),
            BlockTags::Pairs => None,
        })
    }

    /// Returns an element's tags as pairs, ascending.
    pub fn pairs(&self, mut tags: Vec<u32>) -> Vec<u32> {
        if let Some(table) = &self.0 {
            tags.iter_mut().for_each(|tag| *tag = table[*tag as usize]);
        }
        tags.sort_unstable();
        tags
    }
}
