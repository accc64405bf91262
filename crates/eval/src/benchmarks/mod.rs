//! The published benchmarks, and any other in a file of JSON lines: how each prepares a query, runs it and names what
//! went wrong. A file each.

pub mod instruct_to_sparql;
pub mod jsonl;
pub mod overpassnl;
pub mod sparql;
