//! Parses character class expressions such as `[a-z-[aeiou]]`. They are converted to sets, so that subtraction, case
//! and negation follow the standard.

use std::fmt::Write;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::error::PatternError;
use super::escape::{Escape, Escapes};
use super::reader::PatternReader;

/// Maximum nesting depth of classes.
const DEPTH: usize = 50;

/// Adds the other case of every character.
pub(super) fn fold(class: &mut ClassUnicode) {
    // Fails only if the library was built without its Unicode tables.
    let _ = class.try_case_fold_simple();
}

/// Writes a set in the syntax of the engines, independent of any flags.
pub(super) fn write_class(class: &ClassUnicode, out: &mut String) {
    if class.ranges().is_empty() {
        out.push_str("[^\\x{0}-\\x{10FFFF}]");
        return;
    }
    out.push('[');
    for range in class.ranges() {
        let (from, to) = (u32::from(range.start()), u32::from(range.end()));
        let _ = if from == to { write!(out, "\\x{{{from:X}}}") } else { write!(out, "\\x{{{from:X}}}-\\x{{{to:X}}}") };
    }
    out.push(']');
}

/// Parses a class expression after its `[`.
///
/// # Errors
/// Returns an error if it is not a class expression.
pub(super) fn class(reader: &mut PatternReader, ignore_case: bool, depth: usize) -> Result<ClassUnicode, PatternError> {
    if depth >= DEPTH {
        return Err(PatternError::wrong("character classes are nested more than 50 levels deep"));
    }
    let negated = reader.eat('^');
    // Case is ignored only for characters and ranges; \p{Lu} is unaffected.
    let (mut characters, mut named) = (ClassUnicode::empty(), ClassUnicode::empty());
    let mut common: Option<ClassUnicode> = None;
    let mut removed: Option<ClassUnicode> = None;
    let mut empty = true;
    loop {
        let Some(next) = reader.next() else {
            return Err(PatternError::wrong("a character class lacks its closing ']'"));
        };
        match next {
            ']' if empty => return Err(PatternError::wrong("a character class is empty: write \\] for the character")),
            ']' => break,
            '[' => named.union(&class(reader, ignore_case, depth + 1)?),
            '-' if reader.peek(0) == Some('[') && !empty => {
                reader.next();
                removed = Some(class(reader, ignore_case, depth + 1)?);
                if !reader.eat(']') {
                    return Err(PatternError::wrong("a subtraction must be the last part of a character class"));
                }
                break;
            }
            '&' if reader.peek(0) == Some('&') && reader.peek(1) == Some('[') => {
                reader.eat_all("&[");
                let mut both = class(reader, ignore_case, depth + 1)?;
                if let Some(common) = &common {
                    both.intersect(common);
                }
                common = Some(both);
            }
            '\\' => match Escapes::Class.read(reader)? {
                Escape::Char(from) => characters.push(range(reader, from)?),
                Escape::Class(class) => named.union(&class),
                Escape::Literal(text) => text.chars().for_each(|c| characters.push(ClassUnicodeRange::new(c, c))),
            },
            from => characters.push(range(reader, from)?),
        }
        empty = false;
    }
    if ignore_case {
        fold(&mut characters);
    }
    characters.union(&named);
    if let Some(common) = common {
        characters.intersect(&common);
    }
    if negated {
        characters.negate();
    }
    if let Some(removed) = removed {
        characters.difference(&removed);
    }
    Ok(characters)
}

/// Returns the range that begins with a character, usually that character alone.
fn range(reader: &mut PatternReader, from: char) -> Result<ClassUnicodeRange, PatternError> {
    // A hyphen before ']' or a subtraction does not form a range.
    let is_range = reader.peek(0) == Some('-') && !matches!(reader.peek(1), None | Some(']' | '['));
    if !is_range {
        return Ok(ClassUnicodeRange::new(from, from));
    }
    reader.next();
    let to = match reader.next() {
        Some('\\') => match Escapes::Class.read(reader)? {
            Escape::Char(to) => to,
            _ => return Err(PatternError::wrong("the end of a character range is an escape for several characters")),
        },
        Some(to) => to,
        None => return Err(PatternError::wrong("a character class lacks its closing ']'")),
    };
    if to < from {
        return Err(PatternError::wrong(format!("the range '{from}-{to}' is reversed")));
    }
    Ok(ClassUnicodeRange::new(from, to))
}
