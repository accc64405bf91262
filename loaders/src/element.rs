//! What a reader hands out: plain views of nodes, ways and relations that live as long as one call.
//! Nothing here knows of a file format.

/// In place of a latitude and of a longitude: the file gives none. Deleted and redacted nodes of a history file carry it,
/// nodes that libosmium wrote without a location, and the locations of a way whose nodes the writer did not have.
pub const NO_COORDINATE: i32 = i32::MAX;

/// Nodes that a way may have: 500 times what OpenStreetMap's API takes, and far more than any way had before it counted.
pub const MAX_WAY_NODES: usize = 1 << 20;

/// Members that a relation may have: 32 times what OpenStreetMap's API takes.
pub const MAX_MEMBERS: usize = 1 << 20;

/// Tags that an element may have: 13 times what OpenStreetMap's API takes.
pub const MAX_TAGS: usize = 1 << 16;

/// The three kinds of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ElementType {
    /// A point.
    Node,
    /// A list of nodes.
    Way,
    /// A list of members.
    Relation,
}

/// Who made this version of an element, and when. What the file does not say is 0 or empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta<'a> {
    /// Version, from 1.
    pub version: u32,
    /// Seconds since 1970-01-01T00:00:00Z.
    pub timestamp: i64,
    /// Changeset.
    pub changeset: i64,
    /// User id; 0 also for the anonymous user of old data.
    pub uid: i64,
    /// User name.
    pub user: &'a str,
    /// Whether the element exists in this version; false for a deletion in a history file.
    pub visible: bool,
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node<'a> {
    /// Id; negative in files of editors.
    pub id: i64,
    /// Latitude in 1e-7 degrees, -900,000,000 to 900,000,000, or [`NO_COORDINATE`] where the file has none.
    pub lat: i32,
    /// Longitude in 1e-7 degrees, -1,800,000,000 to 1,800,000,000, or [`NO_COORDINATE`] where the file has none.
    pub lon: i32,
    /// Tags in the file's order.
    pub tags: &'a [(&'a str, &'a str)],
    /// Metadata, where the file has it.
    pub meta: Option<Meta<'a>>,
}

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way<'a> {
    /// Id; negative in files of editors.
    pub id: i64,
    /// Ids of the way's nodes, in its order.
    pub refs: &'a [i64],
    /// Latitude and longitude of every node of `refs`, where the file has them (`LocationsOnWays`); in 1e-7 degrees,
    /// or both [`NO_COORDINATE`] for a node that the writer did not know.
    pub locations: Option<&'a [(i32, i32)]>,
    /// Tags in the file's order.
    pub tags: &'a [(&'a str, &'a str)],
    /// Metadata, where the file has it.
    pub meta: Option<Meta<'a>>,
}

/// One entry of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// What it refers to.
    pub kind: ElementType,
    /// The id of that.
    pub id: i64,
    /// What it is in the relation; often empty.
    pub role: &'a str,
}

/// A relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation<'a> {
    /// Id; negative in files of editors.
    pub id: i64,
    /// Members in the relation's order.
    pub members: &'a [Member<'a>],
    /// Tags in the file's order.
    pub tags: &'a [(&'a str, &'a str)],
    /// Metadata, where the file has it.
    pub meta: Option<Meta<'a>>,
}

/// One element of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element<'a> {
    /// A node.
    Node(Node<'a>),
    /// A way.
    Way(Way<'a>),
    /// A relation.
    Relation(Relation<'a>),
}

/// What a file says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// South, west, north and east in 1e-7 degrees, cut to the globe.
    pub bbox: Option<[i32; 4]>,
    /// The time of the data, in seconds since 1970-01-01T00:00:00Z.
    pub replication_timestamp: Option<i64>,
    /// The number of the replication state that the data is at.
    pub replication_sequence: Option<i64>,
    /// Where newer data comes from.
    pub replication_url: Option<String>,
    /// The program that wrote the file.
    pub writing_program: Option<String>,
    /// Whether the file has several versions of an element and deleted ones. PBF files say it in their header; of XML
    /// files it is known only after reading: true if a deleted element was seen.
    pub history: bool,
    /// What in the file was not understood and left out, in words for people. Known only after reading.
    pub warnings: Vec<String>,
}
