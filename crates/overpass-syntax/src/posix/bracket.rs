//! Bracket expressions of POSIX regular expressions: `[a-z]`, `[^[:digit:]]`; a backslash in them is a backslash.

use super::literal::literal;

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// One thing in the brackets.
enum BracketItem {
    Character(char),
    Class(&'static str),
}

/// Letters and digits, within brackets.
pub(super) const WORD: &str = r"\p{Alphabetic}\p{Nd}";
/// Letters, within brackets.
const LETTER: &str = r"[[\p{Alphabetic}\p{Nd}]--[0-9]]";
/// White space, within brackets.
pub(super) const SPACE: &str = r"[\s--[\x{85}\x{A0}\x{2007}\x{202F}]]";

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
                size += range(low, high, ignore_case, out)?;
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

/// Writes the range from `low` to `high` by code point, and returns about what it takes when compiled, in bytes; `None`
/// if it goes downwards.
///
/// If the case is ignored, the C library compares upper-case letters: `[A-z]` is `[A-Z]`, and `[Z-a]` goes downwards.
fn range(low: char, high: char, ignore_case: bool, out: &mut String) -> Option<usize> {
    let (low, high) = if ignore_case { (upper(low), upper(high)) } else { (low, high) };
    if low > high {
        return None;
    }
    // No text has small letters then, so that those of ASCII within other signs are left out.
    let around_letters = [(low, high.min('`')), (low.max('{'), high)];
    let whole = [(low, high)];
    let parts: &[(char, char)] = if ignore_case { &around_letters } else { &whole };
    for (low, high) in parts.iter().filter(|(low, high)| low <= high) {
        literal(out, *low);
        out.push('-');
        literal(out, *high);
    }
    Some(match (high.is_ascii(), ignore_case) {
        (true, _) => 2 * RANGE,
        (false, false) => SMALL_CLASS,
        // The other case of each letter can be a range of its own.
        (false, true) => ALPHABET,
    })
}

/// The upper-case letter of a letter, if it is one character.
fn upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) => upper,
        _ => c,
    }
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
    class(&name, ignore_case).map(BracketItem::Class)
}

/// A class of characters by its name, as GNU's C library has it: digits of other scripts are letters, titlecase is upper
/// case, spaces that do not break are no spaces, and what can be seen and is neither a letter nor a digit is punctuation:
/// marks, signs of format and private characters, too.
fn class(name: &str, ignore_case: bool) -> Option<&'static str> {
    Some(match name {
        "alpha" => LETTER,
        "upper" | "lower" if ignore_case => LETTER,
        "alnum" => WORD,
        "upper" => r"\p{Uppercase}\p{Lt}",
        "lower" => r"\p{Lowercase}\x{1C5}\x{1C8}\x{1CB}\x{1F2}",
        "digit" => "0-9",
        "xdigit" => "0-9A-Fa-f",
        "space" => SPACE,
        "blank" => r"\t\x20\x{1680}\x{2000}-\x{2006}\x{2008}-\x{200A}\x{205F}\x{3000}",
        "punct" => r"[[\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\x{A0}\x{2007}\x{202F}]--[\p{Alphabetic}\p{Nd}]]",
        "cntrl" => r"\x{0}-\x{1F}\x{7F}-\x{9F}\x{2028}\x{2029}",
        "graph" => r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\x{A0}\x{2007}\x{202F}",
        "print" => r"\p{L}\p{M}\p{N}\p{P}\p{S}\p{Cf}\p{Co}\p{Zs}",
        _ => return None,
    })
}
