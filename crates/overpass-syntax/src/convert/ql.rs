//! QL, on one line or over several. The layout is the reference's; where what the reference writes could not be read
//! again (doubled quotation marks and semicolons, brackets that are left out), this writes what can be.

use super::expression::{self, quoted};
use crate::Node;
use crate::element::Element;
use terrapin_budget as budget;

/// Writes a whole query, which was QL or XML.
pub(super) fn write(root: Option<&Node>, pretty: bool, from_xml: bool) -> String {
    let mut writer = Writer { out: String::new(), pretty };
    if let Some(root) = root {
        writer.settings(&root.element, from_xml);
        writer.statements(&root.children, 0);
    }
    writer.out.truncate(writer.out.trim_end_matches('\n').len());
    writer.out
}

/// QL as it is written. How statements are written stands with them.
pub(crate) struct Writer {
    /// What is written so far.
    pub out: String,
    /// Whether on many lines.
    pub pretty: bool,
}

impl Writer {
    fn settings(&mut self, script: &Element, from_xml: bool) {
        let mut all = Vec::new();
        let mut named = [("bbox", "bbox"), ("element-limit", "maxsize"), ("output", "out"), ("timeout", "timeout")];
        if from_xml {
            // The reference keeps another order there.
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

    /// Ends a line where there are lines.
    pub fn end_line(&mut self) {
        if self.pretty {
            self.out.push('\n');
        }
    }

    /// Begins a line.
    pub fn indent(&mut self, depth: usize) {
        budget::checkpoint();
        if self.pretty {
            self.out.extend(std::iter::repeat_n("  ", depth));
        }
    }

    /// Writes statements, a line each.
    pub fn statements(&mut self, nodes: &[Node], depth: usize) {
        for node in nodes {
            self.indent(depth);
            self.statement(node, depth);
            self.end_line();
        }
    }

    /// Writes `->.set`.
    pub fn into(&mut self, element: &Element) {
        let into = self.result_text(element);
        self.out.push_str(&into);
    }

    /// Writes a statement without children, of which all but where its result goes is known.
    pub fn simple(&mut self, text: &str, element: &Element) {
        self.out.push_str(text);
        self.into(element);
        self.out.push(';');
    }

    /// Writes a block behind what stands before it.
    pub fn block(&mut self, head: &str, body: &[Node], depth: usize) {
        self.out.push_str(head);
        self.out.push('{');
        self.end_line();
        self.statements(body, depth + 1);
        self.out.push('}');
    }

    /// The evaluator that a statement begins with, in QL, and the statements behind it.
    pub fn evaluator_and_body<'a>(&self, node: &'a Node) -> (String, &'a [Node]) {
        let (evaluators, body) = expression::split(&node.children);
        (evaluators.first().map(expression::write).unwrap_or_default(), body)
    }

    /// Whether the QL of a statement begins with a point.
    pub fn begins_with_point(&self, node: &Node) -> bool {
        node.element.name == "item" || !self.before(&node.element).is_empty()
    }

    /// `.set ` before the word of a statement.
    pub fn before(&self, element: &Element) -> String {
        match dotted(element, "from") {
            set if set.is_empty() => set,
            set => set + " ",
        }
    }

    /// `.set->.set` behind the word of a statement.
    pub fn sets_behind(&self, element: &Element) -> String {
        format!("{}{}", dotted(element, "from"), self.result_text(element))
    }

    /// `->.set`
    pub fn result_text(&self, element: &Element) -> String {
        match dotted(element, "into") {
            set if set.is_empty() => set,
            set => format!("->{set}"),
        }
    }

    /// `(s,w,n,e)`, where they are given.
    pub fn sides(&self, element: &Element) -> String {
        let sides = ["s", "w", "n", "e"].map(|side| element.get(side));
        if sides.iter().all(|side| side.is_empty()) { String::new() } else { format!("({})", sides.join(",")) }
    }
}

/// `.set`, unless it is the default one.
pub(crate) fn dotted(element: &Element, name: &str) -> String {
    match element.get(name) {
        "" | "_" => String::new(),
        set => format!(".{set}"),
    }
}
