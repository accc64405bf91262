//! The metrics: numbers that compare two results or two queries. One file each.

pub mod assignment;
pub mod bleu;
pub mod chrf;
pub mod codebleu;
pub mod exact_match;
pub mod execution;
pub mod gerbil;
pub mod kvs;
pub mod oqs;
pub mod query_tree;
pub mod rouge;
pub mod spinach;
pub mod table;
pub mod trees;

pub use codebleu::is_python_space;
