//! Replaces identifiers by labels.

use super::identifier::{IdentifierKind, label_of};
use crate::syntax::{Dialect, TokenKind, read_tokens};
use terrapin_triples::Store;

/// The prefixes that are followed by an identifier of Wikidata.
const PREFIXES: [&str; 20] = [
    "wd", "wdt", "wdtn", "wdno", "wdv", "wds", "p", "ps", "psv", "psn", "pq", "pqv", "pqn", "pr", "prv", "prn", "data",
    "entity", "prop", "direct",
];

/// A query in the labelled form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labelled {
    /// The query.
    pub text: String,
    /// Number of identifiers that were replaced.
    pub replaced: usize,
    /// Identifiers that were not replaced, in order, because the snapshot has no label for them or the label cannot be
    /// written.
    pub kept: Vec<String>,
}

/// Replaces the identifiers of a query by labels: those in `language`, otherwise in `mul`, otherwise the first one in
/// the order of language tags. Strings, comments and IRIs in angle brackets are unchanged.
pub fn label(query: &str, store: &Store, language: &str) -> Labelled {
    let mut labelled = Labelled::default();
    let mut done = 0;
    for token in read_tokens(query, Dialect::Auto) {
        let TokenKind::Prefixed { colon } = token.kind else { continue };
        let at = token.start + colon as usize;
        let (Some(prefix), Some(id)) = (query.get(token.start..at), query.get(at + 1..token.end)) else { continue };
        let Some(kind) = IdentifierKind::of_id(id).filter(|_| PREFIXES.contains(&prefix)) else { continue };
        match label_of(store, kind, id, language) {
            Some(text) if can_be_written(&text) => {
                labelled.text += query.get(done..=at).unwrap_or_default();
                labelled.text += &format!("[{}:{text}]", kind.name());
                done = token.end;
                labelled.replaced += 1;
            }
            _ => labelled.kept.push(id.to_owned()),
        }
    }
    labelled.text += query.get(done..).unwrap_or_default();
    labelled
}

/// Returns whether a label can be parsed again: brackets and line ends would close it, and spaces at its ends would be
/// ignored.
fn can_be_written(label: &str) -> bool {
    !label.is_empty() && label.trim() == label && !label.contains(['[', ']', '\n', '\r'])
}
