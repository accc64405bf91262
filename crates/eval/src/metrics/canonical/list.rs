//! Lists of texts as one text.

use std::fmt::Write;

/// Joins texts with their lengths, so that different lists give different texts.
pub fn list(texts: impl IntoIterator<Item = String>) -> String {
    let mut joined = String::from("[");
    for text in texts {
        let _ = write!(joined, "{}:{text}", text.len());
    }
    joined + "]"
}
