//! Snapshots: loading, formats, history, damage, exports.

mod changes;
mod content_digest;
mod damage;
mod damage_services;
mod export;
mod extract;
mod formats;
mod history;
mod rdf;
#[cfg(feature = "remote")]
mod remote;
#[cfg(feature = "remote")]
mod short_names;
mod states;
mod store;
mod wikidata;
