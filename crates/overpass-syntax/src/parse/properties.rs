//! `make` and `convert` with their properties.

use super::super::check::Type;
use super::super::element::{Element, Node};
use super::Parser;
use super::evaluator::{EvaluatorContext, ExpectedType};
use super::expression::{Id, Reading, Tree};
use crate::code::Code;

impl<'a> Parser<'a> {
    /// `make type key=evaluator,...->.into`
    pub(super) fn produce(&mut self, name: &'static str, start: usize, from: Option<String>) -> Node {
        self.tokens.advance();
        let type_name = match self.tokens.current() {
            _ if self.tokens.is(";") => String::new(),
            token if token.value().is_empty() => {
                self.expected("Element class name");
                String::new()
            }
            _ => self.text("Element class name"),
        };
        let tree = self.tree(Reading::Properties);
        let into = self.into();
        // The reference names the line that it has come to.
        let element = self.element(name, start, self.tokens.line()).with_some("from", from).with("into", into);
        let mut node = self.builder.open(element.with("type", type_name));
        for item in tree.items(tree.root) {
            if item != 0 {
                self.item_of(&tree, item, name == "convert", &mut node);
            }
        }
        node
    }

    /// One thing between the commas.
    fn item_of(&mut self, tree: &Tree<'a>, item: Id, convert: bool, node: &mut Node) {
        let branch = tree.at(item);
        match branch.token.text {
            "=" if branch.left != 0 => self.assignment(tree, item, convert, node),
            "!" if branch.right != 0 => {
                let key = tree.at(branch.right).token.value();
                let element = Element::new("set-prop", branch.line, tree.span(item));
                let property = self.builder.open(element.with("keytype", "tag").with("k", key));
                self.builder.add(node, property);
            }
            sign if branch.left != 0 && branch.right != 0 && !matches!(sign, "(" | "[" | ".") => {
                let message = format!("\"{sign}\" cannot be used as binary operator");
                self.complain(branch, Code::WrongOperator, message);
            }
            _ => {
                let place = EvaluatorContext { element: false, member: false, wanted: ExpectedType::StringOrGeometry };
                if let Some(evaluator) = self.evaluate(tree, item, place) {
                    self.builder.add(node, evaluator);
                }
            }
        }
    }

    /// `key=evaluator`
    fn assignment(&mut self, tree: &Tree<'a>, item: Id, convert: bool, node: &mut Node) {
        let branch = tree.at(item);
        if branch.right == 0 {
            let message = "To set a property it must have a value to the right of the equal sign";
            self.complain(branch, Code::MissingOperand, message);
            self.complain(branch, Code::MissingOperand, "\"=\" needs a right hand side argument");
            return;
        }
        let left = tree.at(branch.left);
        let special = left.token.text == "::";
        let mut key = None;
        let keytype = if special && left.right == 0 {
            if !convert {
                let message = "The generic tag set property can only be called from convert";
                self.complain(branch, Code::WrongContext, message);
                key = Some(String::new());
            }
            if convert { "generic" } else { "tag" }
        } else if special && left.left == 0 {
            match tree.text(left.right) {
                "id" => "id",
                "geom" => "geometry",
                other => {
                    let message = "The only allowed special properties are \"id\" and \"geometry\"";
                    self.complain(branch, Code::UnknownProperty, message);
                    let known = ["id", "geom"].into_iter();
                    let help = super::super::suggest::nearest(other, known);
                    self.builder.diagnostics.help(help);
                    key = Some(String::new());
                    "tag"
                }
            }
        } else if left.left == 0 && left.right == 0 && left.token.is_text() {
            key = Some(left.token.value());
            "tag"
        } else {
            let message = format!(
                "if special character \"{}\" is present in property name then the property name must be in quotes",
                left.token.text
            );
            self.complain(branch, Code::UnquotedWord, message);
            self.complain(branch, Code::WrongOperator, "\"=\" cannot be used as binary operator");
            return;
        };
        let element = Element::new("set-prop", branch.line, tree.span(item)).with("keytype", keytype);
        let mut property = self.builder.open(element.with_some("k", key));
        let wanted = if keytype == "geometry" { Type::Geometry } else { Type::String };
        let place = EvaluatorContext { element: convert, member: false, wanted: ExpectedType::One(wanted) };
        match self.evaluate(tree, branch.right, place) {
            Some(value) => self.builder.add(&mut property, value),
            None => {
                let message = "Property assignment needs a right-hand-side value";
                self.complain(branch, Code::MissingOperand, message);
            }
        }
        self.builder.add(node, property);
    }
}
