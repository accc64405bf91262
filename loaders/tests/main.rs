//! Tests the readers on real and broken files, and against another reader.

#[path = "../../tests/common/place.rs"]
mod place;
#[path = "../../tests/common/skip.rs"]
mod skip;

mod broken;
mod peer;
mod real;
mod wikidata;
mod xml;
