//! Parses a query into readings: a name, a house, a postal code or a kind of thing, with its surroundings.

use terrapin_osm::Coord;
use terrapin_osm::names::words;

use super::house::HouseNumber;
use super::kinds::{self, Tag};
use super::point::point;
use super::postcode::{Codes, Postcode};

/// Maximum number of parts between commas.
const PARTS: usize = 16;
/// Maximum number of words of a part.
const WORDS: usize = 12;
/// Maximum number of readings in each direction.
const READINGS: usize = 400;
/// Maximum number of postal codes in a text.
const CODES: usize = 3;

/// A query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceQuery {
    /// Free text: `12 Republic Street, Valletta`.
    Text(String),
    /// The parts of an address.
    Parts(AddressQuery),
}

/// The parts of an address; empty parts are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct AddressQuery {
    pub amenity: String,
    /// May have the house number in front or at the end.
    pub street: String,
    pub city: String,
    pub county: String,
    pub state: String,
    pub country: String,
    pub postcode: String,
}

/// The kind of place that a name must be, as a part of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceKind {
    /// Anything.
    Any,
    /// A street, or a house in it.
    Street,
    /// A town or another settlement.
    City,
    /// A region.
    Region,
    /// A country.
    Country,
}

/// The target of a reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadingTarget {
    /// An element with these words in its name.
    Name(Vec<String>),
    /// A house with this number, in a street with these words in its name.
    House(HouseNumber, Vec<String>),
    /// The postal code of the reading.
    Postcode,
    /// Elements with a tag; `true` to search near the surroundings also.
    Kind(Tag, bool),
}

/// One reading of a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryReading {
    /// The target of a reading.
    pub wanted: ReadingTarget,
    /// The words of its surroundings.
    pub within: Vec<Vec<String>>,
    /// The kind of place it must be.
    pub sort: PlaceKind,
    /// Whether the last word of the name is the last of the query.
    pub ends: bool,
    /// Distance from the query: 1 if a number is ignored.
    pub distance: u8,
    /// The postal code in the query.
    pub postcode: Option<Postcode>,
}

/// All readings of a query.
#[derive(Debug, Default)]
pub struct Readings {
    /// Readings from left to right, or without commas; names with more words first.
    pub forward: Vec<QueryReading>,
    /// Readings from right to left: `Malta, Sliema`.
    pub backward: Vec<QueryReading>,
    /// The position in the query.
    pub at: Option<Coord>,
}

impl PlaceQuery {
    /// Returns all readings; `codes` recognizes postal codes.
    pub fn readings(&self, codes: Codes<'_>) -> Readings {
        match self {
            PlaceQuery::Text(text) => of_text(codes, text),
            PlaceQuery::Parts(parts) => parts.readings(codes),
        }
    }

    /// Returns the query as one text, for answers.
    pub fn text(&self) -> String {
        match self {
            PlaceQuery::Text(text) => text.clone(),
            PlaceQuery::Parts(parts) => {
                let all = parts.all();
                all.into_iter().filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// A part of a text.
#[derive(Debug, Clone)]
struct TextSegment {
    words: Vec<String>,
    /// The part as written.
    text: String,
}

fn of_text(codes: Codes<'_>, text: &str) -> Readings {
    let (bracketed, text) = match kinds::bracketed(text) {
        Some((tag, rest)) => (Some(tag), rest),
        None => (None, text.to_owned()),
    };
    let (at, text) = match point(&text) {
        Some((at, rest)) => (Some(at), rest),
        None => (None, text),
    };
    let text = text.replace("&amp;", "&");
    let parts = parts_of(&text);
    let mut readings = Readings { at, ..Readings::default() };
    match bracketed {
        Some(tag) => {
            let said = plain(&parts);
            let front = said.first().and_then(|words| words.first());
            let near = front.is_some_and(|word| word == "near");
            let within = if near { without_front(&said, 1) } else { said };
            readings.forward = of_kind(&tag, near, &within, 0);
        }
        None => {
            readings.forward = of_names(&parts);
            if parts.len() > 1 {
                let turned: Vec<TextSegment> = parts.iter().rev().cloned().collect();
                readings.backward = of_names(&turned);
            }
            readings.forward.extend(of_codes(codes, &parts));
            readings.forward.extend(of_kinds(&plain(&parts), at.is_some()));
        }
    }
    readings.forward.truncate(READINGS);
    readings.backward.truncate(READINGS);
    readings
}

/// Returns the parts between commas that have words.
fn parts_of(text: &str) -> Vec<TextSegment> {
    let parts = text
        .split([',', '،', '、', '\n'])
        .map(|text| TextSegment { words: cut(words(text)), text: text.trim().to_owned() });
    parts.filter(|part| !part.words.is_empty()).take(PARTS).collect()
}

fn plain(parts: &[TextSegment]) -> Vec<Vec<String>> {
    parts.iter().map(|part| part.words.clone()).collect()
}

/// Returns readings as a name or a house.
fn of_names(parts: &[TextSegment]) -> Vec<QueryReading> {
    match parts {
        [TextSegment { words: only, .. }] => {
            let mut readings = named(only, &[], PlaceKind::Any, true);
            for at in (1..only.len()).rev() {
                let (front, back) = only.split_at(at);
                readings.extend(named(front, &[back.to_vec()], PlaceKind::Any, false));
                readings.extend(named(back, &[front.to_vec()], PlaceKind::Any, true));
            }
            readings
        }
        [first, rest @ ..] => {
            let mut readings = numbered(parts);
            readings.extend(named(&first.words, &plain(rest), PlaceKind::Any, false));
            // A name with a comma in it.
            if let [second, rest @ ..] = rest
                && !second.words.iter().any(|word| first.words.contains(word))
            {
                let name = [&first.words[..], &second.words[..]].concat();
                let ends = rest.is_empty();
                readings.push(QueryReading {
                    ends,
                    ..QueryReading::of(ReadingTarget::Name(name), plain(rest), PlaceKind::Any)
                });
            }
            readings
        }
        [] => Vec::new(),
    }
}

/// Returns readings with a house number between commas, before or after its street: `12, Old Street, Valletta`.
fn numbered(parts: &[TextSegment]) -> Vec<QueryReading> {
    let mut readings = Vec::new();
    let mut put = |number: HouseNumber, street: &TextSegment, rest: &[TextSegment]| {
        let (within, ends) = (plain(rest), rest.is_empty());
        let reading =
            |wanted, sort, distance| QueryReading { ends, distance, ..QueryReading::of(wanted, within.clone(), sort) };
        readings.push(reading(ReadingTarget::House(number, street.words.clone()), PlaceKind::Street, 0));
        readings.push(reading(ReadingTarget::Name(street.words.clone()), PlaceKind::Any, 1));
    };
    // A list of numbers may have commas.
    let count = parts.iter().take_while(|part| HouseNumber::whole(&part.words).is_some()).count();
    if (1..parts.len()).contains(&count) {
        let text: Vec<String> = parts[..count].iter().map(|part| part.words.join(" ")).collect();
        if let Some(number) = HouseNumber::new(&text.join(",")) {
            put(number, &parts[count], &parts[count + 1..]);
        }
    }
    if let [street, number, rest @ ..] = parts
        && count == 0
        && let Some(number) = HouseNumber::whole(&number.words)
    {
        put(number, street, rest);
    }
    // House names: `Blk A2`, `B-10 (10027)`, `6, puerta A`. Each matches only a house with this text as its number.
    for count in 1..=2 {
        let (Some(front), Some(street)) = (parts.get(..count), parts.get(count)) else { break };
        let text: Vec<&str> = front.iter().map(|part| part.text.as_str()).collect();
        let is_plain = count == 1
            && HouseNumber::whole(&front[0].words).is_some()
            && front[0].words.join(" ") == text[0].to_lowercase();
        if let Some(number) = HouseNumber::as_written(&text.join(", ")).filter(|_| !is_plain) {
            let (house, rest) = (ReadingTarget::House(number, street.words.clone()), &parts[count + 1..]);
            readings.push(QueryReading {
                ends: rest.is_empty(),
                ..QueryReading::of(house, plain(rest), PlaceKind::Street)
            });
        }
    }
    readings
}

/// Returns the readings of a name: unchanged, as a road number, as a street with a house number, and without a word for
/// its kind.
fn named(name: &[String], within: &[Vec<String>], sort: PlaceKind, ends: bool) -> Vec<QueryReading> {
    let of = |wanted, sort| QueryReading { ends, ..QueryReading::of(wanted, within.to_vec(), sort) };
    let mut readings = vec![of(ReadingTarget::Name(name.to_vec()), sort)];
    readings.extend(other_spacings(name).into_iter().map(|name| of(ReadingTarget::Name(name), sort)));
    let front = HouseNumber::in_front(name).into_iter().map(|(number, at)| (number, &name[at..]));
    let behind = HouseNumber::behind(name).into_iter().map(|(number, at)| (number, &name[..at]));
    for (number, street) in front.chain(behind) {
        let street_alone = QueryReading { distance: 1, ..of(ReadingTarget::Name(street.to_vec()), PlaceKind::Street) };
        // A street has at least three letters.
        let is_street = street.iter().map(String::len).sum::<usize>() >= 3;
        readings.push(of(ReadingTarget::House(number, street.to_vec()), PlaceKind::Street));
        readings.extend(is_street.then_some(street_alone));
    }
    // Houses with a name for a number.
    let ends_of_name = match name {
        [first, .., last] if name.len() > 2 => vec![(last, &name[..name.len() - 1]), (first, &name[1..])],
        [first, last] => vec![(last, &name[..1]), (first, &name[1..])],
        _ => Vec::new(),
    };
    for (word, street) in ends_of_name {
        if let Some(number) = HouseNumber::new(word).filter(|number| !number.is_number()) {
            readings.push(of(ReadingTarget::House(number, street.to_vec()), PlaceKind::Street));
        }
    }
    if let ([front @ .., last], PlaceKind::Any) = (name, sort)
        && let Some((_, sort)) = WHAT.iter().find(|(what, _)| what == last)
        && !front.is_empty()
    {
        readings.push(QueryReading { distance: 1, ..of(ReadingTarget::Name(front.to_vec()), *sort) });
    }
    if name.len() > 2 && name.iter().any(|word| AND.contains(&word.as_str())) {
        // In names this is often `&`, which is not a word of the index.
        let others = name.iter().filter(|word| !AND.contains(&word.as_str())).cloned().collect();
        readings.push(of(ReadingTarget::Name(others), sort));
    }
    readings
}

/// Words for `&`.
const AND: [&str; 6] = ["and", "und", "et", "och", "og", "amp"];

/// Endings that may also be separate words: `Jim-Knopfstr` for `Jim-Knopf-Straße`.
const APART: [&str; 5] = ["strasse", "str", "weg", "platz", "gasse"];

/// Words after a name for its kind: `Luxembourg City`.
const WHAT: &[(&str, PlaceKind)] = &[
    ("city", PlaceKind::City),
    ("town", PlaceKind::City),
    ("village", PlaceKind::City),
    ("county", PlaceKind::Region),
    ("province", PlaceKind::Region),
    ("region", PlaceKind::Region),
    ("state", PlaceKind::Region),
];

/// Returns a name with compound words split, or words joined: road numbers such as `A 1`, and endings of streets.
fn other_spacings(name: &[String]) -> Vec<Vec<String>> {
    let is_short = |letters: &str| (1..=3).contains(&letters.len()) && letters.bytes().all(|b| b.is_ascii_lowercase());
    let mut all = Vec::new();
    match name {
        [letters, number] if is_short(letters) && is_number(number) => all.push(vec![name.concat()]),
        [word] => {
            if let Some((letters, number)) = word.find(|c: char| c.is_ascii_digit()).map(|at| word.split_at(at))
                && is_short(letters)
            {
                all.push(vec![letters.to_owned(), number.to_owned()]);
            }
        }
        _ => {}
    }
    if let [front @ .., last] = name {
        let end = APART.iter().find_map(|end| Some((last.strip_suffix(*end)?, *end)));
        match (end, front) {
            (Some(("", _)), [others @ .., word]) => all.push([others, &[format!("{word}{last}")][..]].concat()),
            (Some((stem, end)), _) if stem.chars().count() >= 3 => {
                all.push([front, &[stem.to_owned(), end.to_owned()][..]].concat());
            }
            _ => {}
        }
    }
    all
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns readings with a postal code: the rest of the text as a name, or the code within the rest. A number that
/// looks like a code but is unknown is ignored.
fn of_codes(codes: Codes<'_>, parts: &[TextSegment]) -> Vec<QueryReading> {
    let mut readings = Vec::new();
    let mut count = 0;
    for (at, part) in parts.iter().enumerate() {
        let found = Postcode::all_in(codes, &part.words);
        let without = |range: std::ops::Range<usize>| {
            let mut rest = parts.to_vec();
            rest[at].words.drain(range);
            rest[at].text = rest[at].words.join(" ");
            rest.retain(|part| !part.words.is_empty());
            rest
        };
        for (range, code) in found.iter().cloned() {
            if count == CODES {
                return readings;
            }
            count += 1;
            let rest = without(range);
            let with = |reading| QueryReading { postcode: Some(code.clone()), ..reading };
            readings.extend(
                splits(&plain(&rest))
                    .into_iter()
                    .map(|within| with(QueryReading::of(ReadingTarget::Postcode, within, PlaceKind::Any))),
            );
            readings.extend(of_names(&rest).into_iter().map(with));
        }
        let is_known = |at: usize| found.iter().any(|(range, _)| range.contains(&at));
        for (word, text) in part.words.iter().enumerate() {
            // An unknown code before or after a town.
            let is_end = word == 0 || word + 1 == part.words.len();
            if count < CODES && is_end && !is_known(word) && looks_like_code(text) {
                count += 1;
                let rest = of_names(&without(word..word + 1)).into_iter();
                readings.extend(rest.map(|reading| QueryReading { distance: reading.distance + 1, ..reading }));
            }
        }
    }
    readings
}

fn looks_like_code(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    word.is_ascii() && word.len() >= 4 && word.len() <= 10 && digits * 2 >= word.len()
}

/// Returns the ways to split the surroundings: each part unchanged, and a single part in two.
fn splits(parts: &[Vec<String>]) -> Vec<Vec<Vec<String>>> {
    let mut all = vec![parts.to_vec()];
    if let [only] = parts {
        all.extend((1..only.len()).map(|at| vec![only[..at].to_vec(), only[at..].to_vec()]));
    }
    all
}

fn without_front(parts: &[Vec<String>], words: usize) -> Vec<Vec<String>> {
    let mut rest = parts.to_vec();
    if let Some(first) = rest.first_mut() {
        first.drain(..words.min(first.len()));
    }
    rest.retain(|part| !part.is_empty());
    rest
}

/// Returns readings as a kind of thing, before or after its surroundings.
fn of_kinds(parts: &[Vec<String>], has_point: bool) -> Vec<QueryReading> {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Vec::new() };
    if let Some(front) = kinds::front(first) {
        let within = without_front(parts, front.words);
        // Without a preposition names come first.
        let distance = u8::from(front.near.is_none() && !has_point);
        return of_kind(&front.tag, front.near == Some(true), &within, distance);
    }
    let behind = (1..last.len()).find_map(|at| Some((at, kinds::kind(&last[at..])?)));
    match behind {
        Some((at, tag)) => {
            let mut within = parts.to_vec();
            if let Some(last) = within.last_mut() {
                last.truncate(at);
            }
            of_kind(&tag, false, &within, 1)
        }
        None => Vec::new(),
    }
}

fn of_kind(tag: &Tag, near: bool, within: &[Vec<String>], distance: u8) -> Vec<QueryReading> {
    let reading = |within| QueryReading {
        distance,
        ..QueryReading::of(ReadingTarget::Kind(tag.clone(), near), within, PlaceKind::Any)
    };
    splits(within).into_iter().map(reading).collect()
}

fn cut(mut words: Vec<String>) -> Vec<String> {
    words.truncate(WORDS);
    words
}

impl QueryReading {
    fn of(wanted: ReadingTarget, within: Vec<Vec<String>>, sort: PlaceKind) -> QueryReading {
        QueryReading { wanted, within, sort, ends: false, distance: 0, postcode: None }
    }
}

impl AddressQuery {
    fn all(&self) -> [&str; 7] {
        let AddressQuery { amenity, street, city, county, state, country, postcode } = self;
        [amenity, street, city, county, state, postcode, country]
    }

    /// Returns whether all parts are empty.
    pub fn is_empty(&self) -> bool {
        self.all().iter().all(|part| words(part).is_empty())
    }

    fn readings(&self, codes: Codes<'_>) -> Readings {
        let sorts = [
            (&self.amenity, PlaceKind::Any),
            (&self.street, PlaceKind::Street),
            (&self.city, PlaceKind::City),
            (&self.county, PlaceKind::Region),
            (&self.state, PlaceKind::Region),
            (&self.country, PlaceKind::Country),
        ];
        let said: Vec<(&String, Vec<String>, PlaceKind)> = sorts
            .into_iter()
            .map(|(text, sort)| (text, cut(words(text)), sort))
            .filter(|(_, words, _)| !words.is_empty())
            .collect();
        let code = codes(&words(&self.postcode));
        let around = |parts: &[(&String, Vec<String>, PlaceKind)]| -> Vec<Vec<String>> {
            // A street is not an area around an amenity.
            parts.iter().filter(|part| part.2 != PlaceKind::Street).map(|part| part.1.clone()).collect()
        };
        let mut forward = Vec::new();
        if let Some(((text, name, sort), rest)) = said.split_first() {
            let within = around(rest);
            forward = named(name, &within, *sort, true);
            if *sort != PlaceKind::Street {
                forward.truncate(1);
            }
            forward.iter_mut().for_each(|reading| reading.postcode.clone_from(&code));
            if let Some(tag) = kinds::tag(text).filter(|_| !self.amenity.trim().is_empty()) {
                forward.extend(of_kind(&tag, false, &within, 0));
            }
        }
        let is_street = said.first().is_some_and(|part| part.2 == PlaceKind::Street) || !self.amenity.trim().is_empty();
        if code.is_some() && !is_street {
            let within = around(&said);
            forward.push(QueryReading {
                postcode: code,
                ..QueryReading::of(ReadingTarget::Postcode, within, PlaceKind::Any)
            });
        }
        Readings { forward, ..Readings::default() }
    }
}

#[cfg(test)]
mod tests;
