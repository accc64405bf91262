//! Writes grammars. The formats differ in the names of rules, in keywords, classes and repetitions, and share the rest.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::expression::{DecodingGrammar, GrammarExpression};

/// A format of grammars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarFormat {
    /// GBNF: for llama.cpp, XGrammar, vLLM and SGLang.
    Gbnf,
    /// Lark's format as llguidance takes it. Names have `_` for `-`, and the first rule is `start`.
    Lark,
}

impl std::str::FromStr for GrammarFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<GrammarFormat, String> {
        match name {
            "gbnf" => Ok(GrammarFormat::Gbnf),
            "lark" => Ok(GrammarFormat::Lark),
            _ => Err("expected gbnf or lark".to_owned()),
        }
    }
}

impl DecodingGrammar {
    /// Writes the grammar.
    pub fn render(&self, format: GrammarFormat) -> String {
        let (mut out, sign) = match format {
            GrammarFormat::Gbnf => (String::new(), " ::="),
            GrammarFormat::Lark => (String::from("%llguidance {}\n\n"), ":"),
        };
        let mut words = BTreeSet::new();
        for (name, expression) in &self.rules {
            let _ = write!(out, "{}{sign} ", format.rule_name(name));
            format.write(expression, false, &mut out);
            out.push('\n');
            expression.each(&mut |expression| {
                if let GrammarExpression::Keyword(word) = expression {
                    words.insert(word.as_str());
                }
            });
        }
        if format == GrammarFormat::Gbnf {
            for word in words {
                let _ = writeln!(out, "{}{sign} {}", word_rule(word), letters(word));
            }
        }
        out
    }
}

impl GrammarFormat {
    fn rule_name(self, name: &str) -> String {
        match self {
            GrammarFormat::Gbnf => name.to_owned(),
            GrammarFormat::Lark if name == "root" => "start".to_owned(),
            GrammarFormat::Lark => name.replace('-', "_"),
        }
    }

    /// Writes an expression; an inner one is put in parentheses if it has several parts.
    fn write(self, expression: &GrammarExpression, is_inner: bool, out: &mut String) {
        match expression {
            GrammarExpression::Literal(text) => write_literal(text, out),
            GrammarExpression::Keyword(word) => self.write_keyword(word, out),
            GrammarExpression::Class(class) => out.push_str(&self.class(class, "")),
            GrammarExpression::Rule(name) => out.push_str(&self.rule_name(name)),
            GrammarExpression::Sequence(all) | GrammarExpression::Choice(all) => {
                let sign = if matches!(expression, GrammarExpression::Choice(_)) { " | " } else { " " };
                let (open, close) = if is_inner { ("(", ")") } else { ("", "") };
                out.push_str(open);
                for (at, inner) in all.iter().enumerate() {
                    out.push_str(if at > 0 { sign } else { "" });
                    self.write(inner, true, out);
                }
                out.push_str(close);
            }
            GrammarExpression::Repeat(inner, least, most) => self.write_repeat(inner, *least, *most, out),
        }
    }

    /// Writes a word that matches in any case. In GBNF it has a rule of its own.
    fn write_keyword(self, word: &str, out: &mut String) {
        match self {
            GrammarFormat::Lark => {
                write_literal(word, out);
                out.push('i');
            }
            GrammarFormat::Gbnf => out.push_str(&word_rule(word)),
        }
    }

    /// Returns a class with the sign of its repetition. In Lark's format it is a terminal of its own.
    fn class(self, class: &str, repeat: &str) -> String {
        match self {
            GrammarFormat::Gbnf => format!("{class}{repeat}"),
            GrammarFormat::Lark => format!("/{}{repeat}/", class.replace('/', "\\/")),
        }
    }

    fn write_repeat(self, inner: &GrammarExpression, least: u32, most: u32, out: &mut String) {
        if let (GrammarFormat::Lark, GrammarExpression::Class(class)) = (self, inner) {
            // A terminal must not match the empty text.
            out.push_str(&self.class(class, &format!("{{{},{most}}}", least.max(1))));
            out.push_str(if least == 0 { "?" } else { "" });
            return;
        }
        let (open, close) = if matches!(inner, GrammarExpression::Repeat(..)) { ("(", ")") } else { ("", "") };
        out.push_str(open);
        self.write(inner, true, out);
        out.push_str(close);
        let _ = match (least, most) {
            (0, 1) => write!(out, "?"),
            _ => write!(out, "{{{least},{most}}}"),
        };
    }
}

/// Returns the name of the rule for a word in GBNF. A rule for each word keeps converters to other formats from matching
/// single letters.
fn word_rule(word: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("word-{}", word.chars().map(plain).collect::<String>())
}

/// Returns the letters of a word in both cases.
fn letters(word: &str) -> String {
    let letters = word.chars().map(|c| match c.is_ascii_alphabetic() {
        true => format!("[{}{}]", c.to_ascii_uppercase(), c.to_ascii_lowercase()),
        false => format!("\"{c}\""),
    });
    letters.collect::<Vec<String>>().join(" ")
}

/// Writes a literal with the escapes that both formats have.
fn write_literal(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('"');
}
