//! A query as the tree of its XML form, parsed like Python's `xml.etree`. OverpassNL compares the structure of
//! queries on this tree.

use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use terrapin_budget::checkpoints;

/// The placeholder for a query whose XML form cannot be parsed.
const EMPTY: &[(&str, &str)] = &[("output", "json"), ("output-config", ""), ("timeout", "300")];

/// The elements of a tree in document order: parents before children, the root first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTree {
    /// The elements; never empty.
    pub nodes: Vec<TreeNode>,
}

/// An element.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeNode {
    /// Its name.
    pub name: String,
    /// Names and values in document order.
    pub attributes: Vec<(String, String)>,
    /// The text between its start and its first child or its end. For an element with children, it shows the depth.
    pub text: String,
    /// The indexes of its children.
    pub children: Vec<usize>,
}

impl TreeNode {
    /// Returns the value of an attribute.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

impl QueryTree {
    /// Parses the XML form of a query; malformed XML gives an empty script.
    pub fn of_xml(xml: &str) -> QueryTree {
        read(xml).unwrap_or_else(QueryTree::empty)
    }

    /// Returns a script without statements.
    pub fn empty() -> QueryTree {
        let attributes = EMPTY.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        QueryTree { nodes: vec![TreeNode { name: "osm-script".to_owned(), attributes, ..TreeNode::default() }] }
    }
}

fn read(xml: &str) -> Option<QueryTree> {
    if !xml.chars().all(is_xml_char) {
        return None;
    }
    let mut reader = Reader::from_str(xml);
    let mut nodes: Vec<TreeNode> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => {
                let node = node(&tag)?;
                let place = add(&mut nodes, &open, node)?;
                open.push(place);
            }
            Event::Empty(tag) => {
                let node = node(&tag)?;
                add(&mut nodes, &open, node)?;
            }
            Event::End(_) => drop(open.pop()?),
            Event::Text(text) => {
                if let Some(node) = open.last().and_then(|place| nodes.get_mut(*place))
                    && node.children.is_empty()
                {
                    node.text.push_str(&text);
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    (open.is_empty() && !nodes.is_empty()).then_some(QueryTree { nodes })
}

/// Adds an element to the open one; a second root is malformed.
fn add(nodes: &mut Vec<TreeNode>, open: &[usize], node: TreeNode) -> Option<usize> {
    let place = nodes.len();
    match open.last() {
        Some(parent) => nodes.get_mut(*parent)?.children.push(place),
        None if place > 0 => return None,
        None => {}
    }
    nodes.push(node);
    Some(place)
}

fn node(tag: &BytesStart<'_>) -> Option<TreeNode> {
    checkpoints(1 + tag.len() / 16);
    let mut node = TreeNode { name: tag.name().as_ref().to_owned(), ..TreeNode::default() };
    for attribute in tag.attributes() {
        let attribute = attribute.ok()?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?.into_owned();
        node.attributes.push((attribute.key.as_ref().to_owned(), value));
    }
    Some(node)
}

/// Reports whether XML 1.0 allows a character.
fn is_xml_char(c: char) -> bool {
    !matches!(c, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_in_the_order_of_the_text() {
        let tree = QueryTree::of_xml("<a x=\"1&amp;2\">\n  <b/>\n  <c>\n    <d y=\"\"/>\n  </c>\n</a>");
        let names: Vec<&str> = tree.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        assert_eq!(tree.nodes[0].children, [1, 2]);
        assert_eq!(tree.nodes[0].get("x"), Some("1&2"));
        assert_eq!((tree.nodes[0].text.as_str(), tree.nodes[2].text.as_str()), ("\n  ", "\n    "));
    }

    #[test]
    fn what_is_not_well_formed_is_an_empty_script() {
        for text in ["", "<a>", "<a/><b/>", "<a x=\"1\" x=\"2\"/>", "<a x=\"\u{1}\"/>", "<a x=\"&nope;\"/>"] {
            assert_eq!(QueryTree::of_xml(text), QueryTree::empty(), "{text}");
        }
    }
}
