//! Parses the XML form of the language: `<osm-script>`, or statements without it.

mod epilog;
mod tag;

use crate::code::OverpassCode;
use quick_xml::errors::IllFormedError;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Error, Reader};

use super::builder::SyntaxBuilder;
use super::element::SyntaxElement;
use super::tree::SourceSpan;
use crate::{ElementMeaning, ElementTreeNode};
use terrapin_budget as budget;

/// The line in which the reference adds the script around statements without one.
const SCRIPT_LINE: u32 = 2;

/// The maximum nesting depth of elements.
const DEEPEST: usize = 300;

/// Parses a text as XML.
pub(super) fn parse(text: &str, builder: SyntaxBuilder) -> (Option<ElementTreeNode>, SyntaxBuilder) {
    let base = text.len() - text.trim_start().len();
    // The reference adds the missing parts before the text, one line each, and counts these lines.
    let added = match &text[base..] {
        text if text.contains("<?xml") => 0,
        text if text.contains("<osm-script") => 1,
        _ => 2,
    };
    let mut reading = XmlReader {
        text,
        base,
        builder,
        open: Vec::new(),
        root: None,
        bare: added == 2,
        counted: base,
        line: 1 + added,
        characters: None,
        before: Vec::new(),
    };
    reading.run();
    let root = reading.root.or_else(|| {
        let node = reading.open.into_iter().next();
        node.filter(|node| node.element.name == "osm-script")
    });
    (root, reading.builder)
}

struct XmlReader<'a> {
    text: &'a str,
    /// The position of the text after leading white space.
    base: usize,
    /// Whether `osm-script` is missing.
    bare: bool,
    builder: SyntaxBuilder,
    open: Vec<ElementTreeNode>,
    root: Option<ElementTreeNode>,
    /// Text since the last tag.
    characters: Option<SourceSpan>,
    /// The text before each open element.
    before: Vec<Option<SourceSpan>>,
    /// The number of bytes whose lines have been counted.
    counted: usize,
    line: u32,
}

/// The XML cannot be read any further; the reason is among the diagnostics.
struct XmlAbort;

impl XmlReader<'_> {
    fn run(&mut self) {
        let text = self.text;
        let mut reader = Reader::from_str(&text[self.base..]);
        loop {
            let start = self.base + reader.buffer_position() as usize;
            let event = reader.read_event();
            let end = (self.base + reader.buffer_position() as usize).min(text.len());
            let span = SourceSpan { start: start.min(end), end };
            let done = match event {
                Ok(Event::Start(tag)) => self.start(&tag, span),
                Ok(Event::Empty(tag)) => self.start(&tag, span).map(|()| self.end()),
                Ok(Event::End(_)) => {
                    self.end();
                    Ok(())
                }
                Ok(Event::Text(_) | Event::CData(_)) => self.characters(span),
                Ok(Event::GeneralRef(name)) => self.reference(&name, span),
                Ok(Event::DocType(_)) if self.root.is_some() => {
                    self.error(span, epilog::JUNK);
                    break;
                }
                Ok(Event::Eof) => {
                    self.finish(span);
                    break;
                }
                Ok(_) => Ok(()),
                Err(error) => {
                    self.broken(&error, span.start);
                    break;
                }
            };
            if done.is_err() || self.builder.diagnostics.full() {
                break;
            }
        }
    }

    /// Handles the end of the text. The reference accepts elements that are still open if the script is one of them.
    fn finish(&mut self, span: SourceSpan) {
        if self.bare && self.open.len() > 1 {
            self.error(span, "mismatched tag");
        } else if self.bare && !self.open.is_empty() {
            let characters = self.characters.take();
            self.blame(characters);
        } else if self.open.is_empty() && self.root.is_none() {
            self.root = Some(self.builder.open(SyntaxElement::new("osm-script", self.line, span)));
        }
        while self.open.len() > 1 && !self.bare {
            self.end();
        }
    }

    /// Reports that the XML is not well-formed from a position on.
    fn broken(&mut self, error: &Error, start: usize) {
        // Some errors are detected at the end of a tag.
        let at = self.text[start..].find('<').map_or(start, |at| start + at);
        let rest = &self.text[at..];
        let span = SourceSpan { start: at, end: rest.find('>').map_or(self.text.len(), |end| at + end + 1) };
        if !rest.contains('>') && tag::could_go_on(rest) {
            if !self.bare {
                return self.finish(span);
            }
            // The tag extends to the one that the reference adds after the text.
            let line = self.line_of(self.text.len()) + 2;
            self.builder.diagnostics.parse(OverpassCode::BrokenXml, line, span, tag::NOT_WELL_FORMED);
            return;
        }
        let name = rest.strip_prefix("</").map(|rest| rest.split('>').next().unwrap_or_default());
        let named = self.root.is_none() && name.is_none_or(|name| tag::is_name(name.trim_end()));
        let message = match error {
            Error::IllFormed(IllFormedError::MismatchedEndTag { .. } | IllFormedError::UnmatchedEndTag(_)) if named => {
                "mismatched tag"
            }
            _ => tag::NOT_WELL_FORMED,
        };
        self.error(span, message);
        self.builder.diagnostics.help(Some(error.to_string()));
    }

    /// Handles text between the tags, which is an error. The reference reports it at the next tag.
    fn characters(&mut self, span: SourceSpan) -> Result<(), XmlAbort> {
        if self.text[span.start..span.end].trim().is_empty() {
            return Ok(());
        }
        if self.open.is_empty() {
            let text = self.text;
            let start = span.end - text[span.start..span.end].trim_start().len();
            let Some(message) = epilog::mistake(&text[start..]) else { return Ok(()) };
            self.error(SourceSpan { start, end: span.end }, message);
            return Err(XmlAbort);
        }
        self.characters = Some(span);
        Ok(())
    }

    /// Handles `&name;` between the tags.
    fn reference(&mut self, name: &str, span: SourceSpan) -> Result<(), XmlAbort> {
        if self.open.is_empty() && self.root.is_some() {
            self.error(span, tag::NOT_WELL_FORMED);
            return Err(XmlAbort);
        }
        let known = matches!(name, "lt" | "gt" | "amp" | "quot" | "apos") || name.starts_with('#');
        if !known {
            self.error(span, "undefined entity");
            return Err(XmlAbort);
        }
        self.characters(span)
    }

    /// Reports text inside the innermost element.
    fn blame(&mut self, characters: Option<SourceSpan>) {
        let Some(node) = self.open.last().filter(|node| ElementMeaning::is_known(&node.element.name)) else { return };
        if let Some(span) = characters {
            let message = format!("Element \"{}\" must not contain text.", node.element.name);
            self.builder.diagnostics.fixed(OverpassCode::TextInElement, node.element.line, span, message);
        }
    }

    fn error(&mut self, span: SourceSpan, message: impl Into<String>) {
        let line = self.line_of(span.start);
        self.builder.diagnostics.parse(OverpassCode::BrokenXml, line, span, message);
    }

    /// Returns the line of a byte. Must be called with ascending positions.
    fn line_of(&mut self, byte: usize) -> u32 {
        let bytes = self.text.as_bytes();
        if byte > self.counted {
            self.line += bytes[self.counted..byte].iter().filter(|&&b| b == b'\n').count() as u32;
            self.counted = byte;
        }
        self.line
    }

    fn start(&mut self, tag: &BytesStart<'_>, span: SourceSpan) -> Result<(), XmlAbort> {
        budget::checkpoint();
        if self.open.len() >= DEEPEST {
            self.error(span, format!("Elements are nested in more than {DEEPEST} levels."));
            self.builder.diagnostics.stop();
            return Err(XmlAbort);
        }
        if self.root.is_some() {
            self.error(span, epilog::JUNK);
            self.builder.diagnostics.stop();
            return Err(XmlAbort);
        }
        let line = self.line_of(span.start);
        let name = tag.name().as_ref().to_owned();
        let mut element = SyntaxElement::new(name, line, span);
        match tag::attributes(tag) {
            Ok(attributes) => element.attributes = attributes,
            Err(tag::Malformed { message, help }) => {
                self.error(span, message);
                self.builder.diagnostics.help(Some(help));
                return Err(XmlAbort);
            }
        }
        if self.open.is_empty() && element.name != "osm-script" {
            // Statements are allowed without a script around them.
            let root = self.builder.open(SyntaxElement::new("osm-script", SCRIPT_LINE, SourceSpan::default()));
            self.open.push(root);
            self.before.push(None);
        }
        let node = self.builder.open(element);
        self.before.push(self.characters.take());
        self.open.push(node);
        Ok(())
    }

    fn end(&mut self) {
        let characters = self.characters.take();
        self.blame(characters);
        let Some(node) = self.open.pop() else { return };
        self.builder.close(&node);
        let before = self.before.pop().flatten();
        if ElementMeaning::is_known(&node.element.name) {
            self.blame(before);
        } else {
            // The text is reported with the next element that ends.
            self.characters = characters;
        }
        match self.open.last_mut() {
            Some(parent) => self.builder.add(parent, node),
            None => self.root = Some(node),
        }
    }
}
