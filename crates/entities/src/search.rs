//! Finding entities by what they are called.
//!
//! The index leads from words to texts, those of the best known entities first. Of texts that have the words some are
//! looked at: those that have as many words first, then as many of the others as a limit asks for. What a text is of, the
//! triples tell.

use terrapin_budget as budget;
use terrapin_triples::{Labels, Part, Said, Store};

use super::matches::{Found, Languages, Match, Matches, Search, Wanted};
use super::scan;

/// Texts of a kind that are looked at, at most, in a language.
const LOOKED_AT: usize = 1024;
/// Words with the same beginning whose texts are looked at, those of the best known entities.
const BEGINNINGS: usize = 512;
/// Letters of a word from which on it may have one slip, and two.
const SLIPS: [usize; 2] = [4, 8];

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
        if matches.len() < search.limit {
            Lists { labels, part: part(language), place }.begun(matches, search.limit);
        }
    }
    for (place, language) in names.iter().enumerate() {
        if matches.len() == 0 || search.slips && matches.len() < search.limit {
            Lists { labels, part: part(language), place }.misspelt(matches);
        }
    }
    if search.descriptions {
        for (place, language) in languages(Said::Description).iter().enumerate() {
            if matches.len() < search.limit {
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
        let (mut prefixes, before) = (0, matches.len());
        for number in all.into_iter().take(LOOKED_AT) {
            let found = matches.name(self.labels.text(number).0, self.place, Wanted::nearness);
            prefixes += usize::from(found == Some(Found::Prefix));
            // Those that begin so come first, whatever else is found; of them those that are known best are found first.
            if prefixes >= limit && matches.len() - before >= limit {
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
