//! REGEX, REPLACE and IRI for expressions that are evaluated one solution at a time. The evaluator would compile a
//! pattern again for each solution, and would not know the base of an IRI. Functions that make strings longer charge
//! the bytes to the budget before they allocate them.

use std::sync::{Arc, Mutex, PoisonError};

use oxiri::Iri;
use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Literal, NamedNode, Term};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use super::exact::{is_same_language, is_text};
use super::patterns::{CompiledPattern, PatternError, StepLimit};
use super::random::RandomSequence;
use crate::refusal::QueryRefusal;
use terrapin_budget as budget;
use terrapin_sparql_syntax::algebra::Expression;
use terrapin_sparql_syntax::error::{SparqlCode, SparqlError, SparqlErrorClass};

/// Maximum number of cached patterns; a query has few.
const KEPT: usize = 16;
/// Maximum number of characters of a pattern in an error message.
const SHOWN: usize = 80;

/// The compiled patterns of one query. An unsupported pattern ends the query.
#[derive(Default)]
pub(crate) struct Patterns {
    kept: Mutex<Vec<CachedPattern>>,
    refusal: QueryRefusal,
}

/// A pattern with its flags and its compiled form; `None` if it is invalid.
struct CachedPattern {
    pattern: String,
    flags: String,
    compiled: Option<Arc<CompiledPattern>>,
}

/// Returns the error for a pattern.
fn pattern_error(pattern: &str, error: &PatternError) -> SparqlError {
    let class = if error.unsupported { SparqlErrorClass::Unsupported } else { SparqlErrorClass::Syntax };
    SparqlError::new(class, SparqlCode::Pattern, format!("the pattern \"{}\": {error}", shown(pattern)))
}

/// Returns the beginning of a pattern for an error message.
fn shown(pattern: &str) -> String {
    match pattern.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", pattern.get(..end).unwrap_or("")),
        None => pattern.to_owned(),
    }
}

impl Patterns {
    /// Creates an empty cache. Errors that end the query are reported through `refusal`.
    pub fn new(refusal: &QueryRefusal) -> Patterns {
        Patterns { kept: Mutex::default(), refusal: refusal.clone() }
    }

    /// Returns the compiled pattern; `None` if it is invalid. An unsupported pattern ends the query, because its result
    /// is unknown.
    fn get(&self, pattern: &str, flags: &str) -> Option<Arc<CompiledPattern>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.iter().find(|known| known.pattern == pattern && known.flags == flags) {
            return known.compiled.clone();
        }
        let compiled = match CompiledPattern::compile(pattern, flags) {
            Ok(compiled) => Some(Arc::new(compiled)),
            Err(error) if error.unsupported => self.refusal.end(pattern_error(pattern, &error)),
            Err(_) => None,
        };
        if kept.len() == KEPT {
            kept.remove(0);
        }
        let cached = CachedPattern { pattern: pattern.to_owned(), flags: flags.to_owned(), compiled: compiled.clone() };
        kept.push(cached);
        compiled
    }

    /// Returns the result of matching a pattern; exceeding a limit ends the query.
    fn within<T>(&self, pattern: &str, result: Result<T, StepLimit>) -> T {
        result.unwrap_or_else(|limit| {
            let message = format!("the pattern \"{}\": {limit}", shown(pattern));
            let error = SparqlError::new(SparqlErrorClass::Limit, SparqlCode::Pattern, message);
            self.refusal.end(error.help("write it without back references, look-around and repetitions in each other"))
        })
    }

    /// Returns whether a part of a text matches a pattern; `None` if the pattern is invalid.
    pub fn found(&self, text: &str, pattern: &str, flags: &str) -> Option<bool> {
        Some(self.within(pattern, self.get(pattern, flags)?.matches(text)))
    }

    /// Evaluates `REGEX(text, pattern, flags)`.
    pub fn matches(&self, arguments: &[Term]) -> Option<Term> {
        let (text, pattern, flags) = match arguments {
            [text, pattern] => (text, plain(pattern)?, ""),
            [text, pattern, flags] => (text, plain(pattern)?, plain(flags)?),
            _ => return None,
        };
        Some(Literal::from(self.found(string(text)?.value(), pattern, flags)?).into())
    }

    /// Evaluates `REPLACE(text, pattern, replacement, flags)`.
    pub fn replace(&self, arguments: &[Term]) -> Option<Term> {
        let (text, pattern, replacement, flags) = match arguments {
            [text, pattern, replacement] => (text, plain(pattern)?, replacement, ""),
            [text, pattern, replacement, flags] => (text, plain(pattern)?, replacement, plain(flags)?),
            _ => return None,
        };
        let compiled = self.get(pattern, flags).filter(|compiled| !compiled.matches_empty())?;
        let text = string(text)?;
        let replacement = compiled.replacement(plain(replacement)?).ok()?;
        Some(match self.within(pattern, compiled.replace(text.value(), &replacement)) {
            None => text.clone().into(),
            Some(replaced) => with_language(replaced, Some(text)),
        })
    }
}

/// Checks the pattern, the flags and the replacement of a call of REGEX or REPLACE if they are constants.
///
/// # Errors
/// Returns an error if the call fails for every text or uses an unsupported feature.
pub(crate) fn check_pattern(arguments: &[Expression], replaces: bool) -> Result<(), SparqlError> {
    let constant = |index: usize| match arguments.get(index) {
        Some(Expression::Literal(literal)) if literal.datatype() == xsd::STRING => Some(literal.value()),
        _ => None,
    };
    let flags_at = if replaces { 3 } else { 2 };
    let flags = if arguments.len() > flags_at { constant(flags_at) } else { Some("") };
    let (Some(pattern), Some(flags)) = (constant(1), flags) else { return Ok(()) };
    let compiled = CompiledPattern::compile(pattern, flags).map_err(|error| pattern_error(pattern, &error))?;
    if let Some(replacement) = constant(2).filter(|_| replaces) {
        compiled.replacement(replacement).map_err(|error| {
            let message = format!("the replacement \"{}\": {error}", shown(replacement));
            SparqlError::new(SparqlErrorClass::Syntax, SparqlCode::Pattern, message)
        })?;
    }
    Ok(())
}

/// Creates a string with the language and the base direction of a literal, if it has them.
fn with_language(text: String, like: Option<&Literal>) -> Term {
    let literal = match like.map(|like| (like.language(), like.direction())) {
        Some((Some(language), Some(direction))) => {
            Literal::new_directional_language_tagged_literal_unchecked(text, language, direction)
        }
        Some((Some(language), None)) => Literal::new_language_tagged_literal_unchecked(text, language),
        Some((None, _)) | None => Literal::new_simple_literal(text),
    };
    literal.into()
}

/// Evaluates `CONCAT(text, ...)`. The result has a language and a base direction if all arguments have the same ones.
pub(super) fn concat(arguments: &[Term]) -> Option<Term> {
    let texts: Vec<&Literal> = arguments.iter().map(string).collect::<Option<_>>()?;
    let bytes = texts.iter().map(|text| text.value().len()).sum();
    budget::charge(bytes as u64);
    let mut result = String::with_capacity(bytes);
    texts.iter().for_each(|text| result.push_str(text.value()));
    let first = texts.first().copied();
    Some(with_language(result, first.filter(|first| texts.iter().all(|text| is_same_language(text, first)))))
}

/// Evaluates `ENCODE_FOR_URI(text)`.
pub(super) fn encode_for_uri(arguments: &[Term]) -> Option<Term> {
    /// All characters except those that RFC 3986 calls unreserved.
    const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
    let [text] = arguments else { return None };
    let text = string(text)?.value();
    budget::charge(3 * text.len() as u64);
    Some(Literal::new_simple_literal(utf8_percent_encode(text, &RESERVED).to_string()).into())
}

/// Returns a string literal, with or without a language.
fn string(term: &Term) -> Option<&Literal> {
    match term {
        Term::Literal(literal) if is_text(literal) => Some(literal),
        _ => None,
    }
}

/// Returns the text of a string literal without a language.
fn plain(term: &Term) -> Option<&str> {
    string(term).filter(|literal| literal.datatype() == xsd::STRING).map(Literal::value)
}

/// Evaluates `IRI(value)`, relative to the second argument if there is one.
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

/// Evaluates `BNODE()`, which gives a new node in every call, and `BNODE(name)`. The first argument of the latter is the
/// solution's number: the same name gives the same node within a solution, and another one in another solution.
pub(super) fn blank_node(arguments: &[Term], random: &RandomSequence) -> Option<Term> {
    let [solution, name] = arguments else {
        return arguments.is_empty().then(|| BlankNode::new_unchecked(random.label()).into());
    };
    let mut hasher = blake3::Hasher::new();
    let Term::Literal(solution) = solution else { return None };
    hasher.update(solution.value().as_bytes()).update(&[0]).update(plain(name)?.as_bytes());
    let hash = hasher.finalize();
    // A label of this form is renumbered in the answer.
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
    fn what_is_no_pattern_for_any_text_is_an_error_of_the_query() {
        let check = |arguments: &[&str], replaces| {
            let arguments: Vec<Expression> = arguments.iter().map(|a| Literal::new_simple_literal(*a).into()).collect();
            check_pattern(&arguments, replaces).map_err(|error| (error.class, error.message))
        };
        assert_eq!(check(&["a", "a+", "i"], false), Ok(()));
        let message = "the pattern \"(\": a group lacks its closing ')'".to_owned();
        assert_eq!(check(&["a", "("], false), Err((SparqlErrorClass::Syntax, message)));
        assert_eq!(check(&["a", "\\G"], false).map_err(|(class, _)| class), Err(SparqlErrorClass::Unsupported));
        assert_eq!(check(&["a", "a", "$"], true).map_err(|(class, _)| class), Err(SparqlErrorClass::Syntax));
        assert_eq!(check(&["a", "a", "$"], false).map_err(|(class, _)| class), Err(SparqlErrorClass::Syntax));
        assert_eq!(check(&["a", "a", "$", "q"], true), Ok(()));
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
