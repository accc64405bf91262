//! Translates patterns to the syntax that both engines read. Classes become ranges and case is written out, so that the
//! result does not depend on any flag of an engine.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::class::{class, fold, write_class};
use super::error::PatternError;
use super::escape::{Escape, Escapes};
use super::reader::PatternReader;

/// Maximum nesting depth of groups; the engines recurse into them.
const DEPTH: usize = 50;

/// A pattern in the syntax of the engines.
#[derive(Debug)]
pub(super) struct TranslatedPattern {
    /// The pattern.
    pub text: String,
    /// Whether the pattern has back references, look-around or similar constructs, which only the backtracking engine
    /// supports.
    pub backtracks: bool,
    /// The number of capturing groups.
    pub groups: usize,
    /// The names of groups with their numbers.
    pub names: Vec<(String, usize)>,
}

/// The flags of XPath except `q`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Flags {
    /// `s`: the dot also matches line ends.
    pub dot_all: bool,
    /// `m`: `^` and `$` match at line boundaries.
    pub multi_line: bool,
    /// `i`: case is ignored.
    pub ignore_case: bool,
}

/// An open group.
struct OpenGroup {
    /// The flags outside the group.
    flags: Flags,
    /// The start of the group in the output.
    start: usize,
    /// The group's number, if it captures.
    number: Option<usize>,
    /// Whether it is look-around, which cannot be repeated directly.
    is_look: bool,
}

struct PatternTranslator {
    reader: PatternReader,
    out: String,
    flags: Flags,
    open: Vec<OpenGroup>,
    /// Whether each capturing group is already closed.
    closed: Vec<bool>,
    names: Vec<(String, usize)>,
    backtracks: bool,
    /// The start of the last repeatable atom in the output, if there is one.
    atom: Option<usize>,
}

/// Translates a pattern.
///
/// # Errors
/// Returns an error if the pattern is invalid or uses an unsupported construct.
pub(super) fn translate(pattern: &str, flags: Flags) -> Result<TranslatedPattern, PatternError> {
    let mut translator = PatternTranslator {
        reader: PatternReader::new(pattern),
        out: String::new(),
        flags,
        open: Vec::new(),
        closed: Vec::new(),
        names: Vec::new(),
        backtracks: false,
        atom: None,
    };
    while let Some(next) = translator.reader.next() {
        translator.part(next)?;
    }
    if !translator.open.is_empty() {
        return Err(PatternError::wrong("a group lacks its closing ')'"));
    }
    let PatternTranslator { out: text, backtracks, closed, names, .. } = translator;
    Ok(TranslatedPattern { text, backtracks, groups: closed.len(), names })
}

/// Translates a pattern that is taken literally.
pub(super) fn literally(pattern: &str, ignore_case: bool) -> TranslatedPattern {
    let mut text = String::new();
    pattern.chars().for_each(|c| write_char(c, ignore_case, &mut text));
    TranslatedPattern { text, backtracks: false, groups: 0, names: Vec::new() }
}

/// Removes white space outside of classes, as flag `x` requires, also after a backslash.
pub(super) fn without_blanks(pattern: &str) -> String {
    let (mut out, mut depth, mut escaped) = (String::with_capacity(pattern.len()), 0_usize, false);
    for c in pattern.chars() {
        if depth == 0 && matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        out.push(c);
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    out
}

/// Writes a literal character.
fn write_char(c: char, ignore_case: bool, out: &mut String) {
    if ignore_case {
        let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
        fold(&mut class);
        let is_one = class.ranges().len() == 1 && class.ranges().iter().all(|range| range.start() == range.end());
        if !is_one {
            return write_class(&class, out);
        }
    }
    if c.is_alphanumeric() {
        out.push(c);
    } else {
        write_class(&ClassUnicode::new([ClassUnicodeRange::new(c, c)]), out);
    }
}

impl PatternTranslator {
    /// Writes an atom, which can be repeated.
    fn atom(&mut self, write: impl FnOnce(&mut String)) {
        self.atom = Some(self.out.len());
        write(&mut self.out);
    }

    /// Writes an assertion, which matches a position between characters.
    fn assertion(&mut self, text: &str) {
        self.atom(|out| out.push_str(text));
    }

    /// Writes a construct that only the backtracking engine supports.
    fn hard(&mut self, text: &str) {
        self.backtracks = true;
        self.assertion(text);
    }

    fn part(&mut self, next: char) -> Result<(), PatternError> {
        let flags = self.flags;
        match next {
            '\\' => self.escape()?,
            '[' => {
                let class = class(&mut self.reader, flags.ignore_case, 0)?;
                self.atom(|out| write_class(&class, out));
            }
            '(' => self.group()?,
            ')' => self.close()?,
            '|' => {
                self.atom = None;
                self.out.push('|');
            }
            '.' if flags.dot_all => self.atom(|out| out.push_str("[\\x{0}-\\x{10FFFF}]")),
            '.' => self.atom(|out| out.push_str("[^\\x{A}\\x{D}]")),
            // A line ends before "\n". No further line begins after a "\n" at the end of the text.
            '^' if flags.multi_line => self.hard("(?:\\A|(?<=\\n)(?!\\z))"),
            '$' if flags.multi_line => self.hard("(?:(?=\\n)|(?<!\\n)\\z)"),
            '^' => self.assertion("(?:\\A)"),
            '$' => self.assertion("(?:\\z)"),
            '*' | '+' | '?' => self.repeat(&next.to_string())?,
            '{' => {
                let quantity = self.quantity()?;
                self.repeat(&quantity)?;
            }
            c => self.atom(|out| write_char(c, flags.ignore_case, out)),
        }
        Ok(())
    }

    /// Writes a quantifier with its suffix: reluctant (`?`) or, as in Java, possessive (`+`).
    fn repeat(&mut self, quantifier: &str) -> Result<(), PatternError> {
        let Some(start) = self.atom.take() else {
            return Err(PatternError::wrong(format!("'{quantifier}' has no expression before it to repeat")));
        };
        self.out.push_str(quantifier);
        if self.reader.eat('?') {
            self.out.push('?');
        } else if self.reader.eat('+') {
            self.backtracks = true;
            self.out.insert_str(start, "(?>");
            self.out.push(')');
        }
        Ok(())
    }

    /// Parses a quantity after its `{`.
    fn quantity(&mut self) -> Result<String, PatternError> {
        let wrong =
            || PatternError::wrong("'{' must begin a quantity such as {2}, {2,} or {2,5}: write \\{ for the character");
        let text = self.reader.until('}').ok_or_else(wrong)?;
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            if !is_number {
                return Err(wrong());
            }
            digits.parse::<u32>().map_err(|_| PatternError::wrong(format!("the quantity {digits} is too large")))
        };
        match text.split_once(',') {
            None => Ok(format!("{{{}}}", number(&text)?)),
            Some((from, "")) => Ok(format!("{{{},}}", number(from)?)),
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if to < from {
                    return Err(PatternError::wrong(format!("the quantity {{{from},{to}}} is reversed")));
                }
                Ok(format!("{{{from},{to}}}"))
            }
        }
    }

    /// Opens a group after its `(`.
    fn group(&mut self) -> Result<(), PatternError> {
        if self.open.len() >= DEPTH {
            return Err(PatternError::wrong("groups are nested more than 50 levels deep"));
        }
        let (start, around) = (self.out.len(), self.flags);
        let mut group = OpenGroup { flags: around, start, number: None, is_look: false };
        self.atom = None;
        if !self.reader.eat('?') {
            self.capture(&mut group, None)?;
        } else if self.reader.eat(':') {
            self.out.push_str("(?:");
        } else if let Some(kind) = ["=", "!", "<=", "<!", ">"].into_iter().find(|kind| self.reader.eat_all(kind)) {
            self.backtracks = true;
            group.is_look = kind != ">";
            self.out.push_str("(?");
            self.out.push_str(kind);
        } else if self.reader.eat('<') {
            let name = self.reader.until('>').filter(|name| is_name(name));
            let name = name.ok_or_else(|| PatternError::wrong("'(?<' must begin a group name, as in (?<year>...)"))?;
            self.capture(&mut group, Some(name))?;
        } else {
            if !self.inline_flags()? {
                // The flags apply up to the end of the enclosing group.
                return Ok(());
            }
            self.out.push_str("(?:");
        }
        self.open.push(group);
        Ok(())
    }

    fn capture(&mut self, group: &mut OpenGroup, name: Option<String>) -> Result<(), PatternError> {
        self.out.push('(');
        self.closed.push(false);
        group.number = Some(self.closed.len());
        if let Some(name) = name {
            if self.names.iter().any(|(known, _)| *known == name) {
                return Err(PatternError::wrong(format!("two groups have the name {name}")));
            }
            self.names.push((name, self.closed.len()));
        }
        Ok(())
    }

    /// Parses Java's inline flags, such as `i-s` in `(?i-s:`. Returns whether a group follows.
    fn inline_flags(&mut self) -> Result<bool, PatternError> {
        let mut on = true;
        loop {
            match self.reader.next() {
                Some('-') if on => on = false,
                Some('s') => self.flags.dot_all = on,
                Some('m') => self.flags.multi_line = on,
                Some('i') => self.flags.ignore_case = on,
                // Case and classes always follow Unicode.
                Some('u' | 'U') => {}
                Some(flag @ ('x' | 'd')) => {
                    return Err(PatternError::unsupported(format!(
                        "the flag {flag} within a pattern is not supported"
                    )));
                }
                Some(')') => return Ok(false),
                Some(':') => return Ok(true),
                _ => return Err(PatternError::wrong("'(?' must begin a group such as (?:...)")),
            }
        }
    }

    fn close(&mut self) -> Result<(), PatternError> {
        let Some(group) = self.open.pop() else {
            return Err(PatternError::wrong("unmatched ')': write \\) for the character"));
        };
        self.out.push(')');
        self.flags = group.flags;
        if let Some(closed) = group.number.and_then(|number| self.closed.get_mut(number - 1)) {
            *closed = true;
        }
        self.atom = Some(group.start);
        if group.is_look {
            // Look-around is wrapped in a group so that it can be repeated.
            self.out.insert_str(group.start, "(?:");
            self.out.push(')');
        }
        Ok(())
    }

    /// Translates an escape after its backslash.
    fn escape(&mut self) -> Result<(), PatternError> {
        let ignore_case = self.flags.ignore_case;
        match self.reader.peek(0) {
            Some('1'..='9') => return self.back_reference(),
            Some('0') => return Err(PatternError::wrong("\\0 is not a back reference: groups are numbered from 1")),
            Some('k') => {
                self.reader.next();
                let name = if self.reader.eat('<') { self.reader.until('>') } else { None };
                let number = name.and_then(|name| self.names.iter().find(|(known, _)| *known == name));
                let number = number.ok_or_else(|| PatternError::wrong("\\k must name a group before it"))?.1;
                return self.refer(number);
            }
            Some(letter @ ('b' | 'B' | 'A' | 'z' | 'Z' | 'R')) => {
                self.reader.next();
                match letter {
                    'b' => self.assertion("(?:\\b)"),
                    'B' => self.assertion("(?:\\B)"),
                    'A' => self.assertion("(?:\\A)"),
                    'z' => self.assertion("(?:\\z)"),
                    'Z' => self.hard("(?:(?=(?:\\r\\n|[\\x{A}\\x{D}\\x{85}\\x{2028}\\x{2029}])?\\z))"),
                    _ => self.hard("(?>\\r\\n|[\\x{A}-\\x{D}\\x{85}\\x{2028}\\x{2029}])"),
                }
                return Ok(());
            }
            _ => {}
        }
        match Escapes::Atom.read(&mut self.reader)? {
            Escape::Char(c) => self.atom(|out| write_char(c, ignore_case, out)),
            Escape::Class(class) => self.atom(|out| write_class(&class, out)),
            Escape::Literal(text) => text.chars().for_each(|c| self.atom(|out| write_char(c, ignore_case, out))),
        }
        Ok(())
    }

    /// Parses a back reference. Further digits belong to it if the pattern has opened that many groups.
    fn back_reference(&mut self) -> Result<(), PatternError> {
        let mut number = 0_usize;
        while let Some(digit) = self.reader.peek(0).and_then(|c| c.to_digit(10)) {
            let longer = number.saturating_mul(10).saturating_add(digit as usize);
            if number > 0 && longer > self.closed.len() {
                break;
            }
            number = longer;
            self.reader.next();
        }
        self.refer(number)
    }

    /// Writes a back reference. A reference to a group that did not match is empty.
    fn refer(&mut self, number: usize) -> Result<(), PatternError> {
        if number.checked_sub(1).and_then(|index| self.closed.get(index)) != Some(&true) {
            return Err(PatternError::wrong(format!("\\{number} refers to no group closed before it")));
        }
        let reference = if self.flags.ignore_case { format!("(?i:\\{number})") } else { format!("\\{number}") };
        self.hard(&format!("(?({number}){reference})"));
        Ok(())
    }
}

/// Returns whether Java accepts this name of a group.
fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(|b| b.is_ascii_alphanumeric())
}
