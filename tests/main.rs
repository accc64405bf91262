//! Integration tests that can share a process, in one binary that is linked once. `cargo test --test integration --
//! server::http::` runs the tests of one file. Tests that measure their own memory, time or descriptors, or that survive a
//! crash, are separate binaries.

mod ask;
mod benchmark;
mod command;
mod common;
mod eval;
mod lookup;
mod overpass;
mod server;
mod snapshot;
mod source;
mod sparql;
