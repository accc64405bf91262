//! OSM XML: parsed on one thread into chunks of elements (`parse.rs`), which the pool then processes.
//! [`write`](mod@write) writes the format. A document is never in memory as a whole.

mod meter;
pub(crate) mod parse;
mod value;
pub mod write;

pub(crate) use value::timestamp;
