//! The PBF format: blobs in a file (`file.rs`), their compression (`unpack.rs`), the header (`head.rs`) and the elements of
//! a block (`block.rs`), read straight from the encoded bytes (`wire.rs`); writing them ([`write`](mod@write)).
//!
//! Not by osmpbf, which the tests compare with: it panics on member types it does not know and, in builds with overflow
//! checks, on differences that overflow; it passes over lists of different lengths in silence, with them the metadata of
//! dense nodes whose writer left one list out; it cannot say where a block is broken; and it takes twice the time.

pub(crate) mod block;
pub(crate) mod file;
mod head;
#[cfg(test)]
mod tests;
mod unpack;
mod wire;
pub mod write;
