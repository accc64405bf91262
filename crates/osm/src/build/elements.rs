//! Gathers blocks and writes the sections of all elements at the end.

use super::batch::{ElementBatch, NumberedStrings};
use super::gather::{BlockTags, Gather, LeftOut, Newest};
use super::join::join;
use super::pages::write_sections;
use super::postings::write_postings;
use super::records::Posting;
use super::tables::{Roles, UserTable, write_keys, write_missing};
use super::values::write_values;
use super::versions::VersionWriter;
use super::{BuildContext, ElementBuildError, nodes, relations, ways};
use crate::{BoundingBox, ElementType};
use terrapin_base::LoadProgress;
use terrapin_base::external_sort::{Sorted, Sorter, SpillScratch, StringSorter};
use terrapin_snapshot::{ElementCounts, SnapshotWriter};

/// The names of users and roles, which stay in memory, may take the memory limit divided by this.
const NAMES: usize = 4;
/// Bytes that a name takes in a list and a table, in addition to twice its length.
const NAME: usize = 100;

/// Gathers the blocks of one or more source files.
pub struct ElementBuilder {
    scratch: SpillScratch,
    elements: Gather,
    strings: StringSorter,
    slots: u64,
    users: NumberedStrings<(i64, Box<str>)>,
    roles: NumberedStrings<Box<str>>,
    /// Bytes that users and roles take, or more.
    name_bytes: usize,
    newest: i64,
    later: u64,
    repeated: u64,
    history: bool,
    metadata: bool,
    without_unplaced: bool,
}

/// The report of a finished build.
pub struct ElementBuildReport {
    /// The numbers of all entries except areas.
    pub counts: ElementCounts,
    /// The box of all nodes.
    pub bounding_box: Option<BoundingBox>,
    /// The newest element's timestamp, seconds since 1970.
    pub newest: i64,
    /// Number of versions in the source that were replaced by another version of the same element, were deletions, or
    /// were later than the requested moment.
    pub dropped: u64,
    /// Of these, older versions of nodes without a position, such as redacted ones.
    pub redacted: u64,
    /// Of these, nodes whose newest version has no position.
    pub unplaced: u64,
    /// Elements that had a key more than once: the first value of each is kept.
    pub repeated: u64,
}

impl ElementBuilder {
    /// Creates a builder without elements.
    pub fn new(scratch: &SpillScratch) -> ElementBuilder {
        ElementBuilder {
            scratch: scratch.clone(),
            elements: Gather::new(scratch),
            strings: StringSorter::new(scratch),
            slots: 0,
            users: NumberedStrings::default(),
            roles: NumberedStrings::default(),
            name_bytes: 0,
            newest: 0,
            later: 0,
            repeated: 0,
            history: false,
            metadata: true,
            without_unplaced: false,
        }
    }

    /// Keeps all versions, in sections of their own.
    pub fn keep_versions(&mut self) {
        self.history = true;
    }

    /// Discards versions, times, changesets and users. Version numbers are still used to find the newest version of
    /// each element.
    pub fn drop_metadata(&mut self) {
        self.metadata = false;
    }

    /// Leaves out nodes whose newest version has no position. By default they are an error.
    pub fn leave_out_unplaced(&mut self) {
        self.without_unplaced = true;
    }

    /// Takes in a block; blocks come in file order.
    ///
    /// # Errors
    /// Returns an error if a temporary file fails, if there are too many distinct tags, or if the distinct users and
    /// roles exceed their share of the memory.
    pub fn add(&mut self, mut batch: ElementBatch) -> Result<(), ElementBuildError> {
        if !self.metadata {
            batch.drop_users();
        }
        let users: Vec<u32> = batch.users.all.iter().map(|user| self.users.number(user, || user.clone())).collect();
        let roles: Vec<u32> = batch.roles.all.iter().map(|role| self.roles.number(role, || role.clone())).collect();
        self.count_names(&batch)?;
        let tags = self.add_strings(&batch)?;
        for rows in [&mut batch.nodes, &mut batch.ways, &mut batch.relations] {
            rows.records.iter_mut().for_each(|element| element.user = users[element.user as usize]);
        }
        batch.members.iter_mut().for_each(|m| m.role = roles[m.role as usize]);
        self.newest = self.newest.max(batch.newest);
        self.later += batch.later;
        self.repeated += batch.repeated;
        self.elements.extend(batch, tags)
    }

    /// Begins the next file of changes: all elements added from here on belong to it. For each element, no file may
    /// have a lower version than an earlier file.
    pub fn begin_changes(&mut self) {
        self.elements.begin_changes();
    }

    /// Adds the size of a block's names of users and roles. Returns an error if the total exceeds their share of the
    /// memory.
    fn count_names(&mut self, batch: &ElementBatch) -> Result<(), ElementBuildError> {
        let bytes = |users: &[(i64, Box<str>)], roles: &[Box<str>]| -> usize {
            let names = users.iter().map(|(_, name)| name).chain(roles);
            names.map(|name| 2 * name.len() + NAME).sum()
        };
        let most = self.scratch.memory() / NAMES;
        // More than is new: those of other blocks are counted again only until the first time that it seems too much.
        self.name_bytes += bytes(&batch.users.all, &batch.roles.all);
        if self.name_bytes > most {
            self.name_bytes = bytes(&self.users.all, &self.roles.all);
        }
        if self.name_bytes > most { Err(ElementBuildError::Names) } else { Ok(()) }
    }

    /// Takes in the texts of a block's tags; their numbers.
    fn add_strings(&mut self, batch: &ElementBatch) -> Result<BlockTags, ElementBuildError> {
        let (first, texts) = (self.slots, &batch.pairs.all);
        for (number, text) in (first..).zip(texts) {
            self.strings.push(text, number)?;
        }
        self.slots += texts.len() as u64;
        Ok(BlockTags::Slots { first, count: texts.len() as u32 })
    }

    /// Brings everything into order and writes the sections of elements, tags, users and roles.
    ///
    /// # Errors
    /// Returns an error if a temporary file or the snapshot cannot be written.
    pub fn finish(
        self,
        writer: &mut SnapshotWriter,
        level: i32,
        progress: &dyn LoadProgress,
    ) -> Result<ElementBuildReport, ElementBuildError> {
        let scratch = &self.scratch;
        progress.phase("sorting tags", 0);
        let (keys, pairs) = write_values(writer, scratch, self.strings, level)?;
        let (users, roles) = (UserTable::sorted(self.users.all), Roles::sorted(self.roles.all));
        let mut versions = self.history.then(|| VersionWriter::new(scratch, writer, level, &users, &roles));
        let newest = self.elements.finish(&pairs, versions.as_mut(), self.without_unplaced)?;
        if let Some(versions) = versions {
            versions.finish()?;
        }
        let LeftOut { dropped, redacted, unplaced } = newest.left_out;
        let (dropped, repeated) = (dropped + self.later, self.repeated);
        let metadata = self.metadata;
        let context = BuildContext { scratch, level, progress, pairs: &pairs, users: &users, roles: &roles, metadata };
        let elements = write_elements(&context, writer, newest)?;
        users.write(writer)?;
        roles.write(writer)?;
        for (kind, missing) in ElementType::ALL.into_iter().zip(&elements.missing) {
            write_missing(writer, kind, missing)?;
        }
        let keys = write_postings(&context, writer, keys, &elements.postings)?;
        write_keys(writer, &keys)?;
        let [nodes, ways, relations] = elements.counts;
        let counts = ElementCounts {
            nodes,
            ways,
            relations,
            missing: elements.missing.map(|ids| ids.len() as u64),
            keys: keys.names.len() as u64,
            tags: keys.first_pairs.last().copied().unwrap_or_default().into(),
            users: users.len(),
            ..ElementCounts::default()
        };
        Ok(ElementBuildReport {
            counts,
            bounding_box: elements.bounding_box,
            newest: self.newest,
            dropped,
            redacted,
            unplaced,
            repeated,
        })
    }
}

/// The results of writing all elements.
pub(super) struct WrittenElements {
    /// The number of elements of each type.
    pub counts: [u64; 3],
    bounding_box: Option<BoundingBox>,
    /// The tags of all.
    pub postings: [Sorted<Posting>; 3],
    /// The ids of each type that are referred to and not there.
    pub missing: [Vec<i64>; 3],
}

/// Sorts the elements, resolves their references, and writes their sections.
pub(super) fn write_elements(
    context: &BuildContext<'_>,
    writer: &mut SnapshotWriter,
    newest: Newest,
) -> Result<WrittenElements, ElementBuildError> {
    let scratch = context.scratch;
    let nodes = nodes::sort(context, &newest)?;
    let newest = newest.without_nodes();
    let (nodes, node_entries) = nodes::write(context, nodes)?;

    let (mut to_nodes, mut to_ways) = (Sorter::new(scratch), Sorter::new(scratch));
    ways::references(&newest, &mut to_nodes)?;
    relations::references(&newest, &mut to_nodes, &mut to_ways)?;
    context.progress.phase("finding nodes", 0);
    let node_ids = join(scratch, ElementType::Node, &node_entries, to_nodes.finish()?, context.level)?;
    drop(node_entries);
    let mut found_nodes = node_ids.found.stream();
    let (ways, way_entries, way_links) = ways::write(context, &newest, &mut found_nodes)?;
    let way_ids = join(scratch, ElementType::Way, &way_entries, to_ways.finish()?, context.level)?;
    drop(way_entries);
    let mut found_ways = way_ids.found.stream();
    let (relations, relation_ids, links) = relations::write(context, &newest, &mut found_nodes, &mut found_ways)?;
    drop((found_nodes, found_ways, newest));

    let counts = [nodes.count(), ways.count(), relations.count()];
    let area = nodes.area();
    let [node_links, of_ways, of_relations] = links;
    let of_nodes = [way_links, node_links];
    let missing = [node_ids.missing, way_ids.missing, relation_ids.missing];
    let [node, way, relation] = ElementType::ALL;
    let postings = [
        write_sections(context, writer, node, nodes, &of_nodes, (node_ids.pages, node_ids.first_ids))?,
        write_sections(context, writer, way, ways, &[of_ways], (way_ids.pages, way_ids.first_ids))?,
        write_sections(
            context,
            writer,
            relation,
            relations,
            &[of_relations],
            (relation_ids.pages, relation_ids.first_ids),
        )?,
    ];
    Ok(WrittenElements { counts, bounding_box: (!area.is_empty()).then_some(area), postings, missing })
}
