//! The labelled form of a query, as Instruct-to-SPARQL has it: `wdt:[property:instance of]` for `wdt:P31`,
//! `wd:[entity:film]` for `wd:Q11424`, by the labels that a snapshot has. [`label`] writes it, [`unlabel`] reads it.
//!
//! Both change nothing but names; what is no query otherwise stays none.

mod identifier;
mod label;
mod names;
mod unlabel;

pub use identifier::{Kind, label_of};
pub use label::{Labelled, label};
pub use names::{Around, Candidate, Found, Names};
pub use unlabel::{Name, Unlabelled, has_names, unlabel};
