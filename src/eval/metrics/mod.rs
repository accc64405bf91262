//! The metrics: what two results or two queries have in common, as a number. A file each.

pub mod assignment;
pub mod chrf;
pub mod codebleu;
pub mod exact_match;
pub mod execution;
pub mod kvs;
pub mod oqs;
pub mod query_tree;
pub mod table;
pub mod trees;

/// What Python's `str.isspace` calls white space, which is what the published code splits and strips at.
pub fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
