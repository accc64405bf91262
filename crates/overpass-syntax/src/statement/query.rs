//! `node[...](...).set->.into`: the elements that filters let pass. The filters are in `filter/`.

use super::{Facts, Syntax, words};
use crate::check::Context;
use crate::code::Code;
use crate::convert::Writer;
use crate::filter::{self, Filter};
use crate::parse::{Parser, Start};
use crate::suggest;
use crate::tree::{Expr, QueryType, SetName};
use crate::{Form, Node, Part};

/// A query statement: a type and the filters that all must hold.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The type.
    pub what: QueryType,
    /// The filters, as written.
    pub filters: Vec<Filter>,
    /// Where the result goes.
    pub into: SetName,
}

/// The words that begin it.
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
        "query"
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

/// The filter that an element in a query is.
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
    Some(match context.element.get("type") {
        "node" => QueryType::Node,
        "way" => QueryType::Way,
        "relation" => QueryType::Relation,
        "nwr" => QueryType::Nwr,
        "nw" => QueryType::Nw,
        "nr" => QueryType::Nr,
        "wr" => QueryType::Wr,
        "area" => QueryType::Area,
        "derived" => QueryType::Derived,
        _ => {
            let allowed = "\"node\", \"way\", \"relation\", \"nwr\", \"nw\", \"wr\", \"nr\", or \"area\"";
            context.refuse_value("type", allowed);
            return None;
        }
    })
}

/// A query up to its semicolon, whatever word it begins with.
fn read(parser: &mut Parser<'_>, start: Start) -> Option<Node> {
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
    let mut filters = Vec::new();
    let mut any = false;
    while parser.goes_on() {
        match parser.tokens.text() {
            "[" => any |= filter::read_tag(parser, &mut filters),
            "(" => {
                any = true;
                parser.clause(&what, &mut filters);
            }
            "." => {
                filters.push(filter::read_set(parser, any));
                any = true;
            }
            _ => break,
        }
    }
    let into = parser.into();
    if !any && !parser.bbox {
        parser.error(Code::EmptyQuery, "An empty query is not allowed");
        parser.expect(&[";"]);
        return None;
    }
    if parser.builder.converting && filters.is_empty() {
        // All its filters were refused, and nothing is left of it.
        parser.expect(&[";"]);
        return None;
    }
    let element = parser.element("query", &start).with("into", into).with("type", what);
    let mut query = parser.builder.open(element);
    for filter in filters {
        parser.builder.add(&mut query, filter);
    }
    parser.expect(&[";"]);
    Some(query)
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
