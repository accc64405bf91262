//! The elements with attributes that both parsers create from a text, with the names of the XML form. The QL parser
//! creates the same elements as the XML form of the same query has.

use std::borrow::Cow;

use super::tree::*;

/// One element as written.
#[derive(Debug, Clone)]
pub(crate) struct SyntaxElement {
    /// Its name in the XML form, such as `has-kv`.
    pub name: Cow<'static, str>,
    /// Its attributes, in order.
    pub attributes: Vec<(Cow<'static, str>, String)>,
    /// The line in errors about the element.
    pub line: u32,
    /// The position in the text.
    pub span: SourceSpan,
}

impl SyntaxElement {
    /// Creates an element without attributes.
    pub fn new(name: impl Into<Cow<'static, str>>, line: u32, span: SourceSpan) -> SyntaxElement {
        SyntaxElement { name: name.into(), attributes: Vec::new(), line, span }
    }

    /// Adds an attribute.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> SyntaxElement {
        self.attributes.push((Cow::Borrowed(name), value.into()));
        self
    }

    /// Adds an attribute if it has a value.
    pub fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> SyntaxElement {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Returns the value of an attribute; an empty text if it is missing.
    pub fn get(&self, name: &str) -> &str {
        self.find(name).unwrap_or("")
    }

    /// Returns the value of an attribute.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Iterates over the values of `stem`, and of `stem_1`, `stem_2`, ...
    pub fn all<'a>(&'a self, stem: &'a str) -> impl Iterator<Item = &'a str> {
        self.attributes.iter().filter_map(move |(name, value)| {
            let rest = name.strip_prefix(stem)?;
            let numbered = rest.strip_prefix('_').is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit()));
            (rest.is_empty() || numbered).then_some(value.as_str())
        })
    }

    /// Returns whether the result is discarded: the set has an empty name, as in `node(1)->.;` and `into=""`.
    pub fn has_no_result(&self) -> bool {
        self.find("into") == Some("")
    }

    /// Returns the set named by an attribute; `_` if it is missing.
    pub fn set(&self, name: &str) -> SetName {
        match self.get(name) {
            "" => "_".to_owned(),
            set => set.to_owned(),
        }
    }
}

/// Evaluators without their operands.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub(crate) enum Evaluator {
    Fixed(String),
    Tag,
    Generic,
    SetKey {
        set: SetName,
        key: String,
    },
    /// A function, its set, and the arguments that are attributes.
    Call {
        function: EvaluatorFunction,
        set: Option<SetName>,
        words: Vec<String>,
    },
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Ternary,
}
