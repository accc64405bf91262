//! Runs every parser of external input on random bytes, with any compiler; see `fuzz/README.md`.
//!
//! `cargo test --test fuzz` runs the corpora and a second of random changes for each target.
//! `TERRAPIN_FUZZ_SECONDS=3600 cargo test --release --test fuzz -- sparql` takes an hour for one target.

#[path = "../fuzz/harness/mod.rs"]
mod harness;
#[path = "common/place.rs"]
mod place;
#[path = "../fuzz/targets/mod.rs"]
mod targets;

fn main() -> std::process::ExitCode {
    harness::main()
}
