//! Collects what is wrong with a query, in the reference's order.

use super::Span;
use crate::code::Code;
use crate::error::{Class, Diagnostic, Failure};

/// After so many errors the rest of a text is not looked at.
const MOST: usize = 500;

/// Bytes of a message; what is in the middle of a longer one is left out.
const LONGEST: usize = 4000;

/// What a hint has to know of an error besides its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clue {
    /// This sign, and nothing else, has to stand here.
    Sign(&'static str),
    /// An `out` is within another element, or has one in it.
    Out,
    /// The sides of a box.
    Box,
    /// The number of an area.
    Area,
    /// The radius of `around`.
    Radius,
}

/// Why there is an error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause {
    code: Code,
    clue: Option<Clue>,
}

impl From<Code> for Cause {
    fn from(code: Code) -> Self {
        Cause { code, clue: None }
    }
}

impl Cause {
    /// A code, and what hints have to know besides where there is anything.
    pub fn new(code: Code, clue: Option<Clue>) -> Self {
        Cause { code, clue }
    }
}

/// An error, and what hints have to know of it.
pub(crate) struct Found {
    /// The error.
    pub diagnostic: Diagnostic,
    /// What its code does not say.
    pub clue: Option<Clue>,
}

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Diagnostics {
    /// What the regular expressions so far take when compiled, in bytes.
    pub patterns: usize,
    list: Vec<Found>,
    stopped: bool,
}

impl Diagnostics {
    /// Adds a `parse error`.
    pub fn parse(&mut self, cause: impl Into<Cause>, line: u32, span: Span, message: impl Into<String>) {
        self.add(Class::Parse, cause.into(), line, span, message.into());
    }

    /// Adds a `static error`.
    pub fn fixed(&mut self, cause: impl Into<Cause>, line: u32, span: Span, message: impl Into<String>) {
        self.add(Class::Static, cause.into(), line, span, message.into());
    }

    /// Gives the error that was added last a hint.
    pub fn help(&mut self, help: Option<String>) {
        if let (Some(last), Some(help)) = (self.list.last_mut(), help) {
            last.diagnostic.help.get_or_insert(help);
        }
    }

    fn add(&mut self, class: Class, Cause { code, clue }: Cause, line: u32, span: Span, message: String) {
        if !self.full() {
            let message = shortened(message);
            let diagnostic = Diagnostic { class, code, line, span: Some(span), message, help: None };
            self.list.push(Found { diagnostic, clue });
        }
    }

    /// The errors, for hints.
    pub fn found_mut(&mut self) -> &mut [Found] {
        &mut self.list
    }

    /// Whether there are so many that going on makes no sense.
    pub fn full(&self) -> bool {
        self.stopped || self.list.len() >= MOST
    }

    /// Takes no more errors: what follows has no meaning.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The failure that they make.
    pub fn into_failure(self) -> Failure {
        Failure { diagnostics: self.list.into_iter().map(|found| found.diagnostic).collect() }
    }
}

/// A message that quotes a whole text without most of it.
fn shortened(message: String) -> String {
    if message.len() <= LONGEST {
        return message;
    }
    let start = (0..=LONGEST / 2).rev().find(|&at| message.is_char_boundary(at)).unwrap_or(0);
    let tail = message.len() - LONGEST / 4;
    let end = (tail..=message.len()).find(|&at| message.is_char_boundary(at)).unwrap_or(message.len());
    format!("{} ... {} bytes left out ... {}", &message[..start], end - start, &message[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_lose_their_middle() {
        assert_eq!(shortened("é".repeat(2000)), "é".repeat(2000));
        let long = shortened(format!("Unknown type \"{}\" here", "é".repeat(100_000)));
        assert!(long.len() < 3100 && long.starts_with("Unknown type \"é") && long.ends_with("é\" here"), "{long}");
        assert!(long.contains(" bytes left out "));
    }
}
