//! One attempt to move a pair in OverpassQL.

use std::collections::BTreeMap;

use terrapin_geocoder::{AreaLookup, PlaceSource, PlaceTable, territory_names};
use terrapin_osm::ElementType;
use terrapin_overpass::syntax::{Tag, Timestamp};

use super::draw::Draw;
use super::edits::{QueryEdit, apply};
use super::geometry::{DegreeBox, Growth, Shift, degrees};
use super::parts::{DateRole, PartKind, QueryParts, tag_text};
use super::places::{OldPlace, PlaceName, escaped, pattern, place_edits, place_names};
use super::question;
use super::target::{Edit, Target, TargetPlace};
use super::{AttemptResult, QuestionState, Replacement, ReplacementKind};
use crate::dataset::GoldPair;

/// From this attempt on, places are large.
const LARGE: u32 = 2;
/// From this attempt on, the first place is the largest, and boxes cover the snapshot.
const LARGEST: u32 = 3;
/// From this attempt on, values that exist are replaced if no element passes all filters of a query.
const VALUES: u32 = 4;
/// Number of places that are large.
const LARGE_PLACES: usize = 6;
/// Maximum number of edits drawn for a user and a date that fit.
const EDITS: usize = 50;
/// Seconds of a day.
const DAY: i64 = 86_400;

/// One attempt.
pub(super) struct Attempt<'a> {
    target: &'a Target<'a>,
    synonyms: Option<&'a PlaceTable>,
    pair: &'a GoldPair,
    parts: &'a QueryParts,
    number: u32,
    draw: Draw,
    question: String,
    replacements: Vec<Replacement>,
    edits: Vec<QueryEdit>,
    state: QuestionState,
    /// The new values of tags, by key and old value.
    values: BTreeMap<(String, String), String>,
    /// The new places.
    places: Vec<(OldPlace, &'a TargetPlace, PlaceName)>,
}

impl<'a> Attempt<'a> {
    pub fn new(
        target: &'a Target<'a>,
        synonyms: Option<&'a PlaceTable>,
        pair: &'a GoldPair,
        parts: &'a QueryParts,
        seed: u64,
        number: u32,
    ) -> Attempt<'a> {
        Attempt {
            target,
            synonyms,
            pair,
            parts,
            number,
            draw: Draw::new(seed, &[&pair.question, &pair.query, &number.to_string()]),
            question: pair.question.clone(),
            replacements: Vec::new(),
            edits: Vec::new(),
            state: QuestionState::Moved,
            values: BTreeMap::new(),
            places: Vec::new(),
        }
    }

    /// Replaces all parts.
    pub fn moved(mut self) -> AttemptResult {
        self.move_places();
        self.move_values();
        let bbox = self.move_coordinates();
        self.move_ids();
        self.move_edits();
        if self.parts.needs_history {
            self.state = self.state.max(QuestionState::Differs);
        }
        let query = apply(&self.pair.query, std::mem::take(&mut self.edits));
        AttemptResult { query, question: self.question, bbox, replacements: self.replacements, state: self.state }
    }

    /// Adds an edit of a part.
    fn edit(&mut self, part: usize, text: String) {
        if let Some(part) = self.parts.parts.get(part) {
            self.edits.push(QueryEdit { range: part.range.clone(), text });
        }
    }

    /// Records a replacement once.
    fn record(&mut self, kind: ReplacementKind, old: &str, new: &str, in_question: Option<bool>) {
        let record = Replacement { kind, old: old.to_owned(), new: new.to_owned(), in_question };
        let is_known = self.replacements.iter().any(|known| known.kind == kind && known.old == old && known.new == new);
        if !is_known {
            self.replacements.push(record);
        }
    }

    /// Replaces the first of some texts that the question has. Returns whether it has one.
    fn in_question(&mut self, olds: &[String], new: &str) -> bool {
        let found = olds.iter().find_map(|old| question::replaced(&self.question, old, new));
        let is_found = found.is_some();
        if let Some(changed) = found {
            self.question = changed;
        }
        is_found
    }

    // ---- places

    fn move_places(&mut self) {
        let old = place_names(self.parts);
        let missing: Vec<OldPlace> = old.iter().filter(|place| !self.exists(place)).cloned().collect();
        for (index, place) in missing.iter().enumerate() {
            let Some(new) = self.place_for(place, index, missing.len()) else {
                self.record(ReplacementKind::Place, &place.text(), "", Some(false));
                self.state = self.state.max(QuestionState::PlaceNotFound);
                continue;
            };
            let name = PlaceName {
                shortcut: new.name.clone(),
                name: new.name.clone(),
                others: new.others.clone(),
                admin_level: new.admin_level.clone(),
                area: Some(new.area),
                relation: Some(new.relation),
            };
            self.places.push((place.clone(), new, name));
        }
        for index in 0..self.places.len() {
            self.place_in_question(index, missing.len());
        }
        let places = std::mem::take(&mut self.places);
        let find = |old: &OldPlace| places.iter().find(|(known, ..)| known == old).map(|(.., name)| name);
        self.edits.extend(place_edits(self.parts, &find));
        self.places = places;
    }

    /// Returns whether the snapshot has a place of a query.
    fn exists(&self, place: &OldPlace) -> bool {
        match place {
            OldPlace::Area(id) => self.target.has_area(*id),
            OldPlace::Relation(id) => self.target.osm.find(ElementType::Relation, *id).is_some(),
            OldPlace::Name(name) => {
                let lookup = AreaLookup::new(self.target.osm);
                let by_name = lookup.find(name).is_some_and(|found| found.element.value().is_some());
                by_name || self.has_code(name)
            }
        }
    }

    /// Returns whether a relation has the code that identifies a place.
    fn has_code(&self, code: &str) -> bool {
        self.parts.parts.iter().any(|part| match &part.kind {
            PartKind::Place { key, value, is_pattern: false, .. } if value == code => {
                let pair = self.target.osm.pair(key, value);
                pair.is_some_and(|pair| self.target.osm.posting_len(ElementType::Relation, pair) > 0)
            }
            _ => false,
        })
    }

    /// Draws a place that no other name has. The first of several is the largest, so that the others are inside.
    fn place_for(&mut self, old: &OldPlace, index: usize, count: usize) -> Option<&'a TargetPlace> {
        let target = self.target;
        let is_free = |place: &&TargetPlace| self.places.iter().all(|(_, used, _)| used.relation != place.relation);
        let free: Vec<&'a TargetPlace> = target.places.iter().filter(is_free).collect();
        if self.number >= LARGEST || index == 0 && count > 1 {
            return free.first().copied().or_else(|| target.places.first());
        }
        let level = self.parts.parts.iter().find_map(|part| match &part.kind {
            PartKind::Place { query, key, value, .. } if key == "admin_level" => {
                let group = super::places::groups(self.parts);
                (OldPlace::Name(group.get(query)?.clone()) == *old).then(|| value.clone())
            }
            _ => None,
        });
        let of_level: Vec<&TargetPlace> =
            free.iter().copied().filter(|place| level.is_some() && place.admin_level == level).collect();
        let mut from = if of_level.is_empty() { free } else { of_level };
        if self.number >= LARGE {
            from.truncate(LARGE_PLACES);
        }
        self.draw.pick(&from).copied().or_else(|| target.places.first())
    }

    /// Replaces a place in the question.
    fn place_in_question(&mut self, index: usize, count: usize) {
        let Some((old, new, _)) = self.places.get(index) else { return };
        let (old, new) = (old.clone(), new.english.clone());
        let is_named = self.in_question(&self.names_of(&old), &new);
        self.question = question::without_country(&self.question, &new);
        let text = old.text();
        if !is_named && !self.question.is_empty() {
            // The only name that can be the place, if the query has only one.
            let values: Vec<&str> =
                self.parts.queries.iter().flat_map(|query| &query.tags).filter_map(value_of).collect();
            // Alternatives of a regular expression are several places.
            let guess =
                if count == 1 && !text.contains('|') { question::only_place(&self.question, &values) } else { None };
            let guessed = guess.and_then(|guess| question::replaced(&self.question, &guess, &new));
            match guessed {
                Some(question) => {
                    self.question = question::without_country(&question, &new);
                    self.state = self.state.max(QuestionState::Guessed);
                    return self.record(ReplacementKind::Place, &text, &new, Some(true));
                }
                None => self.state = self.state.max(QuestionState::PlaceNotFound),
            }
        }
        self.record(ReplacementKind::Place, &text, &new, Some(is_named));
    }

    /// Returns the names of a place that a question may have: those in the query, in the table of places, and those of
    /// countries and regions.
    fn names_of(&self, place: &OldPlace) -> Vec<String> {
        let mut names = Vec::new();
        if let OldPlace::Name(name) = place {
            names.push(name.clone());
            let short = name.split(',').next().unwrap_or(name).trim().to_owned();
            names.push(short.clone());
            for name in [name, &short] {
                names.extend(self.synonyms.into_iter().flat_map(|table| table.synonyms(name)));
                names.extend(territory_names(name).into_iter().map(str::to_owned));
            }
            names
                .retain(|name| name.chars().filter(|c| c.is_alphabetic()).count() > 2 || name == place.text().as_str());
        }
        if let OldPlace::Area(id) | OldPlace::Relation(id) = place {
            names.push(id.to_string());
        }
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    // ---- tags

    fn move_values(&mut self) {
        // A value is absent if no element has it that any of the queries with it finds.
        let mut kinds: BTreeMap<(&str, &str), Vec<ElementType>> = BTreeMap::new();
        for tags in &self.parts.queries {
            for (key, value, _) in tags.tags.iter().filter_map(tag_text) {
                kinds.entry((key, value)).or_default().extend(&tags.kinds);
            }
        }
        for (query, tags) in self.parts.queries.iter().enumerate() {
            for (filter, tag) in tags.tags.iter().enumerate() {
                let Some((key, value, _)) = tag_text(tag) else { continue };
                let kinds = kinds.get(&(key, value)).map(Vec::as_slice).unwrap_or_default();
                if !self.target.has_of(tag, kinds) {
                    self.value(query, filter, true);
                }
            }
            if self.number >= VALUES
                && let Some(filter) = self.target.contradiction(tags)
            {
                self.value(query, filter, false);
            }
        }
        let edits: Vec<(usize, String)> = self
            .parts
            .parts
            .iter()
            .enumerate()
            .filter_map(|(part, at)| {
                let PartKind::Value { query, filter } = at.kind else { return None };
                let (key, old, is_pattern) = tag_text(self.parts.queries.get(query)?.tags.get(filter)?)?;
                let new = self.values.get(&(key.to_owned(), old.to_owned()))?;
                let text = if is_pattern { format!("\"^{}$\"", pattern(new)) } else { format!("\"{}\"", escaped(new)) };
                Some((part, text))
            })
            .collect();
        edits.into_iter().for_each(|(part, text)| self.edit(part, text));
    }

    /// Draws a new value for a filter, unless it has one.
    fn value(&mut self, query: usize, filter: usize, is_absent: bool) {
        let Some(tags) = self.parts.queries.get(query) else { return };
        let Some((key, old, _)) = tags.tags.get(filter).and_then(tag_text) else { return };
        let (key, old) = (key.to_owned(), old.to_owned());
        if self.values.contains_key(&(key.clone(), old.clone())) {
            return;
        }
        // The same value in another case, and the name of a moved place, follow what is known.
        let folded = old.to_lowercase();
        let same = self.values.iter().find(|((k, v), _)| *k == key && v.to_lowercase() == folded);
        let same = same.map(|(_, new)| new.clone()).or_else(|| self.moved_name(&key, &old));
        if let Some(new) = same {
            self.values.insert((key, old), new);
            return;
        }
        let Some(new) = self.target.value(tags, filter, &mut self.draw) else {
            if is_absent {
                self.record(ReplacementKind::Value, &format!("{key}={old}"), "", None);
            }
            return;
        };
        let alternatives: Vec<String> =
            old.split('|').map(|old| old.trim_matches(['^', '$', '(', ')']).to_owned()).collect();
        let is_named = self.in_question(&alternatives, &new.replace('_', " "));
        if !is_named && !self.question.is_empty() {
            self.state = self.state.max(QuestionState::Differs);
        }
        self.record(ReplacementKind::Value, &format!("{key}={old}"), &format!("{key}={new}"), Some(is_named));
        self.values.insert((key, old), new);
    }

    /// Returns the new name of a place for a filter with its old one.
    fn moved_name(&self, key: &str, old: &str) -> Option<String> {
        let is_old = |place: &OldPlace| matches!(place, OldPlace::Name(name) if name == old);
        let place = self.places.iter().find(|(place, ..)| is_old(place)).filter(|_| key.starts_with("name"));
        place.map(|(_, place, _)| place.name.clone())
    }

    // ---- coordinates

    /// Moves coordinates. Returns the box of the pair.
    fn move_coordinates(&mut self) -> Option<String> {
        let (mut lats, mut lons) = (Vec::new(), Vec::new());
        for part in &self.parts.parts {
            match part.kind {
                PartKind::Lat(lat) => lats.push(lat),
                PartKind::Lon(lon) => lons.push(lon),
                _ => {}
            }
        }
        let bounds = DegreeBox::of(&self.target.bounds);
        let own = self.pair.bbox.as_deref().filter(|_| self.parts.needs_box).and_then(parse_box);
        if let Some(own) = own {
            lats.extend([own.south, own.north]);
            lons.extend([own.west, own.east]);
        }
        let default = (self.parts.needs_box && own.is_none()).then(|| bounds.text());
        if let Some(new) = &default {
            self.record(ReplacementKind::Box, "", new, None);
        }
        let unmoved = default.or_else(|| self.pair.bbox.clone());
        let Some(old) = DegreeBox::around(&lats, &lons) else { return unmoved };
        if old.intersects(&bounds) {
            return unmoved;
        }
        let growth = match self.number {
            number if number >= LARGEST => Growth::AtLeast(1.0),
            number if number >= LARGE => Growth::AtLeast(0.25),
            _ => Growth::Keep,
        };
        let place = self.places.first().map(|(_, place, _)| place.bounds);
        let middle = place.map(|bounds| terrapin_osm::Coord {
            lat: i32::midpoint(bounds.south, bounds.north),
            lon: i32::midpoint(bounds.west, bounds.east),
        });
        let anchor = middle.or_else(|| self.target.anchor(&self.parts.queries, &mut self.draw));
        let anchor = anchor.unwrap_or(terrapin_osm::Coord {
            lat: i32::midpoint(self.target.bounds.south, self.target.bounds.north),
            lon: i32::midpoint(self.target.bounds.west, self.target.bounds.east),
        });
        let shift = Shift::into(&old, &bounds, anchor, growth);
        let edits: Vec<(usize, String)> = self
            .parts
            .parts
            .iter()
            .enumerate()
            .filter_map(|(part, at)| match at.kind {
                PartKind::Lat(lat) => Some((part, degrees(shift.lat(lat)))),
                PartKind::Lon(lon) => Some((part, degrees(shift.lon(lon)))),
                _ => None,
            })
            .collect();
        edits.into_iter().for_each(|(part, text)| self.edit(part, text));
        self.record(ReplacementKind::Box, &old.text(), &shift.of_box(&old).text(), None);
        own.map(|own| shift.of_box(&own).text()).or(unmoved)
    }

    // ---- ids

    fn move_ids(&mut self) {
        let mut known: BTreeMap<(ElementType, i64), i64> = BTreeMap::new();
        for part in &self.parts.parts {
            let PartKind::Id(kinds, id) = &part.kind else { continue };
            let (id, Some(kind)) = (*id, kinds.first().copied()) else { continue };
            if kinds.iter().any(|kind| self.target.osm.find(*kind, id).is_some()) {
                continue;
            }
            let new = known.get(&(kind, id)).copied().or_else(|| self.target.id(kind, &mut self.draw));
            let Some(new) = new else { continue };
            let is_first = known.insert((kind, id), new).is_none();
            self.edits.push(QueryEdit { range: part.range.clone(), text: new.to_string() });
            if is_first {
                let is_named = self.in_question(&[id.to_string()], &new.to_string());
                let text = |id: i64| format!("{}/{id}", kind.name());
                self.record(ReplacementKind::Id, &text(id), &text(new), Some(is_named));
            }
        }
    }

    // ---- users and dates

    /// Moves users and dates: those of one edit, so that they fit each other.
    fn move_edits(&mut self) {
        let osm = self.target.osm;
        let (mut dates, mut users, mut since, mut until) = (Vec::new(), Vec::new(), None, None);
        for (number, part) in self.parts.parts.iter().enumerate() {
            match &part.kind {
                PartKind::Date { at, role } => {
                    dates.push((number, *at));
                    match role {
                        DateRole::Since => since = Some(*at),
                        DateRole::Until => until = Some(*at),
                    }
                }
                PartKind::UserName(name) if osm.users_named(name).is_empty() => users.push(number),
                PartKind::UserId(id) if osm.users_with_id(*id).is_empty() => users.push(number),
                _ => {}
            }
        }
        let is_dated = since.is_none_or(|since| self.target.has_edit(since, until));
        if users.is_empty() && is_dated {
            return;
        }
        let Some(edit) = self.edit_for(!users.is_empty(), since, until) else {
            for number in users {
                let old = self.part_text(number);
                self.record(ReplacementKind::User, &old, "", None);
            }
            return;
        };
        for number in users {
            self.user(number, edit);
        }
        if let Some(since) = since {
            let days = (edit.at - since).div_euclid(DAY);
            if days != 0 {
                dates.into_iter().for_each(|(number, at)| self.date(number, at, at + days * DAY));
            }
        }
    }

    /// Draws an edit, with a user if one is needed, at a time of the day between the dates.
    fn edit_for(&mut self, needs_user: bool, since: Option<i64>, until: Option<i64>) -> Option<Edit> {
        let mut last = None;
        for _ in 0..EDITS {
            let edit = *self.draw.pick(&self.target.edits)?;
            if needs_user && edit.uid == 0 {
                continue;
            }
            last = Some(edit);
            let fits = since.zip(until).is_none_or(|(since, until)| (edit.at - since).rem_euclid(DAY) <= until - since);
            if fits {
                break;
            }
        }
        last
    }

    fn part_text(&self, part: usize) -> String {
        let range = self.parts.parts.get(part).map(|part| part.range.clone()).unwrap_or_default();
        self.pair.query.get(range).unwrap_or_default().trim_matches(['"', '\'']).to_owned()
    }

    fn user(&mut self, part: usize, edit: Edit) {
        let old = self.part_text(part);
        let is_name = matches!(self.parts.parts.get(part).map(|part| &part.kind), Some(PartKind::UserName(_)));
        let new = if is_name { self.target.osm.user_name(edit.user).to_owned() } else { edit.uid.to_string() };
        let is_named = self.in_question(std::slice::from_ref(&old), &new);
        if !is_named && !self.question.is_empty() && !self.question.contains(&new) {
            self.state = self.state.max(QuestionState::Differs);
        }
        self.edit(part, if is_name { format!("\"{}\"", escaped(&new)) } else { new.clone() });
        self.record(ReplacementKind::User, &old, &new, Some(is_named));
    }

    fn date(&mut self, part: usize, old: Timestamp, new: Timestamp) {
        let text = |at: Timestamp| jiff::Timestamp::from_second(at).map(|at| at.to_string()).unwrap_or_default();
        let (old_text, new_text) = (self.part_text(part), text(new));
        if new_text.is_empty() {
            return;
        }
        let day = |text: &str| text.split('T').next().unwrap_or_default().to_owned();
        let mut is_named = self.in_question(std::slice::from_ref(&old_text), &new_text);
        is_named |= self.in_question(&[day(&text(old))], &day(&new_text));
        if !is_named && !self.question.is_empty() && !self.question.contains(&day(&new_text)) {
            self.state = self.state.max(QuestionState::Differs);
        }
        self.edit(part, new_text.clone());
        self.record(ReplacementKind::Date, &old_text, &new_text, Some(is_named));
    }
}

fn value_of(tag: &Tag) -> Option<&str> {
    tag_text(tag).map(|(_, value, _)| value)
}

/// Parses `south,west,north,east`.
fn parse_box(text: &str) -> Option<DegreeBox> {
    let sides: Option<Vec<f64>> = text.split(',').map(|side| side.trim().parse().ok()).collect();
    let &[south, west, north, east] = sides.as_deref()? else { return None };
    Some(DegreeBox { south, west, north, east })
}
