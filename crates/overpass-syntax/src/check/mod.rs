//! Static checks: shared helpers that check attributes, and the reference's error texts. The allowed attributes of an
//! element are declared in the element's own module.

pub(crate) mod evaluators;
pub(crate) mod numbers;
pub(crate) mod settings;
mod values;

pub(crate) use evaluators::{EvaluatorArguments, Needs, Spec, Type, evaluator_type, operator_element};
pub(crate) use values::{optional_box, point, regex, sides};

use super::diagnostics::{Cause, Clue, Diagnostics};
use super::element::SyntaxElement;
use super::suggest;
use super::tree::SetName;
use crate::ElementSyntax;
use crate::code::OverpassCode;

/// An element under check.
pub(crate) struct CheckContext<'a> {
    /// The element.
    pub element: &'a SyntaxElement,
    /// The errors found so far.
    pub diagnostics: &'a mut Diagnostics,
    /// Whether this element has an error.
    pub refused: bool,
}

impl<'a> CheckContext<'a> {
    /// Creates a context in which no check has run.
    pub fn new(element: &'a SyntaxElement, diagnostics: &'a mut Diagnostics) -> CheckContext<'a> {
        CheckContext { element, diagnostics, refused: false }
    }

    /// Returns the names of the sets in `from` and `into`.
    pub fn sets(&self) -> (SetName, SetName) {
        (self.element.set("from"), self.element.set("into"))
    }

    /// Adds an error about the element.
    pub fn refuse(&mut self, cause: impl Into<Cause>, message: impl Into<String>) {
        self.refused = true;
        self.diagnostics.fixed(cause, self.element.line, self.element.span, message);
    }

    /// Adds the error `For the attribute "..." of the element "..." the only allowed values are ...`.
    pub fn refuse_value(&mut self, attribute: &str, allowed: &str) {
        self.refuse_value_by(attribute, allowed, None);
    }

    /// Like [`refuse_value`](Self::refuse_value), with a clue for hints.
    pub fn refuse_value_by(&mut self, attribute: &str, allowed: &str, clue: Option<Clue>) {
        let message = format!(
            "For the attribute \"{attribute}\" of the element \"{}\" the only allowed values are {allowed}.",
            self.element.name
        );
        self.refuse(Cause::new(OverpassCode::BadValue, clue), message);
    }

    /// Adds an error for each attribute that the element does not have.
    pub fn know_attributes(&mut self, form: &ElementSyntax) {
        let known = form.attributes;
        for (name, _) in &self.element.attributes {
            if known.contains(&name.as_ref()) {
                continue;
            }
            if self.diagnostics.full() {
                break;
            }
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
            if !form.numbered.contains(&stem) {
                let message = format!("Unknown attribute \"{name}\" in element \"{}\".", self.element.name);
                self.refuse(OverpassCode::UnknownAttribute, message);
                let meant = match name.as_ref() {
                    "key" if known.contains(&"k") => Some("k"),
                    "value" if known.contains(&"v") => Some("v"),
                    "id" if known.contains(&"ref") => Some("ref"),
                    _ => suggest::nearest(name, known.iter().copied()),
                };
                self.diagnostics.suggest(meant, None);
            }
        }
    }
}
