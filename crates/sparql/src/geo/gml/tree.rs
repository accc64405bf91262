//! The elements of a GML literal as a tree.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// Maximum depth of elements, as of brackets in WKT. A collection of collections of polygons has twelve.
const MAX_DEPTH: usize = 32;

/// An element, with the attributes that matter for geometries.
#[derive(Debug, Default)]
pub(super) struct GmlElement {
    /// The name without a prefix.
    pub name: String,
    /// The IRI of the element's namespace, if the element itself declares it.
    pub namespace: Option<String>,
    /// `srsName`: the reference system.
    pub system: Option<String>,
    /// `srsDimension`: the number of coordinates of a position.
    pub dimension: Option<usize>,
    /// The text directly in the element.
    pub text: String,
    /// The elements in it.
    pub children: Vec<GmlElement>,
}

impl GmlElement {
    /// Parses a document; returns `None` if it is not well-formed or too deep.
    pub fn parse(text: &str) -> Option<GmlElement> {
        let mut reader = Reader::from_str(text);
        // The last element is the innermost open one; the first one holds the root.
        let mut open = vec![GmlElement::default()];
        loop {
            match reader.read_event().ok()? {
                Event::Start(tag) => open.push(element(&tag)?),
                Event::Empty(tag) => open.last_mut()?.children.push(element(&tag)?),
                Event::End(_) => {
                    let done = open.pop()?;
                    open.last_mut()?.children.push(done);
                }
                Event::Text(characters) => open.last_mut()?.text.push_str(&characters),
                Event::CData(characters) => open.last_mut()?.text.push_str(&characters),
                // Numbers need no entities, and a declaration could define some of any size.
                Event::GeneralRef(_) | Event::DocType(_) => return None,
                Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof => break,
            }
            if open.len() > MAX_DEPTH {
                return None;
            }
        }
        let document = open.pop().filter(|document| open.is_empty() && document.text.trim().is_empty())?;
        let mut roots = document.children.into_iter();
        roots.next().filter(|_| roots.next().is_none())
    }

    /// Returns the elements with one of these names.
    pub fn named<'a>(&'a self, names: &'a [&'a str]) -> impl Iterator<Item = &'a GmlElement> {
        self.children.iter().filter(move |child| names.contains(&child.name.as_str()))
    }

    /// Returns the only element, if there is exactly one.
    pub fn only(&self) -> Option<&GmlElement> {
        match self.children.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// Returns an element without its content.
fn element(tag: &BytesStart<'_>) -> Option<GmlElement> {
    let mut element = GmlElement { name: tag.local_name().into_inner().to_owned(), ..GmlElement::default() };
    let declaration = match tag.name().prefix() {
        Some(prefix) => format!("xmlns:{}", prefix.into_inner()),
        None => "xmlns".to_owned(),
    };
    let mut attributes = tag.attributes();
    // The check for duplicates takes quadratic time in the number of attributes.
    attributes.with_checks(false);
    for attribute in attributes {
        let attribute = attribute.ok()?;
        let value = || attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(String::from);
        match attribute.key.into_inner() {
            "srsName" => element.system = Some(value()?),
            "srsDimension" => element.dimension = Some(value()?.trim().parse().ok()?),
            key if key == declaration => element.namespace = Some(value()?),
            _ => {}
        }
    }
    Some(element)
}
