//! Functions shared by storage and queries that the standard library lacks. This crate does not know elements, triples
//! or queries.

pub mod bitmap;
pub mod codec;
pub mod deferred;
pub mod external_sort;
mod hypot;
pub mod machine;
mod map;
pub mod progress;
pub mod size;
pub mod stack;
pub mod temporary;
pub mod untrusted;
pub mod words;

pub use map::map_read_only;
pub use progress::LoadProgress;
