//! A query among sentences.

use crate::language::QueryLanguage;
use crate::scan::{Scan, begins, end, is_whole};

/// Maximum number of positions to try without finding a query.
const ATTEMPTS: usize = 64;

/// A query within prose.
#[derive(Debug, PartialEq, Eq)]
pub struct ProseQuery<'a> {
    /// The language.
    pub language: QueryLanguage,
    /// The text.
    pub text: &'a str,
    /// Whether it is more than a fragment.
    pub is_whole: bool,
}

/// Returns the language if the whole text is a query.
pub fn alone(text: &str) -> Option<QueryLanguage> {
    let language = begins(text)?;
    match end(text, language) {
        Scan::End(end) => text[end..].trim().is_empty().then_some(language),
        Scan::Unclosed => (!text.contains("```") && !text.contains("~~~")).then_some(language),
    }
}

/// Returns the query at the start of a text, without the sentences after it. A query followed by anything else than
/// prose counts as a wrong query, not as an explained one.
pub fn first(text: &str) -> Option<ProseQuery<'_>> {
    let language = begins(text)?;
    let Scan::End(end) = end(text, language) else { return None };
    let (query, behind) = text.split_at(end);
    let is_whole = is_whole(query, language);
    let is_alone = behind.trim().is_empty() || is_whole && is_prose(behind, language);
    is_alone.then_some(ProseQuery { language, text: query.trim(), is_whole })
}

/// Returns whether the text after a query is prose, and not a misspelled part of the query.
fn is_prose(behind: &str, language: QueryLanguage) -> bool {
    let tail = behind.trim_start();
    let space = &behind[..behind.len() - tail.len()];
    let line = tail.lines().next().unwrap_or_default();
    let word = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let begins_line = space.contains('\n');
    match tail.chars().next() {
        Some('*' | '#' | '>' | '-' | '_' | '"' | '\'' | '`' | '“' | '[' | '(' | '|') => begins_line,
        Some(c) if c.is_uppercase() => match language {
            QueryLanguage::OverpassQl => !space.is_empty(),
            // SPARQL keywords are in upper case.
            QueryLanguage::Sparql => begins_line && (word.len() == 1 || word.chars().any(char::is_lowercase)),
        },
        Some(c) if c.is_alphanumeric() => begins_line && !line.contains([';', '{', '?']) || !c.is_ascii(),
        Some(_) => false,
        None => true,
    }
}

/// Returns all queries of a text, in order.
pub fn queries(text: &str) -> Vec<ProseQuery<'_>> {
    let mut queries: Vec<ProseQuery<'_>> = Vec::new();
    if begins(text).is_some() {
        match first(text) {
            Some(query) if query.text.len() == text.trim().len() => return vec![query],
            Some(query) => queries.push(query),
            // The text begins with an invalid query; do not take a part of it for the whole.
            None => return queries,
        }
    }
    let mut at =
        queries.first().map_or(0, |query| query.text.as_ptr() as usize - text.as_ptr() as usize + query.text.len());
    let mut attempts = 0;
    while let Some(next) = boundary(&text[at..]) {
        at += next;
        let Some(language) = begins(&text[at..]).filter(|_| !text[at..].starts_with(['/', '#', ';'])) else { continue };
        match end(&text[at..], language) {
            Scan::End(end) if is_whole(&text[at..at + end], language) => {
                queries.push(ProseQuery { language, text: text[at..at + end].trim(), is_whole: true });
                at += end;
            }
            _ => {
                attempts += 1;
                if attempts == ATTEMPTS {
                    break;
                }
            }
        }
    }
    queries
}

/// Returns the next position of a word or bracket that may begin a query.
fn boundary(text: &str) -> Option<usize> {
    let mut before = text.chars().next()?;
    for (at, c) in text.char_indices().skip(1) {
        let is_begin = c.is_ascii_alphabetic() || "[({<.>".contains(c);
        // Of consecutive equal brackets, only the first.
        let is_apart = c != before && (before.is_whitespace() || "\"'`*_:([|“«‘>".contains(before));
        if is_begin && is_apart {
            return Some(at);
        }
        before = c;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &str = "node[amenity=cafe];out;";

    fn last(text: &str) -> Option<&str> {
        queries(text).last().map(|query| query.text)
    }

    #[test]
    fn queries_are_found_among_sentences() {
        for text in [
            QUERY.to_owned(),
            format!("Sure! Here it is:\n\n{QUERY}\n\nIt finds cafes; all of them."),
            format!("Query: {QUERY}"),
            format!("**Query:** {QUERY} It finds cafes."),
            format!("Use {QUERY} to find them."),
            format!("Not way(1);out; but\n{QUERY}"),
            format!("It is \"{QUERY}\"."),
        ] {
            assert_eq!(last(&text), Some(QUERY), "{text}");
        }
        assert_eq!(last("I do not know, for all nodes (and ways) are alike."), None);
        assert_eq!(last("node[a=b];out;garbage;"), None, "what is wrong is not cut until it is right");
        assert_eq!(last("node[a=b];out;\nnod[c=d];out;"), None);
        for wrong in [" ORDR BY ?a", "\nORDR BY ?a", " ORDER BY", "}", "\nlimitt ?a"] {
            let text = format!("SELECT ?a {{ ?a ?b ?c }}{wrong}");
            assert!(last(&text).is_none_or(|query| query == text), "{text}");
        }
        assert_eq!(last("SELECT ?a { ?a ?b ?c }\nA query: it finds all."), Some("SELECT ?a { ?a ?b ?c }"));
    }
}
