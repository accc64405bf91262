//! Replies of language models that contain a query.

use terrapin::eval::language::QueryLanguage;
use terrapin::eval::reply::{answer, queries, query};

pub const WORDS: &[&str] = &[
    "```",
    "```overpassql\n",
    "````markdown\n",
    "~~~",
    "`",
    "``",
    "<think>",
    "</think>",
    "<|channel|>final<|message|>",
    "<|im_end|>",
    "[QUERY]",
    "[/QUERY]",
    "{\"query\": \"",
    "\\n",
    "\"}",
    "node[amenity=cafe];out;",
    "[out:json];",
    "{{geocodeArea:",
    "}}",
    "SELECT ?x WHERE { ?x ?y ",
    " } ORDER BY ",
    "PREFIX a: <",
    "# ",
    "// ",
    "/*",
    "'''",
    "\u{2581}",
];

pub fn seeds() -> Vec<Vec<u8>> {
    let cases = include_str!("../../crates/reply/cases.jsonl").lines();
    let replies = cases.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    replies.filter_map(|case| Some(case["reply"].as_str()?.as_bytes().to_vec())).collect()
}

pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let _ = answer(text);
    for language in [None, Some(QueryLanguage::OverpassQl), Some(QueryLanguage::Sparql)] {
        let _ = query(text, language);
    }
    for found in queries(text, true) {
        // A query has no white space around it.
        assert_eq!(found.text.trim(), found.text, "{text:?}");
    }
}
