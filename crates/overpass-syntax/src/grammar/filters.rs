//! Makes the rules of queries and of filters in round brackets. Which filters a query of a type takes is the parser's
//! own decision: it parses an example of each filter after each word that begins a query.

use std::fmt::Write;

use crate::vocabulary;

/// The rules of filters in round brackets, each with an example.
const FILTERS: [(&str, &str); 11] = [
    ("box", "1,2,3,4"),
    ("ids", "id:1,2"),
    ("around", "around:1"),
    ("poly", "poly:\"1 2 3 4 5 6\""),
    ("area", "area"),
    ("pivot", "pivot"),
    ("set-recursion", "<"),
    ("user", "user:\"a\""),
    ("newer", "newer:\"2020-01-01T00:00:00Z\""),
    ("changed", "changed"),
    ("condition", "if:1"),
];
/// Those that are also filters of nodes only.
const COUNTED: (&str, &str) = ("counted", "way_cnt:1");
/// The recursions, longer words first.
const RECURSIONS: [&str; 5] = ["bn", "bw", "br", "w", "r"];

/// Returns the rules `query`, `query-type`, and for each type of query `filter-type` and `recursion-type`. Words with
/// the same filters share them.
pub(super) fn rules() -> String {
    let mut groups: Vec<(String, String, Vec<&str>)> = Vec::new();
    for word in vocabulary::queries() {
        let (filters, recursions) = (filters(word), recursions(word));
        match groups.iter_mut().find(|(f, r, _)| (f, r) == (&filters, &recursions)) {
            Some((.., words)) => words.push(word),
            None => groups.push((filters, recursions, vec![word])),
        }
    }
    let mut rules = format!("query-type ::= {}\n", super::words::alternatives(vocabulary::queries().collect()));
    let (mut queries, mut all) = (String::new(), Vec::new());
    for (filters, recursions, words) in groups {
        let kind = words.first().copied().unwrap_or_default();
        let recursion = if recursions.is_empty() { String::new() } else { format!(" | recursion-{kind}") };
        let _ = writeln!(rules, "filter-{kind} ::= filter | \"(\" ws ({filters}{recursion} | custom) ws \")\"");
        if !recursions.is_empty() {
            let _ = writeln!(rules, "recursion-{kind} ::= {recursions}");
        }
        let words = super::words::alternatives(words);
        let filters = format!("(ws ignored){{0,3}} ws filter-{kind} (ws (filter-{kind} | ignored)){{0,23}}");
        let _ = writeln!(queries, "query-{kind} ::= ({words}) {filters} into? end");
        all.push(format!("query-{kind}"));
    }
    let _ = writeln!(rules, "{queries}query ::= {}", all.join(" | "));
    rules
}

/// Returns whether the parser takes a filter with this content after the word of a query.
fn is_taken(word: &str, content: &str) -> bool {
    crate::parse(&format!("{word}[a]({content});")).is_ok() && crate::parse(&format!("{word}({content});")).is_ok()
}

/// Returns the filters of a query except recursions.
fn filters(word: &str) -> String {
    let all = FILTERS.iter().chain([&COUNTED]).filter(|(_, example)| is_taken(word, example)).map(|(rule, _)| *rule);
    all.collect::<Vec<&str>>().join(" | ")
}

/// Returns the recursions of a query, with a role or positions if they take them.
fn recursions(word: &str) -> String {
    let (mut plain, mut with_role, mut with_positions) = (Vec::new(), Vec::new(), Vec::new());
    for recursion in RECURSIONS.into_iter().filter(|recursion| is_taken(word, recursion)) {
        match () {
            () if is_taken(word, &format!("{recursion}:\"a\"")) => with_role.push(recursion),
            () if is_taken(word, &format!("{recursion}:1,-1")) => with_positions.push(recursion),
            () => plain.push(recursion),
        }
    }
    let endings = ["", " (colon role)?", " (colon position (comma position){0,20})?"];
    let all = [plain, with_role, with_positions].into_iter().zip(endings).filter(|(words, _)| !words.is_empty());
    let all = all.map(|(words, ending)| format!("({}) named-from?{ending}", super::words::alternatives(words)));
    all.collect::<Vec<String>>().join(" | ")
}
