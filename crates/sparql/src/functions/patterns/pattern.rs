//! Compiles patterns and matches them within the query's limits.

use std::fmt;

use super::error::PatternError;
use super::replacement::ReplacementString;
use super::translate::{Flags, TranslatedPattern, literally, translate, without_blanks};
use terrapin_budget as budget;

/// Maximum size of a compiled pattern in bytes.
const SIZE: usize = 4 << 20;
/// Maximum number of backtracking steps on one text, and on a text longer than [`SHORT`]. Between two steps the engine
/// may scan the whole text and cannot be interrupted. The limits keep the total to some seconds.
const MOST_STEPS: usize = 1_000_000;
const MOST_STEPS_LONG: usize = 100_000;
/// Maximum length of a short text in bytes.
const SHORT: usize = 2 << 10;
/// Maximum length in bytes of a text for the backtracking engine, which takes several steps for each character.
const LONGEST: usize = 16 << 10;

/// The limit that matching a pattern exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepLimit {
    /// Matching takes more than this number of steps.
    Steps(usize),
    /// The text is longer than [`LONGEST`], and the pattern needs the backtracking engine.
    Length,
}

impl fmt::Display for StepLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StepLimit::Steps(steps) => write!(f, "it takes more than {steps} steps on one text"),
            StepLimit::Length => {
                write!(f, "it has back references or look-around, and a text is longer than {} KiB", LONGEST >> 10)
            }
        }
    }
}

#[derive(Debug)]
enum RegexEngine {
    /// An engine with linear running time in the length of the text.
    Linear(regex::Regex),
    /// The backtracking engine: one with the limit for texts up to [`SHORT`], one for longer texts.
    Backtracking(Box<[fancy_regex::Regex; 2]>),
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct CompiledPattern {
    engine: RegexEngine,
    groups: usize,
    names: Vec<(String, usize)>,
    /// Whether replacement strings are taken literally (flag `q`).
    literal: bool,
    /// Whether the pattern matches the empty text.
    matches_empty: bool,
}

impl CompiledPattern {
    /// Compiles a pattern with XPath's flags.
    ///
    /// # Errors
    /// Returns an error if the pattern or the flags are invalid or unsupported, or the pattern is too large.
    pub fn compile(pattern: &str, flags: &str) -> Result<CompiledPattern, PatternError> {
        let (mut known, mut literal, mut blanks) = (Flags::default(), false, true);
        for flag in flags.chars() {
            match flag {
                's' => known.dot_all = true,
                'm' => known.multi_line = true,
                'i' => known.ignore_case = true,
                'x' => blanks = false,
                'q' => literal = true,
                other => {
                    let message = format!("unknown flag '{other}': use s, m, i, x or q");
                    return Err(PatternError::wrong(message));
                }
            }
        }
        budget::charge(8 * pattern.len() as u64);
        let translated = match (literal, blanks) {
            (true, _) => literally(pattern, known.ignore_case),
            (false, true) => translate(pattern, known)?,
            (false, false) => translate(&without_blanks(pattern), known)?,
        };
        let TranslatedPattern { text, backtracks, groups, names } = translated;
        let engine = if backtracks { backtracking(&text)? } else { linear(&text)? };
        let mut pattern = CompiledPattern { engine, groups, names, literal, matches_empty: false };
        pattern.matches_empty = pattern.matches("").unwrap_or(false);
        Ok(pattern)
    }

    /// Returns whether the pattern matches the empty text; REPLACE is then an error (err:FORX0003).
    pub fn matches_empty(&self) -> bool {
        self.matches_empty
    }

    /// Parses a replacement string for this pattern.
    ///
    /// # Errors
    /// Returns an error if the string is invalid.
    pub fn replacement(&self, text: &str) -> Result<ReplacementString, PatternError> {
        if self.literal {
            Ok(ReplacementString::literally(text))
        } else {
            ReplacementString::read(text, self.groups, &self.names)
        }
    }

    /// Returns whether a part of a text matches.
    ///
    /// # Errors
    /// Returns an error if matching takes too many steps.
    pub fn matches(&self, text: &str) -> Result<bool, StepLimit> {
        budget::checkpoints(1 + text.len() / 16);
        match &self.engine {
            RegexEngine::Linear(regex) => Ok(regex.is_match(text)),
            RegexEngine::Backtracking(regexes) => {
                let (regex, limit) = for_length(regexes, text)?;
                regex.is_match(text).map_err(|_| limit)
            }
        }
    }

    /// Replaces all matches in a text. The bytes of the result are charged as it grows. Returns `None` if the pattern
    /// does not match.
    ///
    /// # Errors
    /// Returns an error if matching takes too many steps.
    pub fn replace(&self, text: &str, replacement: &ReplacementString) -> Result<Option<String>, StepLimit> {
        budget::checkpoints(1 + text.len() / 16);
        let mut replaced = Replaced { text, replacement, out: String::new(), copied: 0, any: false };
        match &self.engine {
            RegexEngine::Linear(regex) => {
                for captures in regex.captures_iter(text) {
                    let whole = captures.get_match();
                    replaced.push(whole.start(), whole.end(), |n| captures.get(n).map(|group| group.as_str()));
                }
            }
            RegexEngine::Backtracking(regexes) => {
                let (regex, limit) = for_length(regexes, text)?;
                for captures in regex.captures_iter(text) {
                    let captures = captures.map_err(|_| limit)?;
                    let Some(whole) = captures.get(0) else { continue };
                    replaced.push(whole.start(), whole.end(), |n| captures.get(n).map(|group| group.as_str()));
                }
            }
        }
        Ok(replaced.finish())
    }
}

fn linear(text: &str) -> Result<RegexEngine, PatternError> {
    match regex::RegexBuilder::new(text).size_limit(SIZE).build() {
        Ok(regex) => Ok(RegexEngine::Linear(regex)),
        Err(regex::Error::CompiledTooBig(_)) => Err(PatternError::unsupported("the pattern is too large")),
        Err(error) => Err(PatternError::wrong(last_line(&error))),
    }
}

fn backtracking(text: &str) -> Result<RegexEngine, PatternError> {
    let build = |steps| {
        let built = fancy_regex::RegexBuilder::new(text)
            .backtrack_limit(steps)
            .delegate_size_limit(SIZE)
            .max_prog_size(SIZE / 64)
            .build();
        built.map_err(|error| PatternError::unsupported(format!("it cannot be compiled: {}", last_line(&error))))
    };
    Ok(RegexEngine::Backtracking(Box::new([build(MOST_STEPS)?, build(MOST_STEPS_LONG)?])))
}

/// Returns the last line of an engine's error. The lines above it show the translated pattern.
fn last_line(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or("");
    line.trim_start_matches("error: ").to_owned()
}

/// Returns the engine for a text of this length, and its limit.
fn for_length<'r>(
    [short, long]: &'r [fancy_regex::Regex; 2],
    text: &str,
) -> Result<(&'r fancy_regex::Regex, StepLimit), StepLimit> {
    match text.len() {
        length if length <= SHORT => Ok((short, StepLimit::Steps(MOST_STEPS))),
        length if length <= LONGEST => Ok((long, StepLimit::Steps(MOST_STEPS_LONG))),
        _ => Err(StepLimit::Length),
    }
}

/// A text in which matches are being replaced.
struct Replaced<'t> {
    text: &'t str,
    replacement: &'t ReplacementString,
    out: String,
    /// The position up to which the text was copied.
    copied: usize,
    any: bool,
}

impl<'t> Replaced<'t> {
    /// Replaces the text between two positions.
    fn push(&mut self, start: usize, end: usize, group: impl Fn(usize) -> Option<&'t str>) {
        budget::checkpoints(16);
        self.any = true;
        let between = self.text.get(self.copied..start).unwrap_or("");
        let longest = self.replacement.longest(end.saturating_sub(start));
        self.charge(longest.saturating_add(between.len()));
        self.out.push_str(between);
        self.replacement.write(&mut self.out, group);
        self.copied = end;
    }

    /// Charges the new allocation if the output must grow by `by` bytes beyond its capacity.
    fn charge(&self, by: usize) {
        if self.out.capacity() - self.out.len() < by {
            budget::charge(self.out.len().saturating_add(by) as u64);
        }
    }

    fn finish(mut self) -> Option<String> {
        if !self.any {
            return None;
        }
        let rest = self.text.get(self.copied..).unwrap_or("");
        self.charge(rest.len());
        self.out.push_str(rest);
        Some(self.out)
    }
}
