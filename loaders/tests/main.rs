//! The readers over files: real ones, broken ones, and beside another reader.

#[path = "../../tests/common/place.rs"]
mod place;
#[path = "../../tests/common/skip.rs"]
mod skip;

mod broken;
mod peer;
mod real;
mod wikidata;
mod xml;
