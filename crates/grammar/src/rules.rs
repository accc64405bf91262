//! Parses the notation of rules: GBNF, and keywords in single quotes, which match in any case.

use crate::expression::{DecodingGrammar, GrammarExpression};

/// The largest number of repetitions for `*` and `+`. The built-in grammar has none.
const MANY: u32 = 1000;

impl DecodingGrammar {
    /// Parses rules, one per line. The first must be `root`. The text is expected to be right: other texts only give a
    /// wrong grammar.
    pub fn parse(text: &str) -> DecodingGrammar {
        let rules = text.lines().filter_map(|line| {
            let (name, right) = line.split_once("::=")?;
            Some((name.trim().to_owned(), RuleReader { rest: right }.choice()))
        });
        DecodingGrammar { rules: rules.collect() }
    }
}

/// A reader of the right side of a rule.
struct RuleReader<'t> {
    rest: &'t str,
}

impl<'t> RuleReader<'t> {
    fn choice(&mut self) -> GrammarExpression {
        let mut all = vec![self.sequence()];
        while self.take("|") {
            all.push(self.sequence());
        }
        GrammarExpression::choice(all)
    }

    fn sequence(&mut self) -> GrammarExpression {
        let mut all = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty() || self.rest.starts_with(['|', ')']) {
                break;
            }
            let item = self.item();
            all.push(self.repeated(item));
        }
        if all.len() == 1 { all.remove(0) } else { GrammarExpression::Sequence(all) }
    }

    fn item(&mut self) -> GrammarExpression {
        if self.take("(") {
            let inner = self.choice();
            self.take(")");
            return inner;
        }
        if let Some(inner) = self.rest.strip_prefix('"') {
            let length = end(inner, '"');
            self.rest = inner.get(length + 1..).unwrap_or_default();
            return GrammarExpression::Literal(unescape(inner.get(..length).unwrap_or_default()));
        }
        if let Some((word, rest)) = self.rest.strip_prefix('\'').and_then(|inner| inner.split_once('\'')) {
            self.rest = rest;
            return GrammarExpression::Keyword(word.to_owned());
        }
        if let Some(inner) = self.rest.strip_prefix('[') {
            let (class, rest) = self.rest.split_at((end(inner, ']') + 2).min(self.rest.len()));
            self.rest = rest;
            return GrammarExpression::Class(class.to_owned());
        }
        let length = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(length.max(1));
        self.rest = rest;
        GrammarExpression::Rule(name.to_owned())
    }

    fn repeated(&mut self, item: GrammarExpression) -> GrammarExpression {
        let (least, most) = match self.rest.chars().next() {
            Some('?') => (0, 1),
            Some('*') => (0, MANY),
            Some('+') => (1, MANY),
            Some('{') => {
                let (numbers, rest) = self.rest.get(1..).and_then(|rest| rest.split_once('}')).unwrap_or_default();
                self.rest = rest;
                let (least, most) = numbers.split_once(',').unwrap_or((numbers, numbers));
                let (least, most) = (least.parse().unwrap_or(0), most.parse().unwrap_or(MANY));
                return GrammarExpression::Repeat(Box::new(item), least, most);
            }
            _ => return item,
        };
        self.rest = self.rest.get(1..).unwrap_or_default();
        GrammarExpression::Repeat(Box::new(item), least, most)
    }

    fn take(&mut self, mark: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }
}

/// Returns the position of the next `quote` that has no backslash before it.
fn end(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == quote && !escaped {
            return at;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some(other) => out.push(other),
                None => {}
            },
            c => out.push(c),
        }
    }
    out
}
