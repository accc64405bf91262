//! OSM XML: parsed on one thread into chunks of elements ([`parse`]) that the pool then works on. A document
//! is never in memory as a whole.

mod meter;
pub(crate) mod parse;
mod value;

/// The most bytes that one element with all that is in it, or anything between two elements, may have.
pub(crate) const MAX_ELEMENT: usize = 32 << 20;
