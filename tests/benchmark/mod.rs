//! Commands that make, describe and annotate benchmarks.

mod annotations;
mod commands;
mod describe;
mod folder;
mod make;
mod region;
