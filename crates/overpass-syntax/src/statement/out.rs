//! The `out` statement.

use super::{StatementGrammar, StatementProperties};
use crate::check::numbers::integer;
use crate::check::{CheckContext, optional_box};
use crate::code::OverpassCode;
use crate::parse::{QlParser, Start};
use crate::suggest;
use crate::tree::{QlBoundingBox, SetName};
use crate::writer::QlWriter;
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// The `out` statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Out {
    /// The set to write.
    pub from: SetName,
    /// The parts of each element to write.
    pub detail: Detail,
    /// Whether ids are left out (`noids`).
    pub noids: bool,
    /// The geometry to write with each element.
    pub geometry: OutGeometry,
    /// `(s,w,n,e)`: geometry is cut to this box.
    pub bbox: Option<QlBoundingBox>,
    /// The order.
    pub order: OutputOrder,
    /// The maximum number of elements.
    pub limit: Option<u64>,
}

/// The parts of each element to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// `ids`.
    Ids,
    /// `skel`.
    Skel,
    /// `body`, the default.
    #[default]
    Body,
    /// `tags`.
    Tags,
    /// `meta`.
    Meta,
    /// `count`.
    Count,
}

/// The geometry that `out` adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct OutGeometry {
    /// `geom`.
    pub full: bool,
    /// `bb`.
    pub bounds: bool,
    /// `center`.
    pub center: bool,
}

/// The order in which `out` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputOrder {
    /// `asc`, the default: by type and id.
    #[default]
    Asc,
    /// `qt`: by the reference's quadtile.
    Quadtile,
}

pub(super) const SYNTAX: StatementGrammar = StatementGrammar {
    elements: &[ElementSyntax {
        name: "print",
        attributes: &["mode", "order", "from", "limit", "geometry", "ids", "s", "w", "n", "e"],
        check,
        ..ElementSyntax::NONE
    }],
    words: &["out"],
    set_first: true,
    read,
    write,
};

impl StatementProperties for Out {
    fn name(&self) -> &'static str {
        "print"
    }

    fn input_set(&self) -> Option<&SetName> {
        Some(&self.from)
    }

    fn is_operand(&self) -> bool {
        false
    }
}

fn check(context: &mut CheckContext<'_>) -> Option<ElementMeaning> {
    let element = context.element;
    let detail = match element.get("mode") {
        "ids_only" => Detail::Ids,
        "skeleton" => Detail::Skel,
        "" | "body" => Detail::Body,
        "tags" => Detail::Tags,
        "meta" => Detail::Meta,
        "count" => Detail::Count,
        _ => {
            let allowed = "\"ids_only\", \"skeleton\", \"body\", \"tags\",  \"count\", or \"meta\"";
            context.refuse_value("mode", allowed);
            Detail::Body
        }
    };
    let order = match element.get("order") {
        "" | "id" => OutputOrder::Asc,
        "quadtile" => OutputOrder::Quadtile,
        _ => {
            context.refuse_value("order", "\"id\" or \"quadtile\"");
            OutputOrder::Asc
        }
    };
    let mut geometry = OutGeometry::default();
    match element.get("geometry") {
        "" | "skeleton" => {}
        "full" => geometry.full = true,
        "bounds" => geometry.bounds = true,
        "center" => geometry.center = true,
        _ => context.refuse_value("geometry", "\"skeleton\", \"full\", \"bounds\", or \"center\""),
    }
    let noids = match element.get("ids") {
        "" | "yes" => false,
        "no" => true,
        _ => {
            context.refuse_value("ids", "\"yes\" or \"no\"");
            false
        }
    };
    let limit = element.find("limit").filter(|text| !text.is_empty()).map(integer);
    let bbox = optional_box(context, "print", 0.0);
    let limit = limit.and_then(|limit| u64::try_from(limit).ok());
    let out = Out { from: element.set("from"), detail, noids, geometry, bbox, order, limit };
    Some(ElementMeaning::Statement(out.into()))
}

/// Parses `(s,w,n,e)`.
fn four_sides(parser: &mut QlParser<'_>) -> [String; 4] {
    parser.tokens.advance();
    let mut sides: [String; 4] = Default::default();
    for (i, side) in sides.iter_mut().enumerate() {
        *side = parser.text("Number");
        parser.expect(&[if i < 3 { "," } else { ")" }]);
    }
    sides
}

fn read(parser: &mut QlParser<'_>, mut start: Start) -> Option<ElementTreeNode> {
    const MODES: [(&str, &str); 7] = [
        // The reference parses this word as a mode, and rejects the mode.
        ("quirks", "quirks"),
        ("ids", "ids_only"),
        ("skel", "skeleton"),
        ("body", "body"),
        ("tags", "tags"),
        ("meta", "meta"),
        ("count", "count"),
    ];
    const GEOMETRIES: [(&str, &str); 3] = [("geom", "full"), ("bb", "bounds"), ("center", "center")];
    parser.tokens.advance();
    let (mut mode, mut geometry, mut ids, mut order) = ("body", "skeleton", "yes", "id");
    let mut limit = String::new();
    let mut sides: [String; 4] = Default::default();
    while parser.goes_on() && !parser.tokens.is(";") {
        let token = parser.tokens.current();
        if token.text == "(" {
            sides = four_sides(parser);
            continue;
        }
        if let Some((_, name)) = MODES.iter().find(|(word, _)| *word == token.text) {
            mode = name;
        } else if let Some((_, name)) = GEOMETRIES.iter().find(|(word, _)| *word == token.text) {
            geometry = name;
        } else {
            match token.text {
                "asc" => order = "id",
                "qt" => order = "quadtile",
                "noids" => ids = "no",
                text if text.starts_with(|c: char| c.is_ascii_digit()) => limit = text.to_owned(),
                _ => refuse_parameter(parser),
            }
        }
        parser.tokens.advance();
    }
    let [south, west, north, east] = sides;
    // The reference names the current line at this point.
    start.line = parser.tokens.line();
    let element = parser.element("print", &start).with("e", east).with("from", start.set());
    let element = element.with("geometry", geometry).with("ids", ids).with("limit", limit).with("mode", mode);
    let element = element.with("n", north).with("order", order).with("s", south).with("w", west);
    let node = parser.builder.open(element);
    parser.expect(&[";"]);
    Some(node)
}

fn refuse_parameter(parser: &mut QlParser<'_>) {
    let token = parser.tokens.current();
    parser.error(OverpassCode::UnknownParameter, format!("Invalid parameter for print: \"{}\"", token.quoted()));
    let known = ["ids", "skel", "body", "tags", "meta", "count", "geom", "bb", "center", "asc", "qt", "noids"];
    parser.builder.diagnostics.suggest(suggest::nearest(token.text, known.into_iter()), Some(token.span()));
}

fn write(writer: &mut QlWriter, node: &ElementTreeNode, _depth: usize) {
    let element = &node.element;
    let (before, sides) = (writer.before(element), writer.sides(element));
    writer.out.push_str(&before);
    writer.out.push_str("out");
    writer.out.push_str(match element.get("mode") {
        "ids_only" => " ids",
        "skeleton" => " skel",
        "tags" => " tags",
        "meta" => " meta",
        "count" => " count",
        _ => "",
    });
    if element.get("order") == "quadtile" {
        writer.out.push_str(" qt");
    }
    if !element.get("limit").is_empty() {
        writer.out.push(' ');
        writer.out.push_str(element.get("limit"));
    }
    writer.out.push_str(match element.get("geometry") {
        "full" => " geom",
        "bounds" => " bb",
        "center" => " center",
        _ => "",
    });
    if element.get("ids") == "no" {
        writer.out.push_str(" noids");
    }
    writer.out.push_str(&sides);
    writer.out.push(';');
}
