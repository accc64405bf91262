//! Formats the XML form of OverpassQL: one element per line, children indented, one space between attributes. Values of
//! attributes and comments stay as written.

use quick_xml::Reader;
use quick_xml::events::Event;
use terrapin_budget as budget;

use crate::FormatError;
use crate::lines::{Gap, Lines};

/// A part of an XML text.
#[derive(Debug, PartialEq, Eq)]
enum Markup {
    /// `<a b="c">`, without superfluous white space.
    Open(String),
    /// `</a>`.
    Close(String),
    /// `<a/>`, or the declaration of the document.
    Single(String),
    /// A comment, and whether it begins a line.
    Comment(String, bool),
    /// An empty line.
    EmptyLine,
}

/// Returns whether a text is in the XML form.
pub fn is_xml(text: &str) -> bool {
    let text = text.trim_start();
    text.starts_with('<') && !text.starts_with("<;") && !text.starts_with("<<")
}

/// Formats a query in the XML form.
///
/// # Errors
/// Returns an error if the text is no XML, or has text between its tags.
pub fn format(text: &str) -> Result<String, FormatError> {
    let before = markup(text)?;
    let mut lines = Lines::default();
    for part in &before {
        budget::checkpoint();
        match part {
            Markup::EmptyLine => {
                lines.end();
                lines.empty_line();
            }
            Markup::Comment(text, false) if !text.contains('\n') => lines.comment_behind(text),
            Markup::Open(text) | Markup::Single(text) | Markup::Comment(text, _) => {
                lines.end();
                lines.add(Gap::None, text);
                lines.end();
                lines.depth += usize::from(matches!(part, Markup::Open(_)));
            }
            Markup::Close(text) => {
                lines.no_empty_line();
                lines.depth = lines.depth.saturating_sub(1);
                lines.add(Gap::None, text);
                lines.end();
            }
        }
    }
    let out = lines.finish();
    let kept = |parts: Vec<Markup>| -> Vec<Markup> {
        let is_text = |part: &Markup| !matches!(part, Markup::EmptyLine);
        let anywhere = |part| match part {
            Markup::Comment(text, _) => Markup::Comment(text, true),
            other => other,
        };
        parts.into_iter().filter(is_text).map(anywhere).collect()
    };
    if kept(markup(&out)?) == kept(before) { Ok(out) } else { Err(FormatError::Changed(0)) }
}

/// Splits a text into its tags and comments.
fn markup(text: &str) -> Result<Vec<Markup>, FormatError> {
    let mut reader = Reader::from_str(text);
    let (mut parts, mut is_new_line) = (Vec::new(), true);
    loop {
        let start = reader.buffer_position() as usize;
        let event = reader.read_event().map_err(|_| FormatError::Token(reader.error_position() as usize))?;
        let end = reader.buffer_position() as usize;
        let written = text.get(start..end).ok_or(FormatError::Token(start))?;
        let part = match event {
            Event::Eof => return Ok(parts),
            Event::Text(_) if written.trim().is_empty() => {
                let breaks = written.matches('\n').count();
                is_new_line |= breaks > 0;
                if breaks < 2 || parts.is_empty() {
                    continue;
                }
                Markup::EmptyLine
            }
            Event::Start(_) => Markup::Open(tag(written)),
            Event::End(_) => Markup::Close(tag(written)),
            Event::Empty(_) | Event::Decl(_) => Markup::Single(tag(written)),
            Event::DocType(_) | Event::PI(_) => Markup::Single(written.to_owned()),
            Event::Comment(_) => Markup::Comment(written.to_owned(), is_new_line),
            _ => return Err(FormatError::Token(start)),
        };
        is_new_line = matches!(part, Markup::EmptyLine);
        parts.push(part);
    }
}

/// Returns a tag with one space between attributes, and none around `=` or before its end.
fn tag(written: &str) -> String {
    let (mut out, mut quote, mut spaces) = (String::with_capacity(written.len()), None, false);
    for letter in written.chars() {
        match quote {
            Some(open) => {
                quote = (letter != open).then_some(open);
                out.push(letter);
            }
            None if letter.is_whitespace() => spaces = true,
            None => {
                if std::mem::take(&mut spaces) && !matches!(letter, '=' | '/' | '>' | '?') && !out.ends_with('=') {
                    out.push(' ');
                }
                quote = matches!(letter, '"' | '\'').then_some(letter);
                out.push(letter);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts() {
        for (text, expected) in [
            (
                "<query type=\"node\"><has-kv k='a  b'  v = \"c\" /></query><print/>",
                "<query type=\"node\">\n  <has-kv k='a  b' v=\"c\"/>\n</query>\n<print/>\n",
            ),
            (
                "<?xml version=\"1.0\" ?>\n<osm-script><!-- all -->\n\n\n<!-- one\n  two --><print\nmode=\"ids>\"/></osm-script >",
                "<?xml version=\"1.0\"?>\n<osm-script> <!-- all -->\n\n  <!-- one\n  two -->\n  <print mode=\"ids>\"/>\n</osm-script>\n",
            ),
            ("<union><item/>\n\n</union>", "<union>\n  <item/>\n</union>\n"),
            // The parser accepts these as well.
            ("<union><item/>", "<union>\n  <item/>\n"),
            ("<!DOCTYPE osm-script><?a  b?><print/>", "<!DOCTYPE osm-script>\n<?a  b?>\n<print/>\n"),
        ] {
            let formatted = format(text).expect(text);
            assert_eq!(formatted, expected, "{text}");
            assert_eq!(format(&formatted).expect(text), formatted, "{text}");
        }
    }

    #[test]
    fn text_between_tags_is_an_error() {
        assert_eq!(format("<union>node</union>"), Err(FormatError::Token(7)));
        assert!(matches!(format("<query type=\"node>"), Err(FormatError::Token(_))));
    }

    #[test]
    fn arrows_are_no_xml() {
        assert!(is_xml(" <osm-script/>") && !is_xml("<;out;") && !is_xml("<<;out;") && !is_xml("node;"));
    }
}
