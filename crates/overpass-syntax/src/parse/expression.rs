//! Trees of tokens by the binding of their signs, without any meaning yet: what evaluators and the filters in round
//! brackets are read from. Any token can stand anywhere; what is out of place is refused when the tree is read.

use super::super::token::Token;
use super::Parser;
use crate::code::Code;

/// An index into a [`Tree`]; 0 is no node.
pub(crate) type Id = usize;

/// A token with what is left and right of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Branch<'a> {
    pub token: Token<'a>,
    pub line: u32,
    pub left: Id,
    pub right: Id,
    /// How tightly it binds: the larger, the tighter.
    binding: u8,
    /// A bracket that has not been closed.
    open: bool,
    /// How many nodes the longest path from it to a leaf has, but for what hangs right of it while it is on the spine.
    height: usize,
}

impl<'a> Branch<'a> {
    /// The same for errors that name another line.
    pub fn at_line(self, line: u32) -> Branch<'a> {
        Branch { line, ..self }
    }
}

/// A tree of tokens.
pub(crate) struct Tree<'a> {
    branches: Vec<Branch<'a>>,
    /// Its topmost token.
    pub root: Id,
}

impl<'a> Tree<'a> {
    /// A node; the empty one for 0.
    pub fn at(&self, id: Id) -> Branch<'a> {
        self.branches[id]
    }

    /// The token of a node as text.
    pub fn text(&self, id: Id) -> &'a str {
        self.branches[id].token.text
    }

    /// The items between commas below `id`.
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

    /// The first byte and one past the last byte of what is below a node.
    pub fn span(&self, id: Id) -> super::super::tree::Span {
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

/// What a tree is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// What stands in brackets: ends before the closing one.
    Bracketed,
    /// A filter: the same, and its first colon binds least.
    Filter,
    /// Properties: ends before `;` or `->`.
    Properties,
}

const LEAF: u8 = u8::MAX;
const BRACKET: u8 = 20;

/// How tightly a sign binds.
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

impl<'a> Parser<'a> {
    /// Reads a tree up to where it must end; the token after it is the current one then.
    pub fn tree(&mut self, reading: Reading) -> Tree<'a> {
        let nothing = Branch {
            token: Token { text: "", start: self.tokens.current().start, unterminated: false },
            line: 0,
            left: 0,
            right: 0,
            binding: LEAF,
            open: false,
            height: 0,
        };
        let mut grower =
            Grower { tree: Tree { branches: vec![nothing], root: 0 }, spine: Vec::new(), open: 0, highest: 0 };
        let mut colon = reading == Reading::Filter;
        while self.goes_on() {
            let token = self.tokens.current();
            let line = self.tokens.line();
            match token.text {
                ";" | "->" => break,
                ")" | "]" | "}" => {
                    if !grower.close() {
                        if reading != Reading::Properties {
                            break;
                        }
                        self.error(Code::UnmatchedBracket, format!("Unmatched {}", token.text));
                    }
                }
                // As in the reference, `::` can stand for the colon of `if:`, and what follows it is a sign of its own.
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
                        // `1-2` is cut into `1` and `-2`; between operands the sign is a minus.
                        let (sign, number) = text.split_at(1);
                        grower.sign(Token { text: sign, ..token }, line, 9);
                        grower.leaf(Token { text: number, start: token.start + 1, ..token }, line);
                    }
                    None => {
                        let message = format!("Operator expected, but \"{}\"found.", token.quoted());
                        self.error(Code::OperatorExpected, message);
                    }
                },
            }
            if grower.spine.len().max(grower.highest) > super::MOST_OPERATORS {
                let message = format!("Operators are nested in more than {} levels.", super::MOST_OPERATORS);
                self.error(Code::NestedTooDeep, message);
                self.builder.diagnostics.stop();
                self.tokens.stop();
                grower.tree.root = 0;
                return grower.tree;
            }
            self.tokens.advance();
        }
        // The reference tells of the innermost only.
        if let Some(open) = grower.last_open() {
            let sign = grower.tree.text(open);
            self.error(Code::UnclosedBracket, format!("Left {sign} not closed."));
        }
        while grower.last_open().is_some() {
            grower.close();
        }
        grower.tree
    }
}

/// A tree with the path to the place where the next token goes.
struct Grower<'a> {
    tree: Tree<'a>,
    spine: Vec<Id>,
    open: usize,
    /// The most that any node's height has been.
    highest: usize,
}

impl<'a> Grower<'a> {
    /// Whether an operand has just ended.
    fn complete(&self) -> bool {
        self.spine.last().is_some_and(|&id| self.tree.branches[id].binding == LEAF)
    }

    fn leaf(&mut self, token: Token<'a>, line: u32) {
        let branch = Branch { token, line, left: 0, right: 0, binding: LEAF, open: false, height: 1 };
        self.hang(branch);
    }

    /// Adds a sign; what binds at least as tightly becomes its left side.
    fn sign(&mut self, token: Token<'a>, line: u32, binding: u8) {
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
        // A list is read item by item, not down its commas.
        let height = self.tree.branches[left].height + usize::from(self.tree.text(left) != ",");
        self.hang(Branch { token, line, left, right: 0, binding, open, height });
    }

    /// Whether what was read last is `if::`.
    fn is_behind_if(&self) -> bool {
        let top = self.spine.last().map(|&top| self.tree.at(top));
        top.is_some_and(|top| top.token.text == "::" && top.right == 0 && self.tree.text(top.left) == "if")
    }

    /// Adds a sign that takes nothing to its left.
    fn prefix(&mut self, token: Token<'a>, line: u32) {
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

    /// Takes the last node off the spine; what is above it is at least one higher.
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

    /// Closes the innermost bracket; `false` if none is open.
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
