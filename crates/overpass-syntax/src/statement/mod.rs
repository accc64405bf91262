//! Defines the statements, one module each: its part of the tree, its words and attributes, and how it is parsed,
//! checked and written. To add a statement, add a module and its lines in this file; no other file lists them.

mod blocks;
mod body;
mod choice;
mod compare;
mod complete;
mod convert;
mod difference;
mod for_;
mod foreach;
mod is_in;
mod item;
mod local;
mod make;
mod map_to_area;
mod out;
mod properties;
mod query;
mod recurse;
mod retro;
mod timeline;
mod union;

pub(crate) use blocks::script;
pub use choice::If;
pub use compare::Compare;
pub use complete::Complete;
pub use convert::Convert;
pub use difference::Difference;
pub use for_::For;
pub use foreach::Foreach;
pub use is_in::{IsIn, IsInPlace};
pub use item::Item;
pub use local::{Local, LocalDetail};
pub use make::Make;
pub use map_to_area::MapToArea;
pub use out::{Detail, Out, OutGeometry, OutputOrder};
pub use query::Query;
pub(crate) use query::WORDS as QUERY_WORDS;
pub use recurse::Recursion;
pub use retro::Retro;
pub use timeline::Timeline;
pub use union::Union;

use std::sync::LazyLock;

use crate::check::evaluators::operands;
use crate::code::OverpassCode;
use crate::diagnostics::Diagnostics;
use crate::filter::{self, FilterKind};
use crate::names::SyntaxNames;
use crate::parse::{QlParser, Start};
use crate::tree::{EvaluatorExpression, QlSettings, SetName, SourceSpan};
use crate::writer::QlWriter;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// Generates the enum of statements and the table of their syntax.
macro_rules! statements {
    ($($(#[$doc:meta])* $module:ident::$name:ident,)*) => {
        /// A statement of the language.
        #[derive(Debug, Clone, PartialEq)]
        pub enum StatementKind {
            $($(#[$doc])* $name($name),)*
        }

        $(impl From<$name> for StatementKind {
            fn from(statement: $name) -> Self {
                StatementKind::$name(statement)
            }
        })*

        impl StatementKind {
            fn facts(&self) -> &dyn StatementProperties {
                match self {
                    $(StatementKind::$name(statement) => statement,)*
                }
            }

            fn facts_mut(&mut self) -> &mut dyn StatementProperties {
                match self {
                    $(StatementKind::$name(statement) => statement,)*
                }
            }
        }

        /// All statements, in the order in which elements of the same name are tried.
        static ALL: &[StatementGrammar] = &[$($module::SYNTAX,)*];
    };
}

statements! {
    /// `node[...](...)->.into`.
    query::Query,
    /// `( ...; ...; )->.into`.
    union::Union,
    /// `( base; - minus; )->.into`.
    difference::Difference,
    /// `.from` on its own.
    item::Item,
    /// `>`, `>>`, `<`, `<<`.
    recurse::Recursion,
    /// `is_in`.
    is_in::IsIn,
    /// `map_to_area`.
    map_to_area::MapToArea,
    /// `foreach.from->.into( body )`.
    foreach::Foreach,
    /// `for.from->.into(evaluator) { body }`.
    for_::For,
    /// `if (condition) { then } else { otherwise }`.
    choice::If,
    /// `complete.from->.into(limit) { body }`.
    complete::Complete,
    /// `retro(evaluator) { body }`.
    retro::Retro,
    /// `compare.from->.into(delta: evaluator) { body }`.
    compare::Compare,
    /// `timeline(type, id, version)`.
    timeline::Timeline,
    /// `make type key=evaluator,...`.
    make::Make,
    /// `convert type key=evaluator,...`.
    convert::Convert,
    /// `.from local detail (bbox)`.
    local::Local,
    /// `.from out mode ...`.
    out::Out,
}

/// A whole query.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// The settings before the first statement.
    pub settings: QlSettings,
    /// The statements, in order.
    pub statements: Vec<Statement>,
}

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The position in the text.
    pub span: SourceSpan,
    /// The line (from 1) in the reference's errors about the statement.
    pub line: u32,
    /// The kind of statement, with its contents.
    pub kind: StatementKind,
}

/// A block of statements.
pub type Block = Vec<Statement>;

/// The syntax of a kind of statement.
struct StatementGrammar {
    /// The elements in the XML form, the statement's own first.
    elements: &'static [ElementSyntax],
    /// The words that begin the statement in QL.
    words: &'static [&'static str],
    /// Whether the input set comes before the word.
    set_first: bool,
    /// Parses the statement in QL, from its word to its semicolon. Returns `None` if an error leaves no statement.
    read: fn(&mut QlParser<'_>, Start) -> Option<ElementTreeNode>,
    /// Writes the statement in QL, with its semicolon. The last argument is the depth of indentation. The first line
    /// is already indented, and the last one gets no line break.
    write: fn(&mut QlWriter, &ElementTreeNode, usize),
}

/// Properties of a statement.
trait StatementProperties {
    /// Returns the reference's name. Its errors use it for the statement at which a query was stopped.
    fn name(&self) -> &'static str;

    /// Returns the input set, not counting filters.
    fn input_set(&self) -> Option<&SetName> {
        None
    }

    /// Returns the result set. That of a loop is only for its body.
    fn result_set(&self) -> Option<&SetName> {
        None
    }

    /// Returns the blocks of the statement, in the order of the text. Missing ones are empty.
    fn blocks(&self) -> [&[Statement]; 2] {
        [&[], &[]]
    }

    /// Returns the statement's own expressions, in the order of the text, without those of its blocks.
    fn expressions(&self) -> Vec<&EvaluatorExpression> {
        Vec::new()
    }

    /// Returns whether the statement uses areas, not counting its blocks.
    fn asks_for_areas(&self) -> bool {
        false
    }

    /// Returns whether it can be an operand of a union or a difference.
    fn is_operand(&self) -> bool {
        true
    }

    /// Returns the filter that the statement becomes inside a query.
    fn as_filter(&self) -> Option<FilterKind> {
        None
    }

    /// Returns whether an element is allowed inside the statement.
    fn takes(&self, _child: &ElementMeaning) -> bool {
        false
    }

    /// Returns whether it only takes elements that write their result to a set.
    fn wants_results(&self) -> bool {
        false
    }

    /// Returns the statement's name in errors, such as `A For`, if an evaluator must come first inside it.
    fn begins_with_evaluator(&self) -> Option<&'static str> {
        None
    }

    /// Checks the statement after all its children are known. Returns an error if it is incomplete.
    fn incomplete(&self, children: &[ElementTreeNode]) -> Option<(OverpassCode, String)> {
        let lacks_evaluator = self.begins_with_evaluator().is_some() && children.is_empty();
        let message = || format!("Element \"{}\" needs an evaluator.", self.name());
        lacks_evaluator.then(|| (OverpassCode::IncompleteStatement, message()))
    }

    /// Adds the children to the tree. Returns `None` if one is missing.
    fn fill(&mut self, _children: Vec<ElementTreeNode>) -> Option<()> {
        Some(())
    }
}

impl StatementKind {
    /// Returns the reference's name. Its errors use it for the statement at which a query was stopped.
    pub fn name(&self) -> &'static str {
        self.facts().name()
    }

    /// Returns the input set, not counting filters.
    pub fn input_set(&self) -> Option<&SetName> {
        self.facts().input_set()
    }

    /// Returns the result set. That of a loop is only for its body.
    pub fn result_set(&self) -> Option<&SetName> {
        self.facts().result_set()
    }

    /// Returns the blocks of the statement, in the order of the text. Missing ones are empty.
    pub fn blocks(&self) -> [&[Statement]; 2] {
        self.facts().blocks()
    }

    /// Returns the statement's own expressions, in the order of the text, without those of its blocks.
    pub fn expressions(&self) -> Vec<&EvaluatorExpression> {
        self.facts().expressions()
    }

    /// Returns whether the statement uses areas, not counting its blocks.
    pub fn asks_for_areas(&self) -> bool {
        self.facts().asks_for_areas()
    }

    /// Returns whether it only takes elements that write their result to a set.
    pub(crate) fn wants_results(&self) -> bool {
        self.facts().wants_results()
    }

    /// Returns whether an element is allowed inside the statement.
    pub(crate) fn takes(&self, child: &ElementMeaning) -> bool {
        self.facts().takes(child)
    }
}

/// The statements, by their first word.
static WORDS: LazyLock<SyntaxNames<StatementGrammar>> = LazyLock::new(|| {
    SyntaxNames::of(ALL.iter().flat_map(|syntax| syntax.words.iter().map(move |word| (*word, syntax))))
});

/// The statements, by the names of their elements.
static ELEMENTS: LazyLock<SyntaxNames<StatementGrammar>> = LazyLock::new(|| {
    SyntaxNames::of(ALL.iter().flat_map(|syntax| syntax.elements.iter().map(move |form| (form.name, syntax))))
});

/// Calls `f` with each statement of a block and of all nested blocks, outer statements first.
pub fn on_statements<'a>(block: &'a [Statement], f: &mut dyn FnMut(&'a Statement)) {
    for statement in block {
        f(statement);
        statement.kind.blocks().into_iter().for_each(|block| on_statements(block, f));
    }
}

/// Iterates over the elements of all statements.
pub(crate) fn forms() -> impl Iterator<Item = &'static ElementSyntax> {
    ALL.iter().flat_map(|syntax| syntax.elements)
}

/// Iterates over the words and signs that begin a statement or a part of one.
pub(crate) fn all_words() -> impl Iterator<Item = &'static str> {
    ALL.iter().flat_map(|syntax| syntax.words).copied().chain([choice::ELSE])
}

/// Iterates over the words among them, without the signs, for hints.
fn words() -> impl Iterator<Item = &'static str> {
    all_words().filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
}

impl QlParser<'_> {
    /// Parses one statement with its semicolon. Returns `None` if an error leaves no statement.
    pub fn statement(&mut self) -> Option<ElementTreeNode> {
        let (byte, line) = (self.tokens.current().start, self.tokens.line());
        let syntax = WORDS.first(self.tokens.text());
        if let Some(syntax) = syntax.filter(|syntax| !syntax.set_first) {
            return (syntax.read)(self, Start { byte, line, from: None });
        }
        let from = if self.tokens.is(".") && self.tokens.is_last() {
            // A dot at the end of the text does not begin the name of a set.
            self.tokens.advance();
            None
        } else {
            self.set()
        };
        let start = Start { byte, line, from };
        let syntax = WORDS.first(self.tokens.text()).filter(|syntax| syntax.set_first);
        match syntax.filter(|_| self.tokens.good() || start.from.is_none()) {
            Some(syntax) => (syntax.read)(self, start),
            None if start.from.is_some() && matches!(self.tokens.text(), "[" | "(") => {
                query::read_behind_set(self, start)
            }
            None if start.from.is_some() => (item::SYNTAX.read)(self, start),
            None => (query::SYNTAX.read)(self, start),
        }
    }
}

impl QlWriter {
    /// Writes a statement with its semicolon. The caller has written the indentation of its first line, and ends its
    /// last line.
    pub fn statement(&mut self, node: &ElementTreeNode, depth: usize) {
        match ELEMENTS.first(&node.element.name) {
            Some(syntax) => (syntax.write)(self, node, depth),
            None => self.filter_alone(node),
        }
    }

    /// Writes a filter that is used as a statement.
    fn filter_alone(&mut self, node: &ElementTreeNode) {
        let Some(what) = filter::query_word(&node.element) else { return };
        self.out.push_str(what);
        self.out.push_str(&filter::text(node));
        self.into(&node.element);
        self.out.push(';');
    }
}

impl ElementTreeNode {
    /// Returns an error message if a block needs an evaluator first, has none, and `child` is none either.
    pub fn before_evaluator(&self, child: &ElementTreeNode) -> Option<String> {
        let ElementMeaning::Statement(kind) = &self.part else { return None };
        let name = kind.facts().begins_with_evaluator()?;
        let first = self.children.first().is_some_and(ElementTreeNode::is_evaluator);
        (!first && !child.is_evaluator() && !matches!(child.part, ElementMeaning::Broken | ElementMeaning::Else))
            .then(|| format!("{name} statement must have an Evaluator as first sub-statement."))
    }

    /// Runs the checks that require all children.
    pub fn check_complete(&self, diagnostics: &mut Diagnostics) {
        let problem = match &self.part {
            ElementMeaning::Statement(kind) => kind.facts().incomplete(&self.children),
            ElementMeaning::Filter { kind, .. } => kind.incomplete(&self.children),
            ElementMeaning::Evaluator(kind) => {
                let (least, most) = operands(kind);
                let count = self.children.len();
                let what = match count {
                    _ if count < least => Some("needs more evaluators in it"),
                    _ if count > most => Some("has too many evaluators in it"),
                    _ => None,
                };
                what.map(|what| {
                    (OverpassCode::IncompleteStatement, format!("Element \"{}\" {what}.", self.element.name))
                })
            }
            _ => None,
        };
        // The reference reports only some of these errors. The others are added only if the query has no other error.
        let own = |code: &OverpassCode| *code == OverpassCode::IncompleteStatement;
        if let Some((code, message)) = problem.filter(|(code, _)| !own(code) || diagnostics.is_empty()) {
            diagnostics.fixed(code, self.element.line, self.element.span, message);
        }
    }
}
