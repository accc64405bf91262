//! Keys of terms in the dictionary; their byte order is the canonical order. A key is a letter for the kind (`b`lank
//! node, `i`RI, `l`iteral) and the label or IRI. A literal has its lexical form, a zero byte, and then an empty string
//! for `xsd:string`, `@` and a language, or `^` and a datatype.

use oxrdf::vocab::xsd;
use oxrdf::{BlankNode, Literal, NamedNode, Term, TermRef};

/// The first bytes of keys, in order.
pub const KINDS: [u8; 3] = [b'b', b'i', b'l'];

/// Appends a term's key.
pub fn push(out: &mut Vec<u8>, term: TermRef<'_>) {
    match term {
        TermRef::BlankNode(node) => {
            out.push(KINDS[0]);
            out.extend_from_slice(node.as_str().as_bytes());
        }
        TermRef::NamedNode(node) => {
            out.push(KINDS[1]);
            out.extend_from_slice(node.as_str().as_bytes());
        }
        TermRef::Literal(literal) => {
            out.push(KINDS[2]);
            out.extend_from_slice(literal.value().as_bytes());
            // Languages and IRIs contain no zero byte; therefore the last zero byte of the key is this one.
            out.push(0);
            if let Some(language) = literal.language() {
                out.push(b'@');
                out.extend_from_slice(language.as_bytes());
            } else if literal.datatype() != xsd::STRING {
                out.push(b'^');
                out.extend_from_slice(literal.datatype().as_str().as_bytes());
            }
        }
    }
}

/// Returns the smallest key of a literal with this prefix.
pub fn literals_from(prefix: &[u8]) -> Vec<u8> {
    [&[KINDS[2]], prefix].concat()
}

/// Parses a key; returns `None` if it is invalid.
pub fn term(key: &[u8]) -> Option<Term> {
    let (&kind, rest) = key.split_first()?;
    let text = |bytes: &[u8]| Some(std::str::from_utf8(bytes).ok()?.to_owned());
    Some(match kind {
        b'b' => BlankNode::new_unchecked(text(rest)?).into(),
        b'i' => NamedNode::new_unchecked(text(rest)?).into(),
        b'l' => {
            let end = rest.iter().rposition(|&b| b == 0)?;
            let value = text(&rest[..end])?;
            match rest[end + 1..].split_first() {
                None => Literal::new_simple_literal(value),
                Some((b'@', language)) => Literal::new_language_tagged_literal_unchecked(value, text(language)?),
                Some((b'^', datatype)) => Literal::new_typed_literal(value, NamedNode::new_unchecked(text(datatype)?)),
                Some(_) => return None,
            }
            .into()
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_survive_in_order() {
        let terms: [Term; 7] = [
            BlankNode::new_unchecked("b0").into(),
            NamedNode::new_unchecked("http://e/").into(),
            Literal::from("").into(),
            Literal::from("a").into(),
            Literal::new_language_tagged_literal_unchecked("a", "en-gb").into(),
            Literal::new_typed_literal("a", NamedNode::new_unchecked("http://e/d")).into(),
            Literal::from("a\0b").into(),
        ];
        let mut last = Vec::new();
        for expected in terms {
            let mut key = Vec::new();
            push(&mut key, expected.as_ref());
            assert!(key > last);
            assert_eq!(term(&key), Some(expected));
            last = key;
        }
        assert_eq!(term(b"x"), None);
        assert_eq!(term(b"lno end"), None);
    }
}
