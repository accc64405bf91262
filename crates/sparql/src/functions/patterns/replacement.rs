//! The replacement string of REPLACE (<https://www.w3.org/TR/xpath-functions-31/#func-replace>): `$1` is the text that
//! a group matched, `\$` and `\\` are literal characters.

use super::error::PatternError;

/// A part of a replacement string.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ReplacementPart {
    Text(String),
    Group(usize),
}

/// A parsed replacement string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplacementString {
    parts: Vec<ReplacementPart>,
}

impl ReplacementString {
    /// Creates a replacement that is taken literally.
    pub fn literally(text: &str) -> ReplacementString {
        ReplacementString { parts: vec![ReplacementPart::Text(text.to_owned())] }
    }

    /// Parses a replacement string for a pattern with `groups` groups and these group names.
    ///
    /// # Errors
    /// Returns an error if a `$` names no group, or a backslash precedes a character other than `$` or a backslash
    /// (err:FORX0004).
    pub fn read(text: &str, groups: usize, names: &[(String, usize)]) -> Result<ReplacementString, PatternError> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text.chars().peekable();
        while let Some(next) = rest.next() {
            match next {
                '\\' => match rest.next() {
                    Some(c @ ('\\' | '$')) => plain.push(c),
                    _ => {
                        let message = "in the replacement, a backslash must be followed by $ or a backslash";
                        return Err(PatternError::wrong(message));
                    }
                },
                '$' => {
                    let group = match rest.peek() {
                        Some('{') => {
                            rest.next();
                            let name: String = rest.by_ref().take_while(|&c| c != '}').collect();
                            names.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
                        }
                        Some('0'..='9') => Some(number(&mut rest, groups)),
                        _ => None,
                    };
                    let Some(group) = group else {
                        let message = "in the replacement, $ must be followed by a group number: write \\$ for \
                                       the character";
                        return Err(PatternError::wrong(message));
                    };
                    if !plain.is_empty() {
                        parts.push(ReplacementPart::Text(std::mem::take(&mut plain)));
                    }
                    parts.push(ReplacementPart::Group(group));
                }
                c => plain.push(c),
            }
        }
        if !plain.is_empty() {
            parts.push(ReplacementPart::Text(plain));
        }
        Ok(ReplacementString { parts })
    }

    /// Returns the maximum length in bytes of one replacement if the whole match has `matched` bytes.
    pub fn longest(&self, matched: usize) -> usize {
        let part = |part: &ReplacementPart| match part {
            ReplacementPart::Text(text) => text.len(),
            ReplacementPart::Group(_) => matched,
        };
        self.parts.iter().map(part).fold(0, usize::saturating_add)
    }

    /// Writes the replacement of a match. `group` returns the text of a group.
    pub fn write<'t>(&self, out: &mut String, group: impl Fn(usize) -> Option<&'t str>) {
        for part in &self.parts {
            match part {
                ReplacementPart::Text(text) => out.push_str(text),
                // A group that did not match or does not exist is empty.
                ReplacementPart::Group(number) => out.push_str(group(*number).unwrap_or("")),
            }
        }
    }
}

/// Reads a group number: the longest digit sequence that is the number of a group, at least one digit.
fn number(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, groups: usize) -> usize {
    let mut number = 0_usize;
    let mut first = true;
    while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
        let longer = number.saturating_mul(10).saturating_add(digit as usize);
        if !first && longer > groups {
            break;
        }
        (number, first) = (longer, false);
        rest.next();
    }
    number
}
