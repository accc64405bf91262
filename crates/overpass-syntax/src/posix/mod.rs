//! Translates POSIX extended regular expressions, as GNU's C library interprets them, to the syntax of `regex`.
//! Therefore matching takes time linear in the text. A pattern can match anywhere in a text, and `.` is any character.
//! Ranges are in order of code points, as in the locales of the public servers. The library's locale `C.UTF-8` rejects
//! ranges beyond ASCII.

mod bracket;
mod literal;

use literal::literal;
use regex::RegexBuilder;

/// The maximum length of a pattern, in bytes.
const LONGEST: usize = 64 << 10;
/// The maximum size of a compiled pattern, in bytes.
const LARGEST: usize = 8 << 20;
/// The maximum depth of nested groups, alternatives and repetitions.
const DEEPEST: usize = 250;
/// The maximum of `{m,n}` in the C library.
const MOST_REPEATS: u32 = 32767;
/// The maximum number of consecutive repetition operators.
const MOST_STACKED: usize = 50;

/// The reason why a pattern cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PosixRegexError {
    /// It is not a regular expression.
    Invalid,
    /// It refers back to a group, which has no linear-time match.
    BackReference,
    /// It is too long, or too large when compiled.
    TooLarge,
}

impl PosixRegexError {
    /// Returns the error message for users. That of [`PosixRegexError::Invalid`] is the reference's.
    pub fn message(self, pattern: &str) -> String {
        match self {
            PosixRegexError::Invalid => format!("Invalid regular expression: \"{pattern}\""),
            PosixRegexError::BackReference => {
                format!("Back references are not supported in regular expressions: \"{pattern}\"")
            }
            PosixRegexError::TooLarge if pattern.len() > 200 => "The regular expression is too large.".to_owned(),
            PosixRegexError::TooLarge => format!("The regular expression is too large: \"{pattern}\""),
        }
    }

    /// Returns a suggested action.
    pub fn help(self, pattern: &str) -> Option<String> {
        match self {
            PosixRegexError::Invalid if pattern.starts_with(['*', '+', '?']) => {
                Some(format!("nothing is before \"{}\" that it could repeat; \".*\" is any text", &pattern[..1]))
            }
            PosixRegexError::Invalid if pattern.ends_with('\\') => Some("nothing is after the last backslash".into()),
            PosixRegexError::Invalid => match (wrong_interval(pattern), downward_range(pattern)) {
                (Some(interval), _) => Some(format!(
                    "\"{interval}\" is no number of repetitions: two numbers up to {MOST_REPEATS}, the smaller one first; a literal brace needs a backslash: \"\\\\{{\""
                )),
                (None, Some(range)) => Some(format!(
                    "the range \"{range}\" goes downwards: the character with the lower code point comes first"
                )),
                (None, None) => Some("brackets must be closed; a literal sign needs a backslash: \"\\\\(\"".into()),
            },
            PosixRegexError::BackReference => Some("\\1 to \\9 are not available; write the alternatives out".into()),
            PosixRegexError::TooLarge => None,
        }
    }
}

/// Translates and compiles a pattern.
pub fn compile(pattern: &str, ignore_case: bool) -> Result<regex::Regex, PosixRegexError> {
    let translated = translate(pattern, ignore_case)?;
    RegexBuilder::new(&translated.text)
        .case_insensitive(ignore_case)
        .dot_matches_new_line(true)
        // The estimated size was already checked. This limit is higher than any accepted estimate.
        .size_limit(4 * LARGEST)
        .nest_limit(2 * DEEPEST as u32)
        .build()
        .map_err(|_| PosixRegexError::TooLarge)
}

/// Checks a pattern and returns its approximate compiled size in bytes. Does not compile it, because compiling is slow.
pub(super) fn check(pattern: &str, ignore_case: bool) -> Result<usize, PosixRegexError> {
    translate(pattern, ignore_case).map(|translated| translated.size)
}

/// A pattern in the syntax of `regex`.
struct TranslatedRegex {
    text: String,
    /// The compiled size in bytes, rather over- than underestimated.
    size: usize,
}

/// The size of a state in bytes.
const STATE: usize = 48;

fn translate(pattern: &str, ignore_case: bool) -> Result<TranslatedRegex, PosixRegexError> {
    if pattern.len() > LONGEST {
        return Err(PosixRegexError::TooLarge);
    }
    let mut translator = RegexTranslator::new(pattern, ignore_case);
    while let Some(c) = translator.chars.next() {
        translator.character(c)?;
    }
    let RegexTranslator { out, outer, group, .. } = translator;
    if !outer.is_empty() {
        return Err(PosixRegexError::Invalid);
    }
    if group.size > LARGEST {
        return Err(PosixRegexError::TooLarge);
    }
    Ok(TranslatedRegex { text: out, size: group.size })
}

/// A piece that a repetition operator can repeat.
#[derive(Clone, Copy)]
struct Atom {
    /// Its start in the output.
    start: usize,
    /// Its compiled size in bytes.
    size: usize,
    /// Its nesting depth.
    depth: usize,
    /// The number of repetition operators already applied to it.
    repeated: usize,
}

/// A group in round brackets, or the whole pattern.
#[derive(Clone, Copy, Default)]
struct RegexGroup {
    start: usize,
    size: usize,
    depth: usize,
}

impl RegexGroup {
    fn add(&mut self, atom: Atom) {
        self.size = self.size.saturating_add(atom.size);
        self.depth = self.depth.max(atom.depth);
    }

    /// Removes the size of the last piece added.
    fn take(&mut self, atom: Atom) {
        self.size = self.size.saturating_sub(atom.size);
    }
}

type Chars<'p> = std::iter::Peekable<std::str::Chars<'p>>;

/// A translator that writes a pattern piece by piece, and adds up the compiled sizes.
struct RegexTranslator<'p> {
    chars: Chars<'p>,
    ignore_case: bool,
    out: String,
    /// The groups around the current one.
    outer: Vec<RegexGroup>,
    group: RegexGroup,
    closed_groups: usize,
    /// The piece that a repetition operator would repeat at this point.
    atom: Option<Atom>,
}

impl<'p> RegexTranslator<'p> {
    fn new(pattern: &'p str, ignore_case: bool) -> Self {
        RegexTranslator {
            chars: pattern.chars().peekable(),
            ignore_case,
            out: String::with_capacity(pattern.len() + 16),
            outer: Vec::new(),
            group: RegexGroup::default(),
            closed_groups: 0,
            atom: None,
        }
    }

    fn character(&mut self, c: char) -> Result<(), PosixRegexError> {
        let start = self.out.len();
        match c {
            '\\' => return self.escape(),
            '(' => return self.open(),
            ')' if !self.outer.is_empty() => return self.close(),
            '*' | '+' | '?' | '{' => return self.repeat(c),
            '^' | '$' => {
                self.out.push(c);
                self.assertion(start);
            }
            '|' => {
                self.out.push('|');
                self.group.size = self.group.size.saturating_add(2 * STATE);
                self.atom = None;
            }
            '.' => {
                self.out.push('.');
                self.piece(start, bracket::SMALL_CLASS, 1);
            }
            '[' => {
                let class = bracket::translate(&mut self.chars, self.ignore_case, &mut self.out);
                self.piece(start, class.ok_or(PosixRegexError::Invalid)?, 3);
            }
            // A closing bracket without an opening one is a literal.
            ')' => {
                literal(&mut self.out, c);
                self.piece(start, STATE, 1);
            }
            other => {
                literal(&mut self.out, other);
                self.piece(start, self.size_of_literal(other), 1);
            }
        }
        Ok(())
    }

    /// Records that the output from `start` on is a piece that can be repeated.
    fn piece(&mut self, start: usize, size: usize, depth: usize) {
        let atom = Atom { start, size, depth, repeated: 0 };
        self.group.add(atom);
        self.atom = Some(atom);
    }

    /// Records that the output from `start` on is an assertion, which has no width and cannot be repeated.
    fn assertion(&mut self, start: usize) {
        self.group.add(Atom { start, size: STATE, depth: 1, repeated: 0 });
        self.atom = None;
    }

    /// Translates the character after a backslash.
    fn escape(&mut self) -> Result<(), PosixRegexError> {
        let start = self.out.len();
        let escaped = self.chars.next().ok_or(PosixRegexError::Invalid)?;
        let assertion = match escaped {
            'b' => r"\b",
            'B' => r"\B",
            '<' => r"\b{start}",
            '>' => r"\b{end}",
            '`' => r"\A",
            '\'' => r"\z",
            _ => "",
        };
        if !assertion.is_empty() {
            self.out.push_str(assertion);
            self.assertion(start);
            return Ok(());
        }
        let size = match escaped {
            '1'..='9' => {
                let known = escaped as usize - '0' as usize <= self.closed_groups;
                return Err(if known { PosixRegexError::BackReference } else { PosixRegexError::Invalid });
            }
            'w' | 'W' => bracket::ALPHABET,
            's' | 'S' => bracket::SMALL_CLASS,
            other => self.size_of_literal(other),
        };
        match escaped {
            'w' => self.out.extend(["[", bracket::WORD, "_]"]),
            'W' => self.out.extend(["[^", bracket::WORD, "_]"]),
            's' => self.out.push_str(bracket::SPACE),
            'S' => self.out.extend(["[^", bracket::SPACE, "]"]),
            other => literal(&mut self.out, other),
        }
        self.piece(start, size, 2);
        Ok(())
    }

    fn open(&mut self) -> Result<(), PosixRegexError> {
        let inner = RegexGroup { start: self.out.len(), ..RegexGroup::default() };
        self.outer.push(std::mem::replace(&mut self.group, inner));
        self.out.push_str("(?:");
        self.atom = None;
        if self.outer.len() > DEEPEST { Err(PosixRegexError::TooLarge) } else { Ok(()) }
    }

    fn close(&mut self) -> Result<(), PosixRegexError> {
        let inner = std::mem::replace(&mut self.group, self.outer.pop().unwrap_or_default());
        self.out.push(')');
        self.closed_groups += 1;
        // Three levels: the group, its alternatives, and their sequences.
        self.piece(inner.start, inner.size.saturating_add(4 * STATE), inner.depth + 3);
        if inner.depth + 3 > DEEPEST { Err(PosixRegexError::TooLarge) } else { Ok(()) }
    }

    /// Applies `*`, `+`, `?` or `{...}` to the piece before it.
    fn repeat(&mut self, sign: char) -> Result<(), PosixRegexError> {
        let mut atom = self.atom.ok_or(PosixRegexError::Invalid)?;
        if atom.repeated >= MOST_STACKED {
            return Err(PosixRegexError::TooLarge);
        }
        self.group.take(atom);
        if atom.repeated > 0 {
            self.out.insert_str(atom.start, "(?:");
            self.out.push(')');
            atom.depth += 1;
        }
        let times = if sign == '{' {
            interval(&mut self.chars, &mut self.out)?
        } else {
            self.out.push(sign);
            1
        };
        atom.repeated += 1;
        atom.depth += 2;
        atom.size = atom.size.saturating_add(2 * STATE).saturating_mul(times.max(1));
        self.group.add(atom);
        self.atom = Some(atom);
        if atom.depth > DEEPEST { Err(PosixRegexError::TooLarge) } else { Ok(()) }
    }

    /// Returns the compiled size of a literal character.
    fn size_of_literal(&self, c: char) -> usize {
        // The other case can have another length, and there can be three cases.
        if self.ignore_case && !c.is_ascii_digit() { 12 * STATE } else { c.len_utf8() * STATE }
    }
}

/// Translates `{m}`, `{m,}`, `{,n}`, `{m,n}` after the opening brace. Returns how many copies of the repeated piece the
/// compiled pattern contains.
fn interval(chars: &mut Chars<'_>, out: &mut String) -> Result<usize, PosixRegexError> {
    let number = |chars: &mut Chars<'_>| {
        let mut value = None;
        while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
            chars.next();
            value = Some((value.unwrap_or(0) * 10 + digit).min(MOST_REPEATS + 1));
        }
        value
    };
    let low = number(chars);
    let (low, high) = match chars.next() {
        Some('}') => (low.ok_or(PosixRegexError::Invalid)?, low),
        Some(',') => {
            let high = number(chars);
            if chars.next() != Some('}') {
                return Err(PosixRegexError::Invalid);
            }
            (low.unwrap_or(0), high)
        }
        _ => return Err(PosixRegexError::Invalid),
    };
    if high.is_some_and(|high| high < low) || low.max(high.unwrap_or(0)) > MOST_REPEATS {
        return Err(PosixRegexError::Invalid);
    }
    match high {
        Some(high) => out.push_str(&format!("{{{low},{high}}}")),
        None => out.push_str(&format!("{{{low},}}")),
    }
    Ok(high.unwrap_or(low + 1) as usize)
}

/// Returns the first closed `{...}` in a pattern that is not a valid number of repetitions.
fn wrong_interval(pattern: &str) -> Option<&str> {
    let mut from = 0;
    while let Some(start) = pattern.get(from..)?.find('{').map(|at| from + at) {
        from = start + 1;
        let end = start + pattern.get(start..)?.find('}')?;
        let escaped = pattern.get(..start)?.ends_with('\\');
        let mut chars = pattern.get(start + 1..=end)?.chars().peekable();
        if !escaped && end - start < 40 && interval(&mut chars, &mut String::new()).is_err() {
            return pattern.get(start..=end);
        }
    }
    None
}

/// Returns the first range `b-a` in brackets with its ends in the wrong order.
fn downward_range(pattern: &str) -> Option<&str> {
    let inside = pattern.get(pattern.find('[')? + 1..)?;
    let characters: Vec<(usize, char)> = inside.char_indices().take(200).collect();
    let downwards = characters.windows(3).find(|window| window[1].1 == '-' && window[0].1 > window[2].1)?;
    inside.get(downwards[0].0..downwards[2].0 + downwards[2].1.len_utf8())
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

    /// ASCII ranges are as in `regcomp` of GNU's C library. Beyond ASCII, they are as in its locales that sort by code
    /// point.
    #[test]
    fn ranges_go_by_code_point() {
        for (pattern, text, found) in [
            ("[А-Я]", "Ж", true),
            ("[А-Я]", "ж", false),
            ("[א-ת]", "נחל", true),
            ("^[^㐀-鿕]", "北京", false),
            ("^[^㐀-鿕]", "Beijing", true),
            ("^[a-zа-яё].*", "ёлка", true),
            ("[\u{400}-\u{4ff}]", "Ѣ", true),
            ("[a-я]", "é", true),
            ("[\u{1f600}-\u{1f64f}]", "\u{1f601}", true),
            ("[[.а.]-я]", "б", true),
            ("[A-z]", "_", true),
        ] {
            assert_eq!(finds(pattern, text), found, "{pattern} in {text}");
        }
        let finds = |pattern: &str, text: &str| compile(pattern, true).map(|regex| regex.is_match(text)).ok();
        for (pattern, text, found) in [
            ("[А-Я]", "ж", Some(true)),
            ("[а-я]", "Ж", Some(true)),
            ("[A-z]", "_", Some(false)),
            ("[X-z]", "a", Some(false)),
            ("[X-z]", "y", Some(true)),
            ("[a-~]", "B", Some(true)),
            ("[a-~]", "_", Some(true)),
            ("[^-a]", "b", Some(true)),
            ("[{-~]", "b", Some(false)),
            ("[Z-a]", "z", None),
            ("[_-z]", "z", None),
        ] {
            assert_eq!(finds(pattern, text), found, "{pattern} in {text}");
        }
    }

    /// The classification of various characters by the C library's `iswctype`.
    #[test]
    fn classes_are_those_of_the_c_library() {
        let classes = [
            "alpha", "upper", "lower", "digit", "xdigit", "alnum", "space", "blank", "punct", "cntrl", "graph", "print",
        ];
        for (c, its) in [
            ('a', "alpha lower xdigit alnum graph print"),
            ('7', "digit xdigit alnum graph print"),
            ('!', "punct graph print"),
            (' ', "space blank print"),
            ('\t', "space blank cntrl"),
            ('\u{85}', "cntrl"),
            ('\u{a0}', "punct graph print"),
            ('\u{ad}', "punct graph print"),
            ('²', "punct graph print"),
            ('ǅ', "alpha upper lower alnum graph print"),
            ('ᾈ', "alpha upper alnum graph print"),
            ('\u{301}', "punct graph print"),
            ('\u{94d}', "punct graph print"),
            ('\u{e47}', "punct graph print"),
            ('\u{93f}', "alpha alnum graph print"),
            ('٣', "alpha alnum graph print"),
            ('北', "alpha alnum graph print"),
            ('Ⓐ', "alpha upper alnum graph print"),
            ('\u{1680}', "space blank print"),
            ('\u{2007}', "punct graph print"),
            ('\u{2028}', "space cntrl"),
            ('\u{200b}', "punct graph print"),
            ('\u{200d}', "punct graph print"),
            ('\u{3000}', "space blank print"),
            ('\u{e000}', "punct graph print"),
            ('\u{378}', ""),
        ] {
            let found = classes.into_iter().filter(|class| finds(&format!("^[[:{class}:]]$"), &c.to_string()));
            assert_eq!(found.collect::<Vec<_>>().join(" "), its, "{c:?}");
            assert_eq!(finds(r"^\w$", &c.to_string()), its.contains("alnum"), "{c:?}");
            assert_eq!(finds(r"^\S$", &c.to_string()), !its.contains("space"), "{c:?}");
        }
    }

    #[test]
    fn refuses_what_it_must() {
        for pattern in
            ["(", "a(", "[", "[a", "[z-a]", "*a", "a|*", "(*)", "a{", "a{x}", "a{2,1}", "[[:foo:]]", "[ת-א]", "\\"]
        {
            assert_eq!(compile(pattern, false).err(), Some(PosixRegexError::Invalid), "{pattern}");
        }
        assert_eq!(compile(r"(a)\1", false).err(), Some(PosixRegexError::BackReference));
        assert_eq!(compile("((((a{1000}){1000}){1000}){1000}){1000}", false).err(), Some(PosixRegexError::TooLarge));
    }

    #[test]
    fn what_passes_the_check_compiles() {
        for pattern in [
            "\\W{120}",
            "[^[:alpha:]]{100}",
            "[[:upper:][:lower:]]{70}",
            "[[:graph:]]{140}",
            ".{3000}",
            "(k|é|s){3000}",
            "((a?){9}){900}",
            "[^a]{3000}",
            "[a-z]{7000}",
            "[А-Я]{150}",
            "[\u{80}-\u{10ffff}]{150}",
        ] {
            assert!(check(pattern, true).is_ok(), "{pattern} is small enough");
            assert!(compile(pattern, true).is_ok(), "{pattern} compiles");
            let nested = format!("{}{pattern}{}", "(x|".repeat(40), ")+".repeat(40));
            assert_eq!(check(&nested, false).is_ok(), compile(&nested, false).is_ok(), "{nested}");
        }
        assert!(check(&"[a-z]".repeat(9000), true).is_ok(), "a long one is not a large one");
        assert!(check("[[:alpha:]]{3}(a|b){20}\\w+", true).is_ok());
    }

    #[test]
    fn says_what_is_wrong() {
        let help = |pattern: &str| compile(pattern, false).unwrap_err().help(pattern).unwrap();
        assert!(help("b{1,99999}").contains("\"{1,99999}\" is no number of repetitions"));
        assert!(help("a{2}b{3,1}").contains("{3,1}"));
        assert!(help("[aя-а]").contains("\"я-а\" goes downwards"));
        assert!(help("(a").contains("brackets must be closed"));
        assert!(help("a\\").contains("last backslash"));
    }

    #[test]
    fn stays_small_and_fast() {
        assert!(check("((((a{1000}){1000}){1000}){1000}){1000}", false).is_err());
        let long = "a*".repeat(30_000);
        let _ = compile(&long, false);
        assert!(compile(&"(".repeat(60_000), false).is_err());
        assert!(compile(&("(".repeat(30_000) + &")".repeat(30_000)), false).is_err());
        assert!(compile(&("a".to_owned() + &"*".repeat(60_000)), false).is_err());
    }
}
