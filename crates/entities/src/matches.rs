//! What was found so far, and in which order it is told.

use std::cmp::Reverse;

use oxrdf::{Literal, NamedNodeRef, Term};
use rustc_hash::FxHashMap;
use terrapin_base::words::words;
use terrapin_budget as budget;
use terrapin_triples::{EntityId, EntityKind, Said, Store, TermId};

/// Entities with one text that are looked at, at most.
const LOOKED_AT: usize = 1024;

/// How a text was found; what comes first is nearer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Found {
    /// What was asked for is the identifier.
    Id,
    /// The label is what was asked for, letter for letter.
    Label,
    /// Another name is.
    Alias,
    /// The label is, but for case, accents and punctuation.
    LikeLabel,
    /// Another name is.
    LikeAlias,
    /// A label or another name begins with it.
    Prefix,
    /// A label or another name has all its words.
    Words,
    /// A label or another name has words that are nearly so.
    Near,
    /// The description has all its words.
    Description,
}

/// In which languages is looked.
#[derive(Debug, Clone, Copy)]
pub enum Languages<'a> {
    /// In these: what is found in the first comes before what is found as well in the second.
    These(&'a [String]),
    /// In all that there are.
    All,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// The name, or its beginning.
    pub text: &'a str,
    /// What the entity is.
    pub kind: EntityKind,
    /// In which languages.
    pub languages: Languages<'a>,
    /// Entities that are told, at most.
    pub limit: usize,
    /// Whether descriptions are looked at where names are too few.
    pub descriptions: bool,
    /// Whether names that are misspelt follow wherever there is room; else only where nothing else is found.
    pub slips: bool,
}

/// An entity that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Match {
    /// Which.
    pub id: EntityId,
    /// How.
    pub found: Found,
    /// Whether the text is its label; else it is another name, or the description.
    pub is_label: bool,
    /// The language of the text that was found, in small letters.
    pub language: String,
    /// That text.
    pub text: String,
    /// How well it is known.
    pub fame: u64,
}

/// How near something is: how it was found, letters that differ, whether it is misspelt as an alias, the place of its
/// language.
type Nearness = (Found, u8, bool, usize);

/// What was found so far, by entity.
pub(super) struct Matches<'a> {
    store: &'a Store,
    kind: EntityKind,
    /// Predicates of labels, and of other names.
    names: [Option<TermId>; 3],
    description: Option<TermId>,
    pub(super) wanted: Wanted,
    found: FxHashMap<EntityId, (Nearness, Match)>,
}

/// The words that are looked for.
pub(super) struct Wanted {
    pub(super) text: String,
    pub(super) words: Vec<String>,
}

impl Wanted {
    /// How a name is what was asked for; the second is of an alias. `None` where it has other words.
    pub(super) fn nearness(&self, text: &str) -> Option<(Found, Found)> {
        let own = words(text);
        if own == self.words {
            let same = text == self.text;
            return Some(if same { (Found::Label, Found::Alias) } else { (Found::LikeLabel, Found::LikeAlias) });
        }
        let (last, rest) = self.words.split_last()?;
        let begins = own.len() >= self.words.len()
            && own.iter().zip(rest).all(|(a, b)| a == b)
            && own.get(rest.len()).is_some_and(|word| word.starts_with(last));
        if begins {
            return Some((Found::Prefix, Found::Prefix));
        }
        let has = rest.iter().all(|word| own.contains(word)) && own.iter().any(|word| word.starts_with(last));
        has.then_some((Found::Words, Found::Words))
    }
}

impl<'a> Matches<'a> {
    /// How many entities were found.
    pub(super) fn len(&self) -> usize {
        self.found.len()
    }

    pub(super) fn new(store: &'a Store, kind: EntityKind, text: &str) -> Matches<'a> {
        let id = |predicate: &&str| store.id(NamedNodeRef::new_unchecked(predicate).into());
        let mut names = [None; 3];
        for (place, predicate) in names.iter_mut().zip(Said::Name.predicates()) {
            *place = id(predicate);
        }
        Matches {
            store,
            kind,
            names,
            description: Said::Description.predicates().first().and_then(id),
            wanted: Wanted { text: text.to_owned(), words: words(text) },
            found: FxHashMap::default(),
        }
    }

    /// The entity whose identifier or IRI a text is.
    pub(super) fn by_id(&mut self, text: &str) {
        let text = text.strip_prefix("wd:").unwrap_or(text);
        let Some(id) = EntityId::parse(text).or_else(|| EntityId::of_iri(text)).filter(|id| id.kind == self.kind)
        else {
            return;
        };
        if id.term(self.store).is_some_and(|term| self.store.count(Some(term), None, None) > 0) {
            let found = Match {
                id,
                found: Found::Id,
                is_label: false,
                language: String::new(),
                text: id.to_string(),
                fame: id.fame(self.store),
            };
            self.found.insert(id, ((Found::Id, 0, false, 0), found));
        }
    }

    /// Takes a name in for the entities that have it, if it is near, which `near` says of a label and of another name.
    pub(super) fn name(
        &mut self,
        literal: TermId,
        place: usize,
        near: impl Fn(&Wanted, &str) -> Option<(Found, Found)>,
    ) -> Option<Found> {
        budget::checkpoints(8);
        let Some(Term::Literal(value)) = self.store.term(literal) else { return None };
        let (as_label, as_alias) = near(&self.wanted, value.value())?;
        let slips = match as_label {
            Found::Near => {
                let distance = strsim::osa_distance(&words(value.value()).join(" "), &self.wanted.words.join(" "));
                u8::try_from(distance).unwrap_or(u8::MAX)
            }
            _ => 0,
        };
        for (at, predicate) in self.names.into_iter().enumerate() {
            let Some(predicate) = predicate else { continue };
            let is_label = at != 1;
            let found = if is_label { as_label } else { as_alias };
            let misspelt_alias = found == Found::Near && !is_label;
            self.take(predicate, literal, &value, (found, slips, misspelt_alias, place), is_label);
        }
        Some(as_label)
    }

    /// Takes a description in for the entities that have it.
    pub(super) fn description(&mut self, literal: TermId, place: usize) {
        budget::checkpoints(8);
        let (Some(predicate), Some(Term::Literal(value))) = (self.description, self.store.term(literal)) else {
            return;
        };
        self.take(predicate, literal, &value, (Found::Description, 0, false, place), false);
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
            self.found.insert(id, (nearness, Match { id, found: nearness.0, is_label, language, text, fame }));
        }
    }

    pub(super) fn ranked(self, limit: usize) -> Vec<Match> {
        let mut all: Vec<(Nearness, Match)> = self.found.into_values().collect();
        all.sort_unstable_by_key(|(nearness, one)| (*nearness, Reverse(one.fame), one.id));
        all.truncate(limit);
        all.into_iter().map(|(_, one)| one).collect()
    }
}
