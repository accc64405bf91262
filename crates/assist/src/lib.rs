//! Helps users who cannot write the query: tools for the agents of language models ([`agents`]), questions in plain
//! language ([`ask`]), queries
//! from words without a model ([`words`]), names for grammars ([`grammar`]) and the Wikidata items of elements
//! ([`items`]). It does not know
//! commands or HTTP.

pub mod agents;
pub mod ask;
pub mod grammar;
pub mod items;
pub mod words;
