//! REGEX, REPLACE and IRI as the evaluator has them, for expressions that it is asked about a solution at a time: it
//! would compile a pattern anew for each, and would not know what an IRI is relative to. And what makes texts longer:
//! the bytes are charged before they are allocated.

use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

use oxiri::Iri;
use oxrdf::vocab::{rdf, xsd};
use oxrdf::{BlankNode, Literal, NamedNode, Term};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use regex::{Regex, RegexBuilder};

use terrapin_budget as budget;

/// Compiled patterns that are kept: a query has few.
const KEPT: usize = 16;
/// Most bytes of a compiled pattern: the evaluator's bound.
const SIZE: usize = 1_000_000;

/// The patterns of one query.
#[derive(Default)]
pub(super) struct Patterns(Mutex<Vec<Compiled>>);

/// A pattern with its flags, and what it came to: nothing if it is wrong.
struct Compiled {
    pattern: String,
    flags: String,
    regex: Option<Regex>,
}

impl Patterns {
    fn get(&self, pattern: &str, flags: &str) -> Option<Regex> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter().find(|known| known.pattern == pattern && known.flags == flags) {
            return known.regex.clone();
        }
        let regex = compile(pattern, flags);
        if kept.len() == KEPT {
            kept.remove(0);
        }
        kept.push(Compiled { pattern: pattern.to_owned(), flags: flags.to_owned(), regex: regex.clone() });
        regex
    }

    /// `REGEX(text, pattern, flags)`.
    pub fn matches(&self, arguments: &[Term]) -> Option<Term> {
        let (text, pattern, flags) = match arguments {
            [text, pattern] => (text, pattern, ""),
            [text, pattern, flags] => (text, pattern, plain(flags)?),
            _ => return None,
        };
        let regex = self.get(plain(pattern)?, flags)?;
        Some(Literal::from(regex.is_match(string(text)?.value())).into())
    }

    /// `REPLACE(text, pattern, replacement, flags)`.
    pub fn replace(&self, arguments: &[Term]) -> Option<Term> {
        let (text, pattern, replacement, flags) = match arguments {
            [text, pattern, replacement] => (text, pattern, replacement, ""),
            [text, pattern, replacement, flags] => (text, pattern, replacement, plain(flags)?),
            _ => return None,
        };
        let regex = self.get(plain(pattern)?, flags)?;
        let text = string(text)?;
        Some(match replaced(&regex, text.value(), plain(replacement)?) {
            None => text.clone().into(),
            Some(replaced) => with_language(replaced, text.language()),
        })
    }
}

/// A text with all that matches replaced, its bytes charged as it grows; nothing where nothing matches.
fn replaced(regex: &Regex, text: &str, replacement: &str) -> Option<String> {
    let mut matches = regex.captures_iter(text).peekable();
    matches.peek()?;
    let (mut result, mut copied) = (String::new(), 0);
    // A group is no longer than the match.
    let groups = replacement.matches('$').count();
    for captures in matches {
        let Some(whole) = captures.get(0) else { continue };
        budget::checkpoints(16);
        let longest = replacement.len().saturating_add(groups.saturating_mul(whole.len()));
        charge_growth(&result, longest.saturating_add(whole.start() - copied));
        result.push_str(&text[copied..whole.start()]);
        captures.expand(replacement, &mut result);
        copied = whole.end();
    }
    charge_growth(&result, text.len() - copied);
    result.push_str(&text[copied..]);
    Some(result)
}

/// Charges what a text that grows by so many bytes takes beyond what it has room for.
fn charge_growth(text: &String, by: usize) {
    if text.capacity() - text.len() < by {
        budget::charge(text.len().saturating_add(by) as u64);
    }
}

/// A text with a language or without.
fn with_language(text: String, language: Option<&str>) -> Term {
    match language {
        Some(language) => Literal::new_language_tagged_literal_unchecked(text, language).into(),
        None => Literal::new_simple_literal(text).into(),
    }
}

/// `CONCAT(text, ...)`: with a language where all have the same one.
pub(super) fn concat(arguments: &[Term]) -> Option<Term> {
    let texts: Vec<&Literal> = arguments.iter().map(string).collect::<Option<_>>()?;
    let bytes = texts.iter().map(|text| text.value().len()).sum();
    budget::charge(bytes as u64);
    let mut result = String::with_capacity(bytes);
    texts.iter().for_each(|text| result.push_str(text.value()));
    let language = texts.first().and_then(|text| text.language());
    Some(with_language(result, language.filter(|_| texts.iter().all(|text| text.language() == language))))
}

/// `ENCODE_FOR_URI(text)`.
pub(super) fn encode_for_uri(arguments: &[Term]) -> Option<Term> {
    /// All that RFC 3986 does not call unreserved.
    const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    let [text] = arguments else { return None };
    let text = string(text)?.value();
    budget::charge(3 * text.len() as u64);
    Some(Literal::new_simple_literal(utf8_percent_encode(text, &RESERVED).to_string()).into())
}

/// XPath's flags, and `q` for a pattern that is its text.
fn compile(pattern: &str, flags: &str) -> Option<Regex> {
    let pattern = if flags.contains('q') { regex::escape(pattern).into() } else { Cow::Borrowed(pattern) };
    let mut builder = RegexBuilder::new(&pattern);
    builder.size_limit(SIZE);
    for flag in flags.chars() {
        match flag {
            's' => builder.dot_matches_new_line(true),
            'm' => builder.multi_line(true),
            'i' => builder.case_insensitive(true),
            'x' => builder.ignore_whitespace(true),
            'q' => &mut builder,
            _ => return None,
        };
    }
    builder.build().ok()
}

/// A string, with a language or without.
fn string(term: &Term) -> Option<&Literal> {
    match term {
        Term::Literal(literal) if [xsd::STRING, rdf::LANG_STRING].contains(&literal.datatype()) => Some(literal),
        _ => None,
    }
}

/// A string without a language.
fn plain(term: &Term) -> Option<&str> {
    string(term).filter(|literal| literal.datatype() == xsd::STRING).map(Literal::value)
}

/// `IRI(value)`, relative to the second argument if there is one.
pub(super) fn iri(arguments: &[Term]) -> Option<Term> {
    let value = match arguments.first()? {
        Term::NamedNode(node) => return Some(node.clone().into()),
        value => plain(value)?,
    };
    let iri = match arguments.get(1) {
        Some(base) => Iri::parse(plain(base)?).ok()?.resolve(value).ok()?,
        None => Iri::parse(value.to_owned()).ok()?,
    };
    Some(NamedNode::from(iri).into())
}

/// `BNODE(name)` for a solution, of which the first argument is the number: the same name is the same node, in another
/// solution another one.
pub(super) fn blank_node(arguments: &[Term]) -> Option<Term> {
    let [solution, name] = arguments else { return None };
    let mut hasher = blake3::Hasher::new();
    let Term::Literal(solution) = solution else { return None };
    hasher.update(solution.value().as_bytes()).update(&[0]).update(plain(name)?.as_bytes());
    let hash = hasher.finalize();
    // Such a label is numbered in the answer.
    Some(BlankNode::new_unchecked(hash.to_hex().get(..32)?).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Term {
        Literal::new_simple_literal(value).into()
    }

    #[test]
    fn patterns_have_flags() {
        let patterns = Patterns::default();
        let matches = |arguments: &[&str]| {
            patterns
                .matches(&arguments.iter().map(|a| text(a)).collect::<Vec<_>>())
                .map(|term| term == Literal::from(true).into())
        };
        assert_eq!(matches(&["Berlin", "^b", "i"]), Some(true));
        assert_eq!(matches(&["Berlin", "^b"]), Some(false));
        assert_eq!(matches(&["a.b", ".b", "q"]), Some(true));
        assert_eq!(matches(&["a", "(", ""]), None);
        assert_eq!(matches(&["a", "a", "w"]), None);
    }

    #[test]
    fn replacing_keeps_the_language() {
        let hello = Literal::new_language_tagged_literal_unchecked("hello", "en");
        let replaced = Patterns::default().replace(&[hello.into(), text("l+"), text("L")]);
        assert_eq!(replaced, Some(Literal::new_language_tagged_literal_unchecked("heLo", "en").into()));
    }

    #[test]
    fn iris_are_relative_to_their_base() {
        let node = |iri: &str| Some(Term::from(NamedNode::new_unchecked(iri)));
        assert_eq!(iri(&[text("b"), text("http://e/a")]), node("http://e/b"));
        assert_eq!(iri(&[text("http://e/b")]), node("http://e/b"));
        assert_eq!(iri(&[text("b")]), None);
    }
}
