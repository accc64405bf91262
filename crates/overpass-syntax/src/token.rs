//! Cuts the text of a query into tokens. The cursor stays on the last token when the text ends, as the reference's
//! does: its follow-up messages name that token.

use super::Span;
use terrapin_budget as budget;

/// One token: a word, number, string (with its quotation marks) or a sign of one or two characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    /// The text as written.
    pub text: &'a str,
    /// First byte in the query.
    pub start: usize,
    /// A string that the text ends in.
    pub unterminated: bool,
}

impl Token<'_> {
    /// Where it stands.
    pub fn span(&self) -> Span {
        Span { start: self.start, end: self.start + self.text.len() }
    }

    /// Whether it is a quoted string.
    pub fn is_string(&self) -> bool {
        self.text.starts_with(['"', '\''])
    }

    /// Whether it starts like a number.
    pub fn is_number(&self) -> bool {
        let mut bytes = self.text.bytes();
        match bytes.next() {
            Some(b'-') => bytes.next().is_some(),
            Some(first) => first.is_ascii_digit(),
            None => false,
        }
    }

    /// Whether it can stand for a name or a value: a word, a string or a number.
    pub fn is_text(&self) -> bool {
        self.is_string()
            || (self.is_number() && self.text != "->")
            || self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// The text as messages quote it.
    pub fn quoted(&self) -> String {
        let mut text = self.text.to_owned();
        if self.unterminated {
            // The reference adds a line end to what it reads.
            text.push('\n');
        }
        text
    }

    /// How many escapes `\\u` in it stand for a control character or for none.
    pub fn bad_escapes(&self) -> usize {
        if !self.is_string() || !self.text.contains("\\u") {
            return 0;
        }
        let mut bad = 0;
        let mut rest = self.text;
        while let Some(at) = rest.find('\\') {
            let escaped = &rest[at + 1..];
            bad += usize::from(escaped.strip_prefix('u').is_some_and(|digits| code_point(digits).0 < 32));
            let first = escaped.chars().next().map_or(0, char::len_utf8);
            rest = &escaped[first..];
        }
        bad
    }

    /// The value: a string without its quotation marks and escapes, else the text.
    pub fn value(&self) -> String {
        if !self.is_string() {
            return self.text.to_owned();
        }
        let end = if self.unterminated { self.text.len() } else { self.text.len() - 1 };
        let mut value = unescape(&self.text[1..end.max(1)]);
        if self.unterminated {
            value.push('\n');
            value.pop();
        }
        value
    }
}

/// Resolves `\n`, `\t`, `\uXXXX`; any other character after a backslash stands for itself.
fn unescape(text: &str) -> String {
    if !text.contains('\\') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let (code, length) = code_point(&rest[at + 2..]);
                out.extend(char::from_u32(code).filter(|_| code >= 32));
                chars = rest[at + 2 + length..].chars();
            }
            Some(c) => out.push(c),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out
}

/// The number that hexadecimal digits at the start of a text stand for, four at most, and how many there are.
fn code_point(text: &str) -> (u32, usize) {
    let length = text.bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
    (u32::from_str_radix(&text[..length], 16).unwrap_or(0), length)
}

/// Walks over the tokens of a text.
#[derive(Clone)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    position: usize,
    current: Token<'a>,
    end_of_last: usize,
    line: u32,
    /// The line that the text before `position` ends in.
    reached: u32,
    /// After a sign that is not ASCII, the reference names the line that the token before ended in.
    lags: bool,
    good: bool,
}

impl<'a> Tokens<'a> {
    /// Stands on the first token of `text`.
    pub fn new(text: &'a str) -> Tokens<'a> {
        let current = Token { text: "", start: 0, unterminated: false };
        let mut tokens =
            Tokens { text, position: 0, current, end_of_last: 0, line: 1, reached: 1, lags: false, good: true };
        tokens.advance();
        tokens.end_of_last = 0;
        tokens
    }

    /// The token the cursor is on; the last one when the text has ended.
    pub fn current(&self) -> Token<'a> {
        self.current
    }

    /// Its text.
    pub fn text(&self) -> &'a str {
        self.current.text
    }

    /// Whether the text has not ended yet.
    pub fn good(&self) -> bool {
        self.good
    }

    /// The line that messages name now.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Where the token before the current one ended.
    pub fn end_of_last(&self) -> usize {
        self.end_of_last
    }

    /// Which byte of its line a byte is, from 1.
    pub fn column(&self, byte: usize) -> u32 {
        let before = self.between(0, byte);
        let line = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
        u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The text between two bytes.
    pub fn between(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Whether the cursor is on `text`.
    pub fn is(&self, text: &str) -> bool {
        self.good && self.current.text == text
    }

    /// Whether no token comes after the current one.
    pub fn is_last(&self) -> bool {
        let mut next = self.clone();
        next.advance();
        !next.good
    }

    /// Ends the text here.
    pub fn stop(&mut self) {
        self.position = self.text.len();
        self.good = false;
    }

    /// Goes on to the next token.
    pub fn advance(&mut self) {
        budget::checkpoint();
        if !self.good {
            return;
        }
        self.end_of_last = self.position;
        let before = self.reached;
        self.read();
        // A string counts where it begins.
        let inside = if self.good && self.current.is_string() { count_lines(self.current.text.as_bytes()) } else { 0 };
        self.line = if self.lags { before } else { self.reached - inside };
        self.lags |= self.good && !self.current.text.is_ascii() && !self.current.is_string();
    }

    /// Reads the next token.
    fn read(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            while let Some(b) = bytes.get(self.position) {
                match b {
                    b'\n' => self.reached += 1,
                    b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {}
                    _ => break,
                }
                self.position += 1;
            }
            let rest = &bytes[self.position..];
            if rest.starts_with(b"//") {
                self.position += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                match self.text[self.position + 2..].find("*/") {
                    Some(length) => {
                        let comment = &bytes[self.position..self.position + 2 + length];
                        self.reached += count_lines(comment);
                        self.position += length + 4;
                    }
                    None => {
                        self.position = bytes.len();
                        self.good = false;
                        return;
                    }
                }
            } else {
                break;
            }
        }
        if self.position >= bytes.len() {
            // One for the line end that the reference adds, one for the end itself.
            self.reached += 1;
            self.good = false;
            return;
        }
        let start = self.position;
        let (length, unterminated) = token_length(&self.text[start..]);
        self.position = start + length;
        self.current = Token { text: &self.text[start..self.position], start, unterminated };
        if self.current.is_string() {
            self.reached += count_lines(self.current.text.as_bytes());
        }
    }
}

fn count_lines(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&b| b == b'\n').count() as u32
}

/// How many bytes the token at the start of `rest` has (`rest` is not empty), and whether it is an open string.
fn token_length(rest: &str) -> (usize, bool) {
    let bytes = rest.as_bytes();
    let first = bytes[0];
    let second = bytes.get(1).copied().unwrap_or(0);
    if first == b'"' || first == b'\'' {
        let mut at = 1;
        while at < bytes.len() {
            match bytes[at] {
                b'\\' => at += 1,
                b if b == first => return (at + 1, false),
                _ => {}
            }
            at += 1;
        }
        return (bytes.len(), true);
    }
    if first.is_ascii_alphabetic() || first == b'_' {
        let end = bytes.iter().position(|b| !b.is_ascii_alphanumeric() && *b != b'_');
        return (end.unwrap_or(bytes.len()), false);
    }
    if first.is_ascii_digit() || (first == b'-' && (second.is_ascii_digit() || second == b'.')) {
        return (number_length(bytes), false);
    }
    let pair = match first {
        b'-' => second == b'>',
        b'=' | b'!' => second == b'=',
        b'<' | b'>' => second == b'=' || second == first,
        b'&' | b'|' | b':' => second == first,
        _ => false,
    };
    if pair {
        return (2, false);
    }
    (rest.chars().next().map_or(1, char::len_utf8), false)
}

/// `-1`, `1.5`, `1.`, `-.`, `1e5`, `1e-5`: signs and points as the reference groups them.
fn number_length(bytes: &[u8]) -> usize {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut at = digits(usize::from(bytes[0] == b'-'));
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    if bytes.get(at) == Some(&b'e') {
        at += 1;
        if bytes.get(at) == Some(&b'-') {
            at += 1;
        }
        at = digits(at);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        let mut tokens = Tokens::new(text);
        let mut out = Vec::new();
        while tokens.good() {
            out.push(tokens.text());
            tokens.advance();
        }
        out
    }

    #[test]
    fn groups_as_the_reference_does() {
        assert_eq!(all("(.a;-.b;)"), ["(", ".", "a", ";", "-.", "b", ";", ")"]);
        assert_eq!(all("1-2 3- 1.5.2 1e-5 12abc"), ["1", "-2", "3", "-", "1.5", ".", "2", "1e-5", "12", "abc"]);
        assert_eq!(all("::id:::a->.b>>="), ["::", "id", "::", ":", "a", "->", ".", "b", ">>", "="]);
        assert_eq!(all("a//x\nb/*c\n*/d\"e\\\"f\"'g"), ["a", "b", "d", "\"e\\\"f\"", "'g"]);
        assert_eq!(all("aéb"), ["a", "é", "b"]);
    }

    #[test]
    fn names_lines_as_the_reference_does() {
        let mut tokens = Tokens::new("a\n\nb");
        assert_eq!(tokens.line(), 1);
        tokens.advance();
        assert_eq!((tokens.text(), tokens.line()), ("b", 3));
        tokens.advance();
        assert_eq!((tokens.text(), tokens.line(), tokens.good()), ("b", 4, false));
    }

    #[test]
    fn resolves_escapes() {
        let value = |text: &str| Tokens::new(text).current().value();
        assert_eq!(value(r#""a\qb\n\t\\\"\u00e9\u20ac""#), "aqb\n\t\\\"é€");
        assert_eq!(value(r"'a\'b'"), "a'b");
        assert_eq!(value("\"abc"), "abc");
    }
}
