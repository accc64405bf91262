//! POSIX extended regular expressions as the C library of GNU reads them, translated to those of `regex`, so that
//! matching takes time linear in the text. A pattern is found anywhere in a text; `.` is any character.

use regex::RegexBuilder;

/// The longest pattern that is translated, in bytes.
const LONGEST: usize = 64 << 10;
/// How large a compiled pattern may get, in bytes.
const LARGEST: usize = 8 << 20;
/// What the C library allows in `{m,n}`.
const MOST_REPEATS: u32 = 32767;
/// How many signs of repetition may follow each other.
const MOST_STACKED: usize = 50;

/// Why a pattern cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Error {
    /// It is not a regular expression.
    Invalid,
    /// It refers back to a group, which has no linear-time match.
    BackReference,
    /// It is too long, or too large when compiled.
    TooLarge,
}

impl Error {
    /// The error for people; the first one in the reference's words.
    pub fn message(self, pattern: &str) -> String {
        match self {
            Error::Invalid => format!("Invalid regular expression: \"{pattern}\""),
            Error::BackReference => format!("Back references are not supported in regular expressions: \"{pattern}\""),
            Error::TooLarge if pattern.len() > 200 => "The regular expression is too large.".to_owned(),
            Error::TooLarge => format!("The regular expression is too large: \"{pattern}\""),
        }
    }

    /// What to do about it.
    pub fn help(self, pattern: &str) -> Option<String> {
        match self {
            Error::Invalid if pattern.starts_with(['*', '+', '?']) => {
                Some(format!("nothing is before \"{}\" that it could repeat; \".*\" is any text", &pattern[..1]))
            }
            Error::Invalid if pattern.contains('[') && !pattern.is_ascii() => {
                Some("a range in [...] must go upwards between ASCII characters".into())
            }
            Error::Invalid => Some("brackets must be closed; a literal sign needs a backslash: \"\\\\(\"".into()),
            Error::BackReference => Some("\\1 to \\9 are not available; write the alternatives out".into()),
            Error::TooLarge => None,
        }
    }
}

/// Translates and compiles a pattern.
pub fn compile(pattern: &str, ignore_case: bool) -> Result<regex::Regex, Error> {
    let translated = translate(pattern, ignore_case)?;
    RegexBuilder::new(&translated)
        .case_insensitive(ignore_case)
        .dot_matches_new_line(true)
        .size_limit(LARGEST)
        .nest_limit(300)
        .build()
        .map_err(|_| Error::TooLarge)
}

/// Whether a pattern compiles; for most patterns this is known without compiling them.
pub(super) fn check(pattern: &str, ignore_case: bool) -> Result<(), Error> {
    let small = pattern.len() <= 1000
        && !["{", "[:", "\\w", "\\W"].iter().any(|large| pattern.contains(large))
        && pattern.bytes().filter(|&b| b == b'(').count() < 100;
    if small { translate(pattern, ignore_case).map(|_| ()) } else { compile(pattern, ignore_case).map(|_| ()) }
}

/// The pattern in the syntax of `regex`.
fn translate(pattern: &str, ignore_case: bool) -> Result<String, Error> {
    if pattern.len() > LONGEST {
        return Err(Error::TooLarge);
    }
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut groups: Vec<usize> = Vec::new();
    let mut closed_groups = 0;
    // Where the thing starts that a sign of repetition would repeat, and how often it is repeated already.
    let mut atom: Option<(usize, usize)> = None;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        let start = out.len();
        match c {
            '\\' => {
                let escaped = chars.next().ok_or(Error::Invalid)?;
                atom = Some((start, 0));
                match escaped {
                    '1'..='9' => {
                        let known = escaped as usize - '0' as usize <= closed_groups;
                        return Err(if known { Error::BackReference } else { Error::Invalid });
                    }
                    'w' => out.push_str(r"[\p{Alphabetic}\p{Nd}_]"),
                    'W' => out.push_str(r"[^\p{Alphabetic}\p{Nd}_]"),
                    's' => out.push_str(r"\s"),
                    'S' => out.push_str(r"\S"),
                    'b' | 'B' | '<' | '>' | '`' | '\'' => {
                        atom = None;
                        out.push_str(match escaped {
                            'b' => r"\b",
                            'B' => r"\B",
                            '<' => r"\b{start}",
                            '>' => r"\b{end}",
                            '`' => r"\A",
                            _ => r"\z",
                        });
                    }
                    other => literal(&mut out, other),
                }
            }
            '^' | '$' => {
                out.push(c);
                atom = None;
            }
            '.' => {
                out.push('.');
                atom = Some((start, 0));
            }
            '[' => {
                super::posix_bracket::translate(&mut chars, ignore_case, &mut out).ok_or(Error::Invalid)?;
                atom = Some((start, 0));
            }
            '(' => {
                groups.push(start);
                out.push_str("(?:");
                atom = None;
            }
            ')' => match groups.pop() {
                Some(start) => {
                    out.push(')');
                    closed_groups += 1;
                    atom = Some((start, 0));
                }
                None => {
                    literal(&mut out, c);
                    atom = Some((start, 0));
                }
            },
            '|' => {
                out.push('|');
                atom = None;
            }
            '*' | '+' | '?' | '{' => {
                let (start, repeated) = atom.ok_or(Error::Invalid)?;
                if repeated >= MOST_STACKED {
                    return Err(Error::TooLarge);
                }
                if repeated > 0 {
                    out.insert_str(start, "(?:");
                    out.push(')');
                }
                if c == '{' {
                    interval(&mut chars, &mut out)?
                } else {
                    out.push(c)
                }
                atom = Some((start, repeated + 1));
            }
            other => {
                literal(&mut out, other);
                atom = Some((start, 0));
            }
        }
    }
    if groups.is_empty() { Ok(out) } else { Err(Error::Invalid) }
}

/// `{m}`, `{m,}`, `{,n}`, `{m,n}` after its opening brace.
fn interval(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, out: &mut String) -> Result<(), Error> {
    let number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
        let mut value = None;
        while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
            chars.next();
            value = Some((value.unwrap_or(0) * 10 + digit).min(MOST_REPEATS + 1));
        }
        value
    };
    let low = number(chars);
    let high = match chars.next() {
        Some('}') => return repeat(low.ok_or(Error::Invalid)?, low, out),
        Some(',') => number(chars),
        _ => return Err(Error::Invalid),
    };
    if chars.next() != Some('}') {
        return Err(Error::Invalid);
    }
    repeat(low.unwrap_or(0), high, out)
}

fn repeat(low: u32, high: Option<u32>, out: &mut String) -> Result<(), Error> {
    if high.is_some_and(|high| high < low) || low.max(high.unwrap_or(0)) > MOST_REPEATS {
        return Err(Error::Invalid);
    }
    match high {
        Some(high) => out.push_str(&format!("{{{low},{high}}}")),
        None => out.push_str(&format!("{{{low},}}")),
    }
    Ok(())
}

/// A character that stands for itself.
pub(super) fn literal(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || !c.is_ascii() {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:x}}}", c as u32));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finds(pattern: &str, text: &str) -> bool {
        compile(pattern, false).unwrap().is_match(text)
    }

    #[test]
    fn matches_like_the_c_library() {
        for (pattern, text) in [
            ("^a.c$", "a\nc"),
            ("a||b", "xyz"),
            ("^()$", ""),
            ("(a|e){2}", "xaex"),
            ("^[[:digit:]]+$", "123"),
            (r"^[\.]$", r"\"),
            (r"\.", "a.b"),
            ("^[]a]$", "]"),
            ("^[a-]$", "-"),
            (r"\bcafe\b", "the cafe here"),
            (r"\<cafe\>", "the cafe here"),
            ("a{,2}b", "aab"),
            ("^a**$", "aaa"),
            ("^(a+)?$", ""),
            ("a)b", "a)b"),
            ("^.{11}$", "Niuē School"),
        ] {
            assert!(finds(pattern, text), "{pattern} in {text}");
        }
        assert!(!finds("^a+?b$", "ab b"));
        assert!(!finds(r"\<afe", "cafe"));
        assert!(compile("CAFÉ", true).unwrap().is_match("café"));
    }

    #[test]
    fn refuses_what_it_must() {
        for pattern in
            ["(", "a(", "[", "[a", "[z-a]", "*a", "a|*", "(*)", "a{", "a{x}", "a{2,1}", "[[:foo:]]", "[א-ת]", "\\"]
        {
            assert_eq!(compile(pattern, false).err(), Some(Error::Invalid), "{pattern}");
        }
        assert_eq!(compile(r"(a)\1", false).err(), Some(Error::BackReference));
        assert_eq!(compile("((((a{1000}){1000}){1000}){1000}){1000}", false).err(), Some(Error::TooLarge));
    }

    #[test]
    fn stays_small_and_fast() {
        let long = "a*".repeat(30_000);
        let _ = compile(&long, false);
        assert!(compile(&"(".repeat(60_000), false).is_err());
        assert!(compile(&("(".repeat(30_000) + &")".repeat(30_000)), false).is_err());
        assert!(compile(&("a".to_owned() + &"*".repeat(60_000)), false).is_err());
    }
}
