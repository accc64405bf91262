//! Tokenizer: text to tokens with positions. Follows the lexical grammar of SPARQL 1.2, with `%name`; does not
//! interpret tokens.

use std::collections::BTreeSet;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// `<...>`.
    Iri,
    /// `prefix:local`.
    Prefixed {
        /// The offset of the colon from the token's start, in bytes.
        colon: u32,
    },
    /// `_:label`.
    Blank,
    /// `?name` or `$name`.
    Variable,
    /// `@en`.
    Tag,
    /// `@en@`, in front of a predicate.
    PredicateTag,
    /// `12`.
    Integer,
    /// `1.2`.
    Decimal,
    /// `1e2`.
    Double,
    /// A string.
    Text {
        /// The length of its quotes: 1 or 3.
        quote: u8,
    },
    /// A keyword, `a`, `true`, `false`.
    Word,
    /// `%name`.
    Named,
    /// A mark: `{`, `^^`, `&&`, ...
    Mark(&'static str),
    /// A character that starts no token, or a token without an end.
    Wrong(&'static str),
    /// The end of the text.
    End,
}

/// A token: its kind and its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SparqlToken {
    /// The kind.
    pub kind: TokenKind,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
}

/// The marks, longest first.
const MARKS: [&str; 34] = [
    "<<(", ")>>", "^^", "&&", "||", "<=", ">=", "!=", "{|", "|}", "<<", ">>", "{", "}", "(", ")", "[", "]", ".", ";",
    ",", "*", "/", "|", "^", "?", "+", "-", "!", "=", "<", ">", "~", "&",
];

fn is_name_start(c: char) -> bool {
    matches!(c, 'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}'
        | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}'
        | '\u{2C00}'..='\u{2FEF}' | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}')
}

/// Returns whether a variable's name may contain `c` after its first character.
fn is_variable_char(c: char) -> bool {
    c == '_'
        || c.is_ascii_digit()
        || is_name_start(c)
        || matches!(c, '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

fn is_name_char(c: char) -> bool {
    c == '-' || is_variable_char(c)
}

/// Returns the length of the run of characters at the start of `text` that pass `test`.
fn run(text: &str, test: impl Fn(char) -> bool) -> usize {
    text.find(|c| !test(c)).unwrap_or(text.len())
}

/// Returns the length of a run of name characters, in which dots may occur except at the end.
fn dotted(text: &str) -> usize {
    let all = run(text, |c| c == '.' || is_name_char(c));
    text.get(..all).unwrap_or("").trim_end_matches('.').len()
}

/// Returns the length of the local part of a prefixed name.
fn local(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut end) = (0, 0);
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let hex = |i: usize| bytes.get(i).is_some_and(u8::is_ascii_hexdigit);
        match c {
            '.' if at > 0 => {
                at += 1;
                continue;
            }
            '%' if hex(at + 1) && hex(at + 2) => at += 3,
            '\\' if bytes.get(at + 1).is_some_and(|b| b"_~.-!$&'()*+,;=/?#@%".contains(b)) => at += 2,
            '-' if at == 0 => break,
            c if c == ':' || is_name_char(c) => at += c.len_utf8(),
            _ => break,
        }
        end = at;
    }
    end
}

/// Scans the string at the start of `text`. Returns its length and the length of its quotes, or an error message.
fn string(text: &str) -> Result<(usize, u8), &'static str> {
    let bytes = text.as_bytes();
    let quote = bytes.first().copied().unwrap_or(b'"');
    let long = bytes.get(1) == Some(&quote) && bytes.get(2) == Some(&quote);
    let mut at = if long { 3 } else { 1 };
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            b'\n' | b'\r' if !long => return Err("the string does not end on its line"),
            b if *b == quote => {
                if !long {
                    return Ok((at + 1, 1));
                }
                if bytes.get(at + 1) == Some(&quote) && bytes.get(at + 2) == Some(&quote) {
                    return Ok((at + 3, 3));
                }
                at += 1;
            }
            _ => at += 1,
        }
    }
    Err("the string does not end")
}

/// Scans the number at the start of `text`.
fn number(text: &str) -> Option<(usize, TokenKind)> {
    let digits = |text: &str| run(text, |c| c.is_ascii_digit());
    let whole = digits(text);
    let rest = text.get(whole..).unwrap_or("");
    let fraction = rest.strip_prefix('.').map_or(0, digits);
    let exponent = |from: usize| -> Option<usize> {
        let rest = text.get(from..)?.strip_prefix(['e', 'E'])?;
        let sign = usize::from(rest.starts_with(['+', '-']));
        let digits = digits(rest.get(sign..)?);
        (digits > 0).then_some(from + 1 + sign + digits)
    };
    if whole + fraction == 0 {
        return None;
    }
    let dot = usize::from(rest.starts_with('.'));
    if let Some(end) = exponent(whole + dot + fraction) {
        return Some((end, TokenKind::Double));
    }
    if fraction > 0 {
        return Some((whole + 1 + fraction, TokenKind::Decimal));
    }
    Some((whole, TokenKind::Integer))
}

fn one(text: &str) -> (usize, TokenKind) {
    let Some(first) = text.chars().next() else { return (0, TokenKind::End) };
    let rest = text.get(first.len_utf8()..).unwrap_or("");
    match first {
        '<' => {
            let inside = run(rest, |c| c > ' ' && !matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '^' | '`'));
            if rest.get(inside..).is_some_and(|r| r.starts_with('>')) {
                return (inside + 2, TokenKind::Iri);
            }
        }
        '?' | '$' if rest.starts_with(|c: char| c == '_' || c.is_ascii_digit() || is_name_start(c)) => {
            return (1 + run(rest, is_variable_char), TokenKind::Variable);
        }
        '%' => {
            let name = run(rest, is_variable_char);
            if name > 0 {
                return (1 + name, TokenKind::Named);
            }
        }
        '@' => {
            // `--` before a base direction is a part of the tag.
            let tag = run(rest, |c| c == '-' || c.is_ascii_alphanumeric());
            let tag = rest.get(..tag).unwrap_or("").trim_end_matches('-').len();
            return match rest.as_bytes().get(tag) {
                _ if tag == 0 => (1, TokenKind::Wrong("a language tag is expected after @")),
                Some(b'@') => (1 + tag + 1, TokenKind::PredicateTag),
                _ => (1 + tag, TokenKind::Tag),
            };
        }
        '"' | '\'' => {
            return match string(text) {
                Ok((end, quote)) => (end, TokenKind::Text { quote }),
                Err(wrong) => (text.len(), TokenKind::Wrong(wrong)),
            };
        }
        '_' if rest.starts_with(':') => {
            let label = dotted(text.get(2..).unwrap_or(""));
            return if label > 0 {
                (2 + label, TokenKind::Blank)
            } else {
                (2, TokenKind::Wrong("a blank node needs a label"))
            };
        }
        ':' => return (1 + local(rest), TokenKind::Prefixed { colon: 0 }),
        _ => {}
    }
    if let Some(found) = number(text) {
        return found;
    }
    if is_name_start(first) {
        let prefix = dotted(text);
        let after = text.get(prefix..).unwrap_or("");
        if let Some(after) = after.strip_prefix(':') {
            return (prefix + 1 + local(after), TokenKind::Prefixed { colon: prefix as u32 });
        }
        return (run(text, |c| c == '_' || c.is_ascii_alphanumeric()).max(first.len_utf8()), TokenKind::Word);
    }
    match MARKS.iter().find(|mark| text.starts_with(**mark)) {
        Some(mark) => (mark.len(), TokenKind::Mark(mark)),
        None => (first.len_utf8(), TokenKind::Wrong("unexpected character")),
    }
}

/// Returns the length of the white space and comments at the start of `text`.
fn blank(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or("");
        // Like WDQS, accept every Unicode space, for queries copied from web pages.
        let space = run(rest, |c| c.is_whitespace() || matches!(c, '\u{FEFF}' | '\u{200B}'));
        let rest = rest.get(space..).unwrap_or("");
        if !rest.starts_with('#') {
            return at + space;
        }
        at += space + run(rest, |c| c != '\n' && c != '\r');
    }
}

/// Returns the tokens of `text` from byte `from`; the last one is a [`TokenKind::End`].
pub fn tokens(text: &str, from: usize) -> Vec<SparqlToken> {
    tokens_with_comparisons(text, from, &BTreeSet::new())
}

/// Returns the tokens of `text` from byte `from`. A `<` at one of the offsets `comparisons` is an operator, although an
/// IRI could start there.
pub(super) fn tokens_with_comparisons(text: &str, from: usize, comparisons: &BTreeSet<usize>) -> Vec<SparqlToken> {
    let mut tokens = Vec::with_capacity((text.len() - from.min(text.len())) / 4 + 1);
    let mut at = from;
    loop {
        at += blank(text.get(at..).unwrap_or(""));
        let rest = text.get(at..).unwrap_or("");
        let (length, kind) = match comparisons.contains(&at) {
            true if rest.starts_with("<=") => (2, TokenKind::Mark("<=")),
            true => (1, TokenKind::Mark("<")),
            false => one(rest),
        };
        tokens.push(SparqlToken { kind, start: at, end: at + length });
        if kind == TokenKind::End {
            return tokens;
        }
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text, 0).iter().map(|t| &text[t.start..t.end]).collect()
    }

    #[test]
    fn comments_strings_and_iris_do_not_mix() {
        assert_eq!(
            texts("<http://a#b> # <c>\n '#' wdt:P31/wdt:P279* 5."),
            ["<http://a#b>", "'#'", "wdt:P31", "/", "wdt:P279", "*", "5", ".", ""]
        );
        assert_eq!(texts("?a<?b && ?c>3"), ["?a", "<", "?b", "&&", "?c", ">", "3", ""]);
    }

    #[test]
    fn names_end_before_a_dot() {
        assert_eq!(texts("wd:Q1. _:b.c. ex:a.b%20 %x"), ["wd:Q1", ".", "_:b.c", ".", "ex:a.b%20", "%x", ""]);
        assert_eq!(texts("?s @en@rdfs:label 'x'@en-GB"), ["?s", "@en@", "rdfs:label", "'x'", "@en-GB", ""]);
        assert_eq!(texts("wdt:P31?/p:P1"), ["wdt:P31", "?", "/", "p:P1", ""]);
    }

    #[test]
    fn numbers() {
        let kinds: Vec<TokenKind> = tokens("1 1.5 .5 1e3 1.e3 1.", 0).iter().map(|t| t.kind).collect();
        assert_eq!(
            kinds,
            [
                TokenKind::Integer,
                TokenKind::Decimal,
                TokenKind::Decimal,
                TokenKind::Double,
                TokenKind::Double,
                TokenKind::Integer,
                TokenKind::Mark("."),
                TokenKind::End
            ]
        );
    }

    #[test]
    fn strings_that_do_not_end_are_one_token() {
        assert_eq!(tokens("'abc\n'", 0)[0].kind, TokenKind::Wrong("the string does not end on its line"));
        assert_eq!(
            tokens("'''a'b''c\\''''", 0)[0],
            SparqlToken { kind: TokenKind::Text { quote: 3 }, start: 0, end: 14 }
        );
    }
}
