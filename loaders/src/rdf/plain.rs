//! Parses simple statements, the form of nearly all lines, many times faster than the general parser. All other lines,
//! including all invalid ones, are left to that parser. The result for a simple statement is the same as that of the
//! parser.

use oxrdf::{BlankNode, Literal, NamedNode, NamedOrBlankNode, Term, Triple};

/// Parses a line without its line end. Returns the triple if the line is a simple statement.
pub(super) fn triple(line: &str) -> Option<Triple> {
    let (subject, rest) = named_or_blank(line)?;
    let (predicate, rest) = iri(gap(rest)?)?;
    let (object, rest) = term(gap(rest)?)?;
    let rest = rest.trim_start_matches([' ', '\t']).strip_prefix('.')?;
    rest.trim_end_matches([' ', '\t', '\r']).is_empty().then_some(())?;
    Some(Triple { subject, predicate, object })
}

/// Returns the text after leading white space, or `None` if there is no white space.
fn gap(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches([' ', '\t']);
    (rest.len() < text.len()).then_some(rest)
}

fn named_or_blank(text: &str) -> Option<(NamedOrBlankNode, &str)> {
    if let Some((iri, rest)) = iri(text) {
        return Some((iri.into(), rest));
    }
    let (node, rest) = blank(text)?;
    Some((node.into(), rest))
}

fn term(text: &str) -> Option<(Term, &str)> {
    if text.starts_with('"') {
        let (literal, rest) = literal(text)?;
        return Some((literal.into(), rest));
    }
    let (node, rest) = named_or_blank(text)?;
    Some((node.into(), rest))
}

/// Parses an IRI of the form `<http://...>` that has only ASCII characters.
fn iri(text: &str) -> Option<(NamedNode, &str)> {
    let rest = text.strip_prefix('<')?;
    let end = rest.bytes().position(|byte| byte == b'>')?;
    let (iri, rest) = rest.split_at_checked(end)?;
    is_plain(iri).then(|| (NamedNode::new_unchecked(iri), rest.get(1..).unwrap_or_default()))
}

/// Returns whether a text is an HTTP or HTTPS IRI with a host name, without a port and with common characters only.
fn is_plain(iri: &str) -> bool {
    let Some(rest) = iri.strip_prefix("http").map(|rest| rest.strip_prefix('s').unwrap_or(rest)) else { return false };
    let Some(rest) = rest.strip_prefix("://") else { return false };
    let host = rest.bytes().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
    let (host, path) = rest.as_bytes().split_at(host);
    let named = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    if host.is_empty() || !host.iter().all(named) {
        return false;
    }
    let mut fragments = 0;
    let mut bytes = path.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => {}
            b'/' | b'-' | b'.' | b'_' | b'~' | b':' | b'@' | b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+'
            | b',' | b';' | b'=' | b'?' => {}
            b'#' if fragments == 0 => fragments = 1,
            b'%' => {
                let hexadecimal = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
                if !(hexadecimal(bytes.next()) && hexadecimal(bytes.next())) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    true
}

/// Parses `_:` and a label of letters, digits and underscores.
fn blank(text: &str) -> Option<(BlankNode, &str)> {
    let rest = text.strip_prefix("_:")?;
    let end = rest.bytes().position(|byte| matches!(byte, b' ' | b'\t'))?;
    let (label, rest) = rest.split_at_checked(end)?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    (!label.is_empty() && label.bytes().all(plain)).then(|| (BlankNode::new_unchecked(label), rest))
}

/// Parses a literal with the most common escape sequences only.
fn literal(text: &str) -> Option<(Literal, &str)> {
    let rest = text.strip_prefix('"')?;
    let end = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | b'\r'))?;
    let (start, behind) = rest.split_at_checked(end)?;
    let mut value = start.to_owned();
    let mut rest = behind;
    loop {
        let (next, behind) = rest.split_at_checked(1)?;
        match next {
            "\"" => {
                rest = behind;
                break;
            }
            "\\" => {
                let (escaped, behind) = behind.split_at_checked(1)?;
                value.push(match escaped {
                    "\"" | "\\" => escaped.chars().next()?,
                    "n" => '\n',
                    "t" => '\t',
                    "r" => '\r',
                    _ => return None,
                });
                rest = behind;
            }
            _ => return None,
        }
        let end = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | b'\r'))?;
        let (start, behind) = rest.split_at_checked(end)?;
        value.push_str(start);
        rest = behind;
    }
    if let Some(rest) = rest.strip_prefix('@') {
        let part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let end = rest.bytes().position(|byte| !part(byte))?;
        let (language, rest) = rest.split_at_checked(end)?;
        return Some((Literal::new_language_tagged_literal(value, language).ok()?, rest));
    }
    if let Some(rest) = rest.strip_prefix("^^") {
        let (datatype, rest) = iri(rest)?;
        if datatype.as_str().ends_with("angString") {
            return None;
        }
        return Some((Literal::new_typed_literal(value, datatype), rest));
    }
    Some((Literal::new_simple_literal(value), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxrdfio::{RdfFormat, RdfParser};

    /// Returns the general parser's result for a line: a triple, no triple, or `None` if the line is invalid.
    fn parsed(line: &str) -> Option<Option<Triple>> {
        let quads: Result<Vec<_>, _> = RdfParser::from_format(RdfFormat::NQuads).for_slice(line).collect();
        Some(quads.ok()?.into_iter().next().map(Triple::from))
    }

    const LINES: [&str; 9] = [
        "<http://a/s> <http://a/p> <http://a/o> .",
        "_:b1 <https://a.b-c/p#x> _:B_2 .",
        "<http://www.wikidata.org/entity/Q1>\t<http://a/p?q=%20&r>\t\"a \\\"b\\\\ \\n é\" .",
        "<http://a/s> <http://a/p> \"x\"@en-GB .\r",
        "<http://a/s> <http://a/p> \"-1.5\"^^<http://www.w3.org/2001/XMLSchema#decimal> . ",
        "<http://a/s> <http://a/p> \"\"^^<http://www.w3.org/2001/XMLSchema#string>.",
        "<http://a/s> <http://a/p> \"\\u00e9\" .",
        "<http://a/é> <urn:p> <http://a:80/o> <http://a/g> . # comment",
        "",
    ];

    #[test]
    fn plain_lines_are_read_here() {
        let here: Vec<bool> = LINES.iter().map(|line| triple(line).is_some()).collect();
        assert_eq!(here, [true, true, true, true, true, true, false, false, false]);
    }

    #[test]
    fn what_is_read_here_is_what_the_parser_reads() {
        let mut seed = 7_u32;
        let mut next = |below: usize| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as usize % below
        };
        let parts: Vec<char> = "<>\"\\_:.@^#%/ \t\r?[]{}|`-ab1é\u{1}ñ文langString".chars().collect();
        let mut here = 0;
        for _ in 0..30_000 {
            let mut line: Vec<char> = LINES[next(LINES.len())].chars().collect();
            for _ in 0..next(3) {
                let at = next(line.len() + 1);
                match next(3) {
                    0 if at < line.len() => {
                        line.remove(at);
                    }
                    1 if at < line.len() => line[at] = parts[next(parts.len())],
                    _ => line.insert(at, parts[next(parts.len())]),
                }
            }
            let line: String = line.into_iter().collect();
            if let Some(triple) = triple(&line) {
                assert_eq!(parsed(&line), Some(Some(triple)), "{line:?}");
                here += 1;
            }
        }
        assert!(here > 8_000, "{here}");
    }
}
