//! Places, surroundings and distances.

use super::place::FoundPlace;
use super::read::{Reader, as_choice};
use super::request::{ElementGroup, Near, Scope};
use super::tables::{IN, NEAR, UNITS};
use super::text::TokenKind;
use super::{WordsChoice, WordsPartKind};

/// Metres of `near` and `around` without a distance, as in Overpass Turbo's wizard.
const AROUND: f64 = 1000.0;
/// Words of [`IN`] that are mostly something else: a place after them must have exactly this name.
const WEAK: &[&str] = &["of", "at", "no", "na", "w", "en", "em", "um", "au", "throughout"];
const ARTICLES: &[&str] = &["a", "an", "any", "the", "some", "einer", "einem", "une", "un", "una", "uno"];
/// Words before the name of a place.
const KINDS_OF_PLACE: &[&str] = &[
    "area of",
    "area",
    "city of",
    "town of",
    "island of",
    "islands of",
    "island",
    "islands",
    "region of",
    "municipality of",
    "district of",
    "province of",
];
/// The most words of a name.
const WORDS_OF_NAME: usize = 8;

impl Reader<'_> {
    /// Returns metres and the next position of a distance such as `500 m` or `1 km`.
    pub(super) fn distance(&self, at: usize) -> Option<(f64, usize)> {
        let value = self.token(at)?.number()?;
        let (_, factor) = UNITS.iter().find(|(unit, _)| self.folded(at + 1) == *unit)?;
        Some((value * factor, at + 2))
    }

    /// `near X`, `within 500 m of X`, `in a 5 km radius around X`, `1000 meters around X`.
    pub(super) fn surroundings(&mut self) -> bool {
        let from = self.at;
        let mut at = from;
        if let Some(count) = self.phrase(at, IN) {
            at += count;
        }
        if ["a", "an", "the"].contains(&self.folded(at)) {
            at += 1;
        }
        let (metres, target) = match self.distance(at) {
            Some((metres, mut next)) => {
                if ["radius", "distance", "away"].contains(&self.folded(next)) {
                    next += 1;
                }
                let Some(count) =
                    self.phrase(next, &["of", "from", "around", "to", "near", "von", "de", "da", "di", "around the"])
                else {
                    return false;
                };
                (metres, next + count)
            }
            None => match self.phrase(from, NEAR) {
                Some(count) => (AROUND, from + count),
                None => return false,
            },
        };
        self.near(from, target, metres)
    }

    fn near(&mut self, from: usize, target: usize, metres: f64) -> bool {
        let label = |name: &str| format!("at most {} m from {name}", super::overpass::number(metres));
        if let Some((lat, lon, to)) = self.coordinates(target) {
            self.add_plain(WordsPartKind::Near, from, to, label(&format!("{lat}, {lon}")));
            self.request.near = Some(Near::Point(lat, lon, metres));
            self.at = to;
            return true;
        }
        let start = if ARTICLES.contains(&self.folded(target)) { target + 1 } else { target };
        if let Some((to, group)) = self.condition_at(start) {
            self.request.near = Some(Near::Things(vec![group], metres));
            self.add_plain(WordsPartKind::Near, from, to, label(&self.text_of(start, to)));
            self.at = to;
            return true;
        }
        let has_article = ARTICLES.contains(&self.folded(target)) && self.folded(target) != "the";
        let is_capital = self.token(start).is_some_and(|token| token.is_capital() || token.kind == TokenKind::Quoted);
        if (!is_capital || has_article)
            && let Some((to, found)) =
                self.thing_at(start, 1).filter(|(_, found)| found.iter().any(|one| one.count > 0))
        {
            let Some(best) = found.first() else { return false };
            let group = ElementGroup { types: best.types, filters: best.filters() };
            self.request.near = Some(Near::Things(vec![group], metres));
            let mut choices: Vec<WordsChoice> = found.iter().map(as_choice).collect();
            for choice in &mut choices {
                choice.label = label(&choice.label);
            }
            self.add(WordsPartKind::Near, from, start, to, choices);
            self.at = to;
            return true;
        }
        let Some((to, found)) = self.place_at(start, false, false) else {
            if self.token(start).is_none() {
                return false;
            }
            let to = self.phrase_end(start, WORDS_OF_NAME).max(start + 1);
            self.unknown_part(from, to, "no place or thing of this snapshot has this name");
            self.at = to;
            return true;
        };
        let Some(best) = found.first() else { return false };
        self.request.near = Some(Near::Place(best.place.clone(), metres));
        let mut choices: Vec<WordsChoice> = found.iter().map(|found| found.choice.clone()).collect();
        for choice in &mut choices {
            choice.label = label(&choice.label);
        }
        self.add(WordsPartKind::Near, from, start, to, choices);
        self.at = to;
        true
    }

    /// Reads `the coordinates 47.3, 8.5` or two numbers.
    fn coordinates(&self, mut at: usize) -> Option<(String, String, usize)> {
        while ["the", "coordinates", "coordinate", "point", "position", "latitude", "lat"].contains(&self.folded(at)) {
            at += 1;
        }
        let number = |at: usize, largest: f64| {
            let token = self.token(at).filter(|token| token.kind == TokenKind::Number && token.text.contains('.'))?;
            let value: f64 = token.text.parse().ok()?;
            (value.abs() <= largest).then(|| token.text.clone())
        };
        let lat = number(at, 90.0)?;
        let mut next = at + 1;
        while [",", "and", "lon", "longitude"].contains(&self.folded(next)) {
            next += 1;
        }
        Some((lat, number(next, 180.0)?, next + 1))
    }

    /// `in X`, also with several places joined by `and`.
    pub(super) fn place(&mut self) -> bool {
        let from = self.at;
        let Some(count) = self.phrase(from, IN) else { return false };
        let is_weak = WEAK.contains(&self.folded(from));
        let start = from + count;
        if let Some((id, to)) = self.area_id(start) {
            self.add_plain(WordsPartKind::Place, from, to, format!("area {id}"));
            self.request.scope = Scope::Area(id);
            self.at = to;
            return true;
        }
        let mut begin = if ARTICLES.contains(&self.folded(start)) { start + 1 } else { start };
        while let Some(count) = self.phrase(begin, KINDS_OF_PLACE) {
            begin += count;
        }
        let Some((to, found)) = self.place_at(start, true, true).or_else(|| self.place_at(begin, true, is_weak)) else {
            let is_name = self.token(begin).is_some_and(|token| token.is_capital() || token.kind == TokenKind::Quoted);
            if !is_weak && is_name {
                let to = self.phrase_end(begin, WORDS_OF_NAME).max(begin + 1);
                self.unknown_part(from, to, "this snapshot has no place with this name");
                self.at = to;
                return true;
            }
            return false;
        };
        self.add_place(from, start, to, &found);
        self.at = to;
        // `in Sliema and Valletta`
        while ["and", "or"].contains(&self.folded(self.at))
            && self.token(self.at + 1).is_some_and(|next| next.is_capital())
        {
            let start = self.at + 1;
            let Some((to, found)) = self.place_at(start, true, true) else { break };
            self.add_place(start, start, to, &found);
            self.at = to;
        }
        true
    }

    fn add_place(&mut self, from: usize, named: usize, to: usize, found: &[FoundPlace]) {
        let Some(best) = found.first() else { return };
        let mut place = best.place.clone();
        if place.item.is_none() {
            let items = self.items.as_ref().map(|items| items.places(&self.text_of(named, to)));
            place.item = items.and_then(|items| items.into_iter().next()?.id);
        }
        match &mut self.request.scope {
            Scope::In(places) if places.contains(&place) => {}
            Scope::In(places) => places.push(place),
            scope => *scope = Scope::In(vec![place]),
        }
        let choices = found.iter().map(|found| found.choice.clone()).collect();
        self.add(WordsPartKind::Place, from, named, to, choices);
    }

    /// Reads `area id 3600365307` and similar.
    fn area_id(&self, mut at: usize) -> Option<(i64, usize)> {
        let mut has_area = false;
        while ["the", "area", "with", "id", "which", "was", "assigned", "number", "of", "osm"]
            .contains(&self.folded(at))
        {
            has_area |= self.folded(at) == "area";
            at += 1;
        }
        let id: i64 = self.token(at)?.text.trim_start_matches("id").parse().ok()?;
        let mut end = at + 1;
        while ["by", "osm", "assigned"].contains(&self.folded(end)) {
            end += 1;
        }
        has_area.then_some((id, end))
    }

    /// Returns the longest place at a position: its end and its meanings.
    pub(super) fn place_at(&self, from: usize, wants_area: bool, is_exact: bool) -> Option<(usize, Vec<FoundPlace>)> {
        let first = self.token(from)?;
        if first.kind == TokenKind::Quoted {
            let found = self.places.places(&first.text, wants_area);
            return (!found.is_empty()).then_some((from + 1, found));
        }
        if let Some(found) = self.places.by_id(&first.text) {
            return Some((from + 1, vec![found]));
        }
        let end = self.name_end(from);
        for to in (from + 1..=end).rev() {
            let name = self.text_of(from, to);
            if self.places.area(&name).is_some() {
                return Some((to, self.places.places(&name, wants_area)));
            }
        }
        if is_exact || end <= from {
            return None;
        }
        let clause = (from..end).find(|at| ["and", "or"].contains(&self.folded(*at))).unwrap_or(end);
        for to in [end, clause] {
            let found = self.places.places(&self.text_of(from, to), wants_area);
            if !found.is_empty() {
                return Some((to, found));
            }
        }
        None
    }

    /// Returns the end of a name: commas and the words of names may be in it.
    fn name_end(&self, from: usize) -> usize {
        let mut end = from;
        while end < self.tokens.len() && end - from < WORDS_OF_NAME {
            let Some(token) = self.token(end) else { break };
            let is_inner = token.is_word() || [",", "-", "."].contains(&token.text.as_str());
            let stops = [
                "that", "which", "where", "whose", "with", "without", "having", "near", "within", "around", "named",
                "called", "over", "under",
            ];
            if !is_inner || end > from && stops.contains(&token.folded.as_str()) {
                break;
            }
            end += 1;
        }
        while end > from && self.token(end - 1).is_some_and(|token| !token.is_word()) {
            end -= 1;
        }
        end
    }

    /// A place without a word before it: `Valletta cafes`.
    pub(super) fn bare_place(&mut self) -> bool {
        let is_name = self.token(self.at).is_some_and(|token| token.is_capital() || token.kind == TokenKind::Quoted);
        if !is_name || self.request.scope != Scope::Unknown {
            return false;
        }
        let from = self.at;
        let Some((to, found)) = self.place_at(from, true, true) else { return false };
        self.add_place(from, from, to, &found);
        self.at = to;
        true
    }
}
