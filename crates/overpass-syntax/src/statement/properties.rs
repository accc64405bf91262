//! Properties of `make` and `convert`: `key=evaluator,...`.

use super::Start;
use crate::check::{CheckContext, Type};
use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::parse::{EvaluatorContext, ExpectedType, Id, QlParser, TokenTree, TreeContext};
use crate::suggest;
use crate::tree::{Property, PropertyTarget};
use crate::writer::{QlWriter, expression};
use crate::{ElementMeaning, ElementSyntax, ElementTreeNode};

/// The form of a property.
pub(super) const FORM: ElementSyntax = ElementSyntax {
    name: "set-prop",
    attributes: &["k", "keytype", "from"],
    check: |context| Some(ElementMeaning::Property(target(context))),
    ..ElementSyntax::NONE
};

/// Returns the target of a property.
fn target(context: &mut CheckContext<'_>) -> PropertyTarget {
    let key = context.element.get("k").to_owned();
    if !context.element.get("from").is_empty() && context.element.get("keytype") != "generic" {
        let message = "The attribute \"from\" of the element \"set-prop\" can only be set to a non-empty value if \
                       \"keytype\" is \"generic\".";
        context.refuse(OverpassCode::BadValue, message);
    }
    match context.element.get("keytype") {
        "id" => PropertyTarget::Id,
        "geometry" => PropertyTarget::Geometry,
        "generic" => PropertyTarget::Generic,
        "" | "tag" => {
            if key.is_empty() {
                let message =
                    "For the statement \"set-prop\" in mode \"keytype\"=\"tag\", the attribute \"k\" must be nonempty.";
                context.refuse(OverpassCode::BadValue, message);
            }
            PropertyTarget::Tag(key)
        }
        _ => {
            context.refuse_value("keytype", "\"tag\", \"id\", \"geometry\", or \"generic\"");
            PropertyTarget::Tag(key)
        }
    }
}

/// Returns the type of the derived elements.
pub(super) fn type_name(context: &mut CheckContext<'_>) -> String {
    let name = context.element.get("type").to_owned();
    if name.is_empty() {
        context.refuse(OverpassCode::BadValue, "The attribute type must be set to a nonempty string.");
    }
    name
}

/// Converts a node to a property of the tree.
pub(super) fn property(node: ElementTreeNode) -> Option<Property> {
    let ElementMeaning::Property(target) = node.part else { return None };
    let from = node.element.find("from").filter(|set| !set.is_empty()).map(str::to_owned);
    let value = match node.children.into_iter().next() {
        Some(child) => Some(child.expression()?),
        None => None,
    };
    Some(Property { target, from, value })
}

/// Parses `make type key=evaluator,...->.into`.
pub(super) fn read(parser: &mut QlParser<'_>, name: &'static str, mut start: Start) -> Option<ElementTreeNode> {
    parser.tokens.advance();
    let type_name = if parser.tokens.is(";") { String::new() } else { parser.identifier("Element class name") };
    let tree = parser.tree(TreeContext::Properties);
    // The reference parses the last property first, and creates the statement after all properties.
    let items = tree.items(tree.root);
    let mut properties = Vec::new();
    for (i, &item) in items.iter().enumerate().rev() {
        if item != 0 || (i == 0 && items.len() > 1) {
            properties.extend(parser.item_of(&tree, item, name == "convert"));
        }
    }
    let into = parser.into();
    // The statement's line is the current line at this point.
    start.line = parser.tokens.line();
    let element = parser.element(name, &start).with_some("from", start.from).with("into", into);
    let mut node = parser.builder.open(element.with("type", type_name));
    for property in properties.into_iter().rev() {
        parser.builder.add(&mut node, property);
    }
    parser.expect(&[";"]);
    Some(node)
}

impl<'a> QlParser<'a> {
    /// Parses one item between the commas.
    fn item_of(&mut self, tree: &TokenTree<'a>, item: Id, convert: bool) -> Option<ElementTreeNode> {
        let branch = tree.at(item);
        // An evaluator is not allowed here; the statement reports the error.
        let place = EvaluatorContext { element: false, member: false, wanted: ExpectedType::StringOrGeometry };
        match branch.token.text {
            "=" if branch.left != 0 => self.assignment(tree, item, convert),
            "=" => {
                let message = "To set a property it must have a name to the left of the equal sign";
                self.complain(branch, OverpassCode::MissingOperand, message);
                if branch.right == 0 {
                    self.unknown_word(branch);
                    return None;
                }
                self.not_unary(branch);
                self.item_of(tree, branch.right, convert)
            }
            "(" if branch.left == 0 && branch.right != 0 => self.item_of(tree, branch.right, convert),
            "!" if branch.right != 0 => {
                let key = tree.at(branch.right).token.value();
                let element = SyntaxElement::new("set-prop", branch.line, tree.span(item));
                Some(self.builder.open(element.with("keytype", "tag").with("k", key)))
            }
            "." if tree.text(branch.right) == "(" => self.evaluate(tree, item, place),
            // Ignored, as in the reference.
            "." => None,
            sign if branch.left != 0 && branch.right != 0 && !matches!(sign, "(" | "[") => {
                let message = format!("\"{sign}\" cannot be used as binary operator");
                self.complain(branch, OverpassCode::WrongOperator, message);
                None
            }
            _ => self.evaluate(tree, item, place),
        }
    }

    /// Parses `key=evaluator`.
    fn assignment(&mut self, tree: &TokenTree<'a>, item: Id, convert: bool) -> Option<ElementTreeNode> {
        let branch = tree.at(item);
        if branch.right == 0 {
            let message = "To set a property it must have a value to the right of the equal sign";
            self.complain(branch, OverpassCode::MissingOperand, message);
            self.complain(branch, OverpassCode::MissingOperand, "\"=\" needs a right hand side argument");
            return None;
        }
        let left = tree.at(branch.left);
        let special = left.token.text == "::";
        let mut key = None;
        let mut from = None;
        let keytype = if special && left.right == 0 && left.left != 0 {
            // `set::=...` sets the keys of that set.
            from = Some(tree.text(left.left));
            "generic"
        } else if special && left.right == 0 {
            if !convert {
                let message = "The generic tag set property can only be called from convert";
                self.complain(branch, OverpassCode::WrongContext, message);
                key = Some(String::new());
            }
            if convert { "generic" } else { "tag" }
        } else if special {
            match tree.text(left.right) {
                "id" => "id",
                "geom" => "geometry",
                other => {
                    let message = "The only allowed special properties are \"id\" and \"geometry\"";
                    self.complain(branch, OverpassCode::UnknownProperty, message);
                    let known = ["id", "geom"].into_iter();
                    let word = tree.at(left.right).token.span();
                    self.builder.diagnostics.suggest(suggest::nearest(other, known), Some(word));
                    key = Some(String::new());
                    "tag"
                }
            }
        } else if left.left == 0 && left.right == 0 {
            key = Some(left.token.value());
            "tag"
        } else {
            let message = format!(
                "if special character \"{}\" is present in property name then the property name must be in quotes",
                left.token.text
            );
            self.complain(branch, OverpassCode::UnquotedWord, message);
            self.complain(branch, OverpassCode::WrongOperator, "\"=\" cannot be used as binary operator");
            return None;
        };
        let element = SyntaxElement::new("set-prop", branch.line, tree.span(item)).with("keytype", keytype);
        let mut property = self.builder.open(element.with_some("k", key).with_some("from", from));
        let wanted = if keytype == "geometry" { Type::Geometry } else { Type::String };
        let place = EvaluatorContext { element: convert, member: false, wanted: ExpectedType::One(wanted) };
        match self.evaluate(tree, branch.right, place) {
            Some(value) => self.builder.add(&mut property, value),
            None => {
                let message = "Property assignment needs a right-hand-side value";
                self.complain(branch, OverpassCode::MissingOperand, message);
            }
        }
        Some(property)
    }
}

impl ElementTreeNode {
    /// Counts a property of a `make` or `convert` statement. If it was set before, returns the error and the number of
    /// earlier times.
    pub fn set_before(&mut self, child: &ElementTreeNode) -> Option<(String, usize)> {
        let statement = self.element.name.as_ref();
        let (ElementMeaning::Property(target), "make" | "convert") = (&child.part, statement) else { return None };
        let times = self.properties.entry(target.clone()).or_default();
        *times += 1;
        if *times == 1 {
            return None;
        }
        let message = match target {
            PropertyTarget::Tag(key) => format!("A key cannot be added twice to an element: \"{key}\""),
            PropertyTarget::Id => {
                format!("A {statement} statement can have at most one set-prop statement of subtype setting the id.")
            }
            // The reference's text has "make" for both statements.
            PropertyTarget::Geometry => {
                "A make statement can have at most one set-prop statement of subtype setting the geometry.".to_owned()
            }
            PropertyTarget::Generic => {
                format!("A {statement} statement can have at most one any-key set-prop statement.")
            }
        };
        Some((message, *times - 1))
    }
}

/// Writes the statement with its properties.
pub(super) fn write(writer: &mut QlWriter, node: &ElementTreeNode, depth: usize) {
    let element = &node.element;
    let before = writer.before(element);
    writer.out.push_str(&before);
    writer.out.push_str(&element.name);
    writer.out.push(' ');
    writer.out.push_str(element.get("type"));
    for (i, property) in node.children.iter().enumerate() {
        if i > 0 {
            writer.out.push(',');
        }
        if writer.pretty {
            writer.out.push('\n');
            writer.indent(depth + 1);
        } else if i == 0 {
            writer.out.push(' ');
        }
        let key = match property.element.get("keytype") {
            "id" => "::id".to_owned(),
            "geometry" => "::geom".to_owned(),
            "generic" => format!("{}::", property.element.get("from")),
            _ => expression::word(property.element.get("k")),
        };
        match property.children.first().map(expression::write) {
            Some(value) => writer.out.push_str(&format!("{key}={value}")),
            None => writer.out.push_str(&format!("!{key}")),
        }
    }
    writer.into(element);
    writer.out.push(';');
}
