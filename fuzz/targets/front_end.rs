//! The front end of the query language under libFuzzer: `make fuzz`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../front_end.rs"]
mod front_end;

fuzz_target!(|text: &[u8]| front_end::check(text));
