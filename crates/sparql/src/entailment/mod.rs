//! Entailment regimes (SPARQL 1.1 Entailment Regimes): patterns also match triples that follow from the stored ones.
//!
//! - **RDFS**: the rules of RDF 1.1 Semantics, section 9.2.1, that derive something from stored triples of
//!   `rdfs:subClassOf`, `rdfs:subPropertyOf`, `rdfs:domain` and `rdfs:range` (rdfs2, 3, 5 to 7, 9 to 11). Axiomatic
//!   triples, and what holds for every term or predicate (`rdfs:Resource`, `rdf:Property`, `rdfs:Class`), do not match.
//! - **GeoSPARQL**: the query rewrite extension (GeoSPARQL 1.1, section 12): a topological relation such as
//!   `geo:sfWithin` holds between two features or geometries if it holds between their geometries' serializations.
//!
//! A triple pattern with an entailed predicate becomes the union of the stored triples and a relation of the triples
//! that only follow from them ([`rdfs`], [`topology`]). No entailed triple is stored. Property paths of more than one
//! predicate, and patterns in GRAPH, match stored triples.

mod places;
mod rdfs;
mod regime;
mod rewrite;
mod schema;
mod topology;

pub use regime::Entailment;
pub(crate) use rewrite::rewrite;
