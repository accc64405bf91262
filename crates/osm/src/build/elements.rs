//! Gathering blocks, and what is made of all of them in the end.

use super::BuildError;
use super::batch::{Batch, Numbered, Record};
use super::order::{Gathered, Written};
use super::pages::{self, Parts};
use super::tags::{write_postings, write_values};
use crate::{BoundingBox, ElementType};
use terrapin_base::Progress;
use terrapin_base::external_sort::StringSorter;
use terrapin_base::external_sort::{Scratch, SpillBuffer};
use terrapin_snapshot::{Counts, Writer};

/// The part of the memory that the names of users and roles may take, which stay in memory: one of so many.
const NAMES: usize = 4;
/// Bytes that a name takes beside twice its own, in a list and a table.
const NAME: usize = 100;

/// Gathers the blocks of one or more source files.
pub struct Builder {
    scratch: Scratch,
    gathered: Gathered,
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
            gathered: Gathered::new(scratch),
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
        self.count_names(&batch)?;
        let slot = self.add_strings(&batch)?;

        let tags = self.tags.len();
        let settle = |record: &mut Record| {
            record.tags += tags;
            record.user = users[record.user as usize];
        };
        batch.nodes.iter_mut().for_each(settle);
        let (refs, members) = (self.gathered.refs.len(), self.gathered.members.len());
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
        self.gathered.extend(&batch)?;
        Ok(self.tags.extend(&batch.tags)?)
    }

    /// Counts what the names of a block's users and roles take; an error where all of them take too much.
    fn count_names(&mut self, batch: &Batch) -> Result<(), BuildError> {
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
        if self.name_bytes > most { Err(BuildError::Names) } else { Ok(()) }
    }

    /// Takes in the texts of a block's tags; the number of the first.
    fn add_strings(&mut self, batch: &Batch) -> Result<u32, BuildError> {
        let number = |slot: u64| u32::try_from(slot).map_err(|_| BuildError::TooMany("tags"));
        let (first, end) = (self.slots, self.slots + batch.pairs.all.len() as u64);
        let slot = number(first)?;
        number(end)?;
        for (number, text) in (first..).zip(&batch.pairs.all) {
            self.strings.push(text, number)?;
        }
        self.slots = end;
        Ok(slot)
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
        progress.phase("sorting tags", 0);
        let (keys, pairs) = write_values(writer, scratch, self.strings, level)?;
        let elements = self.gathered.order(scratch, self.ordered, progress)?;
        let dropped = elements.dropped;
        let users = pages::Users::sorted(self.users.all);
        let roles = pages::Roles::sorted(self.roles.all);
        let tags = self.tags.seal()?;
        let parts = Parts { level, progress, tags: tags.as_slice(), pairs: &pairs, users: &users };
        let counts = elements.counts();
        let Written { bounding_box, postings, missing } = elements.write(writer, scratch, &parts, &roles)?;
        users.write(writer, level)?;
        roles.write(writer, level)?;
        pages::write_missing(writer, &missing, level)?;
        let keys = write_postings(writer, keys, postings, level, progress)?;
        let counts = Counts {
            keys: keys.names.len() as u64,
            tags: keys.first_pairs.last().copied().unwrap_or_default().into(),
            users: users.len(),
            ..counts
        };
        Ok(Built { counts, bounding_box, newest: self.newest, dropped })
    }
}
