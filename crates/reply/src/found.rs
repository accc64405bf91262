//! Queries in a reply, in order of precedence.

use crate::answer::answer;
use crate::fences::{blocks, outside};
use crate::inline::spans;
use crate::language::{self, QueryLanguage};
use crate::scan::is_whole;
use crate::{json, prose};

/// Maximum nesting of forms, such as JSON in a block in an outer block.
const DEPTH: usize = 3;
/// Tags around a query, opening and closing. They do not occur in Overpass XML.
const TAGS: &[(&str, &str)] = &[
    ("[QUERY]", "[/QUERY]"),
    ("<query>", "</query>"),
    ("<sparql>", "</sparql>"),
    ("<overpassql>", "</overpassql>"),
    ("<overpass>", "</overpass>"),
    ("<final_answer>", "</final_answer>"),
    ("<answer>", "</answer>"),
    ("<output>", "</output>"),
    ("<code>", "</code>"),
];

/// A query in a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyQuery {
    /// The language, by the beginning of the text or the name of the fence.
    pub language: QueryLanguage,
    /// The text without surrounding white space.
    pub text: String,
}

/// Returns the queries of the form with the highest precedence, at most one per language, in the order of the reply. A
/// later query replaces an earlier one, unless it is a fragment. If the reply was cut off, an unclosed block is
/// ignored.
pub fn queries(reply: &str, is_cut: bool) -> Vec<ReplyQuery> {
    let text = reply.trim();
    if let Some(language) = prose::alone(text) {
        return vec![ReplyQuery { language, text: text.to_owned() }];
    }
    let mut last: Vec<ReplyQuery> = Vec::new();
    for query in find(&answer(reply), is_cut, DEPTH) {
        let is_whole = |query: &ReplyQuery| is_whole(&query.text, query.language);
        match last.iter().position(|other| other.language == query.language) {
            Some(at) if !is_whole(&query) && is_whole(&last[at]) => continue,
            Some(at) => drop(last.remove(at)),
            None => {}
        }
        last.push(query);
    }
    last
}

/// Returns the last query in a reply, preferably in this language. If the reply has none, returns the content of its
/// last block, or else the whole answer.
pub fn query(reply: &str, language: Option<QueryLanguage>) -> String {
    let mut found = queries(reply, false);
    let wanted = found.iter().rposition(|query| language.is_none_or(|language| query.language == language));
    if let Some(at) = wanted.or_else(|| found.len().checked_sub(1)) {
        return found.swap_remove(at).text;
    }
    let answer = answer(reply);
    let last = blocks(&answer).pop().map(|block| block.body.trim().to_owned());
    last.unwrap_or_else(|| answer.trim().to_owned())
}

fn find(text: &str, is_cut: bool, depth: usize) -> Vec<ReplyQuery> {
    let Some(depth) = depth.checked_sub(1) else { return Vec::new() };
    let text = text.trim();
    let within = |text: &str| find(text, is_cut, depth);
    let in_json =
        |value: &serde_json::Value| json::texts(value).iter().flat_map(|text| within(text)).collect::<Vec<_>>();
    if let Some(language) = prose::alone(text) {
        return vec![ReplyQuery { language, text: text.to_owned() }];
    }
    if let Some(value) = json::whole(text) {
        return in_json(&value);
    }
    let fenced = fenced(text, is_cut, &within);
    if !fenced.is_empty() {
        return fenced;
    }
    let mut queries: Vec<ReplyQuery> = tagged(text).map(&within).unwrap_or_default();
    if queries.is_empty() {
        queries.extend(json::unquoted(text).map(|inside| within(&inside)).unwrap_or_default());
    }
    let text = outside(text);
    if queries.is_empty() {
        queries.extend(json::within(&text).iter().flat_map(&in_json));
    }
    if queries.is_empty() {
        let spans = spans(&text);
        let code = spans.iter().filter_map(|span| known(None, span)).filter(|code| is_whole(&code.text, code.language));
        queries.extend(code);
    }
    if queries.is_empty() {
        let found = prose::queries(&text).into_iter();
        queries.extend(found.map(|found| ReplyQuery { language: found.language, text: found.text.to_owned() }));
    }
    if queries.is_empty() {
        queries.extend(spans(&text).iter().filter_map(|span| known(None, span)));
    }
    queries
}

/// Returns the queries in blocks, and in forms within blocks.
fn fenced(text: &str, is_cut: bool, within: &dyn Fn(&str) -> Vec<ReplyQuery>) -> Vec<ReplyQuery> {
    let mut queries = Vec::new();
    for block in blocks(text) {
        if !block.is_closed && is_cut {
            break;
        }
        let body = block.body.trim();
        // An explanation may follow in an unclosed block.
        let body = match prose::first(body) {
            Some(query) if !block.is_closed => query.text,
            _ => body,
        };
        match known(None, body) {
            Some(query) => queries.push(ReplyQuery { language: block.named.unwrap_or(query.language), ..query }),
            None => {
                let inside = within(body);
                let is_empty = inside.is_empty() && !body.is_empty();
                queries.extend(inside);
                queries.extend(known(block.named, body).filter(|_| is_empty));
            }
        }
    }
    queries
}

/// Returns a text as a query if its language is known or recognized.
fn known(named: Option<QueryLanguage>, text: &str) -> Option<ReplyQuery> {
    let text = text.trim();
    let language = named.or_else(|| language::of(text))?;
    Some(ReplyQuery { language, text: text.to_owned() })
}

/// Returns the content of the last pair of tags.
fn tagged(text: &str) -> Option<&str> {
    let last = |(open, close): &(&str, &str)| {
        let begin = text.rfind(open)? + open.len();
        let inside = &text[begin..];
        Some((begin, &inside[..inside.find(close).or_else(|| inside.find(open)).unwrap_or(inside.len())]))
    };
    TAGS.iter().filter_map(last).max_by_key(|(begin, _)| *begin).map(|(_, inside)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The forms of `docs/reference/replies.md`: those of the chat templates of Llama, Qwen, DeepSeek, gpt-oss and
    /// Mistral, and of the examples in the given benchmarks.
    const CASES: &str = include_str!("../cases.jsonl");

    #[test]
    fn every_form_is_read_as_documented() {
        let cases: Vec<serde_json::Value> =
            CASES.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
        assert!(cases.len() >= 60, "{}", cases.len());
        let mut wrong = Vec::new();
        for case in &cases {
            let text = |name: &str| case[name].as_str().unwrap_or_default();
            let found = query(text("reply"), QueryLanguage::named(text("lang")));
            if found != text("query") {
                wrong.push(format!("{}: {:?}\n  gives {found:?}", text("form"), text("reply")));
            }
            // A bare query is returned unchanged.
            assert_eq!(query(text("query"), QueryLanguage::named(text("lang"))), text("query"), "{}", text("form"));
        }
        assert!(wrong.is_empty(), "{} of {} forms:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    }

    #[test]
    fn a_block_that_was_cut_off_is_none() {
        let text = "```overpassql\nnode(1);out;\n```\nor\n```overpassql\nnode(2);out";
        assert_eq!(queries(text, true).len(), 1);
        assert_eq!(queries(text, true)[0].text, "node(1);out;");
        assert_eq!(queries("```overpassql\nnode[amen", true), []);
        assert_eq!(queries("```overpassql\nnode[amen", false)[0].text, "node[amen");
    }

    #[test]
    fn hostile_replies_are_read() {
        let parts = [
            "```",
            "~~~\n",
            "`",
            "``",
            "{\"query\": ",
            "{\"",
            "<think>",
            "</think>",
            "[QUERY]",
            "(",
            "{{",
            "\"",
            "'",
            "SELECT ?a ",
            "SELECT ?a {",
            "node[",
            "node;",
            "out;",
            "// ",
            "/*",
            "# \n",
            "<|im_end|>",
            "describe ",
            "\n\n> ",
            "<query>",
            "\\",
            "PREFIX a: <",
            "make a=",
            "{\"query\": \"```ql\\nnode;",
            "\u{2581}",
        ];
        for part in parts {
            for other in ["", "node(1);out; ", "a\n", "```"] {
                let text = format!("{part}{other}").repeat(40_000);
                let found = query(&text, None);
                assert!(found.len() <= text.len(), "{part}");
            }
        }
    }
}
