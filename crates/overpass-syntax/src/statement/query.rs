//! The statement `node[...](...).set->.into`: finds the elements that pass filters. The filters are in `filter/`.

use super::{StatementGrammar, StatementProperties, words};
use crate::check::CheckContext;
use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::filter::{self, Brackets, Filter};
use crate::parse::{QlParser, Start};
use crate::suggest;
use crate::tree::{EvaluatorExpression, QueryType, SetName};
use crate::writer::QlWriter;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// A query statement: a type, and filters that must all hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The type.
    pub what: QueryType,
    /// The filters, as written.
    pub filters: Vec<Filter>,
    /// The set for the result.
    pub into: SetName,
}

/// The words that begin a query.
pub(crate) const WORDS: &[&str] = &["node", "way", "rel", "relation", "nwr", "nw", "nr", "wr", "area", "derived"];

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "query",
        attributes: &["into", "type"],
        check: |context| {
            let query = Query { what: query_type(context)?, filters: Vec::new(), into: context.sets().1 };
            Some(ElementMeaning::Statement(query.into()))
        },
        ..ElementSyntax::NONE
    }],
    words: WORDS,
    set_first: false,
    read,
    write,
};

impl StatementProperties for Query {
    fn name(&self) -> &'static str {
        match self.filters.as_slice() {
            [one] if one.kind.stands_alone(self.what) => one.kind.element(),
            _ => "query",
        }
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn expressions(&self) -> Vec<&EvaluatorExpression> {
        self.filters.iter().filter_map(|filter| filter.kind.expression()).collect()
    }

    fn asks_for_areas(&self) -> bool {
        self.what == QueryType::Area || self.filters.iter().any(|filter| filter.kind.asks_for_areas())
    }

    fn takes(&self, child: &ElementMeaning) -> bool {
        match child {
            ElementMeaning::Statement(kind) => kind.facts().as_filter().is_some(),
            child => matches!(child, ElementMeaning::Filter { .. }),
        }
    }

    fn fill(&mut self, children: Vec<ElementTreeNode>) -> Option<()> {
        self.filters = children.into_iter().map(filter).collect::<Option<_>>()?;
        Some(())
    }
}

/// Converts an element in a query to a filter.
fn filter(node: ElementTreeNode) -> Option<Filter> {
    let span = node.element.span;
    let kind = match node.part {
        ElementMeaning::Filter { mut kind, .. } => {
            kind.fill(node.children)?;
            kind
        }
        ElementMeaning::Statement(kind) => kind.facts().as_filter()?,
        _ => return None,
    };
    Some(Filter { span, kind })
}

fn query_type(context: &mut CheckContext<'_>) -> Option<QueryType> {
    let what = type_named(context.element.get("type"));
    if what.is_none() {
        let allowed = "\"node\", \"way\", \"relation\", \"nwr\", \"nw\", \"wr\", \"nr\", or \"area\"";
        context.refuse_value("type", allowed);
    }
    what
}

fn type_named(name: &str) -> Option<QueryType> {
    Some(match name {
        "node" => QueryType::Node,
        "way" => QueryType::Way,
        "relation" => QueryType::Relation,
        "nwr" => QueryType::Nwr,
        "nw" => QueryType::Nw,
        "nr" => QueryType::Nr,
        "wr" => QueryType::Wr,
        "area" => QueryType::Area,
        "derived" => QueryType::Derived,
        _ => return None,
    })
}

/// A filter as written.
enum FilterSyntax<'a> {
    /// A condition on tags or on a set.
    Condition(SyntaxElement),
    /// Any other filter.
    Clause(Brackets<'a>),
}

/// Parses a query up to its semicolon. It may begin with any word; an unknown one is an error.
fn read(parser: &mut QlParser<'_>, mut start: Start) -> Option<ElementTreeNode> {
    let word = parser.tokens.current();
    let what = match word.text {
        "rel" => "relation".to_owned(),
        text if SYNTAX.words.contains(&text) => text.to_owned(),
        _ => {
            parser.error(OverpassCode::UnknownStatement, format!("Unknown type \"{}\"", word.quoted()));
            let diagnostics = &mut parser.builder.diagnostics;
            match word.text {
                "-." => diagnostics.help(Some("put a space between \"-\" and \".\"".to_owned())),
                ";" => diagnostics.help(Some("one of the semicolons here is too many".to_owned())),
                text => diagnostics.suggest(suggest::nearest(text, words()), Some(word.span())),
            }
            word.value()
        }
    };
    parser.tokens.advance();
    let mut written = Vec::new();
    if parser.tokens.is(".") && !parser.tokens.is_last() {
        written.push(FilterSyntax::Condition(filter::read_set(parser, false)));
    }
    // The reference names the current line at this point.
    start.line = parser.tokens.line();
    read_filters(parser, &start, &what, written)
}

/// Parses `.set[...]`. Like the reference, interprets it as a query without a type.
pub(super) fn read_behind_set(parser: &mut QlParser<'_>, start: Start) -> Option<ElementTreeNode> {
    let set = filter::set_element(parser, &start, start.set());
    read_filters(parser, &start, "", vec![FilterSyntax::Condition(set)])
}

/// Parses the filters after the word of a query.
fn read_filters<'a>(
    parser: &mut QlParser<'a>,
    start: &Start,
    what: &str,
    mut written: Vec<FilterSyntax<'a>>,
) -> Option<ElementTreeNode> {
    while parser.goes_on() {
        match parser.tokens.text() {
            "[" => written.extend(filter::read_tag(parser).map(FilterSyntax::Condition)),
            "(" => written.extend(parser.brackets().map(FilterSyntax::Clause)),
            "." if parser.tokens.is_last() => parser.tokens.advance(),
            "." => written.push(FilterSyntax::Condition(filter::read_set(parser, !written.is_empty()))),
            _ => break,
        }
    }
    let into = parser.into();
    if written.is_empty() && !parser.bbox {
        parser.error(OverpassCode::EmptyQuery, "An empty query is not allowed");
        parser.expect(&[";"]);
        return None;
    }
    let element = parser.element("query", start).with("into", into).with("type", what);
    let query = match written.as_slice() {
        [FilterSyntax::Clause(brackets)] => alone(parser, element, brackets, what),
        _ => Some(together(parser, element, written, what)),
    };
    parser.expect(&[";"]);
    // In a conversion, the reference drops a query if all of its filters were rejected.
    let is_left = |query: &ElementTreeNode| query.element.name != "query" || !query.children.is_empty();
    query.filter(|query| !parser.builder.converting || is_left(query))
}

/// Creates a query with a single clause. The reference creates the clause before the query; without a valid clause,
/// there is no query.
fn alone<'a>(
    parser: &mut QlParser<'a>,
    element: SyntaxElement,
    brackets: &Brackets<'a>,
    what: &str,
) -> Option<ElementTreeNode> {
    let mut clause = parser.clause(brackets, what)?;
    if clause.replaces_query(what) && !clause.finds(type_named(what)) {
        // The clause is a statement of its own, for other types than the query's.
        clause.give_result(element.set("into"));
        return Some(clause);
    }
    let mut query = parser.builder.open(element);
    parser.builder.add(&mut query, clause);
    Some(query)
}

/// Creates a query with other filters. Like the reference, creates conditions on tags and sets first.
fn together<'a>(
    parser: &mut QlParser<'a>,
    element: SyntaxElement,
    written: Vec<FilterSyntax<'a>>,
    what: &str,
) -> ElementTreeNode {
    let mut query = parser.builder.open(element);
    let mut filters: Vec<Option<ElementTreeNode>> = Vec::new();
    let mut clauses = Vec::new();
    for filter in written {
        match filter {
            FilterSyntax::Condition(element) => filters.push(Some(parser.builder.open(element))),
            FilterSyntax::Clause(brackets) => {
                clauses.push((filters.len(), brackets));
                filters.push(None);
            }
        }
    }
    for (at, brackets) in clauses {
        filters[at] = parser.clause(&brackets, what);
    }
    for filter in filters.into_iter().flatten() {
        parser.builder.add(&mut query, filter);
    }
    query
}

fn write(writer: &mut QlWriter, query: &ElementTreeNode, depth: usize) {
    let what = query.element.get("type");
    writer.out.push_str(what);
    let (sets, filters): (Vec<&ElementTreeNode>, Vec<&ElementTreeNode>) =
        query.sorted_filters().partition(|node| node.element.name == "item");
    for set in sets {
        writer.out.push_str(&filter::text(set));
    }
    let lines = writer.pretty && filters.len() > 1;
    for node in filters {
        if lines {
            writer.out.push('\n');
            writer.indent(depth + 1);
        }
        writer.out.push_str(&filter::text(node));
    }
    if lines && !writer.result_text(&query.element).is_empty() {
        writer.out.push('\n');
        writer.indent(depth + 1);
    }
    writer.into(&query.element);
    writer.out.push(';');
}
