//! Finds the identifiers that a name may refer to in a snapshot, the most likely first.

use oxrdf::{LiteralRef, NamedNode, NamedNodeRef, Term};
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::identifier::{ENTITY, IdentifierKind, label_of};
use crate::functions::labels;
use terrapin_triples::{Store, TermId};

/// The IRI prefix of properties, without the part of a specific namespace.
const PROP: &str = "http://www.wikidata.org/prop/";
/// Maximum number of candidates for a name.
const CANDIDATES: usize = 8;

/// How a candidate was found, from the best match to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NameMatchKind {
    /// The name is its label in the language.
    Label,
    /// The name is one of its aliases in the language.
    Alias,
    /// The name is a label or an alias in any language, ignoring case.
    Case,
    /// A label or an alias begins with the name.
    Prefix,
    /// A label or an alias contains all words of the name.
    Words,
}

/// An entity that a name may refer to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NameCandidate {
    /// The identifier.
    pub id: String,
    /// How it was found.
    pub found: NameMatchKind,
    /// Its label, which may differ from the name.
    pub label: Option<String>,
    /// How often the snapshot uses it, as the object or as the predicate of triples.
    pub uses: u64,
}

/// The context of a name, to rank candidates with the same name.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameContext<'a> {
    /// The prefix before the name, such as `wdt`.
    pub path: &'a str,
    /// The prefix and identifier of the property that the name is a value of.
    pub value_of: Option<(&'a str, &'a str)>,
    /// The prefix and identifier of a property that the entity has.
    pub has: Option<(&'a str, &'a str)>,
}

/// The names in a snapshot.
#[derive(Clone, Copy)]
pub struct SnapshotNames<'a> {
    /// The triple store.
    pub store: &'a Store,
    /// The language of labels.
    pub language: &'a str,
}

impl SnapshotNames<'_> {
    /// Returns the entities that a name may refer to: those with this label, otherwise those with this alias,
    /// otherwise search results. They are sorted by quality of the match, then by their uses in this context, then by
    /// all their uses, then by number.
    pub fn find(&self, kind: IdentifierKind, name: &str, around: NameContext<'_>) -> Vec<NameCandidate> {
        let name = name.trim();
        for (predicate, found) in
            [(kind.label(), NameMatchKind::Label), (labels::LabelKind::AltLabel.predicate(), NameMatchKind::Alias)]
        {
            let known = self.exact(kind, predicate, name);
            if !known.is_empty() {
                return self.ranked(kind, around, known.into_iter().map(|id| (found, id)).collect());
            }
        }
        self.ranked(kind, around, self.search(kind, name))
    }

    /// Returns the entities with exactly this name in the language.
    fn exact(&self, kind: IdentifierKind, predicate: &str, name: &str) -> Vec<String> {
        let literal = LiteralRef::new_language_tagged_literal_unchecked(name, self.language);
        let Some(object) = self.store.id(literal.into()) else { return Vec::new() };
        let Some(predicate) = self.store.id(NamedNodeRef::new_unchecked(predicate).into()) else { return Vec::new() };
        let entities = self.store.triples(None, Some(predicate), Some(object));
        entities.filter_map(|[entity, ..]| self.identifier(kind, entity)).collect()
    }

    /// Returns the identifier of a term if it is of a kind.
    fn identifier(&self, kind: IdentifierKind, term: TermId) -> Option<String> {
        let Some(Term::NamedNode(node)) = self.store.term(term) else { return None };
        let id = node.as_str().strip_prefix(ENTITY)?;
        (IdentifierKind::of_id(id) == Some(kind)).then(|| id.to_owned())
    }

    /// Returns the entities with the best matching names in any language.
    fn search(&self, kind: IdentifierKind, name: &str) -> Vec<(NameMatchKind, String)> {
        let wanted = name.to_lowercase();
        let words: Vec<&str> = wanted.split_whitespace().collect();
        if words.is_empty() {
            return Vec::new();
        }
        let near = |text: &str| {
            let text = text.to_lowercase();
            if text == wanted {
                Some(NameMatchKind::Case)
            } else if text.starts_with(&wanted) {
                Some(NameMatchKind::Prefix)
            } else {
                words.iter().all(|word| text.contains(word)).then_some(NameMatchKind::Words)
            }
        };
        // The best match of each entity.
        let mut nearest: FxHashMap<TermId, NameMatchKind> = FxHashMap::default();
        let mut bar = NameMatchKind::Words;
        for predicate in [kind.label(), labels::LabelKind::AltLabel.predicate()] {
            let Some(predicate) = self.store.id(NamedNodeRef::new_unchecked(predicate).into()) else { continue };
            // The triples are ordered by name, so that a name shared by many entities is compared once.
            let mut last: Option<(TermId, Option<NameMatchKind>)> = None;
            for [entity, _, object] in self.store.triples(None, Some(predicate), None) {
                let found = match last {
                    Some((known, found)) if known == object => found,
                    _ => match self.store.term(object) {
                        Some(Term::Literal(literal)) => near(literal.value()),
                        _ => None,
                    },
                };
                last = Some((object, found));
                // Matches worse than a known one are not returned.
                let Some(found) = found.filter(|found| *found <= bar) else { continue };
                if self.identifier(kind, entity).is_some() {
                    bar = found;
                    nearest.entry(entity).and_modify(|known| *known = found.min(*known)).or_insert(found);
                }
            }
        }
        let within = nearest.into_iter().filter(|(_, found)| *found <= bar);
        within.filter_map(|(entity, found)| Some((found, self.identifier(kind, entity)?))).collect()
    }

    /// Returns the most likely candidates, in order.
    fn ranked(
        &self,
        kind: IdentifierKind,
        around: NameContext<'_>,
        mut found: Vec<(NameMatchKind, String)>,
    ) -> Vec<NameCandidate> {
        found.sort_unstable();
        found.dedup_by(|a, b| a.1 == b.1);
        let mut candidates: Vec<([u64; 2], NameCandidate)> = found
            .into_iter()
            .map(|(found, id)| {
                let [near, uses] = self.uses(kind, around, &id);
                ([near, uses], NameCandidate { id, found, label: None, uses })
            })
            .collect();
        let number = |id: &str| id.get(1..).and_then(|digits| digits.parse::<u64>().ok()).unwrap_or(u64::MAX);
        candidates.sort_by(|(a_uses, a), (b_uses, b)| {
            a.found.cmp(&b.found).then(b_uses.cmp(a_uses)).then(number(&a.id).cmp(&number(&b.id)))
        });
        candidates.truncate(CANDIDATES);
        let labelled = |(_, mut candidate): (_, NameCandidate)| {
            candidate.label = label_of(self.store, kind, &candidate.id, self.language);
            candidate
        };
        candidates.into_iter().map(labelled).collect()
    }

    /// Returns how often an entity is used in this context, and in total.
    fn uses(&self, kind: IdentifierKind, around: NameContext<'_>, id: &str) -> [u64; 2] {
        let named = |iri: String| self.store.id(NamedNode::new_unchecked(iri).as_ref().into());
        let predicate = |path: &str, id: &str| named(format!("{PROP}{}{id}", path_of(path)?));
        if kind == IdentifierKind::Property {
            let count = |path: &str| predicate(path, id).map_or(0, |term| self.store.count(None, Some(term), None));
            return [count(around.path), ["wdt", "p", "ps", "pq", "pr"].map(count).iter().sum()];
        }
        let Some(entity) = named(format!("{ENTITY}{id}")) else { return [0, 0] };
        let as_value = around.value_of.and_then(|(path, id)| predicate(path, id));
        let having = around.has.and_then(|(path, id)| predicate(path, id));
        let here = as_value.map_or(0, |property| self.store.count(None, Some(property), Some(entity)))
            + having.map_or(0, |property| self.store.count(Some(entity), Some(property), None));
        [here, self.store.count(None, None, Some(entity))]
    }
}

/// Returns the part of a property's IRI that belongs to a prefix, after the common part.
fn path_of(prefix: &str) -> Option<&'static str> {
    Some(match prefix {
        "wdt" => "direct/",
        "p" => "",
        "ps" => "statement/",
        "psv" => "statement/value/",
        "pq" => "qualifier/",
        "pqv" => "qualifier/value/",
        "pr" => "reference/",
        _ => return None,
    })
}
