//! Limits of RDF/XML that its parser lacks: a maximum depth of elements, and no document type declaration, because the
//! entities in it can expand to any size.

/// Maximum depth of elements. The parser keeps some hundred bytes for each, and frees triple terms by recursion: two
/// elements are a level. libxml2 allows 2,048.
const MAX_DEPTH: u64 = 1_000;

/// Tracks the depth of elements in a text of XML.
#[derive(Default)]
pub(super) struct XmlGuard {
    depth: u64,
    within: Markup,
    /// The last bytes of the current markup, for the recognition of its kind and end.
    last: [u8; 3],
    /// Number of bytes since the start of the markup.
    length: u64,
}

/// The markup at the current position.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Markup {
    #[default]
    Text,
    /// After `<`.
    Start,
    /// In the tag of an element; true if it opens one.
    Tag(bool),
    /// In a quoted attribute value of an opening tag.
    Quoted(u8),
    /// After `<!`.
    Declaration,
    Comment,
    Cdata,
    /// A processing instruction.
    Instruction,
}

impl XmlGuard {
    /// Processes some bytes.
    ///
    /// # Errors
    /// Returns the limit that the text exceeds.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Result<(), String> {
        for &byte in bytes {
            self.length += 1;
            match (self.within, byte) {
                (Markup::Text, b'<') => self.enter(Markup::Start),
                (Markup::Start, b'/') => self.within = Markup::Tag(false),
                (Markup::Start, b'?') => self.within = Markup::Instruction,
                (Markup::Start, b'!') => self.within = Markup::Declaration,
                (Markup::Start, _) => self.open()?,
                (Markup::Declaration, b'-') => self.enter(Markup::Comment),
                (Markup::Declaration, b'[') => self.enter(Markup::Cdata),
                (Markup::Declaration, _) => {
                    return Err("a document type declaration, which is not supported; replace its entities, for \
                                example with `xmllint --noent --dropdtd`"
                        .to_owned());
                }
                (Markup::Tag(true), b'"' | b'\'') => self.within = Markup::Quoted(byte),
                (Markup::Quoted(mark), _) if byte == mark => self.within = Markup::Tag(true),
                (Markup::Tag(opens), b'>') => {
                    if !opens || self.last[2] == b'/' {
                        self.depth = self.depth.saturating_sub(1);
                    }
                    self.within = Markup::Text;
                }
                (Markup::Comment, b'>') if self.length > 3 && self.last[1..] == *b"--" => self.within = Markup::Text,
                (Markup::Cdata, b'>') if self.last[1..] == *b"]]" => self.within = Markup::Text,
                (Markup::Instruction, b'>') if self.last[2] == b'?' => self.within = Markup::Text,
                _ => {}
            }
            self.last = [self.last[1], self.last[2], byte];
        }
        Ok(())
    }

    fn enter(&mut self, within: Markup) {
        (self.within, self.length) = (within, 0);
    }

    fn open(&mut self) -> Result<(), String> {
        self.within = Markup::Tag(true);
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} elements within each other"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depth(text: &str) -> u64 {
        let mut guard = XmlGuard::default();
        for byte in text.bytes() {
            guard.pass(&[byte]).unwrap();
        }
        guard.depth
    }

    #[test]
    fn elements_are_counted_outside_of_comments_and_values() {
        assert_eq!(depth("<?xml version='1.0'?><a><b x='/>' y=\"<c>\"><c/><d /></b><e>"), 2);
        assert_eq!(depth("<a><!-- <b> <!DOCTYPE --> <![CDATA[ <b> <!DOCTYPE ]]> <b>"), 2);
        assert_eq!(depth("</a></a><a>"), 1);
        let mut guard = XmlGuard::default();
        assert!(guard.pass("<a>".repeat(1_000).as_bytes()).is_ok() && guard.pass(b"<a").is_err());
        let declaration = XmlGuard::default().pass(b"<?xml version='1.0'?>\n<!DOCTYPE rdf:RDF [").unwrap_err();
        assert!(declaration.contains("document type declaration"), "{declaration}");
    }
}
