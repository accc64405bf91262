//! Translates bracket expressions of POSIX regular expressions: `[a-z]`, `[^[:digit:]]`. Inside brackets, a backslash
//! is a normal character.

use super::literal::literal;

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// An item inside brackets.
enum BracketItem {
    Character(char),
    Class(&'static str),
}

/// Letters and digits, for use inside brackets.
pub(super) const WORD: &str = r"\p{Alphabetic}\p{Nd}";
/// Letters, for use inside brackets.
const LETTER: &str = r"[[\p{Alphabetic}\p{Nd}]--[0-9]]";
/// White space, for use inside brackets.
pub(super) const SPACE: &str = r"[\s--[\x{85}\x{A0}\x{2007}\x{202F}]]";

/// The approximate compiled size of a class with all letters, in bytes.
pub(super) const ALPHABET: usize = 48 << 10;
/// The approximate compiled size of a class of a few ranges, in bytes.
pub(super) const SMALL_CLASS: usize = 2 << 10;
/// The approximate compiled size of each further range, in bytes.
const RANGE: usize = 64;

/// Reads the text after `[`, and writes the class in the syntax of `regex`. Returns its approximate compiled size in
/// bytes; `None` if it is invalid.
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

/// Writes the range from `low` to `high` by code point. Returns its approximate compiled size in bytes; `None` if it is
/// descending.
///
/// If case is ignored, the C library compares upper-case letters: `[A-z]` is `[A-Z]`, and `[Z-a]` is descending.
fn range(low: char, high: char, ignore_case: bool, out: &mut String) -> Option<usize> {
    let (low, high) = if ignore_case { (upper(low), upper(high)) } else { (low, high) };
    if low > high {
        return None;
    }
    // The text is then compared in upper case. Therefore the ASCII lower-case letters within a range are left out.
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
        // The other case of each letter can add a range of its own.
        (false, true) => ALPHABET,
    })
}

/// Returns the upper-case form of a letter, if it is a single character.
fn upper(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) => upper,
        _ => c,
    }
}

/// Returns whether a hyphen follows that is not the last character in the brackets.
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

/// Returns a character class by its name, with the definitions of GNU's C library. Digits of other scripts are letters,
/// titlecase is upper case, and non-breaking spaces are not space. All visible characters except letters and digits are
/// punctuation, including marks, format characters and private-use characters.
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
