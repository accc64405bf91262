//! The grammar, read from its notation once.
//!
//! | notation | what |
//! |---|---|
//! | `"x"` | a mark |
//! | `'X'` | a keyword, whatever its case |
//! | `-x` | read, not kept |
//! | `~x` | no white space before it |
//! | `name=x`, `name+=x` | a part of what it stands in; the second, one of many |
//! | `<Name: x>` | a thing with parts |
//! | `[ x ]` | kept together |
//! | `@name( x )` | made into something else |
//! | `( x )?`, `( x )*`, `( x )+`, `x \| y` | as ever; the first alternative that fits is taken and never left again |
//! | `^Rule` | a rule that may lead back to itself |

use std::collections::HashMap;
use std::sync::LazyLock;

use super::terminal::Terminal;

/// A piece of the grammar.
#[derive(Debug, Clone)]
pub enum Expr {
    /// A mark.
    Mark(&'static str),
    /// A keyword.
    Keyword(&'static str),
    /// What a pattern describes.
    Terminal(Terminal),
    /// Read, not kept.
    Drop(Box<Expr>),
    /// One after the other.
    All(Vec<Expr>),
    /// The first that fits.
    First(Vec<Expr>),
    /// If it is there.
    Maybe(Box<Expr>),
    /// As often as it is there.
    Many(Box<Expr>),
    /// As often as it is there, at least once.
    Some(Box<Expr>),
    /// Kept together.
    Together(Box<Expr>),
    /// A part of what it stands in, and whether it is one of many.
    Part(&'static str, bool, Box<Expr>),
    /// A thing with parts.
    Thing(&'static str, Box<Expr>),
    /// Made into something else.
    Made(&'static str, Box<Expr>),
    /// No white space before it.
    Tight(Box<Expr>),
    /// Another rule; whether it is a step of its own.
    Rule(usize, bool),
}

/// The rules.
pub struct Grammar {
    /// By their numbers.
    pub rules: Vec<Expr>,
    /// Where reading begins.
    pub start: usize,
    /// What a service's text is looked for by.
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
    let rules = rules.iter().map(|(_, rest)| Reader { rest, names: &names }.choice()).collect();
    Grammar { rules, start, service }
});

struct Reader<'a> {
    rest: &'static str,
    names: &'a HashMap<&'a str, usize>,
}

impl Reader<'_> {
    /// Whether a sign comes next, which then is read.
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

    /// What comes before a sign, which is read, too.
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

    fn choice(&mut self) -> Expr {
        let mut choices = vec![self.sequence()];
        while self.reads("|") {
            choices.push(self.sequence());
        }
        single(choices, Expr::First)
    }

    fn sequence(&mut self) -> Expr {
        let mut items = Vec::new();
        while !self.rest.trim_start().starts_with([')', ']', '>', '|']) && !self.rest.trim_start().is_empty() {
            items.push(self.item());
        }
        single(items, Expr::All)
    }

    fn item(&mut self) -> Expr {
        if self.reads("-") {
            return Expr::Drop(self.item().into());
        }
        if self.reads("~") {
            return Expr::Tight(self.item().into());
        }
        if self.reads("\"") {
            return Expr::Mark(self.until('"'));
        }
        if self.reads("'") {
            return Expr::Keyword(self.until('\''));
        }
        if self.reads("@") {
            let name = self.until('(');
            let inner = self.choice();
            self.until(')');
            return Expr::Made(name, inner.into());
        }
        if self.reads("[") {
            let inner = self.choice();
            self.until(']');
            return Expr::Together(inner.into());
        }
        if self.reads("<") {
            let name = self.until(':');
            let inner = self.choice();
            self.until('>');
            return Expr::Thing(name, inner.into());
        }
        if self.reads("(") {
            let inner = self.choice();
            self.until(')');
            // Directly behind the bracket.
            let sign = self.rest.chars().next();
            self.rest = self.rest.strip_prefix(['?', '*', '+']).unwrap_or(self.rest);
            return match sign {
                Some('?') => Expr::Maybe(inner.into()),
                Some('*') => Expr::Many(inner.into()),
                Some('+') => Expr::Some(inner.into()),
                _ => inner,
            };
        }
        let own = self.reads("^");
        let name = self.name();
        for (sign, many) in [("+=", true), ("=", false)] {
            if self.rest.starts_with(sign) && self.reads(sign) {
                return Expr::Part(name, many, self.item().into());
            }
        }
        match (Terminal::of_name(name), self.names.get(name)) {
            (Some(terminal), _) => Expr::Terminal(terminal),
            (None, Some(rule)) => Expr::Rule(*rule, own),
            (None, None) => Expr::First(Vec::new()),
        }
    }
}

/// What needs no step of its own gets none.
fn single(mut items: Vec<Expr>, many: impl Fn(Vec<Expr>) -> Expr) -> Expr {
    match (items.len(), items.pop()) {
        (1, Some(item)) => item,
        (_, last) => many(items.into_iter().chain(last).collect()),
    }
}
