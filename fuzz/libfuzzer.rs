//! Runs the targets under libFuzzer. The program's name selects the target.
#![no_main]

#[allow(dead_code, reason = "the seeds and words are for the other harness")]
mod targets;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| targets::check(env!("CARGO_BIN_NAME"), bytes));
