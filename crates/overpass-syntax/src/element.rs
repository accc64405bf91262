//! What both front ends make of a text: elements with attributes, as the XML form of the language names them. The QL
//! front end makes the elements that the XML form of the same query has.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::tree::*;

/// One element as written.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    /// Its name in the XML form, such as `has-kv`.
    pub name: Cow<'static, str>,
    /// Its attributes, in order.
    pub attributes: Vec<(Cow<'static, str>, String)>,
    /// The line that errors about it name.
    pub line: u32,
    /// Where it stands.
    pub span: Span,
}

impl Element {
    /// An element without attributes.
    pub fn new(name: impl Into<Cow<'static, str>>, line: u32, span: Span) -> Element {
        Element { name: name.into(), attributes: Vec::new(), line, span }
    }

    /// The same with one more attribute.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Element {
        self.attributes.push((Cow::Borrowed(name), value.into()));
        self
    }

    /// The same with one more attribute, where there is a value.
    pub fn with_some(self, name: &'static str, value: Option<impl Into<String>>) -> Element {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// The value of an attribute, empty where it is not there.
    pub fn get(&self, name: &str) -> &str {
        self.find(name).unwrap_or("")
    }

    /// The value of an attribute.
    pub fn find(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The values of `stem`, and of `stem_1`, `stem_2`, ...
    pub fn all<'a>(&'a self, stem: &'a str) -> impl Iterator<Item = &'a str> {
        self.attributes.iter().filter_map(move |(name, value)| {
            let rest = name.strip_prefix(stem)?;
            let numbered = rest.strip_prefix('_').is_some_and(|d| d.bytes().all(|b| b.is_ascii_digit()));
            (rest.is_empty() || numbered).then_some(value.as_str())
        })
    }

    /// The set in an attribute; `_` where it is not given.
    pub fn set(&self, name: &str) -> SetName {
        match self.get(name) {
            "" => "_".to_owned(),
            set => set.to_owned(),
        }
    }
}

/// What an element is by itself, without its children.
#[derive(Debug, Clone)]
pub(super) enum Part {
    /// `osm-script`.
    Script(Box<Settings>),
    /// A statement that has no children.
    Statement(StatementKind),
    /// `query`.
    Query { what: QueryType, into: SetName },
    /// A statement with statements in it.
    Block(Block),
    /// `make` or `convert`.
    Produce { convert: bool, from: SetName, into: SetName, type_name: String },
    /// `set-prop`.
    Property(PropertyTarget),
    /// A filter, and the query that it is when it stands as a statement.
    Filter { kind: FilterKind, alone: Option<QueryType>, into: SetName },
    /// `filter`: what an evaluator is true for.
    If,
    /// `else`.
    Else,
    /// An evaluator.
    Evaluator(Evaluator),
    /// Something that was refused; the reason is among the diagnostics.
    Broken,
}

/// The statements with statements in them.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub(super) enum Block {
    Union { into: SetName },
    Difference { into: SetName },
    Foreach { from: SetName, into: SetName },
    For { from: SetName, into: SetName },
    If,
    Complete { from: SetName, into: SetName, limit: u64 },
    Retro,
    Compare { from: SetName, into: SetName },
}

/// Evaluators without their operands.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub(super) enum Evaluator {
    Fixed(String),
    Tag,
    Generic,
    SetKey {
        set: SetName,
        key: String,
    },
    /// A function, its set, and the arguments that are attributes.
    Call {
        function: Function,
        set: Option<SetName>,
        words: Vec<String>,
    },
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Ternary,
}

/// An element with what it is and its children.
#[derive(Debug)]
pub(crate) struct Node {
    /// As written.
    pub element: Element,
    /// What it is.
    pub(super) part: Part,
    /// What is in it.
    pub children: Vec<Node>,
    /// How often it sets which property.
    pub(super) properties: BTreeMap<PropertyTarget, usize>,
}

impl Node {
    /// Whether it is an evaluator.
    pub fn is_evaluator(&self) -> bool {
        matches!(self.part, Part::Evaluator(_))
    }
}
