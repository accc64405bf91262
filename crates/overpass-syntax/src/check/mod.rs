//! The static checks: whether an element's attributes have values that it takes, with the reference's words.

pub(crate) mod evaluators;
mod filters;
pub(crate) mod numbers;
mod settings;
mod statements;

pub(super) use evaluators::{Arguments, Needs, Spec, Type, evaluator_type, operator_element};

use super::diagnostics::{Cause, Clue, Diagnostics};
use super::element::{Block, Element, Node, Part};
use super::tree::{FilterKind, StatementKind};
use crate::code::Code;

/// What an element is; nothing if it is refused, then the reason is among the diagnostics.
pub(super) fn part(element: &Element, diagnostics: &mut Diagnostics) -> Option<Part> {
    let context = &mut Context { element, diagnostics, refused: false };
    if !context.knows_attributes() {
        return None;
    }
    let part = settings::part(context)
        .or_else(|| statements::part(context))
        .or_else(|| filters::part(context))
        .or_else(|| evaluators::part(context));
    match part {
        Some(part) if !context.refused => Some(part),
        Some(_) => None,
        None => {
            if !context.refused {
                let message = format!("Unknown tag \"{}\" in line {}.", element.name, element.line);
                context.refuse(Code::UnknownElement, message);
                context.diagnostics.help(super::suggest::nearest(&element.name, NAMES.into_iter()));
            }
            None
        }
    }
}

/// An element under check.
struct Context<'a> {
    element: &'a Element,
    diagnostics: &'a mut Diagnostics,
    refused: bool,
}

impl Context<'_> {
    fn refuse(&mut self, cause: impl Into<Cause>, message: impl Into<String>) {
        self.refused = true;
        self.diagnostics.fixed(cause, self.element.line, self.element.span, message);
    }

    /// Refuses with `For the attribute "..." of the element "..." the only allowed values are ...`.
    fn refuse_value(&mut self, attribute: &str, allowed: &str) {
        let message = format!(
            "For the attribute \"{attribute}\" of the element \"{}\" the only allowed values are {allowed}.",
            self.element.name
        );
        let clue = match (self.element.name.as_ref(), attribute) {
            ("around", "radius") => Some(Clue::Radius),
            ("area-query", "ref") => Some(Clue::Area),
            _ => None,
        };
        self.refuse(Cause::new(Code::BadValue, clue), message);
    }

    fn knows_attributes(&mut self) -> bool {
        let Some(known) = attributes_of(&self.element.name) else { return true };
        for (name, _) in &self.element.attributes {
            if known.contains(&name.as_ref()) {
                continue;
            }
            if self.diagnostics.full() {
                break;
            }
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches('_');
            if !(known.contains(&stem) && numbered(&self.element.name, stem)) {
                let message = format!("Unknown attribute \"{name}\" in element \"{}\".", self.element.name);
                self.refuse(Code::UnknownAttribute, message);
                self.diagnostics.help(match name.as_ref() {
                    "key" if known.contains(&"k") => Some("did you mean \"k\"?".to_owned()),
                    "value" if known.contains(&"v") => Some("did you mean \"v\"?".to_owned()),
                    "id" if known.contains(&"ref") => Some("did you mean \"ref\"?".to_owned()),
                    _ => super::suggest::nearest(name, known.iter().copied()),
                });
            }
        }
        true
    }
}

/// Whether `stem_1`, `stem_2`, ... are attributes of the element.
fn numbered(element: &str, stem: &str) -> bool {
    matches!((element, stem), ("id-query", "ref") | ("user", "name" | "uid"))
}

/// The attributes that an element takes.
fn attributes_of(element: &str) -> Option<&'static [&'static str]> {
    Some(match element {
        "osm-script" => &["timeout", "element-limit", "output", "output-config", "bbox", "date", "from", "augmented"],
        "query" => &["into", "type"],
        "union" | "difference" => &["into"],
        "foreach" | "for" | "compare" | "map-to-area" => &["from", "into"],
        "item" => &["from", "into", "set"],
        "complete" => &["from", "into", "maxnum"],
        "if" | "else" | "retro" | "filter" => &[],
        "recurse" => &["from", "into", "type", "role", "role-restricted", "pos", "lower", "upper"],
        "coord-query" => &["from", "into", "lat", "lon"],
        "timeline" => &["into", "type", "ref", "version"],
        "make" => &["into", "type"],
        "convert" => &["from", "into", "type"],
        "set-prop" => &["k", "keytype"],
        "localize" => &["from", "into", "type", "s", "w", "n", "e"],
        "print" => &["mode", "order", "from", "limit", "geometry", "ids", "s", "w", "n", "e"],
        "has-kv" => &["k", "v", "regk", "regv", "modv", "case"],
        "id-query" => &["type", "ref", "lower", "upper", "into"],
        "bbox-query" => &["s", "w", "n", "e", "into"],
        "around" => &["from", "into", "radius", "lat", "lon", "polyline"],
        "polygon-query" => &["bounds", "into"],
        "area-query" => &["from", "into", "ref"],
        "pivot" => &["from", "into"],
        "user" => &["type", "name", "uid", "into", "criterion"],
        "newer" => &["than"],
        "changed" => &["since", "until", "into"],
        _ => return None,
    })
}

/// The elements that are statements or filters.
const NAMES: [&str; 31] = [
    "osm-script",
    "query",
    "union",
    "difference",
    "foreach",
    "for",
    "if",
    "else",
    "complete",
    "retro",
    "compare",
    "item",
    "recurse",
    "coord-query",
    "map-to-area",
    "timeline",
    "make",
    "convert",
    "set-prop",
    "localize",
    "print",
    "has-kv",
    "id-query",
    "bbox-query",
    "around",
    "polygon-query",
    "area-query",
    "pivot",
    "user",
    "newer",
    "changed",
];

/// Whether `child` may stand in `parent`.
pub(super) fn allows(parent: &Node, child: &Node) -> bool {
    let statement =
        matches!(child.part, Part::Statement(_) | Part::Query { .. } | Part::Block(_) | Part::Produce { .. })
            || matches!(
                &child.part,
                Part::Filter { alone: Some(_), .. } | Part::Filter { kind: FilterKind::Set(_), .. }
            );
    match (&parent.part, &child.part) {
        (_, Part::Broken) | (Part::Broken, _) => true,
        (Part::Script(_), part) => statement || does_nothing(part),
        (Part::Query { .. }, part) => {
            matches!(part, Part::Filter { .. } | Part::If | Part::Statement(StatementKind::Recurse { .. }))
        }
        (Part::If, part) => matches!(part, Part::Evaluator(_)),
        (Part::Property(_), part) => matches!(part, Part::Evaluator(_)),
        (Part::Produce { .. }, part) => matches!(part, Part::Property(_)),
        (Part::Block(Block::If), Part::Else) => true,
        (Part::Block(Block::For { .. } | Block::If | Block::Retro | Block::Compare { .. }), Part::Evaluator(_)) => true,
        (Part::Block(Block::Union { .. } | Block::Difference { .. }), Part::Block(Block::If | Block::Retro)) => false,
        (Part::Block(Block::Union { .. } | Block::Difference { .. }), Part::Statement(StatementKind::Out(_))) => false,
        (Part::Block(Block::Union { .. } | Block::Difference { .. }), _) => statement,
        (Part::Block(_), part) => statement || does_nothing(part),
        (Part::Evaluator(_), part) => matches!(part, Part::Evaluator(_)),
        _ => false,
    }
}

/// Whether it is a filter that the reference lets stand as a statement, and then takes no notice of.
pub(super) fn does_nothing(part: &Part) -> bool {
    use FilterKind::{Equals, HasKey, KeyMatches, KeyNotMatches, Matches, NotEquals, NotKey, NotMatches};
    match part {
        Part::If => true,
        Part::Filter { kind, .. } => matches!(
            kind,
            HasKey { .. }
                | NotKey { .. }
                | Equals { .. }
                | NotEquals { .. }
                | Matches { .. }
                | NotMatches { .. }
                | KeyMatches { .. }
                | KeyNotMatches { .. }
        ),
        _ => false,
    }
}

/// What is wrong with `child` as the next in `parent`.
pub(super) fn before_evaluator(parent: &Node, child: &Node) -> Option<String> {
    statements::before_evaluator(parent, child)
}

/// What is wrong with a property that `parent` has set already: a message each time it has.
pub(super) fn set_before(parent: &mut Node, child: &Node) -> Option<(String, usize)> {
    statements::set_before(parent, child)
}

/// Checks an element with all its children.
pub(super) fn complete(node: &Node, diagnostics: &mut Diagnostics) {
    statements::complete(node, diagnostics);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_unknown_attributes() {
        let mut diagnostics = Diagnostics::default();
        let element = Element::new("osm-script", 1, Default::default()).with("foo", "1");
        assert!(part(&element, &mut diagnostics).is_none());
        let text = diagnostics.into_failure().to_string();
        assert_eq!(text, "line 1: static error: Unknown attribute \"foo\" in element \"osm-script\".");
    }

    /// The names of all elements in a query.
    fn names_in(node: &Node, names: &mut std::collections::BTreeSet<String>) {
        names.insert(format!("{} {}", node.element.name, node.element.get("type")));
        names.insert(node.element.name.to_string());
        node.children.iter().for_each(|child| names_in(child, names));
    }

    /// `docs/features.md` is written from the case files: nothing of the language may lack one.
    #[test]
    fn every_element_has_a_case() {
        let folder = std::path::PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo tests this"))
            .join("../../tests/cases/overpass");
        let mut names = std::collections::BTreeSet::new();
        for area in std::fs::read_dir(folder).expect("the cases").map(|entry| entry.expect("an entry").path()) {
            for file in std::fs::read_dir(area).into_iter().flatten().map(|entry| entry.expect("an entry").path()) {
                let text = std::fs::read_to_string(file).expect("a case file");
                for case in text.split("\n== ").skip(1) {
                    let query =
                        case.split_once('\n').map_or("", |(_, rest)| rest.split("\n-- ").next().unwrap_or(rest));
                    if let Ok((Some(root), _)) = crate::outline(query) {
                        names_in(&root, &mut names);
                    }
                }
            }
        }
        let functions = evaluators::elements().map(|(name, property)| match property {
            "" => name.to_owned(),
            property => format!("{name} {property}"),
        });
        let others =
            ["eval-fixed", "eval-value", "eval-generic", "eval-set-key", "eval-not", "eval-negate", "eval-ternary"];
        let all = NAMES.iter().chain(&others).map(|name| (*name).to_owned()).chain(functions);
        let lacking: Vec<String> = all.filter(|name| !names.contains(name)).collect();
        assert!(lacking.is_empty(), "no case in tests/cases/overpass has {lacking:?}");
    }
}
