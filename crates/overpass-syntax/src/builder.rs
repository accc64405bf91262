//! Elements are checked as they are made, so that static errors come in the order of the text.

use crate::code::Code;
use std::collections::BTreeMap;

use super::check;
use super::diagnostics::{Cause, Clue, Diagnostics};
use super::element::{Element, Node, Part};

/// Makes and checks elements.
#[derive(Default)]
pub(super) struct Builder {
    /// What was wrong so far.
    pub diagnostics: Diagnostics,
    /// Whether the elements are only to be written in another form. The reference then makes few of the checks.
    pub converting: bool,
}

/// Whether the reference checks an element that it only converts.
fn checked_in_converting(name: &str) -> bool {
    const FILTERS: [&str; 9] =
        ["id-query", "bbox-query", "around", "polygon-query", "area-query", "recurse", "user", "newer", "changed"];
    FILTERS.contains(&name)
}

impl Builder {
    /// Checks an element by itself.
    pub fn open(&mut self, element: Element) -> Node {
        if self.converting && !checked_in_converting(&element.name) {
            return Node { element, part: Part::Broken, children: Vec::new(), properties: BTreeMap::new() };
        }
        let part = check::part(&element, &mut self.diagnostics).unwrap_or(Part::Broken);
        Node { element, part, children: Vec::new(), properties: BTreeMap::new() }
    }

    /// Puts `child` into `parent`.
    pub fn add(&mut self, parent: &mut Node, child: Node) {
        if parent.children.is_empty() {
            // Most have one, and room for four takes a kilobyte.
            parent.children.reserve_exact(1);
        }
        if self.converting {
            parent.children.push(child);
            return;
        }
        if !check::allows(parent, &child) {
            let (name, outer) = (&child.element.name, &parent.element.name);
            let (message, clue) = if name == "newer" {
                ("\"newer\" can appear only inside \"query\" statements.".to_owned(), None)
            } else {
                let message = format!("Element \"{name}\" cannot be subelement of element \"{outer}\".");
                (message, (name == "print" || outer == "print").then_some(Clue::Out))
            };
            let cause = Cause::new(Code::MisplacedElement, clue);
            self.diagnostics.fixed(cause, child.element.line, child.element.span, message);
        }
        if let Some(message) = check::before_evaluator(parent, &child) {
            self.diagnostics.fixed(Code::MissingEvaluator, parent.element.line, parent.element.span, message);
        }
        if let Some((message, times)) = check::set_before(parent, &child) {
            // Once for each time before; a long list would be gone through for each of its items.
            for _ in 0..times {
                if self.diagnostics.full() {
                    break;
                }
                self.diagnostics.fixed(Code::SetTwice, parent.element.line, parent.element.span, message.clone());
            }
        }
        parent.children.push(child);
    }

    /// Checks what can only be known when all children are there.
    pub fn close(&mut self, node: &Node) {
        if !self.converting {
            check::complete(node, &mut self.diagnostics);
        }
    }
}
