//! Terrapin: one immutable, digest-named snapshot of an OpenStreetMap extract and a part of Wikidata that answers
//! OverpassQL and SPARQL the same way on every machine and every day, and the published metrics of the benchmarks built
//! on it.
//!
//! This crate has the commands ([`cli`]). It does not know how data is stored, how queries run or how HTTP works: that
//! is in crates of their own, re-exported here under short names.

pub mod cli;

pub use terrapin_allocator as allocator;
pub use terrapin_assist::{agents, ask, items, words};
pub use terrapin_base::{self as base, deferred, machine, size, stack, temporary};
pub use terrapin_budget as budget;
pub use terrapin_budget::memory;
pub use terrapin_chat as chat;
pub use terrapin_engine as engine;
pub use terrapin_entities as entities;
pub use terrapin_eval as eval;
pub use terrapin_export as export;
pub use terrapin_geocoder as geocoder;
pub use terrapin_load as load;
pub use terrapin_osm as osm;
pub use terrapin_overpass as overpass;
pub use terrapin_server as server;
pub use terrapin_snapshot as snapshot;
pub use terrapin_sparql as sparql;
pub use terrapin_tags as tags;
pub use terrapin_tiles as tiles;
pub use terrapin_triples as rdf;
