//! The statement `node[...](...).set->.into`: finds the elements that pass filters. The filters are in `filter/`.

use super::{Facts, Syntax, words};
use crate::check::Context;
use crate::code::Code;
use crate::convert::Writer;
use crate::element::Element;
use crate::filter::{self, Brackets, Filter};
use crate::parse::{Parser, Start};
use crate::suggest;
use crate::tree::{Expr, QueryType, SetName};
use crate::{Form, Node, Part};

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

pub(super) const SYNTAX: Syntax = Syntax {
    elements: &[Form {
        name: "query",
        attributes: &["into", "type"],
        check: |context| {
            let query = Query { what: query_type(context)?, filters: Vec::new(), into: context.sets().1 };
            Some(Part::Statement(query.into()))
        },
        ..Form::NONE
    }],
    words: WORDS,
    set_first: false,
    read,
    write,
};

impl Facts for Query {
    fn name(&self) -> &'static str {
        match self.filters.as_slice() {
            [one] if one.kind.stands_alone(self.what) => one.kind.element(),
            _ => "query",
        }
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn expressions(&self) -> Vec<&Expr> {
        self.filters.iter().filter_map(|filter| filter.kind.expression()).collect()
    }

    fn asks_for_areas(&self) -> bool {
        self.what == QueryType::Area || self.filters.iter().any(|filter| filter.kind.asks_for_areas())
    }

    fn takes(&self, child: &Part) -> bool {
        match child {
            Part::Statement(kind) => kind.facts().as_filter().is_some(),
            child => matches!(child, Part::Filter { .. }),
        }
    }

    fn fill(&mut self, children: Vec<Node>) -> Option<()> {
        self.filters = children.into_iter().map(filter).collect::<Option<_>>()?;
        Some(())
    }
}

/// Converts an element in a query to a filter.
fn filter(node: Node) -> Option<Filter> {
    let span = node.element.span;
    let kind = match node.part {
        Part::Filter { mut kind, .. } => {
            kind.fill(node.children)?;
            kind
        }
        Part::Statement(kind) => kind.facts().as_filter()?,
        _ => return None,
    };
    Some(Filter { span, kind })
}

fn query_type(context: &mut Context<'_>) -> Option<QueryType> {
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
enum Written<'a> {
    /// A condition on tags or on a set.
    Condition(Element),
    /// Any other filter.
    Clause(Brackets<'a>),
}

/// Parses a query up to its semicolon. It may begin with any word; an unknown one is an error.
fn read(parser: &mut Parser<'_>, mut start: Start) -> Option<Node> {
    let word = parser.tokens.current();
    let what = match word.text {
        "rel" => "relation".to_owned(),
        text if SYNTAX.words.contains(&text) => text.to_owned(),
        _ => {
            parser.error(Code::UnknownStatement, format!("Unknown type \"{}\"", word.quoted()));
            let help = match word.text {
                "-." => Some("put a space between \"-\" and \".\"".to_owned()),
                ";" => Some("one of the semicolons here is too many".to_owned()),
                text => suggest::nearest(text, words()),
            };
            parser.builder.diagnostics.help(help);
            word.value()
        }
    };
    parser.tokens.advance();
    let mut written = Vec::new();
    if parser.tokens.is(".") && !parser.tokens.is_last() {
        written.push(Written::Condition(filter::read_set(parser, false)));
    }
    // The reference names the current line at this point.
    start.line = parser.tokens.line();
    read_filters(parser, &start, &what, written)
}

/// Parses `.set[...]`. Like the reference, interprets it as a query without a type.
pub(super) fn read_behind_set(parser: &mut Parser<'_>, start: Start) -> Option<Node> {
    let set = filter::set_element(parser, &start, start.set());
    read_filters(parser, &start, "", vec![Written::Condition(set)])
}

/// Parses the filters after the word of a query.
fn read_filters<'a>(parser: &mut Parser<'a>, start: &Start, what: &str, mut written: Vec<Written<'a>>) -> Option<Node> {
    while parser.goes_on() {
        match parser.tokens.text() {
            "[" => written.extend(filter::read_tag(parser).map(Written::Condition)),
            "(" => written.extend(parser.brackets().map(Written::Clause)),
            "." if parser.tokens.is_last() => parser.tokens.advance(),
            "." => written.push(Written::Condition(filter::read_set(parser, !written.is_empty()))),
            _ => break,
        }
    }
    let into = parser.into();
    if written.is_empty() && !parser.bbox {
        parser.error(Code::EmptyQuery, "An empty query is not allowed");
        parser.expect(&[";"]);
        return None;
    }
    let element = parser.element("query", start).with("into", into).with("type", what);
    let query = match written.as_slice() {
        [Written::Clause(brackets)] => alone(parser, element, brackets, what),
        _ => Some(together(parser, element, written, what)),
    };
    parser.expect(&[";"]);
    // In a conversion, the reference drops a query if all of its filters were rejected.
    let is_left = |query: &Node| query.element.name != "query" || !query.children.is_empty();
    query.filter(|query| !parser.builder.converting || is_left(query))
}

/// Creates a query with a single clause. The reference creates the clause before the query; without a valid clause,
/// there is no query.
fn alone<'a>(parser: &mut Parser<'a>, element: Element, brackets: &Brackets<'a>, what: &str) -> Option<Node> {
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
fn together<'a>(parser: &mut Parser<'a>, element: Element, written: Vec<Written<'a>>, what: &str) -> Node {
    let mut query = parser.builder.open(element);
    let mut filters: Vec<Option<Node>> = Vec::new();
    let mut clauses = Vec::new();
    for filter in written {
        match filter {
            Written::Condition(element) => filters.push(Some(parser.builder.open(element))),
            Written::Clause(brackets) => {
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

fn write(writer: &mut Writer, query: &Node, depth: usize) {
    let what = query.element.get("type");
    writer.out.push_str(what);
    let (sets, filters): (Vec<&Node>, Vec<&Node>) =
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
