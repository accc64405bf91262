//! Parses OverpassQL and its XML form into one syntax tree, with the reference's diagnostics. Also converts a query
//! back to text in either form. It does not know any data and starts no threads.
//!
//! The reference is Overpass API 0.7.62: it defines the accepted queries and the error texts. Both front ends create
//! elements with attributes. Each element is checked on creation; then the elements are converted to the tree.
//!
//! ```
//! use terrapin_overpass_syntax::{StatementKind, parse};
//!
//! let script = parse("[out:json]; node[amenity=cafe](35.8,14.4,36.0,14.6); out ids;")?;
//! assert_eq!(script.settings.timeout, 180);
//! assert!(matches!(script.statements[0].kind, StatementKind::Query(_)));
//!
//! // Errors are the reference's. In addition, they have a position in the text and suggest a correction.
//! let failure = parse("node[amenity=cafe](35.8,14.4,36.0,14.6) out;").unwrap_err();
//! assert_eq!(failure.to_string(), "line 1: parse error: ';' expected - 'out' found.");
//! # Ok::<(), terrapin_overpass_syntax::OverpassFailure>(())
//! ```
//!
//! ```
//! use terrapin_overpass_syntax::convert::{ConversionForm, convert};
//!
//! let xml = "<osm-script><query type=\"way\"><has-kv k=\"highway\"/></query><print/></osm-script>";
//! let compact = convert(xml, ConversionForm::Compact)?;
//! assert_eq!(compact.text.trim(), "way[\"highway\"];out;");
//! # Ok::<(), terrapin_overpass_syntax::OverpassFailure>(())
//! ```

mod builder;
mod check;
mod code;
pub mod convert;
mod diagnostics;
mod element;
mod error;
mod filter;
pub mod grammar;
mod hints;
mod lower;
mod names;
mod parse;
pub mod pieces;
mod popup;
pub mod posix;
mod reader;
mod source;
mod statement;
mod suggest;
mod token;
mod tree;
pub mod vocabulary;
mod writer;
pub mod xapi;
mod xml;

pub use check::numbers::{float, float_prefix, integer, number_text, timestamp};
pub use code::{OverpassCode, OverpassDiagnostic};
pub use error::OverpassFailure;
pub use filter::*;
pub use source::parse;
pub use statement::*;
pub use terrapin_diagnostic::DiagnosticClass;
pub use tree::*;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use check::CheckContext;
use diagnostics::Diagnostics;
use element::{Evaluator, SyntaxElement};
use names::SyntaxNames;
use terrapin_budget as budget;

/// The meaning of one element, without its children. Defined here because all modules use it, and because it
/// refers to statements and filters.
#[derive(Debug, Clone)]
pub(crate) enum ElementMeaning {
    /// `osm-script`.
    Script(Box<QlSettings>),
    /// A statement. Its children are added after all of it is parsed.
    Statement(StatementKind),
    /// A filter.
    Filter { kind: FilterKind, alone: Alone, into: SetName },
    /// `set-prop`.
    Property(PropertyTarget),
    /// `else`.
    Else,
    /// An evaluator.
    Evaluator(Evaluator),
    /// A rejected element; its error is among the diagnostics.
    Broken,
}

/// The meaning of a filter in the place of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alone {
    /// An error: the filter is not allowed here.
    Misplaced,
    /// Accepted without any effect, as in the reference.
    Ignored,
    /// A query for this type.
    Query(QueryType),
}

/// The definition of an element, by its name in the XML form.
pub(crate) struct ElementSyntax {
    /// The element's name.
    pub name: &'static str,
    /// The allowed attributes.
    pub attributes: &'static [&'static str],
    /// The allowed attributes that can be repeated with a number: `ref`, `ref_1`, `ref_2`, ...
    pub numbered: &'static [&'static str],
    /// Checks an element. Returns `None` if it is rejected or belongs to another form of the same name.
    pub check: fn(&mut CheckContext<'_>) -> Option<ElementMeaning>,
    /// Whether the reference also checks the element in a conversion.
    pub checked_in_converting: bool,
    /// Returns the attributes that the reference keeps in a conversion, as it writes them. `None` keeps all unchanged.
    pub values: fn(&SyntaxElement) -> Option<writer::Values>,
}

impl ElementSyntax {
    /// The defaults of most elements.
    pub const NONE: ElementSyntax = ElementSyntax {
        name: "",
        attributes: &[],
        numbered: &[],
        check: |_| None,
        checked_in_converting: false,
        values: |_| None,
    };

    /// Iterates over all forms except evaluators.
    pub fn all() -> impl Iterator<Item = &'static ElementSyntax> {
        [&check::settings::FORM].into_iter().chain(statement::forms()).chain(filter::forms())
    }

    /// Returns the forms with a name. Some names have several forms, selected by the `type` attribute.
    pub fn named(name: &str) -> &'static [&'static ElementSyntax] {
        static NAMES: LazyLock<SyntaxNames<ElementSyntax>> =
            LazyLock::new(|| SyntaxNames::of(ElementSyntax::all().map(|form| (form.name, form))));
        NAMES.all(name)
    }
}

impl ElementMeaning {
    /// Checks an element and returns its meaning. If it is rejected, returns `None` and adds the error to the
    /// diagnostics.
    pub fn of(element: &SyntaxElement, diagnostics: &mut Diagnostics) -> Option<ElementMeaning> {
        let context = &mut CheckContext::new(element, diagnostics);
        let named = ElementSyntax::named(&element.name);
        if let Some(form) = named.first() {
            context.know_attributes(form);
        }
        let part = named.iter().find_map(|form| (form.check)(context));
        let part = part.or_else(|| check::evaluators::part(context));
        if part.is_none() && !context.refused {
            let message = format!("Unknown tag \"{}\" in line {}.", element.name, element.line);
            context.refuse(OverpassCode::UnknownElement, message);
            let meant = suggest::nearest(&element.name, ElementSyntax::all().map(|form| form.name));
            context.diagnostics.suggest(meant, None);
        }
        part.filter(|_| !context.refused)
    }

    /// Returns whether an element with this name exists.
    pub fn is_known(name: &str) -> bool {
        !ElementSyntax::named(name).is_empty() || check::evaluators::is_known(name)
    }

    /// Returns whether it is valid as a statement.
    pub fn is_statement(&self) -> bool {
        matches!(self, ElementMeaning::Statement(_) | ElementMeaning::Filter { alone: Alone::Query(_), .. })
    }

    /// Returns whether it is allowed in a block. The reference ignores some of the allowed elements.
    pub fn fits_in_block(&self) -> bool {
        self.is_statement() || self.is_ignored()
    }

    /// Returns whether it has no effect as a statement.
    pub fn is_ignored(&self) -> bool {
        matches!(self, ElementMeaning::Filter { alone: Alone::Ignored, .. })
    }

    /// Returns whether it only takes elements that write their result to a set.
    pub fn wants_results(&self) -> bool {
        matches!(self, ElementMeaning::Statement(kind) if kind.wants_results())
    }

    /// Returns whether `child` is allowed inside it.
    pub fn takes(&self, child: &ElementMeaning) -> bool {
        match (self, child) {
            (_, ElementMeaning::Broken) | (ElementMeaning::Broken, _) => true,
            (ElementMeaning::Script(_), child) => child.fits_in_block(),
            (ElementMeaning::Statement(kind), child) => kind.takes(child),
            (ElementMeaning::Filter { kind, .. }, ElementMeaning::Evaluator(_)) => kind.expression().is_some(),
            (ElementMeaning::Property(_) | ElementMeaning::Evaluator(_), child) => {
                matches!(child, ElementMeaning::Evaluator(_))
            }
            _ => false,
        }
    }
}

/// An element with its meaning and its children.
#[derive(Debug)]
pub(crate) struct ElementTreeNode {
    /// The element as written.
    pub element: SyntaxElement,
    /// The element's meaning.
    pub part: ElementMeaning,
    /// The elements inside it.
    pub children: Vec<ElementTreeNode>,
    /// The number of times that each property is set.
    pub properties: BTreeMap<PropertyTarget, usize>,
}

impl ElementTreeNode {
    /// Removes positions and puts the filters of queries into the order in which QL is written.
    fn normalize(&mut self) {
        budget::checkpoint();
        self.element.line = 0;
        self.element.span = SourceSpan::default();
        if self.element.name == "query" {
            self.children.sort_by_key(|child| !child.leads());
        }
        self.children.iter_mut().for_each(ElementTreeNode::normalize);
    }

    /// Returns whether it is an evaluator.
    pub fn is_evaluator(&self) -> bool {
        matches!(self.part, ElementMeaning::Evaluator(_))
    }

    /// Returns the element's name in the reference's parser of QL: a query with a single filter of some kinds has that
    /// filter's name.
    pub fn name_in_ql(&self) -> &str {
        match (&self.part, self.children.as_slice()) {
            (ElementMeaning::Statement(StatementKind::Query(query)), [one]) => match &one.part {
                ElementMeaning::Filter { kind, .. } if kind.stands_alone(query.what) => &one.element.name,
                _ => &self.element.name,
            },
            _ => &self.element.name,
        }
    }
}

/// The examples of the README, which are tests as well.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_has_no_line() {
        for text in ["", " ", "\n\t\n"] {
            let failure = parse(text).expect_err("nothing is asked for");
            assert_eq!(failure.to_string(), "encoding error: Your input contains only whitespace.");
        }
    }

    #[test]
    fn names_unknown_attributes() {
        let mut diagnostics = Diagnostics::default();
        let element = SyntaxElement::new("osm-script", 1, Default::default()).with("foo", "1");
        assert!(ElementMeaning::of(&element, &mut diagnostics).is_none());
        let text = diagnostics.into_failure().to_string();
        assert_eq!(text, "line 1: static error: Unknown attribute \"foo\" in element \"osm-script\".");
    }

    /// The range of a filter is its text with its brackets, also when other filters follow.
    #[test]
    fn filters_end_at_their_closing_bracket() {
        let filters = [
            "[name]",
            "[ !\"name\" ]",
            "[~\"^n\"~\"a)\",i]",
            "(1)",
            "(id:1,2)",
            "( 1,2 , 3,4 )",
            "(bbox:1,2,3,4)",
            "(around.a:5)",
            "(around:5,1,2)",
            "(poly:\"1 2 3 4 5 6\")",
            "(area.a)",
            "(area:1)",
            "(r.a:\"x\")",
            "(>>.a)",
            "(user:\"a\",\")\")",
            "(newer:\"2020-01-01T00:00:00Z\")",
            "(changed:\"2020-01-01T00:00:00Z\")",
            "(if:(1+1)*2 == count_tags())",
            ".a",
        ];
        let after = "[k=v](user:\"z\") (1,2,3,4)->.b;";
        let alone = filters.iter().map(|filter| (*filter, format!("node{filter};")));
        for (filter, text) in alone.chain(filters.iter().map(|filter| (*filter, format!("node{filter}{after}")))) {
            let script = parse(&text).unwrap_or_else(|failure| panic!("{text}: {failure}"));
            let StatementKind::Query(query) = &script.statements[0].kind else { panic!("{text}: a query") };
            let spans: Vec<_> = query.filters.iter().map(|filter| &text[filter.span.start..filter.span.end]).collect();
            assert_eq!(spans[0], filter, "{text}");
            assert!(spans.len() == 1 || spans[1..] == ["[k=v]", "(user:\"z\")", "(1,2,3,4)"], "{text}: {spans:?}");
        }
    }

    /// Collects the names of all elements in a query.
    fn names_in(node: &ElementTreeNode, names: &mut std::collections::BTreeSet<String>) {
        names.insert(format!("{} {}", node.element.name, node.element.get("type")));
        names.insert(node.element.name.to_string());
        node.children.iter().for_each(|child| names_in(child, names));
    }

    /// Checks that each element of the language has a case: `docs/reference/features.md` is generated from the case
    /// files.
    #[test]
    fn every_element_has_a_case() {
        let folder = std::path::PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tests this"))
            .join("../../tests/cases/overpass");
        let mut names = std::collections::BTreeSet::new();
        for area in std::fs::read_dir(folder).expect("the cases").map(|entry| entry.expect("an entry").path()) {
            for file in std::fs::read_dir(area).into_iter().flatten().map(|entry| entry.expect("an entry").path()) {
                let text = std::fs::read_to_string(file).expect("a case file");
                for case in text.split("\n== ").skip(1) {
                    let query =
                        case.split_once('\n').map_or("", |(_, rest)| rest.split("\n-- ").next().unwrap_or(rest));
                    if let Ok((Some(root), _)) = source::outline(query) {
                        names_in(&root, &mut names);
                    }
                }
            }
        }
        let functions = check::evaluators::elements().map(|(name, property)| match property {
            "" => name.to_owned(),
            property => format!("{name} {property}"),
        });
        let all = ElementSyntax::all()
            .map(|form| form.name)
            .chain(check::evaluators::OTHERS)
            .map(str::to_owned)
            .chain(functions);
        let lacking: Vec<String> = all.filter(|name| !names.contains(name)).collect();
        assert!(lacking.is_empty(), "no case in tests/cases/overpass has {lacking:?}");
    }

    #[test]
    fn statements_have_the_names_that_the_reference_stops_them_by() {
        let names = |text: &str| {
            let script = parse(text).expect("a query");
            script.statements.iter().map(|statement| (statement.kind.name(), statement.line)).collect::<Vec<_>>()
        };
        let alone =
            "node(1);node(1,2,3,4);node(around:5);node(poly:\"1 2 3 4 5 6\");way(r);wr(bn);node(way_cnt:2);nw(r);";
        let expected =
            ["id-query", "bbox-query", "around", "polygon-query", "recurse", "recurse", "recurse", "recurse"];
        assert_eq!(names(alone), expected.map(|name| (name, 1)));
        let together = "nwr(1);way(around:5);node(user:\"x\");node(area);nwr(r);nwr(id:1);way(<);area(1);node._(1);";
        assert!(names(together).iter().all(|(name, _)| *name == "query"));
        assert_eq!(names("convert x\na=1;local;node\n\n[a]\n(1);"), [("convert", 2), ("localize", 2), ("query", 4)]);
    }
}
