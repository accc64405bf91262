//! The queries in a reply, and what else it says of the answer.

use serde::{Deserialize, Serialize};
use terrapin_chat::Reply;

use super::Lang;
use crate::eval::language::Language;
use crate::eval::reply::{self, ReplyQuery};

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
    let mut last = found(&reply.text, reply.is_cut);
    if last.is_empty() {
        // Some models that were trained to call tools call one with the query.
        last = reply.tool_calls.iter().flat_map(|call| found(&call.arguments, false)).collect();
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

/// The queries in a text, at most one of each language.
fn found(text: &str, is_cut: bool) -> Vec<Query> {
    let query = |found: ReplyQuery| Query { language: found.language.into(), query: found.text };
    reply::queries(text, is_cut).into_iter().map(query).collect()
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
