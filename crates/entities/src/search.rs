//! Finding entities by what they are called.
//!
//! The index leads from words to texts, those of the best known entities first. Of texts that have the words some are
//! looked at: those that have as many words first, then as many of the others as a limit asks for. What a text is of, the
//! triples tell.

use std::cmp::Reverse;

use oxrdf::{Literal, NamedNodeRef, Term};
use rustc_hash::FxHashMap;
use terrapin_base::words::words;
use terrapin_budget as budget;
use terrapin_triples::{EntityId, EntityKind, Labels, Part, Said, Store, TermId};

use super::scan;

/// Texts of a kind that are looked at, at most, in a language.
const LOOKED_AT: usize = 1024;
/// Words with the same beginning whose texts are looked at, those of the best known entities.
const BEGINNINGS: usize = 512;
/// Letters of a word from which on it may have one slip, and two.
const SLIPS: [usize; 2] = [4, 8];

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

/// How near something is: how it was found, letters that differ, the place of its language.
type Nearness = (Found, u8, usize);

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

/// The entities that are called so, the likeliest first: by how they were found, then by how well they are known, then by
/// their numbers.
pub fn find(store: &Store, search: &Search<'_>) -> Vec<Match> {
    let text = search.text.trim();
    let mut matches = Matches::new(store, search.kind, text);
    matches.by_id(text);
    if !matches.wanted.words.is_empty() {
        match store.labels() {
            Some(labels) => by_index(&mut matches, labels, search),
            None => scan::look(&mut matches, store, search),
        }
    }
    matches.ranked(search.limit)
}

fn by_index(matches: &mut Matches<'_>, labels: &Labels, search: &Search<'_>) {
    let languages = |said| match search.languages {
        Languages::These(all) => all.to_vec(),
        Languages::All => labels.languages(search.kind, said),
    };
    let names = languages(Said::Name);
    let part = |language: &String| labels.part(search.kind, Said::Name, language);
    for (place, language) in names.iter().enumerate() {
        Lists { labels, part: part(language), place }.whole(matches);
    }
    // Beginnings of what is found in full are as good as nothing where that is enough.
    for (place, language) in names.iter().enumerate() {
        if matches.found.len() < search.limit {
            Lists { labels, part: part(language), place }.begun(matches, search.limit);
        }
    }
    for (place, language) in names.iter().enumerate() {
        if matches.found.is_empty() || search.slips && matches.found.len() < search.limit {
            Lists { labels, part: part(language), place }.misspelt(matches);
        }
    }
    if search.descriptions {
        for (place, language) in languages(Said::Description).iter().enumerate() {
            if matches.found.len() < search.limit {
                let part = labels.part(search.kind, Said::Description, language);
                Lists { labels, part, place }.described(matches, search.limit);
            }
        }
    }
}

/// The texts of a language, which has a place among those that are looked at.
struct Lists<'a> {
    labels: &'a Labels,
    part: Part<'a>,
    place: usize,
}

impl Lists<'_> {
    /// The texts that have all of some words.
    fn with_all(&self, words: &[String]) -> Vec<u32> {
        let mut lists: Vec<Vec<u32>> = Vec::with_capacity(words.len());
        for word in words {
            lists.push(self.part.texts(word));
            if lists.last().is_some_and(Vec::is_empty) {
                return Vec::new();
            }
        }
        intersection(lists)
    }

    /// Names that are what was asked for.
    fn whole(&self, matches: &mut Matches<'_>) {
        let count = matches.wanted.words.len();
        let all = self.with_all(&matches.wanted.words);
        budget::checkpoints(all.len());
        let same = all.into_iter().map(|number| self.labels.text(number)).filter(|(_, words)| *words == count.min(31));
        for (literal, _) in same.take(LOOKED_AT) {
            matches.name(literal, self.place, |wanted, text| {
                wanted.nearness(text).filter(|(found, _)| *found <= Found::LikeAlias)
            });
        }
    }

    /// Names that begin so, or have all the words.
    fn begun(&self, matches: &mut Matches<'_>, limit: usize) {
        let Some((last, rest)) = matches.wanted.words.split_last() else { return };
        let mut begun = self.part.beginning(last);
        if begun.len() > BEGINNINGS {
            begun.sort_by_cached_key(|word| self.part.first(word));
            begun.truncate(BEGINNINGS);
        }
        let begun = union(begun.iter().map(|word| self.part.list(word)).collect());
        let all = if rest.is_empty() { begun } else { intersection(vec![self.with_all(rest), begun]) };
        let (mut prefixes, before) = (0, matches.found.len());
        for number in all.into_iter().take(LOOKED_AT) {
            let found = matches.name(self.labels.text(number).0, self.place, Wanted::nearness);
            prefixes += usize::from(found == Some(Found::Prefix));
            // Those that begin so come first, whatever else is found; of them those that are known best are found first.
            if prefixes >= limit && matches.found.len() - before >= limit {
                break;
            }
        }
    }

    /// Names whose words are nearly those that were asked for.
    fn misspelt(&self, matches: &mut Matches<'_>) {
        let mut lists = Vec::new();
        for word in &matches.wanted.words {
            let letters = word.chars().count();
            let slips = SLIPS.iter().filter(|from| letters >= **from).count() as u8;
            let near = if slips > 0 { self.part.near(word, slips) } else { Vec::new() };
            let near = near.iter().map(|word| self.part.list(word));
            lists.push(union(near.chain([self.part.texts(word)]).collect()));
        }
        let count = matches.wanted.words.len();
        for number in intersection(lists).into_iter().take(LOOKED_AT) {
            let (literal, own) = self.labels.text(number);
            if own == count {
                matches.name(literal, self.place, |_, _| Some((Found::Near, Found::Near)));
            }
        }
    }

    /// Descriptions that have all the words.
    fn described(&self, matches: &mut Matches<'_>, limit: usize) {
        let all = self.with_all(&matches.wanted.words);
        for number in all.into_iter().take(limit) {
            matches.description(self.labels.text(number).0, self.place);
        }
    }
}

/// What all of some ascending lists have.
fn intersection(mut lists: Vec<Vec<u32>>) -> Vec<u32> {
    lists.sort_by_key(Vec::len);
    let mut lists = lists.into_iter();
    let mut common = lists.next().unwrap_or_default();
    for list in lists {
        budget::checkpoints(common.len() >> 4);
        let mut from = 0;
        common.retain(|number| {
            from += list.get(from..).unwrap_or_default().partition_point(|other| other < number);
            list.get(from) == Some(number)
        });
    }
    common
}

/// What any of some lists has.
fn union(lists: Vec<Vec<u32>>) -> Vec<u32> {
    let mut all = lists.concat();
    budget::checkpoints(all.len() >> 4);
    all.sort_unstable();
    all.dedup();
    all
}

impl<'a> Matches<'a> {
    fn new(store: &'a Store, kind: EntityKind, text: &str) -> Matches<'a> {
        let id = |predicate: &&str| store.id(NamedNodeRef::new_unchecked(predicate).into());
        let mut names = [None; 3];
        for (place, predicate) in names.iter_mut().zip(Said::Name.predicates()) {
            *place = id(predicate);
        }
        Matches {
            store,
            kind,
            names,
            description: Said::Description.predicates().first().and_then(|predicate| id(predicate)),
            wanted: Wanted { text: text.to_owned(), words: words(text) },
            found: FxHashMap::default(),
        }
    }

    /// The entity whose identifier or IRI a text is.
    fn by_id(&mut self, text: &str) {
        let text = text.strip_prefix("wd:").unwrap_or(text);
        let Some(id) = EntityId::parse(text).or_else(|| EntityId::of_iri(text)).filter(|id| id.kind == self.kind) else {
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
            self.found.insert(id, ((Found::Id, 0, 0), found));
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
            self.take(predicate, literal, &value, (found, slips, place), is_label);
        }
        Some(as_label)
    }

    /// Takes a description in for the entities that have it.
    pub(super) fn description(&mut self, literal: TermId, place: usize) {
        budget::checkpoints(8);
        let (Some(predicate), Some(Term::Literal(value))) = (self.description, self.store.term(literal)) else { return };
        self.take(predicate, literal, &value, (Found::Description, 0, place), false);
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

    fn ranked(self, limit: usize) -> Vec<Match> {
        let mut all: Vec<(Nearness, Match)> = self.found.into_values().collect();
        all.sort_unstable_by_key(|((found, slips, place), one)| (*found, *slips, *place, Reverse(one.fame), one.id));
        all.truncate(limit);
        all.into_iter().map(|(_, one)| one).collect()
    }
}
