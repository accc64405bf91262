//! Splits the text of a query into tokens. At the end of the text the cursor stays on the last token, as in the
//! reference: errors that follow name this token.

use super::SourceSpan;
use terrapin_budget as budget;

/// A token: a word, a number, a string (with its quotation marks), or an operator of one or two characters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QlToken<'a> {
    /// The text as written.
    pub text: &'a str,
    /// The position of the first byte in the query.
    pub start: usize,
    /// Whether this is a string that is not closed at the end of the text.
    pub unterminated: bool,
}

impl QlToken<'_> {
    /// Returns the position in the text.
    pub fn span(&self) -> SourceSpan {
        SourceSpan { start: self.start, end: self.start + self.text.len() }
    }

    /// Returns whether it is a quoted string.
    pub fn is_string(&self) -> bool {
        self.text.starts_with(['"', '\''])
    }

    /// Returns whether it starts like a number.
    pub fn is_number(&self) -> bool {
        let mut bytes = self.text.bytes();
        match bytes.next() {
            Some(b'-') => bytes.next().is_some(),
            Some(first) => first.is_ascii_digit(),
            None => false,
        }
    }

    /// Returns whether it can be a name or a value: a word, a string or a number.
    pub fn is_text(&self) -> bool {
        self.is_string()
            || (self.is_number() && self.text != "->")
            || self.text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
    }

    /// Returns the text as quoted in messages.
    pub fn quoted(&self) -> String {
        let mut text = self.text.to_owned();
        if self.unterminated {
            // The reference adds a line break to the text that it reads.
            text.push('\n');
        }
        text
    }

    /// Returns the number of `\\u` escapes that encode a control character or no character.
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

    /// Returns the value: a string without its quotation marks and escapes; otherwise the text.
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

/// Resolves `\n`, `\t`, `\uXXXX`. After a backslash, any other character represents itself.
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

/// Parses up to four hexadecimal digits at the start of a text. Returns their value and their number.
fn code_point(text: &str) -> (u32, usize) {
    let length = text.bytes().take(4).take_while(u8::is_ascii_hexdigit).count();
    (u32::from_str_radix(&text[..length], 16).unwrap_or(0), length)
}

/// A cursor over the tokens of a text.
#[derive(Clone)]
pub(crate) struct QlTokens<'a> {
    text: &'a str,
    position: usize,
    current: QlToken<'a>,
    end_of_last: usize,
    line: u32,
    /// The line of `position`.
    reached: u32,
    /// Whether a non-ASCII token was read. From then on, the reference names the line in which the previous token
    /// ended.
    lags: bool,
    good: bool,
}

impl<'a> QlTokens<'a> {
    /// Creates a cursor on the first token of `text`.
    pub fn new(text: &'a str) -> QlTokens<'a> {
        let current = QlToken { text: "", start: 0, unterminated: false };
        let mut tokens =
            QlTokens { text, position: 0, current, end_of_last: 0, line: 1, reached: 1, lags: false, good: true };
        tokens.advance();
        tokens.end_of_last = 0;
        tokens
    }

    /// Returns the token at the cursor; at the end of the text, the last token.
    pub fn current(&self) -> QlToken<'a> {
        self.current
    }

    /// Returns the text of the current token.
    pub fn text(&self) -> &'a str {
        self.current.text
    }

    /// Returns whether the end of the text is not reached yet.
    pub fn good(&self) -> bool {
        self.good
    }

    /// Returns the line for messages at this point.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// Returns the end of the token before the current one.
    pub fn end_of_last(&self) -> usize {
        self.end_of_last
    }

    /// Returns the position of a byte in its line, from 1.
    pub fn column(&self, byte: usize) -> u32 {
        let before = self.between(0, byte);
        let line = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
        u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// Returns the text between two bytes.
    pub fn between(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Returns whether the current token is `text`.
    pub fn is(&self, text: &str) -> bool {
        self.good && self.current.text == text
    }

    /// Returns whether the current token is the last one.
    pub fn is_last(&self) -> bool {
        let mut next = self.clone();
        next.advance();
        !next.good
    }

    /// Ends the text at the current token.
    pub fn stop(&mut self) {
        self.position = self.text.len();
        self.good = false;
    }

    /// Advances to the next token.
    pub fn advance(&mut self) {
        budget::checkpoint();
        if !self.good {
            return;
        }
        self.end_of_last = self.position;
        let before = self.reached;
        self.read();
        // The line of a string is the one in which it begins.
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
            // The end of the text counts as a new line, because the reference adds a line break.
            self.reached += 1;
            self.good = false;
            return;
        }
        let start = self.position;
        let (length, unterminated) = token_length(&self.text[start..]);
        self.position = start + length;
        self.current = QlToken { text: &self.text[start..self.position], start, unterminated };
        if self.current.is_string() {
            self.reached += count_lines(self.current.text.as_bytes());
        }
    }
}

fn count_lines(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&b| b == b'\n').count() as u32
}

/// Returns the length in bytes of the token at the start of `rest`, and whether it is an unterminated string. `rest`
/// must not be empty.
pub(crate) fn token_length(rest: &str) -> (usize, bool) {
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

/// Returns the length of a number: `-1`, `1.5`, `1.`, `-.`, `1e5`, `1e-5`. Signs and points are grouped like in the
/// reference.
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

/// Returns a string in quotation marks, with the escapes that the language requires.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<&str> {
        let mut tokens = QlTokens::new(text);
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
        let mut tokens = QlTokens::new("a\n\nb");
        assert_eq!(tokens.line(), 1);
        tokens.advance();
        assert_eq!((tokens.text(), tokens.line()), ("b", 3));
        tokens.advance();
        assert_eq!((tokens.text(), tokens.line(), tokens.good()), ("b", 4, false));
    }

    #[test]
    fn resolves_escapes() {
        let value = |text: &str| QlTokens::new(text).current().value();
        assert_eq!(value(r#""a\qb\n\t\\\"\u00e9\u20ac""#), "aqb\n\t\\\"é€");
        assert_eq!(value(r"'a\'b'"), "a'b");
        assert_eq!(value("\"abc"), "abc");
    }
}
