//! Splits a text into all its pieces, including white space, comments and Overpass Turbo's shortcuts, for programs that
//! change the layout of queries. The parser uses the tokens only.

use crate::token;

/// The kind of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceKind {
    /// White space.
    Space,
    /// `// ...` without the line break.
    LineComment,
    /// `/* ... */`.
    BlockComment,
    /// `{{...}}`.
    Shortcut,
    /// A string with its quotation marks.
    Text,
    /// A word: letters, digits and `_`.
    Word,
    /// A number.
    Number,
    /// A mark of one or two characters.
    Mark,
    /// A string or a comment without an end.
    Unterminated,
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The kind.
    pub kind: PieceKind,
    /// The text.
    pub text: &'a str,
    /// The position of the first byte.
    pub start: usize,
}

impl Piece<'_> {
    /// Returns whether the parser reads this piece.
    pub fn is_token(&self) -> bool {
        !matches!(self.kind, PieceKind::Space | PieceKind::LineComment | PieceKind::BlockComment)
    }
}

/// Returns the pieces of a text. Joined, they are the text.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::with_capacity(text.len() / 3);
    let mut start = 0;
    while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
        let (kind, length) = first(rest);
        let end = start + length;
        pieces.push(Piece { kind, text: text.get(start..end).unwrap_or(rest), start });
        start = end;
    }
    pieces
}

/// The maximum length of a shortcut in a string, in bytes.
const MAX_PLACE: usize = 1024;

fn first(rest: &str) -> (PieceKind, usize) {
    let space = rest.bytes().take_while(|b| matches!(b, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)).count();
    if space > 0 {
        return (PieceKind::Space, space);
    }
    if rest.starts_with("//") {
        return (PieceKind::LineComment, rest.find('\n').unwrap_or(rest.len()));
    }
    if let Some(inside) = rest.strip_prefix("/*") {
        return match inside.find("*/") {
            Some(length) => (PieceKind::BlockComment, length + 4),
            None => (PieceKind::Unterminated, rest.len()),
        };
    }
    if let Some(length) = shortcut(rest.as_bytes()) {
        return (PieceKind::Shortcut, length);
    }
    if let Some(length) = text_around_quote(rest) {
        return (PieceKind::Text, length);
    }
    let (length, unterminated) = token::token_length(rest);
    let kind = match rest.as_bytes().first() {
        _ if unterminated => PieceKind::Unterminated,
        Some(b'"' | b'\'') => PieceKind::Text,
        Some(b) if b.is_ascii_alphabetic() || *b == b'_' => PieceKind::Word,
        Some(b) if b.is_ascii_digit() => PieceKind::Number,
        Some(b'-') if length > 1 && !rest.starts_with("->") => PieceKind::Number,
        _ => PieceKind::Mark,
    };
    (kind, length)
}

/// Returns the length of the string at the start of a text if it has a shortcut of a place that contains the string's
/// quotation mark: `'{{geocodeArea:a'}}'`. The shortcut is replaced before strings are read.
fn text_around_quote(text: &str) -> Option<usize> {
    const PLACES: [&[u8]; 5] = [b"geocodeArea:", b"nominatimArea:", b"geocodeId:", b"geocodeBbox:", b"geocodeCoords:"];
    let bytes = text.as_bytes();
    let quote = *bytes.first().filter(|first| matches!(first, b'"' | b'\''))?;
    let (mut at, mut is_inside) = (1, false);
    loop {
        let rest = bytes.get(at..)?;
        match rest.first()? {
            b'\\' => at += 2,
            byte if *byte == quote => return is_inside.then_some(at + 1),
            b'{' if rest.starts_with(b"{{") => {
                // Names are short; the limit keeps the time linear.
                let near = rest.get(..MAX_PLACE).unwrap_or(rest);
                let length = shortcut(near)?;
                let inner = near.get(2..length - 2)?.trim_ascii_start();
                if !PLACES.iter().any(|place| inner.starts_with(place)) {
                    return None;
                }
                is_inside |= inner.contains(&quote);
                at += length;
            }
            _ => at += 1,
        }
    }
}

/// Returns the length of the shortcut at the start of a text.
fn shortcut(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    if !bytes.starts_with(b"{{") {
        return None;
    }
    while let Some(pair) = bytes.get(at..at + 2) {
        match pair {
            b"{{" => depth += 1,
            b"}}" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortcuts_in_strings_may_contain_the_quotation_mark() {
        let texts = |text: &'static str| pieces(text).iter().map(|piece| piece.text).collect::<Vec<_>>();
        assert_eq!(texts("'{{geocodeArea:a'}}' ;"), ["'{{geocodeArea:a'}}'", " ", ";"]);
        // Other braces are plain text.
        assert_eq!(texts("'{{x'}}"), ["'{{x'", "}", "}"]);
        assert_eq!(texts("'{{geocodeArea:a'"), ["'{{geocodeArea:a'"]);
    }

    #[test]
    fn a_text_is_the_sum_of_its_pieces() {
        let text = "{{a={{b}}}}node[\"k\"~'v'] (-1.5,{{bbox}})->.a; // x\n/* y\n*/ - .b é\"";
        let pieces = pieces(text);
        assert_eq!(pieces.iter().map(|piece| piece.text).collect::<String>(), text);
        let of = |kind| pieces.iter().filter(|piece| piece.kind == kind).map(|piece| piece.text).collect::<Vec<_>>();
        assert_eq!(of(PieceKind::Shortcut), ["{{a={{b}}}}", "{{bbox}}"]);
        assert_eq!(of(PieceKind::Number), ["-1.5"]);
        assert_eq!(of(PieceKind::Text), ["\"k\"", "'v'"]);
        assert_eq!(of(PieceKind::LineComment), ["// x"]);
        assert_eq!(of(PieceKind::BlockComment), ["/* y\n*/"]);
        assert_eq!(of(PieceKind::Unterminated), ["\""]);
    }
}
