//! The PBF format: blobs of a file (`file.rs`), their compression (`unpack.rs`), the header (`head.rs`) and the
//! elements of a block (`block.rs`), decoded directly from the encoded bytes (`wire.rs`). [`write`](mod@write) writes
//! the format.
//!
//! The crate osmpbf is not used, except as a reference in the tests. It panics on unknown member types and, in builds
//! with overflow checks, on deltas that overflow. It silently ignores lists of different lengths, and with them the
//! metadata of dense nodes whose writer omitted one list. It does not report where a block is broken, and it takes
//! twice the time.

pub(crate) mod block;
pub(crate) mod file;
mod head;
#[cfg(test)]
mod tests;
mod unpack;
mod wire;
pub mod write;
