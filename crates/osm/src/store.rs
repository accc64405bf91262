//! Reads elements: the pages of an open snapshot are decoded on demand and cached within a bounded number of bytes.
//!
//! Damage found while reading does not interrupt the reader. It gets an empty page of the right size, and the damage is
//! recorded. Code that returns an answer must call [`Osm::check`] before the answer's end.

use std::any::Any;
use std::sync::{Arc, OnceLock};

use quick_cache::sync::Cache;

use super::area_table::AreaTable;
use super::counts;
use super::layout::{self, PageSection, Paged};
use super::name_table::NameTable;
use super::page::{self, MetaColumns, PageLists};
use super::page_cache::{
    CacheablePage, Cached, MetaPage, NodePage, PageCacheKey, PageWeigher, RelationPage, TagPage, WayNodes, WayPage,
};
use super::state_settings::StateSettings;
use super::tables::{Keys, NameCache, UserReader};
use super::types::{BoundingBox, Coord, ElementRef, ElementType, Ordinal};
use terrapin_budget as budget;
use terrapin_snapshot::{
    BoxSection, ElementCounts, Error, Fault, PagedSection, SectionColumn, Snapshot, TextSection, signed,
};

/// Bytes of decoded pages and borders kept by default.
pub const CACHE_BYTES: u64 = (1 << 30) + (256 << 20);
/// The cache for borders of areas gets the cache size divided by this.
const BORDERS: u64 = 5;

/// A posting list is cached decoded as a whole if its size is at most the cache size divided by this.
const KEPT: u64 = 16;

/// Minimum content size in bytes for which a page is charged to the query's budget before it is decoded. Typical pages
/// have some kilobytes.
const LARGE_PAGE: u64 = 1 << 20;
/// Bytes that one byte of a page's content decodes to at most: a way's node is at least a byte, its reference and its
/// position are eight each.
const DECODED: u64 = 16;

/// Steps that looking up a page costs in a query's budget.
const PAGE_STEPS: usize = 64;

/// The elements of an open snapshot. Cheap to share: everything decoded is cached within a bounded number of bytes.
pub struct Osm {
    pub(super) snapshot: Arc<Snapshot>,
    counts: ElementCounts,
    data_time: i64,
    cache: Cache<PageCacheKey, Cached, PageWeigher>,
    /// Bytes of borders of areas that are kept.
    borders: u64,
    /// Sections of pages, by [`Paged::number`].
    pages: [Opened<PagedSection>; Paged::COUNT],
    boxes: [Opened<BoxSection>; 3],
    first_ids: [Opened<SectionColumn>; 3],
    missing: [Opened<SectionColumn>; 3],
    block_firsts: Opened<SectionColumn>,
    keys: Opened<Keys>,
    users: Opened<UserReader>,
    roles: Opened<NameCache>,
    areas: OnceLock<AreaTable>,
    names: Opened<NameTable>,
    pub(super) fault: Arc<Fault>,
    /// The value that [`Osm::beside`] keeps.
    beside: OnceLock<Box<dyn Any + Send + Sync>>,
    /// The settings for building states of other dates.
    states: OnceLock<StateSettings>,
}

/// A section that is opened on first use; `None` if it is damaged.
type Opened<T> = OnceLock<Option<T>>;

/// Room in the table of decoded pages, for so many bytes of them: it is allocated at once.
fn cached_pages(bytes: u64) -> usize {
    const PAGE: u64 = 4 << 10;
    const MOST: u64 = 1 << 16;
    (bytes / PAGE).min(MOST) as usize
}

impl Osm {
    /// Opens the elements of a snapshot.
    ///
    /// # Errors
    /// Returns an error if the snapshot is incomplete or the counts in the manifest do not match the sections.
    pub fn open(snapshot: Arc<Snapshot>) -> Result<Osm, Error> {
        Osm::open_with(snapshot, CACHE_BYTES)
    }

    /// Opens the elements of a snapshot with a cache of this number of bytes for decoded data.
    ///
    /// # Errors
    /// Returns the errors of [`Osm::open`].
    pub fn open_with(snapshot: Arc<Snapshot>, cache: u64) -> Result<Osm, Error> {
        let manifest = snapshot.manifest().ok_or_else(|| Error::damaged("manifest", "it is not there"))?;
        let (counts, time) = (manifest.counts, manifest.data_timestamp);
        counts::check(&snapshot, &counts)?;
        Ok(Osm::of(snapshot, counts, time, cache))
    }

    /// Creates the store for a snapshot whose manifest is not written yet.
    pub fn of(snapshot: Arc<Snapshot>, counts: ElementCounts, data_time: i64, cache: u64) -> Osm {
        // Most of the cache is for decoded pages. Borders that are in use are cached also.
        let borders = cache / BORDERS;
        Osm {
            borders,
            snapshot,
            counts,
            data_time,
            cache: Cache::with_weighter(cached_pages(cache), cache - borders, PageWeigher),
            pages: Default::default(),
            boxes: Default::default(),
            first_ids: Default::default(),
            missing: Default::default(),
            block_firsts: Opened::new(),
            keys: Opened::new(),
            users: Opened::new(),
            roles: Opened::new(),
            areas: OnceLock::new(),
            names: Opened::new(),
            fault: Arc::default(),
            beside: OnceLock::new(),
            states: OnceLock::new(),
        }
    }

    /// Sets where and within which memory states of other dates are made; to be called before the first query.
    pub fn set_states(&self, settings: StateSettings) {
        let _ = self.states.set(settings);
    }

    /// Returns the settings for building states of other dates.
    pub(super) fn states(&self) -> StateSettings {
        self.states.get().cloned().unwrap_or_else(|| StateSettings::of_cache(self.cache_bytes()))
    }

    /// Returns a value that another module of this crate keeps while the elements are open. Only one module may use it.
    pub(super) fn beside<T: Any + Send + Sync>(&self, make: impl FnOnce() -> T) -> &T {
        let kept = budget::once(&self.beside, || Box::new(make()));
        kept.downcast_ref().expect("one part keeps something here")
    }

    /// Returns the numbers of elements and of all other entries.
    pub(super) fn counts(&self) -> ElementCounts {
        self.counts
    }

    /// Returns the maximum number of bytes of decoded data in the cache.
    pub(super) fn cache_bytes(&self) -> u64 {
        self.cache.capacity() + self.borders
    }

    /// Frees all decoded pages. Pages that are needed again are decoded again.
    pub fn forget_pages(&self) {
        self.cache.clear();
    }

    /// Returns the snapshot from which the elements are read.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Checks that everything read so far was undamaged. Call this before an answer is complete.
    ///
    /// # Errors
    /// Returns the first damage that was found.
    pub fn check(&self) -> Result<(), Error> {
        self.fault.check()
    }

    /// Keeps damage of the snapshot that was met elsewhere, such as in a state of another date, for [`Osm::check`].
    pub fn report(&self, section: &str, reason: &str) {
        self.fault.report(section, reason);
    }

    /// Keeps damage for [`Osm::check`] and goes on with `instead`.
    pub(super) fn or_fault<T>(&self, result: Result<T, Error>, instead: impl FnOnce() -> T) -> T {
        result.unwrap_or_else(|error| {
            self.fault.keep(error);
            instead()
        })
    }

    /// Opens a section on first use and returns the same value on later calls.
    fn opened<'a, T>(
        &'a self,
        place: &'a Opened<T>,
        open: impl FnOnce(&Arc<Snapshot>, &Arc<Fault>) -> Result<T, Error>,
    ) -> Option<&'a T> {
        budget::once(place, || self.or_fault(open(&self.snapshot, &self.fault).map(Some), || None)).as_ref()
    }

    /// Remembers that an element is referred to that does not exist, which no loader writes; with an id in its place.
    pub fn no_such_element(&self, kind: ElementType) -> i64 {
        let damage =
            Error::damaged(layout::paged(kind, PageSection::Core), "an element that does not exist is referred to");
        self.or_fault(Err(damage), || 0)
    }

    // ---- ordinals, pages, ids

    /// Returns the number of elements of this type; ordinals are `0..count`.
    pub fn count(&self, kind: ElementType) -> u64 {
        [self.counts.nodes, self.counts.ways, self.counts.relations][kind as usize]
    }

    /// Elements on a full page of this type; ordinal / page_size is the page, the rest the slot.
    pub fn page_size(&self, kind: ElementType) -> u64 {
        layout::page_size(kind)
    }

    /// Returns the number of pages of this type.
    pub fn page_count(&self, kind: ElementType) -> u32 {
        self.count(kind).div_ceil(layout::page_size(kind)) as u32
    }

    /// Returns the page of an ordinal and its slot there.
    #[inline]
    pub fn place(&self, kind: ElementType, ordinal: Ordinal) -> (u32, usize) {
        layout::place(kind, ordinal)
    }

    /// Returns the number of elements on a page.
    fn slots(&self, kind: ElementType, page: u32) -> usize {
        let size = layout::page_size(kind);
        self.count(kind).saturating_sub(u64::from(page) * size).min(size) as usize
    }

    /// Returns a section of pages; `None` if it is damaged.
    fn paged(&self, section: Paged) -> Option<&PagedSection> {
        self.opened(&self.pages[section.number()], |snapshot, fault| {
            PagedSection::open(snapshot, section.name(), fault)
        })
    }

    /// Returns a page of a section, decoded.
    pub(super) fn decoded<T>(
        &self,
        section: Paged,
        page: u32,
        decode: impl FnOnce(Vec<u8>) -> Option<T>,
    ) -> Result<T, Error> {
        let pages = self.paged(section).ok_or_else(|| Error::damaged(section.name(), "it does not open"))?;
        decode(pages.read(page.into())?)
            .ok_or_else(|| Error::damaged(section.name(), format!("page {page} is not what this format writes")))
    }

    /// Returns a page of a section of elements, decoded.
    fn part<T>(
        &self,
        kind: ElementType,
        part: PageSection,
        page: u32,
        decode: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, Error> {
        self.decoded(Paged::Elements(kind, part), page, |bytes| decode(&bytes))
    }

    /// Returns whether decoded data of this size in bytes is small enough to be cached.
    pub(super) fn keeps(&self, bytes: u64) -> bool {
        bytes <= self.cache.capacity() / KEPT
    }

    /// Returns the cached page of `key`, or the result of `make`. Every read of elements goes through this function,
    /// therefore no query reads for long without a check of its budget.
    pub(super) fn page<P: CacheablePage>(&self, key: PageCacheKey, make: impl FnOnce() -> P) -> P {
        budget::checkpoints(PAGE_STEPS);
        let cached = self.cache.get(&key).unwrap_or_else(|| {
            self.charge_page(key);
            // The memory of the cache is not charged to the query that fills it, because it outlives the query.
            budget::unwatched(|| {
                let made = make().cached();
                self.cache.insert(key, made.clone());
                made
            })
        });
        P::of(cached).expect("a key belongs to one kind of page")
    }

    /// Checks the query's budget before a large page is decoded, because the decoded size comes from the snapshot,
    /// which is not trusted.
    fn charge_page(&self, key: PageCacheKey) {
        let (section, page) = match key {
            PageCacheKey::Page(kind, part, page) => (Paged::Elements(kind, part), page),
            PageCacheKey::WayNodes(page) => (Paged::Elements(ElementType::Way, PageSection::Core), page),
            PageCacheKey::Values(page) => (Paged::Values, page),
            PageCacheKey::Postings(page) => (Paged::Postings, page),
            PageCacheKey::Block(page) => (Paged::Blocks, page),
            PageCacheKey::Pair(..) | PageCacheKey::List(..) => return,
        };
        let bytes = self.paged(section).map_or(0, |pages| pages.content_len(page.into()));
        if bytes >= LARGE_PAGE {
            budget::charge(bytes.saturating_mul(DECODED));
        }
    }

    /// Returns a page of nodes.
    pub fn node_page(&self, page: u32) -> Arc<NodePage> {
        let kind = ElementType::Node;
        self.page(PageCacheKey::Page(kind, PageSection::Core, page), || {
            let n = self.slots(kind, page);
            let read = self.part(kind, PageSection::Core, page, |b| page::decode_nodes(b, n));
            let (ids, coords) = self.or_fault(read, || (vec![0; n], vec![Coord::MISSING; n]));
            Arc::new(NodePage { ids, coords })
        })
    }

    /// Returns a page of ways, with geometry.
    pub fn way_page(&self, page: u32) -> Arc<WayPage> {
        let kind = ElementType::Way;
        self.page(PageCacheKey::Page(kind, PageSection::Core, page), || {
            let n = self.slots(kind, page);
            let read = self.part(kind, PageSection::Core, page, |b| page::decode_ways(b, n));
            let (ids, nodes) = self.or_fault(read, || (vec![0; n], PageLists::empty(n)));
            let coords = nodes.map_all(self.line(nodes.items()));
            Arc::new(WayPage { ids, nodes, coords })
        })
    }

    /// Returns a page of ways without their geometry, which is read only for the ways that need it ([`Osm::line`]).
    pub fn way_nodes(&self, page: u32) -> Arc<WayNodes> {
        let kind = ElementType::Way;
        self.page(PageCacheKey::WayNodes(page), || {
            let n = self.slots(kind, page);
            let read = self.part(kind, PageSection::Core, page, |b| page::decode_ways(b, n));
            let (_, nodes) = self.or_fault(read, || (Vec::new(), PageLists::empty(n)));
            Arc::new(WayNodes { nodes })
        })
    }

    /// Returns the nodes of a way and their positions. The positions of other ways on its page are not read.
    pub fn way(&self, way: Ordinal) -> (Vec<ElementRef>, Vec<Coord>) {
        let (page, slot) = self.place(ElementType::Way, way);
        if let Some(Cached::Ways(whole)) =
            self.cache.get(&PageCacheKey::Page(ElementType::Way, PageSection::Core, page))
        {
            budget::checkpoints(PAGE_STEPS);
            return (whole.nodes(slot).to_vec(), whole.coords(slot).to_vec());
        }
        let nodes = self.way_nodes(page).nodes(slot).to_vec();
        let line = self.line(&nodes);
        (nodes, line)
    }

    /// Returns a page of relations.
    pub fn relation_page(&self, page: u32) -> Arc<RelationPage> {
        let kind = ElementType::Relation;
        self.page(PageCacheKey::Page(kind, PageSection::Core, page), || {
            let n = self.slots(kind, page);
            let read = self.part(kind, PageSection::Core, page, |b| page::decode_relations(b, n));
            let (ids, members) = self.or_fault(read, || (vec![0; n], PageLists::empty(n)));
            Arc::new(RelationPage { ids, members })
        })
    }

    /// Returns the positions of these nodes, in the order given (fast for sorted ones).
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

    /// Returns the positions of these way nodes or node members; [`Coord::MISSING`] where a node is missing.
    pub fn line(&self, nodes: &[ElementRef]) -> Vec<Coord> {
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

    /// Returns the bounding box of a page's elements: for ways the box of all their nodes, for relations that of all
    /// their node and way members. If no element of the page has a position, the box is empty.
    pub fn page_box(&self, kind: ElementType, page: u32) -> BoundingBox {
        self.page_boxes(kind).map_or(BoundingBox::EMPTY, |boxes| BoundingBox::of(boxes.get(page)))
    }

    fn page_boxes(&self, kind: ElementType) -> Option<&BoxSection> {
        self.opened(&self.boxes[kind as usize], |snapshot, fault| {
            let boxes = BoxSection::open(snapshot, layout::boxes(kind), fault)?;
            match boxes.prepare().len() == self.page_count(kind) {
                true => Ok(boxes),
                false => Err(Error::damaged(layout::boxes(kind), "not one for each page")),
            }
        })
    }

    /// Returns the pages of this type whose box intersects `area`, ascending.
    pub fn pages_in(&self, kind: ElementType, area: &BoundingBox) -> Vec<u32> {
        budget::checkpoints(PAGE_STEPS);
        self.page_boxes(kind).map_or_else(Vec::new, |boxes| area.meeting(boxes))
    }

    /// Returns the areas.
    pub fn areas(&self) -> &AreaTable {
        budget::once(&self.areas, || {
            let opened = AreaTable::open(&self.snapshot, self.borders, &self.fault);
            self.or_fault(opened, || AreaTable::held(&[], 0, &self.fault))
        })
    }

    /// Returns the index of names; `None` if the snapshot has no such index or it is damaged.
    pub fn names(&self) -> Option<&NameTable> {
        let tags = self.counts.tags;
        budget::once(&self.names, || self.or_fault(NameTable::open(&self.snapshot, tags, &self.fault), || None))
            .as_ref()
    }

    // ---- tags

    /// Returns the tags of a page's elements.
    pub fn tag_page(&self, kind: ElementType, page: u32) -> Arc<TagPage> {
        self.page(PageCacheKey::Page(kind, PageSection::Tags, page), || {
            let n = self.slots(kind, page);
            let read = self.part(kind, PageSection::Tags, page, |b| page::decode_tags(b, n));
            let pairs = self.counts.tags;
            let read = read.and_then(|tags| match tags.items().iter().all(|&t| u64::from(t) < pairs) {
                true => Ok(tags),
                false => Err(Error::damaged(layout::paged(kind, PageSection::Tags), "a tag that does not exist")),
            });
            Arc::new(TagPage { tags: self.or_fault(read, || PageLists::empty(n)) })
        })
    }

    /// Returns the table of keys; `None` if it is damaged.
    pub(super) fn keys(&self) -> Option<&Keys> {
        let tags = self.counts.tags;
        self.opened(&self.keys, |snapshot, fault| Keys::open(snapshot, tags, fault))
    }

    /// Returns the first ordinals of the blocks of posting lists; `None` if they are damaged.
    pub(super) fn block_firsts(&self) -> Option<&SectionColumn> {
        self.opened(&self.block_firsts, |snapshot, fault| SectionColumn::open(snapshot, layout::BLOCK_FIRSTS, fault))
    }

    /// Returns the first ids of the pages of ids; `None` if they are damaged.
    pub(super) fn first_ids(&self, kind: ElementType) -> Option<&SectionColumn> {
        self.opened(&self.first_ids[kind as usize], |snapshot, fault| {
            SectionColumn::open(snapshot, layout::first_ids(kind), fault)
        })
    }

    // ---- metadata

    /// Version, timestamp, changeset and user of a page's elements.
    pub fn meta_page(&self, kind: ElementType, page: u32) -> Arc<MetaPage> {
        self.page(PageCacheKey::Page(kind, PageSection::Meta, page), || {
            let n = self.slots(kind, page);
            let read = self.part(kind, PageSection::Meta, page, |b| page::decode_meta(b, n));
            let columns = self.or_fault(read, MetaColumns::default);
            let users = self.users();
            let uids = columns.users.iter().map(|&user| users.map_or(0, |users| users.id(user))).collect();
            Arc::new(MetaPage { columns, uids })
        })
    }

    fn users(&self) -> Option<&UserReader> {
        self.opened(&self.users, UserReader::open)
    }

    /// Returns the text of a user's name.
    pub fn user_name(&self, user: u32) -> &str {
        self.users().map_or("", |users| users.name(user))
    }

    /// Returns the users with this name (an id may have had several names, a name several ids).
    pub fn users_named(&self, name: &str) -> Vec<u32> {
        self.users().map_or_else(Vec::new, |users| users.named(name))
    }

    /// Returns the users with this id.
    pub fn users_with_id(&self, id: i64) -> Vec<u32> {
        self.users().map_or_else(Vec::new, |users| users.with_id(id))
    }

    /// Returns the id of a user.
    pub fn user_id(&self, user: u32) -> i64 {
        self.users().map_or(0, |users| users.id(user))
    }

    // ---- topology

    fn roles(&self) -> Option<&NameCache> {
        self.opened(&self.roles, |snapshot, fault| TextSection::open(snapshot, layout::ROLES, fault).map(NameCache::of))
    }

    /// Returns the text of a role.
    pub fn role(&self, role: u32) -> &str {
        self.roles().map_or("", |roles| roles.get(role.into()))
    }

    /// Returns the id of a role.
    pub fn find_role(&self, name: &str) -> Option<u32> {
        self.roles()?.find(name).map(|role| role as u32)
    }

    /// Returns the number of roles.
    pub(super) fn role_count(&self) -> u32 {
        self.roles().map_or(0, |roles| u32::try_from(roles.len()).unwrap_or(u32::MAX))
    }

    /// Returns the number of users, including the entry for no user.
    pub(super) fn user_count(&self) -> u32 {
        self.users().map_or(0, UserReader::len)
    }

    /// Returns the id of an element that is referred to but missing.
    pub(super) fn missing(&self, kind: ElementType, index: u64) -> i64 {
        let ids = self.opened(&self.missing[kind as usize], |snapshot, fault| {
            SectionColumn::open(snapshot, layout::missing(kind), fault)
        });
        ids.map_or(0, |ids| signed(ids.get(index)))
    }

    /// Returns the parents of a page's elements, by type of parent: ways (nodes only), relations.
    pub(super) fn parent_page(&self, kind: ElementType, page: u32) -> Arc<Vec<PageLists<Ordinal>>> {
        self.page(PageCacheKey::Page(kind, PageSection::Parents, page), || {
            let n = self.slots(kind, page);
            let types = if kind == ElementType::Node { 2 } else { 1 };
            let read = self.part(kind, PageSection::Parents, page, |b| page::decode_parents(b, n, types));
            Arc::new(self.or_fault(read, || vec![PageLists::empty(n); types]))
        })
    }

    // ---- time

    /// Returns the time of the data: the newest element's timestamp, seconds since 1970.
    pub fn data_time(&self) -> i64 {
        self.data_time
    }
}

/// The last pages that a reader used, for readers that use the same few pages repeatedly. A lookup in the shared cache
/// costs more than comparing a number.
pub struct Remembered<T, F> {
    /// Each in the place that its number gives it.
    pages: [Option<(u32, Arc<T>)>; 8],
    load: F,
}

impl<T, F: FnMut(u32) -> Arc<T>> Remembered<T, F> {
    /// Creates an empty collection; `load` reads a page.
    pub fn new(load: F) -> Remembered<T, F> {
        Remembered { pages: [const { None }; 8], load }
    }

    /// Returns a page.
    pub fn get(&mut self, page: u32) -> &T {
        let place = &mut self.pages[page as usize % 8];
        if place.as_ref().is_some_and(|(number, _)| *number != page) {
            *place = None;
        }
        let load = &mut self.load;
        &place.get_or_insert_with(|| (page, load(page))).1
    }
}
