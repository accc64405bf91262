//! Search for entities by name.
//!
//! The index maps words to texts; texts of the best known entities come first. Of the texts with all words, those with
//! the same number of words are examined first, then others up to the limit. The entities of a text are looked up in
//! the triples.

use terrapin_budget as budget;
use terrapin_triples::{LabelIndex, LabelPartition, Store, TextRole};

use super::matches::{EntityMatch, EntityQuery, Languages, MatchKind, Matches, SearchWords};
use super::scan;

/// Maximum number of texts of a kind to examine in a language.
const LOOKED_AT: usize = 1024;
/// Maximum number of words with the same prefix to examine: those of the best known entities.
const BEGINNINGS: usize = 512;
/// Minimum length in characters of a word with one and with two misspelled letters.
const SLIPS: [usize; 2] = [4, 8];

/// Returns the entities that match a search, best first: by kind of match, then by how well known they are, then by
/// number.
pub fn find(store: &Store, search: &EntityQuery<'_>) -> Vec<EntityMatch> {
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

fn by_index(matches: &mut Matches<'_>, labels: &LabelIndex, search: &EntityQuery<'_>) {
    let languages = |said| match search.languages {
        Languages::These(all) => all.to_vec(),
        Languages::All => labels.languages(search.kind, said),
    };
    let names = languages(TextRole::Name);
    let part = |language: &String| labels.part(search.kind, TextRole::Name, language);
    for (place, language) in names.iter().enumerate() {
        LanguagePostings { labels, part: part(language), place }.whole(matches);
    }
    // Prefix matches rank below full matches; they are skipped if those suffice.
    for (place, language) in names.iter().enumerate() {
        if matches.len() < search.limit {
            LanguagePostings { labels, part: part(language), place }.begun(matches, search.limit);
        }
    }
    for (place, language) in names.iter().enumerate() {
        if matches.len() == 0 || search.slips && matches.len() < search.limit {
            LanguagePostings { labels, part: part(language), place }.misspelt(matches);
        }
    }
    if search.descriptions {
        for (place, language) in languages(TextRole::Description).iter().enumerate() {
            if matches.len() < search.limit {
                let part = labels.part(search.kind, TextRole::Description, language);
                LanguagePostings { labels, part, place }.described(matches, search.limit);
            }
        }
    }
}

/// The posting lists of one language, with its position among the languages of the search.
struct LanguagePostings<'a> {
    labels: &'a LabelIndex,
    part: LabelPartition<'a>,
    place: usize,
}

impl LanguagePostings<'_> {
    /// Returns the texts that contain all words.
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

    /// Adds names equal to the search text.
    fn whole(&self, matches: &mut Matches<'_>) {
        let count = matches.wanted.words.len();
        let all = self.with_all(&matches.wanted.words);
        budget::checkpoints(all.len());
        let same = all.into_iter().map(|number| self.labels.text(number)).filter(|(_, words)| *words == count.min(31));
        for (literal, _) in same.take(LOOKED_AT) {
            matches.name(literal, self.place, |wanted, text| {
                wanted.nearness(text).filter(|(found, _)| *found <= MatchKind::LikeAlias)
            });
        }
    }

    /// Adds names that begin with the search text or contain all its words.
    fn begun(&self, matches: &mut Matches<'_>, limit: usize) {
        let Some((last, rest)) = matches.wanted.words.split_last() else { return };
        let mut begun = self.part.beginning(last);
        if begun.len() > BEGINNINGS {
            begun.sort_by_cached_key(|word| self.part.first(word));
            begun.truncate(BEGINNINGS);
        }
        let begun = union(begun.iter().map(|word| self.part.list(word)).collect());
        let all = if rest.is_empty() { begun } else { intersection(vec![self.with_all(rest), begun]) };
        let (mut prefixes, before) = (0, matches.len());
        for number in all.into_iter().take(LOOKED_AT) {
            let found = matches.name(self.labels.text(number).0, self.place, SearchWords::nearness);
            prefixes += usize::from(found == Some(MatchKind::Prefix));
            // Prefix matches rank first. Texts are in order of how well known their entities are, so the loop can stop
            // early.
            if prefixes >= limit && matches.len() - before >= limit {
                break;
            }
        }
    }

    /// Adds names with misspelled variants of the words.
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
                matches.name(literal, self.place, |_, _| Some((MatchKind::Near, MatchKind::Near)));
            }
        }
    }

    /// Adds descriptions that contain all words.
    fn described(&self, matches: &mut Matches<'_>, limit: usize) {
        let all = self.with_all(&matches.wanted.words);
        for number in all.into_iter().take(limit) {
            matches.description(self.labels.text(number).0, self.place);
        }
    }
}

/// Returns the intersection of ascending lists.
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

/// Returns the union of lists.
fn union(lists: Vec<Vec<u32>>) -> Vec<u32> {
    let mut all = lists.concat();
    budget::checkpoints(all.len() >> 4);
    all.sort_unstable();
    all.dedup();
    all
}
