//! XML 1.0 text, rejecting characters that it cannot contain, and RDF/XML.

use std::borrow::Cow;
use std::io::{self, Write};

use oxrdf::vocab::xsd;
use oxrdf::{NamedOrBlankNode, Term, Triple};

/// Returns the error for a term that a format cannot represent.
pub(super) fn unrepresentable(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Writes XML. Carriage returns become character references, because XML parsers turn a raw one into a line feed (XML
/// 1.0, 2.11). Characters that XML cannot contain in any form (2.2) cause an error.
pub(super) struct XmlText<W: Write> {
    out: W,
    /// The last two bytes written: U+FFFE and U+FFFF are detected across writes.
    last: [u8; 2],
}

impl<W: Write> XmlText<W> {
    pub(super) fn new(out: W) -> Self {
        XmlText { out, last: [0; 2] }
    }
}

impl<W: Write> Write for XmlText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut done = 0;
        for (at, &byte) in bytes.iter().enumerate() {
            let outside = match byte {
                0..=8 | 0x0b | 0x0c | 0x0e..=0x1f => Some(u32::from(byte)),
                0xbe | 0xbf if self.last == [0xef, 0xbf] => Some(0xff40 | u32::from(byte)),
                _ => None,
            };
            if let Some(char) = outside {
                return Err(unrepresentable(format!(
                    "XML cannot represent the character U+{char:04X} in the answer; choose another format"
                )));
            }
            if byte == b'\r' {
                self.out.write_all(bytes.get(done..at).unwrap_or_default())?;
                self.out.write_all(b"&#xD;")?;
                done = at + 1;
            }
            self.last = [self.last[1], byte];
        }
        self.out.write_all(bytes.get(done..).unwrap_or_default())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// RDF/XML's own terms that are not allowed as predicates (RDF 1.1 XML Syntax, 5.1).
const RESERVED: [&str; 12] = [
    "Description",
    "RDF",
    "ID",
    "about",
    "parseType",
    "resource",
    "nodeID",
    "datatype",
    "aboutEach",
    "aboutEachPrefix",
    "bagID",
    "li",
];

/// Writes triples as RDF/XML. Unlike the library's serializer, it rejects predicates that cannot be element names, and
/// accepts any class name.
pub(super) struct RdfXml<W: Write> {
    out: XmlText<W>,
    subject: Option<NamedOrBlankNode>,
}

impl<W: Write> RdfXml<W> {
    pub(super) fn new(out: W) -> io::Result<Self> {
        let mut out = XmlText::new(out);
        write!(
            out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n"
        )?;
        Ok(RdfXml { out, subject: None })
    }

    pub(super) fn triple(&mut self, triple: &Triple) -> io::Result<()> {
        if self.subject.as_ref() != Some(&triple.subject) {
            self.end_subject()?;
            self.begin_subject(&triple.subject)?;
            self.subject = Some(triple.subject.clone());
        }
        self.property(triple)
    }

    fn begin_subject(&mut self, subject: &NamedOrBlankNode) -> io::Result<()> {
        match subject {
            NamedOrBlankNode::NamedNode(node) => {
                writeln!(self.out, "\t<rdf:Description rdf:about=\"{}\">", Escaped(node.as_str()))
            }
            NamedOrBlankNode::BlankNode(node) => {
                writeln!(self.out, "\t<rdf:Description rdf:nodeID=\"{}\">", node_id(node.as_str()))
            }
        }
    }

    /// Writes a triple's predicate and object.
    fn property(&mut self, triple: &Triple) -> io::Result<()> {
        let predicate = triple.predicate.as_str();
        let Some((space, name)) = split(predicate) else {
            return Err(unrepresentable(format!(
                "RDF/XML cannot represent the predicate <{predicate}>: its end is not an XML name; choose another format"
            )));
        };
        let (open, close) = match space == RDF {
            true => (format!("rdf:{name}"), format!("rdf:{name}")),
            false => (format!("{name} xmlns=\"{}\"", Escaped(space)), name.to_owned()),
        };
        match &triple.object {
            Term::NamedNode(node) => writeln!(self.out, "\t\t<{open} rdf:resource=\"{}\"/>", Escaped(node.as_str())),
            Term::BlankNode(node) => writeln!(self.out, "\t\t<{open} rdf:nodeID=\"{}\"/>", node_id(node.as_str())),
            Term::Triple(inner) => {
                writeln!(self.out, "\t\t<{open} rdf:version=\"1.2\" rdf:parseType=\"Triple\">")?;
                self.begin_subject(&inner.subject)?;
                self.property(inner)?;
                self.out.write_all(b"\t</rdf:Description>\n")?;
                writeln!(self.out, "\t\t</{close}>")
            }
            Term::Literal(literal) => {
                write!(self.out, "\t\t<{open}")?;
                if let Some(language) = literal.language() {
                    write!(self.out, " xml:lang=\"{language}\"")?;
                    if let Some(direction) = literal.direction() {
                        write!(self.out, " {DIRECTION} its:dir=\"{direction}\"")?;
                    }
                } else if literal.datatype() != xsd::STRING {
                    write!(self.out, " rdf:datatype=\"{}\"", Escaped(literal.datatype().as_str()))?;
                }
                writeln!(self.out, ">{}</{close}>", Escaped(literal.value()))
            }
        }
    }

    fn end_subject(&mut self) -> io::Result<()> {
        if self.subject.take().is_some() { self.out.write_all(b"\t</rdf:Description>\n") } else { Ok(()) }
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.end_subject()?;
        self.out.write_all(b"</rdf:RDF>\n")?;
        self.out.flush()
    }
}

/// The namespace of RDF.
const RDF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
/// The attributes that precede a base direction (RDF 1.2 XML Syntax, 2.7).
const DIRECTION: &str = "rdf:version=\"1.2\" xmlns:its=\"http://www.w3.org/2005/11/its\" its:version=\"2.0\"";
/// Namespaces that may be bound only to their own prefix (Namespaces in XML 1.0, 3).
const BOUND: [&str; 2] = ["http://www.w3.org/XML/1998/namespace", "http://www.w3.org/2000/xmlns/"];

/// Splits a predicate into a namespace and its longest suffix that is an XML name. Returns `None` if no suffix is.
fn split(iri: &str) -> Option<(&str, &str)> {
    let start = iri.char_indices().rev().take_while(|(_, c)| is_name(*c)).filter(|(_, c)| begins_name(*c)).last()?.0;
    let (space, name) = iri.split_at(start);
    let reserved = space == RDF && RESERVED.contains(&name);
    (!space.is_empty() && !reserved && !BOUND.contains(&space)).then_some((space, name))
}

/// Returns whether a name without a colon may begin with a character (NCName of Namespaces in XML 1.0).
fn begins_name(c: char) -> bool {
    matches!(c, 'A'..='Z' | '_' | 'a'..='z' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}'
        | '\u{370}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}'
        | '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}'
        | '\u{10000}'..='\u{effff}')
}

/// Returns whether a name without a colon may contain a character.
fn is_name(c: char) -> bool {
    begins_name(c) || matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}')
}

/// Returns an XML name for a blank node, unique for each label. If the label is an XML name, it is used unchanged.
fn node_id(label: &str) -> Cow<'_, str> {
    let is_name = label.starts_with(begins_name) && label.chars().all(is_name) && !label.starts_with("_x");
    match is_name {
        true => Cow::Borrowed(label),
        false => Cow::Owned(label.bytes().fold("_x".to_owned(), |name, byte| name + &format!("{byte:02x}"))),
    }
}

/// A text that is escaped for element content or a quoted attribute.
struct Escaped<'t>(&'t str);

impl std::fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut rest = self.0;
        while let Some(at) = rest.find(['&', '<', '>', '"']) {
            let (before, behind) = rest.split_at(at);
            f.write_str(before)?;
            f.write_str(match behind.as_bytes().first() {
                Some(b'&') => "&amp;",
                Some(b'<') => "&lt;",
                Some(b'>') => "&gt;",
                _ => "&quot;",
            })?;
            rest = behind.get(1..).unwrap_or_default();
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use oxrdf::vocab::rdf;

    use super::*;

    #[test]
    fn predicates_are_split_at_the_longest_name() {
        assert_eq!(split("http://schema.org/name"), Some(("http://schema.org/", "name")));
        assert_eq!(split("http://e/1a"), Some(("http://e/1", "a")));
        assert_eq!(split("http://e/é-2"), Some(("http://e/", "é-2")));
        assert_eq!(
            split("https://www.openstreetmap.org/wiki/Key:ref:nuts"),
            Some(("https://www.openstreetmap.org/wiki/Key:ref:", "nuts"))
        );
        for none in ["https://www.openstreetmap.org/wiki/Key:ref:nuts:1", "http://e/", "http://e/p%20", "urn:1"] {
            assert_eq!(split(none), None, "{none}");
        }
        assert_eq!(split(rdf::TYPE.as_str()), Some((RDF, "type")));
        assert_eq!(split(&format!("{RDF}li")), None);
        assert_eq!(split("http://www.w3.org/2000/xmlns/a"), None);
        assert_eq!([node_id("b1"), node_id("1"), node_id("_x31")], ["b1", "_x31", "_x5f783331"]);
    }

    #[test]
    fn characters_outside_of_xml_are_found_across_writes() {
        let mut text = XmlText::new(Vec::new());
        for part in ["a\rb".as_bytes(), &[0xef], &[0xbf], &[0xbd], "\t\n\u{ff0c}".as_bytes()] {
            text.write_all(part).unwrap();
        }
        assert_eq!(String::from_utf8(text.out).unwrap(), "a&#xD;b\u{fffd}\t\n\u{ff0c}");
        for outside in ["\0", "\u{1b}", "\u{fffe}", "\u{ffff}"] {
            assert!(XmlText::new(Vec::new()).write_all(outside.as_bytes()).is_err(), "{outside:?}");
        }
        let mut split = XmlText::new(Vec::new());
        split.write_all(&[0xef, 0xbf]).unwrap();
        assert!(split.write_all(&[0xbe]).is_err());
    }
}
