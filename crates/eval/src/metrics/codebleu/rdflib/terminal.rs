//! The terminal symbols, with the regular expressions of rdflib.

use std::sync::LazyLock;

use regex::Regex;

use super::value::{AstValue, float};

/// A terminal symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    IriRef,
    Prefix,
    Local,
    Blank,
    Variable,
    Tag,
    Integer,
    Decimal,
    Double,
    Long1,
    Long2,
    Short1,
    Short2,
}

const BASE: &str = r"A-Za-z\u{C0}-\u{D6}\u{D8}-\u{F6}\u{F8}-\u{2FF}\u{370}-\u{37D}\u{37F}-\u{1FFF}\u{200C}-\u{200D}\u{2070}-\u{218F}\u{2C00}-\u{2FEF}\u{3001}-\u{D7FF}\u{F900}-\u{FDCF}\u{FDF0}-\u{FFFD}\u{10000}-\u{EFFFF}";
const REST: &str = r"\-0-9\u{B7}\u{300}-\u{36F}\u{203F}-\u{2040}_";
const ESCAPE: &str = r##"\\[_~.\-!$&"'()*+,;=/?#@%]|%[0-9a-fA-F]{2}"##;

static PATTERNS: LazyLock<Vec<(Terminal, &'static str, Option<Regex>)>> = LazyLock::new(|| {
    use Terminal::*;
    let chars = format!("{REST}{BASE}");
    let patterns = [
        (IriRef, "IRIREF", r##"<[^<>"{}|^`\\\x00-\x20]*>"##.to_owned()),
        (Prefix, "PN_PREFIX", format!("[{BASE}](?:[{chars}.]*[{chars}])?")),
        (Local, "PN_LOCAL", format!("(?:[_{BASE}:0-9]|{ESCAPE})(?:(?:[{chars}.:]|{ESCAPE})*(?:[{chars}:]|{ESCAPE}))?")),
        (Blank, "BLANK_NODE_LABEL", format!("_:[0-9_{BASE}](?:[.{chars}]*[{chars}])?")),
        (Variable, "VAR", format!(r"[?$][_{BASE}0-9][_{BASE}0-9\u{{B7}}\u{{300}}-\u{{36F}}\u{{203F}}-\u{{2040}}]*")),
        (Tag, "LANGTAG", "@[a-zA-Z]+(?:-[a-zA-Z0-9]+)*".to_owned()),
        (Integer, "INTEGER", "[0-9]+".to_owned()),
        (Decimal, "DECIMAL", r"[0-9]*\.[0-9]+".to_owned()),
        (Double, "DOUBLE", r"[0-9]+\.[0-9]*[eE][+-]?[0-9]+|\.[0-9]+[eE][+-]?[0-9]+|[0-9]+[eE][+-]?[0-9]+".to_owned()),
        (Long1, "STRING_LONG1", r"'''(?:(?:'|'')?(?:[^'\\]|\\['ntbrf\\]))*'''".to_owned()),
        (Long2, "STRING_LONG2", r#""""(?:(?:"|"")?(?:[^"\\]|\\["ntbrf\\]))*""""#.to_owned()),
        (Short1, "STRING1", r"'(?:[^'\n\r\\]|\\['ntbrf\\])*'".to_owned()),
        (Short2, "STRING2", r#""(?:[^"\n\r\\]|\\["ntbrf\\])*""#.to_owned()),
    ];
    let compiled = |(kind, name, pattern): (_, _, String)| (kind, name, Regex::new(&format!("^(?:{pattern})")).ok());
    patterns.into_iter().map(compiled).collect()
});

impl Terminal {
    /// Returns the terminal with this name in the grammar.
    pub fn of_name(name: &str) -> Option<Terminal> {
        PATTERNS.iter().find(|(_, known, _)| *known == name).map(|(kind, ..)| *kind)
    }

    /// Matches the terminal at the start of a text; returns its length and value.
    pub fn read(self, text: &str) -> Option<(usize, AstValue)> {
        let pattern = PATTERNS.iter().find(|(kind, ..)| *kind == self)?.2.as_ref()?;
        let word = pattern.find(text)?.as_str();
        let inner = |from: usize, to: usize| word.get(from..word.len().saturating_sub(to)).unwrap_or_default();
        let value = match self {
            Terminal::IriRef => AstValue::iri(inner(1, 1)),
            Terminal::Prefix | Terminal::Local => AstValue::Text(word.to_owned()),
            Terminal::Blank => AstValue::term("BNode", inner(2, 0)),
            Terminal::Variable => AstValue::term("Variable", inner(1, 0)),
            Terminal::Tag => AstValue::Text(inner(1, 0).to_owned()),
            Terminal::Integer => AstValue::typed(integer(word), "integer"),
            Terminal::Decimal => AstValue::typed(&decimal(word), "decimal"),
            Terminal::Double => AstValue::typed(&float(word.parse().unwrap_or(f64::NAN)), "double"),
            Terminal::Long1 | Terminal::Long2 => AstValue::term("Literal", &unescaped(inner(3, 3))),
            Terminal::Short1 | Terminal::Short2 => {
                // A quote directly after the string makes it the start of a long string, or invalid.
                let quote = word.get(..1)?;
                if text.get(word.len()..).is_some_and(|rest| rest.starts_with(quote)) {
                    return None;
                }
                AstValue::term("Literal", &unescaped(inner(1, 1)))
            }
        };
        Some((word.len(), value))
    }
}

/// Formats an integer as Python prints it.
fn integer(digits: &str) -> &str {
    let short = digits.trim_start_matches('0');
    if short.is_empty() { "0" } else { short }
}

/// Formats a decimal as Python prints it.
fn decimal(word: &str) -> String {
    let (whole, part) = word.split_once('.').unwrap_or((word, ""));
    format!("{}.{part}", integer(whole))
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('t') => out.push('\t'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}
