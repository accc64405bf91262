//! Interprets the grammar as pyparsing does: the first matching alternative is taken. White space and comments are
//! skipped unless an expression forbids it. A text that nests too deeply is rejected.

use super::blank::Blanks;
use super::grammar::{GRAMMAR, GrammarExpression};
use super::made;
use super::stop::ParseStop;
use super::value::AstValue;

/// Maximum nesting of expressions; one more overflows Python's stack.
const DEEPEST: usize = 486;
/// Maximum number of steps before a text is rejected.
const LONGEST: u64 = 20_000_000;

/// An interpreter of the grammar for one text.
pub struct GrammarInterpreter<'a> {
    text: &'a str,
    depth: usize,
    steps: u64,
    /// Generator of the blank nodes' names.
    blanks: Blanks<'a>,
    service: Option<String>,
}

impl<'a> GrammarInterpreter<'a> {
    /// Creates a reader of `text`; the names of its blank nodes begin with `name`.
    pub fn new(text: &'a str, name: &'a str) -> Self {
        GrammarInterpreter { text, depth: 0, steps: 0, blanks: Blanks::new(name), service: None }
    }

    /// Parses the whole text to tokens.
    pub fn whole(&mut self) -> Option<Vec<AstValue>> {
        let mut out = Vec::new();
        let query = GRAMMAR.rules.get(GRAMMAR.start)?;
        let end = self.read(query, 0, false, &mut out).ok()?;
        (self.spaced(end) == self.text.len()).then_some(out)
    }

    fn rest(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or_default()
    }

    /// Returns the position after comments, each with the white space before it.
    fn uncommented(&self, mut at: usize) -> usize {
        loop {
            let rest = self.rest(at);
            let spaces = rest.len() - rest.trim_start_matches([' ', '\n', '\t', '\r']).len();
            if !self.rest(at + spaces).starts_with('#') {
                return at;
            }
            at += spaces + self.rest(at + spaces).find('\n').unwrap_or(rest.len() - spaces);
        }
    }

    /// Returns the position after comments and white space.
    fn spaced(&self, at: usize) -> usize {
        let at = self.uncommented(at);
        self.text.len() - self.rest(at).trim_start_matches([' ', '\n', '\t', '\r']).len()
    }

    fn before(&self, at: usize, tight: bool) -> usize {
        if tight { self.uncommented(at) } else { self.spaced(at) }
    }

    /// Matches `expr` at byte `at` and returns the end of the match.
    fn read(
        &mut self,
        expr: &GrammarExpression,
        at: usize,
        tight: bool,
        out: &mut Vec<AstValue>,
    ) -> Result<usize, ParseStop> {
        self.steps += 1;
        if self.depth > DEEPEST || self.steps > LONGEST {
            return Err(ParseStop::Broken);
        }
        self.depth += 1;
        let from = out.len();
        let result = self.step(expr, at, tight, out);
        self.depth -= 1;
        if result.is_err() {
            out.truncate(from);
        }
        result
    }

    fn step(
        &mut self,
        expr: &GrammarExpression,
        at: usize,
        tight: bool,
        out: &mut Vec<AstValue>,
    ) -> Result<usize, ParseStop> {
        match expr {
            GrammarExpression::Mark(mark) => self.mark(mark, at, tight, out),
            GrammarExpression::Keyword(word) => self.keyword(word, at, tight, out),
            GrammarExpression::Terminal(terminal) => {
                let at = self.before(at, tight);
                let (length, value) = terminal.read(self.rest(at)).ok_or(ParseStop::Unfit)?;
                out.push(value);
                Ok(at + length)
            }
            GrammarExpression::Drop(inner) => {
                let from = out.len();
                let end = self.read(inner, at, tight, out)?;
                out.truncate(from);
                Ok(end)
            }
            GrammarExpression::All(items) => {
                let mut at = at;
                for (i, item) in items.iter().enumerate() {
                    at = self.read(item, at, tight && i == 0, out)?;
                }
                Ok(at)
            }
            GrammarExpression::First(choices) => {
                for choice in choices {
                    match self.read(choice, at, tight, out) {
                        Err(ParseStop::Unfit) => {}
                        done => return done,
                    }
                }
                Err(ParseStop::Unfit)
            }
            GrammarExpression::Maybe(inner) => match self.read(inner, at, tight, out) {
                Err(ParseStop::Unfit) => Ok(at),
                done => done,
            },
            GrammarExpression::Many(inner) => self.many(inner, at, tight, out),
            GrammarExpression::Some(inner) => {
                let at = self.read(inner, at, tight, out)?;
                self.many(inner, at, tight, out)
            }
            GrammarExpression::Together(inner) => {
                let (tokens, end) = self.apart(inner, at, tight)?;
                out.push(AstValue::Tokens(tokens));
                Ok(end)
            }
            GrammarExpression::Part(name, many, inner) => {
                let (mut tokens, end) = self.apart(inner, at, tight)?;
                let value = match (tokens.len(), tokens.pop()) {
                    (1, Some(only)) => only,
                    (_, last) => AstValue::Tokens(tokens.into_iter().chain(last).collect()),
                };
                out.push(AstValue::Named(name, *many, value.into()));
                Ok(end)
            }
            GrammarExpression::Thing(name, inner) => {
                let (tokens, end) = self.apart(inner, at, tight)?;
                let mut parts: Vec<(&'static str, AstValue)> = Vec::new();
                if *name == "ServiceGraphPattern" {
                    parts.push(("service_string", AstValue::Text(self.first_service()?)));
                }
                add_named(&mut parts, tokens);
                out.push(AstValue::Part(name, parts));
                Ok(end)
            }
            GrammarExpression::Made(name, inner) => {
                let (tokens, end) = self.apart(inner, at, tight)?;
                out.extend(made::make(&mut self.blanks, name, tokens)?);
                Ok(end)
            }
            GrammarExpression::Tight(inner) => self.step(inner, at, true, out),
            GrammarExpression::Rule(number, own) => {
                let rule = GRAMMAR.rules.get(*number).ok_or(ParseStop::Broken)?;
                if *own { self.read(rule, at, tight, out) } else { self.step(rule, at, tight, out) }
            }
        }
    }

    fn mark(&self, mark: &str, at: usize, tight: bool, out: &mut Vec<AstValue>) -> Result<usize, ParseStop> {
        let at = self.before(at, tight);
        if !self.rest(at).starts_with(mark) {
            return Err(ParseStop::Unfit);
        }
        out.push(AstValue::Text(mark.to_owned()));
        Ok(at + mark.len())
    }

    /// Matches a keyword, case-insensitive and not as part of a longer word.
    fn keyword(&self, word: &str, at: usize, tight: bool, out: &mut Vec<AstValue>) -> Result<usize, ParseStop> {
        let at = self.before(at, tight);
        let end = at + word.len();
        let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
        let fits = self.text.get(at..end).is_some_and(|text| text.eq_ignore_ascii_case(word))
            && !self.rest(end).starts_with(in_word)
            && !self.text.get(..at).is_some_and(|text| text.ends_with(in_word));
        if !fits {
            return Err(ParseStop::Unfit);
        }
        out.push(AstValue::Text(word.to_owned()));
        Ok(end)
    }

    /// Matches an expression into a list of its own; returns the list and the end of the match.
    fn apart(&mut self, expr: &GrammarExpression, at: usize, tight: bool) -> Result<(Vec<AstValue>, usize), ParseStop> {
        let mut tokens = Vec::new();
        let end = self.read(expr, at, tight, &mut tokens)?;
        Ok((tokens, end))
    }

    fn many(
        &mut self,
        inner: &GrammarExpression,
        mut at: usize,
        tight: bool,
        out: &mut Vec<AstValue>,
    ) -> Result<usize, ParseStop> {
        loop {
            match self.read(inner, at, tight, out) {
                Ok(end) if end > at => at = end,
                Ok(_) | Err(ParseStop::Unfit) => return Ok(at),
                Err(ParseStop::Broken) => return Err(ParseStop::Broken),
            }
        }
    }

    /// Returns the text of the first SERVICE in the whole text. rdflib stores it with every SERVICE.
    fn first_service(&mut self) -> Result<String, ParseStop> {
        if let Some(known) = &self.service {
            return Ok(known.clone());
        }
        let service = GRAMMAR.rules.get(GRAMMAR.service).ok_or(ParseStop::Broken)?;
        let mut at = 0;
        while at < self.text.len() {
            let start = self.spaced(at);
            let blanks = self.blanks.count;
            let result = self.read(service, start, false, &mut Vec::new());
            self.blanks.count = blanks;
            match result {
                Ok(end) => {
                    let found = self.text.get(start..end).unwrap_or_default().to_owned();
                    return Ok(self.service.insert(found).clone());
                }
                Err(ParseStop::Broken) => return Err(ParseStop::Broken),
                Err(ParseStop::Unfit) => at = start + self.rest(start).chars().next().map_or(1, char::len_utf8),
            }
        }
        Err(ParseStop::Broken)
    }
}

/// Adds named tokens to the parts of a component. A list part is extended; any other part replaces the previous one of
/// the same name.
fn add_named(parts: &mut Vec<(&'static str, AstValue)>, tokens: Vec<AstValue>) {
    for token in tokens {
        let AstValue::Named(name, many, value) = token else { continue };
        let known = parts.iter_mut().find(|(known, _)| *known == name).map(|(_, value)| value);
        match (known, many) {
            (Some(AstValue::List(values)), true) => values.push(*value),
            (Some(known), _) => *known = *value,
            (None, true) => parts.push((name, AstValue::List(vec![*value]))),
            (None, false) => parts.push((name, *value)),
        }
    }
}
