//! Parses the names and attributes in a tag, as strictly as the reference's parser.

use std::borrow::Cow;

use quick_xml::escape::EscapeError;
use quick_xml::events::BytesStart;
use quick_xml::events::attributes::AttrError;

/// The error of the reference's parser for most mistakes.
pub(super) const NOT_WELL_FORMED: &str = "not well-formed (invalid token)";

/// The reason why a tag is invalid.
pub(super) struct Malformed {
    /// The error of the reference's parser.
    pub message: &'static str,
    /// The details of the mistake.
    pub help: String,
}

impl Malformed {
    fn new(message: &'static str, help: impl Into<String>) -> Malformed {
        Malformed { message, help: help.into() }
    }
}

/// Returns whether a text is a valid name of an element or an attribute.
pub(super) fn is_name(text: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':') || !c.is_ascii();
    text.starts_with(begins) && text.chars().all(|c| begins(c) || c.is_ascii_digit() || matches!(c, '-' | '.'))
}

/// Returns whether an unfinished tag at the end of the text could still become valid.
pub(super) fn could_go_on(text: &str) -> bool {
    let inner = text.trim_start_matches('<');
    let closing = inner.strip_prefix('/');
    let name = closing.unwrap_or(inner).split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
    let begun = text.starts_with('<') && is_name(name);
    begun && (closing.is_some() || !text.trim_end().ends_with('/'))
}

/// Returns the attributes of a tag, in order.
pub(super) fn attributes(tag: &BytesStart<'_>) -> Result<Vec<(Cow<'static, str>, String)>, Malformed> {
    let name = tag.name();
    if !is_name(name.as_ref()) {
        return Err(Malformed::new(NOT_WELL_FORMED, "an element has a name of letters"));
    }
    spaced(tag.as_ref())?;
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|error| match error {
            AttrError::Duplicated(..) => Malformed::new("duplicate attribute", error.to_string()),
            _ => Malformed::new(NOT_WELL_FORMED, error.to_string()),
        })?;
        let name: &str = attribute.key.as_ref();
        if !is_name(name) {
            return Err(Malformed::new(NOT_WELL_FORMED, "an attribute has a name of letters"));
        }
        if attribute.value.contains('<') {
            return Err(Malformed::new(NOT_WELL_FORMED, "\"<\" in an attribute is written &lt;"));
        }
        let value = quick_xml::escape::unescape(&attribute.value).map_err(|error| match error {
            EscapeError::UnrecognizedEntity(..) => Malformed::new("undefined entity", error.to_string()),
            _ => Malformed::new(NOT_WELL_FORMED, error.to_string()),
        })?;
        attributes.push((Cow::Owned(name.to_owned()), value.into_owned()));
    }
    Ok(attributes)
}

/// Rejects characters directly after the value of an attribute.
fn spaced(tag: &str) -> Result<(), Malformed> {
    let mut quote = None;
    let mut after = false;
    for c in tag.chars() {
        match quote {
            Some(sign) if c == sign => (quote, after) = (None, true),
            Some(_) => {}
            None if after && !c.is_ascii_whitespace() => {
                return Err(Malformed::new(NOT_WELL_FORMED, "there is no space between two attributes"));
            }
            None => {
                after = false;
                quote = matches!(c, '"' | '\'').then_some(c);
            }
        }
    }
    Ok(())
}
