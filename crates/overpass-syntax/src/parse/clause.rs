//! The filters in round brackets: `(1,2,3,4)`, `(around:100)`, `(if:...)`, ...

use super::super::element::{Element, Node};
use super::Parser;
use super::evaluator::EvaluatorContext;
use super::expression::{Id, Reading, Tree};
use crate::code::Code;

/// The names of the filters.
const NAMES: [&str; 20] = [
    "id",
    "around",
    "poly",
    "area",
    "pivot",
    "w",
    "r",
    "bn",
    "bw",
    "br",
    "way_cnt",
    "way_link",
    "user",
    "uid",
    "user_touched",
    "uid_touched",
    "newer",
    "changed",
    "if",
    "bbox",
];

/// A filter taken apart.
struct Clause<'a> {
    name: &'a str,
    set: Option<String>,
    arguments: Vec<Id>,
    start: usize,
    line: u32,
}

impl<'a> Parser<'a> {
    /// Reads a filter and adds what it is to `filters`; `what` is the type of its query.
    pub(super) fn clause(&mut self, what: &str, filters: &mut Vec<Node>) {
        let start = self.tokens.current().start;
        self.tokens.advance();
        let tree = self.tree(Reading::Filter);
        self.expect(&[")"]);
        let root = tree.at(tree.root);
        if tree.root == 0 {
            self.unknown_clause(&tree, None);
            return;
        }
        let mut first = tree.root;
        while tree.at(first).left != 0 {
            first = tree.at(first).left;
        }
        let colon = matches!(root.token.text, ":" | "::");
        if tree.at(first).token.is_number() && !colon {
            self.numbers(&tree, start, what, filters);
            return;
        }
        let (head, rest) = if colon { (root.left, root.right) } else { (tree.root, 0) };
        let branch = tree.at(head);
        let (name, set) = match branch.token.text {
            "." => (tree.text(branch.left), Some(tree.at(branch.right).token.value())),
            text => (text, None),
        };
        let arguments = if rest == 0 { Vec::new() } else { tree.items(rest) };
        // What is missing between commas is not counted, unless it is the first.
        let mut arguments = arguments;
        if arguments.first() == Some(&0) {
            arguments.clear();
        }
        arguments.retain(|&id| id != 0);
        let clause = Clause { name, set, arguments, start, line: root.line };
        if let Some(node) = self.named(&tree, &clause, what, rest) {
            filters.push(node);
        }
    }

    fn unknown_clause(&mut self, tree: &Tree<'a>, name: Option<&str>) {
        let line = tree.at(tree.root).line;
        let span = tree.span(tree.root);
        self.builder.diagnostics.parse(Code::UnknownFilter, line, span, "Unknown query clause");
        let help = name.and_then(|name| super::super::suggest::nearest(name, NAMES.into_iter()));
        self.builder.diagnostics.help(help);
    }

    /// Adds a parse error about a filter.
    fn refuse(&mut self, line: u32, code: Code, message: impl Into<String>) {
        let span = self.tokens.current().span();
        self.builder.diagnostics.parse(code, line, span, message);
    }

    /// `(123)` and `(s,w,n,e)`
    fn numbers(&mut self, tree: &Tree<'a>, start: usize, what: &str, filters: &mut Vec<Node>) {
        let line = tree.at(tree.root).line;
        let mut element = self.element("bbox-query", start, line);
        if tree.text(tree.root) != "," {
            element.name = "id-query".into();
            let id = tree.text(tree.root);
            filters.push(self.builder.open(element.with("type", id_type(what)).with("ref", id)));
            return;
        }
        // The reference takes the last four of more.
        let mut sides = Vec::new();
        let mut at = tree.root;
        while sides.len() < 3 && tree.text(at) == "," {
            sides.push(tree.at(at).right);
            at = tree.at(at).left;
        }
        sides.push(at);
        if sides.len() < 4 || sides.contains(&0) {
            self.refuse(line, Code::IncompleteBox, "bbox requires four arguments");
            return;
        }
        for (name, side) in ["s", "w", "n", "e"].into_iter().zip(sides.iter().rev()) {
            element = element.with(name, tree.text(*side));
        }
        filters.push(self.builder.open(element));
    }

    fn named(&mut self, tree: &Tree<'a>, clause: &Clause<'_>, what: &str, rest: Id) -> Option<Node> {
        let value = |id: &Id| tree.at(*id).token.value();
        let values: Vec<String> = clause.arguments.iter().map(value).collect();
        let first = || values.first().cloned();
        let make = |name: &'static str| Element::new(name, clause.line, self.span_from(clause.start));
        let set = clause.set.clone();
        let element = match clause.name {
            "id" => {
                let mut element = make("id-query").with("type", id_type(what));
                for (i, id) in values.iter().enumerate() {
                    let name = if i == 0 { "ref".to_owned() } else { format!("ref_{i}") };
                    element.attributes.push((name.into(), id.clone()));
                }
                element
            }
            "around" => return self.around(clause, values),
            "poly" => make("polygon-query").with("bounds", first().unwrap_or_default()),
            "area" => make("area-query").with_some("from", set).with_some("ref", first()),
            "pivot" => make("pivot").with_some("from", set),
            "w" | "r" | "bn" | "bw" | "br" => return self.relationship(clause, what, values),
            "way_cnt" | "way_link" => return self.way_count(tree, clause, what, values),
            "user" | "uid" | "user_touched" | "uid_touched" => {
                users(make("user").with("type", what), clause.name, values)
            }
            "newer" => make("newer").with("than", first().unwrap_or_default()),
            "changed" => {
                if values.len() > 2 {
                    let message = "Unexpected token \",\" after \"changed\"";
                    self.refuse(clause.line, Code::UnexpectedToken, message);
                    return None;
                }
                // One moment stands for both; the check takes it for "since then".
                let mut moments = values.iter().chain(values.iter().take(usize::from(values.len() == 1))).cloned();
                make("changed").with_some("since", moments.next()).with_some("until", moments.next())
            }
            "if" => return self.if_clause(tree, clause, rest),
            name => {
                self.unknown_clause(tree, Some(name));
                return None;
            }
        };
        Some(self.builder.open(element))
    }

    /// `(if:...)`
    fn if_clause(&mut self, tree: &Tree<'a>, clause: &Clause<'_>, rest: Id) -> Option<Node> {
        let mut node = self.builder.open(Element::new("filter", clause.line, self.span_from(clause.start)));
        match self.evaluate(tree, rest, EvaluatorContext::FILTER) {
            Some(evaluator) => self.builder.add(&mut node, evaluator),
            None if self.builder.diagnostics.is_empty() => {
                // The reference lets a set without a key pass.
                let message = "A set needs a key after its point: \"set.key\"";
                self.refuse(clause.line, Code::MissingOperand, message);
            }
            None if self.builder.converting => return None,
            None => {}
        }
        Some(node)
    }

    fn around(&mut self, clause: &Clause<'_>, values: Vec<String>) -> Option<Node> {
        let element = Element::new("around", clause.line, self.span_from(clause.start));
        let element = element.with_some("from", clause.set.clone());
        let element = match values.as_slice() {
            [] => {
                let message = "around requires the radius as first argument";
                self.refuse(clause.line, Code::MissingRadius, message);
                return None;
            }
            [radius] => element.with("radius", radius.as_str()),
            [radius, lat, lon] => {
                element.with("radius", radius.as_str()).with("lat", lat.as_str()).with("lon", lon.as_str())
            }
            [radius, points @ ..] if points.len() % 2 == 0 => {
                element.with("radius", radius.as_str()).with("polyline", points.join(","))
            }
            _ => {
                let message = "around requires an odd number of arguments";
                self.refuse(clause.line, Code::OddCoordinates, message);
                return None;
            }
        };
        Some(self.builder.open(element))
    }

    /// `(way_cnt:2)` and `(way_link:2-5)`
    fn way_count(&mut self, tree: &Tree<'a>, clause: &Clause<'_>, what: &str, values: Vec<String>) -> Option<Node> {
        if what != "node" {
            let message = format!("A recursion of type '{}' produces nodes.", clause.name);
            self.refuse(clause.line, Code::WrongType, message);
            return self.wrong_count(clause, what, values);
        }
        let kind = if clause.name == "way_cnt" { "way-count" } else { "way-link" };
        let element = Element::new("recurse", clause.line, self.span_from(clause.start));
        let mut element = element.with_some("from", clause.set.clone()).with("type", kind);
        if let Some(&id) = clause.arguments.first() {
            let (lower, upper) = range(tree, id);
            element = element.with("lower", lower).with("upper", upper);
        }
        Some(self.builder.open(element))
    }

    /// `(way_cnt:2)` where no nodes are asked for: the reference takes it for a recursion of no type.
    fn wrong_count(&mut self, clause: &Clause<'_>, what: &str, values: Vec<String>) -> Option<Node> {
        let single = matches!(what, "way" | "relation");
        if single && clause.name == "way_link" {
            return None;
        }
        let element = Element::new("recurse", clause.line, self.span_from(clause.start));
        let element = element.with_some("from", clause.set.clone()).with("type", "");
        let value = values.into_iter().next().filter(|_| single);
        Some(self.builder.open(element.with_some(if what == "way" { "pos" } else { "role" }, value)))
    }

    /// `(w)`, `(r:"role")`, `(bn:1)`, ...
    fn relationship(&mut self, clause: &Clause<'_>, what: &str, values: Vec<String>) -> Option<Node> {
        let name = clause.name;
        let (kind, produces) = match (name, what) {
            ("w", "node") => ("way-node", ""),
            ("w", _) => ("", "nodes"),
            ("r", "node") => ("relation-node", ""),
            ("r", "way") => ("relation-way", ""),
            ("r", "relation") => ("relation-relation", ""),
            ("r", "nwr") => ("relation-nwr", ""),
            ("r", "nw") => ("relation-nw", ""),
            ("r", "nr") => ("relation-nr", ""),
            ("r", "wr") => ("relation-wr", ""),
            ("r", _) => ("", "nodes, ways, or relations"),
            ("bn", "way") => ("node-way", ""),
            ("bn", "relation") => ("node-relation", ""),
            ("bn", _) => ("", "ways or relations"),
            ("bw", "relation") => ("way-relation", ""),
            (_, "relation") => ("relation-backwards", ""),
            _ => ("", "relations"),
        };
        if !produces.is_empty() {
            let message = format!("A recursion of type '{name}' produces {produces}.");
            self.refuse(clause.line, Code::WrongType, message);
            if !values.is_empty() && name != "r" {
                let message = format!("A recursion of type '{name}' cannot have restrictions.");
                self.refuse(clause.line, Code::WrongType, message);
            }
        }
        let mut element = Element::new("recurse", clause.line, self.span_from(clause.start));
        element = element.with_some("from", clause.set.clone()).with("type", kind);
        if kind.is_empty() && name != "r" {
            // Refused already.
        } else if matches!(kind, "way-node" | "node-way") {
            if !values.is_empty() {
                element = element.with("pos", values.join(","));
            }
        } else if let Some(role) = values.first() {
            element = element.with("role", role.as_str()).with("role-restricted", "yes");
        }
        Some(self.builder.open(element))
    }
}

/// `type` of an `id-query` in a query.
fn id_type(what: &str) -> &str {
    match what {
        "nwr" | "nw" | "nr" | "wr" => "",
        _ => what,
    }
}

/// `(user:...)` and the like.
fn users(mut element: Element, name: &str, values: Vec<String>) -> Element {
    let stem = if name.starts_with("user") { "name" } else { "uid" };
    let several = values.len() > 1;
    for (i, value) in values.into_iter().enumerate() {
        let name = if several { format!("{stem}_{}", i + 1) } else { stem.to_owned() };
        element.attributes.push((name.into(), value));
    }
    element.with_some("criterion", name.ends_with("_touched").then_some("touched"))
}

/// `2`, `2-`, `2-5`
fn range(tree: &Tree<'_>, id: Id) -> (String, String) {
    let branch = tree.at(id);
    if branch.token.text == "-" && branch.left != 0 {
        let upper = if branch.right == 0 { "4294967295" } else { tree.text(branch.right) };
        return (tree.text(branch.left).to_owned(), upper.to_owned());
    }
    (branch.token.text.to_owned(), branch.token.text.to_owned())
}
