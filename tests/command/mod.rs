//! Commands at a shell: options, messages, formatting, lint.

mod cli;
mod fmt;
mod grammar;
mod lint;
mod samples;
mod slips;
mod terminal;
mod untrusted;
