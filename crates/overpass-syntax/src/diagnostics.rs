//! Collects the errors of a query, in the reference's order.

use terrapin_diagnostic::{DiagnosticClass, TextEdit};

use super::{SourceSpan, suggest};
use crate::code::{OverpassCode, OverpassDiagnostic};
use crate::error::OverpassFailure;

/// The maximum number of errors. After it, the rest of the text is not checked.
const MOST: usize = 500;

/// The maximum length of a message, in bytes. Longer ones lose their middle.
const LONGEST: usize = 4000;

/// Details of an error that hints need in addition to its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clue {
    /// Only this token is allowed here.
    Sign(&'static str),
    /// An `out` is inside another element, or contains one.
    Out,
    /// The sides of a box.
    Box,
    /// The number of an area.
    Area,
    /// The radius of `around`.
    Radius,
}

/// The cause of an error: its code, with a clue for hints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cause {
    code: OverpassCode,
    clue: Option<Clue>,
}

impl From<OverpassCode> for Cause {
    fn from(code: OverpassCode) -> Self {
        Cause { code, clue: None }
    }
}

impl Cause {
    /// Creates a cause from a code and an optional clue for hints.
    pub fn new(code: OverpassCode, clue: Option<Clue>) -> Self {
        Cause { code, clue }
    }
}

/// An error with its clue for hints.
pub(crate) struct CluedDiagnostic {
    /// The error.
    pub diagnostic: OverpassDiagnostic,
    /// Details that the code does not contain.
    pub clue: Option<Clue>,
}

/// The errors found so far.
#[derive(Default)]
pub(crate) struct Diagnostics {
    /// The size of all compiled regular expressions so far, in bytes.
    pub patterns: usize,
    list: Vec<CluedDiagnostic>,
    stopped: bool,
}

impl Diagnostics {
    /// Adds a `parse error`.
    pub fn parse(&mut self, cause: impl Into<Cause>, line: u32, span: SourceSpan, message: impl Into<String>) {
        self.add(DiagnosticClass::Parse, cause.into(), line, span, message.into());
    }

    /// Adds a `static error`.
    pub fn fixed(&mut self, cause: impl Into<Cause>, line: u32, span: SourceSpan, message: impl Into<String>) {
        self.add(DiagnosticClass::Static, cause.into(), line, span, message.into());
    }

    /// Adds a hint to the last error, unless it already has one.
    pub fn help(&mut self, help: Option<String>) {
        if let (Some(last), Some(help)) = (self.list.last_mut(), help) {
            last.diagnostic.help.get_or_insert(help);
        }
    }

    /// Adds the hint to the last error that `meant` was meant, unless it already has a hint. Pass the position of the
    /// word to replace, if it is known.
    pub fn suggest(&mut self, meant: Option<&str>, word: Option<SourceSpan>) {
        if let (Some(last), Some(meant)) = (self.list.last_mut(), meant)
            && last.diagnostic.help.is_none()
        {
            last.diagnostic.help = Some(suggest::did_you_mean(meant));
            last.diagnostic.edit = word.map(|span| Box::new(replacement(span, meant)));
        }
    }

    fn add(
        &mut self,
        class: DiagnosticClass,
        Cause { code, clue }: Cause,
        line: u32,
        span: SourceSpan,
        message: String,
    ) {
        if !self.full() {
            let diagnostic = OverpassDiagnostic::new(class, code, shortened(message)).in_line(line).spanning(span);
            self.list.push(CluedDiagnostic { diagnostic, clue });
        }
    }

    /// Returns the errors, so that hints can be added.
    pub fn found_mut(&mut self) -> &mut [CluedDiagnostic] {
        &mut self.list
    }

    /// Returns whether to stop: the maximum number of errors is reached, or [`stop`](Self::stop) was called.
    pub fn full(&self) -> bool {
        self.stopped || self.list.len() >= MOST
    }

    /// Ignores all further errors, because the rest of the text can no longer be interpreted.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Returns whether no error was found.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Converts the errors to a failure.
    pub fn into_failure(self) -> OverpassFailure {
        OverpassFailure { diagnostics: self.list.into_iter().map(|found| found.diagnostic).collect() }
    }
}

/// Returns the edit that replaces a word.
pub(crate) fn replacement(word: SourceSpan, meant: &str) -> TextEdit {
    TextEdit { start: word.start, end: word.end, text: meant.to_owned() }
}

/// Returns the message, with its middle left out if it is longer than [`LONGEST`].
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
