//! What stands in round brackets behind a query's type: `(1,2,3,4)`, `(around:100)`, `(if:...)`, ...

use super::{Clause, Syntax, bbox, ids, syntax_of, words};
use crate::Node;
use crate::code::Code;
use crate::parse::{Parser, Reading, Start, Tree};
use crate::suggest;

impl<'a> Parser<'a> {
    /// Reads a filter and adds what it is to `filters`; `what` is the type of its query.
    pub fn clause(&mut self, what: &str, filters: &mut Vec<Node>) {
        let byte = self.tokens.current().start;
        self.tokens.advance();
        let tree = self.tree(Reading::Filter);
        self.expect(&[")"]);
        let root = tree.at(tree.root);
        if tree.root == 0 {
            self.unknown_clause(&tree, None);
            return;
        }
        let mut first = tree.root;
        while tree.at(first).left != 0 {
            first = tree.at(first).left;
        }
        let colon = matches!(root.token.text, ":" | "::");
        if tree.at(first).token.is_number() && !colon {
            filters.extend(self.numbers(&tree, byte, what));
            return;
        }
        let (head, rest) = if colon { (root.left, root.right) } else { (tree.root, 0) };
        let branch = tree.at(head);
        let (name, set) = match branch.token.text {
            "." => (tree.text(branch.left), Some(tree.at(branch.right).token.value())),
            text => (text, None),
        };
        let mut arguments = if rest == 0 { Vec::new() } else { tree.items(rest) };
        // What is missing between commas is not counted, unless it is the first.
        if arguments.first() == Some(&0) {
            arguments.clear();
        }
        arguments.retain(|&id| id != 0);
        let values = arguments.iter().map(|&id| tree.at(id).token.value()).collect();
        let clause = Clause { tree: &tree, what, name, set, arguments, values, rest, line: root.line, start: byte };
        match syntax_of(name) {
            Some(Syntax { read, .. }) => filters.extend(read(self, &clause)),
            None => self.unknown_clause(&tree, Some(name)),
        }
    }

    fn unknown_clause(&mut self, tree: &Tree<'a>, name: Option<&str>) {
        let line = tree.at(tree.root).line;
        let span = tree.span(tree.root);
        self.builder.diagnostics.parse(Code::UnknownFilter, line, span, "Unknown query clause");
        let help = name.and_then(|name| suggest::nearest(name, words()));
        self.builder.diagnostics.help(help);
    }

    /// Adds a parse error about a filter.
    pub(super) fn refuse(&mut self, line: u32, code: Code, message: impl Into<String>) {
        let span = self.tokens.current().span();
        self.builder.diagnostics.parse(code, line, span, message);
    }

    /// `(123)` and `(s,w,n,e)`
    fn numbers(&mut self, tree: &Tree<'a>, byte: usize, what: &str) -> Option<Node> {
        let start = Start { byte, line: tree.at(tree.root).line, from: None };
        if tree.text(tree.root) == "," {
            let element = self.element("bbox-query", &start);
            return bbox::read_numbers(self, tree, element);
        }
        let element = self.element("id-query", &start);
        Some(ids::read_number(self, element, what, tree.text(tree.root)))
    }
}
