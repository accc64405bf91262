//! Parses escapes for characters and sets of characters.

use std::sync::LazyLock;

use regex_syntax::hir::ClassUnicode;

use super::error::PatternError;
use super::names;
use super::reader::PatternReader;
use terrapin_budget as budget;

/// The context of an escape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    /// Inside a character class.
    Class,
    /// Outside character classes.
    Atom,
}

/// The meaning of an escape.
#[derive(Debug)]
pub(super) enum Escape {
    /// A single character.
    Char(char),
    /// Any character of a set.
    Class(ClassUnicode),
    /// The literal text of `\Q..\E`.
    Literal(String),
}

/// The name start characters of XML 1.0 (<https://www.w3.org/TR/xml/#NT-NameStartChar>).
const NAME_START: [(char, char); 16] = [
    (':', ':'),
    ('A', 'Z'),
    ('_', '_'),
    ('a', 'z'),
    ('\u{C0}', '\u{D6}'),
    ('\u{D8}', '\u{F6}'),
    ('\u{F8}', '\u{2FF}'),
    ('\u{370}', '\u{37D}'),
    ('\u{37F}', '\u{1FFF}'),
    ('\u{200C}', '\u{200D}'),
    ('\u{2070}', '\u{218F}'),
    ('\u{2C00}', '\u{2FEF}'),
    ('\u{3001}', '\u{D7FF}'),
    ('\u{F900}', '\u{FDCF}'),
    ('\u{FDF0}', '\u{FFFD}'),
    ('\u{10000}', '\u{EFFFF}'),
];

/// The other name characters (<https://www.w3.org/TR/xml/#NT-NameChar>).
const NAME_REST: [(char, char); 5] =
    [('-', '.'), ('0', '9'), ('\u{B7}', '\u{B7}'), ('\u{300}', '\u{36F}'), ('\u{203F}', '\u{2040}')];

/// The characters of XML Schema's `\s`.
const SPACE: [(char, char); 3] = [('\t', '\n'), ('\r', '\r'), (' ', ' ')];

/// The characters of Java's `\h`.
const HORIZONTAL: [(char, char); 9] = [
    ('\t', '\t'),
    (' ', ' '),
    ('\u{A0}', '\u{A0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{180E}', '\u{180E}'),
    ('\u{2000}', '\u{200A}'),
    ('\u{202F}', '\u{202F}'),
    ('\u{205F}', '\u{205F}'),
    ('\u{3000}', '\u{3000}'),
];

/// The characters of Java's `\v`.
const VERTICAL: [(char, char); 3] = [('\n', '\r'), ('\u{85}', '\u{85}'), ('\u{2028}', '\u{2029}')];

/// Returns the set of an escape with a letter, as in XML Schema; for `h` and `v`, as in Java.
fn lettered(letter: char) -> Option<ClassUnicode> {
    /// All characters except punctuation, separators and "other" (P, Z and C). This set and the digits are too large to
    /// be built for every pattern.
    static WORD: LazyLock<ClassUnicode> = LazyLock::new(|| {
        let mut class = ClassUnicode::empty();
        ["P", "Z", "C"].iter().filter_map(|name| names::property(name).ok()).for_each(|part| class.union(&part));
        class.negate();
        class
    });
    static DIGITS: LazyLock<ClassUnicode> =
        LazyLock::new(|| names::property("Nd").unwrap_or_else(|_| ClassUnicode::empty()));
    let mut class = match letter.to_ascii_lowercase() {
        's' => names::ranges(&SPACE),
        'i' => names::ranges(&NAME_START),
        'c' => {
            let mut class = names::ranges(&NAME_START);
            class.union(&names::ranges(&NAME_REST));
            class
        }
        'd' => budget::unwatched(|| &*DIGITS).clone(),
        'w' => budget::unwatched(|| &*WORD).clone(),
        'h' => names::ranges(&HORIZONTAL),
        'v' => names::ranges(&VERTICAL),
        _ => return None,
    };
    if letter.is_ascii_uppercase() {
        class.negate();
    }
    Some(class)
}

impl Escapes {
    /// Parses an escape after its backslash.
    ///
    /// # Errors
    /// Returns an error if no such escape is allowed in this context.
    pub fn read(self, reader: &mut PatternReader) -> Result<Escape, PatternError> {
        let Some(letter) = reader.next() else {
            return Err(PatternError::wrong("a backslash at the end: write \\\\ for the character"));
        };
        if let Some(class) = lettered(letter) {
            return Ok(Escape::Class(class));
        }
        Ok(match letter {
            'n' => Escape::Char('\n'),
            'r' => Escape::Char('\r'),
            't' => Escape::Char('\t'),
            // Escapes of Java.
            'a' => Escape::Char('\x07'),
            'e' => Escape::Char('\x1B'),
            'f' => Escape::Char('\x0C'),
            'p' | 'P' => {
                let name = match reader.next() {
                    Some('{') => reader.until('}'),
                    // Java's short form.
                    Some(category) if self == Escapes::Atom || category.is_ascii_uppercase() => {
                        Some(category.to_string())
                    }
                    _ => None,
                };
                let name = name.ok_or_else(|| PatternError::wrong(format!("\\{letter} needs a name: \\p{{Lu}}")))?;
                let mut class = names::property(&name)?;
                if letter == 'P' {
                    class.negate();
                }
                Escape::Class(class)
            }
            'u' => Escape::Char(hexadecimal(reader, 4)?),
            'x' if reader.eat('{') => {
                let digits = reader.until('}').unwrap_or_default();
                Escape::Char(code_point(&digits)?)
            }
            'x' => Escape::Char(hexadecimal(reader, 2)?),
            'Q' => {
                let mut text = String::new();
                while !reader.eat_all("\\E") {
                    let Some(next) = reader.next() else { break };
                    text.push(next);
                }
                Escape::Literal(text)
            }
            '0'..='9' if self == Escapes::Class => {
                return Err(PatternError::wrong(format!("\\{letter}: a character class has no back references")));
            }
            letter if letter.is_ascii_alphanumeric() => {
                return Err(match letter {
                    'G' | 'N' | 'X' => PatternError::unsupported(format!("\\{letter} is not supported")),
                    _ => PatternError::wrong(format!("unknown escape \\{letter}")),
                });
            }
            // The standard lists the characters that may be escaped. Java allows any character that is not a letter or
            // a digit.
            other => Escape::Char(other),
        })
    }
}

/// Parses a character code of `digits` hexadecimal digits.
fn hexadecimal(reader: &mut PatternReader, digits: usize) -> Result<char, PatternError> {
    let text: String = (0..digits).filter_map(|n| reader.peek(n)).collect();
    if text.len() != digits {
        return Err(PatternError::wrong(format!("a code of {digits} hexadecimal digits is cut off")));
    }
    let found = code_point(&text)?;
    for _ in 0..digits {
        reader.next();
    }
    Ok(found)
}

fn code_point(digits: &str) -> Result<char, PatternError> {
    let is_number = !digits.is_empty() && digits.len() <= 8 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let found = u32::from_str_radix(digits, 16).ok().filter(|_| is_number).and_then(char::from_u32);
    found.ok_or_else(|| PatternError::wrong(format!("'{digits}' is not the hexadecimal code of a character")))
}
