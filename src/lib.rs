//! Terrapin: one immutable, digest-named snapshot of an OpenStreetMap extract that answers OverpassQL the same way on
//! every machine and every day, and the published metrics of the benchmarks built on it.
//!
//! Dependencies run one way: `server` → `eval` → `overpass` → `osm`, `rdf` → `snapshot`. The readers of OpenStreetMap files
//! are a crate of their own, `terrapin-loaders`.

pub mod budget;
pub mod cli;
pub mod deferred;
pub mod eval;
pub mod load;
pub mod machine;
pub mod memory;
pub mod osm;
pub mod overpass;
pub mod places;
pub mod rdf;
pub mod server;
pub mod size;
pub mod snapshot;
pub mod sparql;
pub mod stack;
