//! The metrics: numbers that compare two results or two queries. One file each.

pub mod assignment;
pub mod bleu;
pub mod canonical;
pub mod chrf;
pub mod codebleu;
pub mod exact_match;
pub mod execution;
pub mod gerbil;
pub mod kvs;
pub mod oqs;
pub mod query_tree;
pub mod ranking;
pub mod rouge;
mod space;
pub mod spinach;
pub mod table;
pub mod text2sparql;
pub mod trees;

pub use space::is_python_space;
