//! SPARQL over a snapshot's triples, as the Wikidata Query Service answers it.

pub mod geo;
