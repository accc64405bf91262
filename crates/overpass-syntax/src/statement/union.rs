//! The statement `( ...; ...; )->.into`.

use super::body::fill;
use super::{Block, Start, Statement, StatementGrammar, StatementProperties};
use crate::code::OverpassCode;
use crate::parse::QlParser;
use crate::tree::SetName;
use crate::writer::QlWriter;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// The union of the results of several statements.
#[derive(Debug, Clone, PartialEq)]
pub struct Union {
    /// The statements.
    pub members: Block,
    /// The set for the result.
    pub into: SetName,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "union",
        attributes: &["into"],
        check: |context| Some(ElementMeaning::Statement(Union { members: Vec::new(), into: context.sets().1 }.into())),
        ..ElementSyntax::NONE
    }],
    words: &["("],
    set_first: false,
    read: |parser, start| parser.nested(|parser| read(parser, start)),
    write: |writer, node, depth| write(writer, node, depth, false),
};

impl StatementProperties for Union {
    fn name(&self) -> &'static str {
        "union"
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }

    fn blocks(&self) -> [&[Statement]; 2] {
        [&self.members, &[]]
    }

    fn takes(&self, child: &ElementMeaning) -> bool {
        is_operand(child)
    }

    fn wants_results(&self) -> bool {
        true
    }

    fn fill(&mut self, children: Vec<ElementTreeNode>) -> Option<()> {
        fill(&mut self.members, children)
    }
}

/// Returns whether an element can be an operand of a union or a difference.
pub(super) fn is_operand(part: &ElementMeaning) -> bool {
    match part {
        ElementMeaning::Statement(kind) => kind.facts().is_operand(),
        part => part.is_statement(),
    }
}

/// Parses a union or, if a minus sign follows the first statement, a difference.
fn read(parser: &mut QlParser<'_>, start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    let mut members: Vec<ElementTreeNode> = Vec::new();
    let mut read = 0;
    let mut difference = false;
    while parser.goes_on() && !parser.tokens.is(")") {
        if read == 1 && parser.tokens.is("-") {
            difference = true;
            parser.tokens.advance();
            if !parser.goes_on() || parser.tokens.is(")") {
                break;
            }
        }
        members.extend(parser.statement());
        read += 1;
        if difference && parser.tokens.text() != ")" {
            parser.error(OverpassCode::DifferenceOperands, "difference always requires two operands");
            break;
        }
    }
    if read == 2 && difference && parser.tokens.text() != ")" {
        parser.expect(&[")"]);
    } else {
        parser.tokens.advance();
    }
    let into = parser.into();
    let name = if difference { "difference" } else { "union" };
    let element = parser.element(name, &start).with("into", into);
    parser.expect(&[";"]);
    let mut node = parser.builder.open(element);
    for member in members {
        parser.builder.add(&mut node, member);
    }
    if parser.builder.diagnostics.is_empty() {
        parser.builder.close(&node);
    }
    Some(node)
}

/// Writes a union, or a difference with its minus sign.
pub(super) fn write(writer: &mut QlWriter, node: &ElementTreeNode, depth: usize, difference: bool) {
    writer.out.push('(');
    writer.end_line();
    for (i, member) in writer.evaluator_and_body(node).1.iter().enumerate() {
        if i > 0 && difference {
            writer.indent(depth + 1);
            writer.out.push('-');
            writer.end_line();
            // `-.a` would be parsed as one word.
            if !writer.pretty && writer.begins_with_point(member) {
                writer.out.push(' ');
            }
        }
        writer.statements(std::slice::from_ref(member), depth + 1);
    }
    writer.out.push(')');
    writer.into(&node.element);
    writer.out.push(';');
}
