//! The most that the formats allow, or that any real file has. What has more is refused before memory is taken for it.

/// The most bytes that a blob of a PBF file may have, packed or unpacked: the format's own limit.
pub(crate) const MAX_BLOB: usize = 32 << 20;

/// The most bytes that the header of a blob may have: the format's own limit.
pub(crate) const MAX_BLOB_HEADER: u32 = 64 << 10;

/// The most bytes that one element of an XML file with all that is in it, or anything between two elements, may have.
pub(crate) const MAX_ELEMENT: usize = 32 << 20;
