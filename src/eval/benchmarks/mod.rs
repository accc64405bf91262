//! The published benchmarks: how each prepares a query, runs it and names what went wrong. A file each.

pub mod overpassnl;
