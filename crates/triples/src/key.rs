//! Keys of terms in the dictionary; their byte order is the canonical order. A key is a letter for the kind (`b`lank
//! node, `i`RI, `l`iteral, `t`riple term) and the label or IRI. A literal has its lexical form, a zero byte, and then an
//! empty string for `xsd:string`, `@` and a language (with `--ltr` or `--rtl` if it has a base direction), or `^` and a
//! datatype. A triple term has the keys of its subject, predicate and object, each after its length in 4 bytes, most
//! significant first.

use oxrdf::vocab::xsd;
use oxrdf::{BaseDirection, BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, TermRef, Triple};

/// The first bytes of keys, in order.
pub const KINDS: [u8; 4] = [b'b', b'i', b'l', b't'];

/// Maximum number of triple terms within each other.
const MAX_NESTED: usize = 64;

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
                if let Some(direction) = literal.direction() {
                    out.extend_from_slice(suffix(direction).as_bytes());
                }
            } else if literal.datatype() != xsd::STRING {
                out.push(b'^');
                out.extend_from_slice(literal.datatype().as_str().as_bytes());
            }
        }
        TermRef::Triple(triple) => push_triple(out, |component, out| {
            let term = match component {
                0 => TermRef::from(triple.subject.as_ref()),
                1 => triple.predicate.as_ref().into(),
                _ => triple.object.as_ref(),
            };
            push(out, term);
        }),
    }
}

/// Appends the key of a triple term. `component` appends the key of its subject (0), predicate (1) or object (2).
pub fn push_triple(out: &mut Vec<u8>, component: impl Fn(u8, &mut Vec<u8>)) {
    out.push(KINDS[3]);
    for number in 0..3 {
        let start = out.len();
        out.extend_from_slice(&[0; 4]);
        component(number, out);
        let length = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
        out[start..start + 4].copy_from_slice(&length.to_be_bytes());
    }
}

/// Returns the text that follows the language of a literal with a base direction.
fn suffix(direction: BaseDirection) -> &'static str {
    match direction {
        BaseDirection::Ltr => "--ltr",
        BaseDirection::Rtl => "--rtl",
    }
}

/// Returns the smallest key of a literal with this prefix.
pub fn literals_from(prefix: &[u8]) -> Vec<u8> {
    [&[KINDS[2]], prefix].concat()
}

/// Parses a key; returns `None` if it is invalid.
pub fn term(key: &[u8]) -> Option<Term> {
    nested_term(key, MAX_NESTED)
}

/// Parses a key with at most `depth` triple terms within each other.
fn nested_term(key: &[u8], depth: usize) -> Option<Term> {
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
                Some((b'@', language)) => with_language(value, text(language)?),
                Some((b'^', datatype)) => Literal::new_typed_literal(value, NamedNode::new_unchecked(text(datatype)?)),
                Some(_) => return None,
            }
            .into()
        }
        b't' => {
            let depth = depth.checked_sub(1)?;
            let mut rest = rest;
            let mut component = || {
                let (length, after) = rest.split_first_chunk::<4>()?;
                let (key, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
                rest = after;
                nested_term(key, depth)
            };
            let (subject, predicate, object) = (component()?, component()?, component()?);
            let Term::NamedNode(predicate) = predicate else { return None };
            Triple::new(NamedOrBlankNode::try_from(subject).ok()?, predicate, object).into()
        }
        _ => return None,
    })
}

/// Returns a literal with a language and, after two hyphens, its base direction.
fn with_language(value: String, tag: String) -> Literal {
    let direction = match tag.rsplit_once("--") {
        Some((language, "ltr")) => Some((language, BaseDirection::Ltr)),
        Some((language, "rtl")) => Some((language, BaseDirection::Rtl)),
        _ => None,
    };
    match direction {
        Some((language, direction)) => {
            Literal::new_directional_language_tagged_literal_unchecked(value, language, direction)
        }
        None => Literal::new_language_tagged_literal_unchecked(value, tag),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_survive_in_order() {
        let inner = Triple::new(
            BlankNode::new_unchecked("b0"),
            NamedNode::new_unchecked("http://e/"),
            Literal::new_directional_language_tagged_literal_unchecked("a", "ar", BaseDirection::Rtl),
        );
        let outer = Triple::new(NamedNode::new_unchecked("http://e/"), inner.predicate.clone(), inner.clone());
        let terms: [Term; 10] = [
            BlankNode::new_unchecked("b0").into(),
            NamedNode::new_unchecked("http://e/").into(),
            Literal::from("").into(),
            Literal::from("a").into(),
            Literal::new_language_tagged_literal_unchecked("a", "en-gb").into(),
            Literal::new_directional_language_tagged_literal_unchecked("a", "en-gb", BaseDirection::Ltr).into(),
            Literal::new_typed_literal("a", NamedNode::new_unchecked("http://e/d")).into(),
            Literal::from("a\0b").into(),
            inner.into(),
            outer.into(),
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
        assert_eq!(term(b"t\0\0\0\x09"), None);
        let mut deep = vec![b'b'];
        for _ in 0..=MAX_NESTED {
            let inner = deep;
            deep = Vec::new();
            push_triple(&mut deep, |component, out| match component {
                0 => out.push(b'b'),
                1 => out.push(b'i'),
                _ => out.extend_from_slice(&inner),
            });
        }
        assert_eq!(term(&deep), None);
    }
}
