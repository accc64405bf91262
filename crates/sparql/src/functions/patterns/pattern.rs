//! A compiled pattern, matched within the query's bounds.

use std::fmt;

use super::error::PatternError;
use super::replacement::Replacement;
use super::translate::{Flags, Translated, literally, translate, without_blanks};
use terrapin_budget as budget;

/// Most bytes of a compiled pattern.
const SIZE: usize = 4 << 20;
/// Most times that the engine that backtracks goes back on one text, and on one longer than [`SHORT`]. Between two steps it
/// may look at all of the text, and nobody can stop it: these bounds keep that to some seconds.
const MOST_STEPS: usize = 1_000_000;
const MOST_STEPS_LONG: usize = 100_000;
/// Bytes of a short text.
const SHORT: usize = 2 << 10;
/// Most bytes of a text for the engine that backtracks. It takes some steps for each character.
const LONGEST: usize = 16 << 10;

/// Why a pattern gives no answer for a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepLimit {
    /// It takes more steps than this.
    Steps(usize),
    /// The text is longer than [`LONGEST`], and the pattern needs the engine that backtracks.
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
enum Engine {
    /// Takes a time that grows with the text's length.
    Linear(regex::Regex),
    /// Tries one way after the other: for texts up to [`SHORT`], and for longer ones.
    Backtracking(Box<[fancy_regex::Regex; 2]>),
}

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    engine: Engine,
    groups: usize,
    names: Vec<(String, usize)>,
    /// Whether replacement strings stand for their own text: flag `q`.
    literal: bool,
    /// Whether it matches the empty text.
    matches_empty: bool,
}

impl Pattern {
    /// Compiles a pattern with XPath's flags.
    ///
    /// # Errors
    /// The pattern or the flags are wrong, something in them is not supported, or the pattern is too large.
    pub fn compile(pattern: &str, flags: &str) -> Result<Pattern, PatternError> {
        let (mut known, mut literal, mut blanks) = (Flags::default(), false, true);
        for flag in flags.chars() {
            match flag {
                's' => known.dot_all = true,
                'm' => known.multi_line = true,
                'i' => known.ignore_case = true,
                'x' => blanks = false,
                'q' => literal = true,
                other => {
                    let message = format!("there is no flag '{other}': flags are s, m, i, x and q");
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
        let Translated { text, backtracks, groups, names } = translated;
        let engine = if backtracks { backtracking(&text)? } else { linear(&text)? };
        let mut pattern = Pattern { engine, groups, names, literal, matches_empty: false };
        pattern.matches_empty = pattern.matches("").unwrap_or(false);
        Ok(pattern)
    }

    /// Whether it matches the empty text, and so cannot be replaced (err:FORX0003).
    pub fn matches_empty(&self) -> bool {
        self.matches_empty
    }

    /// Reads a replacement string for this pattern.
    ///
    /// # Errors
    /// It is none.
    pub fn replacement(&self, text: &str) -> Result<Replacement, PatternError> {
        if self.literal { Ok(Replacement::literally(text)) } else { Replacement::read(text, self.groups, &self.names) }
    }

    /// Whether a part of a text matches.
    ///
    /// # Errors
    /// It takes too many steps.
    pub fn matches(&self, text: &str) -> Result<bool, StepLimit> {
        budget::checkpoints(1 + text.len() / 16);
        match &self.engine {
            Engine::Linear(regex) => Ok(regex.is_match(text)),
            Engine::Backtracking(regexes) => {
                let (regex, limit) = for_length(regexes, text)?;
                regex.is_match(text).map_err(|_| limit)
            }
        }
    }

    /// A text with all that matches replaced, its bytes charged as it grows; nothing if nothing matches.
    ///
    /// # Errors
    /// It takes too many steps.
    pub fn replace(&self, text: &str, replacement: &Replacement) -> Result<Option<String>, StepLimit> {
        budget::checkpoints(1 + text.len() / 16);
        let mut replaced = Replaced { text, replacement, out: String::new(), copied: 0, any: false };
        match &self.engine {
            Engine::Linear(regex) => {
                for captures in regex.captures_iter(text) {
                    let whole = captures.get_match();
                    replaced.push(whole.start(), whole.end(), |n| captures.get(n).map(|group| group.as_str()));
                }
            }
            Engine::Backtracking(regexes) => {
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

fn linear(text: &str) -> Result<Engine, PatternError> {
    match regex::RegexBuilder::new(text).size_limit(SIZE).build() {
        Ok(regex) => Ok(Engine::Linear(regex)),
        Err(regex::Error::CompiledTooBig(_)) => Err(PatternError::unsupported("the pattern is too large")),
        Err(error) => Err(PatternError::wrong(last_line(&error))),
    }
}

fn backtracking(text: &str) -> Result<Engine, PatternError> {
    let build = |steps| {
        let built = fancy_regex::RegexBuilder::new(text)
            .backtrack_limit(steps)
            .delegate_size_limit(SIZE)
            .max_prog_size(SIZE / 64)
            .build();
        built.map_err(|error| PatternError::unsupported(format!("it cannot be compiled: {}", last_line(&error))))
    };
    Ok(Engine::Backtracking(Box::new([build(MOST_STEPS)?, build(MOST_STEPS_LONG)?])))
}

/// The engines' errors show the translated pattern above what they say.
fn last_line(error: &dyn fmt::Display) -> String {
    let text = error.to_string();
    let line = text.lines().last().unwrap_or("");
    line.trim_start_matches("error: ").to_owned()
}

/// The engine for a text of this length, and its limit.
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

/// A text while parts of it are replaced.
struct Replaced<'t> {
    text: &'t str,
    replacement: &'t Replacement,
    out: String,
    /// Up to where the text was copied.
    copied: usize,
    any: bool,
}

impl<'t> Replaced<'t> {
    /// Replaces what stands between two places.
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

    /// Charges what a text that grows by so many bytes takes beyond what it has room for.
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
