//! The XML form of the language: `<osm-script>`, or statements without it.

use crate::code::Code;
use quick_xml::errors::IllFormedError;
use quick_xml::escape::EscapeError;
use quick_xml::events::attributes::AttrError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Error, Reader};

use super::builder::Builder;
use super::element::Element;
use super::tree::Span;
use crate::Node;
use terrapin_budget as budget;

/// How deep elements may be nested.
const DEEPEST: usize = 300;

/// Reads a text as XML.
pub(super) fn parse(text: &str, builder: Builder) -> (Option<Node>, Builder) {
    let base = text.len() - text.trim_start().len();
    // The reference puts what is missing before the text, a line each, and counts those lines.
    let added = match &text[base..] {
        text if text.starts_with("<?xml") => 0,
        text if text.starts_with("<osm-script") => 1,
        _ => 2,
    };
    let mut reading =
        Reading { text, base, builder, open: Vec::new(), root: None, bare: added == 2, counted: base, line: 1 + added };
    reading.run();
    let root = reading.root.or_else(|| {
        let node = reading.open.into_iter().next();
        node.filter(|node| node.element.name == "osm-script")
    });
    (root, reading.builder)
}

struct Reading<'a> {
    text: &'a str,
    /// Where the text begins after white space.
    base: usize,
    /// Whether there is no `osm-script`.
    bare: bool,
    builder: Builder,
    open: Vec<Node>,
    root: Option<Node>,
    /// Bytes whose lines have been counted.
    counted: usize,
    line: u32,
}

impl Reading<'_> {
    fn run(&mut self) {
        let text = self.text;
        let mut reader = Reader::from_str(&text[self.base..]);
        loop {
            let start = self.base + reader.buffer_position() as usize;
            let event = reader.read_event();
            let end = (self.base + reader.buffer_position() as usize).min(text.len());
            let span = Span { start: start.min(end), end };
            match event {
                Ok(Event::Start(tag)) => self.start(&tag, span),
                Ok(Event::Empty(tag)) => {
                    self.start(&tag, span);
                    self.end();
                }
                Ok(Event::End(_)) => self.end(),
                Ok(Event::Text(_) | Event::CData(_) | Event::GeneralRef(_)) => self.characters(span),
                Ok(Event::Eof) => {
                    // The reference lets elements that are still open pass, if the script is one of them.
                    let written = usize::from(self.bare);
                    if self.bare && self.open.len() > written {
                        self.error(span, "mismatched tag");
                    } else if self.open.is_empty() && self.root.is_none() {
                        self.error(span, "no element found");
                    }
                    while self.open.len() > 1 && !self.bare {
                        self.end();
                    }
                    break;
                }
                Ok(_) => {}
                Err(error) => {
                    let message = words(&error);
                    self.error(span, message);
                    self.builder.diagnostics.help(Some(error.to_string()));
                    break;
                }
            }
            if self.builder.diagnostics.full() {
                break;
            }
        }
    }

    /// Text between the tags: there must be none.
    fn characters(&mut self, span: Span) {
        if self.text[span.start..span.end].trim().is_empty() {
            return;
        }
        match self.open.last() {
            Some(node) => {
                let message = format!("Element \"{}\" must not contain text.", node.element.name);
                self.builder.diagnostics.fixed(Code::TextInElement, node.element.line, span, message);
            }
            None => self.error(span, "junk after document element"),
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        let line = self.line_of(span.start);
        self.builder.diagnostics.parse(Code::BrokenXml, line, span, message);
    }

    /// The line that a byte stands in; bytes must be asked for in order.
    fn line_of(&mut self, byte: usize) -> u32 {
        let bytes = self.text.as_bytes();
        if byte > self.counted {
            self.line += bytes[self.counted..byte].iter().filter(|&&b| b == b'\n').count() as u32;
            self.counted = byte;
        }
        self.line
    }

    fn start(&mut self, tag: &BytesStart<'_>, span: Span) {
        budget::checkpoint();
        if self.open.len() >= DEEPEST {
            self.error(span, format!("Elements are nested in more than {DEEPEST} levels."));
            self.builder.diagnostics.stop();
            return;
        }
        if self.root.is_some() {
            self.error(span, "junk after document element");
            self.builder.diagnostics.stop();
            return;
        }
        let line = self.line_of(span.start);
        let name = tag.name().as_ref().to_owned();
        let mut element = Element::new(name, line, span);
        for attribute in tag.attributes() {
            let not_well_formed = "not well-formed (invalid token)";
            let read = attribute.map_err(|error| match error {
                AttrError::Duplicated(..) => ("duplicate attribute", error.to_string()),
                _ => (not_well_formed, error.to_string()),
            });
            let read = read.and_then(|attribute| {
                let name = attribute.key.as_ref().to_owned();
                if attribute.value.contains('<') {
                    return Err((not_well_formed, "\"<\" in an attribute is written &lt;".to_owned()));
                }
                match quick_xml::escape::unescape(&attribute.value) {
                    Ok(value) => Ok((name, value.into_owned())),
                    Err(error @ EscapeError::UnrecognizedEntity(..)) => Err(("undefined entity", error.to_string())),
                    Err(error) => Err((not_well_formed, error.to_string())),
                }
            });
            match read {
                Ok((name, value)) => element.attributes.push((name.into(), value)),
                Err((message, help)) => {
                    self.error(span, message);
                    self.builder.diagnostics.help(Some(help));
                    break;
                }
            }
        }
        if self.open.is_empty() && element.name != "osm-script" {
            // Statements may stand alone.
            let root = self.builder.open(Element::new("osm-script", line, Span::default()));
            self.open.push(root);
        }
        let node = self.builder.open(element);
        self.open.push(node);
    }

    fn end(&mut self) {
        let Some(node) = self.open.pop() else { return };
        self.builder.close(&node);
        match self.open.last_mut() {
            Some(parent) => self.builder.add(parent, node),
            None => self.root = Some(node),
        }
    }
}

/// What is wrong with the XML, in the words of the reference's reader.
fn words(error: &Error) -> &'static str {
    match error {
        Error::IllFormed(IllFormedError::MismatchedEndTag { .. } | IllFormedError::UnmatchedEndTag(_)) => {
            "mismatched tag"
        }
        _ => "not well-formed (invalid token)",
    }
}
