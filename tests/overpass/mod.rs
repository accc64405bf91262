//! OverpassQL: queries, conversion and output, beside the reference.

mod conformance;
mod convert;
mod front_end;
mod geojson;
mod geojson_items;
mod parse_vectors;
mod queries;
