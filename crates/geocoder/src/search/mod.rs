//! Finds places by free text or by the parts of an address.
//!
//! A query has several readings (`question.rs`). The index of names maps the words of a reading to names with all of
//! these words, the names to tags, and the tags to elements. Elements outside of the areas that the reading names are
//! dropped. Full matches of a name come first, then towns and countries with borders, then by importance, element type
//! and id.
//!
//! If no place matches, the next pass reads the text from right to left and compares it with the tags of addresses
//! nearby. Later passes allow prefixes of words, then misspelled words.

mod answer;
mod houses;
mod kinds;

use std::collections::HashMap;
use std::rc::Rc;

use terrapin_budget as budget;
use terrapin_osm::areas::is_closed;
use terrapin_osm::geometry::metres;
use terrapin_osm::names::{NameTarget, named_by, words};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId, PostingScope};

use crate::address::Address;
use crate::around::{SurroundingArea, SurroundingsCache};
use crate::countries;
use crate::details::PlaceLayer;
use crate::hit::{Articles, Hit};
use crate::house::HouseNumber;
use crate::lists::{LONGER, Mode, NameLists};
use crate::near::{ReverseQuery, nearest};
use crate::nearby::ranges;
use crate::postcode::{Postcode, PostcodeRegion};
use crate::question::{PlaceKind, PlaceQuery, QueryReading, ReadingTarget};
use crate::spot::PlaceSpot;
use crate::streets::StreetContext;
use crate::variants::variants;
use crate::{Details, PlaceElement};

/// Maximum number of elements to read for one tag, and for one pass.
const OF_TAG: usize = 256;
const ELEMENTS: usize = 2000;
/// Highest rank of a settlement.
const SETTLED: u8 = 20;
/// Maximum difference of rank between a town's border and its node.
const ALIKE: u8 = 4;
/// Maximum number of positions around which addresses are read.
const BESIDE_MOST: usize = 128;
/// Maximum number of candidates of a reading to build an address for when postal codes are compared.
const CODES_READ: usize = 48;
/// Radii in metres for a search of a kind of thing near a place, tried in this order.
const BESIDE: [f64; 3] = [500.0, 2_000.0, 10_000.0];

/// A test that keeps or drops a place, by its element, tags and position.
pub type Filter<'a> = &'a dyn Fn(Option<PlaceElement>, &Details, &PlaceSpot) -> bool;

/// A search: the query and its limits.
pub struct PlaceSearch<'a> {
    /// The query.
    pub question: &'a PlaceQuery,
    /// Whether the last word may be incomplete.
    pub typing: bool,
    /// Maximum number of places to return.
    pub limit: usize,
    /// Places in this box come first.
    pub near: Option<BoundingBox>,
    /// Whether places outside of `near` are dropped.
    pub bounded: bool,
    /// Lower-case country codes; empty for any country.
    pub countries: &'a [String],
    /// Whether elements of one place are merged.
    pub once: bool,
    /// The filter for results.
    pub wanted: Filter<'a>,
    /// Counts of Wikipedia articles.
    pub articles: Articles<'a>,
}

impl<'a> PlaceSearch<'a> {
    /// Creates a search without a box or filters.
    pub fn of(question: &'a PlaceQuery, limit: usize, articles: Articles<'a>) -> PlaceSearch<'a> {
        PlaceSearch {
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

/// One pass over the readings: which readings, and how loosely they match.
#[derive(Debug, Clone, Copy)]
struct SearchPass {
    mode: Mode,
    /// Whether readings from right to left are used.
    backward: bool,
    /// Whether the tags of addresses nearby count as the surroundings.
    by_address: bool,
    /// Whether only full matches of a name count.
    full: bool,
    /// Whether the last word of the surroundings may be incomplete.
    begins_around: bool,
    /// Whether elements are read only in the boxes of the most selective part of the text.
    scoped: bool,
    /// Whether parts of the text that match no name are ignored, at a lower rank.
    lenient: bool,
}

impl SearchPass {
    const fn of(mode: Mode) -> SearchPass {
        SearchPass {
            mode,
            backward: false,
            by_address: false,
            full: false,
            begins_around: false,
            scoped: true,
            lenient: false,
        }
    }

    /// The passes for a complete text. The first pass with a result ends the search.
    const WHOLE: [SearchPass; 11] = [
        SearchPass::of(Mode::Whole),
        SearchPass { backward: true, full: true, ..SearchPass::of(Mode::Whole) },
        SearchPass { by_address: true, full: true, ..SearchPass::of(Mode::Whole) },
        SearchPass { by_address: true, scoped: false, full: true, ..SearchPass::of(Mode::Whole) },
        SearchPass { backward: true, by_address: true, full: true, ..SearchPass::of(Mode::Whole) },
        SearchPass { backward: true, by_address: true, scoped: false, full: true, ..SearchPass::of(Mode::Whole) },
        SearchPass { by_address: true, scoped: false, full: true, lenient: true, ..SearchPass::of(Mode::Whole) },
        SearchPass::of(Mode::Typing),
        SearchPass::of(Mode::Slips),
        // A misspelled name with its street: `Caffe Cordina, Republic Street` for a `Café`.
        SearchPass { by_address: true, ..SearchPass::of(Mode::Typing) },
        SearchPass { by_address: true, ..SearchPass::of(Mode::Slips) },
    ];
    /// The passes for an incomplete text.
    const TYPING: [SearchPass; 3] = [
        SearchPass::of(Mode::Typing),
        SearchPass { begins_around: true, ..SearchPass::of(Mode::Typing) },
        SearchPass::of(Mode::Slips),
    ];
}

/// A match before its address is built: an element, or a postal code without an element.
#[derive(Clone)]
struct PlaceCandidate {
    element: Option<PlaceElement>,
    details: Details,
    spot: PlaceSpot,
    importance: f64,
    distance: u8,
    /// Distance in metres from the place or position of the query; 0 without one.
    away: u32,
    /// Whether it matched by its house number.
    by_number: bool,
}

/// The surroundings of a reading: for each part the places of that name, and its words.
type Within<'a> = [(Rc<[SurroundingArea]>, &'a [String])];

struct Finder<'a> {
    osm: &'a Osm,
    lists: NameLists<'a>,
    surroundings: SurroundingsCache<'a>,
    regions: HashMap<String, Rc<[PostcodeRegion]>>,
    /// Streets and address tags around positions.
    said: HashMap<Coord, Rc<StreetContext>>,
    /// The position in the query.
    at: Option<Coord>,
    left: usize,
}

/// Returns the places for a query, best first; empty if the snapshot has no index of names.
pub fn search(osm: &Osm, search: &PlaceSearch<'_>) -> Vec<Hit> {
    let Some(mut finder) = Finder::new(osm, search.typing) else { return Vec::new() };
    let readings = search.question.readings(&|words| Postcode::of(osm, words));
    finder.at = readings.at;
    if let Some(at) = readings.at.filter(|_| readings.forward.is_empty()) {
        let near =
            ReverseQuery { at, zoom: 18, layers: &[PlaceLayer::Address, PlaceLayer::Poi], articles: search.articles };
        let is_wanted = |hit: &Hit| (search.wanted)(hit.element, &hit.details, &hit.spot);
        return nearest(osm, &near).into_iter().filter(is_wanted).collect();
    }
    let passes = if search.typing { &SearchPass::TYPING[..] } else { &SearchPass::WHOLE[..] };
    for pass in passes {
        if pass.lenient && !has_parts(search.question) {
            continue;
        }
        // Each pass has its own limit.
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

/// Returns whether a query has separate parts.
fn has_parts(question: &PlaceQuery) -> bool {
    match question {
        PlaceQuery::Text(text) => text.contains([',', '،', '、', '\n']),
        PlaceQuery::Parts(_) => true,
    }
}

/// Returns the areas with a full name that matches a text, best first.
pub fn areas_named(osm: &Osm, text: &str, most: usize) -> Vec<PlaceElement> {
    let is_area = |element: Option<PlaceElement>, _: &Details, _: &PlaceSpot| {
        let Some(element) = element.filter(|element| element.kind == ElementType::Relation) else { return false };
        osm.find(element.kind, element.id).is_some_and(|ordinal| osm.areas().of_relation(ordinal).is_some())
    };
    let question = PlaceQuery::Text(text.to_owned());
    let search = PlaceSearch { wanted: &is_area, ..PlaceSearch::of(&question, most, &|_| None) };
    let Some(mut finder) = Finder::new(osm, false) else { return Vec::new() };
    let mut readings = question.readings(&|_| None).forward;
    readings.retain(|reading| matches!(reading.wanted, ReadingTarget::Name(_)) && reading.distance == 0);
    let mut found = finder.find(&readings, SearchPass::of(Mode::Whole), &search);
    found.retain(|candidate| candidate.distance == 0);
    finder.told(found, &search).into_iter().filter_map(|hit| hit.element).collect()
}

impl<'a> Finder<'a> {
    fn new(osm: &'a Osm, typing: bool) -> Option<Finder<'a>> {
        Some(Finder {
            osm,
            lists: NameLists::new(osm, typing)?,
            surroundings: SurroundingsCache::new(osm),
            regions: HashMap::new(),
            said: HashMap::new(),
            at: None,
            left: ELEMENTS,
        })
    }

    /// Returns the candidates of all readings, each element once.
    fn find(&mut self, readings: &[QueryReading], pass: SearchPass, search: &PlaceSearch<'_>) -> Vec<PlaceCandidate> {
        let mut found: Vec<PlaceCandidate> = Vec::new();
        let mut seen: HashMap<(Option<PlaceElement>, Coord), usize> = HashMap::new();
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

    fn read(&mut self, reading: &QueryReading, pass: SearchPass, search: &PlaceSearch<'_>) -> Vec<PlaceCandidate> {
        let is_name = matches!(reading.wanted, ReadingTarget::Name(_) | ReadingTarget::House(..));
        let mut within = Vec::new();
        for (at, part) in reading.within.iter().enumerate() {
            // Surroundings match by whole words, unless the user is still typing them.
            let is_typed = pass.begins_around && !reading.ends && at + 1 == reading.within.len();
            let mode = if pass.mode == Mode::Typing && !is_typed { Mode::Whole } else { pass.mode };
            let around = self.surroundings.of(&mut self.lists, part, mode);
            if around.is_empty() && !pass.by_address && is_name {
                return Vec::new();
            }
            within.push((around, part.as_slice()));
        }
        match &reading.wanted {
            ReadingTarget::Name(words) => {
                let mut found = self.names(reading, words, &within, pass, search);
                if within.is_empty()
                    && pass.mode == Mode::Whole
                    && matches!(reading.sort, PlaceKind::Any | PlaceKind::Region | PlaceKind::Country)
                {
                    found.extend(self.territories(reading, words, search));
                }
                found
            }
            ReadingTarget::House(house, street) => self.houses(reading, house, street, &within, pass, search),
            ReadingTarget::Postcode => self.codes(reading, &within, pass, search),
            ReadingTarget::Kind((key, value), near) => match self.osm.pair(key, value) {
                Some(pair) => self.kinds(reading, pair, *near, &within, pass, search),
                None => Vec::new(),
            },
        }
    }

    /// Returns the elements with a name.
    fn names(
        &mut self,
        reading: &QueryReading,
        name: &[String],
        within: &Within<'_>,
        pass: SearchPass,
        search: &PlaceSearch<'_>,
    ) -> Vec<PlaceCandidate> {
        // A country code must match in full.
        let is_code = reading.sort == PlaceKind::Country && name.concat().len() <= 3;
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
            // A `ref` must match in full: some letter boxes have their address there.
            let is_part = self.lists.names.name(named.name).1 > name.len();
            if named_by(key) != Some(NameTarget::Itself) || (key == "ref" && is_part) {
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

    /// Returns countries and regions without a border in the snapshot.
    fn territories(&self, reading: &QueryReading, name: &[String], search: &PlaceSearch<'_>) -> Vec<PlaceCandidate> {
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
            // A code may also be a word, so that it ranks lower.
            let is_code = name.len() == 1 && name[0].len() <= 3;
            let (importance, away) = (details.importance(None), self.away(spot.at));
            let distance = reading.distance + u8::from(is_code);
            found.push(PlaceCandidate { element: None, details, spot, importance, distance, away, by_number: false });
        }
        found
    }

    /// Increases the distance of candidates outside of the reading's postal code.
    fn with_code(&mut self, reading: &QueryReading, mut found: Vec<PlaceCandidate>) -> Vec<PlaceCandidate> {
        if let Some(code) = &reading.postcode {
            let regions = self.regions(code);
            let mut left = CODES_READ;
            let mut others: Vec<usize> = Vec::new();
            let mut has_code = false;
            for (number, candidate) in found.iter_mut().enumerate() {
                let (at, bounds) = (candidate.spot.at, &candidate.spot.bounds);
                if code.is_of(&candidate.details) {
                    has_code |= candidate.distance == 0;
                    continue;
                }
                let is_near = regions.iter().any(|region| region.is_with(self.osm, at, bounds));
                // The code of its street or border, or an estimated one.
                let own = if candidate.distance == 0 && left > 0 {
                    left -= 1;
                    Address::of(self.osm, candidate.element, &candidate.details, at).postcode
                } else {
                    None
                };
                match own.map(|own| code.is(&own)) {
                    Some(true) => has_code = true,
                    Some(false) if is_near => others.push(number),
                    None if is_near => {}
                    _ => candidate.distance += LONGER,
                }
            }
            // The box of a code also has places with other codes: they count if no place has the code itself.
            for number in others.into_iter().filter(|_| has_code) {
                found[number].distance += LONGER;
            }
        }
        found
    }

    /// Makes a candidate of an element; `None` if the filter drops it, or the limit of the pass is reached.
    fn candidate(
        &mut self,
        kind: ElementType,
        ordinal: Ordinal,
        distance: u8,
        search: &PlaceSearch<'_>,
    ) -> Option<PlaceCandidate> {
        self.left = self.left.checked_sub(1)?;
        budget::checkpoints(64);
        let spot = PlaceSpot::of(self.osm, kind, ordinal)?;
        if search.bounded && search.near.is_some_and(|near| !near.contains(spot.at)) {
            return None;
        }
        let details = Details::of(self.osm, kind, ordinal);
        // Open ways of borders and elements without a main tag are not places.
        let is_piece = kind == ElementType::Way && details.level().is_some() && !is_ring(self.osm, ordinal);
        let is_thing = (details.category() != ("area", "yes") || kind == ElementType::Relation) && !is_piece;
        let id = self.osm.ids(kind, &[ordinal]).first().copied()?;
        let element = Some(PlaceElement { kind, id });
        if !is_thing || !(search.wanted)(element, &details, &spot) {
            return None;
        }
        let importance = details.importance(details.tag("wikidata").and_then(search.articles));
        Some(PlaceCandidate {
            element,
            details,
            spot,
            importance,
            distance,
            away: self.away(spot.at),
            by_number: false,
        })
    }

    fn away(&self, at: Coord) -> u32 {
        self.at.map_or(0, |here| metres(here.into(), at.into()) as u32)
    }

    /// Returns the candidate if it is inside of all surroundings. Each ignored part increases its distance by 1.
    fn placed(
        &mut self,
        mut candidate: PlaceCandidate,
        within: &Within<'_>,
        pass: SearchPass,
    ) -> Option<PlaceCandidate> {
        let unknown = self.lies(&candidate, within, pass)?;
        candidate.distance = candidate.distance.saturating_add(unknown);
        Some(candidate)
    }

    /// Returns the number of ignored parts; `None` if the candidate is outside of one of the others. A place is only
    /// inside of places with a lower rank.
    fn lies(&mut self, candidate: &PlaceCandidate, within: &Within<'_>, pass: SearchPass) -> Option<u8> {
        let PlaceCandidate { details, spot, .. } = candidate;
        let rank = details.rank();
        let mut unknown = 0;
        let mut rest: Vec<&(Rc<[SurroundingArea]>, &[String])> = Vec::new();
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
            // The addresses in a country name the country itself.
            if rank <= 4 || !self.is_said(spot.at, words, rank) {
                if !pass.lenient || !any.is_empty() {
                    return None;
                }
                unknown += 1;
            }
        }
        // At least one part must match.
        (usize::from(unknown) < within.len() || within.len() == 1).then_some(unknown)
    }

    /// Returns whether addresses or streets around a position have these words.
    fn is_said(&mut self, at: Coord, words: &[String], rank: u8) -> bool {
        if !self.said.contains_key(&at) {
            if self.said.len() >= BESIDE_MOST {
                return false;
            }
            self.said.insert(at, Rc::new(StreetContext::near(self.osm, at)));
        }
        let Some(said) = self.said.get(&at) else { return false };
        said.around.iter().any(|said| said.starts_with(words))
            || (rank > 27 && said.streets.iter().any(|street| is_alike(street, words)))
    }

    /// Returns elements with a tag, at most 256 of each type.
    fn elements(&self, pair: PairId, scope: Option<&[BoundingBox]>) -> Vec<(ElementType, Ordinal)> {
        let mut found = Vec::new();
        for kind in [ElementType::Relation, ElementType::Way, ElementType::Node] {
            found.extend(self.ordinals(kind, pair, scope).into_iter().take(OF_TAG).map(|ordinal| (kind, ordinal)));
        }
        found
    }

    /// Returns the elements of a type with a tag. Of more than 64, only those on pages that meet the boxes.
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
                    .flat_map(|within| postings.part(PostingScope::Within(&ranges(self.osm, kind, within))).to_vec())
                    .collect();
                all.sort_unstable();
                all.dedup();
                all
            }
        }
    }
}

/// Returns the boxes of the most selective part of the surroundings.
fn scope(within: &Within<'_>, search: &PlaceSearch<'_>) -> Option<Vec<BoundingBox>> {
    let known = within.iter().filter(|(any, words)| !any.is_empty() && HouseNumber::whole(words).is_none());
    match known.min_by_key(|(any, _)| any.len()) {
        Some((any, _)) => Some(any.iter().map(|around| around.bounds).collect()),
        None => search.near.filter(|_| search.bounded).map(|near| vec![near]),
    }
}

/// Returns whether a part of the text is in the element's own address: area, street, house number or postal code.
fn says(details: &Details, said: &[String]) -> bool {
    if details.said_around().any(|own| own.starts_with(said)) {
        return true;
    }
    let is = |key: &str| details.tag(key).is_some_and(|value| is_alike(&words(value), said));
    if ["addr:street", "addr:postcode", "postal_code", "addr:housename"].into_iter().any(is) {
        return true;
    }
    // A street or place with a number: `Walltown 23`.
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

/// Returns whether two names are equal apart from abbreviations.
fn is_alike(a: &[String], b: &[String]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || variants(a).contains(b))
}

fn is_ring(osm: &Osm, way: Ordinal) -> bool {
    let (page, slot) = osm.place(ElementType::Way, way);
    is_closed(osm.way_page(page).nodes(slot))
}

impl PlaceKind {
    fn has(self, details: &Details) -> bool {
        let rank = details.rank();
        match self {
            PlaceKind::Any => true,
            PlaceKind::Street => details.tag("highway").is_some() || details.tag("place").is_some(),
            PlaceKind::City => (9..=25).contains(&rank),
            PlaceKind::Region => (5..=15).contains(&rank),
            PlaceKind::Country => rank <= 4,
        }
    }
}
