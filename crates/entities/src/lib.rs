//! Wikidata's entities in a snapshot: finding them by what they are called, and what is said of them in the shapes in
//! which Wikibase tells it.
//!
//! This crate reads triples in the vocabulary of Wikidata's RDF dump and knows nothing of HTTP and of queries. [`find`] asks the
//! index of texts that a load makes; without one it looks at all texts. [`Entity`] puts an entity together from its
//! triples, and [`json`] and [`rest`] write it.
//!
//! ```text
//! search.rs      texts → entities, by the index
//! matches.rs     what was found, the likeliest first
//! scan.rs        the same where a snapshot has no index
//! languages.rs   which languages stand in for one
//! terms.rs       labels, descriptions, aliases
//! entity.rs      an entity, its links to sites
//! statement.rs   statements, their qualifiers and references
//! value.rs       values
//! linked.rs      what is told of an item beside an element that is linked with it
//! json.rs        as action=wbgetentities has it
//! rest.rs        as Wikibase's REST API has it
//! ```

mod entity;
pub mod json;
mod languages;
mod linked;
mod matches;
pub mod rest;
mod scan;
mod search;
mod sites;
mod statement;
mod terms;
mod value;

pub use entity::{Entity, Lexeme, Lookup, Sitelink};
pub use languages::{chain, chain_of};
pub use linked::{Linked, Properties, Unfit};
pub use matches::{Found, Languages, Match, Search};
pub use search::find;
pub use statement::{Rank, Reference, Snak, SnakValue, Statement};
pub use terms::{InLanguage, Terms, description, label, labels_of};
pub use terrapin_triples::{EntityId, EntityKind, Said};
pub use value::Value;
