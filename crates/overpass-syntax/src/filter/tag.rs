//! The filter `[key]`, `[key=value]`, `[key~pattern]`, ...

use super::{FilterGrammar, FilterKind, FilterProperties};
use crate::check::{CheckContext, regex};
use crate::code::OverpassCode;
use crate::element::SyntaxElement;
use crate::parse::{QlParser, Start};
use crate::tree::Regex;
use crate::writer::expression::quoted;
use crate::{Alone, ElementMeaning, ElementSyntax};

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
    /// `[~key!~value]`: a key matches, and the value of no matching key does.
    KeyNotMatches { key: Regex, value: Regex },
}

pub(super) const SYNTAX: FilterGrammar = FilterGrammar {
    form: ElementSyntax {
        name: "has-kv",
        attributes: &["k", "v", "regk", "regv", "modv", "case"],
        check: |context| {
            let kind = FilterKind::Tag(tag(context)?);
            Some(ElementMeaning::Filter { kind, alone: Alone::Ignored, into: context.sets().1 })
        },
        ..ElementSyntax::NONE
    },
    text: |node| Some(text(&node.element)),
    leads: true,
    ..FilterGrammar::NONE
};

impl FilterProperties for Tag {}

/// Reads a tag filter. Errors come in the reference's order: each attribute is checked after those before it.
fn tag(context: &mut CheckContext<'_>) -> Option<Tag> {
    let element = context.element;
    let has = |name: &str| !element.get(name).is_empty();
    let ignore_case = match element.get("case") {
        "" | "sensitive" => false,
        "ignore" => true,
        _ => {
            context.refuse_value("case", "\"sensitive\" or \"ignore\"");
            false
        }
    };
    if !has("k") && !has("regk") {
        context.refuse_value("k", "non-empty strings");
    }
    refuse_if(context, has("k") && has("regk"), "only one of the attributes \"k\" and \"regk\" can be nonempty.");
    refuse_if(context, has("regk") && has("v"), "the attribute \"regk\" must be combined with \"regv\".");
    let key = element.get("k").to_owned();
    let key_pattern = element.find("regk").filter(|text| !text.is_empty());
    let key_regex = key_pattern.map(|text| regex(context, text, ignore_case));
    refuse_if(context, has("v") && has("regv"), "only one of the attributes \"v\" and \"regv\" can be nonempty.");
    let pattern = element.find("regv").filter(|text| !text.is_empty());
    let is_any = key_pattern.is_none() && pattern == Some(".*") && !ignore_case && element.get("modv") == "not";
    let value_regex = pattern.filter(|_| !is_any).map(|text| regex(context, text, ignore_case));
    let negated = match element.get("modv") {
        "" => false,
        "not" => true,
        _ => {
            refuse_if(context, true, "the attribute \"modv\" can only be empty or std::set to \"not\".");
            false
        }
    };
    refuse_if(context, has("regk") && negated, "regular expressions on keys cannot be combined with negation.");
    if is_any {
        return Some(Tag::NotKey { key });
    }
    if let Some(key) = key_regex {
        let value = value_regex.unwrap_or_else(|| regex(context, "", ignore_case));
        return Some(Tag::KeyMatches { key: key?, value: value? });
    }
    if let Some(value) = value_regex {
        let value = value?;
        return Some(if negated { Tag::NotMatches { key, value } } else { Tag::Matches { key, value } });
    }
    let value = element.find("v").unwrap_or("").to_owned();
    Some(match value.is_empty() {
        // As in the reference, negation is ignored here.
        true => Tag::HasKey { key },
        false if negated => Tag::NotEquals { key, value },
        false => Tag::Equals { key, value },
    })
}

/// Reports an error of the element if `is_wrong`.
fn refuse_if(context: &mut CheckContext<'_>, is_wrong: bool, why: &str) {
    if is_wrong {
        context.refuse(OverpassCode::BadValue, format!("In the element \"has-kv\" {why}"));
    }
}

/// Parses `[key]`, `[key=value]`, ... Returns `None` if the reference ignores the filter.
pub(crate) fn read_tag(parser: &mut QlParser<'_>) -> Option<SyntaxElement> {
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
        // The reference ignores such a filter.
        parser.expect(&["]"]);
        return None;
    };
    parser.tokens.advance();
    let has_pattern = matches!(wanted, TagValueTest::Pattern { .. });
    if key_pattern && !has_pattern {
        let message =
            "A regular expression for a key can only be combined with a regular expression as value criterion";
        parser.error(OverpassCode::KeyPatternAlone, message);
    }
    let (key, key_pattern) = if key_pattern && has_pattern { (None, Some(key)) } else { (Some(key), None) };
    let (value, pattern, ignore_case) = match wanted {
        TagValueTest::Value(value) => (Some(value), None, false),
        TagValueTest::Pattern { text, ignore_case } => (None, Some(text), ignore_case),
    };
    let element = parser.element("has-kv", &start).with_some("case", ignore_case.then_some("ignore"));
    let element = element.with_some("k", key).with("modv", if negated { "not" } else { "" });
    let element = element.with_some("regk", key_pattern).with_some("regv", pattern).with_some("v", value);
    Some(element)
}

/// Parses the condition after a key, up to the bracket, and sets `line` to the line of its first token. Returns `None`
/// for `[key=]`.
fn wanted_value(parser: &mut QlParser<'_>, line: &mut u32) -> Option<TagValueTest> {
    if parser.tokens.is("]") {
        return Some(TagValueTest::Value(String::new()));
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
        return Some(TagValueTest::Value(text));
    }
    let text = parser.text("Value");
    parser.skip_to(&[",", "]"]);
    let ignore_case = parser.tokens.is(",");
    if ignore_case {
        parser.tokens.advance();
        parser.expect(&["i"]);
        parser.skip_to(&["]"]);
    }
    Some(TagValueTest::Pattern { text, ignore_case })
}

/// The condition on the value of a key.
enum TagValueTest {
    /// This value. An empty text only requires that the key exists.
    Value(String),
    Pattern {
        text: String,
        ignore_case: bool,
    },
}

/// Returns `["key"="value"]`.
fn text(element: &SyntaxElement) -> String {
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
