//! Candidates of a search, and their ranking.

use std::cmp::Reverse;

use oxrdf::{Literal, NamedNodeRef, Term};
use rustc_hash::FxHashMap;
use terrapin_base::words::words;
use terrapin_budget as budget;
use terrapin_triples::{EntityId, EntityKind, Store, TermId, TextRole};

/// Maximum number of entities to examine for one text.
const LOOKED_AT: usize = 1024;

/// The kind of a match, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchKind {
    /// The search text is the identifier.
    Id,
    /// The label is identical to the search text.
    Label,
    /// An alias is identical to the search text.
    Alias,
    /// The label is equal except for case, accents and punctuation.
    LikeLabel,
    /// An alias is equal except for case, accents and punctuation.
    LikeAlias,
    /// A label or alias begins with the search text.
    Prefix,
    /// A label or alias contains all words.
    Words,
    /// A label or alias contains misspelled variants of the words.
    Near,
    /// The description contains all words.
    Description,
}

/// The languages to search in.
#[derive(Debug, Clone, Copy)]
pub enum Languages<'a> {
    /// These languages; among equally good matches, one in an earlier language ranks higher.
    These(&'a [String]),
    /// All languages of the snapshot.
    All,
}

/// A search for entities.
#[derive(Debug, Clone, Copy)]
pub struct EntityQuery<'a> {
    /// The name, or its beginning.
    pub text: &'a str,
    /// The kind of entity.
    pub kind: EntityKind,
    /// The languages to search in.
    pub languages: Languages<'a>,
    /// Maximum number of entities to return.
    pub limit: usize,
    /// Whether to search descriptions if names yield fewer than `limit` entities.
    pub descriptions: bool,
    /// Whether misspelled names fill the result up to `limit`; otherwise they are searched only without any other
    /// match.
    pub slips: bool,
}

/// An entity in the result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntityMatch {
    /// The entity.
    pub id: EntityId,
    /// The kind of match.
    pub found: MatchKind,
    /// Whether the matched text is the label; otherwise it is an alias or the description.
    pub is_label: bool,
    /// The language of the matched text, in lower case.
    pub language: String,
    /// The matched text.
    pub text: String,
    /// A measure of how well known the entity is.
    pub fame: u64,
}

/// The rank of a match: its kind, the edit distance, whether it is a misspelled alias, and the position of its
/// language.
type Nearness = (MatchKind, u8, bool, usize);

/// The candidates so far, by entity.
pub(super) struct Matches<'a> {
    store: &'a Store,
    kind: EntityKind,
    /// Predicates of labels and of aliases.
    names: [Option<TermId>; 3],
    description: Option<TermId>,
    pub(super) wanted: SearchWords,
    found: FxHashMap<EntityId, (Nearness, EntityMatch)>,
}

/// The text and the words of a search.
pub(super) struct SearchWords {
    pub(super) text: String,
    pub(super) words: Vec<String>,
}

impl SearchWords {
    /// Returns the kind of match of a name: first as a label, then as an alias. Returns `None` if the name has other
    /// words.
    pub(super) fn nearness(&self, text: &str) -> Option<(MatchKind, MatchKind)> {
        let own = words(text);
        if own == self.words {
            let same = text == self.text;
            return Some(if same {
                (MatchKind::Label, MatchKind::Alias)
            } else {
                (MatchKind::LikeLabel, MatchKind::LikeAlias)
            });
        }
        let (last, rest) = self.words.split_last()?;
        let begins = own.len() >= self.words.len()
            && own.iter().zip(rest).all(|(a, b)| a == b)
            && own.get(rest.len()).is_some_and(|word| word.starts_with(last));
        if begins {
            return Some((MatchKind::Prefix, MatchKind::Prefix));
        }
        let has = rest.iter().all(|word| own.contains(word)) && own.iter().any(|word| word.starts_with(last));
        has.then_some((MatchKind::Words, MatchKind::Words))
    }
}

impl<'a> Matches<'a> {
    /// Returns the number of candidates.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    pub(super) fn new(store: &'a Store, kind: EntityKind, text: &str) -> Matches<'a> {
        let id = |predicate: &&str| store.id(NamedNodeRef::new_unchecked(predicate).into());
        let mut names = [None; 3];
        for (place, predicate) in names.iter_mut().zip(TextRole::Name.predicates()) {
            *place = id(predicate);
        }
        Matches {
            store,
            kind,
            names,
            description: TextRole::Description.predicates().first().and_then(id),
            wanted: SearchWords { text: text.to_owned(), words: words(text) },
            found: FxHashMap::default(),
        }
    }

    /// Adds the entity with this identifier or IRI.
    pub(super) fn by_id(&mut self, text: &str) {
        let text = text.strip_prefix("wd:").unwrap_or(text);
        let Some(id) = EntityId::parse(text).or_else(|| EntityId::of_iri(text)).filter(|id| id.kind == self.kind)
        else {
            return;
        };
        if id.term(self.store).is_some_and(|term| self.store.count(Some(term), None, None) > 0) {
            let found = EntityMatch {
                id,
                found: MatchKind::Id,
                is_label: false,
                language: String::new(),
                text: id.to_string(),
                fame: id.fame(self.store),
            };
            self.found.insert(id, ((MatchKind::Id, 0, false, 0), found));
        }
    }

    /// Adds the entities with a name if it matches; `near` returns the kind of match as a label and as an alias.
    pub(super) fn name(
        &mut self,
        literal: TermId,
        place: usize,
        near: impl Fn(&SearchWords, &str) -> Option<(MatchKind, MatchKind)>,
    ) -> Option<MatchKind> {
        budget::checkpoints(8);
        let Some(Term::Literal(value)) = self.store.term(literal) else { return None };
        let (as_label, as_alias) = near(&self.wanted, value.value())?;
        let slips = match as_label {
            MatchKind::Near => {
                let distance = strsim::osa_distance(&words(value.value()).join(" "), &self.wanted.words.join(" "));
                u8::try_from(distance).unwrap_or(u8::MAX)
            }
            _ => 0,
        };
        for (at, predicate) in self.names.into_iter().enumerate() {
            let Some(predicate) = predicate else { continue };
            let is_label = at != 1;
            let found = if is_label { as_label } else { as_alias };
            let misspelt_alias = found == MatchKind::Near && !is_label;
            self.take(predicate, literal, &value, (found, slips, misspelt_alias, place), is_label);
        }
        Some(as_label)
    }

    /// Adds the entities with a description.
    pub(super) fn description(&mut self, literal: TermId, place: usize) {
        budget::checkpoints(8);
        let (Some(predicate), Some(Term::Literal(value))) = (self.description, self.store.term(literal)) else {
            return;
        };
        self.take(predicate, literal, &value, (MatchKind::Description, 0, false, place), false);
    }

    fn take(&mut self, predicate: TermId, literal: TermId, value: &Literal, nearness: Nearness, is_label: bool) {
        for [entity, ..] in self.store.triples(None, Some(predicate), Some(literal)).take(LOOKED_AT) {
            budget::checkpoints(4);
            let Some(id) = EntityId::of_term(self.store, entity).filter(|id| id.kind == self.kind) else { continue };
            let known = self.found.get(&id);
            if known.is_some_and(|(known, _)| *known <= nearness) {
                continue;
            }
            let fame = known.map_or_else(|| id.fame(self.store), |(_, known)| known.fame);
            let language = value.language().unwrap_or_default().to_ascii_lowercase();
            let text = value.value().to_owned();
            self.found.insert(id, (nearness, EntityMatch { id, found: nearness.0, is_label, language, text, fame }));
        }
    }

    pub(super) fn ranked(self, limit: usize) -> Vec<EntityMatch> {
        let mut all: Vec<(Nearness, EntityMatch)> = self.found.into_values().collect();
        all.sort_unstable_by_key(|(nearness, one)| (*nearness, Reverse(one.fame), one.id));
        all.truncate(limit);
        all.into_iter().map(|(_, one)| one).collect()
    }
}
