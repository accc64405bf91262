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
    let mut cutter = Cutter { out: String::with_capacity(text.len()), before: Kind::Indent, line: 0, column: 0 };
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
}

/// A string that goes on in the next line.
struct Open {
    text: String,
    at: (usize, usize),
    /// What ends it, or nothing where it goes on behind a backslash only.
    end: Vec<char>,
}

impl Cutter {
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

    /// Reads all tokens; nothing where Python gives up.
    fn cut(&mut self, text: &str) -> Option<()> {
        let (mut depth, mut goes_on, mut indents) = (0_i64, false, vec![0]);
        let mut open: Option<Open> = None;
        let lines = text.split_inclusive('\n').enumerate();
        for (number, line) in lines {
            let number = number + 1;
            let chars: Vec<char> = line.chars().collect();
            let mut at = 0;
            if let Some(mut string) = open.take() {
                let Some(end) = closing(&chars, 0, &string.end) else {
                    string.text.push_str(line);
                    if string.end.len() == 1 && !line.ends_with("\\\n") && !line.ends_with("\\\r\n") {
                        self.token(Kind::Other, &string.text, string.at, (number, chars.len()));
                    } else {
                        open = Some(string);
                    }
                    continue;
                };
                string.text.extend(chars.get(..end)?);
                self.token(Kind::String, &string.text, string.at, (number, end));
                at = end;
            } else if depth == 0 && !goes_on {
                let mut column = 0;
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
                    None => break,
                    Some('#' | '\r' | '\n') => {
                        let end = at + length(&chars, at, |c| c != '\r' && c != '\n');
                        if end > at {
                            self.token(Kind::Comment, "", (number, at), (number, end));
                        }
                        let rest: String = chars.get(end..)?.iter().collect();
                        self.token(Kind::Other, &rest, (number, end), (number, chars.len()));
                        continue;
                    }
                    Some(_) => {}
                }
                if column > *indents.last()? {
                    indents.push(column);
                    let spaces: String = chars.get(..at)?.iter().collect();
                    self.token(Kind::Indent, &spaces, (number, 0), (number, at));
                }
                while column < *indents.last()? {
                    if !indents.contains(&column) {
                        return None;
                    }
                    indents.pop();
                    self.token(Kind::Other, "", (number, at), (number, at));
                }
            } else {
                goes_on = false;
            }
            while at < chars.len() {
                let start = at + length(&chars, at, |c| matches!(c, ' ' | '\u{c}' | '\t'));
                let Some(first) = chars.get(start) else { break };
                let rest = chars.get(start..)?;
                let place = (number, start);
                if *first == '\n' || rest.starts_with(&['\r', '\n']) {
                    let kind = if depth > 0 { Kind::Other } else { Kind::Newline };
                    let text: String = rest.iter().collect();
                    self.token(kind, &text, place, (number, chars.len()));
                    break;
                }
                if *first == '#' {
                    at = start + length(&chars, start, |c| c != '\r' && c != '\n');
                    self.token(Kind::Comment, "", place, (number, at));
                    continue;
                }
                if rest == ['\\', '\n'] || rest == ['\\', '\r', '\n'] {
                    goes_on = true;
                    break;
                }
                if let Some((quote, inner)) = quote(rest) {
                    let end = vec![quote; inner.1];
                    match closing(&chars, start + inner.0, &end) {
                        Some(to) => {
                            let text: String = chars.get(start..to)?.iter().collect();
                            self.token(Kind::String, &text, place, (number, to));
                            at = to;
                            continue;
                        }
                        None if inner.1 == 3 || line.ends_with("\\\n") || line.ends_with("\\\r\n") => {
                            let text: String = rest.iter().collect();
                            open = Some(Open { text, at: place, end });
                            break;
                        }
                        None => {}
                    }
                }
                let word = length(&chars, start, |c| c.is_alphanumeric() || c == '_');
                if word == 0 && quote(rest).is_some() {
                    // A quote that nothing closes: the character behind the last token is one of its own.
                    let text = chars.get(at)?.to_string();
                    self.token(Kind::Other, &text, (number, at), (number, at + 1));
                    at += 1;
                    continue;
                }
                let text: String = chars.get(start..start + word.max(1))?.iter().collect();
                depth += match first {
                    '(' | '[' | '{' => 1,
                    ')' | ']' | '}' => -1,
                    _ => 0,
                };
                at = start + word.max(1);
                self.token(Kind::Other, &text, place, (number, at));
            }
        }
        (open.is_none() && depth == 0 && !goes_on).then_some(())
    }
}

/// How many characters from a place on are of a kind.
fn length(chars: &[char], at: usize, is: impl Fn(char) -> bool) -> usize {
    chars.iter().skip(at).take_while(|c| is(**c)).count()
}

/// The quote that a string begins with, where its content begins, and how many quotes there are.
fn quote(chars: &[char]) -> Option<(char, (usize, usize))> {
    let prefix = length(chars, 0, |c| c.is_alphanumeric() || c == '_');
    let word: String = chars.get(..prefix)?.iter().collect::<String>().to_lowercase();
    if !matches!(word.as_str(), "" | "b" | "r" | "u" | "f" | "br" | "rb" | "fr" | "rf") {
        return None;
    }
    let quote = *chars.get(prefix).filter(|c| matches!(c, '"' | '\''))?;
    let count = if chars.get(prefix..prefix + 3).is_some_and(|c| c.iter().all(|c| *c == quote)) { 3 } else { 1 };
    Some((quote, (prefix + count, count)))
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
