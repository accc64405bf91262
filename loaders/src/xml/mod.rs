//! OSM XML: parsed on one thread into chunks of elements ([`parse`]) that the pool then works on. A document
//! is never in memory as a whole.

mod meter;
pub(crate) mod parse;
mod value;
