//! Checks whether a grammar accepts a text, to test grammars. Engines for language models have matchers of their own.

use std::collections::{BTreeSet, HashMap};

use regex::Regex;

use crate::expression::{DecodingGrammar, GrammarExpression};

impl DecodingGrammar {
    /// Returns whether the grammar accepts a whole text.
    pub fn accepts(&self, text: &str) -> bool {
        let rules = self.rules.iter().map(|(name, expression)| (name.as_str(), expression)).collect();
        let mut matcher = GrammarMatcher { text, rules, ends: HashMap::new(), classes: HashMap::new() };
        matcher.rule("root", 0).contains(&text.len())
    }
}

struct GrammarMatcher<'g, 't> {
    text: &'t str,
    rules: HashMap<&'g str, &'g GrammarExpression>,
    /// The ends of a rule's matches that begin at a position.
    ends: HashMap<(&'g str, usize), BTreeSet<usize>>,
    classes: HashMap<&'g str, Option<Regex>>,
}

impl<'g> GrammarMatcher<'g, '_> {
    fn rule(&mut self, name: &'g str, at: usize) -> BTreeSet<usize> {
        if let Some(ends) = self.ends.get(&(name, at)) {
            return ends.clone();
        }
        let ends = match self.rules.get(name).copied() {
            Some(expression) => self.expression(expression, at),
            None => BTreeSet::new(),
        };
        self.ends.insert((name, at), ends.clone());
        ends
    }

    /// Returns the ends of the matches of an expression that begin at a position.
    fn expression(&mut self, expression: &'g GrammarExpression, at: usize) -> BTreeSet<usize> {
        let rest = self.text.get(at..).unwrap_or_default();
        match expression {
            GrammarExpression::Literal(text) => {
                rest.starts_with(text.as_str()).then_some(at + text.len()).into_iter().collect()
            }
            GrammarExpression::Keyword(word) => {
                let start = rest.get(..word.len());
                start.filter(|start| start.eq_ignore_ascii_case(word)).map(|_| at + word.len()).into_iter().collect()
            }
            GrammarExpression::Class(class) => {
                let Some(first) = rest.chars().next() else { return BTreeSet::new() };
                let pattern = self.classes.entry(class).or_insert_with(|| Regex::new(class).ok());
                let mut buffer = [0; 4];
                let matches = pattern.as_ref().is_some_and(|class| class.is_match(first.encode_utf8(&mut buffer)));
                matches.then_some(at + first.len_utf8()).into_iter().collect()
            }
            GrammarExpression::Rule(name) => self.rule(name, at),
            GrammarExpression::Choice(all) => all.iter().flat_map(|inner| self.expression(inner, at)).collect(),
            GrammarExpression::Sequence(all) => {
                let mut ends = BTreeSet::from([at]);
                for inner in all {
                    ends = ends.into_iter().flat_map(|end| self.expression(inner, end)).collect();
                }
                ends
            }
            GrammarExpression::Repeat(inner, least, most) => self.repeat(inner, *least, *most, at),
        }
    }

    fn repeat(&mut self, inner: &'g GrammarExpression, least: u32, most: u32, at: usize) -> BTreeSet<usize> {
        let mut current = BTreeSet::from([at]);
        let mut all = if least == 0 { current.clone() } else { BTreeSet::new() };
        for round in 1..=most {
            current = current.into_iter().flat_map(|end| self.expression(inner, end)).collect();
            if round >= least {
                // A position that was reached before leads nowhere else, except to a bound.
                current.retain(|end| !all.contains(end));
                all.extend(&current);
            }
            if current.is_empty() {
                break;
            }
        }
        all
    }
}
