//! Bracket expressions of POSIX regular expressions: `[a-z]`, `[^[:digit:]]`; a backslash in them is a backslash.

use super::literal::literal;

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// One thing in the brackets.
enum BracketItem {
    Character(char),
    Class(&'static str),
}

/// About what a class with all letters takes when compiled, in bytes.
pub(super) const ALPHABET: usize = 48 << 10;
/// About what a class of a few ranges takes when compiled, in bytes.
pub(super) const SMALL_CLASS: usize = 2 << 10;
/// And each further range.
const RANGE: usize = 64;

/// Reads what follows `[`, and writes the class in the syntax of `regex`; nothing if it is not valid. Gives about what
/// it takes when compiled, in bytes.
pub(super) fn translate(chars: &mut Chars<'_>, ignore_case: bool, out: &mut String) -> Option<usize> {
    let mut size = 10 * RANGE;
    out.push('[');
    if chars.peek() == Some(&'^') {
        chars.next();
        out.push('^');
        size = SMALL_CLASS;
    }
    let mut first = true;
    loop {
        let c = chars.next()?;
        if c == ']' && !first {
            break;
        }
        if c == '-' && !first && chars.peek() != Some(&']') {
            return None;
        }
        first = false;
        match item(c, chars, ignore_case)? {
            BracketItem::Class(class) => {
                out.push_str(class);
                size += if class.contains(r"\p{") { ALPHABET } else { RANGE };
                if starts_range(chars) {
                    return None;
                }
            }
            BracketItem::Character(low) if starts_range(chars) => {
                chars.next();
                let c = chars.next()?;
                let BracketItem::Character(high) = item(c, chars, ignore_case)? else { return None };
                // The reference's collation knows no ranges outside ASCII.
                if low > high || !low.is_ascii() || !high.is_ascii() {
                    return None;
                }
                literal(out, low);
                out.push('-');
                literal(out, high);
                size += 2 * RANGE;
            }
            BracketItem::Character(c) => {
                literal(out, c);
                size += RANGE;
            }
        }
    }
    out.push(']');
    Some(size)
}

/// Whether a hyphen follows that is not the last thing in the brackets.
fn starts_range(chars: &mut Chars<'_>) -> bool {
    let mut ahead = chars.clone();
    ahead.next() == Some('-') && ahead.next() != Some(']')
}

fn item(c: char, chars: &mut Chars<'_>, ignore_case: bool) -> Option<BracketItem> {
    if c != '[' {
        return Some(BracketItem::Character(c));
    }
    let kind = match chars.peek() {
        Some(&kind @ (':' | '.' | '=')) => kind,
        _ => return Some(BracketItem::Character(c)),
    };
    chars.next();
    let mut name = String::new();
    loop {
        let c = chars.next()?;
        if c == kind && chars.peek() == Some(&']') {
            chars.next();
            break;
        }
        name.push(c);
        if name.len() > 16 {
            return None;
        }
    }
    if kind != ':' {
        let mut letters = name.chars();
        return match (letters.next(), letters.next()) {
            (Some(c), None) => Some(BracketItem::Character(c)),
            _ => None,
        };
    }
    Some(BracketItem::Class(match name.as_str() {
        "upper" | "lower" if ignore_case => r"\p{Alphabetic}",
        "alpha" => r"\p{Alphabetic}",
        "alnum" => r"\p{Alphabetic}\p{Nd}",
        "upper" => r"\p{Uppercase}",
        "lower" => r"\p{Lowercase}",
        "digit" => "0-9",
        "xdigit" => "0-9A-Fa-f",
        "space" => r"\s",
        "blank" => r" \t",
        "punct" => r"\p{P}\p{S}",
        "cntrl" => r"\p{Cc}",
        "graph" => r"[\p{L}\p{M}\p{N}\p{P}\p{S}]",
        "print" => r"[\p{L}\p{M}\p{N}\p{P}\p{S} ]",
        _ => return None,
    }))
}
