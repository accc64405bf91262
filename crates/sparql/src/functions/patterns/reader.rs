//! Reads a pattern character by character.

/// A pattern and the current position in it.
#[derive(Debug, Clone)]
pub(super) struct PatternReader {
    chars: Vec<char>,
    at: usize,
}

impl PatternReader {
    /// Creates a reader at the start of a pattern.
    pub fn new(pattern: &str) -> PatternReader {
        PatternReader { chars: pattern.chars().collect(), at: 0 }
    }

    /// Returns the character `ahead` places after the current position without reading it.
    pub fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at.checked_add(ahead)?).copied()
    }

    /// Reads the next character.
    pub fn next(&mut self) -> Option<char> {
        let next = self.peek(0);
        self.at += usize::from(next.is_some());
        next
    }

    /// Reads the next character if it is `wanted`. Returns whether it is.
    pub fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek(0) == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// Reads the next characters if they are `wanted`. Returns whether they are.
    pub fn eat_all(&mut self, wanted: &str) -> bool {
        let found = wanted.chars().enumerate().all(|(n, c)| self.peek(n) == Some(c));
        if found {
            self.at += wanted.chars().count();
        }
        found
    }

    /// Reads up to and including a character. Returns the text before it.
    pub fn until(&mut self, end: char) -> Option<String> {
        let length = self.chars.get(self.at..)?.iter().position(|&c| c == end)?;
        let text = self.chars.get(self.at..self.at + length)?.iter().collect();
        self.at += length + 1;
        Some(text)
    }
}
