//! The names and attributes in a tag, as strict as the reference's reader.

use std::borrow::Cow;

use quick_xml::escape::EscapeError;
use quick_xml::events::BytesStart;
use quick_xml::events::attributes::AttrError;

/// What the reference's reader says of most mistakes.
pub(super) const NOT_WELL_FORMED: &str = "not well-formed (invalid token)";

/// Why a tag is none.
pub(super) struct Malformed {
    /// In the words of the reference's reader.
    pub message: &'static str,
    /// What is wrong in detail.
    pub help: String,
}

impl Malformed {
    fn new(message: &'static str, help: impl Into<String>) -> Malformed {
        Malformed { message, help: help.into() }
    }
}

/// Whether a text is the name of an element or an attribute.
pub(super) fn is_name(text: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | ':') || !c.is_ascii();
    text.starts_with(begins) && text.chars().all(|c| begins(c) || c.is_ascii_digit() || matches!(c, '-' | '.'))
}

/// Whether a tag that the text ends in can still become one.
pub(super) fn could_go_on(text: &str) -> bool {
    let inner = text.trim_start_matches('<');
    let closing = inner.strip_prefix('/');
    let name = closing.unwrap_or(inner).split(|c: char| c.is_ascii_whitespace()).next().unwrap_or_default();
    let begun = text.starts_with('<') && is_name(name);
    begun && (closing.is_some() || !text.trim_end().ends_with('/'))
}

/// The attributes of a tag, in order.
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

/// Refuses what stands right behind the value of an attribute.
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
