//! Interprets trees of tokens as evaluators.

mod call;

use super::super::check::{Type, evaluator_type, operator_element};
use super::QlParser;
use super::expression::{Branch, Id, TokenTree, TreeContext};
use crate::ElementTreeNode;
use crate::code::OverpassCode;
use crate::element::SyntaxElement;

/// The accepted result types of an evaluator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExpectedType {
    One(Type),
    StringOrContainer,
    StringOrGeometry,
}

impl ExpectedType {
    fn takes(self, found: Type) -> bool {
        match self {
            ExpectedType::One(wanted) => wanted == found,
            ExpectedType::StringOrContainer => found != Type::Geometry,
            ExpectedType::StringOrGeometry => found != Type::Container,
        }
    }

    fn name(self) -> &'static str {
        match self {
            ExpectedType::One(wanted) => wanted.name(),
            ExpectedType::StringOrContainer => "string or container",
            ExpectedType::StringOrGeometry => "string or geometry",
        }
    }
}

/// The context of an evaluator: what it can use, and the type that it must return.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EvaluatorContext {
    pub element: bool,
    pub member: bool,
    pub wanted: ExpectedType,
}

impl EvaluatorContext {
    const STRING: ExpectedType = ExpectedType::One(Type::String);
    /// `(if:...)`
    pub const FILTER: EvaluatorContext = EvaluatorContext { element: true, member: false, wanted: Self::STRING };
    /// `compare(delta:...)`
    pub const DELTA: EvaluatorContext = Self::FILTER;
    /// `for(...)`
    pub const FOR: EvaluatorContext =
        EvaluatorContext { element: true, member: false, wanted: ExpectedType::StringOrContainer };
    /// `if(...)` and `retro(...)`
    pub const IF: EvaluatorContext = EvaluatorContext { element: false, member: false, wanted: Self::STRING };

    fn wanting(self, wanted: Type) -> EvaluatorContext {
        EvaluatorContext { wanted: ExpectedType::One(wanted), ..self }
    }
}

impl<'a> QlParser<'a> {
    /// Parses an evaluator up to the closing bracket.
    pub fn evaluator(&mut self, place: EvaluatorContext) -> Option<ElementTreeNode> {
        let tree = self.tree(TreeContext::Bracketed);
        self.evaluate(&tree, tree.root, place)
    }

    /// Interprets a tree as an evaluator.
    pub fn evaluate(&mut self, tree: &TokenTree<'a>, id: Id, place: EvaluatorContext) -> Option<ElementTreeNode> {
        let branch = tree.at(id);
        if id == 0 {
            let message = "Evaluator expected, but empty token found.";
            self.complain(branch, OverpassCode::MissingEvaluator, message);
            return None;
        }
        match (branch.left, branch.right) {
            (0, 0) => self.leaf(branch, place),
            (0, _) => self.prefix(tree, branch, place),
            _ => self.between(tree, id, place),
        }
    }

    /// Adds a parse error about a token of a tree.
    pub fn complain(&mut self, branch: Branch<'a>, code: OverpassCode, message: impl Into<String>) {
        self.builder.diagnostics.parse(code, branch.line, branch.token.span(), message);
    }

    /// Adds the errors about a word that does not name an evaluator.
    pub fn unknown_word(&mut self, branch: Branch<'a>) {
        let word = branch.token.quoted();
        let message =
            format!("Put quotation marks around \"{word}\" if it should be a constant and not a tag evaluation.");
        self.complain(branch, OverpassCode::UnquotedWord, message);
        self.not_recognized(branch);
    }

    fn not_recognized(&mut self, branch: Branch<'a>) {
        let message = format!("Token \"{}\" has not been recognized as statement", branch.token.quoted());
        self.complain(branch, OverpassCode::UnquotedWord, message);
    }

    /// Returns whether a result type is accepted. Adds an error if not.
    fn fits(&mut self, element: &SyntaxElement, found: Type, place: EvaluatorContext) -> bool {
        if place.wanted.takes(found) {
            return true;
        }
        let message = format!(
            "Evaluator for {} expected, but function \"{}\" is an evaluator for {}.",
            place.wanted.name(),
            element.name,
            found.name()
        );
        self.builder.diagnostics.fixed(OverpassCode::WrongEvaluator, element.line, element.span, message);
        false
    }

    /// Adds the error about an operator without a left operand.
    pub fn not_unary(&mut self, branch: Branch<'a>) {
        let message = format!("\"{}\" cannot be used as unary operator", branch.token.text);
        self.complain(branch, OverpassCode::WrongOperator, message);
    }

    fn not_binary(&mut self, branch: Branch<'a>) {
        let message = format!("\"{}\" cannot be used as binary operator", branch.token.text);
        self.complain(branch, OverpassCode::WrongOperator, message);
    }

    fn needs_right(&mut self, branch: Branch<'a>) {
        let message = format!("\"{}\" needs a right hand side argument", branch.token.text);
        self.complain(branch, OverpassCode::MissingOperand, message);
    }

    /// Creates the node of an operator with its operands.
    fn operation(
        &mut self,
        element: SyntaxElement,
        operands: impl IntoIterator<Item = ElementTreeNode>,
    ) -> ElementTreeNode {
        let mut node = self.builder.open(element);
        operands.into_iter().for_each(|operand| self.builder.add(&mut node, operand));
        node
    }

    fn leaf(&mut self, branch: Branch<'a>, place: EvaluatorContext) -> Option<ElementTreeNode> {
        let token = branch.token;
        let element = if token.is_string() || token.is_number() {
            SyntaxElement::new("eval-fixed", branch.line, token.span()).with("v", self.value(token))
        } else if token.text == "::" {
            SyntaxElement::new("eval-generic", branch.line, token.span())
        } else if token.text == "(" {
            let message = "Empty parentheses cannot be evaluated.";
            self.builder.diagnostics.fixed(OverpassCode::MissingEvaluator, branch.line, token.span(), message);
            return None;
        } else {
            if token.text != "." {
                self.unknown_word(branch);
            }
            return None;
        };
        if self.fits(&element, Type::String, place) {
            return Some(self.builder.open(element));
        }
        if element.name == "eval-fixed" {
            self.not_recognized(branch)
        } else {
            self.unknown_word(branch)
        }
        None
    }

    fn prefix(&mut self, tree: &TokenTree<'a>, branch: Branch<'a>, place: EvaluatorContext) -> Option<ElementTreeNode> {
        let name = match branch.token.text {
            "(" => return self.evaluate(tree, branch.right, place),
            "." => return None,
            "!" => Some("eval-not"),
            "-" => Some("eval-negate"),
            "[" => {
                let message = "Tag evaulation needs function name \"t\" before the left bracket";
                self.complain(branch, OverpassCode::WrongOperator, message);
                None
            }
            _ => None,
        };
        if let Some(name) = name {
            let right = branch.right;
            let mut span = branch.token.span();
            span.end = tree.span(right).end;
            let element = SyntaxElement::new(name, branch.line, span);
            if place.wanted.takes(Type::String) {
                let operand = self.evaluate(tree, right, place.wanting(Type::String));
                self.missing(branch, operand.is_none(), "right");
                let mut node = self.builder.open(element);
                if let Some(operand) = operand {
                    self.builder.add(&mut node, operand);
                }
                return Some(node);
            }
            self.fits(&element, Type::String, place);
        }
        self.not_unary(branch);
        self.evaluate(tree, branch.right, place)
    }

    fn missing(&mut self, branch: Branch<'a>, missing: bool, side: &str) {
        if missing {
            let message = format!("Operator \"{}\" needs a {side}-hand-side argument", branch.token.text);
            self.complain(branch, OverpassCode::MissingOperand, message);
        }
    }

    fn between(&mut self, tree: &TokenTree<'a>, id: Id, place: EvaluatorContext) -> Option<ElementTreeNode> {
        let branch = tree.at(id);
        match branch.token.text {
            "(" => return self.call(tree, id, None, place),
            "." if branch.right == 0 => return None,
            "." => {
                let set = tree.at(branch.left).token.value();
                let right = tree.at(branch.right);
                if right.token.text == "(" && right.left != 0 {
                    return self.call(tree, branch.right, Some(set), place);
                }
                let element = SyntaxElement::new("eval-set-key", branch.line, tree.span(id));
                let element = element.with("from", set).with("key", right.token.value());
                return self.fits(&element, Type::String, place).then(|| self.builder.open(element));
            }
            "[" => return self.tag_value(tree, id, place),
            _ => {}
        }
        if branch.right == 0 {
            self.needs_right(branch);
            return None;
        }
        if branch.token.text == "?" {
            return self.ternary(tree, id, place);
        }
        let Some(name) = operator_element(branch.token.text) else {
            self.not_binary(branch);
            return None;
        };
        let left = self.evaluate(tree, branch.left, place.wanting(Type::String));
        self.missing(branch, left.is_none(), "left");
        let right = self.evaluate(tree, branch.right, place.wanting(Type::String));
        self.missing(branch, right.is_none(), "right");
        let element = SyntaxElement::new(name, branch.line, tree.span(id));
        if !self.fits(&element, Type::String, place) {
            self.not_binary(branch);
            return None;
        }
        Some(self.operation(element, [left, right].into_iter().flatten()))
    }

    fn ternary(&mut self, tree: &TokenTree<'a>, id: Id, place: EvaluatorContext) -> Option<ElementTreeNode> {
        let branch = tree.at(id);
        let colon = tree.at(branch.right);
        let element = SyntaxElement::new("eval-ternary", branch.line, tree.span(id));
        let mut operands = Vec::new();
        let mut found = Type::String;
        if colon.token.text != ":" {
            let message = "Operator \"?\" must have a \":\" operator as right-hand-side argument";
            self.complain(branch, OverpassCode::MissingOperand, message);
        } else {
            let condition = self.evaluate(tree, branch.left, place.wanting(Type::String));
            self.missing(branch, condition.is_none(), "left");
            let wanted = EvaluatorContext { wanted: ExpectedType::StringOrGeometry, ..place };
            let then = self.evaluate(tree, colon.left, wanted);
            found = then.as_ref().map_or(Type::String, |then| evaluator_type(&then.element));
            if then.is_none() {
                let message = "Operator \":\" of operator \"?\" needs a left-hand-side argument";
                self.complain(colon, OverpassCode::MissingOperand, message);
            }
            let otherwise = self.evaluate(tree, colon.right, place.wanting(found));
            if otherwise.is_none() {
                let message = "Operator \":\" of operator \"?\" needs a right-hand-side argument with the same return type as the left-hand-side argument";
                self.complain(colon, OverpassCode::MissingOperand, message);
            }
            operands.extend([condition, then, otherwise].into_iter().flatten());
        }
        if !self.fits(&element, found, place) {
            self.not_binary(branch);
            return None;
        }
        Some(self.operation(element, operands))
    }

    /// Interprets `t["key"]`.
    fn tag_value(&mut self, tree: &TokenTree<'a>, id: Id, place: EvaluatorContext) -> Option<ElementTreeNode> {
        let branch = tree.at(id);
        if !place.element && branch.right != 0 {
            // The reference's message names the token that it takes for a function.
            let name = tree.text(tree.at(branch.right).left);
            let message = format!("{name}(...) must be called in a context where it can evaluate an element");
            self.complain(branch, OverpassCode::WrongContext, message);
            self.not_binary(branch);
            return None;
        }
        if tree.text(branch.left) != "t" {
            let message = "Tag evaulation needs function name \"t\" before the left bracket";
            self.complain(branch, OverpassCode::WrongOperator, message);
            self.not_binary(branch);
            return None;
        }
        if branch.right == 0 {
            self.complain(branch, OverpassCode::MissingOperand, "Operator \"[\" needs a tag key as argument");
            self.needs_right(branch);
            return None;
        }
        let element = SyntaxElement::new("eval-value", branch.line, tree.span(id));
        let key = self.evaluate(tree, branch.right, place.wanting(Type::String));
        if key.is_none() {
            self.complain(branch, OverpassCode::MissingOperand, "t[...] needs an argument");
        }
        if !self.fits(&element, Type::String, place) {
            self.not_binary(branch);
            return None;
        }
        Some(self.operation(element, key))
    }
}
