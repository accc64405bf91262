//! Blank nodes without a name, which get one by counting.

use super::value::AstValue;

/// Names for blank nodes.
pub struct Blanks<'a> {
    /// What the names begin with.
    name: &'a str,
    /// How many have one.
    pub count: u64,
}

impl<'a> Blanks<'a> {
    /// None named yet; the names begin with the one given.
    pub fn new(name: &'a str) -> Self {
        Blanks { name, count: 0 }
    }

    /// A blank node of its own.
    pub fn next(&mut self) -> AstValue {
        self.count += 1;
        AstValue::term("BNode", &format!("{}{:031x}", self.name, self.count))
    }
}
