//! Removes comments from a text that is treated as Python, exactly as codebleu does. codebleu works on Python tokens;
//! therefore it also loses tabs, line ends after a backslash, and strings in the position of a docstring.

/// Width of a tab in columns.
const TAB: usize = 8;

/// A kind of Python token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PythonTokenKind {
    Indent,
    Newline,
    Comment,
    String,
    Other,
}

/// Returns the text without comments and empty lines, or unchanged if Python cannot tokenize it.
pub fn without(text: &str) -> String {
    let mut cutter = Cutter::new(text.len());
    if cutter.cut(text).is_none() {
        return text.to_owned();
    }
    let lines: Vec<&str> =
        cutter.out.split('\n').filter(|line| !line.trim_matches(super::super::is_python_space).is_empty()).collect();
    lines.join("\n")
}

struct Cutter {
    out: String,
    before: PythonTokenKind,
    /// The line and column after the last token.
    line: usize,
    column: usize,
    /// Number of open brackets.
    depth: i64,
    /// Whether the previous line ended with a backslash.
    goes_on: bool,
    /// The columns of the enclosing blocks.
    indents: Vec<usize>,
    open: Option<Open>,
}

/// A string that continues on the next line.
struct Open {
    text: String,
    at: (usize, usize),
    /// The closing quotes; a single quote if only a backslash continues the string.
    end: Vec<char>,
}

/// A line, including its line end.
struct PythonLine<'t> {
    number: usize,
    text: &'t str,
    chars: Vec<char>,
}

impl PythonLine<'_> {
    /// Returns whether the line ends with a backslash.
    fn goes_on(&self) -> bool {
        self.text.ends_with("\\\n") || self.text.ends_with("\\\r\n")
    }

    fn part(&self, range: impl std::slice::SliceIndex<[char], Output = [char]>) -> Option<String> {
        self.chars.get(range).map(|chars| chars.iter().collect())
    }
}

impl Cutter {
    fn new(capacity: usize) -> Self {
        Cutter {
            out: String::with_capacity(capacity),
            before: PythonTokenKind::Indent,
            line: 0,
            column: 0,
            depth: 0,
            goes_on: false,
            indents: vec![0],
            open: None,
        }
    }

    /// Reads all tokens. Returns `None` if Python's tokenizer fails.
    fn cut(&mut self, text: &str) -> Option<()> {
        for (number, text) in (1..).zip(text.split_inclusive('\n')) {
            let line = PythonLine { number, text, chars: text.chars().collect() };
            let goes_on = std::mem::take(&mut self.goes_on);
            let from = match self.open.take() {
                Some(string) => self.continue_string(&line, string)?,
                None if self.depth == 0 && !goes_on => self.indentation(&line)?,
                None => Some(0),
            };
            if let Some(from) = from {
                self.tokens(&line, from)?;
            }
        }
        (self.open.is_none() && self.depth == 0 && !self.goes_on).then_some(())
    }

    fn token(&mut self, kind: PythonTokenKind, text: &str, start: (usize, usize), end: (usize, usize)) {
        if start.0 > self.line {
            self.column = 0;
        }
        self.out.extend(std::iter::repeat_n(' ', start.1.saturating_sub(self.column)));
        let documents = kind == PythonTokenKind::String
            && (matches!(self.before, PythonTokenKind::Indent | PythonTokenKind::Newline) || start.1 == 0);
        if kind != PythonTokenKind::Comment && !documents {
            self.out.push_str(text);
        }
        (self.before, self.line, self.column) = (kind, end.0, end.1);
    }

    /// Continues a string. If it ends in this line, returns the position of the line's next token.
    fn continue_string(&mut self, line: &PythonLine, mut string: Open) -> Option<Option<usize>> {
        if let Some(end) = closing(&line.chars, 0, &string.end) {
            string.text.push_str(&line.part(..end)?);
            self.token(PythonTokenKind::String, &string.text, string.at, (line.number, end));
            return Some(Some(end));
        }
        string.text.push_str(line.text);
        if string.end.len() == 1 && !line.goes_on() {
            self.token(PythonTokenKind::Other, &string.text, string.at, (line.number, line.chars.len()));
        } else {
            self.open = Some(string);
        }
        Some(None)
    }

    /// Reads the indentation. Returns the position of the first token if the line contains more than a comment.
    fn indentation(&mut self, line: &PythonLine) -> Option<Option<usize>> {
        let (number, chars) = (line.number, &line.chars);
        let (mut at, mut column) = (0, 0);
        while let Some(c) = chars.get(at) {
            column = match c {
                ' ' => column + 1,
                '\t' => (column / TAB + 1) * TAB,
                '\u{c}' => 0,
                _ => break,
            };
            at += 1;
        }
        match chars.get(at) {
            None => return Some(None),
            Some('#' | '\r' | '\n') => {
                let end = at + length(chars, at, |c| c != '\r' && c != '\n');
                if end > at {
                    self.token(PythonTokenKind::Comment, "", (number, at), (number, end));
                }
                self.token(PythonTokenKind::Other, &line.part(end..)?, (number, end), (number, chars.len()));
                return Some(None);
            }
            Some(_) => {}
        }
        if column > *self.indents.last()? {
            self.indents.push(column);
            self.token(PythonTokenKind::Indent, &line.part(..at)?, (number, 0), (number, at));
        }
        while column < *self.indents.last()? {
            if !self.indents.contains(&column) {
                return None;
            }
            self.indents.pop();
            self.token(PythonTokenKind::Other, "", (number, at), (number, at));
        }
        Some(Some(at))
    }

    /// Reads the tokens of a line.
    fn tokens(&mut self, line: &PythonLine, mut at: usize) -> Option<()> {
        let (number, chars) = (line.number, &line.chars);
        while at < chars.len() {
            let start = at + length(chars, at, |c| matches!(c, ' ' | '\u{c}' | '\t'));
            let Some(first) = chars.get(start) else { break };
            let rest = chars.get(start..)?;
            let place = (number, start);
            if *first == '\n' || rest.starts_with(&['\r', '\n']) {
                let kind = if self.depth > 0 { PythonTokenKind::Other } else { PythonTokenKind::Newline };
                self.token(kind, &line.part(start..)?, place, (number, chars.len()));
                break;
            }
            if *first == '#' {
                at = start + length(chars, start, |c| c != '\r' && c != '\n');
                self.token(PythonTokenKind::Comment, "", place, (number, at));
                continue;
            }
            if rest == ['\\', '\n'] || rest == ['\\', '\r', '\n'] {
                self.goes_on = true;
                break;
            }
            let quoted = quote(rest);
            if let Some(quote) = &quoted {
                match self.string(line, start, quote)? {
                    Quoted::Closed(end) => {
                        at = end;
                        continue;
                    }
                    Quoted::GoesOn => break,
                    Quoted::Never => {}
                }
            }
            at = self.sign_or_word(line, at, start, quoted.is_some())?;
        }
        Some(())
    }

    /// Reads a string that begins in this line.
    fn string(&mut self, line: &PythonLine, start: usize, quote: &Quote) -> Option<Quoted> {
        let place = (line.number, start);
        let end = vec![quote.sign; quote.count];
        if let Some(to) = closing(&line.chars, start + quote.content, &end) {
            self.token(PythonTokenKind::String, &line.part(start..to)?, place, (line.number, to));
            return Some(Quoted::Closed(to));
        }
        if quote.count == 3 || line.goes_on() {
            self.open = Some(Open { text: line.part(start..)?, at: place, end });
            return Some(Quoted::GoesOn);
        }
        Some(Quoted::Never)
    }

    /// Reads a word or a sign, which may be an unclosed quote, and returns its end. `behind` is the position after the
    /// last token; white space may follow up to `start`.
    fn sign_or_word(&mut self, line: &PythonLine, behind: usize, start: usize, quoted: bool) -> Option<usize> {
        let (number, chars) = (line.number, &line.chars);
        let word = length(chars, start, |c| c.is_alphanumeric() || c == '_');
        if word == 0 && quoted {
            // Python then makes a token of the character after the last token.
            self.token(PythonTokenKind::Other, &chars.get(behind)?.to_string(), (number, behind), (number, behind + 1));
            return Some(behind + 1);
        }
        self.depth += match chars.get(start)? {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        let end = start + word.max(1);
        self.token(PythonTokenKind::Other, &line.part(start..end)?, (number, start), (number, end));
        Some(end)
    }
}

/// The start of a string.
struct Quote {
    sign: char,
    /// Number of quotes: 1 or 3.
    count: usize,
    /// Offset of the content from the start of the string.
    content: usize,
}

/// The end of a string that begins in a line.
enum Quoted {
    /// The string ends in the line, before the character with this offset.
    Closed(usize),
    /// The string continues in the next line.
    GoesOn,
    /// The string has no end: the quote begins no string.
    Never,
}

/// Counts the consecutive characters from `at` on that satisfy `is`.
fn length(chars: &[char], at: usize, is: impl Fn(char) -> bool) -> usize {
    chars.iter().skip(at).take_while(|c| is(**c)).count()
}

/// Reads the quotes at the start of a string, after an optional prefix.
fn quote(chars: &[char]) -> Option<Quote> {
    let prefix = length(chars, 0, |c| c.is_alphanumeric() || c == '_');
    let word: String = chars.get(..prefix)?.iter().collect::<String>().to_lowercase();
    if !matches!(word.as_str(), "" | "b" | "r" | "u" | "f" | "br" | "rb" | "fr" | "rf") {
        return None;
    }
    let sign = *chars.get(prefix).filter(|c| matches!(c, '"' | '\''))?;
    let count = if chars.get(prefix..prefix + 3).is_some_and(|c| c.iter().all(|c| *c == sign)) { 3 } else { 1 };
    Some(Quote { sign, count, content: prefix + count })
}

/// Returns the position after the end of a string; a string with single quotes must end in its line.
fn closing(chars: &[char], from: usize, end: &[char]) -> Option<usize> {
    let mut at = from;
    while let Some(c) = chars.get(at) {
        if *c == '\\' {
            at += 2;
            continue;
        }
        if chars.get(at..)?.starts_with(end) {
            return Some(at + end.len());
        }
        if *c == '\n' && end.len() == 1 {
            return None;
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_go() {
        assert_eq!(without("SELECT * { # all\n\n ?x\ta 'b # c' }"), "SELECT * { \n ?x a 'b # c' }");
        // The fragment of an IRI is also removed as a comment.
        assert_eq!(without("<http://a#b> ?x\n?y"), "<http://a\n?y");
    }

    #[test]
    fn what_python_cannot_cut_stays() {
        for text in ["{ # open", "\"\"\" # never closed", "  a\n b # other indent"] {
            assert_eq!(without(text), text);
        }
        // An unclosed quote is an ordinary sign.
        assert_eq!(without("it's # so"), "it's ");
    }
}
