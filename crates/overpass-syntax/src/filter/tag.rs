//! Tag filters: `[key]`, `[key=value]`, `[key~pattern]`, ...

use super::{Facts, FilterKind, Syntax};
use crate::check::{Context, regex};
use crate::code::Code;
use crate::convert::expression::quoted;
use crate::element::Element;
use crate::parse::{Parser, Start};
use crate::tree::Regex;
use crate::{Alone, Form, Part};

/// A condition on an element's tags.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Tag {
    /// `[key]`.
    HasKey { key: String },
    /// `[!key]`.
    NotKey { key: String },
    /// `[key=value]`.
    Equals { key: String, value: String },
    /// `[key!=value]`: also true if the key is absent.
    NotEquals { key: String, value: String },
    /// `[key~value]`, `[key~value,i]`.
    Matches { key: String, value: Regex },
    /// `[key!~value]`: also true if the key is absent.
    NotMatches { key: String, value: Regex },
    /// `[~key~value]`.
    KeyMatches { key: Regex, value: Regex },
    /// `[~key!~value]`: a key matches and no such key's value does.
    KeyNotMatches { key: Regex, value: Regex },
}

pub(super) const SYNTAX: Syntax = Syntax {
    form: Form {
        name: "has-kv",
        attributes: &["k", "v", "regk", "regv", "modv", "case"],
        check: |context| {
            let kind = FilterKind::Tag(tag(context)?);
            Some(Part::Filter { kind, alone: Alone::Ignored, into: context.sets().1 })
        },
        ..Form::NONE
    },
    text: |node| Some(text(&node.element)),
    leads: true,
    ..Syntax::NONE
};

impl Facts for Tag {}

fn tag(context: &mut Context<'_>) -> Option<Tag> {
    let element = context.element;
    let negated = match element.get("modv") {
        "" => false,
        "not" => true,
        _ => {
            let message = "In the element \"has-kv\" the attribute \"modv\" can only be empty or std::set to \"not\".";
            context.refuse(Code::BadValue, message);
            false
        }
    };
    let ignore_case = match element.get("case") {
        "" | "sensitive" => false,
        "ignore" => true,
        _ => {
            context.refuse_value("case", "\"sensitive\" or \"ignore\"");
            false
        }
    };
    let key = element.get("k").to_owned();
    let key_pattern = element.find("regk").filter(|text| !text.is_empty());
    let pattern = element.find("regv");
    let value = element.find("v").unwrap_or("").to_owned();
    refuse_combinations(context, negated);
    if let Some(key_pattern) = key_pattern {
        let key = regex(context, key_pattern, ignore_case);
        let value = regex(context, pattern.unwrap_or(""), ignore_case);
        return Some(Tag::KeyMatches { key: key?, value: value? });
    }
    Some(match pattern.filter(|text| !text.is_empty()) {
        Some(".*") if negated && !ignore_case => Tag::NotKey { key },
        Some(pattern) => {
            let value = regex(context, pattern, ignore_case)?;
            if negated { Tag::NotMatches { key, value } } else { Tag::Matches { key, value } }
        }
        // As in the reference, `modv="not"` has no effect without a value.
        None if value.is_empty() => Tag::HasKey { key },
        None if negated => Tag::NotEquals { key, value },
        None => Tag::Equals { key, value },
    })
}

/// Refuses attributes of a tag filter that do not go together.
fn refuse_combinations(context: &mut Context<'_>, negated: bool) {
    let element = context.element;
    let has = |name: &str| !element.get(name).is_empty();
    if !has("k") && !has("regk") {
        context.refuse_value("k", "non-empty strings");
    }
    let refusals = [
        (has("k") && has("regk"), "only one of the attributes \"k\" and \"regk\" can be nonempty."),
        (has("v") && has("regv"), "only one of the attributes \"v\" and \"regv\" can be nonempty."),
        (
            has("regk") && has("v") && element.find("regv").is_none(),
            "the attribute \"regk\" must be combined with \"regv\".",
        ),
        (has("regk") && negated, "regular expressions on keys cannot be combined with negation."),
    ];
    for (_, why) in refusals.iter().filter(|(is_there, _)| *is_there) {
        context.refuse(Code::BadValue, format!("In the element \"has-kv\" {why}"));
    }
}

/// `[key]`, `[key=value]`, ...; nothing where the reference takes no notice of it.
pub(crate) fn read_tag(parser: &mut Parser<'_>) -> Option<Element> {
    let byte = parser.tokens.current().start;
    parser.tokens.advance();
    let mut start = Start { byte, line: parser.tokens.line(), from: None };
    if parser.tokens.is("!") {
        parser.tokens.advance();
        start.line = parser.tokens.line();
        let key = parser.text("Key");
        parser.expect(&["]"]);
        let element = parser.element("has-kv", &start).with("k", key).with("modv", "not").with("regv", ".*");
        return Some(element);
    }
    let key_pattern = parser.tokens.is("~");
    if key_pattern {
        parser.tokens.advance();
        start.line = parser.tokens.line();
    }
    let key = parser.text("Key");
    parser.skip_to(&["!", "~", "=", "!=", "]"]);
    let mut negated = false;
    if parser.tokens.is("!") {
        parser.tokens.advance();
        negated = true;
        parser.skip_to(&["~", "=", "]"]);
    }
    negated |= parser.tokens.is("!=");
    let Some(wanted) = wanted_value(parser, &mut start.line) else {
        // The reference takes no notice of such a filter.
        parser.expect(&["]"]);
        return None;
    };
    parser.tokens.advance();
    let has_pattern = matches!(wanted, Wanted::Pattern { .. });
    if key_pattern && !has_pattern {
        let message =
            "A regular expression for a key can only be combined with a regular expression as value criterion";
        parser.error(Code::KeyPatternAlone, message);
    }
    let (key, key_pattern) = if key_pattern && has_pattern { (None, Some(key)) } else { (Some(key), None) };
    let (value, pattern, ignore_case) = match wanted {
        Wanted::Value(value) => (Some(value), None, false),
        Wanted::Pattern { text, ignore_case } => (None, Some(text), ignore_case),
    };
    let element = parser.element("has-kv", &start).with_some("case", ignore_case.then_some("ignore"));
    let element = element.with_some("k", key).with("modv", if negated { "not" } else { "" });
    let element = element.with_some("regk", key_pattern).with_some("regv", pattern).with_some("v", value);
    Some(element)
}

/// What stands behind a key, up to the bracket, with the line of what it begins with; nothing for `[key=]`.
fn wanted_value(parser: &mut Parser<'_>, line: &mut u32) -> Option<Wanted> {
    if parser.tokens.is("]") {
        return Some(Wanted::Value(String::new()));
    }
    let is_plain = parser.tokens.is("=") || parser.tokens.is("!=");
    parser.tokens.advance();
    *line = parser.tokens.line();
    if is_plain {
        let text = if parser.tokens.is("]") { String::new() } else { parser.text("Value") };
        if text.is_empty() {
            return None;
        }
        parser.skip_to(&["]"]);
        return Some(Wanted::Value(text));
    }
    let text = parser.text("Value");
    parser.skip_to(&[",", "]"]);
    let ignore_case = parser.tokens.is(",");
    if ignore_case {
        parser.tokens.advance();
        parser.expect(&["i"]);
        parser.skip_to(&["]"]);
    }
    Some(Wanted::Pattern { text, ignore_case })
}

/// What the value of a key must be.
enum Wanted {
    /// This; where it is empty, there must be one.
    Value(String),
    Pattern {
        text: String,
        ignore_case: bool,
    },
}

/// `["key"="value"]`
fn text(element: &Element) -> String {
    let not = if element.get("modv") == "not" { "!" } else { "" };
    let key_pattern = element.get("regk");
    let key = if key_pattern.is_empty() { quoted(element.get("k")) } else { format!("~{}", quoted(key_pattern)) };
    let case = if element.get("case") == "ignore" { ",i" } else { "" };
    match (element.get("regv"), element.get("v")) {
        ("", "") => format!("[{key}]"),
        ("", value) => format!("[{key}{not}={}]", quoted(value)),
        (pattern, _) => format!("[{key}{not}~{}{case}]", quoted(pattern)),
    }
}
