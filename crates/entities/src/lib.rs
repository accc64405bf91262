//! Wikidata's entities in a snapshot: search by name, and entities in Wikibase's JSON.
//!
//! This crate reads triples in the vocabulary of Wikidata's RDF dump. It does not know HTTP or query languages.
//! [`find`] uses the index of texts that a load builds; without an index it scans all texts. [`EntityRecord`] is built
//! from triples; [`json`] and [`rest`] serialize it.
//!
//! ```text
//! search.rs      texts → entities, by the index
//! matches.rs     matches, best first
//! scan.rs        the search without an index
//! languages.rs   fallbacks of languages
//! terms.rs       labels, descriptions, aliases
//! name.rs        identifiers of entities, forms and senses
//! entity.rs      an entity, its links to sites
//! statement.rs   statements, their qualifiers and references
//! snak.rs        snaks: properties with a value
//! value.rs       values
//! hash.rs        hashes of snaks and references
//! linked.rs      fields of the items that are linked with elements
//! json.rs        JSON of action=wbgetentities
//! rest.rs        JSON of Wikibase's REST API
//! ```

mod entity;
mod hash;
pub mod json;
mod languages;
mod linked;
mod matches;
mod name;
pub mod rest;
mod scan;
mod search;
mod sites;
mod snak;
mod statement;
mod terms;
mod value;

pub use entity::{EntityRecord, EntitySitelink, Lexeme, Lookup, PartOfLexeme};
pub use languages::{chain, chain_of, is_language_code};
pub use linked::{InvalidProperty, Linked, Properties};
pub use matches::{EntityMatch, EntityQuery, Languages, MatchKind};
pub use name::EntityName;
pub use search::find;
pub use sites::is_site;
pub use snak::{EntitySnak, SnakValue};
pub use statement::{EntityStatement, Rank, StatementReference};
pub use terms::{LanguageText, Terms, description, label, labels_of};
pub use terrapin_triples::{EntityId, EntityKind, TextRole};
pub use value::EntityValue;
