//! Writes QL, on one line or on several. The layout is the reference's. In some cases the reference's output could not
//! be parsed again: doubled quotation marks and semicolons, missing brackets. The output here is valid in these cases.

use super::expression::{self, quoted};
use crate::ElementTreeNode;
use crate::element::SyntaxElement;
use terrapin_budget as budget;

/// Writes a whole query, whose original form was QL or XML.
pub fn write(root: Option<&ElementTreeNode>, pretty: bool, from_xml: bool) -> String {
    let mut writer = QlWriter { out: String::new(), pretty };
    if let Some(root) = root {
        writer.settings(&root.element, from_xml);
        writer.statements(&root.children, 0);
    }
    writer.out.truncate(writer.out.trim_end_matches('\n').len());
    writer.out
}

/// A writer of QL. The code that writes each statement is in the statement's own module.
pub(crate) struct QlWriter {
    /// The output so far.
    pub out: String,
    /// Whether to write several lines.
    pub pretty: bool,
}

impl QlWriter {
    fn settings(&mut self, script: &SyntaxElement, from_xml: bool) {
        let mut all = Vec::new();
        let mut named = [("bbox", "bbox"), ("element-limit", "maxsize"), ("output", "out"), ("timeout", "timeout")];
        if from_xml {
            // For XML, the reference uses another order.
            named.swap(2, 3);
        }
        for (attribute, name) in named {
            let value = script.get(attribute);
            if !value.is_empty() {
                let config = if attribute == "output" { script.get("output-config") } else { "" };
                all.push(format!("[{name}:{value}{config}]"));
            }
        }
        let (date, from) = (script.get("date"), script.get("from"));
        if !from.is_empty() {
            let name = if script.get("augmented").is_empty() { "diff" } else { "adiff" };
            let until = if date.is_empty() { String::new() } else { format!(",{}", quoted(date)) };
            all.push(format!("[{name}:{}{until}]", quoted(from)));
        } else if !date.is_empty() {
            all.push(format!("[date:{}]", quoted(date)));
        }
        if all.is_empty() {
            return;
        }
        for setting in all {
            self.out.push_str(&setting);
            self.end_line();
        }
        self.out.push(';');
        self.end_line();
    }

    /// Ends a line if several lines are written.
    pub fn end_line(&mut self) {
        if self.pretty {
            self.out.push('\n');
        }
    }

    /// Writes the indentation of a line.
    pub fn indent(&mut self, depth: usize) {
        budget::checkpoint();
        if self.pretty {
            self.out.extend(std::iter::repeat_n("  ", depth));
        }
    }

    /// Writes statements, one per line.
    pub fn statements(&mut self, nodes: &[ElementTreeNode], depth: usize) {
        for node in nodes {
            self.indent(depth);
            self.statement(node, depth);
            self.end_line();
        }
    }

    /// Writes `->.set`.
    pub fn into(&mut self, element: &SyntaxElement) {
        let into = self.result_text(element);
        self.out.push_str(&into);
    }

    /// Writes a statement without children: `text`, the result set and a semicolon.
    pub fn simple(&mut self, text: &str, element: &SyntaxElement) {
        self.out.push_str(text);
        self.into(element);
        self.out.push(';');
    }

    /// Writes a block after the given head.
    pub fn block(&mut self, head: &str, body: &[ElementTreeNode], depth: usize) {
        self.out.push_str(head);
        self.out.push('{');
        self.end_line();
        self.statements(body, depth + 1);
        self.out.push('}');
    }

    /// Returns the leading evaluator of a statement in QL, and the statements after it.
    pub fn evaluator_and_body<'a>(&self, node: &'a ElementTreeNode) -> (String, &'a [ElementTreeNode]) {
        let (evaluators, body) = expression::split(&node.children);
        (evaluators.first().map(expression::write).unwrap_or_default(), body)
    }

    /// Returns whether the QL of a statement begins with a point.
    pub fn begins_with_point(&self, node: &ElementTreeNode) -> bool {
        node.element.name == "item" || !self.before(&node.element).is_empty()
    }

    /// Returns `.set `, for output before the word of a statement.
    pub fn before(&self, element: &SyntaxElement) -> String {
        match dotted(element, "from") {
            set if set.is_empty() => set,
            set => set + " ",
        }
    }

    /// Returns `.set->.set`, for output after the word of a statement.
    pub fn sets_behind(&self, element: &SyntaxElement) -> String {
        format!("{}{}", dotted(element, "from"), self.result_text(element))
    }

    /// Returns `->.set`.
    pub fn result_text(&self, element: &SyntaxElement) -> String {
        match dotted(element, "into") {
            set if set.is_empty() => set,
            set => format!("->{set}"),
        }
    }

    /// Returns `(s,w,n,e)` if at least one side is given.
    pub fn sides(&self, element: &SyntaxElement) -> String {
        let sides = ["s", "w", "n", "e"].map(|side| element.get(side));
        if sides.iter().all(|side| side.is_empty()) { String::new() } else { format!("({})", sides.join(",")) }
    }
}

/// Returns `.set`, or an empty text for the default set.
pub(crate) fn dotted(element: &SyntaxElement, name: &str) -> String {
    match element.get(name) {
        "" | "_" => String::new(),
        set => format!(".{set}"),
    }
}
