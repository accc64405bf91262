//! Integration tests that can share a process, in one binary that is linked once. `cargo test --test integration --
//! http::` runs the tests of one file. Tests that measure their own memory, time or descriptors, or that survive a
//! crash, are separate binaries.

#[cfg(feature = "ask")]
mod ask;
#[cfg(feature = "ask")]
mod ask_cases;
#[cfg(feature = "ask")]
mod ask_examples;
#[cfg(feature = "ask")]
mod ask_model;
mod ask_replies;
#[cfg(feature = "ask")]
mod ask_tls;
mod benchmark;
mod benchmark_describe;
mod changes;
mod cli;
mod codebleu;
mod common;
mod compat;
mod conformance;
mod content_digest;
mod convert;
mod damage;
mod damage_services;
mod entities;
mod eval_cluster;
mod eval_input;
mod eval_keeps;
mod eval_published;
mod eval_runs;
mod export;
mod extract;
mod feedback;
mod fmt;
mod formats;
mod front_end;
mod geocoder;
mod geojson;
mod geojson_items;
mod grammar;
mod history;
mod http;
mod http_bounds;
mod lint;
mod maps;
mod mcp;
mod operators;
mod overpassnl;
mod page;
mod parse_vectors;
mod plan;
mod queries;
mod rdf;
#[cfg(feature = "remote")]
mod remote;
mod report_page;
mod score;
mod similarity;
mod slips;
mod sparql;
mod sparql_answers;
mod sparql_determinism;
mod sparql_dialect;
mod sparql_elements;
mod sparql_graphs;
mod sparql_http;
mod sparql_places;
mod sparql_protocol;
mod sparql_random;
mod sparql_spatial;
mod sparql_values;
mod states;
mod store;
mod taginfo;
mod tags;
mod terminal;
mod tiles;
mod untrusted;
mod w3c;
mod walls;
mod wikidata;
