//! The elements that a reader passes on: borrowed views of nodes, ways and relations, valid for one call. This module
//! does not depend on any file format.

/// Value of latitude and longitude if the file has none. Used for deleted and redacted nodes of a history file, for
/// nodes that libosmium wrote without a location, and for way nodes whose location the writer did not have.
pub const NO_COORDINATE: i32 = i32::MAX;

/// Maximum number of nodes of a way: about 500 times the limit of OpenStreetMap's API, and far more than any way had
/// before that limit existed.
pub const MAX_WAY_NODES: usize = 1 << 20;

/// Maximum number of members of a relation: 32 times the limit of OpenStreetMap's API.
pub const MAX_MEMBERS: usize = 1 << 20;

/// Maximum number of tags of an element: 13 times the limit of OpenStreetMap's API.
pub const MAX_TAGS: usize = 1 << 16;

/// The three kinds of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceElementType {
    /// A point.
    Node,
    /// A list of nodes.
    Way,
    /// A list of members.
    Relation,
}

/// Metadata: author and time of this version of an element. Fields that the file does not have are 0 or empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceMeta<'a> {
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
pub struct SourceNode<'a> {
    /// Id; negative for elements that an editor has not uploaded yet.
    pub id: i64,
    /// Latitude in 1e-7 degrees, -900,000,000 to 900,000,000, or [`NO_COORDINATE`] if the file has none.
    pub lat: i32,
    /// Longitude in 1e-7 degrees, -1,800,000,000 to 1,800,000,000, or [`NO_COORDINATE`] if the file has none.
    pub lon: i32,
    /// Tags in the file's order.
    pub tags: &'a [(&'a str, &'a str)],
    /// Metadata, if the file has it.
    pub meta: Option<SourceMeta<'a>>,
}

/// A way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way<'a> {
    /// Id; negative for elements that an editor has not uploaded yet.
    pub id: i64,
    /// Ids of the way's nodes, in its order.
    pub refs: &'a [i64],
    /// Latitude and longitude in 1e-7 degrees of every node of `refs`, if the file has them (`LocationsOnWays`). Both
    /// are [`NO_COORDINATE`] for a node whose location the writer did not have.
    pub locations: Option<&'a [(i32, i32)]>,
    /// Tags in the file's order.
    pub tags: &'a [(&'a str, &'a str)],
    /// Metadata, if the file has it.
    pub meta: Option<SourceMeta<'a>>,
}

/// One entry of a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceMember<'a> {
    /// Type of the referenced element.
    pub kind: SourceElementType,
    /// Id of the referenced element.
    pub id: i64,
    /// Role in the relation; often empty.
    pub role: &'a str,
}

/// A relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRelation<'a> {
    /// Id; negative for elements that an editor has not uploaded yet.
    pub id: i64,
    /// Members in the relation's order.
    pub members: &'a [SourceMember<'a>],
    /// Tags in the file's order.
    pub tags: &'a [(&'a str, &'a str)],
    /// Metadata, if the file has it.
    pub meta: Option<SourceMeta<'a>>,
}

/// One element of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceElement<'a> {
    /// A node.
    Node(SourceNode<'a>),
    /// A way.
    Way(Way<'a>),
    /// A relation.
    Relation(SourceRelation<'a>),
}

/// The header of a file: metadata about the file as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceHeader {
    /// South, west, north and east in 1e-7 degrees, clamped to the valid range.
    pub bbox: Option<[i32; 4]>,
    /// The time of the data, in seconds since 1970-01-01T00:00:00Z.
    pub replication_timestamp: Option<i64>,
    /// The replication sequence number of the data.
    pub replication_sequence: Option<i64>,
    /// Base URL of the replication server.
    pub replication_url: Option<String>,
    /// The program that wrote the file.
    pub writing_program: Option<String>,
    /// Whether the file has several versions of an element, including deleted ones. PBF files declare it in their
    /// header. For XML files it is known only after reading: true if a deleted element was found.
    pub history: bool,
    /// Messages for the user about skipped parts of the file. Complete only after reading.
    pub warnings: Vec<String>,
}
