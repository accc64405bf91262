//! Writes the XML form like the reference's converter.

use super::canonical::Values;
use crate::ElementTreeNode;
use terrapin_budget as budget;

/// Writes a whole query. One that was XML is repeated, with the attributes in alphabetical order.
pub fn write(root: Option<&ElementTreeNode>, from_xml: bool) -> String {
    let mut out = String::new();
    match root {
        Some(root) if from_xml => repeat(&mut out, 0, root),
        Some(root) => element(&mut out, 0, "osm-script", &given(root), &root.children),
        None => element(&mut out, 0, "osm-script", &Values::new(), &[]),
    }
    // The reference ends the last line only if it writes to a terminal.
    out.truncate(out.trim_end_matches('\n').len());
    out
}

/// Returns the attributes of an element as they were written.
fn given(node: &ElementTreeNode) -> Values {
    node.element.attributes.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
}

/// Writes an element and its children as they were written.
fn repeat(out: &mut String, depth: usize, node: &ElementTreeNode) {
    let mut attributes = given(node);
    attributes.sort();
    open(out, depth, &node.element.name, &attributes);
    if node.children.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for child in &node.children {
        repeat(out, depth + 1, child);
    }
    close(out, depth, &node.element.name);
}

/// Writes an element and its children.
fn element(out: &mut String, depth: usize, name: &str, attributes: &Values, children: &[ElementTreeNode]) {
    open(out, depth, name, attributes);
    if children.is_empty() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for child in children {
        node(out, depth + 1, child);
    }
    close(out, depth, name);
}

fn open(out: &mut String, depth: usize, name: &str, attributes: &Values) {
    indent(out, depth);
    out.push('<');
    out.push_str(name);
    for (name, value) in attributes {
        out.push(' ');
        out.push_str(name);
        out.push_str("=\"");
        escape(value, out);
        out.push('"');
    }
}

fn close(out: &mut String, depth: usize, name: &str) {
    indent(out, depth);
    out.push_str("</");
    out.push_str(name);
    out.push_str(">\n");
}

fn indent(out: &mut String, depth: usize) {
    budget::checkpoint();
    out.extend(std::iter::repeat_n("  ", depth));
}

fn node(out: &mut String, depth: usize, node: &ElementTreeNode) {
    if node.element.name == "query" {
        return query(out, depth, node);
    }
    let mut attributes = node.element.values();
    for (name, value) in &mut attributes {
        // The reference has no name for this value.
        if name == "keytype" && value == "id" {
            "generic".clone_into(value);
        }
    }
    element(out, depth, &node.element.name, &attributes, &node.children);
}

/// Writes a query. A query with a single filter of some kinds is written as that filter.
fn query(out: &mut String, depth: usize, query: &ElementTreeNode) {
    let into = query.element.get("into");
    let alone = query.single_filter();
    let filter = |out: &mut String, depth: usize, filter: &ElementTreeNode| {
        let mut attributes = filter.element.values();
        if alone.is_some() && filter.keeps_into() && !matches!(into, "" | "_") {
            attributes.push(("into".to_owned(), into.to_owned()));
        }
        element(out, depth, &filter.element.name, &attributes, &filter.children);
    };
    if let Some(only) = alone
        && only.replaces_query(query.element.get("type"))
    {
        return filter(out, depth, only);
    }
    open(out, depth, "query", &query.element.values());
    out.push_str(">\n");
    for child in query.sorted_filters() {
        filter(out, depth + 1, child);
    }
    close(out, depth, "query");
}

/// Writes a text as the value of an attribute.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#x0a;"),
            '\t' => out.push_str("&#x09;"),
            '\r' => out.push_str("&#x0d;"),
            c => out.push(c),
        }
    }
}
