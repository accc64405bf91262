//! The metrics: what two results or two queries have in common, as a number. A file each.

pub mod execution;
