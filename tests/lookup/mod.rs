//! Tags, entities and places found by words.

mod entities;
mod entity_json;
mod geocoder;
mod relation_counts;
mod taginfo;
mod tags;
