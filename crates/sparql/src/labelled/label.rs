//! Identifiers → labels.

use super::identifier::{Kind, label_of};
use crate::syntax::{TokenKind, tokens};
use terrapin_triples::Store;

/// The prefixes behind which stands an identifier of Wikidata.
const PREFIXES: [&str; 20] = [
    "wd", "wdt", "wdtn", "wdno", "wdv", "wds", "p", "ps", "psv", "psn", "pq", "pqv", "pqn", "pr", "prv", "prn", "data",
    "entity", "prop", "direct",
];

/// A query in the labelled form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labelled {
    /// The query.
    pub text: String,
    /// Identifiers that were replaced.
    pub replaced: usize,
    /// Those that stayed, in order: the snapshot has no label for them, or one that cannot be written.
    pub kept: Vec<String>,
}

/// Writes labels for the identifiers of a query: those in the language, else in `mul`, else the first one by the tag of
/// its language. Strings, comments and IRIs in angle brackets stay as they are.
pub fn label(query: &str, store: &Store, language: &str) -> Labelled {
    let mut labelled = Labelled::default();
    let mut done = 0;
    for token in tokens(query, 0) {
        let TokenKind::Prefixed { colon } = token.kind else { continue };
        let at = token.start + colon as usize;
        let (Some(prefix), Some(id)) = (query.get(token.start..at), query.get(at + 1..token.end)) else { continue };
        let Some(kind) = Kind::of_id(id).filter(|_| PREFIXES.contains(&prefix)) else { continue };
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

/// Whether a label would be read back: brackets and ends of lines close it, and spaces around it say nothing.
fn can_be_written(label: &str) -> bool {
    !label.is_empty() && label.trim() == label && !label.contains(['[', ']', '\n', '\r'])
}
