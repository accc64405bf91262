//! Blocks of code in Markdown: between fences of at least three backticks or tildes.

use std::ops::Range;

use crate::language::{self, QueryLanguage};

/// A block of code.
#[derive(Debug, PartialEq, Eq)]
pub struct CodeBlock<'a> {
    /// The supported language that the fence names, if any.
    pub named: Option<QueryLanguage>,
    /// The content without the name.
    pub body: &'a str,
    /// Whether a fence closes it.
    pub is_closed: bool,
}

/// A fence: its place, its sign and its length.
struct Fence {
    at: usize,
    sign: u8,
    length: usize,
}

/// Returns the blocks of a text, in order, without those within others.
pub fn blocks(text: &str) -> Vec<CodeBlock<'_>> {
    let (mut blocks, mut rest) = (Vec::new(), text);
    while let Some(open) = next(rest, None) {
        let inside = &rest[open.at + open.length..];
        let close = next(inside, Some(&open));
        let end = close.as_ref().map_or(inside.len(), |close| close.at);
        let (named, body) = without_name(&inside[..end]);
        blocks.push(CodeBlock { named, body, is_closed: close.is_some() });
        rest = close.map_or("", |close| &inside[close.at + close.length..]);
    }
    blocks
}

/// Returns the range of the blocks of a text, from the first fence to the end of the last one. Returns `None` if there
/// are no blocks or the last one is not closed.
pub fn closed_blocks(text: &str) -> Option<Range<usize>> {
    let (mut at, mut found) = (0, None::<Range<usize>>);
    while let Some(open) = next(&text[at..], None) {
        let start = at + open.at;
        let inside = start + open.length;
        let close = next(&text[inside..], Some(&open))?;
        at = inside + close.at + close.length;
        found = Some(found.map_or(start, |blocks| blocks.start)..at);
    }
    found
}

/// Returns the text outside of all blocks.
pub fn outside(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some(open) = next(rest, None) {
        out.push_str(&rest[..open.at]);
        out.push('\n');
        let inside = &rest[open.at + open.length..];
        rest = next(inside, Some(&open)).map_or("", |close| &inside[close.at + close.length..]);
    }
    out.push_str(rest);
    out
}

/// Returns the next fence; with `open`, the next one that closes it: at least as long, with the same sign and no name
/// after it.
fn next(text: &str, open: Option<&Fence>) -> Option<Fence> {
    let bytes = text.as_bytes();
    let (mut at, mut begins_line) = (0, true);
    while at < bytes.len() {
        let sign = bytes[at];
        if sign != b'`' && sign != b'~' {
            begins_line = sign == b'\n' || begins_line && b" \t\r>".contains(&sign);
            at += 1;
            continue;
        }
        let length = bytes[at..].iter().take_while(|byte| **byte == sign).count();
        // Tildes within a line are not a fence.
        let is_fence = length >= 3 && (sign == b'`' || begins_line);
        begins_line = false;
        let closes = |open: &Fence| {
            let is_named = bytes.get(at + length).is_some_and(u8::is_ascii_alphanumeric);
            sign == open.sign && length >= open.length && !is_named
        };
        if is_fence && open.is_none_or(closes) {
            return Some(Fence { at, sign, length });
        }
        at += length;
    }
    None
}

/// Returns the content of a block without the name after its fence.
fn without_name(block: &str) -> (Option<QueryLanguage>, &str) {
    let is_name = |c: char| c.is_alphanumeric() || "+-_#.".contains(c);
    let (head, below) = block.split_once('\n').unwrap_or((block, ""));
    let head = head.trim();
    let word = &head[..head.find(|c: char| !is_name(c)).unwrap_or(head.len())];
    let name = |text: &str| QueryLanguage::named(&text.replace(['-', '_', ' ', '.'], ""));
    let named = name(head).or_else(|| name(word));
    let is_query = |text: &str| language::of(text).is_some();
    // Attributes may follow the name.
    let is_head = head.chars().all(is_name) || name(head).is_some() || named.is_some() && is_query(below);
    if block.contains('\n') && is_head && !is_query(head) {
        return (named, below);
    }
    if is_query(block) {
        return (named.filter(|_| word.len() < head.len()), block);
    }
    let rest = &block[block.len() - block.trim_start().len() + word.len()..];
    // The name is on the first line of the query.
    if !word.is_empty() && rest.starts_with(char::is_whitespace) { (named, rest) } else { (None, block) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(text: &str) -> Vec<(Option<QueryLanguage>, String)> {
        blocks(text).iter().map(|block| (block.named, block.body.trim().to_owned())).collect()
    }

    #[test]
    fn blocks_are_found() {
        let ql = Some(QueryLanguage::OverpassQl);
        for (text, expected) in [
            ("```\nnode;out;\n```", vec![(None, "node;out;")]),
            ("a ```node;out;``` b", vec![(None, "node;out;")]),
            ("```Overpass-QL\nx\n```", vec![(ql, "x")]),
            ("```overpass ql\nx\n```", vec![(ql, "x")]),
            ("```overpassql node;out;```", vec![(ql, "node;out;")]),
            ("```sparql {.numbers}\nSELECT ?a {}\n```", vec![(Some(QueryLanguage::Sparql), "SELECT ?a {}")]),
            ("~~~ql\nx```y\n~~~", vec![(ql, "x```y")]),
            ("````md\n```ql\nx\n```\n````", vec![(None, "```ql\nx\n```")]),
            ("```a\n1\n```\n```b\n2", vec![(None, "1"), (None, "2")]),
            ("about ~~~ that", vec![]),
            ("```", vec![(None, "")]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(named, body)| (named, body.to_owned())).collect();
            assert_eq!(bodies(text), expected, "{text}");
        }
        assert_eq!(outside("a ```x``` b ```y"), "a \n b \n");
    }

    #[test]
    fn blocks_are_closed_once_the_last_one_is() {
        for (text, place) in [
            ("a", None),
            ("a ```x", None),
            ("a ```x``` b", Some(2..9)),
            ("```\nx\n```\n~~~\ny\n~~~ b", Some(0..19)),
            ("```\nx\n```\n~~~\ny\n", None),
        ] {
            assert_eq!(closed_blocks(text), place, "{text}");
        }
    }
}
