//! Terrapin: one immutable, digest-named snapshot of an OpenStreetMap extract and a part of Wikidata that answers
//! OverpassQL and SPARQL the same way on every machine and every day, and the published metrics of the benchmarks built
//! on it.
//!
//! This crate has the commands ([`cli`]), the server ([`server`]), the tools of agents ([`agents`]), questions in
//! plain language ([`ask`]) and what answers tell of linked items ([`items`]), and knows nothing of how data is stored or how
//! queries are run. Everything else is in crates of its own, which are here under short names.

pub mod agents;
pub mod ask;
pub mod cli;
pub mod items;
pub mod server;

pub use terrapin_allocator as allocator;
pub use terrapin_base::{self as base, deferred, machine, size, stack, temporary};
pub use terrapin_budget as budget;
pub use terrapin_budget::memory;
pub use terrapin_chat as chat;
pub use terrapin_entities as entities;
pub use terrapin_eval as eval;
pub use terrapin_export as export;
pub use terrapin_geocoder as geocoder;
pub use terrapin_load as load;
pub use terrapin_osm as osm;
pub use terrapin_overpass as overpass;
pub use terrapin_snapshot as snapshot;
pub use terrapin_sparql as sparql;
pub use terrapin_tags as tags;
pub use terrapin_tiles as tiles;
pub use terrapin_triples as rdf;
