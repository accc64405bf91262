//! Parses filters in round brackets after a query's type: `(1,2,3,4)`, `(around:100)`, `(if:...)`, ...

use super::{Clause, bbox, ids, recurse_all, syntax_of, words};
use crate::ElementTreeNode;
use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::parse::{Id, QlParser, TokenTree, TreeContext};
use crate::suggest;
use crate::tree::SourceSpan;

/// The tree of a filter in round brackets, before it is interpreted.
pub(crate) struct Brackets<'a> {
    tree: TokenTree<'a>,
    /// The range from the opening bracket to the end of the closing one.
    span: SourceSpan,
}

impl<'a> QlParser<'a> {
    /// Parses the content of round brackets. Returns `None` if the text ends after the opening bracket.
    pub fn brackets(&mut self) -> Option<Brackets<'a>> {
        let start = self.tokens.current().start;
        self.tokens.advance();
        if !self.tokens.good() {
            self.error(OverpassCode::UnexpectedEnd, "':' or '.' expected.");
            return None;
        }
        let tree = self.tree(TreeContext::Filter);
        self.expect(&[")"]);
        Some(Brackets { tree, span: self.span_from(start) })
    }

    /// Interprets the content of round brackets as a filter in a query for the type `what`. Returns `None` if it is
    /// invalid, or if the reference ignores it.
    pub fn clause(&mut self, brackets: &Brackets<'a>, what: &str) -> Option<ElementTreeNode> {
        let Brackets { tree, span } = brackets;
        let root = tree.at(tree.root);
        if tree.root == 0 {
            self.unknown_clause(tree, 0);
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
            let element = SyntaxElement::new("bbox-query", root.line, *span);
            return bbox::read_numbers(self, tree, top, element);
        }
        if tree.at(first).token.is_number() {
            return self.numbers(tree, top, *span, what);
        }
        if recurse_all::is_sign(tree.text(first)) {
            return recurse_all::read(self, tree, *span);
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
        let clause = Clause { tree, what, name, set, colon, rest, items, line: root.line, span: *span };
        match syntax_of(name) {
            Some(syntax) => (syntax.read)(self, &clause),
            None => {
                self.unknown_clause(tree, first);
                None
            }
        }
    }

    /// Adds the error for brackets whose first word, `first`, names no filter; it is 0 if there is none.
    fn unknown_clause(&mut self, tree: &TokenTree<'a>, first: Id) {
        let line = tree.at(tree.root).line;
        let span = tree.span(tree.root);
        self.builder.diagnostics.parse(OverpassCode::UnknownFilter, line, span, "Unknown query clause");
        if first != 0 {
            let word = tree.at(first).token;
            self.builder.diagnostics.suggest(suggest::nearest(word.text, words()), Some(word.span()));
        }
    }

    /// Interprets `(123)` and `(s,w,n,e)`, below `top`.
    fn numbers(&mut self, tree: &TokenTree<'a>, top: Id, span: SourceSpan, what: &str) -> Option<ElementTreeNode> {
        let line = tree.at(tree.root).line;
        if tree.text(top) == "," {
            let element = SyntaxElement::new("bbox-query", line, span);
            return bbox::read_numbers(self, tree, top, element);
        }
        let element = SyntaxElement::new("id-query", line, span);
        Some(ids::read_number(self, element, what, tree.text(top)))
    }
}
