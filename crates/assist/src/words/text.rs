//! Words with their positions: tokens, folding and stems.

use std::borrow::Cow;

use icu_normalizer::DecomposingNormalizerBorrowed;
use rust_stemmers::{Algorithm, Stemmer};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// Letters, digits and the signs of keys: `cafes`, `addr:street`, `relation/12`.
    Word,
    /// A number without its unit.
    Number,
    /// A text in quotation marks, without these.
    Quoted,
    /// A sign of conditions: `=`, `!=`, `~`, `(`, `*`.
    Sign,
    /// Any other character.
    Punctuation,
}

/// A part of the text. Positions count Unicode characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    /// The text; of a quoted text the content.
    pub text: String,
    /// The text in lower case without accents.
    pub folded: String,
    pub start: usize,
    pub end: usize,
}

impl Token {
    /// Returns the value of a number; `None` if it is not one, or larger than 10^15, such as a distance no map has.
    pub fn number(&self) -> Option<f64> {
        let value: f64 = self.text.parse().ok().filter(|_| self.kind == TokenKind::Number)?;
        (value.abs() <= 1e15).then_some(value)
    }

    /// Returns whether it may be part of a name or a phrase.
    pub fn is_word(&self) -> bool {
        matches!(self.kind, TokenKind::Word | TokenKind::Number)
    }

    /// Returns whether it begins with a capital letter.
    pub fn is_capital(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }
}

/// Keys that the wizard's syntax separates from their value with a colon.
const COLON_KEYS: &[&str] = &["type", "newer", "user", "uid", "id"];
/// Signs of conditions, longest first.
const SIGNS: &[&str] =
    &["!=", "!~", "~=", "=~", "==", "<=", ">=", "||", "&&", "=", "~", "<", ">", "|", "&", "(", ")", "*"];

/// Returns a text in lower case without accents.
pub fn fold(text: &str) -> String {
    let plain: Cow<'_, str> = DecomposingNormalizerBorrowed::new_nfd().normalize(text);
    plain
        .chars()
        .filter(|c| !('\u{300}'..='\u{36f}').contains(c))
        .map(|c| if c == '’' { '\'' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns whether words of this script have no spaces between them.
fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Splits a text into tokens.
pub fn tokens(text: &str) -> Vec<Token> {
    let all: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&c) = all.get(at) {
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        let (kind, end, content) = next(&all, at);
        let content: String = content.unwrap_or_else(|| all.get(at..end).unwrap_or_default().iter().collect());
        found.push(Token { kind, folded: fold(&content), text: content, start: at, end });
        at = end;
    }
    found
}

/// Returns kind, end and, if it is not the text itself, content of the token at a position.
fn next(all: &[char], at: usize) -> (TokenKind, usize, Option<String>) {
    let c = all.get(at).copied().unwrap_or_default();
    if let Some((end, content)) = quoted(all, at) {
        return (TokenKind::Quoted, end, Some(content));
    }
    let rest: String = all.iter().skip(at).take(2).collect();
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return (TokenKind::Sign, at + sign.len(), None);
    }
    if is_unspaced(c) {
        return (TokenKind::Word, at + 1, None);
    }
    let signed = c == '-' && all.get(at + 1).is_some_and(char::is_ascii_digit);
    if c.is_ascii_digit() || signed {
        return number(all, at, usize::from(signed));
    }
    if !c.is_alphanumeric() {
        let kind = if c == ':' { TokenKind::Sign } else { TokenKind::Punctuation };
        return (kind, at + 1, None);
    }
    let mut end = at;
    while let Some(&c) = all.get(end) {
        let inner = "_-'’:/.&@".contains(c) && all.get(end + 1).is_some_and(|next| next.is_alphanumeric());
        if is_unspaced(c) || !(c.is_alphanumeric() || c == '_' || inner && end > at) {
            break;
        }
        if c == ':' {
            let key: String = all.get(at..end).unwrap_or_default().iter().collect();
            if COLON_KEYS.contains(&key.to_lowercase().as_str()) {
                break;
            }
        }
        end += 1;
    }
    (TokenKind::Word, end.max(at + 1), None)
}

/// Reads a number with an optional fraction or with commas between thousands.
fn number(all: &[char], at: usize, signs: usize) -> (TokenKind, usize, Option<String>) {
    let is_digit = |at: usize| all.get(at).is_some_and(char::is_ascii_digit);
    let mut end = at + signs;
    let mut has_point = false;
    loop {
        match all.get(end) {
            Some(c) if c.is_ascii_digit() => end += 1,
            Some('.') if is_digit(end + 1) => {
                has_point = true;
                end += 1;
            }
            Some(',') if !has_point && end - at <= 3 + signs + 8 && thousands(all, end) => end += 1,
            _ => break,
        }
    }
    // `2nd`, `5a` and dates are words; `500m` is a number with a unit.
    let is_date = all.get(end) == Some(&'-') && is_digit(end + 1) || all.get(end) == Some(&':') && is_digit(end + 1);
    if is_date {
        while all.get(end).is_some_and(|c| c.is_alphanumeric() || "-:".contains(*c)) {
            end += 1;
        }
        return (TokenKind::Word, end, None);
    }
    let text: String = all.get(at..end).unwrap_or_default().iter().filter(|c| **c != ',').collect();
    (TokenKind::Number, end, Some(text))
}

/// Returns whether exactly three digits follow a comma.
fn thousands(all: &[char], comma: usize) -> bool {
    let is_digit = |at: usize| all.get(at).is_some_and(char::is_ascii_digit);
    (1..=3).all(|step| is_digit(comma + step)) && !is_digit(comma + 4)
}

fn quoted(all: &[char], at: usize) -> Option<(usize, String)> {
    let open = *all.get(at)?;
    let close = match open {
        '"' | '\'' => open,
        '“' | '„' => '”',
        '«' => '»',
        _ => return None,
    };
    let mut content = String::new();
    let mut end = at + 1;
    while let Some(&c) = all.get(end) {
        if c == '\\' && all.get(end + 1).is_some() {
            content.extend(all.get(end + 1));
            end += 2;
            continue;
        }
        if c == close || (open == '„' && c == '“') {
            return Some((end + 1, content));
        }
        content.push(c);
        end += 1;
    }
    None
}

/// Returns the stemmer of a language; `None` if words of it are compared unchanged.
fn stemmer(language: &str) -> Option<Stemmer> {
    let algorithm = match language {
        "en" => Algorithm::English,
        "de" => Algorithm::German,
        "fr" => Algorithm::French,
        "es" => Algorithm::Spanish,
        "it" => Algorithm::Italian,
        "pt" => Algorithm::Portuguese,
        "nl" => Algorithm::Dutch,
        "ar" => Algorithm::Arabic,
        _ => return None,
    };
    Some(Stemmer::create(algorithm))
}

/// Makes phrases comparable: singular and plural, `bus_stop` and `bus stop`.
pub struct PhraseFolder {
    stemmer: Option<Stemmer>,
}

impl PhraseFolder {
    pub fn new(language: &str) -> PhraseFolder {
        PhraseFolder { stemmer: stemmer(language) }
    }

    /// Returns the stem of a folded word.
    pub fn stem(&self, word: &str) -> String {
        match &self.stemmer {
            Some(stemmer) => stemmer.stem(word).into_owned(),
            None => word.to_owned(),
        }
    }

    /// Returns the phrase of folded words: their stems with spaces; signs inside of words separate them.
    pub fn phrase(&self, folded: &str) -> String {
        let mut out = String::new();
        for word in folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            if !out.is_empty() {
                out.push(' ');
            }
            if word.chars().all(is_unspaced) {
                for c in word.chars() {
                    if !out.is_empty() && !out.ends_with(' ') {
                        out.push(' ');
                    }
                    out.push(c);
                }
            } else {
                out.push_str(&self.stem(word));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn tokens_have_positions_in_characters() {
        let found = tokens("Cafés in \"San Ġwann\"");
        assert_eq!((found[0].start, found[0].end, found[0].folded.as_str()), (0, 5, "cafes"));
        assert_eq!((found[2].start, found[2].end, found[2].text.as_str()), (9, 20, "San Ġwann"));
    }

    #[test]
    fn numbers_units_keys_and_signs() {
        assert_eq!(texts("within 500m of 1,500,000"), ["within", "500", "m", "of", "1500000"]);
        assert_eq!(texts("47.26650,8.82811"), ["47.26650", ",", "8.82811"]);
        assert_eq!(texts("addr:street!=x type:node"), ["addr:street", "!=", "x", "type", ":", "node"]);
        assert_eq!(texts("2019-02-11T00:00:00Z"), ["2019-02-11T00:00:00Z"]);
    }

    #[test]
    fn numbers_are_finite() {
        assert_eq!(tokens("1,500")[0].number(), Some(1500.0));
        assert_eq!(tokens(&format!("1{}", "0".repeat(400)))[0].number(), None);
        assert_eq!(tokens("\"5\"")[0].number(), None);
    }

    #[test]
    fn plural_and_singular_are_one_phrase() {
        let folder = PhraseFolder::new("en");
        assert_eq!(folder.phrase("bus_stop"), folder.phrase("bus stops"));
        assert_eq!(PhraseFolder::new("de").phrase("apotheken"), PhraseFolder::new("de").phrase("apotheke"));
    }
}
