//! Grammars as trees.

use std::collections::BTreeSet;

/// An expression of a grammar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrammarExpression {
    /// A text.
    Literal(String),
    /// A word of ASCII letters, in any case.
    Keyword(String),
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
    /// Creates a literal.
    pub fn literal(text: impl AsRef<str>) -> GrammarExpression {
        GrammarExpression::Literal(text.as_ref().to_owned())
    }

    /// Returns a choice; of a single expression, that expression.
    pub fn choice(of: impl IntoIterator<Item = GrammarExpression>) -> GrammarExpression {
        let mut of: Vec<GrammarExpression> = of.into_iter().collect();
        if of.len() == 1 { of.remove(0) } else { GrammarExpression::Choice(of) }
    }

    /// Replaces the names of rules for which `rename` returns another.
    fn rename(&mut self, rename: &dyn Fn(&str) -> Option<String>) {
        match self {
            GrammarExpression::Rule(name) => {
                if let Some(other) = rename(name) {
                    *name = other;
                }
            }
            GrammarExpression::Sequence(inner) | GrammarExpression::Choice(inner) => {
                inner.iter_mut().for_each(|inner| inner.rename(rename));
            }
            GrammarExpression::Repeat(inner, ..) => inner.rename(rename),
            GrammarExpression::Literal(_) | GrammarExpression::Keyword(_) | GrammarExpression::Class(_) => {}
        }
    }

    pub(crate) fn each<'g>(&'g self, visit: &mut dyn FnMut(&'g GrammarExpression)) {
        visit(self);
        match self {
            GrammarExpression::Sequence(inner) | GrammarExpression::Choice(inner) => {
                inner.iter().for_each(|inner| inner.each(visit));
            }
            GrammarExpression::Repeat(inner, ..) => inner.each(visit),
            GrammarExpression::Literal(_)
            | GrammarExpression::Keyword(_)
            | GrammarExpression::Class(_)
            | GrammarExpression::Rule(_) => {}
        }
    }
}

/// A grammar. Its first rule is `root`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DecodingGrammar {
    pub(crate) rules: Vec<(String, GrammarExpression)>,
}

impl DecodingGrammar {
    /// Adds a rule, or replaces the rule of the name.
    pub fn set(&mut self, name: &str, expression: GrammarExpression) {
        match self.rules.iter_mut().find(|(other, _)| other == name) {
            Some((_, old)) => *old = expression,
            None => self.rules.push((name.to_owned(), expression)),
        }
    }

    /// Adds the rules of another grammar; rules of the same name are replaced.
    pub fn add_rules(&mut self, other: DecodingGrammar) {
        for (name, expression) in other.rules {
            self.set(&name, expression);
        }
    }

    /// Adds an alternative to a rule.
    pub fn add_alternative(&mut self, name: &str, alternative: GrammarExpression) {
        let Some((_, expression)) = self.rules.iter_mut().find(|(other, _)| other == name) else { return };
        match expression {
            GrammarExpression::Choice(all) => all.push(alternative),
            other => *other = GrammarExpression::Choice(vec![other.clone(), alternative]),
        }
    }

    /// Removes a rule, and the alternatives of other rules that consist of it.
    pub fn remove(&mut self, name: &str) {
        let removed = GrammarExpression::Rule(name.to_owned());
        self.rules.retain(|(other, _)| other != name);
        for (_, expression) in &mut self.rules {
            if let GrammarExpression::Choice(all) = expression {
                all.retain(|alternative| *alternative != removed);
            }
        }
    }

    /// Adds a copy of each of the rules, with `-` and the suffix after its name. The copies use each other, and other
    /// rules with that suffix.
    pub fn add_variants(&mut self, names: &[&str], suffix: &str) {
        let renamed = |name: &str| format!("{name}-{suffix}");
        for name in names {
            let Some(mut copy) = self.rule(name).cloned() else { continue };
            copy.rename(&|used| Some(renamed(used)).filter(|other| names.contains(&used) || self.has_rule(other)));
            self.set(&renamed(name), copy);
        }
    }

    /// Adds all rules of another grammar, with `prefix-` before their names, and returns the name of its root.
    pub fn embed(&mut self, prefix: &str, other: DecodingGrammar) -> GrammarExpression {
        for (name, mut expression) in other.rules {
            expression.rename(&|used| Some(format!("{prefix}-{used}")));
            self.set(&format!("{prefix}-{name}"), expression);
        }
        GrammarExpression::Rule(format!("{prefix}-root"))
    }

    /// Returns whether a rule is defined.
    pub fn has_rule(&self, name: &str) -> bool {
        self.rule(name).is_some()
    }

    /// Returns the expression of a rule.
    pub(crate) fn rule(&self, name: &str) -> Option<&GrammarExpression> {
        self.rules.iter().find(|(other, _)| other == name).map(|(_, expression)| expression)
    }

    /// Returns all literals and keywords.
    pub fn literals(&self) -> BTreeSet<&str> {
        let mut literals = BTreeSet::new();
        for (_, expression) in &self.rules {
            expression.each(&mut |expression| {
                if let GrammarExpression::Literal(text) | GrammarExpression::Keyword(text) = expression {
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
