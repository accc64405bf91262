//! Grammars as trees.

use std::collections::BTreeSet;

/// An expression of a grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrammarExpression {
    /// A text.
    Literal(String),
    /// A class of characters with its square brackets, in the syntax of regular expressions.
    Class(String),
    /// A rule by its name.
    Rule(String),
    /// Expressions one after another.
    Sequence(Vec<GrammarExpression>),
    /// One of several expressions.
    Choice(Vec<GrammarExpression>),
    /// An expression from a minimum to a maximum number of times.
    Repeat(Box<GrammarExpression>, u32, u32),
}

impl GrammarExpression {
    pub(super) fn literal(text: impl AsRef<str>) -> GrammarExpression {
        GrammarExpression::Literal(text.as_ref().to_owned())
    }

    /// Returns a choice; of a single expression, that expression.
    pub(super) fn choice(of: impl IntoIterator<Item = GrammarExpression>) -> GrammarExpression {
        let mut of: Vec<GrammarExpression> = of.into_iter().collect();
        if of.len() == 1 { of.remove(0) } else { GrammarExpression::Choice(of) }
    }

    fn each<'g>(&'g self, visit: &mut dyn FnMut(&'g GrammarExpression)) {
        visit(self);
        match self {
            GrammarExpression::Sequence(inner) | GrammarExpression::Choice(inner) => {
                inner.iter().for_each(|inner| inner.each(visit));
            }
            GrammarExpression::Repeat(inner, ..) => inner.each(visit),
            GrammarExpression::Literal(_) | GrammarExpression::Class(_) | GrammarExpression::Rule(_) => {}
        }
    }
}

/// A grammar. Its first rule is `root`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverpassGrammar {
    pub(super) rules: Vec<(String, GrammarExpression)>,
}

impl OverpassGrammar {
    /// Adds a rule, or replaces the rule of the name.
    pub(super) fn set(&mut self, name: &str, expression: GrammarExpression) {
        match self.rules.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = expression,
            None => self.rules.push((name.to_owned(), expression)),
        }
    }

    /// Returns all literals.
    pub fn literals(&self) -> BTreeSet<&str> {
        let mut literals = BTreeSet::new();
        for (_, expression) in &self.rules {
            expression.each(&mut |expression| {
                if let GrammarExpression::Literal(text) = expression {
                    literals.insert(text.as_str());
                }
            });
        }
        literals
    }

    /// Returns the names of rules that are used and not defined.
    pub fn undefined(&self) -> Vec<String> {
        let defined: BTreeSet<&str> = self.rules.iter().map(|(name, _)| name.as_str()).collect();
        let mut undefined = Vec::new();
        for (_, expression) in &self.rules {
            expression.each(&mut |expression| {
                if let GrammarExpression::Rule(name) = expression
                    && !defined.contains(name.as_str())
                {
                    undefined.push(name.clone());
                }
            });
        }
        undefined
    }
}
