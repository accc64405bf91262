//! The grammar, parsed once from its notation in `grammar.txt`.
//!
//! | notation | meaning |
//! |---|---|
//! | `"x"` | a mark |
//! | `'X'` | a keyword, case-insensitive |
//! | `-x` | suppressed: read but not kept |
//! | `~x` | no white space before it |
//! | `name=x`, `name+=x` | a named part of the enclosing component; the second form adds to a list |
//! | `<Name: x>` | a component with named parts |
//! | `[ x ]` | a group of tokens |
//! | `@name( x )` | converted by the action `name` |
//! | `( x )?`, `( x )*`, `( x )+`, `x \| y` | as usual; the first matching alternative is taken, without backtracking |
//! | `^Rule` | a recursive rule |

use std::collections::HashMap;
use std::sync::LazyLock;

use super::terminal::Terminal;

/// An expression of the grammar.
#[derive(Debug, Clone)]
pub enum GrammarExpression {
    /// A mark.
    Mark(&'static str),
    /// A keyword.
    Keyword(&'static str),
    /// A token described by a regular expression.
    Terminal(Terminal),
    /// Read but not kept.
    Drop(Box<GrammarExpression>),
    /// A sequence.
    All(Vec<GrammarExpression>),
    /// The first matching alternative.
    First(Vec<GrammarExpression>),
    /// Optional.
    Maybe(Box<GrammarExpression>),
    /// Zero or more.
    Many(Box<GrammarExpression>),
    /// One or more.
    Some(Box<GrammarExpression>),
    /// A group of tokens.
    Together(Box<GrammarExpression>),
    /// A named part of the enclosing component, and whether it adds to a list.
    Part(&'static str, bool, Box<GrammarExpression>),
    /// A component with named parts.
    Thing(&'static str, Box<GrammarExpression>),
    /// Converted by an action.
    Made(&'static str, Box<GrammarExpression>),
    /// Without white space before it.
    Tight(Box<GrammarExpression>),
    /// Another rule, and whether it counts as a level of recursion.
    Rule(usize, bool),
}

/// The rules of the grammar.
pub struct Grammar {
    /// The rules by number.
    pub rules: Vec<GrammarExpression>,
    /// The start rule.
    pub start: usize,
    /// The rule that finds the text of a SERVICE.
    pub service: usize,
}

/// rdflib's grammar of queries.
pub static GRAMMAR: LazyLock<Grammar> = LazyLock::new(|| {
    let text = include_str!("grammar.txt");
    let rules = text.split(" ;\n").filter_map(|rule| rule.trim().split_once(" = "));
    let rules: Vec<(&'static str, &'static str)> = rules.collect();
    let names: HashMap<&str, usize> = rules.iter().enumerate().map(|(i, (name, _))| (*name, i)).collect();
    let number = |name: &str| names.get(name).copied().unwrap_or_default();
    let (start, service) = (number("Query"), number("Service"));
    let rules = rules.iter().map(|(_, rest)| GrammarReader { rest, names: &names }.choice()).collect();
    Grammar { rules, start, service }
});

struct GrammarReader<'a> {
    rest: &'static str,
    names: &'a HashMap<&'a str, usize>,
}

impl GrammarReader<'_> {
    /// Consumes `sign` if it is next, and returns whether it was.
    fn reads(&mut self, sign: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(sign) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Returns the text before `sign`, and consumes both.
    fn until(&mut self, sign: char) -> &'static str {
        let (text, rest) = self.rest.split_once(sign).unwrap_or((self.rest, ""));
        self.rest = rest;
        text.trim()
    }

    fn name(&mut self) -> &'static str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name
    }

    fn choice(&mut self) -> GrammarExpression {
        let mut choices = vec![self.sequence()];
        while self.reads("|") {
            choices.push(self.sequence());
        }
        single(choices, GrammarExpression::First)
    }

    fn sequence(&mut self) -> GrammarExpression {
        let mut items = Vec::new();
        while !self.rest.trim_start().starts_with([')', ']', '>', '|']) && !self.rest.trim_start().is_empty() {
            items.push(self.item());
        }
        single(items, GrammarExpression::All)
    }

    fn item(&mut self) -> GrammarExpression {
        if self.reads("-") {
            return GrammarExpression::Drop(self.item().into());
        }
        if self.reads("~") {
            return GrammarExpression::Tight(self.item().into());
        }
        if self.reads("\"") {
            return GrammarExpression::Mark(self.until('"'));
        }
        if self.reads("'") {
            return GrammarExpression::Keyword(self.until('\''));
        }
        if self.reads("@") {
            let name = self.until('(');
            let inner = self.choice();
            self.until(')');
            return GrammarExpression::Made(name, inner.into());
        }
        if self.reads("[") {
            let inner = self.choice();
            self.until(']');
            return GrammarExpression::Together(inner.into());
        }
        if self.reads("<") {
            let name = self.until(':');
            let inner = self.choice();
            self.until('>');
            return GrammarExpression::Thing(name, inner.into());
        }
        if self.reads("(") {
            let inner = self.choice();
            self.until(')');
            // The sign must follow the bracket directly.
            let sign = self.rest.chars().next();
            self.rest = self.rest.strip_prefix(['?', '*', '+']).unwrap_or(self.rest);
            return match sign {
                Some('?') => GrammarExpression::Maybe(inner.into()),
                Some('*') => GrammarExpression::Many(inner.into()),
                Some('+') => GrammarExpression::Some(inner.into()),
                _ => inner,
            };
        }
        let own = self.reads("^");
        let name = self.name();
        for (sign, many) in [("+=", true), ("=", false)] {
            if self.rest.starts_with(sign) && self.reads(sign) {
                return GrammarExpression::Part(name, many, self.item().into());
            }
        }
        match (Terminal::of_name(name), self.names.get(name)) {
            (Some(terminal), _) => GrammarExpression::Terminal(terminal),
            (None, Some(rule)) => GrammarExpression::Rule(*rule, own),
            (None, None) => GrammarExpression::First(Vec::new()),
        }
    }
}

/// Wraps several items; a single item stays bare, because each wrapper counts as a step.
fn single(
    mut items: Vec<GrammarExpression>,
    many: impl Fn(Vec<GrammarExpression>) -> GrammarExpression,
) -> GrammarExpression {
    match (items.len(), items.pop()) {
        (1, Some(item)) => item,
        (_, last) => many(items.into_iter().chain(last).collect()),
    }
}
