//! Numbered names for anonymous blank nodes.

use super::value::AstValue;

/// A generator of names for blank nodes.
pub struct Blanks<'a> {
    /// The prefix of the names.
    name: &'a str,
    /// Number of names generated so far.
    pub count: u64,
}

impl<'a> Blanks<'a> {
    /// Creates a generator with this prefix.
    pub fn new(name: &'a str) -> Self {
        Blanks { name, count: 0 }
    }

    /// Returns a new blank node.
    pub fn next(&mut self) -> AstValue {
        self.count += 1;
        AstValue::term("BNode", &format!("{}{:031x}", self.name, self.count))
    }
}
