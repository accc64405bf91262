//! Finding places by what people write.
//!
//! A question has several readings (`question.rs`). In the index of names each reading's words lead to names that have them
//! all, these to tags, and the tags to elements, of which those count that lie in what the reading names around them. First
//! come names that are said in full; of these towns and countries with borders; by importance; then relations before ways
//! before nodes, and the lowest id. Only where nothing is found so, a text is read from right to left, and what lies around
//! is what addresses say; then words may be the beginnings of words, and only after that written nearly so.

mod answer;
mod houses;
mod kinds;

use std::collections::HashMap;
use std::rc::Rc;

use terrapin_budget as budget;
use terrapin_osm::areas::is_closed;
use terrapin_osm::geometry::metres;
use terrapin_osm::names::{Names, named_by, words};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId, Scope};

use crate::around::{Around, Surroundings};
use crate::countries;
use crate::details::Layer;
use crate::hit::{Articles, Hit};
use crate::house::HouseNumber;
use crate::lists::{LONGER, Lists, Mode};
use crate::near::{Near, nearest};
use crate::nearby::ranges;
use crate::postcode::{Postcode, Region};
use crate::question::{Question, Reading, Sort, Wanted};
use crate::spot::Spot;
use crate::streets::Said;
use crate::variants::variants;
use crate::{Details, Element};

/// Elements of one tag, and of one search.
const OF_TAG: usize = 256;
const ELEMENTS: usize = 2000;
/// The highest rank of places that people live in.
const SETTLED: u8 = 20;
/// Ranks that a town's border and its node may be apart.
const ALIKE: u8 = 4;
/// Places beside which addresses are looked for.
const BESIDE_MOST: usize = 128;
/// Metres around a place within which a kind of thing is looked for, one after another.
const BESIDE: [f64; 3] = [500.0, 2_000.0, 10_000.0];

/// Whether a place is wanted: its element, its tags, where it is.
pub type Filter<'a> = &'a dyn Fn(Option<Element>, &Details, &Spot) -> bool;

/// What is looked for, and where.
pub struct Search<'a> {
    /// What.
    pub question: &'a Question,
    /// Whether the last word may be one that is still being typed.
    pub typing: bool,
    /// How many places at most.
    pub limit: usize,
    /// What lies in it comes first.
    pub near: Option<BoundingBox>,
    /// Whether nothing else counts.
    pub bounded: bool,
    /// Codes of countries, in small letters; any where there is none.
    pub countries: &'a [String],
    /// Whether elements that are one place are told once.
    pub once: bool,
    /// What of the places that are found is wanted.
    pub wanted: Filter<'a>,
    /// How many articles there are.
    pub articles: Articles<'a>,
}

impl<'a> Search<'a> {
    /// For at most so many places, anywhere and of any kind.
    pub fn of(question: &'a Question, limit: usize, articles: Articles<'a>) -> Search<'a> {
        Search {
            question,
            typing: false,
            limit,
            near: None,
            bounded: false,
            countries: &[],
            once: true,
            wanted: &|_, _, _| true,
            articles,
        }
    }
}

/// One way through the index.
#[derive(Debug, Clone, Copy)]
struct Pass {
    mode: Mode,
    /// From right to left.
    backward: bool,
    /// What lies around is what addresses say, too.
    by_address: bool,
    /// Only names that are said in full.
    full: bool,
    /// What lies around may be what is being typed.
    begins_around: bool,
    /// Only what lies in the part of the text that means the fewest places.
    scoped: bool,
    /// Parts of the text that nothing is called are left out, at a lower rank.
    lenient: bool,
}

impl Pass {
    const fn of(mode: Mode) -> Pass {
        Pass {
            mode,
            backward: false,
            by_address: false,
            full: false,
            begins_around: false,
            scoped: true,
            lenient: false,
        }
    }

    /// Those of a text that is whole, one after another until something is found.
    const WHOLE: [Pass; 11] = [
        Pass::of(Mode::Whole),
        Pass { backward: true, full: true, ..Pass::of(Mode::Whole) },
        Pass { by_address: true, full: true, ..Pass::of(Mode::Whole) },
        Pass { by_address: true, scoped: false, full: true, ..Pass::of(Mode::Whole) },
        Pass { backward: true, by_address: true, full: true, ..Pass::of(Mode::Whole) },
        Pass { backward: true, by_address: true, scoped: false, full: true, ..Pass::of(Mode::Whole) },
        Pass { by_address: true, scoped: false, full: true, lenient: true, ..Pass::of(Mode::Whole) },
        Pass::of(Mode::Typing),
        Pass::of(Mode::Slips),
        // With a street or an address around, too: `Caffe Cordina, Republic Street`, which is a `Café`.
        Pass { by_address: true, ..Pass::of(Mode::Typing) },
        Pass { by_address: true, ..Pass::of(Mode::Slips) },
    ];
    /// Those of a text that is being written.
    const TYPING: [Pass; 3] =
        [Pass::of(Mode::Typing), Pass { begins_around: true, ..Pass::of(Mode::Typing) }, Pass::of(Mode::Slips)];
}

/// An element that has a name, before its surroundings were looked at; or a postal code without an element.
#[derive(Clone)]
struct Candidate {
    element: Option<Element>,
    details: Details,
    spot: Spot,
    importance: f64,
    distance: u8,
    /// Metres from what it is to be near to.
    away: u32,
    /// Whether it was found by the number of a house.
    by_number: bool,
}

/// What a reading lies in: for each part what it means, and its words.
type Within<'a> = [(Rc<[Around]>, &'a [String])];

struct Finder<'a> {
    osm: &'a Osm,
    lists: Lists<'a>,
    surroundings: Surroundings<'a>,
    regions: HashMap<String, Rc<[Region]>>,
    /// What addresses around positions say.
    said: HashMap<Coord, Rc<Said>>,
    /// A position that places are to be near to.
    at: Option<Coord>,
    left: usize,
}

/// The places that a question leads to, the likeliest first; none where the snapshot has no index of names.
pub fn search(osm: &Osm, search: &Search<'_>) -> Vec<Hit> {
    let Some(mut finder) = Finder::new(osm, search.typing) else { return Vec::new() };
    let readings = search.question.readings(&|words| Postcode::of(osm, words));
    finder.at = readings.at;
    if let Some(at) = readings.at.filter(|_| readings.forward.is_empty()) {
        let near = Near { at, zoom: 18, layers: &[Layer::Address, Layer::Poi], articles: search.articles };
        let is_wanted = |hit: &Hit| (search.wanted)(hit.element, &hit.details, &hit.spot);
        return nearest(osm, &near).into_iter().filter(is_wanted).collect();
    }
    let passes = if search.typing { &Pass::TYPING[..] } else { &Pass::WHOLE[..] };
    for pass in passes {
        if pass.lenient && !has_parts(search.question) {
            continue;
        }
        // Each way through the index has its own bound.
        finder.left = ELEMENTS;
        let some = if pass.backward { &readings.backward } else { &readings.forward };
        let found = finder.find(some, *pass, search);
        let hits = finder.told(found, search);
        if !hits.is_empty() {
            return hits;
        }
    }
    Vec::new()
}

/// Whether a question has several parts that are told apart.
fn has_parts(question: &Question) -> bool {
    match question {
        Question::Text(text) => text.contains([',', '،', '、', '\n']),
        Question::Parts(_) => true,
    }
}

/// The areas that a text names, without slips: what is said in full, the likeliest first.
pub fn areas_named(osm: &Osm, text: &str, most: usize) -> Vec<Element> {
    let is_area = |element: Option<Element>, _: &Details, _: &Spot| {
        let Some(element) = element.filter(|element| element.kind == ElementType::Relation) else { return false };
        osm.find(element.kind, element.id).is_some_and(|ordinal| osm.areas().of_relation(ordinal).is_some())
    };
    let question = Question::Text(text.to_owned());
    let search = Search { wanted: &is_area, ..Search::of(&question, most, &|_| None) };
    let Some(mut finder) = Finder::new(osm, false) else { return Vec::new() };
    let mut readings = question.readings(&|_| None).forward;
    readings.retain(|reading| matches!(reading.wanted, Wanted::Name(_)) && reading.distance == 0);
    let mut found = finder.find(&readings, Pass::of(Mode::Whole), &search);
    found.retain(|candidate| candidate.distance == 0);
    finder.told(found, &search).into_iter().filter_map(|hit| hit.element).collect()
}

impl<'a> Finder<'a> {
    fn new(osm: &'a Osm, typing: bool) -> Option<Finder<'a>> {
        Some(Finder {
            osm,
            lists: Lists::new(osm, typing)?,
            surroundings: Surroundings::new(osm),
            regions: HashMap::new(),
            said: HashMap::new(),
            at: None,
            left: ELEMENTS,
        })
    }

    /// What all readings lead to, each element once.
    fn find(&mut self, readings: &[Reading], pass: Pass, search: &Search<'_>) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut seen: HashMap<(Option<Element>, Coord), usize> = HashMap::new();
        for reading in readings {
            for candidate in self.read(reading, pass, search) {
                match seen.get(&(candidate.element, candidate.spot.at)) {
                    Some(&at) => found[at].distance = found[at].distance.min(candidate.distance),
                    None => {
                        seen.insert((candidate.element, candidate.spot.at), found.len());
                        found.push(candidate);
                    }
                }
            }
        }
        found
    }

    fn read(&mut self, reading: &Reading, pass: Pass, search: &Search<'_>) -> Vec<Candidate> {
        let is_name = matches!(reading.wanted, Wanted::Name(_) | Wanted::House(..));
        let mut within = Vec::new();
        for (at, part) in reading.within.iter().enumerate() {
            // What lies around is no beginning of a name, unless it is what is being typed.
            let is_typed = pass.begins_around && !reading.ends && at + 1 == reading.within.len();
            let mode = if pass.mode == Mode::Typing && !is_typed { Mode::Whole } else { pass.mode };
            let around = self.surroundings.of(&mut self.lists, part, mode);
            if around.is_empty() && !pass.by_address && is_name {
                return Vec::new();
            }
            within.push((around, part.as_slice()));
        }
        match &reading.wanted {
            Wanted::Name(words) => {
                let mut found = self.names(reading, words, &within, pass, search);
                if within.is_empty()
                    && pass.mode == Mode::Whole
                    && matches!(reading.sort, Sort::Any | Sort::Region | Sort::Country)
                {
                    found.extend(self.territories(reading, words, search));
                }
                found
            }
            Wanted::House(house, street) => self.houses(reading, house, street, &within, pass, search),
            Wanted::Postcode => self.codes(reading, &within, pass, search),
            Wanted::Kind((key, value), near) => match self.osm.pair(key, value) {
                Some(pair) => self.kinds(reading, pair, *near, &within, pass, search),
                None => Vec::new(),
            },
        }
    }

    /// What has a name.
    fn names(
        &mut self,
        reading: &Reading,
        name: &[String],
        within: &Within<'_>,
        pass: Pass,
        search: &Search<'_>,
    ) -> Vec<Candidate> {
        // The code of a country is no part of a name, and no beginning of one.
        let is_code = reading.sort == Sort::Country && name.concat().len() <= 3;
        if is_code && pass.mode != Mode::Whole {
            return Vec::new();
        }
        let scope = if pass.scoped { scope(within, search) } else { None };
        let mut found = Vec::new();
        for named in self.lists.named(name, pass.mode, reading.ends) {
            if (pass.full || is_code) && named.distance > 0 {
                continue;
            }
            let (pair, _) = self.lists.names.name(named.name);
            let key = self.osm.key_name(self.osm.key_of(pair));
            // A part of a reference is none: `Hoopter Straße` of a letter box with its address there.
            let is_part = self.lists.names.name(named.name).1 > name.len();
            if named_by(key) != Some(Names::Itself) || (key == "ref" && is_part) {
                continue;
            }
            for (kind, ordinal) in self.elements(pair, scope.as_deref()) {
                let distance = named.distance + reading.distance;
                let Some(candidate) = self.candidate(kind, ordinal, distance, search) else {
                    if self.left == 0 {
                        return found;
                    }
                    continue;
                };
                if reading.sort.has(&candidate.details) {
                    found.extend(self.placed(candidate, within, pass));
                }
            }
        }
        self.with_code(reading, found)
    }

    /// Countries and regions that the snapshot has no border of.
    fn territories(&self, reading: &Reading, name: &[String], search: &Search<'_>) -> Vec<Candidate> {
        let mut found = Vec::new();
        for territory in countries::named(name) {
            let key = if territory.is_country() { "ISO3166-1:alpha2" } else { "ISO3166-2" };
            let known = self.osm.pair(key, territory.code);
            let is_known = known.is_some_and(|pair| {
                let relations = self.osm.posting(ElementType::Relation, pair);
                relations.iter().any(|&relation| self.osm.areas().of_relation(relation).is_some())
            });
            let Some(spot) = territory.spot.filter(|_| !is_known) else { continue };
            let details = Details { tags: territory.tags() };
            let is_in = !search.bounded || search.near.is_none_or(|near| near.contains(spot.at));
            if !is_in || !reading.sort.has(&details) || !(search.wanted)(None, &details, &spot) {
                continue;
            }
            // A code is also a word.
            let is_code = name.len() == 1 && name[0].len() <= 3;
            let (importance, away) = (details.importance(None), self.away(spot.at));
            let distance = reading.distance + u8::from(is_code);
            found.push(Candidate { element: None, details, spot, importance, distance, away, by_number: false });
        }
        found
    }

    /// Candidates farther away that are not where the postal code is.
    fn with_code(&mut self, reading: &Reading, mut found: Vec<Candidate>) -> Vec<Candidate> {
        if let Some(code) = &reading.postcode {
            let regions = self.regions(code);
            for candidate in &mut found {
                let (at, bounds) = (candidate.spot.at, &candidate.spot.bounds);
                let is_there =
                    code.is_of(&candidate.details) || regions.iter().any(|r| r.is_with(self.osm, at, bounds));
                candidate.distance += if is_there { 0 } else { LONGER };
            }
        }
        found
    }

    /// An element as a candidate; `None` where it is none that is wanted, or too many were looked at.
    fn candidate(
        &mut self,
        kind: ElementType,
        ordinal: Ordinal,
        distance: u8,
        search: &Search<'_>,
    ) -> Option<Candidate> {
        self.left = self.left.checked_sub(1)?;
        budget::checkpoints(64);
        let spot = Spot::of(self.osm, kind, ordinal)?;
        if search.bounded && search.near.is_some_and(|near| !near.contains(spot.at)) {
            return None;
        }
        let details = Details::of(self.osm, kind, ordinal);
        // Pieces of borders are no places, nor is what nothing is said of.
        let is_piece = kind == ElementType::Way && details.level().is_some() && !is_ring(self.osm, ordinal);
        let is_thing = (details.category() != ("area", "yes") || kind == ElementType::Relation) && !is_piece;
        let id = self.osm.ids(kind, &[ordinal]).first().copied()?;
        let element = Some(Element { kind, id });
        if !is_thing || !(search.wanted)(element, &details, &spot) {
            return None;
        }
        let importance = details.importance(details.tag("wikidata").and_then(search.articles));
        Some(Candidate { element, details, spot, importance, distance, away: self.away(spot.at), by_number: false })
    }

    fn away(&self, at: Coord) -> u32 {
        self.at.map_or(0, |here| metres(here.into(), at.into()) as u32)
    }

    /// A candidate that lies in all of this; farther away for each part that nothing is called.
    fn placed(&mut self, mut candidate: Candidate, within: &Within<'_>, pass: Pass) -> Option<Candidate> {
        let unknown = self.lies(&candidate, within, pass)?;
        candidate.distance = candidate.distance.saturating_add(unknown);
        Some(candidate)
    }

    /// How many parts of what it is to lie in nothing is called; `None` if it does not lie in one of the others. What lies in
    /// something is less than that.
    fn lies(&mut self, candidate: &Candidate, within: &Within<'_>, pass: Pass) -> Option<u8> {
        let Candidate { details, spot, .. } = candidate;
        let rank = details.rank();
        let mut unknown = 0;
        let mut rest: Vec<&(Rc<[Around]>, &[String])> = Vec::new();
        for part in within {
            let (any, words) = part;
            let holds = any.iter().any(|around| self.surroundings.holds(around, rank, &spot.bounds, spot.at));
            if !holds && !says(details, words) {
                rest.push(part);
            }
        }
        if rest.is_empty() {
            return Some(0);
        }
        if !pass.by_address {
            return None;
        }
        for (any, words) in rest {
            // Of a country its own addresses say that it lies in it.
            if rank <= 4 || !self.is_said(spot.at, words, rank) {
                if !pass.lenient || !any.is_empty() {
                    return None;
                }
                unknown += 1;
            }
        }
        // Something has to be known.
        (usize::from(unknown) < within.len() || within.len() == 1).then_some(unknown)
    }

    /// Whether addresses beside it say that it lies in something, or a street there is called so.
    fn is_said(&mut self, at: Coord, words: &[String], rank: u8) -> bool {
        if !self.said.contains_key(&at) {
            if self.said.len() >= BESIDE_MOST {
                return false;
            }
            self.said.insert(at, Rc::new(Said::near(self.osm, at)));
        }
        let Some(said) = self.said.get(&at) else { return false };
        said.around.iter().any(|said| said.starts_with(words))
            || (rank > 27 && said.streets.iter().any(|street| is_alike(street, words)))
    }

    /// Some elements of a tag.
    fn elements(&self, pair: PairId, scope: Option<&[BoundingBox]>) -> Vec<(ElementType, Ordinal)> {
        let mut found = Vec::new();
        for kind in [ElementType::Relation, ElementType::Way, ElementType::Node] {
            found.extend(self.ordinals(kind, pair, scope).into_iter().take(OF_TAG).map(|ordinal| (kind, ordinal)));
        }
        found
    }

    /// The elements of a type and a tag, those outside of these boxes left out if there are many.
    fn ordinals(&self, kind: ElementType, pair: PairId, scope: Option<&[BoundingBox]>) -> Vec<Ordinal> {
        let postings = self.osm.postings(kind, pair);
        if postings.is_empty() {
            return Vec::new();
        }
        match scope.filter(|_| postings.len() > 64) {
            None => postings.all().to_vec(),
            Some(boxes) => {
                let mut all: Vec<Ordinal> = boxes
                    .iter()
                    .flat_map(|within| postings.part(Scope::Within(&ranges(self.osm, kind, within))).to_vec())
                    .collect();
                all.sort_unstable();
                all.dedup();
                all
            }
        }
    }
}

/// Boxes outside of which nothing counts.
fn scope(within: &Within<'_>, search: &Search<'_>) -> Option<Vec<BoundingBox>> {
    let known = within.iter().filter(|(any, words)| !any.is_empty() && HouseNumber::whole(words).is_none());
    match known.min_by_key(|(any, _)| any.len()) {
        Some((any, _)) => Some(any.iter().map(|around| around.bounds).collect()),
        None => search.near.filter(|_| search.bounded).map(|near| vec![near]),
    }
}

/// Whether the address of an element says a part of a text: what it lies in, its street, its number, its postal code.
fn says(details: &Details, said: &[String]) -> bool {
    if details.said_around().any(|own| own.starts_with(said)) {
        return true;
    }
    let is = |key: &str| details.tag(key).is_some_and(|value| is_alike(&words(value), said));
    if ["addr:street", "addr:postcode", "postal_code", "addr:housename"].into_iter().any(is) {
        return true;
    }
    // `Walltown 23`, of a place and a number.
    let number = details.tag("addr:housenumber");
    let steps = details.tag("addr:interpolation");
    let is_both = number.is_some_and(|value| {
        let front = HouseNumber::in_front(said).into_iter().map(|(number, at)| (number, &said[at..]));
        let behind = HouseNumber::behind(said).into_iter().map(|(number, at)| (number, &said[..at]));
        front.chain(behind).any(|(number, street)| {
            let is = |key: &str| details.tag(key).is_some_and(|value| is_alike(&words(value), street));
            number.fits(value, steps) == Some(0) && (is("addr:street") || is("addr:place"))
        })
    });
    is_both
        || number
            .is_some_and(|value| HouseNumber::whole(said).is_some_and(|number| number.fits(value, steps) == Some(0)))
}

/// Whether two names are written alike, but for words that are shortened.
fn is_alike(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || variants(a).contains(b))
}

fn is_ring(osm: &Osm, way: Ordinal) -> bool {
    let (page, slot) = osm.place(ElementType::Way, way);
    is_closed(osm.way_page(page).nodes(slot))
}

impl Sort {
    fn has(self, details: &Details) -> bool {
        let rank = details.rank();
        match self {
            Sort::Any => true,
            Sort::Street => details.tag("highway").is_some() || details.tag("place").is_some(),
            Sort::City => (9..=25).contains(&rank),
            Sort::Region => (5..=15).contains(&rank),
            Sort::Country => rank <= 4,
        }
    }
}
