//! Gathering blocks and bringing elements into their order.

use super::BuildError;
use super::batch::{Batch, Compound, Located, Numbered, RawMember, Record};
use super::pages::{self, Parts};
use super::place::{WINDOW, link_ways, place_relations, place_ways, resolve_members};
use super::resolve::{Ids, Missing};
use super::tags::{Posting, write_postings, write_values};
use crate::{BoundingBox, Coord, ElementType, hilbert};
use terrapin_base::Progress;
use terrapin_base::external_sort::StringSorter;
use terrapin_base::external_sort::{Records, Scratch, SpillBuffer};
use terrapin_snapshot::{Counts, Writer};

/// The part of the memory that the names of users and roles may take, which stay in memory: one of so many.
const NAMES: usize = 4;
/// Bytes that a name takes beside twice its own, in a list and a table.
const NAME: usize = 100;

/// Gathers the blocks of one or more source files.
pub struct Builder {
    scratch: Scratch,
    nodes: SpillBuffer<Record>,
    ways: SpillBuffer<Compound>,
    refs: SpillBuffer<i64>,
    located: SpillBuffer<Located>,
    relations: SpillBuffer<Compound>,
    members: SpillBuffer<RawMember>,
    tags: SpillBuffer<u32>,
    strings: StringSorter,
    slots: u64,
    users: Numbered<(i64, Box<str>)>,
    roles: Numbered<Box<str>>,
    /// Bytes that users and roles take, or more.
    name_bytes: usize,
    /// Whether ids came strictly ascending and nothing was deleted, so far.
    ordered: [bool; 3],
    last: [Option<i64>; 3],
    newest: i64,
}

/// What a finished build says of itself.
pub struct Built {
    /// How many of everything but areas.
    pub counts: Counts,
    /// The box of all nodes.
    pub bounding_box: Option<BoundingBox>,
    /// The newest element's timestamp, seconds since 1970.
    pub newest: i64,
    /// Versions in the source that another version of the same element replaced, or that were deletions.
    pub dropped: u64,
}

impl Builder {
    /// Nothing gathered yet.
    pub fn new(scratch: &Scratch) -> Builder {
        Builder {
            scratch: scratch.clone(),
            nodes: SpillBuffer::new(scratch),
            ways: SpillBuffer::new(scratch),
            refs: SpillBuffer::new(scratch),
            located: SpillBuffer::new(scratch),
            relations: SpillBuffer::new(scratch),
            members: SpillBuffer::new(scratch),
            tags: SpillBuffer::new(scratch),
            strings: StringSorter::new(scratch),
            slots: 0,
            users: Numbered::default(),
            roles: Numbered::default(),
            name_bytes: 0,
            ordered: [true; 3],
            last: [None; 3],
            newest: 0,
        }
    }

    /// Takes in a block; blocks come in file order.
    ///
    /// # Errors
    /// A temporary file's, too many distinct tags, or more distinct users and roles than memory is for.
    pub fn add(&mut self, mut batch: Batch) -> Result<(), BuildError> {
        let users: Vec<u32> = batch.users.all.iter().map(|user| self.users.number(user, || user.clone())).collect();
        let roles: Vec<u32> = batch.roles.all.iter().map(|role| self.roles.number(role, || role.clone())).collect();
        let names =
            batch.users.all.iter().map(|(_, name)| 2 * name.len()).chain(batch.roles.all.iter().map(|r| 2 * r.len()));
        // More than is new: those of other blocks are counted again only until the first time that it seems too much.
        self.name_bytes += names.map(|len| len + NAME).sum::<usize>();
        if self.name_bytes > self.scratch.memory() / NAMES {
            let users = self.users.all.iter().map(|(_, name)| 2 * name.len() + NAME).sum::<usize>();
            self.name_bytes = users + self.roles.all.iter().map(|role| 2 * role.len() + NAME).sum::<usize>();
            if self.name_bytes > self.scratch.memory() / NAMES {
                return Err(BuildError::Names);
            }
        }
        let slot = u32::try_from(self.slots).map_err(|_| BuildError::TooMany("tags"))?;
        let last_slot = self.slots + batch.pairs.all.len() as u64;
        u32::try_from(last_slot).map_err(|_| BuildError::TooMany("tags"))?;
        for (i, text) in batch.pairs.all.iter().enumerate() {
            self.strings.push(text, self.slots + i as u64)?;
        }
        self.slots = last_slot;

        let tags = self.tags.len();
        let settle = |record: &mut Record| {
            record.tags += tags;
            record.user = users[record.user as usize];
        };
        batch.nodes.iter_mut().for_each(settle);
        let (refs, members) = (self.refs.len(), self.members.len());
        for way in &mut batch.ways {
            settle(&mut way.record);
            way.parts += refs;
        }
        for relation in &mut batch.relations {
            settle(&mut relation.record);
            relation.parts += members;
        }
        batch.members.iter_mut().for_each(|m| m.role = roles[m.role as usize]);
        batch.tags.iter_mut().for_each(|t| *t += slot);

        self.watch(ElementType::Node, batch.nodes.iter());
        self.watch(ElementType::Way, batch.ways.iter().map(|w| &w.record));
        self.watch(ElementType::Relation, batch.relations.iter().map(|r| &r.record));
        self.newest = self.newest.max(batch.newest);
        self.nodes.extend(&batch.nodes)?;
        self.ways.extend(&batch.ways)?;
        self.refs.extend(&batch.refs)?;
        self.located.extend(&batch.located)?;
        self.relations.extend(&batch.relations)?;
        self.members.extend(&batch.members)?;
        Ok(self.tags.extend(&batch.tags)?)
    }

    fn watch<'a>(&mut self, kind: ElementType, records: impl Iterator<Item = &'a Record>) {
        let (ordered, last) = (&mut self.ordered[kind as usize], &mut self.last[kind as usize]);
        for record in records {
            *ordered &= last.is_none_or(|l| l < record.id) && !record.is_deleted();
            *last = Some(record.id);
        }
    }

    /// Brings everything into order and writes the sections of elements, tags, users and roles.
    ///
    /// # Errors
    /// A temporary file's or the snapshot's.
    pub fn finish(self, writer: &mut Writer, level: i32, progress: &dyn Progress) -> Result<Built, BuildError> {
        let scratch = &self.scratch;
        let mut dropped = 0;

        progress.phase("sorting tags", 0);
        let (keys, pairs) = write_values(writer, scratch, self.strings, level)?;

        progress.phase("sorting nodes", 0);
        let nodes = newest_versions(self.nodes, self.ordered[0], scratch, |n| n, &mut dropped)?;
        let nodes = with_located(nodes, self.located, scratch)?;
        let nodes = nodes.sort(scratch, |n| (n.key, n.id))?;
        let node_ids = Ids::of(scratch, nodes.as_slice(), |n| (n.id, hilbert::position(n.key)))?;

        progress.phase("placing ways", self.ways.len());
        let ways = newest_versions(self.ways, self.ordered[1], scratch, |w| &w.record, &mut dropped)?;
        let mut missing = [Missing::new(scratch), Missing::new(scratch), Missing::new(scratch)];
        let refs = self.refs.seal()?;
        let (ways, way_nodes) =
            place_ways(scratch, ways.as_slice(), refs.as_slice(), &node_ids, &mut missing[0], progress)?;
        drop(refs);
        let way_ids = Ids::of(scratch, ways.records.as_slice(), |w| (w.record.id, Coord::MISSING))?;

        progress.phase("placing relations", self.relations.len());
        let relations = newest_versions(self.relations, self.ordered[2], scratch, |r| &r.record, &mut dropped)?;
        let members = self.members.seal()?;
        let relations = place_relations(scratch, relations.as_slice(), members.as_slice(), &node_ids, &way_ids, &ways)?;
        let relation_ids = Ids::of(scratch, relations.records.as_slice(), |r| (r.record.id, Coord::MISSING))?;
        let ids = [&node_ids, &way_ids, &relation_ids];
        let (relation_members, parents) =
            resolve_members(scratch, relations.records.as_slice(), members.as_slice(), ids, &mut missing)?;
        drop(members);
        let [missing_nodes, missing_ways, missing_relations] = missing;
        let missing = [missing_nodes.finish()?, missing_ways.finish()?, missing_relations.finish()?];

        let users = pages::Users::sorted(self.users.all);
        let roles = pages::Roles::sorted(self.roles.all);
        let tags = self.tags.seal()?;
        let way_links = link_ways(scratch, ways.records.as_slice(), way_nodes.as_slice())?;
        let [node_parents, way_parents, relation_parents] = parents;

        let parts = Parts { level, progress, tags: tags.as_slice(), pairs: &pairs, users: &users };
        let mut postings: [SpillBuffer<Posting>; 3] =
            [SpillBuffer::new(scratch), SpillBuffer::new(scratch), SpillBuffer::new(scratch)];

        let kind = ElementType::Node;
        let bounding_box = parts.nodes(writer, nodes.as_slice())?;
        parts.common(writer, kind, nodes.as_slice(), |n| n, &mut postings[0])?;
        parts.parents(writer, kind, nodes.as_slice().len() as u64, &[&way_links, &node_parents])?;
        parts.ids(writer, kind, &node_ids)?;
        let node_count = nodes.as_slice().len() as u64;
        drop((nodes, way_links, node_parents));

        let kind = ElementType::Way;
        parts.ways(writer, &ways, way_nodes.as_slice(), &missing[0])?;
        parts.common(writer, kind, ways.records.as_slice(), |w| &w.record, &mut postings[1])?;
        parts.parents(writer, kind, ways.records.as_slice().len() as u64, &[&way_parents])?;
        parts.ids(writer, kind, &way_ids)?;
        let way_count = ways.records.as_slice().len() as u64;
        drop((ways, way_nodes));

        let kind = ElementType::Relation;
        parts.relations(writer, &relations, relation_members.as_slice(), &missing, &roles)?;
        parts.common(writer, kind, relations.records.as_slice(), |r| &r.record, &mut postings[2])?;
        parts.parents(writer, kind, relations.records.as_slice().len() as u64, &[&relation_parents])?;
        parts.ids(writer, kind, &relation_ids)?;
        let relation_count = relations.records.as_slice().len() as u64;

        users.write(writer, level)?;
        roles.write(writer, level)?;
        pages::write_missing(writer, &missing, level)?;
        let keys = write_postings(writer, keys, postings, level, progress)?;
        Ok(Built {
            counts: Counts {
                nodes: node_count,
                ways: way_count,
                relations: relation_count,
                areas: 0,
                keys: keys.names.len() as u64,
                tags: keys.first_pairs.last().copied().unwrap_or_default().into(),
                users: users.len(),
                missing: [missing[0].len() as u64, missing[1].len() as u64, missing[2].len() as u64],
            },
            bounding_box,
            newest: self.newest,
            dropped,
        })
    }
}

/// Of every id the highest version, the last one in the file where versions are equal; none where that one is deleted.
fn newest_versions<T: bytemuck::Pod + Send + Sync>(
    pile: SpillBuffer<T>,
    ordered: bool,
    scratch: &Scratch,
    record: impl Fn(&T) -> &Record + Sync + Copy,
    dropped: &mut u64,
) -> Result<Records<T>, BuildError> {
    if ordered {
        return Ok(pile.seal()?);
    }
    let sorted = pile.sort_stable(|r| (record(r).id, record(r).version))?;
    let mut kept = SpillBuffer::new(scratch);
    let mut window = Vec::new();
    for versions in sorted.as_slice().chunk_by(|a, b| record(a).id == record(b).id) {
        *dropped += versions.len() as u64 - 1;
        match versions.last() {
            Some(newest) if !record(newest).is_deleted() => window.push(*newest),
            _ => *dropped += 1,
        }
        if window.len() >= WINDOW {
            kept.extend(&window)?;
            window.clear();
        }
    }
    kept.extend(&window)?;
    Ok(kept.seal()?)
}

/// Adds the nodes of which only ways in the source knew, as files with locations on ways have them.
fn with_located(
    nodes: Records<Record>,
    located: SpillBuffer<Located>,
    scratch: &Scratch,
) -> Result<Records<Record>, BuildError> {
    if located.is_empty() {
        return Ok(nodes);
    }
    let located = located.sort(|l| (l.id, l.key))?;
    let nodes = nodes.sort(scratch, |n| n.id)?;
    let mut all = SpillBuffer::new(scratch);
    for window in nodes.as_slice().chunks(WINDOW) {
        all.extend(window)?;
    }
    let mut hint = 0;
    for same in located.as_slice().chunk_by(|a, b| a.id == b.id) {
        let rest = &nodes.as_slice()[hint..];
        hint += rest.partition_point(|n| n.id < same[0].id);
        if nodes.as_slice().get(hint).is_none_or(|n| n.id != same[0].id) {
            let Located { id, key } = same[0];
            all.extend(&[Record { key, id, user: u32::MAX, ..bytemuck::Zeroable::zeroed() }])?;
        }
    }
    Ok(all.seal()?)
}
