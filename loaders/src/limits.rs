//! Size limits: those of the formats, or values above those of all real files. Larger input is rejected before memory
//! is allocated for it.

/// Maximum size of a blob in a PBF file in bytes, packed or unpacked: the format's own limit.
pub(crate) const MAX_BLOB: usize = 32 << 20;

/// Maximum size of a blob header in bytes: the format's own limit.
pub(crate) const MAX_BLOB_HEADER: u32 = 64 << 10;

/// Maximum size in bytes of an element of an XML file with its children, or of the text between two elements.
pub(crate) const MAX_ELEMENT: usize = 32 << 20;
