//! SPARQL: queries, their results, protocol and dialects.

mod answers;
mod determinism;
mod dialect;
mod elements;
mod entailment;
mod forms;
mod graphs;
mod http;
mod modifiers;
mod places;
mod plan;
mod protocol;
mod qlever;
mod queries;
mod random;
mod reified;
mod spatial;
mod standard;
mod values;
mod w3c;
