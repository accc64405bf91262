//! QL, on one line or over several. The layout is the reference's; where what the reference writes could not be read
//! again (doubled quotation marks and semicolons, brackets that are left out), this writes what can be.

use super::expression::{self, quoted};
use super::filter::{self, dotted};
use crate::{Element, Node};
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

struct Writer {
    out: String,
    pretty: bool,
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

    fn end_line(&mut self) {
        if self.pretty {
            self.out.push('\n');
        }
    }

    fn indent(&mut self, depth: usize) {
        budget::checkpoint();
        if self.pretty {
            self.out.extend(std::iter::repeat_n("  ", depth));
        }
    }

    fn statements(&mut self, nodes: &[Node], depth: usize) {
        for node in nodes {
            self.indent(depth);
            self.statement(node, depth);
            self.end_line();
        }
    }

    /// Writes a statement with its semicolon, from where its first line is indented to before its last one ends.
    fn statement(&mut self, node: &Node, depth: usize) {
        let element = &node.element;
        let (operands, body) = expression::split(&node.children);
        let operand = operands.first().map(expression::write).unwrap_or_default();
        match element.name.as_ref() {
            "query" => self.query(node, depth),
            "union" | "difference" => {
                self.out.push('(');
                self.end_line();
                for (i, member) in body.iter().enumerate() {
                    if i > 0 && element.name == "difference" {
                        self.indent(depth + 1);
                        self.out.push('-');
                        self.end_line();
                        // `-.a` would be one word.
                        if !self.pretty && written_with_point(member) {
                            self.out.push(' ');
                        }
                    }
                    self.statements(std::slice::from_ref(member), depth + 1);
                }
                self.out.push(')');
                self.into(element);
                self.out.push(';');
            }
            "foreach" => self.block(&format!("foreach{}{}", dotted(element, "from"), into(element)), body, depth),
            "for" => {
                self.block(&format!("for{}{}({operand})", dotted(element, "from"), into(element)), body, depth);
            }
            "complete" => {
                let limit = element.get("maxnum");
                let limit = if limit.is_empty() { String::new() } else { format!("({limit})") };
                let from = dotted(element, "from");
                self.block(&format!("complete{limit}{from}{}", into(element)), body, depth);
            }
            "if" => self.choice(&operand, body, depth),
            "retro" => {
                let head = if self.pretty { format!("retro ({operand})\n") } else { format!("retro({operand})") };
                self.block(&head, body, depth);
            }
            "compare" => {
                let delta = if operand.is_empty() { "()".to_owned() } else { format!("(delta:{operand})") };
                let head = format!("{}compare{delta}{}", before(element), into(element));
                if body.is_empty() {
                    self.out.push_str(&head);
                    self.out.push(';');
                } else {
                    self.block(&head, body, depth);
                }
            }
            "make" | "convert" => self.produce(node, depth),
            "print" => self.print(element),
            _ => match simple(element) {
                Some(text) => {
                    self.out.push_str(&text);
                    self.into(element);
                    self.out.push(';');
                }
                None => self.alone(node),
            },
        }
    }

    fn into(&mut self, element: &Element) {
        self.out.push_str(&into(element));
    }

    fn block(&mut self, head: &str, body: &[Node], depth: usize) {
        self.out.push_str(head);
        self.out.push('{');
        self.end_line();
        self.statements(body, depth + 1);
        self.out.push('}');
    }

    fn choice(&mut self, condition: &str, body: &[Node], depth: usize) {
        let space = if self.pretty { " " } else { "" };
        let line = if self.pretty { "\n" } else { "" };
        let (then, otherwise) = match body.iter().position(|node| node.element.name == "else") {
            Some(at) => (&body[..at], Some(&body[at..])),
            None => (body, None),
        };
        self.block(&format!("if{space}({condition}){line}"), then, depth);
        if let Some([_, otherwise @ ..]) = otherwise {
            self.end_line();
            self.block(&format!("else{line}"), otherwise, depth);
        }
    }

    fn query(&mut self, query: &Node, depth: usize) {
        let what = query.element.get("type");
        self.out.push_str(what);
        let (sets, filters): (Vec<&Node>, Vec<&Node>) =
            super::canonical::sorted_filters(query).partition(|node| node.element.name == "item");
        for set in sets {
            self.out.push_str(&filter::write(set));
        }
        let lines = self.pretty && filters.len() > 1;
        for node in filters {
            if lines {
                self.out.push('\n');
                self.indent(depth + 1);
            }
            self.out.push_str(&filter::write(node));
        }
        if lines && !into(&query.element).is_empty() {
            self.out.push('\n');
            self.indent(depth + 1);
        }
        self.into(&query.element);
        self.out.push(';');
    }

    /// A filter that stands as a statement.
    fn alone(&mut self, node: &Node) {
        let Some(what) = filter::query_type(&node.element) else { return };
        self.out.push_str(what);
        self.out.push_str(&filter::write(node));
        self.into(&node.element);
        self.out.push(';');
    }

    fn produce(&mut self, node: &Node, depth: usize) {
        let element = &node.element;
        self.out.push_str(&before(element));
        self.out.push_str(&element.name);
        self.out.push(' ');
        self.out.push_str(element.get("type"));
        for (i, property) in node.children.iter().enumerate() {
            if i > 0 {
                self.out.push(',');
            }
            if self.pretty {
                self.out.push('\n');
                self.indent(depth + 1);
            } else if i == 0 {
                self.out.push(' ');
            }
            let value = property.children.first().map(expression::write);
            let key = match property.element.get("keytype") {
                "id" => "::id".to_owned(),
                "geometry" => "::geom".to_owned(),
                "generic" => "::".to_owned(),
                _ => expression::word(property.element.get("k")),
            };
            match value {
                Some(value) => self.out.push_str(&format!("{key}={value}")),
                None => self.out.push_str(&format!("!{key}")),
            }
        }
        self.into(element);
        self.out.push(';');
    }

    fn print(&mut self, element: &Element) {
        self.out.push_str(&before(element));
        self.out.push_str("out");
        self.out.push_str(match element.get("mode") {
            "ids_only" => " ids",
            "skeleton" => " skel",
            "tags" => " tags",
            "meta" => " meta",
            "count" => " count",
            _ => "",
        });
        if element.get("order") == "quadtile" {
            self.out.push_str(" qt");
        }
        if !element.get("limit").is_empty() {
            self.out.push(' ');
            self.out.push_str(element.get("limit"));
        }
        self.out.push_str(match element.get("geometry") {
            "full" => " geom",
            "bounds" => " bb",
            "center" => " center",
            _ => "",
        });
        if element.get("ids") == "no" {
            self.out.push_str(" noids");
        }
        self.out.push_str(&sides(element));
        self.out.push(';');
    }
}

/// The text of a statement without children, up to where its result goes.
fn simple(element: &Element) -> Option<String> {
    let get = |name: &str| element.get(name);
    Some(match element.name.as_ref() {
        "item" => {
            let set = if get("from").is_empty() { get("set") } else { get("from") };
            format!(".{}", if set.is_empty() { "_" } else { set })
        }
        "recurse" => {
            let sign = match get("type") {
                "down" => ">",
                "down-rel" => ">>",
                "up" => "<",
                "up-rel" => "<<",
                _ => return None,
            };
            format!("{}{sign}", before(element))
        }
        "coord-query" => {
            let place = if get("lat").is_empty() { String::new() } else { format!("({},{})", get("lat"), get("lon")) };
            format!("{}is_in{place}", before(element))
        }
        "map-to-area" => format!("{}map_to_area", before(element)),
        "timeline" => {
            let version = if get("version").is_empty() { String::new() } else { format!(",{}", get("version")) };
            format!("timeline({},{}{version})", get("type"), get("ref"))
        }
        "localize" => {
            let kind = match get("type") {
                "" | "l" => String::new(),
                kind => format!(" {kind}"),
            };
            format!("{}local{kind}{}", before(element), sides(element))
        }
        _ => return None,
    })
}

/// Whether the QL of a statement begins with a point.
fn written_with_point(node: &Node) -> bool {
    node.element.name == "item" || !before(&node.element).is_empty()
}

/// `.set ` before the word of a statement.
fn before(element: &Element) -> String {
    match dotted(element, "from") {
        set if set.is_empty() => set,
        set => set + " ",
    }
}

/// `->.set`
fn into(element: &Element) -> String {
    match dotted(element, "into") {
        set if set.is_empty() => set,
        set => format!("->{set}"),
    }
}

/// `(s,w,n,e)`, where they are given.
fn sides(element: &Element) -> String {
    let sides = ["s", "w", "n", "e"].map(|side| element.get(side));
    if sides.iter().all(|side| side.is_empty()) { String::new() } else { format!("({})", sides.join(",")) }
}
