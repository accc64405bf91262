//! A pattern while it is read.

/// What is read of a pattern, a character at a time.
#[derive(Debug, Clone)]
pub(super) struct Reader {
    chars: Vec<char>,
    at: usize,
}

impl Reader {
    /// Begins to read a pattern.
    pub fn new(pattern: &str) -> Reader {
        Reader { chars: pattern.chars().collect(), at: 0 }
    }

    /// The character `ahead` places from here.
    pub fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at.checked_add(ahead)?).copied()
    }

    /// The next character.
    pub fn next(&mut self) -> Option<char> {
        let next = self.peek(0);
        self.at += usize::from(next.is_some());
        next
    }

    /// Whether the next character is this one, which is then read.
    pub fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek(0) == Some(wanted);
        self.at += usize::from(found);
        found
    }

    /// Whether these characters come next, which are then read.
    pub fn eat_all(&mut self, wanted: &str) -> bool {
        let found = wanted.chars().enumerate().all(|(n, c)| self.peek(n) == Some(c));
        if found {
            self.at += wanted.chars().count();
        }
        found
    }

    /// All up to a character, which is read, too.
    pub fn until(&mut self, end: char) -> Option<String> {
        let length = self.chars.get(self.at..)?.iter().position(|&c| c == end)?;
        let text = self.chars.get(self.at..self.at + length)?.iter().collect();
        self.at += length + 1;
        Some(text)
    }
}
