//! Creates elements and checks each on creation, so that static errors are reported in the order of the text.

use crate::code::OverpassCode;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};
use std::collections::BTreeMap;

use super::diagnostics::{Cause, Clue, Diagnostics};
use super::element::SyntaxElement;

/// A builder that creates and checks elements.
#[derive(Default)]
pub(crate) struct SyntaxBuilder {
    /// The errors found so far.
    pub diagnostics: Diagnostics,
    /// Whether the query is only converted to another form. If so, the reference makes only a few of the checks.
    pub converting: bool,
    /// Whether the error for a misplaced element names the line of the enclosing element, as in the reference's QL
    /// parser.
    pub blames_outer: bool,
}

impl SyntaxBuilder {
    /// Checks an element without its children.
    pub fn open(&mut self, element: SyntaxElement) -> ElementTreeNode {
        let checked =
            !self.converting || ElementSyntax::named(&element.name).iter().any(|form| form.checked_in_converting);
        let part = if checked { ElementMeaning::of(&element, &mut self.diagnostics) } else { None };
        let part = part.unwrap_or(ElementMeaning::Broken);
        ElementTreeNode { element, part, children: Vec::new(), properties: BTreeMap::new() }
    }

    /// Adds `child` to `parent`.
    pub fn add(&mut self, parent: &mut ElementTreeNode, child: ElementTreeNode) {
        if parent.children.is_empty() {
            // Most elements have one child, and room for four takes a kilobyte.
            parent.children.reserve_exact(1);
        }
        if self.converting {
            parent.children.push(child);
            return;
        }
        if !parent.part.takes(&child.part) || (parent.part.wants_results() && child.element.has_no_result()) {
            let name = if self.blames_outer { child.name_in_ql() } else { &*child.element.name };
            let outer = &parent.element.name;
            let (message, clue) = if name == "newer" {
                ("\"newer\" can appear only inside \"query\" statements.".to_owned(), None)
            } else {
                let message = format!("Element \"{name}\" cannot be subelement of element \"{outer}\".");
                (message, (name == "print" || outer == "print").then_some(Clue::Out))
            };
            let cause = Cause::new(OverpassCode::MisplacedElement, clue);
            let line = if self.blames_outer { parent.element.line } else { child.element.line };
            self.diagnostics.fixed(cause, line, child.element.span, message);
        }
        if let Some(message) = parent.before_evaluator(&child) {
            self.diagnostics.fixed(OverpassCode::MissingEvaluator, parent.element.line, parent.element.span, message);
        }
        if let Some((message, times)) = parent.set_before(&child) {
            // The error is reported once for each earlier time. Searching a long list for each of its items would be
            // too slow.
            for _ in 0..times {
                if self.diagnostics.full() {
                    break;
                }
                self.diagnostics.fixed(
                    OverpassCode::SetTwice,
                    parent.element.line,
                    parent.element.span,
                    message.clone(),
                );
            }
        }
        parent.children.push(child);
    }

    /// Runs the checks that require all children.
    pub fn close(&mut self, node: &ElementTreeNode) {
        if !self.converting {
            node.check_complete(&mut self.diagnostics);
        }
    }
}
