//! The XML form of the language: `<osm-script>`, or statements without it.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::element::{Builder, Element, Node, Part};
use super::tree::Span;

/// How deep elements may be nested.
const DEEPEST: usize = 300;

/// Reads a text as XML.
pub(super) fn parse(text: &str, builder: Builder) -> (Option<Node>, Builder) {
    let mut reading = Reading { text, builder, open: Vec::new(), root: None, counted: 0, line: 1 };
    reading.run();
    let root = reading.root.or_else(|| {
        let node = reading.open.into_iter().next();
        node.filter(|node| matches!(node.part, Part::Script(_)))
    });
    (root, reading.builder)
}

struct Reading<'a> {
    text: &'a str,
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
        let mut reader = Reader::from_str(text);
        loop {
            let start = reader.buffer_position() as usize;
            let event = reader.read_event();
            let end = (reader.buffer_position() as usize).min(text.len());
            let span = Span { start: start.min(end), end };
            match event {
                Ok(Event::Start(tag)) => self.start(&tag, span),
                Ok(Event::Empty(tag)) => {
                    self.start(&tag, span);
                    self.end();
                }
                Ok(Event::End(_)) => self.end(),
                Ok(Event::Eof) => {
                    if !self
                        .open
                        .iter()
                        .all(|node| matches!(node.part, Part::Script(_)) && node.element.span == Span::default())
                    {
                        self.error(span, "no element found");
                    }
                    break;
                }
                Ok(_) => {}
                Err(error) => {
                    self.error(span, error.to_string());
                    break;
                }
            }
            if self.builder.diagnostics.full() {
                break;
            }
        }
    }

    fn error(&mut self, span: Span, message: impl Into<String>) {
        let line = self.line_of(span.start);
        self.builder.diagnostics.parse("broken-xml", line, span, message);
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
        if self.open.len() >= DEEPEST {
            self.error(span, format!("Elements are nested in more than {DEEPEST} levels."));
            self.builder.diagnostics.stop();
            return;
        }
        let line = self.line_of(span.start);
        let name = tag.name().as_ref().to_owned();
        let mut element = Element::new(name, line, span);
        for attribute in tag.attributes() {
            let read = attribute.map_err(|error| error.to_string()).and_then(|attribute| {
                let name = attribute.key.as_ref().to_owned();
                let value =
                    quick_xml::escape::unescape(&attribute.value).map_err(|error| error.to_string())?.into_owned();
                Ok((name, value))
            });
            match read {
                Ok((name, value)) => element.attributes.push((name.into(), value)),
                Err(message) => {
                    self.error(span, message);
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
