//! Converts one block of a source file without knowledge of the other blocks: into records, with tags, users and roles
//! numbered within the block.

use std::collections::{HashMap, HashSet};

use terrapin_base::external_sort::SortRows;
use terrapin_loaders::{ElementBlock, NO_COORDINATE, SourceElement, SourceMeta, SourceNode, SourceRelation, Way};

use super::payload::{RawMember, put_nodes, put_tags};
use super::records::{ElementRecord as Record, WayNodePosition};
use super::{ElementBuildError, hilbert};
use crate::{Coord, ElementType};

/// Strings numbered in the order in which they first came.
#[derive(Default)]
pub struct NumberedStrings<K> {
    numbers: HashMap<K, u32>,
    /// The strings, by number.
    pub all: Vec<K>,
}

impl<K: Clone + Eq + std::hash::Hash> NumberedStrings<K> {
    /// Returns the number of a string.
    pub fn number<Q: ?Sized + Eq + std::hash::Hash>(&mut self, text: &Q, own: impl FnOnce() -> K) -> u32
    where
        K: std::borrow::Borrow<Q>,
    {
        if let Some(&n) = self.numbers.get(text) {
            return n;
        }
        let n = self.all.len() as u32;
        let text = own();
        self.all.push(text.clone());
        self.numbers.insert(text, n);
        n
    }
}

/// The elements of one block of a source file, as records for the sorts of a load.
#[derive(Default)]
pub struct ElementBatch {
    /// Nodes in file order, with their tags as numbers of `pairs`.
    pub nodes: SortRows<Record>,
    /// Ways in file order, with tags and the ids of their nodes.
    pub ways: SortRows<Record>,
    /// Positions that came with the ways.
    pub located: Vec<WayNodePosition>,
    /// Relations in file order, with tags.
    pub relations: SortRows<Record>,
    /// The relations' members, one relation's after another's; roles as numbers of `roles`.
    pub members: Vec<RawMember>,
    /// Distinct tags: key, NUL, value.
    pub pairs: NumberedStrings<Box<[u8]>>,
    /// Distinct users.
    pub users: NumberedStrings<(i64, Box<str>)>,
    /// Distinct roles.
    pub roles: NumberedStrings<Box<str>>,
    /// The newest timestamp.
    pub newest: i64,
    /// Number of versions that were left out because they are later than the requested moment.
    pub later: u64,
    /// Elements that have a key more than once.
    pub repeated: u64,
    buffer: Vec<u8>,
    /// The tags of the current element.
    tags: Vec<u32>,
    last_user: Option<u32>,
}

/// Returns the time of a version in seconds since 1970; 0 if the source does not state it.
fn timestamp(element: &SourceElement<'_>) -> i64 {
    let meta = match element {
        SourceElement::Node(node) => &node.meta,
        SourceElement::Way(way) => &way.meta,
        SourceElement::Relation(relation) => &relation.meta,
    };
    meta.map_or(0, |meta| meta.timestamp)
}

impl ElementBatch {
    /// Reads a block. Versions later than `until`, in seconds since 1970, are left out.
    ///
    /// # Errors
    /// Returns an error if the loader does, or if an element cannot be stored.
    pub fn read(block: &ElementBlock, until: Option<i64>) -> Result<ElementBatch, ElementBuildError> {
        let mut batch = ElementBatch::default();
        let is_later = |element: &SourceElement<'_>| until.is_some_and(|until| timestamp(element) > until);
        let mut failed = None;
        block.for_each(|element| {
            if is_later(&element) {
                batch.later += 1;
            } else if failed.is_none()
                && let Err(e) = batch.element(&element)
            {
                failed = Some(e);
            }
        })?;
        failed.map_or(Ok(batch), Err)
    }

    fn element(&mut self, element: &SourceElement<'_>) -> Result<(), ElementBuildError> {
        match element {
            SourceElement::Node(node) => self.node(node),
            SourceElement::Way(way) => self.way(way),
            SourceElement::Relation(relation) => self.relation(relation),
        }
    }

    fn node(&mut self, node: &SourceNode<'_>) -> Result<(), ElementBuildError> {
        let mut record = self.record(ElementType::Node, node.id, node.tags, node.meta.as_ref())?;
        if node.lat != NO_COORDINATE {
            record.key = hilbert::key(Coord { lat: node.lat, lon: node.lon });
        } else if !record.is_deleted() {
            // A history has redacted versions without their content. Whether this is the newest one shows at the end.
            record.set_unplaced();
        }
        self.buffer.clear();
        if !self.tags.is_empty() {
            put_tags(&mut self.buffer, &self.tags);
        }
        self.nodes.push(record, &self.buffer);
        Ok(())
    }

    fn way(&mut self, way: &Way<'_>) -> Result<(), ElementBuildError> {
        let mut record = self.record(ElementType::Way, way.id, way.tags, way.meta.as_ref())?;
        record.set_parts(way.refs.len());
        if let Some(locations) = way.locations {
            self.located.extend(
                way.refs
                    .iter()
                    .zip(locations)
                    .filter(|(_, (lat, _))| *lat != NO_COORDINATE)
                    .map(|(&id, &(lat, lon))| WayNodePosition { id, key: hilbert::key(Coord { lat, lon }) }),
            );
        }
        self.buffer.clear();
        put_tags(&mut self.buffer, &self.tags);
        put_nodes(&mut self.buffer, way.refs.iter().copied());
        self.ways.push(record, &self.buffer);
        Ok(())
    }

    fn relation(&mut self, relation: &SourceRelation<'_>) -> Result<(), ElementBuildError> {
        let mut record = self.record(ElementType::Relation, relation.id, relation.tags, relation.meta.as_ref())?;
        record.set_parts(relation.members.len());
        for member in relation.members {
            let role = self.roles.number(member.role, || member.role.into());
            let kind = match member.kind {
                terrapin_loaders::SourceElementType::Node => ElementType::Node,
                terrapin_loaders::SourceElementType::Way => ElementType::Way,
                terrapin_loaders::SourceElementType::Relation => ElementType::Relation,
            };
            self.members.push(RawMember { kind: kind as usize, role, value: member.id });
        }
        self.buffer.clear();
        put_tags(&mut self.buffer, &self.tags);
        self.relations.push(record, &self.buffer);
        Ok(())
    }

    /// Returns a record with the fields that all types have, and puts the tags into `self.tags`.
    fn record(
        &mut self,
        kind: ElementType,
        id: i64,
        tags: &[(&str, &str)],
        meta: Option<&SourceMeta<'_>>,
    ) -> Result<Record, ElementBuildError> {
        self.tags.clear();
        // If a key is repeated, the first value is kept. Only malicious files have elements with very many keys.
        let (mut seen, before): (HashSet<&str>, _) = (HashSet::new(), tags.len());
        for (i, (key, value)) in tags.iter().enumerate() {
            let repeated = if tags.len() > 64 { !seen.insert(key) } else { tags[..i].iter().any(|(k, _)| k == key) };
            if repeated {
                continue;
            }
            if key.contains('\0') || value.contains('\0') {
                return Err(ElementBuildError::Element { kind, id, reason: "a tag holds a NUL character".into() });
            }
            self.buffer.clear();
            self.buffer.extend_from_slice(key.as_bytes());
            self.buffer.push(0);
            self.buffer.extend_from_slice(value.as_bytes());
            let pair = self.pairs.number(&*self.buffer, || self.buffer.as_slice().into());
            self.tags.push(pair);
        }
        self.repeated += u64::from(self.tags.len() < before);
        let mut record = Record { id, ..Record::default() };
        record.user = match meta {
            None => self.users.number(&(0, Box::from("")), || (0, "".into())),
            Some(meta) => {
                record.version = meta.version;
                record.changeset = meta.changeset;
                record.timestamp = u32::try_from(meta.timestamp.max(0)).unwrap_or(u32::MAX);
                if !meta.visible {
                    record.delete();
                }
                self.newest = self.newest.max(i64::from(record.timestamp));
                self.user(meta.uid, meta.user)
            }
        };
        Ok(record)
    }

    /// Removes the users of all elements.
    pub fn drop_users(&mut self) {
        self.users = NumberedStrings::default();
        let nobody = self.users.number(&(0, Box::from("")), || (0, "".into()));
        for rows in [&mut self.nodes, &mut self.ways, &mut self.relations] {
            rows.records.iter_mut().for_each(|element| element.user = nobody);
        }
    }

    /// Returns the number of a user. Consecutive elements often have the same user, therefore the last one is tried
    /// first.
    fn user(&mut self, uid: i64, name: &str) -> u32 {
        if let Some(last) = self.last_user
            && let Some((id, known)) = self.users.all.get(last as usize)
            && *id == uid
            && **known == *name
        {
            return last;
        }
        let user = (uid, Box::from(name));
        let number = self.users.number(&user, || user.clone());
        self.last_user = Some(number);
        number
    }
}
