//! OverpassQL: text → tokens → one syntax tree → plan → sets of ordinals → output streamed by type and order.
//!
//! What Overpass API 0.7.62 answers is right, element for element. May use `osm`; knows nothing of files on disk, of
//! HTTP or of benchmarks.

mod error;
pub mod set;
pub mod syntax;

pub use error::{Class, Diagnostic, Failure};
