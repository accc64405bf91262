//! The records that are sorted while a snapshot is built. The parts of variable size (tags, nodes and members) are
//! their payload ([`super::payload`]).

use terrapin_base::codec::ByteReader;
use terrapin_base::external_sort::{PayloadSpan, SortRecord, Sortable, get_fields, put_fields};

use crate::{Coord, ElementRef, Ordinal, PairId};

/// Implements [`Record`] for a type whose fields are all written as differences.
macro_rules! fields {
    ($record:ty, $number:literal, |$r:ident| $fields:expr, |$array:pat_param| $made:expr) => {
        impl SortRecord for $record {
            #[inline]
            fn write(&self, previous: &Self, out: &mut Vec<u8>) {
                let fields = |$r: &Self| -> [i64; $number] { $fields };
                put_fields(out, fields(previous), fields(self));
            }

            #[inline]
            fn read(reader: &mut ByteReader<'_>, previous: &Self) -> Option<Self> {
                let fields = |$r: &Self| -> [i64; $number] { $fields };
                let $array = get_fields(reader, fields(previous))?;
                Some($made)
            }
        }
    };
}

/// A node, way or relation, as a source has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ElementRecord {
    /// Its place along the Hilbert curve.
    pub key: u64,
    /// Its id.
    pub id: i64,
    /// Changeset, 0 where unknown.
    pub changeset: i64,
    /// Seconds since 1970.
    pub timestamp: u32,
    /// Version, 0 where unknown.
    pub version: u32,
    /// Its author in the table of users.
    pub user: u32,
    /// Number of nodes or members. The highest bit is set on a deleted version, the one below it on a node without a
    /// position in the source.
    pub(super) parts: u32,
    pub(super) span: PayloadSpan,
}

impl ElementRecord {
    const DELETED: u32 = 1 << 31;
    const UNPLACED: u32 = 1 << 30;
    const FLAGS: u32 = Self::DELETED | Self::UNPLACED;

    /// Returns whether this version is a deletion, from a history file.
    pub fn is_deleted(&self) -> bool {
        self.parts & Self::DELETED != 0
    }

    /// Marks the version as deleted.
    pub fn delete(&mut self) {
        self.parts |= Self::DELETED;
    }

    /// Returns whether this is a version of a node that has no known position, although it is not a deletion.
    pub fn is_unplaced(&self) -> bool {
        self.parts & Self::UNPLACED != 0
    }

    /// Marks the version as having no position, and also as deleted, because an element needs a position.
    pub fn set_unplaced(&mut self) {
        self.parts |= Self::UNPLACED | Self::DELETED;
    }

    /// Clears the mark for a missing position: only deletions are stored.
    pub fn forget_unplaced(&mut self) {
        self.parts &= !Self::UNPLACED;
    }

    /// Returns the number of nodes or members.
    pub fn parts(&self) -> usize {
        (self.parts & !Self::FLAGS) as usize
    }

    /// Sets the number of nodes or members. It is below 2^30, because no block of a source is as large.
    pub fn set_parts(&mut self, parts: usize) {
        self.parts = self.parts & Self::FLAGS | parts as u32;
    }

    fn fields(&self) -> [i64; 7] {
        let ElementRecord { key, id, changeset, timestamp, version, user, parts, .. } = *self;
        [key as i64, id, changeset, timestamp.into(), version.into(), user.into(), parts.into()]
    }

    fn of([key, id, changeset, timestamp, version, user, parts]: [i64; 7]) -> ElementRecord {
        ElementRecord {
            key: key as u64,
            id,
            changeset,
            timestamp: timestamp as u32,
            version: version as u32,
            user: user as u32,
            parts: parts as u32,
            span: PayloadSpan::default(),
        }
    }
}

impl SortRecord for ElementRecord {
    fn write(&self, previous: &ElementRecord, out: &mut Vec<u8>) {
        put_fields(out, previous.fields(), self.fields());
    }

    fn read(reader: &mut ByteReader<'_>, previous: &ElementRecord) -> Option<ElementRecord> {
        get_fields(reader, previous.fields()).map(ElementRecord::of)
    }

    fn span(&self) -> PayloadSpan {
        self.span
    }

    fn set_span(&mut self, span: PayloadSpan) {
        self.span = span;
    }
}

impl Sortable for ElementRecord {
    type Key = (u64, i64);

    fn key(&self) -> (u64, i64) {
        (self.key, self.id)
    }
}

/// A version of an element, and how many others came before it.
#[derive(Debug, Clone, Copy, Default)]
pub struct SourceVersion {
    /// The element.
    pub element: ElementRecord,
    /// Its place in the source.
    pub place: u64,
}

impl SortRecord for SourceVersion {
    fn write(&self, previous: &SourceVersion, out: &mut Vec<u8>) {
        self.element.write(&previous.element, out);
        put_fields(out, [previous.place as i64], [self.place as i64]);
    }

    fn read(reader: &mut ByteReader<'_>, previous: &SourceVersion) -> Option<SourceVersion> {
        let element = ElementRecord::read(reader, &previous.element)?;
        let [place] = get_fields(reader, [previous.place as i64])?;
        Some(SourceVersion { element, place: place as u64 })
    }

    fn span(&self) -> PayloadSpan {
        self.element.span
    }

    fn set_span(&mut self, span: PayloadSpan) {
        self.element.span = span;
    }
}

impl Sortable for SourceVersion {
    type Key = (i64, u32, u64);

    fn key(&self) -> (i64, u32, u64) {
        (self.element.id, self.element.version, self.place)
    }
}

/// A way or relation and its box.
#[derive(Debug, Clone, Copy, Default)]
pub struct Placed {
    /// The element.
    pub element: ElementRecord,
    /// South, west, north, east.
    pub corners: [i32; 4],
}

impl SortRecord for Placed {
    fn write(&self, previous: &Placed, out: &mut Vec<u8>) {
        self.element.write(&previous.element, out);
        put_fields(out, previous.corners.map(i64::from), self.corners.map(i64::from));
    }

    fn read(reader: &mut ByteReader<'_>, previous: &Placed) -> Option<Placed> {
        let element = ElementRecord::read(reader, &previous.element)?;
        let corners = get_fields(reader, previous.corners.map(i64::from))?.map(|n| n as i32);
        Some(Placed { element, corners })
    }

    fn span(&self) -> PayloadSpan {
        self.element.span
    }

    fn set_span(&mut self, span: PayloadSpan) {
        self.element.span = span;
    }
}

impl Sortable for Placed {
    type Key = (u64, i64);

    fn key(&self) -> (u64, i64) {
        self.element.key()
    }
}

/// A way node whose position was given with the way.
#[derive(Debug, Clone, Copy, Default)]
pub struct WayNodePosition {
    /// The node's id.
    pub id: i64,
    /// Its place along the Hilbert curve, which is its position.
    pub key: u64,
}

fields!(WayNodePosition, 2, |r| [r.id, r.key as i64], |[id, key]| WayNodePosition { id, key: key as u64 });

impl Sortable for WayNodePosition {
    type Key = (i64, u64);

    fn key(&self) -> (i64, u64) {
        (self.id, self.key)
    }
}

/// A reference to an id. References are numbered in the order in which they are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ElementReference {
    /// The id.
    pub id: i64,
    /// The number of the reference.
    pub number: u64,
}

fields!(ElementReference, 2, |r| [r.id, r.number as i64], |[id, number]| ElementReference {
    id,
    number: number as u64
});

impl Sortable for ElementReference {
    type Key = (i64, u64);

    fn key(&self) -> (i64, u64) {
        (self.id, self.number)
    }
}

/// An id with the ordinal and position of its element: the target of references.
pub trait IdEntry: Sortable<Key = i64> {
    /// The answer to a reference.
    type Found: Sortable<Key = u64> + ReferenceAnswer;
    /// Returns the id.
    fn id(&self) -> i64;
    /// Returns the ordinal.
    fn ordinal(&self) -> Ordinal;
    /// Creates the answer to the reference `number`: this element, or that it is missing.
    fn found(number: u64, entry: Result<&Self, ElementRef>) -> Self::Found;
}

/// The answer to a reference.
pub trait ReferenceAnswer {
    /// Returns the element.
    fn element(&self) -> ElementRef;
    /// Sets the element of the answer.
    fn set_element(&mut self, element: ElementRef);
}

/// The id of a node.
#[derive(Debug, Clone, Copy, Default)]
pub struct NodeEntry {
    /// The id.
    pub id: i64,
    /// The ordinal.
    pub ordinal: Ordinal,
    /// The position.
    pub coord: Coord,
}

fields!(NodeEntry, 4, |r| [r.id, r.ordinal as i64, r.coord.lat.into(), r.coord.lon.into()], |[
    id,
    ordinal,
    lat,
    lon,
]| NodeEntry {
    id,
    ordinal: ordinal as u64,
    coord: Coord { lat: lat as i32, lon: lon as i32 }
});

impl Sortable for NodeEntry {
    type Key = i64;

    fn key(&self) -> i64 {
        self.id
    }
}

impl IdEntry for NodeEntry {
    type Found = FoundNode;

    fn id(&self) -> i64 {
        self.id
    }

    fn ordinal(&self) -> Ordinal {
        self.ordinal
    }

    fn found(number: u64, entry: Result<&NodeEntry, ElementRef>) -> FoundNode {
        match entry {
            Ok(entry) => FoundNode { number, element: entry.ordinal, coord: entry.coord },
            Err(missing) => FoundNode { number, element: missing.0, coord: Coord::MISSING },
        }
    }
}

/// The node that a reference is to.
#[derive(Debug, Clone, Copy, Default)]
pub struct FoundNode {
    /// The number of the reference.
    pub number: u64,
    element: u64,
    /// The position.
    pub coord: Coord,
}

fields!(FoundNode, 4, |r| [r.number as i64, r.element as i64, r.coord.lat.into(), r.coord.lon.into()], |[
    number,
    element,
    lat,
    lon,
]| FoundNode {
    number: number as u64,
    element: element as u64,
    coord: Coord { lat: lat as i32, lon: lon as i32 }
});

impl Sortable for FoundNode {
    type Key = u64;

    fn key(&self) -> u64 {
        self.number
    }
}

impl ReferenceAnswer for FoundNode {
    fn element(&self) -> ElementRef {
        ElementRef(self.element)
    }

    fn set_element(&mut self, element: ElementRef) {
        self.element = element.0;
    }
}

/// The id of a way or relation.
#[derive(Debug, Clone, Copy, Default)]
pub struct BoxEntry {
    /// The id.
    pub id: i64,
    /// The ordinal.
    pub ordinal: Ordinal,
    /// South, west, north, east.
    pub corners: [i32; 4],
}

fields!(
    BoxEntry,
    6,
    |r| {
        let [south, west, north, east] = r.corners.map(i64::from);
        [r.id, r.ordinal as i64, south, west, north, east]
    },
    |[id, ordinal, south, west, north, east]| BoxEntry {
        id,
        ordinal: ordinal as u64,
        corners: [south, west, north, east].map(|n| n as i32)
    }
);

impl Sortable for BoxEntry {
    type Key = i64;

    fn key(&self) -> i64 {
        self.id
    }
}

impl IdEntry for BoxEntry {
    type Found = FoundBox;

    fn id(&self) -> i64 {
        self.id
    }

    fn ordinal(&self) -> Ordinal {
        self.ordinal
    }

    fn found(number: u64, entry: Result<&BoxEntry, ElementRef>) -> FoundBox {
        match entry {
            Ok(entry) => FoundBox { number, element: entry.ordinal, corners: Some(entry.corners) },
            Err(missing) => FoundBox { number, element: missing.0, corners: None },
        }
    }
}

/// The way or relation that a reference is to.
#[derive(Debug, Clone, Copy, Default)]
pub struct FoundBox {
    /// The number of the reference.
    pub number: u64,
    element: u64,
    /// Its box, if it exists.
    pub corners: Option<[i32; 4]>,
}

fields!(
    FoundBox,
    7,
    |r| {
        let [south, west, north, east] = r.corners.unwrap_or_default().map(i64::from);
        [r.number as i64, r.element as i64, r.corners.is_some().into(), south, west, north, east]
    },
    |[number, element, there, south, west, north, east]| FoundBox {
        number: number as u64,
        element: element as u64,
        corners: (there == 1).then_some([south, west, north, east].map(|n| n as i32))
    }
);

impl Sortable for FoundBox {
    type Key = u64;

    fn key(&self) -> u64 {
        self.number
    }
}

impl ReferenceAnswer for FoundBox {
    fn element(&self) -> ElementRef {
        ElementRef(self.element)
    }

    fn set_element(&mut self, element: ElementRef) {
        self.element = element.0;
    }
}

/// An element and one that has it among its nodes or members.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParentLink {
    /// The element.
    pub child: Ordinal,
    /// The way or relation.
    pub parent: Ordinal,
}

fields!(ParentLink, 2, |r| [r.child as i64, r.parent as i64], |[child, parent]| ParentLink {
    child: child as u64,
    parent: parent as u64
});

impl Sortable for ParentLink {
    type Key = (Ordinal, Ordinal);

    fn key(&self) -> (Ordinal, Ordinal) {
        (self.child, self.parent)
    }
}

/// An element's tag.
#[derive(Debug, Clone, Copy, Default)]
pub struct Posting {
    /// The tag.
    pub pair: PairId,
    high: u32,
    low: u32,
}

impl Posting {
    /// Creates the posting for an element with the tag.
    pub fn new(pair: PairId, ordinal: Ordinal) -> Posting {
        Posting { pair, high: (ordinal >> 32) as u32, low: ordinal as u32 }
    }

    /// Returns the element.
    pub fn ordinal(&self) -> Ordinal {
        u64::from(self.high) << 32 | u64::from(self.low)
    }
}

fields!(Posting, 2, |r| [r.pair.into(), r.ordinal() as i64], |[pair, ordinal]| Posting::new(
    pair as u32,
    ordinal as u64
));

impl Sortable for Posting {
    type Key = (PairId, Ordinal);

    fn key(&self) -> (PairId, Ordinal) {
        (self.pair, self.ordinal())
    }
}

/// An ordinal alone.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bare(pub Ordinal);

fields!(Bare, 1, |r| [r.0 as i64], |[ordinal]| Bare(ordinal as u64));

impl Sortable for Bare {
    type Key = Ordinal;

    fn key(&self) -> Ordinal {
        self.0
    }
}

/// The number that a block gave to a tag, and the tag.
#[derive(Debug, Clone, Copy, Default)]
pub struct NumberedTag {
    /// The block's number.
    pub slot: u64,
    /// The tag.
    pub pair: PairId,
}

fields!(NumberedTag, 2, |r| [r.slot as i64, r.pair.into()], |[slot, pair]| NumberedTag {
    slot: slot as u64,
    pair: pair as u32
});

impl Sortable for NumberedTag {
    type Key = u64;

    fn key(&self) -> u64 {
        self.slot
    }
}
