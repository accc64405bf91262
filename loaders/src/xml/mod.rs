//! OSM XML: parsed on one thread into chunks of elements (`parse.rs`) that the pool then works on; writing it
//! ([`write`](mod@write)). A document is never in memory as a whole.

mod meter;
pub(crate) mod parse;
mod value;
pub mod write;

pub(crate) use value::timestamp;
