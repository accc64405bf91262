//! Elements as they came, brought into their order and written.

use super::BuildError;
use super::batch::{Batch, Compound, Located, RawMember, Record};
use super::pages::{Parts, Roles};
use super::place::{Placed, ResolvedMember, WINDOW, link_ways, place_relations, place_ways, resolve_members};
use super::resolve::{Ids, Links, Missing, Resolved};
use super::tags::Posting;
use crate::{BoundingBox, Coord, ElementType, hilbert};
use terrapin_base::Progress;
use terrapin_base::external_sort::{Records, Scratch, SpillBuffer};
use terrapin_snapshot::{Counts, Writer};

/// Elements as they came.
pub(super) struct Gathered {
    nodes: SpillBuffer<Record>,
    ways: SpillBuffer<Compound>,
    pub(super) refs: SpillBuffer<i64>,
    located: SpillBuffer<Located>,
    relations: SpillBuffer<Compound>,
    pub(super) members: SpillBuffer<RawMember>,
}

impl Gathered {
    pub(super) fn new(scratch: &Scratch) -> Gathered {
        Gathered {
            nodes: SpillBuffer::new(scratch),
            ways: SpillBuffer::new(scratch),
            refs: SpillBuffer::new(scratch),
            located: SpillBuffer::new(scratch),
            relations: SpillBuffer::new(scratch),
            members: SpillBuffer::new(scratch),
        }
    }

    /// Takes in the elements of a block.
    pub(super) fn extend(&mut self, batch: &Batch) -> Result<(), BuildError> {
        self.nodes.extend(&batch.nodes)?;
        self.ways.extend(&batch.ways)?;
        self.refs.extend(&batch.refs)?;
        self.located.extend(&batch.located)?;
        self.relations.extend(&batch.relations)?;
        Ok(self.members.extend(&batch.members)?)
    }

    /// Brings the elements into their order and finds what they refer to. `ordered` says of each type whether its ids
    /// came strictly ascending and nothing was deleted.
    pub(super) fn order(
        self,
        scratch: &Scratch,
        ordered: [bool; 3],
        progress: &dyn Progress,
    ) -> Result<Ordered, BuildError> {
        let mut dropped = 0;
        progress.phase("sorting nodes", 0);
        let nodes = newest_versions(self.nodes, ordered[0], scratch, |n| n, &mut dropped)?;
        let nodes = with_located(nodes, self.located, scratch)?;
        let nodes = nodes.sort(scratch, |n| (n.key, n.id))?;
        let node_ids = Ids::of(scratch, nodes.as_slice(), |n| (n.id, hilbert::position(n.key)))?;

        progress.phase("placing ways", self.ways.len());
        let ways = newest_versions(self.ways, ordered[1], scratch, |w| &w.record, &mut dropped)?;
        let mut missing = [Missing::new(scratch), Missing::new(scratch), Missing::new(scratch)];
        let refs = self.refs.seal()?;
        let (ways, way_nodes) =
            place_ways(scratch, ways.as_slice(), refs.as_slice(), &node_ids, &mut missing[0], progress)?;
        drop(refs);
        let way_ids = Ids::of(scratch, ways.records.as_slice(), |w| (w.record.id, Coord::MISSING))?;

        progress.phase("placing relations", self.relations.len());
        let relations = newest_versions(self.relations, ordered[2], scratch, |r| &r.record, &mut dropped)?;
        let members = self.members.seal()?;
        let relations = place_relations(scratch, relations.as_slice(), members.as_slice(), &node_ids, &way_ids, &ways)?;
        let relation_ids = Ids::of(scratch, relations.records.as_slice(), |r| (r.record.id, Coord::MISSING))?;
        let ids = [&node_ids, &way_ids, &relation_ids];
        let (relation_members, parents) =
            resolve_members(scratch, relations.records.as_slice(), members.as_slice(), ids, &mut missing)?;
        drop(members);
        let [missing_nodes, missing_ways, missing_relations] = missing;
        let missing = [missing_nodes.finish()?, missing_ways.finish()?, missing_relations.finish()?];
        let ids = [node_ids, way_ids, relation_ids];
        Ok(Ordered { nodes, ways, way_nodes, relations, relation_members, parents, ids, missing, dropped })
    }
}

/// Elements in their order.
pub(super) struct Ordered {
    nodes: Records<Record>,
    ways: Placed,
    way_nodes: Records<Resolved>,
    relations: Placed,
    relation_members: Records<ResolvedMember>,
    /// The relations that have each of a type as a member.
    parents: [Links; 3],
    ids: [Ids; 3],
    /// The ids of each type that are referred to and not there.
    missing: [Vec<i64>; 3],
    /// Versions that another one replaced, or that were deletions.
    pub(super) dropped: u64,
}

/// What is left when the elements are written.
pub(super) struct Written {
    /// The box of all nodes.
    pub(super) bounding_box: Option<BoundingBox>,
    /// The tags of each type.
    pub(super) postings: [SpillBuffer<Posting>; 3],
    /// The ids of each type that are referred to and not there.
    pub(super) missing: [Vec<i64>; 3],
}

impl Ordered {
    /// How many elements there are, and how many are missing; nothing else is counted.
    pub(super) fn counts(&self) -> Counts {
        let [nodes, ways, relations] = &self.missing;
        Counts {
            nodes: self.nodes.as_slice().len() as u64,
            ways: self.ways.records.as_slice().len() as u64,
            relations: self.relations.records.as_slice().len() as u64,
            missing: [nodes.len() as u64, ways.len() as u64, relations.len() as u64],
            ..Counts::default()
        }
    }

    /// Writes the sections of the elements, type by type; what is written is dropped.
    pub(super) fn write(
        self,
        writer: &mut Writer,
        scratch: &Scratch,
        parts: &Parts<'_>,
        roles: &Roles,
    ) -> Result<Written, BuildError> {
        let counts = self.counts();
        let Ordered { nodes, ways, way_nodes, relations, relation_members, parents, ids, missing, .. } = self;
        let [node_parents, way_parents, relation_parents] = parents;
        let way_links = link_ways(scratch, ways.records.as_slice(), way_nodes.as_slice())?;
        let mut postings = [SpillBuffer::new(scratch), SpillBuffer::new(scratch), SpillBuffer::new(scratch)];

        let kind = ElementType::Node;
        let bounding_box = parts.nodes(writer, nodes.as_slice())?;
        parts.common(writer, kind, nodes.as_slice(), |n| n, &mut postings[0])?;
        parts.parents(writer, kind, counts.nodes, &[&way_links, &node_parents])?;
        parts.ids(writer, kind, &ids[0])?;
        drop((nodes, way_links, node_parents));

        let kind = ElementType::Way;
        parts.ways(writer, &ways, way_nodes.as_slice(), &missing[0])?;
        parts.common(writer, kind, ways.records.as_slice(), |w| &w.record, &mut postings[1])?;
        parts.parents(writer, kind, counts.ways, &[&way_parents])?;
        parts.ids(writer, kind, &ids[1])?;
        drop((ways, way_nodes));

        let kind = ElementType::Relation;
        parts.relations(writer, &relations, relation_members.as_slice(), &missing, roles)?;
        parts.common(writer, kind, relations.records.as_slice(), |r| &r.record, &mut postings[2])?;
        parts.parents(writer, kind, counts.relations, &[&relation_parents])?;
        parts.ids(writer, kind, &ids[2])?;
        Ok(Written { bounding_box, postings, missing })
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
