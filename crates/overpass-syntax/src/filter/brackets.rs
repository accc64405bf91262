//! Parses filters in round brackets after a query's type: `(1,2,3,4)`, `(around:100)`, `(if:...)`, ...

use super::{Clause, bbox, ids, recurse_all, syntax_of, words};
use crate::ElementTreeNode;
use crate::code::OverpassCode;
use crate::parse::{Id, QlParser, Start, TokenTree, TreeContext};
use crate::suggest;

/// The tree of a filter in round brackets, before it is interpreted.
pub(crate) struct Brackets<'a> {
    tree: TokenTree<'a>,
    byte: usize,
}

impl<'a> QlParser<'a> {
    /// Parses the content of round brackets. Returns `None` if the text ends after the opening bracket.
    pub fn brackets(&mut self) -> Option<Brackets<'a>> {
        let byte = self.tokens.current().start;
        self.tokens.advance();
        if !self.tokens.good() {
            self.error(OverpassCode::UnexpectedEnd, "':' or '.' expected.");
            return None;
        }
        let tree = self.tree(TreeContext::Filter);
        self.expect(&[")"]);
        Some(Brackets { tree, byte })
    }

    /// Interprets the content of round brackets as a filter in a query for the type `what`. Returns `None` if it is
    /// invalid, or if the reference ignores it.
    pub fn clause(&mut self, brackets: &Brackets<'a>, what: &str) -> Option<ElementTreeNode> {
        let Brackets { tree, byte } = brackets;
        let root = tree.at(tree.root);
        if tree.root == 0 {
            self.unknown_clause(tree, None);
            return None;
        }
        let mut first = tree.root;
        let mut above = 0;
        while tree.at(first).left != 0 {
            above = first;
            first = tree.at(first).left;
        }
        let colon = root.token.text == ":";
        let top = if colon { root.right } else { tree.root };
        if tree.text(first) == "bbox" {
            let start = Start { byte: *byte, line: root.line, from: None };
            let element = self.element("bbox-query", &start);
            return bbox::read_numbers(self, tree, top, element);
        }
        if tree.at(first).token.is_number() {
            return self.numbers(tree, top, *byte, what);
        }
        if recurse_all::is_sign(tree.text(first)) {
            let start = Start { byte: *byte, line: root.line, from: None };
            return recurse_all::read(self, tree, start);
        }
        let rest = if colon { root.right } else { 0 };
        // The word is the first token, regardless of the sign after it.
        let name = tree.text(first);
        let set = (above != 0 && tree.text(above) == ".").then(|| tree.at(tree.at(above).right).token.value());
        let items = match (rest, root.token.text) {
            (0, ",") => tree.items(tree.root).split_off(1),
            (0, _) => Vec::new(),
            _ => tree.items(rest),
        };
        let clause = Clause { tree, what, name, set, colon, rest, items, line: root.line, start: *byte };
        match syntax_of(name) {
            Some(syntax) => (syntax.read)(self, &clause),
            None => {
                self.unknown_clause(tree, Some(name));
                None
            }
        }
    }

    fn unknown_clause(&mut self, tree: &TokenTree<'a>, name: Option<&str>) {
        let line = tree.at(tree.root).line;
        let span = tree.span(tree.root);
        self.builder.diagnostics.parse(OverpassCode::UnknownFilter, line, span, "Unknown query clause");
        let help = name.and_then(|name| suggest::nearest(name, words()));
        self.builder.diagnostics.help(help);
    }

    /// Interprets `(123)` and `(s,w,n,e)`, below `top`.
    fn numbers(&mut self, tree: &TokenTree<'a>, top: Id, byte: usize, what: &str) -> Option<ElementTreeNode> {
        let start = Start { byte, line: tree.at(tree.root).line, from: None };
        if tree.text(top) == "," {
            let element = self.element("bbox-query", &start);
            return bbox::read_numbers(self, tree, top, element);
        }
        let element = self.element("id-query", &start);
        Some(ids::read_number(self, element, what, tree.text(top)))
    }
}
