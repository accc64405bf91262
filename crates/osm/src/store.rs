//! Reading elements: an open snapshot's pages, decoded when asked for and cached within a bounded number of bytes.
//!
//! Damage found while reading does not interrupt the reader: it gets an empty page of the right size, and the damage is
//! kept for [`Osm::check`], which everyone who hands out an answer asks before its end.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use quick_cache::sync::Cache;
use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};
use serde::de::DeserializeOwned;

use super::area_table::Areas;
use super::codec::Reader;
use super::layout::{self, Part};
use super::page::{self, Lists, MetaColumns};
use super::page_cache::{Cached, Key, MetaPage, NodePage, Page, RelationPage, TagPage, WayPage, Weigher};
use super::tags::KeyTable;
use super::types::{BoundingBox, Coord, ElementRef, ElementType, Ordinal};
use terrapin_budget as budget;
use terrapin_snapshot::{Counts, Error, Pages, Snapshot};

/// Bytes of decoded pages and borders kept by default.
pub const CACHE_BYTES: u64 = (1 << 30) + (256 << 20);
/// The part of these that is for borders of areas: one in so many.
const BORDERS: u64 = 5;

/// What looking a page up counts for in a query's budget.
const PAGE_STEPS: usize = 64;

/// The elements of an open snapshot. Cheap to share: everything decoded is cached within a bounded number of bytes.
pub struct Osm {
    pub(super) snapshot: Arc<Snapshot>,
    counts: Counts,
    data_time: i64,
    cache: Cache<Key, Cached, Weigher>,
    /// Bytes of borders of areas that are kept.
    borders: u64,
    trees: [OnceLock<RTree<PageBox>>; 3],
    /// Where in the file the boxes of pages are.
    boxes: [OnceLock<Range<usize>>; 3],
    keys: OnceLock<KeyTable>,
    users: OnceLock<Vec<(i64, Box<str>)>>,
    roles: OnceLock<Vec<Box<str>>>,
    missing: OnceLock<[Vec<i64>; 3]>,
    areas: OnceLock<Areas>,
    fault: OnceLock<Error>,
}

type PageBox = GeomWithData<Rectangle<[i64; 2]>, u32>;

impl Osm {
    /// The elements of a snapshot.
    ///
    /// # Errors
    /// A snapshot that is still being made.
    pub fn open(snapshot: Arc<Snapshot>) -> Result<Osm, Error> {
        Osm::open_with(snapshot, CACHE_BYTES)
    }

    /// The elements of a snapshot, of which at most so many bytes are kept decoded.
    ///
    /// # Errors
    /// As [`Osm::open`].
    pub fn open_with(snapshot: Arc<Snapshot>, cache: u64) -> Result<Osm, Error> {
        let manifest = snapshot.manifest().ok_or_else(|| Error::damaged("manifest", "it is not there"))?;
        let (counts, time) = (manifest.counts, manifest.data_timestamp);
        Ok(Osm::of(snapshot, counts, time, cache))
    }

    /// The elements of a snapshot whose manifest is still to be written.
    pub fn of(snapshot: Arc<Snapshot>, counts: Counts, data_time: i64, cache: u64) -> Osm {
        // Decoded pages are by far the most; a border is kept, too, while it is asked for.
        let borders = cache / BORDERS;
        Osm {
            borders,
            snapshot,
            counts,
            data_time,
            cache: Cache::with_weighter(1 << 16, cache - borders, Weigher),
            trees: Default::default(),
            boxes: Default::default(),
            keys: OnceLock::new(),
            users: OnceLock::new(),
            roles: OnceLock::new(),
            missing: OnceLock::new(),
            areas: OnceLock::new(),
            fault: OnceLock::new(),
        }
    }

    /// The snapshot that the elements are read from.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Whether everything read so far was undamaged; to be asked before an answer is complete.
    ///
    /// # Errors
    /// The first damage that was met.
    pub fn check(&self) -> Result<(), Error> {
        match self.fault.get() {
            None => Ok(()),
            Some(Error::Damaged { section, reason }) => Err(Error::damaged(section, reason)),
            Some(other) => Err(Error::damaged("?", other.to_string())),
        }
    }

    /// Keeps damage for [`Osm::check`] and goes on with `instead`.
    pub(super) fn or_fault<T>(&self, result: Result<T, Error>, instead: impl FnOnce() -> T) -> T {
        result.unwrap_or_else(|error| {
            let _ = self.fault.set(error);
            instead()
        })
    }

    /// Remembers that an element is referred to that does not exist, which no loader writes; with an id in its place.
    pub fn no_such_element(&self, kind: ElementType) -> i64 {
        let damage = Error::damaged(layout::paged(kind, Part::Core).0, "an element that does not exist is referred to");
        self.or_fault(Err(damage), || 0)
    }

    // ---- ordinals, pages, ids

    /// How many elements of this type there are; ordinals are `0..count`.
    pub fn count(&self, kind: ElementType) -> u64 {
        [self.counts.nodes, self.counts.ways, self.counts.relations][kind as usize]
    }

    /// Elements on a full page of this type; ordinal / page_size is the page, the rest the slot.
    pub fn page_size(&self, kind: ElementType) -> u64 {
        layout::page_size(kind)
    }

    /// How many pages of this type there are.
    pub fn page_count(&self, kind: ElementType) -> u32 {
        self.count(kind).div_ceil(layout::page_size(kind)) as u32
    }

    /// The page of an ordinal and its slot there.
    #[inline]
    pub fn place(&self, kind: ElementType, ordinal: Ordinal) -> (u32, usize) {
        layout::place(kind, ordinal)
    }

    /// How many elements are on a page.
    fn slots(&self, kind: ElementType, page: u32) -> usize {
        let size = layout::page_size(kind);
        self.count(kind).saturating_sub(u64::from(page) * size).min(size) as usize
    }

    /// The bytes of a page of a section.
    fn bytes(&self, (name, index): (&'static str, &'static str), page: u32) -> Result<Vec<u8>, Error> {
        Pages::of(&self.snapshot, name, index)?.read(page as usize)
    }

    /// A page of a section, decoded.
    pub(super) fn decoded<T>(
        &self,
        section: (&'static str, &'static str),
        page: u32,
        decode: impl FnOnce(Vec<u8>) -> Option<T>,
    ) -> Result<T, Error> {
        decode(self.bytes(section, page)?)
            .ok_or_else(|| Error::damaged(section.0, format!("page {page} is not what this format writes")))
    }

    /// The cached page of `key`, or what `make` gives. All that reads elements comes through here, so that no query reads
    /// for long without looking at its budget.
    pub(super) fn page<P: Page>(&self, key: Key, make: impl FnOnce() -> P) -> P {
        budget::checkpoints(PAGE_STEPS);
        let cached = self.cache.get(&key).unwrap_or_else(|| {
            // The cache is nobody's: it outlives the query that fills it.
            budget::unwatched(|| {
                let made = make().cached();
                self.cache.insert(key, made.clone());
                made
            })
        });
        P::of(cached).expect("a key belongs to one kind of page")
    }

    /// A page of nodes.
    pub fn node_page(&self, page: u32) -> Arc<NodePage> {
        let kind = ElementType::Node;
        self.page(Key::Page(kind, Part::Core, page), || {
            let n = self.slots(kind, page);
            let read = self.decoded(layout::paged(kind, Part::Core), page, |b| page::decode_nodes(&b, n));
            let (ids, coords) = self.or_fault(read, || (vec![0; n], vec![Coord::MISSING; n]));
            Arc::new(NodePage { ids, coords })
        })
    }

    /// A page of ways, with geometry.
    pub fn way_page(&self, page: u32) -> Arc<WayPage> {
        let kind = ElementType::Way;
        self.page(Key::Page(kind, Part::Core, page), || {
            let n = self.slots(kind, page);
            let read = self.decoded(layout::paged(kind, Part::Core), page, |b| page::decode_ways(&b, n));
            let (ids, nodes) = self.or_fault(read, || (vec![0; n], Lists::empty(n)));
            let coords = nodes.map_all(self.ref_coords(nodes.items()));
            Arc::new(WayPage { ids, nodes, coords })
        })
    }

    /// A page of relations.
    pub fn relation_page(&self, page: u32) -> Arc<RelationPage> {
        let kind = ElementType::Relation;
        self.page(Key::Page(kind, Part::Core, page), || {
            let n = self.slots(kind, page);
            let read = self.decoded(layout::paged(kind, Part::Core), page, |b| page::decode_relations(&b, n));
            let (ids, members) = self.or_fault(read, || (vec![0; n], Lists::empty(n)));
            Arc::new(RelationPage { ids, members })
        })
    }

    /// The positions of these nodes, in the order given (fast for sorted ones).
    pub fn coords(&self, nodes: &[Ordinal]) -> Vec<Coord> {
        let mut pages = Remembered::new(|page| self.node_page(page));
        nodes
            .iter()
            .map(|&ordinal| {
                let (page, slot) = self.place(ElementType::Node, ordinal);
                pages.get(page).coords.get(slot).copied().unwrap_or(Coord::MISSING)
            })
            .collect()
    }

    /// The positions of these way nodes or node members.
    fn ref_coords(&self, nodes: &[ElementRef]) -> Vec<Coord> {
        let mut pages = Remembered::new(|page| self.node_page(page));
        nodes
            .iter()
            .map(|node| {
                let Some(ordinal) = node.ordinal() else { return Coord::MISSING };
                let (page, slot) = self.place(ElementType::Node, ordinal);
                pages.get(page).coords.get(slot).copied().unwrap_or(Coord::MISSING)
            })
            .collect()
    }

    // ---- space

    /// The box of a page's elements. For ways the box of all their nodes, for relations of all their node and way
    /// members; a page whose elements have no place has an empty box.
    pub fn page_box(&self, kind: ElementType, page: u32) -> BoundingBox {
        self.page_boxes(kind).get(page as usize * 16..page as usize * 16 + 16).map_or(BoundingBox::EMPTY, corners)
    }

    fn page_boxes(&self, kind: ElementType) -> &[u8] {
        // finding a section by its name is dearer than what is asked of it
        let place = budget::once(&self.boxes[kind as usize], || {
            let name = layout::boxes(kind);
            let checked = self.snapshot.section(name).map(|_| self.snapshot.place(name).unwrap_or_default());
            self.or_fault(checked, Default::default)
        });
        self.snapshot.bytes().get(place.clone()).unwrap_or_default()
    }

    /// The pages of this type whose box meets `area`, ascending.
    pub fn pages_in(&self, kind: ElementType, area: &BoundingBox) -> Vec<u32> {
        budget::checkpoints(PAGE_STEPS);
        let tree = budget::once(&self.trees[kind as usize], || {
            let boxes = self.page_boxes(kind).chunks_exact(16).map(corners).enumerate();
            let rectangles = boxes.filter(|(_, b)| !b.is_empty()).map(|(page, b)| {
                let rectangle = Rectangle::from_corners(
                    [i64::from(b.west), i64::from(b.south)],
                    [i64::from(b.east), i64::from(b.north)],
                );
                GeomWithData::new(rectangle, page as u32)
            });
            RTree::bulk_load(rectangles.collect())
        });
        let (parts, n) = area.split();
        let mut pages: Vec<u32> = parts[..n]
            .iter()
            .filter(|part| !part.is_empty())
            .flat_map(|part| {
                tree.locate_in_envelope_intersecting(AABB::from_corners(
                    [part.west.into(), part.south.into()],
                    [part.east.into(), part.north.into()],
                ))
            })
            .map(|found| found.data)
            .collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }

    /// The areas.
    pub fn areas(&self) -> &Areas {
        budget::once(&self.areas, || {
            let opened = self.snapshot.section(layout::AREAS).and_then(|bytes| Areas::open(bytes, self.borders));
            self.or_fault(opened, Areas::default)
        })
    }

    // ---- tags

    /// The tags of a page's elements.
    pub fn tag_page(&self, kind: ElementType, page: u32) -> Arc<TagPage> {
        self.page(Key::Page(kind, Part::Tags, page), || {
            let n = self.slots(kind, page);
            let read = self.decoded(layout::paged(kind, Part::Tags), page, |b| page::decode_tags(&b, n));
            let pairs = self.counts.tags;
            let read = read.and_then(|tags| match tags.items().iter().all(|&t| u64::from(t) < pairs) {
                true => Ok(tags),
                false => Err(Error::damaged(layout::paged(kind, Part::Tags).0, "a tag that does not exist")),
            });
            Arc::new(TagPage { tags: self.or_fault(read, || Lists::empty(n)) })
        })
    }

    /// The table of keys.
    pub(super) fn key_table(&self) -> &KeyTable {
        budget::once(&self.keys, || {
            let table: KeyTable = self.table(layout::KEYS);
            let n = table.names.len();
            let sound = table.first_pairs.len() == n + 1
                && table.lists.len() == n
                && table.first_pairs.is_sorted()
                && table.first_pairs.last().is_some_and(|&p| u64::from(p) == self.counts.tags);
            match sound || self.fault.get().is_some() {
                true => table,
                false => self
                    .or_fault(Err(Error::damaged(layout::KEYS.0, "its parts do not fit together")), KeyTable::default),
            }
        })
    }

    /// A table in bincode on the only page of its section.
    fn table<T: DeserializeOwned + Default>(&self, section: (&'static str, &'static str)) -> T {
        let read = self.decoded(section, 0, |bytes| {
            bincode::serde::decode_from_slice(&bytes, bincode::config::standard()).ok().map(|(table, _)| table)
        });
        self.or_fault(read, T::default)
    }

    // ---- metadata

    /// Version, timestamp, changeset and user of a page's elements.
    pub fn meta_page(&self, kind: ElementType, page: u32) -> Arc<MetaPage> {
        self.page(Key::Page(kind, Part::Meta, page), || {
            let n = self.slots(kind, page);
            let read = self.decoded(layout::paged(kind, Part::Meta), page, |b| page::decode_meta(&b, n));
            let columns = self.or_fault(read, MetaColumns::default);
            let users = self.users();
            let uid = |&user: &u32| users.get(user as usize).map_or(0, |u| u.0);
            let uids = columns.users.iter().map(uid).collect();
            Arc::new(MetaPage { columns, uids })
        })
    }

    fn users(&self) -> &[(i64, Box<str>)] {
        budget::once(&self.users, || self.table(layout::USERS)).as_slice()
    }

    /// The text of a user's name.
    pub fn user_name(&self, user: u32) -> &str {
        self.users().get(user as usize).map_or("", |u| &u.1)
    }

    /// The users with this name (an id may have had several names, a name several ids).
    pub fn users_named(&self, name: &str) -> Vec<u32> {
        (0..).zip(self.users()).filter(|(_, u)| &*u.1 == name).map(|(i, _)| i).collect()
    }

    // ---- topology

    fn roles(&self) -> &[Box<str>] {
        budget::once(&self.roles, || self.table(layout::ROLES)).as_slice()
    }

    /// The text of a role.
    pub fn role(&self, role: u32) -> &str {
        self.roles().get(role as usize).map_or("", |r| r)
    }

    /// The id of a role.
    pub fn find_role(&self, name: &str) -> Option<u32> {
        self.roles().binary_search_by(|r| (**r).cmp(name)).ok().map(|r| r as u32)
    }

    /// The ids that are referred to and not there, by type.
    pub(super) fn missing(&self, kind: ElementType) -> &[i64] {
        &budget::once(&self.missing, || {
            ElementType::ALL.map(|kind| {
                let n = self.counts.missing[kind as usize] as usize;
                let read = self.decoded(layout::MISSING, kind as u32, |bytes| {
                    let mut r = Reader::new(&bytes);
                    let mut previous = 0;
                    (0..n).map(|_| r.get_delta(&mut previous)).collect()
                });
                self.or_fault(read, Vec::new)
            })
        })[kind as usize]
    }

    /// The parents of a page's elements, by type of parent: ways (nodes only), relations.
    pub(super) fn parent_page(&self, kind: ElementType, page: u32) -> Arc<Vec<Lists<Ordinal>>> {
        self.page(Key::Page(kind, Part::Parents, page), || {
            let n = self.slots(kind, page);
            let types = if kind == ElementType::Node { 2 } else { 1 };
            let read = self.decoded(layout::paged(kind, Part::Parents), page, |b| page::decode_parents(&b, n, types));
            Arc::new(self.or_fault(read, || vec![Lists::empty(n); types]))
        })
    }

    // ---- time

    /// The time of the data: the newest element's timestamp, seconds since 1970.
    pub fn data_time(&self) -> i64 {
        self.data_time
    }
}

/// Pages that were looked at last, for those who look at the same few ones again and again: the cache that all share costs
/// more than looking at a number.
pub struct Remembered<T, F> {
    /// Each in the place that its number gives it.
    pages: [Option<(u32, Arc<T>)>; 8],
    load: F,
}

impl<T, F: FnMut(u32) -> Arc<T>> Remembered<T, F> {
    /// None yet; `load` gets a page.
    pub fn new(load: F) -> Remembered<T, F> {
        Remembered { pages: [const { None }; 8], load }
    }

    /// A page.
    pub fn get(&mut self, page: u32) -> &T {
        let place = &mut self.pages[page as usize % 8];
        if place.as_ref().is_some_and(|(number, _)| *number != page) {
            *place = None;
        }
        let load = &mut self.load;
        &place.get_or_insert_with(|| (page, load(page))).1
    }
}

/// Four numbers as a box.
fn corners(bytes: &[u8]) -> BoundingBox {
    let number = |i: usize| {
        let mut b = [0; 4];
        b.copy_from_slice(&bytes[i * 4..i * 4 + 4]);
        i32::from_le_bytes(b)
    };
    BoundingBox { south: number(0), west: number(1), north: number(2), east: number(3) }
}
