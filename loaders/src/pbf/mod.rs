//! The PBF format: blobs in a file ([`file`]), their compression ([`unpack`]), the header ([`head`]) and the elements of
//! a block ([`block`]), read straight from the encoded bytes ([`wire`]).

pub(crate) mod block;
pub(crate) mod file;
mod head;
#[cfg(test)]
mod tests;
mod unpack;
mod wire;

/// The most bytes that a blob may have, packed or unpacked: the format's own limit.
pub(crate) const MAX_BLOB: usize = 32 << 20;

/// The most bytes that a blob's header may have: the format's own limit.
const MAX_BLOB_HEADER: u32 = 64 << 10;
