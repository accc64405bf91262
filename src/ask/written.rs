//! The queries in a reply, and what else it says of the answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use terrapin_chat::Reply;

use super::Lang;
use crate::eval::language::{self, Language};

/// A query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// Its language.
    pub language: Lang,
    /// Its text.
    pub query: String,
}

/// What a reply to the question for a query says.
#[derive(Debug, PartialEq, Eq)]
pub enum Written {
    /// Queries, at most one of each language, and whether their answer is for a map.
    Queries(Vec<Query>, bool),
    /// There is no query to write; this instead.
    Words(String),
    /// Nothing that can be used; what to tell the model.
    Nothing(String),
}

/// Reads a reply.
pub fn read(reply: &Reply, only: Option<Language>) -> Written {
    let lines = || reply.text.lines().map(|line| line.trim().trim_matches(['*', '`', '-', ' ']));
    let says = |head: &str| lines().find_map(|line| strip(line, head)).map(str::to_owned);
    let mut queries = fenced(&reply.text, reply.is_cut);
    if queries.is_empty() {
        queries.extend(reply.tool_calls.iter().filter_map(|call| of_tool(&call.arguments)));
    }
    if queries.is_empty() && fence(&reply.text).is_none() {
        queries.extend(bare(&reply.text));
    }
    // A later one corrects an earlier one.
    let mut last: Vec<Query> = Vec::new();
    for query in queries {
        last.retain(|other| other.language != query.language);
        last.push(query);
    }
    if let Some(only) = only.map(Lang::from) {
        if !last.is_empty() && last.iter().all(|query| query.language != only) {
            return Written::Nothing(format!("The query is to be in {}, which your reply has none in.", only.name()));
        }
        last.retain(|query| query.language == only);
    }
    if !last.is_empty() {
        return Written::Queries(last, says("map:").is_none_or(|word| !word.to_ascii_lowercase().starts_with("no")));
    }
    if let Some(refusal) = &reply.refusal {
        return Written::Words(refusal.clone());
    }
    if let Some(at) = reply.text.to_ascii_lowercase().find("no query:") {
        let words = reply.text.get(at + "no query:".len()..).unwrap_or_default().trim();
        return Written::Words(if words.is_empty() {
            "The data has no answer to this.".to_owned()
        } else {
            words.to_owned()
        });
    }
    Written::Nothing(if reply.is_cut {
        "Your reply was cut off before its query ended. Reply with the query alone, and a shorter one.".to_owned()
    } else if reply.tool_calls.is_empty() {
        "Your reply has no query between fences.".to_owned()
    } else {
        "There are no tools to call. Write the query between fences.".to_owned()
    })
}

fn strip<'a>(line: &'a str, head: &str) -> Option<&'a str> {
    let begin = line.get(..head.len())?;
    begin.eq_ignore_ascii_case(head).then(|| line[head.len()..].trim())
}

/// The queries between fences. The last fence may be missing, but not where the reply was cut off.
fn fenced(text: &str, is_cut: bool) -> Vec<Query> {
    let mut queries = Vec::new();
    let mut rest = text;
    while let Some((_, inside)) = fence(rest) {
        let end = fence(inside);
        if end.is_none() && is_cut {
            break;
        }
        let (block, after) = end.unwrap_or((inside, ""));
        let (head, body) = block.split_once('\n').unwrap_or(("", block));
        let named = Language::named(&head.replace(['-', '_', ' ', '\r'], ""));
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '+' | '.');
        let body = if named.is_some() || head.trim().chars().all(is_name) { body } else { block };
        let found = query(named, body);
        // A fence around others, as of Markdown, is none: what seems to end it begins one of them.
        rest = if found.is_some() { after } else { &inside[block.len()..] };
        queries.extend(found);
        if end.is_none() {
            break;
        }
    }
    queries
}

/// What stands before the next fence, and behind it.
fn fence(text: &str) -> Option<(&str, &str)> {
    let tildes = if text.starts_with("~~~") { Some(0) } else { text.find("\n~~~").map(|at| at + 1) };
    let at = [text.find("```"), tildes].into_iter().flatten().min()?;
    let (before, fence) = text.split_at(at);
    let sign = if fence.starts_with('~') { '~' } else { '`' };
    Some((before, fence.trim_start_matches(sign)))
}

/// A reply that is a query, perhaps behind a line about the map.
fn bare(text: &str) -> Option<Query> {
    let text = text.trim();
    let text = match text.split_once('\n') {
        Some((first, rest)) if strip(first.trim(), "map:").is_some() => rest,
        _ => text,
    };
    query(None, text).filter(|query| language::of(&query.query).is_some())
}

/// What some models do that were trained to call tools: the query is the tool's.
fn of_tool(arguments: &str) -> Option<Query> {
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    let text = ["query", "sparql", "overpassql", "data"].iter().find_map(|name| arguments[name].as_str())?;
    query(None, text)
}

fn query(named: Option<Language>, text: &str) -> Option<Query> {
    let text = text.trim();
    let language = named.or_else(|| language::of(text))?;
    (!text.is_empty()).then(|| Query { language: language.into(), query: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use terrapin_chat::ToolCall;

    use super::*;

    fn said(text: &str) -> Written {
        read(&Reply { text: text.to_owned(), ..Reply::default() }, None)
    }

    fn overpass(text: &str) -> Query {
        Query { language: Lang::Overpassql, query: text.to_owned() }
    }

    #[test]
    fn queries_are_found_in_what_models_write() {
        let one = |map| Written::Queries(vec![overpass("node[amenity=cafe];out;")], map);
        for text in [
            "map: yes\n```overpassql\nnode[amenity=cafe];out;\n```",
            "**Map: yes**\n\nHere it is:\n```\nnode[amenity=cafe];out;\n```\nIt finds cafes.",
            "node[amenity=cafe];out;",
            "map: yes\nnode[amenity=cafe];out;",
            "```overpass\nway;out;\n```\nBetter:\n```overpassql\nnode[amenity=cafe];out;\n```",
            "```node[amenity=cafe];out;```",
            "```overpassql\nnode[amenity=cafe];out;",
            "```Overpass-QL\nnode[amenity=cafe];out;\n```",
            "map: yes\n~~~ql\nnode[amenity=cafe];out;\n~~~\nThere.",
            "````markdown\nmap: yes\n```overpassql\nnode[amenity=cafe];out;\n```\n````",
            "````markdown\n```overpassql\nnode[amenity=cafe];out;\n```\n````",
        ] {
            assert_eq!(said(text), one(true), "{text}");
        }
        assert_eq!(said("map: no\n```ql\nnode[amenity=cafe];out;\n```"), one(false));
        let both = said("```sparql\nSELECT ?a { ?a ?b ?c }\n```\n```overpassql\nnode;out;\n```");
        let Written::Queries(queries, true) = both else { panic!("{both:?}") };
        assert_eq!(queries.iter().map(|query| query.language).collect::<Vec<_>>(), [Lang::Sparql, Lang::Overpassql]);
        let call = ToolCall {
            name: "query_overpass".to_owned(),
            arguments: r#"{"query": "node[amenity=cafe];out;"}"#.to_owned(),
        };
        let called = Reply { tool_calls: vec![call], ..Reply::default() };
        assert_eq!(read(&called, None), one(true));
        assert!(matches!(read(&called, Some(Language::Sparql)), Written::Nothing(_)));
    }

    #[test]
    fn a_reply_without_a_query_says_something_or_nothing() {
        assert_eq!(said("No query: the data ends in 2016."), Written::Words("the data ends in 2016.".to_owned()));
        let refusal = Reply { refusal: Some("I will not.".to_owned()), ..Reply::default() };
        assert_eq!(read(&refusal, None), Written::Words("I will not.".to_owned()));
        for (reply, says) in [
            (Reply { text: "Sure! First look at the tags.".to_owned(), ..Reply::default() }, "no query"),
            (Reply { text: "```overpassql\nnode[amen".to_owned(), is_cut: true, ..Reply::default() }, "cut off"),
            (
                Reply {
                    tool_calls: vec![ToolCall { name: "x".to_owned(), arguments: "{".to_owned() }],
                    ..Reply::default()
                },
                "no tools",
            ),
        ] {
            assert!(matches!(read(&reply, None), Written::Nothing(text) if text.contains(says)), "{reply:?}");
        }
    }
}
