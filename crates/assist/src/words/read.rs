//! Reads a text from left to right: at each position the first rule that matches takes its words. Words that no rule
//! takes are kept and reported.

use terrapin_budget as budget;
use terrapin_engine::Engine;

use super::choices::{TagChoice, TagChooser};
use super::items::ItemFinder;
use super::place::PlaceFinder;
use super::request::{ElementGroup, ElementTypes, Filter, ItemRequest, Scope, WordsRequest};
use super::tables::{AND, COUNT, FILLER, NAMED, NEAR, VIEW, WITH, WITHOUT, WORLD};
use super::text::{Token, TokenKind, tokens};
use super::wizard::{ConditionSpan, WizardCondition, WizardReader, groups};
use super::{UnknownWords, WordsChoice, WordsPart, WordsPartKind};

/// The most words of a thing.
const WORDS_OF_THING: usize = 6;

/// The result of reading.
pub struct Reading {
    pub request: WordsRequest,
    pub parts: Vec<WordsPart>,
    pub unknown: Vec<UnknownWords>,
    /// Whether items of Wikidata fit better than elements.
    pub items_first: bool,
}

/// Reads a text.
pub struct Reader<'a> {
    pub(super) text: Vec<char>,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    pub(super) chooser: TagChooser<'a>,
    pub(super) places: PlaceFinder<'a>,
    pub(super) items: Option<ItemFinder<'a>>,
    pub(super) request: WordsRequest,
    pub(super) parts: Vec<WordsPart>,
    /// Positions of tokens without a meaning.
    pub(super) pending: Vec<usize>,
    pub(super) unknown: Vec<UnknownWords>,
    /// The tags of the first thing.
    pub(super) first_tags: Vec<(String, String)>,
    /// Whether a condition has a property but no key of elements.
    pub(super) items_first: bool,
    /// Whether the last token joins things.
    joined: bool,
}

impl<'a> Reader<'a> {
    /// Returns `None` if the built-in phrases are damaged.
    pub fn new(engine: &'a Engine, text: &str, language: &str) -> Option<Reader<'a>> {
        Some(Reader {
            text: text.chars().collect(),
            tokens: tokens(text),
            at: 0,
            chooser: TagChooser::new(engine, language)?,
            places: PlaceFinder::new(engine, language),
            items: ItemFinder::new(engine, language),
            request: WordsRequest::default(),
            parts: Vec::new(),
            pending: Vec::new(),
            unknown: Vec::new(),
            first_tags: Vec::new(),
            items_first: false,
            joined: false,
        })
    }

    /// Reads the whole text.
    pub fn read(mut self) -> Reading {
        self.wizard();
        while self.at < self.tokens.len() {
            budget::checkpoint();
            let before = self.at;
            let joined = std::mem::take(&mut self.joined);
            if !self.step(joined) {
                self.pending.push(self.at);
                self.at += 1;
            }
            debug_assert!(self.at > before);
        }
        self.adjectives();
        self.report();
        self.parts.sort_by_key(|part| part.start);
        Reading { request: self.request, parts: self.parts, unknown: self.unknown, items_first: self.items_first }
    }

    /// Takes the tokens of the first rule that matches; returns whether one did.
    fn step(&mut self, joined: bool) -> bool {
        if self.connective() {
            return true;
        }
        self.condition(joined)
            || self.count()
            || self.view()
            || self.surroundings()
            || self.edits()
            || self.without()
            || self.named()
            || self.comparison()
            || self.with()
            || self.place()
            || self.thing(2)
            || self.types()
            || self.key_condition()
            || self.thing(1)
            || self.filler()
            || self.bare_place()
    }

    /// Returns the token at a position.
    pub(super) fn token(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    /// Returns the folded text of a token; empty after the last and for quoted texts.
    pub(super) fn folded(&self, at: usize) -> &str {
        self.tokens.get(at).filter(|token| token.kind != TokenKind::Quoted).map_or("", |token| token.folded.as_str())
    }

    /// Returns the number of tokens of the longest phrase of a table at a position.
    pub(super) fn phrase(&self, at: usize, table: &[&str]) -> Option<usize> {
        let fits = |phrase: &&str| {
            let mut count = 0;
            for word in phrase.split(' ') {
                if self.folded(at + count) != word {
                    return None;
                }
                count += 1;
            }
            Some(count)
        };
        table.iter().filter_map(fits).max()
    }

    /// Returns the text from one token to before another.
    pub(super) fn text_of(&self, from: usize, to: usize) -> String {
        let (Some(first), Some(last)) = (self.tokens.get(from), self.tokens.get(to.wrapping_sub(1))) else {
            return String::new();
        };
        if from + 1 == to && first.kind == TokenKind::Quoted {
            return first.text.clone();
        }
        self.text.get(first.start..last.end).unwrap_or_default().iter().collect()
    }

    /// Returns the folded words from one token to before another, with single spaces.
    pub(super) fn folded_of(&self, from: usize, to: usize) -> String {
        let words: Vec<&str> = self.tokens.iter().take(to).skip(from).map(|token| token.folded.as_str()).collect();
        words.join(" ")
    }

    /// Adds a part. `words` of its choices replace the tokens from `named` on.
    pub(super) fn add(
        &mut self,
        kind: WordsPartKind,
        from: usize,
        named: usize,
        to: usize,
        mut choices: Vec<WordsChoice>,
    ) {
        if choices.is_empty() {
            return;
        }
        let chosen = choices.remove(0);
        let position =
            |at: usize, end: bool| self.tokens.get(at).map_or(0, |token| if end { token.end } else { token.start });
        let (start, end) = (position(from, false), position(to.saturating_sub(1), true));
        let text = self.text.get(start..end).unwrap_or_default().iter().collect();
        let replaces = [position(named, false), end];
        self.parts.push(WordsPart { start, end, text, kind, chosen, alternatives: choices, replaces });
    }

    /// Adds a part that has one meaning.
    pub(super) fn add_plain(&mut self, kind: WordsPartKind, from: usize, to: usize, label: impl Into<String>) {
        let words = self.text_of(from, to);
        let choice = WordsChoice { label: label.into(), words, tags: None, id: None, count: None };
        self.add(kind, from, from, to, vec![choice]);
    }

    /// Reads conditions of the wizard from the start, if the text has any there.
    fn wizard(&mut self) {
        let tokens = self.tokens.clone();
        let mut reader = WizardReader::new(&tokens, 0);
        if !reader.is_condition(0) {
            return;
        }
        match reader.alternatives().and_then(groups) {
            Ok(found) => {
                self.at = reader.at();
                for ConditionSpan { from, to, condition } in reader.spans {
                    self.add_condition(from, to, &condition);
                }
                self.first_tags = found.first().map(tags_of).unwrap_or_default();
                self.request.groups = found;
            }
            Err(reason) => {
                let (start, end) = (0, self.text.len());
                let text = self.text.iter().collect();
                self.unknown.push(UnknownWords { start, end, text, reason });
                self.at = self.tokens.len();
            }
        }
    }

    fn add_condition(&mut self, from: usize, to: usize, condition: &WizardCondition) {
        let (kind, tags) = match condition {
            WizardCondition::Types(_) => (WordsPartKind::Type, None),
            WizardCondition::Filter(Filter::Is(key, value)) => {
                (WordsPartKind::Thing, Some(vec![(key.clone(), value.clone())]))
            }
            WizardCondition::Filter(Filter::Has(key)) => {
                (WordsPartKind::Thing, Some(vec![(key.clone(), "*".to_owned())]))
            }
            WizardCondition::Filter(_) => (WordsPartKind::Condition, None),
        };
        let words = self.text_of(from, to);
        let count = tags.as_ref().map(|tags| self.chooser.count(tags));
        let choice =
            WordsChoice { label: words.clone(), words: words.clone(), tags: tags.map(|_| words), id: None, count };
        self.add(kind, from, from, to, vec![choice]);
    }

    /// A condition of the wizard in the middle of a text: a new thing after `and` or `or`, otherwise a condition.
    fn condition(&mut self, joined: bool) -> bool {
        let tokens = self.tokens.clone();
        let mut reader = WizardReader::new(&tokens, self.at);
        if !reader.is_condition(self.at) {
            return false;
        }
        let Ok(found) = reader.alternatives().and_then(groups) else { return false };
        self.at = reader.at();
        for ConditionSpan { from, to, condition } in reader.spans {
            self.add_condition(from, to, &condition);
        }
        match &found[..] {
            [one] if !self.request.groups.is_empty() && !joined => {
                self.request.filters.extend(one.filters.iter().cloned());
                if one.types != ElementTypes::All {
                    self.request.types = Some(one.types);
                }
            }
            _ => self.request.groups.extend(found),
        }
        true
    }

    /// Returns the next position and the elements of conditions of the wizard at a position.
    pub(super) fn condition_at(&self, at: usize) -> Option<(usize, ElementGroup)> {
        let mut reader = WizardReader::new(&self.tokens, at);
        if !reader.is_condition(at) {
            return None;
        }
        let found = reader.alternatives().and_then(groups).ok()?;
        Some((reader.at(), found.into_iter().next()?))
    }

    fn connective(&mut self) -> bool {
        let Some(token) = self.token(self.at) else { return false };
        if token.kind == TokenKind::Punctuation || ["(", ")"].contains(&self.folded(self.at)) {
            self.at += 1;
            self.joined = true;
            return true;
        }
        let Some(count) = self.phrase(self.at, AND) else { return false };
        if self.phrase(self.at, WITHOUT).is_some_and(|longer| longer > count) {
            return false;
        }
        self.at += count;
        self.joined = true;
        true
    }

    fn count(&mut self) -> bool {
        let Some(count) = self.phrase(self.at, COUNT) else { return false };
        self.request.is_count = true;
        self.add_plain(WordsPartKind::Count, self.at, self.at + count, "number of results");
        self.at += count;
        true
    }

    fn types(&mut self) -> bool {
        let Some(types) = ElementTypes::named(self.folded(self.at)) else { return false };
        let (from, mut to, mut all) = (self.at, self.at + 1, types);
        let joins = |word: &str| ["and", "or", ","].contains(&word);
        while joins(self.folded(to)) {
            let step = if self.folded(to) == "," && joins(self.folded(to + 1)) { 2 } else { 1 };
            let Some(next) = ElementTypes::named(self.folded(to + step)) else { break };
            all = match (all, next) {
                (ElementTypes::Nodes, ElementTypes::Ways) | (ElementTypes::Ways, ElementTypes::Nodes) => {
                    ElementTypes::NodesAndWays
                }
                (one, other) if one == other => one,
                _ => ElementTypes::All,
            };
            to += step + 1;
        }
        self.request.types = Some(all);
        self.add_plain(WordsPartKind::Type, from, to, format!("{} only", all.name()));
        self.at = to;
        true
    }

    fn filler(&mut self) -> bool {
        let Some(count) = self.phrase(self.at, FILLER) else { return false };
        self.at += count;
        true
    }

    /// Returns the end of the words that may belong to one phrase at a position.
    pub(super) fn phrase_end(&self, from: usize, most: usize) -> usize {
        let mut end = from;
        while end < self.tokens.len() && end - from < most {
            let is_stop =
                end > from && [WITH, WITHOUT, NEAR, NAMED].iter().any(|table| self.phrase(end, table).is_some());
            if !self.tokens.get(end).is_some_and(Token::is_word) || is_stop {
                break;
            }
            end += 1;
        }
        end
    }

    /// Returns the longest thing at a position: its end and its meanings.
    pub(super) fn thing_at(&self, from: usize, least: usize) -> Option<(usize, Vec<TagChoice>)> {
        let end = self.phrase_end(from, WORDS_OF_THING);
        let mut unseen = None;
        for to in (from + least..=end).rev() {
            let found = self.chooser.things(&self.folded_of(from, to));
            match found.first() {
                Some(best) if best.count > 0 => return Some((to, found)),
                Some(_) if unseen.is_none() => unseen = Some((to, found)),
                _ => {}
            }
        }
        // Things that this snapshot does not have: the longest phrase is meant.
        unseen
    }

    fn thing(&mut self, least: usize) -> bool {
        let from = self.at;
        if !self.token(from).is_some_and(Token::is_word) {
            return false;
        }
        if least == 1 && (self.phrase(from, FILLER).is_some() || self.folded(from).chars().all(|c| c.is_ascii_digit()))
        {
            return false;
        }
        let Some((to, found)) = self.thing_at(from, least) else { return least == 1 && self.class_only(from) };
        self.at = to;
        self.add_thing(from, to, &found);
        true
    }

    fn add_thing(&mut self, from: usize, to: usize, found: &[TagChoice]) {
        let Some(best) = found.first() else { return };
        let mut choices: Vec<WordsChoice> = found.iter().map(as_choice).collect();
        if self.request.items.is_none() {
            let classes = self.classes(from, to);
            if let Some(class) = classes.first() {
                let class = class.id.clone().unwrap_or_default();
                self.request.items = Some(ItemRequest { class, ..ItemRequest::default() });
                self.items_first |= best.count == 0;
            }
            choices.extend(classes);
        }
        if self.first_tags.is_empty() {
            self.first_tags.clone_from(&best.tags);
        }
        self.request.groups.push(ElementGroup { types: best.types, filters: best.filters() });
        self.add(WordsPartKind::Thing, from, from, to, choices);
    }

    /// A class of Wikidata without tags, such as `Q515` or `sovereign states`.
    fn class_only(&mut self, from: usize) -> bool {
        if self.request.items.is_some() || self.items.is_none() {
            return false;
        }
        let end = self.phrase_end(from, WORDS_OF_THING);
        for to in (from + 1..=end).rev() {
            let classes = self.classes(from, to);
            let Some(class) = classes.first().and_then(|class| class.id.clone()) else { continue };
            self.request.items = Some(ItemRequest { class, ..ItemRequest::default() });
            self.items_first = true;
            self.add(WordsPartKind::Thing, from, from, to, classes);
            self.at = to;
            return true;
        }
        false
    }

    fn classes(&self, from: usize, to: usize) -> Vec<WordsChoice> {
        let Some(items) = &self.items else { return Vec::new() };
        let text = self.text_of(from, to);
        let mut texts = vec![text.clone()];
        if let Some(stem) = text.strip_suffix("ies") {
            texts.push(format!("{stem}y"));
        }
        if let Some(stem) = text.strip_suffix("es") {
            texts.push(stem.to_owned());
        }
        if let Some(stem) = text.strip_suffix('s') {
            texts.push(stem.to_owned());
        }
        texts.iter().map(|text| items.classes(text)).find(|found| !found.is_empty()).unwrap_or_default()
    }

    /// Gives words without a meaning that of an adjective: `italian restaurants`.
    fn adjectives(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let mut left: Vec<usize> = Vec::new();
        let mut at = 0;
        while let Some(&first) = pending.get(at) {
            let mut taken = 0;
            for count in (1..=3).rev() {
                let is_run = (0..count).all(|step| pending.get(at + step) == Some(&(first + step)));
                if !is_run || self.first_tags.is_empty() {
                    continue;
                }
                let found = self.chooser.adjectives(&self.folded_of(first, first + count), &self.first_tags);
                let Some(best) = found.first() else { continue };
                self.request.filters.extend(best.filters());
                let choices = found.iter().map(as_choice).collect();
                self.add(WordsPartKind::Condition, first, first, first + count, choices);
                taken = count;
                break;
            }
            if taken == 0 {
                left.push(first);
                taken = 1;
            }
            at += taken;
        }
        self.pending = left;
        self.searched();
    }

    /// Searches the tags for the words without a meaning, if nothing else names things.
    fn searched(&mut self) {
        let has_things =
            !self.request.groups.is_empty() || !self.request.filters.is_empty() || self.request.items.is_some();
        let (Some(&first), Some(&last)) = (self.pending.first(), self.pending.last()) else { return };
        if has_things || last - first >= WORDS_OF_THING {
            return;
        }
        let found = self.chooser.searched(&self.folded_of(first, last + 1));
        if !found.is_empty() {
            self.add_thing(first, last + 1, &found);
            self.pending.clear();
        }
    }

    /// Reports the words without a meaning, neighbours together.
    fn report(&mut self) {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for &at in &self.pending {
            match spans.last_mut() {
                Some((_, end)) if *end == at => *end = at + 1,
                _ => spans.push((at, at + 1)),
            }
        }
        for (from, to) in spans {
            self.unknown_part(from, to, "no tag, place or condition of this snapshot has this name");
        }
        self.unknown.sort_by_key(|unknown| unknown.start);
    }

    /// Adds a part without a meaning.
    pub(super) fn unknown_part(&mut self, from: usize, to: usize, reason: &str) {
        let (Some(first), Some(last)) = (self.tokens.get(from), self.tokens.get(to.saturating_sub(1))) else { return };
        let (start, end) = (first.start, last.end);
        let text = self.text.get(start..end).unwrap_or_default().iter().collect();
        self.unknown.push(UnknownWords { start, end, text, reason: reason.to_owned() });
    }

    /// The view or the world.
    fn view(&mut self) -> bool {
        let lead = self.phrase(self.at, super::tables::IN).unwrap_or(0);
        let start = self.at + lead;
        if lead == 0 && !["here", "global", "globally", "worldwide"].contains(&self.folded(start)) {
            return false;
        }
        let (scope, label, count) = match (self.phrase(start, VIEW), self.phrase(start, WORLD)) {
            (Some(count), _) => (Scope::View, "the view of the map", count),
            (None, Some(count)) => (Scope::World, "everywhere", count),
            (None, None) => return false,
        };
        self.add_plain(WordsPartKind::View, self.at, start + count, label);
        self.request.scope = scope;
        self.at = start + count;
        true
    }
}

/// Returns a meaning for a chip.
pub fn as_choice(choice: &TagChoice) -> WordsChoice {
    WordsChoice {
        label: choice.label.clone(),
        words: choice.words(),
        tags: Some(choice.words()),
        id: None,
        count: Some(choice.count),
    }
}

fn tags_of(group: &ElementGroup) -> Vec<(String, String)> {
    let tag = |filter: &Filter| match filter {
        Filter::Is(key, value) => Some((key.clone(), value.clone())),
        Filter::Has(key) => Some((key.clone(), "*".to_owned())),
        _ => None,
    };
    group.filters.iter().filter_map(tag).collect()
}
