//! The text of a query: tokens, the QL and XML front ends, the tree.

mod tree;

pub use tree::*;
