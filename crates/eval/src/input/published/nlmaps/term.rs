//! Parses a line of NLmaps' query language: `name(argument,...)`, `'text'` and bare words.

/// The maximum length of a line in bytes, and the maximum depth of calls.
const LONGEST: usize = 16 << 10;
const DEPTH: usize = 16;

/// A part of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Term {
    /// A call: `nwr(...)`.
    Call(String, Vec<Term>),
    /// A text between quotes.
    Text(String),
    /// A word or a number: `count`, `5000`.
    Word(String),
}

impl Term {
    /// Parses a line; `None` if it is no query.
    pub(super) fn parse(text: &str) -> Option<Term> {
        if text.len() > LONGEST {
            return None;
        }
        let mut rest = text.trim();
        let term = term(&mut rest, 0)?;
        rest.trim().is_empty().then_some(term)
    }

    /// Returns the arguments of a call with a name.
    pub(super) fn call(&self, name: &str) -> Option<&[Term]> {
        match self {
            Term::Call(own, arguments) if own == name => Some(arguments),
            _ => None,
        }
    }

    /// Returns a text, with or without quotes.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Term::Text(text) | Term::Word(text) => Some(text),
            Term::Call(..) => None,
        }
    }
}

fn term(rest: &mut &str, depth: usize) -> Option<Term> {
    if depth > DEPTH {
        return None;
    }
    *rest = rest.trim_start();
    if let Some(quoted) = rest.strip_prefix('\'') {
        return text(quoted, rest).map(Term::Text);
    }
    let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (name, tail) = rest.split_at(end);
    if name.is_empty() {
        return None;
    }
    let name = name.to_owned();
    let Some(tail) = tail.trim_start().strip_prefix('(') else {
        *rest = tail;
        return Some(Term::Word(name));
    };
    *rest = tail;
    let mut arguments = Vec::new();
    loop {
        arguments.push(term(rest, depth + 1)?);
        *rest = rest.trim_start();
        if let Some(tail) = rest.strip_prefix(',') {
            *rest = tail;
        } else {
            *rest = rest.strip_prefix(')')?;
            return Some(Term::Call(name, arguments));
        }
    }
}

/// Reads a text up to its closing quote. The published files do not escape quotes in names: a quote closes a text if an
/// argument ends there.
fn text<'t>(quoted: &'t str, rest: &mut &'t str) -> Option<String> {
    let mut out = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        let tail = quoted.get(at + 1..).unwrap_or_default();
        match letter {
            '\\' if tail.starts_with(['\'', '\\']) => out.extend(letters.next().map(|(_, letter)| letter)),
            '\'' if tail.trim_start().starts_with([',', ')']) => {
                *rest = tail;
                return Some(out);
            }
            letter => out.push(letter),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_quotes() {
        let of = |line: &str| Term::parse(line).and_then(|term| Some(term.call("keyval")?[1].text()?.to_owned()));
        assert_eq!(of("keyval('name','Rue d'Agier')").as_deref(), Some("Rue d'Agier"));
        assert_eq!(of("keyval( 'name' , 'Rue d\\'Agier' )").as_deref(), Some("Rue d'Agier"));
        assert_eq!(of("keyval('name','a (b), c')").as_deref(), Some("a (b), c"));
        for wrong in ["", "a(", "a()", "a('b)", "a(b))", "a(b) c", &"a(".repeat(100)] {
            assert_eq!(Term::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Term::parse("topx(1)"), Some(Term::Call("topx".to_owned(), vec![Term::Word("1".to_owned())])));
    }
}
