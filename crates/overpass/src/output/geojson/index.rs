//! Indexes the elements of an answer by id, and their references to each other. If the answer shows an element several
//! times, the parts are merged.

use rustc_hash::{FxHashMap, FxHashSet};
use terrapin_budget as budget;
use terrapin_osm::{Coord, ElementType};

use super::lines::{LineVertex, NodeKey};
use super::print::RelationMembership;
use super::record::{GeoJsonRecord, GeoJsonRecords, RecordFields, RecordKind, RecordLine};

/// The elements of one type, in the order of the answer.
#[derive(Default)]
pub(super) struct GeoJsonTable<'r> {
    entries: Vec<GeoJsonEntry<'r>>,
    by_id: FxHashMap<i64, usize>,
}

/// An element of the answer.
enum GeoJsonEntry<'r> {
    /// Its only record.
    Record(&'r [u8]),
    /// The merged parts of several records.
    Merged(Box<GeoJsonRecord<'r>>),
}

impl<'r> GeoJsonEntry<'r> {
    fn read(&self) -> GeoJsonRecord<'r> {
        match self {
            GeoJsonEntry::Record(bytes) => GeoJsonRecord::of(bytes),
            GeoJsonEntry::Merged(record) => **record,
        }
    }
}

impl<'r> GeoJsonTable<'r> {
    fn add(&mut self, bytes: &'r [u8], record: GeoJsonRecord<'r>) {
        let place = *self.by_id.entry(record.id).or_insert(self.entries.len());
        match self.entries.get_mut(place) {
            None => self.entries.push(GeoJsonEntry::Record(bytes)),
            Some(known) => {
                let earlier = known.read();
                if !earlier.parts.has(record.parts) {
                    *known = GeoJsonEntry::Merged(Box::new(record.under(earlier)));
                }
            }
        }
    }

    /// Returns the number of elements.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Iterates over all elements.
    pub(super) fn iter(&self) -> impl Iterator<Item = GeoJsonRecord<'r>> {
        self.entries.iter().map(GeoJsonEntry::read)
    }

    fn find(&self, id: i64) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    fn get(&self, id: i64) -> Option<GeoJsonRecord<'r>> {
        Some(self.entries.get(self.find(id)?)?.read())
    }
}

/// A way whose line is shown as part of a relation in the answer.
pub(super) struct MemberWay<'r> {
    pub(super) id: i64,
    pub(super) line: RecordLine<'r>,
}

/// A member way of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WayPlace {
    /// A way of the answer, by its index.
    Own(usize),
    /// A way as shown by relations, by its index in `member_ways`.
    Member(usize),
}

/// The elements of an answer.
#[derive(Default)]
pub(super) struct GeoJsonIndex<'r> {
    pub(super) nodes: GeoJsonTable<'r>,
    pub(super) ways: GeoJsonTable<'r>,
    pub(super) relations: GeoJsonTable<'r>,
    /// The derived elements, in the order of the answer.
    pub(super) made: Vec<GeoJsonRecord<'r>>,
    pub(super) member_ways: Vec<MemberWay<'r>>,
    member_ways_by_id: FxHashMap<i64, usize>,
    /// Nodes of the answer that are part of ways.
    passed: FxHashSet<i64>,
    /// Nodes that are members of relations.
    members: FxHashSet<i64>,
    /// The needed positions of nodes that only ways and relations show.
    shown: FxHashMap<i64, Coord>,
    /// Those of these nodes that become features, in the order of the answer.
    pub(super) shown_nodes: Vec<(i64, Coord)>,
    memberships: Vec<RelationMembership<'r>>,
}

impl<'r> GeoJsonIndex<'r> {
    pub(super) fn of(records: &'r GeoJsonRecords) -> GeoJsonIndex<'r> {
        let mut index = GeoJsonIndex::default();
        for bytes in records.iter() {
            budget::checkpoints(4);
            let record = GeoJsonRecord::of(bytes);
            match record.kind {
                RecordKind::Element(ElementType::Node) => index.nodes.add(bytes, record),
                RecordKind::Element(ElementType::Way) => index.ways.add(bytes, record),
                RecordKind::Element(ElementType::Relation) => index.relations.add(bytes, record),
                RecordKind::Made => index.made.push(record),
            }
        }
        index.read_members();
        index.read_lines();
        index.read_shown();
        index
    }

    /// Reads the relations: their members, and the lines of members that they show.
    fn read_members(&mut self) {
        for relation in self.relations.iter() {
            let Some(members) = relation.members else { continue };
            let placed = relation.parts.has(RecordFields::PLACED_MEMBERS);
            for member in members.iter() {
                budget::checkpoint();
                self.memberships.push(RelationMembership {
                    of: (member.kind, member.id),
                    relation: relation.id,
                    tags: relation.tags,
                    role: member.role,
                });
                match member.kind {
                    ElementType::Node => {
                        self.members.insert(member.id);
                        if let Some(at) = member.point {
                            self.shown.insert(member.id, at);
                        }
                    }
                    ElementType::Way => {
                        if let Some(line) = member.line.filter(|_| placed) {
                            let ways = &mut self.member_ways;
                            self.member_ways_by_id.entry(member.id).or_insert_with(|| {
                                ways.push(MemberWay { id: member.id, line });
                                ways.len() - 1
                            });
                        }
                    }
                    ElementType::Relation => {}
                }
            }
        }
        // The sort is stable, therefore the order of the members is kept.
        self.memberships.sort_by_key(|membership| (membership.of, membership.relation));
    }

    /// Reads the ways: their nodes, and the needed positions of nodes that are not printed themselves.
    fn read_lines(&mut self) {
        let mut wanted: FxHashSet<i64> = FxHashSet::default();
        for way in self.ways.iter() {
            let Some(nodes) = way.nodes else { continue };
            let mut line = way.geometry.map(RecordLine::iter).into_iter().flatten();
            for id in nodes.iter() {
                budget::checkpoint();
                let known = line.next().flatten().is_some();
                match self.nodes.get(id) {
                    Some(node) => {
                        self.passed.insert(id);
                        if node.position.is_none() {
                            wanted.insert(id);
                        }
                    }
                    None if !known || self.members.contains(&id) => drop(wanted.insert(id)),
                    None => {}
                }
            }
        }
        if wanted.is_empty() {
            return;
        }
        for way in self.ways.iter() {
            let (Some(nodes), Some(line)) = (way.nodes, way.geometry) else { continue };
            for (id, at) in nodes.iter().zip(line.iter()) {
                budget::checkpoint();
                if let Some(at) = at.filter(|_| wanted.contains(&id)) {
                    self.shown.insert(id, at);
                }
            }
        }
    }

    /// Collects the member nodes of relations that are not printed with a position themselves. They become features if
    /// another part of the answer contains their position.
    fn read_shown(&mut self) {
        let lacks = |id: &i64| self.nodes.get(*id).is_none_or(|node| node.position.is_none());
        let mut seen = FxHashSet::default();
        for relation in self.relations.iter() {
            for member in relation.members.into_iter().flat_map(|members| members.iter()) {
                budget::checkpoint();
                if member.kind != ElementType::Node || !lacks(&member.id) {
                    continue;
                }
                if let Some(&at) = self.shown.get(&member.id).filter(|_| seen.insert(member.id)) {
                    self.shown_nodes.push((member.id, at));
                }
            }
        }
    }

    /// Returns whether a node is a feature of its own, and not only a point of a way.
    pub(super) fn is_point(&self, node: &GeoJsonRecord<'_>) -> bool {
        !self.passed.contains(&node.id) || self.members.contains(&node.id)
    }

    /// Returns the nodes of a way; `None` for nodes without a known position.
    pub(super) fn vertices(&self, way: &GeoJsonRecord<'r>) -> Vec<Option<LineVertex>> {
        let mut line = way.geometry.map(RecordLine::iter).into_iter().flatten();
        let anonymous = |at: Option<Coord>| at.map(|at| LineVertex { key: NodeKey::At(at), at });
        let Some(nodes) = way.nodes else { return line.map(anonymous).collect() };
        let vertex = |id: i64| {
            budget::checkpoint();
            let own = line.next().flatten();
            let at = own.or_else(|| self.position(id))?;
            Some(LineVertex { key: NodeKey::Id(id), at })
        };
        nodes.iter().map(vertex).collect()
    }

    fn position(&self, node: i64) -> Option<Coord> {
        self.nodes.get(node).and_then(|node| node.position).or_else(|| self.shown.get(&node).copied())
    }

    /// Returns the way that is a member of a relation.
    pub(super) fn member_way(&self, relation: &GeoJsonRecord<'_>, id: i64) -> Option<WayPlace> {
        if relation.parts.has(RecordFields::PLACED_MEMBERS) {
            self.member_ways_by_id.get(&id).copied().map(WayPlace::Member)
        } else {
            self.ways.find(id).map(WayPlace::Own)
        }
    }

    /// Returns the nodes of a member way; `None` if the answer does not contain them.
    pub(super) fn member_vertices(&self, way: WayPlace) -> Option<Vec<Option<LineVertex>>> {
        match way {
            WayPlace::Own(place) => {
                let way = self.ways.entries.get(place)?.read();
                (way.nodes.is_some() || way.geometry.is_some()).then(|| self.vertices(&way))
            }
            WayPlace::Member(place) => Some(line_vertices(self.member_ways[place].line)),
        }
    }

    /// Returns the record of a member way, if the answer contains the way itself.
    pub(super) fn record(&self, way: WayPlace) -> Option<GeoJsonRecord<'r>> {
        match way {
            WayPlace::Own(place) => self.ways.entries.get(place).map(GeoJsonEntry::read),
            WayPlace::Member(_) => None,
        }
    }

    /// Returns the memberships of an element, in order of the relations' ids.
    pub(super) fn memberships(&self, kind: ElementType, id: i64) -> &[RelationMembership<'r>] {
        let all = &self.memberships;
        let from = all.partition_point(|membership| membership.of < (kind, id));
        let to = from + all[from..].partition_point(|membership| membership.of == (kind, id));
        &all[from..to]
    }
}

/// Returns the nodes of a line without ids.
pub(super) fn line_vertices(line: RecordLine<'_>) -> Vec<Option<LineVertex>> {
    line.iter().map(|at| at.map(|at| LineVertex { key: NodeKey::At(at), at })).collect()
}
