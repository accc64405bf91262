//! Parses the queries in a reply, and whether their answer is for a map.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use terrapin_chat::Reply;

use super::Lang;
use terrapin_eval::language::QueryLanguage;
use terrapin_eval::reply::{self, ReplyQuery};

/// A query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelQuery {
    /// Its language.
    pub language: Lang,
    /// Its text.
    pub query: String,
}

/// The content of a reply to the prompt for a query.
#[derive(Debug, PartialEq, Eq)]
pub enum ReplyContent {
    /// Queries, at most one of each language, and whether their answer is for a map.
    Queries(Vec<ModelQuery>, bool),
    /// An answer or a refusal without a query.
    Words(String),
    /// The reply is unusable; the text is feedback for the model.
    Nothing(String),
}

/// Maximum bytes before the first code block in a reply of the requested form. In longer replies the model thinks
/// aloud, and the first block is a draft.
const HEAD: usize = 500;
/// Maximum bytes between a block of one language and a block of the other.
const GAP: usize = 200;
/// Maximum characters of a query that goes back to the model.
const LONGEST: usize = 4000;

/// Returns whether a reply has all of its queries, so that the rest is not needed: a closed block with a query in each
/// of the languages, or in one of them with enough text after it. A reply of another form is read to its end.
pub fn is_complete(reply: &str, languages: &[Lang]) -> bool {
    let text = reply.trim_end();
    let Some(blocks) = reply::closed_blocks(text).filter(|blocks| blocks.start <= HEAD) else { return false };
    let queries = found(text.get(..blocks.end).unwrap_or_default(), true);
    let has = |language: &&Lang| queries.iter().any(|query| query.language == **language);
    let count = languages.iter().filter(has).count();
    count > 0 && (count == languages.len() || text.len() - blocks.end > GAP)
}

/// Formats queries like a reply.
pub fn fenced(queries: &[ModelQuery], is_for_map: bool) -> String {
    let mut out = format!("map: {}", if is_for_map { "yes" } else { "no" });
    for query in queries {
        let text = query.query.trim();
        let (text, dots) = match text.char_indices().nth(LONGEST) {
            Some((end, _)) => (&text[..end], "..."),
            None => (text, ""),
        };
        out.push_str(&format!("\n```{}\n{text}{dots}\n```", query.language.name()));
    }
    out
}

/// Parses a reply.
pub fn read(reply: &Reply, only: Option<QueryLanguage>) -> ReplyContent {
    let lines = || reply.text.lines().map(|line| line.trim().trim_matches(['*', '`', '-', ' ']));
    let says = |head: &str| lines().find_map(|line| strip(line, head)).map(str::to_owned);
    let mut last = found(&reply.text, reply.is_cut);
    if last.is_empty() {
        // Models that are trained to call tools may write the query into a call.
        last = reply.tool_calls.iter().flat_map(|call| found(&call.arguments, false)).collect();
    }
    if let Some(only) = only.map(Lang::from) {
        if !last.is_empty() && last.iter().all(|query| query.language != only) {
            return ReplyContent::Nothing(format!("Your reply has no query in {}. Write one in it.", only.name()));
        }
        last.retain(|query| query.language == only);
    }
    if !last.is_empty() {
        return ReplyContent::Queries(
            last,
            says("map:").is_none_or(|word| !word.to_ascii_lowercase().starts_with("no")),
        );
    }
    if let Some(refusal) = &reply.refusal {
        return ReplyContent::Words(refusal.clone());
    }
    if let Some(at) = reply.text.to_ascii_lowercase().find("no query:") {
        let words = reply.text.get(at + "no query:".len()..).unwrap_or_default().trim();
        return ReplyContent::Words(if words.is_empty() {
            "The data has no answer to this.".to_owned()
        } else {
            words.to_owned()
        });
    }
    ReplyContent::Nothing(if reply.is_cut {
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

/// Returns the queries in a text, at most one of each language.
fn found(text: &str, is_cut: bool) -> Vec<ModelQuery> {
    let query = |found: ReplyQuery| ModelQuery { language: found.language.into(), query: found.text };
    reply::queries(text, is_cut).into_iter().map(query).collect()
}

#[cfg(test)]
mod tests {
    use terrapin_chat::ToolCall;

    use super::*;

    fn said(text: &str) -> ReplyContent {
        read(&Reply { text: text.to_owned(), ..Reply::default() }, None)
    }

    fn overpass(text: &str) -> ModelQuery {
        ModelQuery { language: Lang::Overpassql, query: text.to_owned() }
    }

    #[test]
    fn queries_are_found_in_what_models_write() {
        let one = |map| ReplyContent::Queries(vec![overpass("node[amenity=cafe];out;")], map);
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
        let ReplyContent::Queries(queries, true) = both else { panic!("{both:?}") };
        assert_eq!(queries.iter().map(|query| query.language).collect::<Vec<_>>(), [Lang::Sparql, Lang::Overpassql]);
        let call = ToolCall {
            name: "query_overpass".to_owned(),
            arguments: r#"{"query": "node[amenity=cafe];out;"}"#.to_owned(),
        };
        let called = Reply { tool_calls: vec![call], ..Reply::default() };
        assert_eq!(read(&called, None), one(true));
        assert!(matches!(read(&called, Some(QueryLanguage::Sparql)), ReplyContent::Nothing(_)));
    }

    #[test]
    fn a_reply_is_complete_when_its_block_is_closed() {
        let (ql, both) = (&[Lang::Overpassql][..], &[Lang::Overpassql, Lang::Sparql][..]);
        let query = "map: yes\n```overpassql\nnode[amenity=cafe];out;\n```";
        let other = "```sparql\nSELECT ?a { ?a ?b ?c }\n```";
        let ends = |text: &str, languages: &[Lang]| (0..=text.len()).find(|at| is_complete(&text[..*at], languages));
        assert_eq!(ends(&format!("{query}\n\nIt finds cafes. "), ql), Some(query.len()));
        // A block of the other language may follow.
        assert_eq!(ends(&format!("{query}\n{other}\n"), both), Some(query.len() + 1 + other.len()));
        assert_eq!(ends(&format!("{query}\n"), both), None);
        let run_on = format!("{query}\n{}", "and so on, ".repeat(100));
        assert!(ends(&run_on, both).is_some_and(|end| end < query.len() + GAP + 20));
        for text in [
            "node[amenity=cafe];out;",
            "```\nmap: yes\n```",
            "```overpassql\nnode[amenity=cafe];out;",
            // A draft in a thought without an opening tag, as some servers send it.
            &format!("{}\n```overpassql\nnode;out;\n```\n", "Let me think about cafes. ".repeat(30)),
        ] {
            assert_eq!(ends(text, ql), None, "{text}");
        }
        assert_eq!(ends(other, ql), None, "another language");
        let outer = "````markdown\nmap: yes\n```overpassql\nnode;out;\n```\n````";
        assert_eq!(ends(outer, ql), Some(outer.len()));
    }

    #[test]
    fn queries_go_back_in_the_form_of_a_reply() {
        let query = overpass("node[amenity=cafe];out;");
        let text = fenced(std::slice::from_ref(&query), false);
        assert_eq!(text, "map: no\n```overpassql\nnode[amenity=cafe];out;\n```");
        assert_eq!(said(&text), ReplyContent::Queries(vec![query], false));
        let long = overpass(&"node;".repeat(10_000));
        assert!(fenced(&[long], true).len() < LONGEST + 100);
    }

    #[test]
    fn a_reply_without_a_query_says_something_or_nothing() {
        assert_eq!(said("No query: the data ends in 2016."), ReplyContent::Words("the data ends in 2016.".to_owned()));
        let refusal = Reply { refusal: Some("I will not.".to_owned()), ..Reply::default() };
        assert_eq!(read(&refusal, None), ReplyContent::Words("I will not.".to_owned()));
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
            assert!(matches!(read(&reply, None), ReplyContent::Nothing(text) if text.contains(says)), "{reply:?}");
        }
    }
}
