//! Collects what is wrong with a query, in the reference's order.

use super::super::error::{Class, Diagnostic, Failure};
use super::Span;

/// After so many errors the rest of a text is not looked at.
const MOST: usize = 500;

/// The errors found so far.
#[derive(Default)]
pub(super) struct Diagnostics {
    list: Vec<Diagnostic>,
    help: Option<String>,
    stopped: bool,
}

impl Diagnostics {
    /// Adds a `parse error`.
    pub fn parse(&mut self, code: &'static str, line: u32, span: Span, message: impl Into<String>) {
        self.add(Class::Parse, code, line, span, message.into());
    }

    /// Adds a `static error`.
    pub fn fixed(&mut self, code: &'static str, line: u32, span: Span, message: impl Into<String>) {
        self.add(Class::Static, code, line, span, message.into());
    }

    /// Gives the error that was added last a hint.
    pub fn help(&mut self, help: Option<String>) {
        if let (Some(last), Some(help)) = (self.list.last_mut(), help) {
            last.help.get_or_insert(help);
        }
    }

    /// Gives the first error of the whole query a hint, if it has none.
    pub fn help_first(&mut self, help: String) {
        self.help = Some(help);
    }

    fn add(&mut self, class: Class, code: &'static str, line: u32, span: Span, message: String) {
        if !self.full() {
            self.list.push(Diagnostic { class, code, line, span: Some(span), message, help: None });
        }
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
    pub fn into_failure(mut self) -> Failure {
        if let (Some(first), Some(help)) = (self.list.first_mut(), self.help) {
            first.help.get_or_insert(help);
        }
        Failure { diagnostics: self.list }
    }
}
