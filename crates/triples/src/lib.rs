//! Triples in a snapshot: a dictionary of terms in canonical order and three sorted permutations of the triples, read in
//! place from the mapped file, and a query's view of them for the SPARQL evaluator.
//!
//! This crate knows the snapshot file and knows nothing of the query language's text. A term is its number in the
//! canonical order ([`TermId`]); what a term is and in which order solutions come depends on the triples alone, not on
//! how they were loaded. Literals are in their canonical form, one for each value (canonical.rs).
//!
//! ```text
//! rdf.strings                    terms with text, front-coded in buckets of 16, in byte order of their keys (key.rs)
//! rdf.codes                      terms that need no text, as 64 bits each, ascending (code.rs)
//! rdf.kinds                      where IRIs, literals, codes, literals' codes begin among the numbers, and the end
//! rdf.predicates, .subjects,     the distinct predicates; how many subjects and objects each has
//!   .objects
//! rdf.spo.*, rdf.pos.*,          a permutation of the triples: where those of each first component begin, then a column
//!   rdf.osp.*                    of the second and one of the third components (store.rs)
//! rdf.graphs, .starts,           where there are named graphs: their names, where the triples of each begin, and these
//!   .spo.*, .pos.*, .osp.*       in three orders (graphs.rs); the permutations have those of all graphs together
//! rdf.labels, .words, .lists     the names and descriptions of Wikidata's entities by their words (labels.rs)
//! ```
//!
//! All but the dictionary's text are columns of integers in as few bits as they need (column.rs); all are checked in
//! granules of 16 KiB when first touched (checked.rs).

pub mod build;
mod canonical;
mod code;
mod entity;
mod globes;
mod graphs;
mod id;
mod key;
mod kind;
mod label_index;
mod labels;
mod layout;
mod local;
mod near;
pub mod path;
mod points;
mod sitelinks;
mod store;
mod strings;
mod view;

pub use code::{Code, DatePart, Exact};
pub use entity::EntityId;
pub use globes::radius;
pub use graphs::{GraphTriples, Graphs};
pub use id::TermId;
pub use kind::EntityKind;
pub use label_index::write_labels;
pub use labels::{Labels, Part, Said};
pub use near::{Near, write_points};
pub use points::{Point, Zone};
pub use sitelinks::sitelinks;
pub use store::{PredicateCounts, Store, Subjects, TermKind, Triples};
pub use view::{Computed, End, Pairs, Quads, ReadError, Relation, Stored, View};
