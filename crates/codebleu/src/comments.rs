//! Comments out of a text that is taken for Python, as codebleu takes them out: by Python's tokens, which lose tabs, ends
//! of lines behind a backslash, and strings where one would document something.

/// Columns between the stops of tabs.
const TAB: usize = 8;

/// What Python's tokenizer finds in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Indent,
    Newline,
    Comment,
    String,
    Other,
}

/// The text without comments and empty lines; as it is where Python cannot cut it into tokens.
pub fn without(text: &str) -> String {
    let mut cutter = Cutter::new(text.len());
    if cutter.cut(text).is_none() {
        return text.to_owned();
    }
    let lines: Vec<&str> =
        cutter.out.split('\n').filter(|line| !line.trim_matches(crate::is_python_space).is_empty()).collect();
    lines.join("\n")
}

struct Cutter {
    out: String,
    before: Kind,
    /// The line and column behind the last token.
    line: usize,
    column: usize,
    /// Brackets that are open.
    depth: i64,
    /// Whether a backslash ended the line before.
    goes_on: bool,
    /// The columns of the blocks around.
    indents: Vec<usize>,
    open: Option<Open>,
}

/// A string that goes on in the next line.
struct Open {
    text: String,
    at: (usize, usize),
    /// What ends it, or nothing where it goes on behind a backslash only.
    end: Vec<char>,
}

/// A line with its end.
struct Line<'t> {
    number: usize,
    text: &'t str,
    chars: Vec<char>,
}

impl Line<'_> {
    /// Whether a backslash is its last character.
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
            before: Kind::Indent,
            line: 0,
            column: 0,
            depth: 0,
            goes_on: false,
            indents: vec![0],
            open: None,
        }
    }

    /// Reads all tokens; nothing where Python gives up.
    fn cut(&mut self, text: &str) -> Option<()> {
        for (number, text) in (1..).zip(text.split_inclusive('\n')) {
            let line = Line { number, text, chars: text.chars().collect() };
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

    fn token(&mut self, kind: Kind, text: &str, start: (usize, usize), end: (usize, usize)) {
        if start.0 > self.line {
            self.column = 0;
        }
        self.out.extend(std::iter::repeat_n(' ', start.1.saturating_sub(self.column)));
        let documents = kind == Kind::String && (matches!(self.before, Kind::Indent | Kind::Newline) || start.1 == 0);
        if kind != Kind::Comment && !documents {
            self.out.push_str(text);
        }
        (self.before, self.line, self.column) = (kind, end.0, end.1);
    }

    /// Reads on in a string: where the line's other tokens begin, if it ends in this line.
    fn continue_string(&mut self, line: &Line, mut string: Open) -> Option<Option<usize>> {
        if let Some(end) = closing(&line.chars, 0, &string.end) {
            string.text.push_str(&line.part(..end)?);
            self.token(Kind::String, &string.text, string.at, (line.number, end));
            return Some(Some(end));
        }
        string.text.push_str(line.text);
        if string.end.len() == 1 && !line.goes_on() {
            self.token(Kind::Other, &string.text, string.at, (line.number, line.chars.len()));
        } else {
            self.open = Some(string);
        }
        Some(None)
    }

    /// Reads the beginning of a line: where its tokens begin, if there is more in it than a comment.
    fn indentation(&mut self, line: &Line) -> Option<Option<usize>> {
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
                    self.token(Kind::Comment, "", (number, at), (number, end));
                }
                self.token(Kind::Other, &line.part(end..)?, (number, end), (number, chars.len()));
                return Some(None);
            }
            Some(_) => {}
        }
        if column > *self.indents.last()? {
            self.indents.push(column);
            self.token(Kind::Indent, &line.part(..at)?, (number, 0), (number, at));
        }
        while column < *self.indents.last()? {
            if !self.indents.contains(&column) {
                return None;
            }
            self.indents.pop();
            self.token(Kind::Other, "", (number, at), (number, at));
        }
        Some(Some(at))
    }

    /// Reads a line's tokens.
    fn tokens(&mut self, line: &Line, mut at: usize) -> Option<()> {
        let (number, chars) = (line.number, &line.chars);
        while at < chars.len() {
            let start = at + length(chars, at, |c| matches!(c, ' ' | '\u{c}' | '\t'));
            let Some(first) = chars.get(start) else { break };
            let rest = chars.get(start..)?;
            let place = (number, start);
            if *first == '\n' || rest.starts_with(&['\r', '\n']) {
                let kind = if self.depth > 0 { Kind::Other } else { Kind::Newline };
                self.token(kind, &line.part(start..)?, place, (number, chars.len()));
                break;
            }
            if *first == '#' {
                at = start + length(chars, start, |c| c != '\r' && c != '\n');
                self.token(Kind::Comment, "", place, (number, at));
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

    /// Reads a string that begins in a line.
    fn string(&mut self, line: &Line, start: usize, quote: &Quote) -> Option<Quoted> {
        let place = (line.number, start);
        let end = vec![quote.sign; quote.count];
        if let Some(to) = closing(&line.chars, start + quote.content, &end) {
            self.token(Kind::String, &line.part(start..to)?, place, (line.number, to));
            return Some(Quoted::Closed(to));
        }
        if quote.count == 3 || line.goes_on() {
            self.open = Some(Open { text: line.part(start..)?, at: place, end });
            return Some(Quoted::GoesOn);
        }
        Some(Quoted::Never)
    }

    /// Reads a word or a sign, which may be a quote that nothing closes; where it ends. `behind` is the place behind the
    /// last token, white space before `start`.
    fn sign_or_word(&mut self, line: &Line, behind: usize, start: usize, quoted: bool) -> Option<usize> {
        let (number, chars) = (line.number, &line.chars);
        let word = length(chars, start, |c| c.is_alphanumeric() || c == '_');
        if word == 0 && quoted {
            // The character behind the last token is one of its own then.
            self.token(Kind::Other, &chars.get(behind)?.to_string(), (number, behind), (number, behind + 1));
            return Some(behind + 1);
        }
        self.depth += match chars.get(start)? {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        let end = start + word.max(1);
        self.token(Kind::Other, &line.part(start..end)?, (number, start), (number, end));
        Some(end)
    }
}

/// The beginning of a string.
struct Quote {
    sign: char,
    /// How many signs there are: 1 or 3.
    count: usize,
    /// How far behind its beginning the string's content begins.
    content: usize,
}

/// How a string ends that begins in a line.
enum Quoted {
    /// Before this character of the line.
    Closed(usize),
    /// In another line.
    GoesOn,
    /// Not at all: it is none.
    Never,
}

/// How many characters from a place on are of a kind.
fn length(chars: &[char], at: usize, is: impl Fn(char) -> bool) -> usize {
    chars.iter().skip(at).take_while(|c| is(**c)).count()
}

/// The quote that a string begins with, perhaps behind a prefix.
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

/// The character behind the end of a string; strings with one quote end within their line.
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
        // An IRI with a fragment is a comment, too.
        assert_eq!(without("<http://a#b> ?x\n?y"), "<http://a\n?y");
    }

    #[test]
    fn what_python_cannot_cut_stays() {
        for text in ["{ # open", "\"\"\" # never closed", "  a\n b # other indent"] {
            assert_eq!(without(text), text);
        }
        // A quote that nothing closes is a sign like others.
        assert_eq!(without("it's # so"), "it's ");
    }
}
