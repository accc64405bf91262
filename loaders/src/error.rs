//! Errors of the loaders, with their position in the file.

use crate::limits::{MAX_BLOB, MAX_ELEMENT};
use std::io;
use std::path::{Path, PathBuf};

/// An error while reading a file.
#[derive(Debug, thiserror::Error)]
pub enum LoaderError {
    /// The file cannot be opened.
    #[error("{}: {source}", file.display())]
    Open {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file has an unsupported format.
    #[error("{}: {reason}", file.display())]
    Format {
        /// The file.
        file: PathBuf,
        /// The reason, with the detected format.
        reason: &'static str,
    },
    /// A PBF file is broken.
    #[error("{}: blob {blob} at byte {offset}: {problem}", file.display())]
    Pbf {
        /// The file.
        file: PathBuf,
        /// Number of the blob, from 0.
        blob: u64,
        /// Where the blob begins in the file.
        offset: u64,
        /// The problem in the blob.
        #[source]
        problem: PbfProblem,
    },
    /// An XML file is broken.
    #[error("{}: line {line}, byte {offset}: {problem}", file.display())]
    Xml {
        /// The file.
        file: PathBuf,
        /// Line of the unpacked text, from 1.
        line: u64,
        /// Offset in the unpacked text: where the tag or text begins, or where reading stopped.
        offset: u64,
        /// The problem at that offset.
        #[source]
        problem: XmlProblem,
    },
    /// A replication folder does not contain the requested changes.
    #[error("{}: {reason}", folder.display())]
    Replication {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        reason: String,
    },
    /// A text of triples or entities is broken.
    #[error("{}: line {line}, byte {offset}: {problem}", file.display())]
    Text {
        /// The file.
        file: PathBuf,
        /// Line of the unpacked text, from 1.
        line: u64,
        /// Offset in the unpacked text: where the error is, or where reading stopped.
        offset: u64,
        /// The problem at that offset.
        #[source]
        problem: TextProblem,
    },
}

/// A problem in a text of triples or entities.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextProblem {
    /// Reading or unpacking failed.
    #[error("cannot be read: {0}")]
    Read(String),
    /// A line is longer than the limit.
    #[error("a line of more than {0} bytes")]
    Line(usize),
    /// A syntax error.
    #[error("{0}")]
    Syntax(String),
}

/// A problem in an OSM XML document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum XmlProblem {
    /// Reading or unpacking failed.
    #[error("cannot be read: {0}")]
    Read(String),
    /// The document is not well-formed XML.
    #[error("not well-formed: {0}")]
    Syntax(String),
    /// The document is not in UTF-8.
    #[error("the encoding {0:?} is not supported, UTF-8 is")]
    Encoding(String),
    /// The root element is not `<osm>`.
    #[error("the document is a <{0}>, not an <osm>")]
    Root(String),
    /// An osmChange document instead of elements.
    #[error(
        "this is an osmChange document: it has changes of elements, not elements, and cannot be loaded; \
         --osc applies it to a snapshot"
    )]
    Changes,
    /// The root element is not `<osmChange>`.
    #[error("the document is a <{0}>, not an <osmChange>: it has no changes; --osm loads elements")]
    NoChanges(String),
    /// An unknown block of changes, or a tag in a block that is not an element.
    #[error("unknown tag <{0}>: changes are <node>, <way> and <relation> in <create>, <modify> and <delete>")]
    Section(String),
    /// A document of an augmented diff.
    #[error("this is an augmented diff: its elements are in <action>, each before and after, and cannot be loaded")]
    Diff,
    /// A changed or deleted element without a version.
    #[error("version=\"0\" of a changed or deleted element: at least 1 is expected")]
    Unversioned,
    /// A child that belongs to elements of another type.
    #[error("a <{tag}> is not allowed in a <{element}>")]
    Misplaced {
        /// The part.
        tag: &'static str,
        /// The element.
        element: &'static str,
    },
    /// An element of a change file outside of `<create>`, `<modify>` and `<delete>`.
    #[error("an element outside of <create>, <modify> and <delete>")]
    NoSection,
    /// An unsupported version of the format.
    #[error("version {0:?} of the format is not supported, 0.6 is")]
    Version(String),
    /// The text ends within the document.
    #[error("the text ends before </{0}>")]
    Ends(&'static str),
    /// Content after the end of the document.
    #[error("unexpected content after </{0}>")]
    Behind(&'static str),
    /// Tags are nested too deeply.
    #[error("tags are nested too deeply")]
    Depth,
    /// An element is larger than the limit.
    #[error("an element of more than {} bytes", MAX_ELEMENT)]
    Size,
    /// An element has more tags, nodes or members than the limit.
    #[error("an element of more than {most} {what}")]
    TooMany {
        /// The kind of items.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// A required attribute is missing.
    #[error("the attribute {0} is missing")]
    Missing(&'static str),
    /// An attribute with an invalid value.
    #[error("{attribute}={value:?} is out of range or not of the right form")]
    Value {
        /// Name of the attribute.
        attribute: String,
        /// The value, cut to 40 characters.
        value: String,
    },
}

impl XmlProblem {
    /// Returns the problem of an attribute with an invalid value.
    pub(crate) fn value(attribute: &str, value: &str) -> Self {
        XmlProblem::Value { attribute: attribute.to_owned(), value: value.chars().take(40).collect() }
    }
}

impl From<quick_xml::Error> for XmlProblem {
    fn from(error: quick_xml::Error) -> Self {
        match error {
            quick_xml::Error::Io(error) => XmlProblem::Read(error.to_string()),
            error => XmlProblem::Syntax(error.to_string()),
        }
    }
}

/// A problem in a blob of a PBF file.
#[derive(Debug, thiserror::Error)]
pub enum PbfProblem {
    /// Reading failed.
    #[error("{0}")]
    Read(#[from] io::Error),
    /// The file ends within the blob.
    #[error("the file ends within the blob's {part}: {missing} of {expected} bytes are missing")]
    FileEnds {
        /// Which part of the blob.
        part: &'static str,
        /// Number of missing bytes.
        missing: u64,
        /// Expected number of bytes.
        expected: u64,
    },
    /// A blob header is longer than 64 KiB.
    #[error("blob header of {0} bytes, at most 65536 are allowed")]
    HeaderLength(u32),
    /// A blob is longer than 32 MiB, or has a negative length.
    #[error("{what} of {length} bytes, at most {} are allowed", MAX_BLOB)]
    Length {
        /// The kind of content.
        what: &'static str,
        /// The length that the file gives.
        length: i64,
    },
    /// The first blob is not a header.
    #[error("the first blob is of type {0:?}, not \"OSMHeader\"")]
    NoHeader(String),
    /// The file requires an unsupported feature.
    #[error("the file needs the feature {0:?}, which is not supported")]
    Feature(String),
    /// Blob data in an unsupported compression, or a blob without data.
    #[error("{0}")]
    Compression(&'static str),
    /// Unpacking failed.
    #[error("the blob's {method} data is broken: {reason}")]
    Unpack {
        /// The compression.
        method: &'static str,
        /// The decoder's message.
        reason: String,
    },
    /// The unpacked size differs from the declared size.
    #[error("the blob unpacks to {got} bytes, but declares {said}")]
    Size {
        /// Actual size in bytes.
        got: usize,
        /// Declared size in bytes.
        said: usize,
    },
    /// The protocol buffer encoding is broken.
    #[error("broken message: {0}")]
    Wire(#[from] Wire),
    /// A string is not UTF-8.
    #[error("string {0} is not valid UTF-8")]
    Utf8(usize),
    /// A string index beyond the block's string table.
    #[error("{element}: string {index} is out of range: the block has {strings}")]
    StringIndex {
        /// The element with the index.
        element: ElementId,
        /// The index.
        index: i64,
        /// Number of strings in the block.
        strings: usize,
    },
    /// Parallel lists have different lengths.
    #[error("{element}: {what}")]
    Counts {
        /// The element.
        element: ElementId,
        /// Which lists.
        what: &'static str,
    },
    /// Dense nodes with fewer entries in a list than ids.
    #[error("dense nodes: fewer {0} than ids")]
    Missing(&'static str),
    /// Dense nodes with more entries in a list than ids.
    #[error("dense nodes: more {0} than ids")]
    Surplus(&'static str),
    /// The sum of delta-coded numbers overflows.
    #[error("the differences between {0} add up to a number out of range")]
    Overflow(&'static str),
    /// A number outside the range of its type.
    #[error("{element}: {what} out of range")]
    Range {
        /// The element.
        element: ElementId,
        /// Which number.
        what: &'static str,
    },
    /// Coordinates of a node or location outside the valid range.
    #[error("{element}: coordinates out of range: {lat}, {lon} nanodegrees")]
    Coordinates {
        /// The element.
        element: ElementId,
        /// Latitude.
        lat: i64,
        /// Longitude.
        lon: i64,
    },
    /// An element has more tags, nodes, locations or members than the limit.
    #[error("{element}: more than {most} {what}")]
    TooMany {
        /// The element.
        element: ElementId,
        /// The kind of items.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// A block has more strings than the limit.
    #[error("more than {0} strings in a block")]
    Strings(usize),
    /// An element without the required id.
    #[error("a {0} without an id")]
    NoId(&'static str),
    /// A relation member of an unknown type.
    #[error("{element}: unknown member type {kind}")]
    MemberType {
        /// The relation.
        element: ElementId,
        /// The type number in the file.
        kind: u64,
    },
    /// The granularity of coordinates or times in a block is not positive.
    #[error("granularity of {0}")]
    Granularity(i32),
}

/// The element with a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementId {
    /// A node, by id.
    Node(i64),
    /// A way, by id.
    Way(i64),
    /// A relation, by id.
    Relation(i64),
}

impl std::fmt::Display for ElementId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ElementId::Node(id) => write!(f, "node {id}"),
            ElementId::Way(id) => write!(f, "way {id}"),
            ElementId::Relation(id) => write!(f, "relation {id}"),
        }
    }
}

/// A problem in the protocol buffer encoding of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Wire {
    /// The message ends within a field.
    #[error("it ends within a field")]
    Ends,
    /// A number of more than ten bytes.
    #[error("a number of more than ten bytes")]
    Varint,
    /// A field with an unknown wire type.
    #[error("a field of unknown encoding")]
    Encoding,
    /// A field with another wire type than the format defines.
    #[error("field {0} has the wrong encoding")]
    Mismatch(u32),
}

impl LoaderError {
    /// Returns the file, or the replication folder, of the error.
    pub fn file(&self) -> &Path {
        match self {
            LoaderError::Open { file, .. }
            | LoaderError::Format { file, .. }
            | LoaderError::Pbf { file, .. }
            | LoaderError::Xml { file, .. }
            | LoaderError::Text { file, .. }
            | LoaderError::Replication { folder: file, .. } => file,
        }
    }
}
