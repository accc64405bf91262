//! The statement `.from local detail (bbox)`: splits a set into pieces for a renderer.

use super::{StatementGrammar, StatementProperties};
use crate::check::{CheckContext, optional_box};
use crate::code::OverpassCode;
use crate::parse::{QlParser, Start};
use crate::tree::{QlBoundingBox, SetName};
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// A set split into pieces.
#[derive(Debug, Clone, PartialEq)]
pub struct Local {
    /// The set.
    pub from: SetName,
    /// The set for the result.
    pub into: SetName,
    /// The level of detail.
    pub detail: LocalDetail,
    /// The box that the pieces must touch.
    pub bbox: Option<QlBoundingBox>,
}

/// `local ll`, `local llb` or plain `local`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub enum LocalDetail {
    #[default]
    Full,
    Ll,
    Llb,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "localize",
        attributes: &["from", "into", "type", "s", "w", "n", "e"],
        check,
        ..ElementSyntax::NONE
    }],
    words: &["local"],
    set_first: true,
    read,
    write: |writer, node, _| {
        let kind = match node.element.get("type") {
            "" | "l" => String::new(),
            kind => format!(" {kind}"),
        };
        let text = format!("{}local{kind}{}", writer.before(&node.element), writer.sides(&node.element));
        writer.simple(&text, &node.element);
    },
};

impl StatementProperties for Local {
    fn name(&self) -> &'static str {
        "localize"
    }

    fn input_set(&self) -> Option<&SetName> {
        Some(&self.from)
    }

    fn result_set(&self) -> Option<&SetName> {
        Some(&self.into)
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let (from, into) = context.sets();
    let detail = match context.element.get("type") {
        "" | "l" => LocalDetail::Full,
        "ll" => LocalDetail::Ll,
        "llb" => LocalDetail::Llb,
        _ => {
            let message = "Localize must have one of the values \"l\", \"ll\", or \"llb\". \"l\" is the default value.";
            context.refuse(OverpassCode::BadValue, message);
            LocalDetail::Full
        }
    };
    let bbox = optional_box(context, "bbox-query", -200.0);
    Some(ElementMeaning::Statement(Local { from, into, detail, bbox }.into()))
}

fn read(parser: &mut QlParser<'_>, start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    let mut kind = "l".to_owned();
    if parser.tokens.current().is_text() {
        // At the end of the text, the reference takes the previous word for the type.
        kind = parser.tokens.current().value();
        parser.tokens.advance();
    }
    let [south, west, north, east] = up_to_four_sides(parser);
    let into = parser.into();
    let element = parser.element("localize", &start).with("e", east).with("from", start.set());
    let element = element.with("into", into).with("n", north).with("s", south).with("type", kind);
    let element = element.with("w", west);
    parser.expect(&[";"]);
    Some(parser.builder.open(element))
}

/// Parses an optional `(s,w,n,e)`. Like the reference, accepts fewer sides.
fn up_to_four_sides(parser: &mut QlParser<'_>) -> [String; 4] {
    let mut sides: [String; 4] = Default::default();
    if !parser.tokens.is("(") {
        return sides;
    }
    parser.tokens.advance();
    for (i, side) in sides.iter_mut().enumerate() {
        *side = parser.text("Value");
        if i == 3 {
            break;
        }
        parser.skip_to(&[",", ")"]);
        if !parser.tokens.is(",") {
            break;
        }
        parser.tokens.advance();
    }
    parser.tokens.advance();
    sides
}
