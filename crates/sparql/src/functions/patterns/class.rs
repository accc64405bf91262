//! Character class expressions: `[a-z-[aeiou]]`. They are made into sets, so that subtraction, case and negation are
//! those of the standard.

use std::fmt::Write;

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::error::PatternError;
use super::escape::{Escape, Escapes};
use super::reader::Reader;

/// Most classes within each other.
const DEPTH: usize = 50;

/// Adds the other case of every character.
pub(super) fn fold(class: &mut ClassUnicode) {
    // Fails only where the library was built without its tables.
    let _ = class.try_case_fold_simple();
}

/// Writes a set as the engines read it, whatever flags hold around it.
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

/// Reads a class expression, whose `[` was read.
///
/// # Errors
/// It is none.
pub(super) fn class(reader: &mut Reader, ignore_case: bool, depth: usize) -> Result<ClassUnicode, PatternError> {
    if depth >= DEPTH {
        return Err(PatternError::wrong("more than 50 character classes in each other"));
    }
    let negated = reader.eat('^');
    // Case is ignored for characters and ranges alone: \p{Lu} stays what it is.
    let (mut characters, mut named) = (ClassUnicode::empty(), ClassUnicode::empty());
    let mut common: Option<ClassUnicode> = None;
    let mut removed: Option<ClassUnicode> = None;
    let mut empty = true;
    loop {
        let Some(next) = reader.next() else {
            return Err(PatternError::wrong("a character class has no ']' at its end"));
        };
        match next {
            ']' if empty => return Err(PatternError::wrong("a character class is empty: write \\] for the character")),
            ']' => break,
            '[' => named.union(&class(reader, ignore_case, depth + 1)?),
            '-' if reader.peek(0) == Some('[') && !empty => {
                reader.next();
                removed = Some(class(reader, ignore_case, depth + 1)?);
                if !reader.eat(']') {
                    return Err(PatternError::wrong("a subtraction has to be the last part of a character class"));
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

/// The range that begins with a character; mostly that alone.
fn range(reader: &mut Reader, from: char) -> Result<ClassUnicodeRange, PatternError> {
    // A hyphen before ']' or a subtraction is no range.
    let is_range = reader.peek(0) == Some('-') && !matches!(reader.peek(1), None | Some(']' | '['));
    if !is_range {
        return Ok(ClassUnicodeRange::new(from, from));
    }
    reader.next();
    let to = match reader.next() {
        Some('\\') => match Escapes::Class.read(reader)? {
            Escape::Char(to) => to,
            _ => return Err(PatternError::wrong("a range of characters ends with an escape for several")),
        },
        Some(to) => to,
        None => return Err(PatternError::wrong("a character class has no ']' at its end")),
    };
    if to < from {
        return Err(PatternError::wrong(format!("the range '{from}-{to}' is the wrong way round")));
    }
    Ok(ClassUnicodeRange::new(from, to))
}
