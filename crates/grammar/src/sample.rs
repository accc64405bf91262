//! Samples texts of a grammar, to test that a parser accepts all of them.

use std::collections::{HashMap, HashSet};

use regex_syntax::hir::{Class, HirKind};

use crate::expression::{DecodingGrammar, GrammarExpression};

/// Maximum length of an expansion that is not yet known to end.
const ENDLESS: u32 = u32::MAX / 4;

/// Maximum number of attempts to sample a text in which the texts of distinct rules differ.
const ATTEMPTS: u32 = 1000;

/// Settings of samples.
#[derive(Debug, Clone, Copy)]
pub struct SampleSettings<'s> {
    /// Nesting depth of rules from which on the shortest alternatives are taken.
    pub depth: u32,
    /// Rules that samples must not use; alternatives with them are left out.
    pub without: &'s [&'s str],
    /// Rules with at most one occurrence of each text in a sample.
    pub distinct: &'s [&'s str],
    /// Rules with the texts that samples have in their place.
    pub examples: &'s [(&'s str, &'s [&'s str])],
}

impl Default for SampleSettings<'_> {
    fn default() -> Self {
        SampleSettings { depth: 24, without: &[], distinct: &[], examples: &[] }
    }
}

impl DecodingGrammar {
    /// Returns a text of the grammar; equal seeds and settings give equal texts. Short repetitions are more likely than
    /// long ones. The text is empty if each text of the grammar needs an excluded rule, or too many texts of a distinct
    /// rule.
    pub fn sample(&self, seed: u64, settings: &SampleSettings<'_>) -> String {
        let mut sampler = GrammarSampler {
            grammar: self,
            settings,
            heights: HashMap::new(),
            state: seed,
            out: String::new(),
            used: HashSet::new(),
            is_repeated: false,
        };
        sampler.find_heights();
        for _ in 0..ATTEMPTS {
            sampler.out.clear();
            sampler.used.clear();
            sampler.is_repeated = false;
            if sampler.height("root") < ENDLESS {
                sampler.rule("root", 0);
            }
            if !sampler.is_repeated {
                return sampler.out;
            }
        }
        String::new()
    }
}

struct GrammarSampler<'g> {
    grammar: &'g DecodingGrammar,
    settings: &'g SampleSettings<'g>,
    /// The smallest nesting depth of each rule's expansions; [`ENDLESS`] for excluded rules.
    heights: HashMap<&'g str, u32>,
    state: u64,
    out: String,
    /// The texts of distinct rules in this sample.
    used: HashSet<String>,
    /// Whether a text of a distinct rule occurs twice.
    is_repeated: bool,
}

impl<'g> GrammarSampler<'g> {
    fn find_heights(&mut self) {
        loop {
            let mut has_changed = false;
            for (name, expression) in &self.grammar.rules {
                if self.settings.without.contains(&name.as_str()) {
                    continue;
                }
                let height = self.expression_height(expression).saturating_add(1);
                if height < self.height(name) {
                    self.heights.insert(name, height);
                    has_changed = true;
                }
            }
            if !has_changed {
                return;
            }
        }
    }

    fn height(&self, name: &str) -> u32 {
        self.heights.get(name).copied().unwrap_or(ENDLESS)
    }

    fn expression_height(&self, expression: &GrammarExpression) -> u32 {
        match expression {
            GrammarExpression::Literal(_) | GrammarExpression::Keyword(_) | GrammarExpression::Class(_) => 0,
            GrammarExpression::Rule(name) => self.height(name),
            GrammarExpression::Sequence(all) => {
                all.iter().map(|inner| self.expression_height(inner)).max().unwrap_or(0)
            }
            GrammarExpression::Choice(all) => all.iter().map(|inner| self.expression_height(inner)).min().unwrap_or(0),
            GrammarExpression::Repeat(_, 0, _) => 0,
            GrammarExpression::Repeat(inner, ..) => self.expression_height(inner),
        }
    }

    /// Returns a number from 0 to `below` - 1, by SplitMix64.
    fn draw(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % below.max(1) as u64) as usize
    }

    fn rule(&mut self, name: &str, depth: u32) {
        if let Some((_, texts)) = self.settings.examples.iter().find(|(rule, _)| *rule == name) {
            let at = self.draw(texts.len());
            self.out.push_str(texts.get(at).copied().unwrap_or_default());
            return;
        }
        let start = self.out.len();
        if let Some(expression) = self.grammar.rule(name) {
            self.expression(expression, depth + 1);
        }
        if self.settings.distinct.contains(&name) {
            self.is_repeated |= !self.used.insert(self.out[start..].to_owned());
        }
    }

    fn expression(&mut self, expression: &'g GrammarExpression, depth: u32) {
        match expression {
            GrammarExpression::Literal(text) => self.out.push_str(text),
            GrammarExpression::Keyword(word) => {
                let word = if self.draw(4) == 0 { word.to_ascii_lowercase() } else { word.clone() };
                self.out.push_str(&word);
            }
            GrammarExpression::Class(class) => {
                let c = self.character(class);
                self.out.push(c);
            }
            GrammarExpression::Rule(name) => self.rule(name, depth),
            GrammarExpression::Sequence(all) => all.iter().for_each(|inner| self.expression(inner, depth)),
            GrammarExpression::Choice(all) => {
                let heights: Vec<u32> = all.iter().map(|inner| self.expression_height(inner)).collect();
                let least = heights.iter().copied().min().unwrap_or(0);
                let most = if depth >= self.settings.depth { least } else { ENDLESS - 1 };
                let fits: Vec<&GrammarExpression> =
                    all.iter().zip(heights).filter(|(_, height)| *height <= most).map(|(inner, _)| inner).collect();
                let at = self.draw(fits.len());
                if let Some(inner) = fits.get(at) {
                    self.expression(inner, depth);
                }
            }
            GrammarExpression::Repeat(inner, least, most) => {
                let mut count = *least;
                let may_repeat = self.expression_height(inner) < ENDLESS && depth < self.settings.depth;
                while may_repeat && count < *most && self.draw(5) < 2 {
                    count += 1;
                }
                (0..count).for_each(|_| self.expression(inner, depth));
            }
        }
    }

    /// Returns a character of a class, preferably of ASCII.
    fn character(&mut self, class: &str) -> char {
        let parsed = regex_syntax::parse(class).ok();
        let ranges: Vec<(char, char)> = match parsed.as_ref().map(|parsed| parsed.kind()) {
            Some(HirKind::Class(Class::Unicode(class))) => {
                class.ranges().iter().map(|r| (r.start(), r.end())).collect()
            }
            Some(HirKind::Literal(literal)) => {
                let text = std::str::from_utf8(&literal.0).unwrap_or_default();
                text.chars().map(|c| (c, c)).collect()
            }
            _ => Vec::new(),
        };
        let all = |most: char| ranges.iter().flat_map(move |(first, last)| *first..=(*last).min(most));
        // Most texts are printable; a tenth of the characters are any others up to the Cyrillic letters.
        let plain: Vec<char> = all('~').filter(|c| *c >= ' ').collect();
        let others: Vec<char> =
            if plain.is_empty() || self.draw(10) == 0 { all('\u{4ff}').collect() } else { Vec::new() };
        let from = if others.is_empty() { plain } else { others };
        let at = self.draw(from.len());
        from.get(at).copied().unwrap_or(' ')
    }
}
