//! Triples of a snapshot: a dictionary of terms in canonical order and three sorted permutations of the triples, read
//! in place from the mapped file. A view gives access to them for one query.
//!
//! The crate may use the snapshot file; it does not know the text of queries. A term is represented by its number in
//! the canonical order ([`TermId`]). Term numbers and the order of solutions depend on the triples only, not on how
//! they were loaded. Literals are in canonical form, one for each value (canonical.rs), unless the builder is told to
//! keep their lexical forms.
//!
//! ```text
//! rdf.strings                    terms with text, front-coded in buckets of 16, in byte order of their keys (key.rs)
//! rdf.codes                      terms that need no text, as 64 bits each, ascending (code.rs)
//! rdf.kinds                      the first numbers of IRIs, literals, codes and literals' codes, and the end; then, if
//!                                there are triple terms or literals keep their lexical forms, the first number of triple
//!                                terms; then 1 in the second case
//! rdf.predicates, .subjects,     the distinct predicates; the numbers of distinct subjects and objects of each
//!   .objects
//! rdf.spo.*, rdf.pos.*,          a permutation of the triples: the starts of each first component, a column of the
//!   rdf.osp.*                    second components and one of the third (store.rs)
//! rdf.graphs, .starts,           if named graphs exist: their names, the starts of their triples, and these triples in
//!   .spo.*, .pos.*, .osp.*       three orders (graphs.rs); the permutations contain the triples of all graphs
//! rdf.labels, .words, .lists     the names and descriptions of Wikidata's entities by their words (labels.rs)
//! ```
//!
//! Everything but the dictionary's text is stored as bit-packed columns of integers (column.rs). All sections are
//! checked in granules of 16 KiB on first access (checked.rs).

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
mod selection;
mod sitelinks;
mod store;
mod strings;
mod view;

pub use code::{DatePart, ExactNumber, TermCode};
pub use entity::EntityId;
pub use globes::radius;
pub use graphs::{GraphTriples, Graphs};
pub use id::TermId;
pub use kind::EntityKind;
pub use label_index::write_labels;
pub use labels::{LabelIndex, LabelPartition, TextRole};
pub use near::{PointSearchArea, write_points};
pub use points::{GlobePoint, Zone};
pub use selection::{Dataset, GraphSelection};
pub use sitelinks::sitelinks;
pub use store::{PredicateCounts, Store, Subjects, TermKind, Triples};
pub use view::{Computed, End, Pairs, Quads, ReadError, StoredTriples, TermRelation, TripleView};
