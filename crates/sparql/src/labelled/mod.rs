//! The labelled form of a query, as in Instruct-to-SPARQL: `wdt:[property:instance of]` for `wdt:P31`,
//! `wd:[entity:film]` for `wd:Q11424`. The labels are those of a snapshot. [`label`] writes this form, [`unlabel`]
//! reads it.
//!
//! Both change only names and do not check the syntax of the query.

mod identifier;
mod label;
mod names;
mod unlabel;

pub use identifier::{IdentifierKind, label_of};
pub use label::{Labelled, label};
pub use names::{NameCandidate, NameContext, NameMatchKind, SnapshotNames};
pub use unlabel::{BracketedName, Unlabelled, has_names, unlabel};
