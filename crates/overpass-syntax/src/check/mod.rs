//! The static checks: what attributes are looked at with, and the reference's words for what is wrong with them. What an
//! element's attributes may be stands with the element.

pub(crate) mod evaluators;
pub(crate) mod numbers;
pub(crate) mod settings;
mod values;

pub(crate) use evaluators::{Arguments, Needs, Spec, Type, evaluator_type, operator_element};
pub(crate) use values::{optional_box, point, regex, sides};

use super::diagnostics::{Cause, Clue, Diagnostics};
use super::element::Element;
use super::suggest;
use super::tree::SetName;
use crate::Form;
use crate::code::Code;

/// An element under check.
pub(crate) struct Context<'a> {
    /// The element.
    pub element: &'a Element,
    /// What was wrong so far.
    pub diagnostics: &'a mut Diagnostics,
    /// Whether something is wrong with it.
    pub refused: bool,
}

impl<'a> Context<'a> {
    /// Before anything is checked.
    pub fn new(element: &'a Element, diagnostics: &'a mut Diagnostics) -> Context<'a> {
        Context { element, diagnostics, refused: false }
    }

    /// The sets in `from` and `into`.
    pub fn sets(&self) -> (SetName, SetName) {
        (self.element.set("from"), self.element.set("into"))
    }

    /// Adds an error about the element.
    pub fn refuse(&mut self, cause: impl Into<Cause>, message: impl Into<String>) {
        self.refused = true;
        self.diagnostics.fixed(cause, self.element.line, self.element.span, message);
    }

    /// Refuses with `For the attribute "..." of the element "..." the only allowed values are ...`.
    pub fn refuse_value(&mut self, attribute: &str, allowed: &str) {
        self.refuse_value_by(attribute, allowed, None);
    }

    /// The same, with what a hint has to know.
    pub fn refuse_value_by(&mut self, attribute: &str, allowed: &str, clue: Option<Clue>) {
        let message = format!(
            "For the attribute \"{attribute}\" of the element \"{}\" the only allowed values are {allowed}.",
            self.element.name
        );
        self.refuse(Cause::new(Code::BadValue, clue), message);
    }

    /// Refuses the attributes that the element does not have.
    pub fn know_attributes(&mut self, form: &Form) {
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
                self.refuse(Code::UnknownAttribute, message);
                self.diagnostics.help(match name.as_ref() {
                    "key" if known.contains(&"k") => Some("did you mean \"k\"?".to_owned()),
                    "value" if known.contains(&"v") => Some("did you mean \"v\"?".to_owned()),
                    "id" if known.contains(&"ref") => Some("did you mean \"ref\"?".to_owned()),
                    _ => suggest::nearest(name, known.iter().copied()),
                });
            }
        }
    }
}
