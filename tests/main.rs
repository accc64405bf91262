//! The tests that can share a process: one binary, which is linked once. `cargo test --test integration -- http::` runs a
//! file's. Those that watch their own memory, time or descriptors, or outlive what they try, are binaries beside it.

mod cases;
mod cli;
mod codebleu;
mod common;
mod compat;
mod conformance;
mod content_digest;
mod convert;
mod damage;
mod eval_keeps;
mod eval_runs;
mod feedback;
mod front_end;
mod http;
mod http_bounds;
mod operators;
mod overpassnl;
mod parse_vectors;
mod plan;
mod queries;
mod rdf;
mod similarity;
mod sparql;
mod sparql_answers;
mod sparql_determinism;
mod sparql_dialect;
mod sparql_http;
mod sparql_places;
mod sparql_protocol;
mod sparql_random;
mod store;
mod w3c;
mod walls;
mod wikidata;
