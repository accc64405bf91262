//! Reads tokens one after another. After an error, it continues like the reference, so that the errors that follow are
//! the same.

use super::diagnostics::{Cause, Clue, Diagnostics};
use super::token::{QlToken, QlTokens};
use crate::code::OverpassCode;

/// A reader of tokens that collects errors.
pub(super) struct TokenReader<'a, 'text> {
    /// The tokens.
    pub tokens: &'a mut QlTokens<'text>,
    /// The errors found so far.
    pub diagnostics: &'a mut Diagnostics,
}

impl TokenReader<'_, '_> {
    /// Returns whether parsing continues: there is more text, and the errors so far do not stop it.
    pub fn goes_on(&self) -> bool {
        self.tokens.good() && !self.diagnostics.full()
    }

    /// Adds an error at the current token.
    pub fn error(&mut self, cause: impl Into<Cause>, message: impl Into<String>) {
        let span = self.tokens.current().span();
        self.diagnostics.parse(cause, self.tokens.line(), span, message);
    }

    /// Adds `... expected - '...' found.`
    pub fn expected(&mut self, what: &str) {
        self.expected_by(OverpassCode::UnexpectedToken.into(), what);
    }

    fn expected_by(&mut self, cause: Cause, what: &str) {
        let found = self.tokens.current().quoted();
        self.error(cause, format!("{what} expected - '{found}' found."));
    }

    /// Skips to one of the tokens `allowed`, with an error if it is not the current one.
    pub fn skip_to(&mut self, allowed: &[&'static str]) {
        if !allowed.contains(&self.tokens.text()) {
            let clue = match allowed {
                [sign] => Some(Clue::Sign(sign)),
                _ => None,
            };
            self.expected_by(Cause::new(OverpassCode::UnexpectedToken, clue), &list(allowed));
        }
        while self.tokens.good() && !allowed.contains(&self.tokens.text()) {
            self.tokens.advance();
        }
        if !self.tokens.good() {
            self.error(OverpassCode::UnexpectedEnd, "Unexpected end of input.");
        }
    }

    /// Skips to and over one of the tokens `allowed`, with an error if it is not the current one.
    pub fn expect(&mut self, allowed: &[&'static str]) {
        self.skip_to(allowed);
        self.tokens.advance();
    }

    /// Takes a word, string or number. Adds an error if the current token is none.
    pub fn text(&mut self, what: &str) -> String {
        let token = self.tokens.current();
        if self.tokens.good() && token.is_text() {
            self.tokens.advance();
            return self.value(token);
        }
        self.expected(what);
        String::new()
    }

    /// Returns the value of a token. Adds an error for each escape sequence that encodes a control character or no
    /// character.
    pub fn value(&mut self, token: QlToken<'_>) -> String {
        for _ in 0..token.bad_escapes() {
            let message = "Invalid UTF-8 character (value below 32) in escape sequence.";
            self.diagnostics.parse(OverpassCode::UnexpectedToken, 0, token.span(), message);
        }
        token.value()
    }
}

/// Joins tokens to `';'`, `'(' or '{'`, `',', ';', or ')' `. A list of three ends with the reference's extra space.
fn list(allowed: &[&str]) -> String {
    let quoted: Vec<String> = allowed.iter().map(|token| format!("'{token}'")).collect();
    match quoted.as_slice() {
        [one] => one.clone(),
        [one, other] => format!("{one} or {other}"),
        [most @ .., last] => format!("{}, or {last} ", most.join(", ")),
        [] => String::new(),
    }
}
