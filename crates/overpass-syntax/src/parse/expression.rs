//! Parses tokens into trees by operator precedence, without interpreting them. Evaluators and the filters in round
//! brackets are parsed from such trees. Any token is accepted anywhere; misplaced ones are rejected when the tree is
//! interpreted.

use super::super::token::QlToken;
use super::QlParser;
use crate::code::OverpassCode;

/// An index into a [`Tree`]; 0 is the empty node.
pub(crate) type Id = usize;

/// A token with its left and right operands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Branch<'a> {
    pub token: QlToken<'a>,
    pub line: u32,
    pub left: Id,
    pub right: Id,
    /// The operator's precedence; a larger number binds tighter.
    binding: u8,
    /// Whether this is a bracket that is still open.
    open: bool,
    /// The number of nodes on the longest path to a leaf. While the node is on the spine, its right side is not
    /// counted.
    height: usize,
}

impl<'a> Branch<'a> {
    /// Returns a copy with another line, for errors.
    pub fn at_line(self, line: u32) -> Branch<'a> {
        Branch { line, ..self }
    }
}

/// A tree of tokens.
pub(crate) struct TokenTree<'a> {
    branches: Vec<Branch<'a>>,
    /// The topmost node.
    pub root: Id,
}

impl<'a> TokenTree<'a> {
    /// Returns a node; the empty one for 0.
    pub fn at(&self, id: Id) -> Branch<'a> {
        self.branches[id]
    }

    /// Returns the text of a node's token.
    pub fn text(&self, id: Id) -> &'a str {
        self.branches[id].token.text
    }

    /// Returns the items of a comma-separated list.
    pub fn items(&self, mut id: Id) -> Vec<Id> {
        let mut items = Vec::new();
        while id != 0 && self.text(id) == "," {
            items.push(self.at(id).right);
            id = self.at(id).left;
        }
        items.push(id);
        items.reverse();
        items
    }

    /// Returns the byte range of a node and its operands.
    pub fn span(&self, id: Id) -> super::super::tree::SourceSpan {
        let mut span = self.at(id).token.span();
        let mut left = self.at(id).left;
        while left != 0 {
            span.start = span.start.min(self.at(left).token.start);
            left = self.at(left).left;
        }
        let mut right = self.at(id).right;
        while right != 0 {
            span.end = span.end.max(self.at(right).token.span().end);
            right = self.at(right).right;
        }
        span
    }
}

/// The use of a tree, which determines its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TreeContext {
    /// The contents of brackets: ends before the closing one.
    Bracketed,
    /// A filter: ends before the closing bracket, and its first colon has the lowest precedence.
    Filter,
    /// Properties: ends before `;` or `->`.
    Properties,
}

const LEAF: u8 = u8::MAX;
const BRACKET: u8 = 20;

/// Returns the precedence of an operator.
fn binding(sign: &str) -> Option<u8> {
    Some(match sign {
        "," => 1,
        "=" => 2,
        "?" => 3,
        ":" => 4,
        "||" => 5,
        "&&" => 6,
        "==" | "!=" => 7,
        "<" | "<=" | ">" | ">=" => 8,
        "+" | "-" => 9,
        "*" | "/" | "%" => 10,
        "." => 11,
        "!" => 12,
        "::" => 13,
        "(" | "[" | "{" => BRACKET,
        _ => return None,
    })
}

impl<'a> QlParser<'a> {
    /// Parses a tree up to its end. The token after it is then the current one.
    pub fn tree(&mut self, reading: TreeContext) -> TokenTree<'a> {
        let nothing = Branch {
            token: QlToken { text: "", start: self.tokens.current().start, unterminated: false },
            line: 0,
            left: 0,
            right: 0,
            binding: LEAF,
            open: false,
            height: 0,
        };
        let mut grower =
            Grower { tree: TokenTree { branches: vec![nothing], root: 0 }, spine: Vec::new(), open: 0, highest: 0 };
        let mut colon = reading == TreeContext::Filter;
        while self.goes_on() {
            let token = self.tokens.current();
            let line = self.tokens.line();
            match token.text {
                ";" | "->" => break,
                ")" | "]" | "}" => {
                    if !grower.close() {
                        if reading != TreeContext::Properties {
                            break;
                        }
                        self.error(OverpassCode::UnmatchedBracket, format!("Unmatched {}", token.text));
                    }
                }
                // As in the reference, `::` may replace the colon of `if:`; the colon after it is then a separate
                // operator.
                ":" | "::" if colon && grower.open == 0 && grower.is_behind_if() => {
                    colon = false;
                    grower.prefix(token, line);
                }
                ":" if colon && grower.open == 0 => {
                    colon = false;
                    grower.sign(token, line, 0);
                }
                text => match binding(text) {
                    Some(binding) => grower.sign(token, line, binding),
                    None if !grower.complete() => grower.leaf(token, line),
                    None if text.starts_with('-') && text.len() > 1 => {
                        // The tokens of `1-2` are `1` and `-2`. After an operand, the sign is a minus operator.
                        let (sign, number) = text.split_at(1);
                        grower.sign(QlToken { text: sign, ..token }, line, 9);
                        grower.leaf(QlToken { text: number, start: token.start + 1, ..token }, line);
                    }
                    None => {
                        let message = format!("Operator expected, but \"{}\"found.", token.quoted());
                        self.error(OverpassCode::OperatorExpected, message);
                    }
                },
            }
            if grower.spine.len().max(grower.highest) > super::MOST_OPERATORS {
                let message = format!("Operators are nested in more than {} levels.", super::MOST_OPERATORS);
                self.error(OverpassCode::NestedTooDeep, message);
                self.builder.diagnostics.stop();
                self.tokens.stop();
                grower.tree.root = 0;
                return grower.tree;
            }
            self.tokens.advance();
        }
        // Like the reference, reports only the innermost bracket.
        if let Some(open) = grower.last_open() {
            let sign = grower.tree.text(open);
            self.error(OverpassCode::UnclosedBracket, format!("Left {sign} not closed."));
        }
        while grower.last_open().is_some() {
            grower.close();
        }
        grower.tree
    }
}

/// A tree under construction, with the path to the position of the next token.
struct Grower<'a> {
    tree: TokenTree<'a>,
    spine: Vec<Id>,
    open: usize,
    /// The maximum height of any node so far.
    highest: usize,
}

impl<'a> Grower<'a> {
    /// Returns whether an operand has just ended.
    fn complete(&self) -> bool {
        self.spine.last().is_some_and(|&id| self.tree.branches[id].binding == LEAF)
    }

    fn leaf(&mut self, token: QlToken<'a>, line: u32) {
        let branch = Branch { token, line, left: 0, right: 0, binding: LEAF, open: false, height: 1 };
        self.hang(branch);
    }

    /// Adds an operator. Operators of at least its precedence become its left side.
    fn sign(&mut self, token: QlToken<'a>, line: u32, binding: u8) {
        let mut left = 0;
        while let Some(&top) = self.spine.last() {
            let branch = self.tree.branches[top];
            if branch.open || branch.binding < binding {
                break;
            }
            left = top;
            self.pop();
        }
        let open = binding == BRACKET;
        self.open += usize::from(open);
        // The commas of a list do not add to the height: lists are not processed recursively.
        let height = self.tree.branches[left].height + usize::from(self.tree.text(left) != ",");
        self.hang(Branch { token, line, left, right: 0, binding, open, height });
    }

    /// Returns whether the last tokens are `if::`.
    fn is_behind_if(&self) -> bool {
        let top = self.spine.last().map(|&top| self.tree.at(top));
        top.is_some_and(|top| top.token.text == "::" && top.right == 0 && self.tree.text(top.left) == "if")
    }

    /// Adds an operator without a left side.
    fn prefix(&mut self, token: QlToken<'a>, line: u32) {
        let binding = binding(token.text).unwrap_or(LEAF);
        self.hang(Branch { token, line, left: 0, right: 0, binding, open: false, height: 1 });
    }

    fn hang(&mut self, branch: Branch<'a>) {
        let id = self.tree.branches.len();
        self.highest = self.highest.max(branch.height);
        self.tree.branches.push(branch);
        match self.spine.last() {
            Some(&parent) => self.tree.branches[parent].right = id,
            None => self.tree.root = id,
        }
        self.spine.push(id);
    }

    /// Removes the last node from the spine and updates the height of its parent.
    fn pop(&mut self) {
        let Some(top) = self.spine.pop() else { return };
        let height = self.tree.branches[top].height;
        if let Some(&parent) = self.spine.last() {
            let parent = &mut self.tree.branches[parent];
            parent.height = parent.height.max(height + 1);
            self.highest = self.highest.max(parent.height);
        }
    }

    fn last_open(&self) -> Option<Id> {
        self.spine.iter().rev().copied().find(|&id| self.tree.branches[id].open)
    }

    /// Closes the innermost bracket. Returns `false` if none is open.
    fn close(&mut self) -> bool {
        if self.open == 0 {
            return false;
        }
        while let Some(&top) = self.spine.last() {
            let branch = &mut self.tree.branches[top];
            if branch.open {
                branch.open = false;
                branch.binding = LEAF;
                self.open -= 1;
                return true;
            }
            self.pop();
        }
        false
    }
}
