//! Checks the text after the script's end. The reference's parser reads it like a declaration. Its error for text that
//! is possible in a declaration differs from that for other text.

use super::tag::NOT_WELL_FORMED;

/// The error for text that is possible in a declaration, but not here.
pub(super) const JUNK: &str = "junk after document element";

/// Returns the error for a text after the end; `None` if it is empty or only the beginning of a string.
pub(super) fn mistake(text: &str) -> Option<&'static str> {
    let first = text.chars().next()?;
    let after = match first {
        '"' | '\'' => {
            let rest = &text[1..];
            rest.find(first).map(|end| &rest[end + 1..])?
        }
        c if is_name_character(c) => text.trim_start_matches(is_name_character),
        '(' | ')' | '[' | ']' | '|' | ',' | '>' | '%' | '<' => return Some(JUNK),
        _ => return Some(NOT_WELL_FORMED),
    };
    let ends = after.chars().next().is_none_or(|c| c.is_ascii_whitespace() || ")|,>[%?*+".contains(c));
    Some(if ends { JUNK } else { NOT_WELL_FORMED })
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() || "_:-.".contains(c)
}
