//! Finding places by what people write.
//!
//! A question has several readings (`question.rs`). In the index of names each reading's words lead to names that have them
//! all, these to tags, and the tags to elements, of which those count that lie in what the reading names around them. First
//! come names that are said in full; of these towns and countries with borders; by importance; then relations before ways
//! before nodes, and the lowest id. Only where nothing is found so, a text is read from right to left, and what lies around
//! is what addresses say; then words may be the beginnings of words, and only after that written nearly so.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use terrapin_budget as budget;
use terrapin_osm::areas::is_closed;
use terrapin_osm::geometry::{LatLon, around_box, metres};
use terrapin_osm::names::{Names, named_by, words};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId, Scope};

use super::address::{Address, ranges};
use super::around::{Around, Surroundings};
use super::details::Layer;
use super::hit::{Articles, Hit};
use super::lists::{LONGER, Lists, Mode};
use super::near::{Near, nearest, said_near};
use super::postcode::{Postcode, Region};
use super::question::{Question, Reading, Sort, Wanted};
use super::spot::{Spot, point};
use super::{Details, Element};

/// Elements of one tag, and of one search.
const OF_TAG: usize = 256;
const ELEMENTS: usize = 2000;
/// The highest rank of places that people live in.
const SETTLED: u8 = 20;
/// Ranks that a town's border and its node may be apart.
const ALIKE: u8 = 4;
/// Places beside which addresses are looked for.
const BESIDE_MOST: usize = 32;
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
}

impl Pass {
    const fn of(mode: Mode) -> Pass {
        Pass { mode, backward: false, by_address: false, full: false, begins_around: false }
    }

    /// Those of a text that is whole, one after another until something is found.
    const WHOLE: [Pass; 6] = [
        Pass::of(Mode::Whole),
        Pass { backward: true, full: true, ..Pass::of(Mode::Whole) },
        Pass { by_address: true, full: true, ..Pass::of(Mode::Whole) },
        Pass { backward: true, by_address: true, full: true, ..Pass::of(Mode::Whole) },
        Pass::of(Mode::Typing),
        Pass::of(Mode::Slips),
    ];
    /// Those of a text that is being written.
    const TYPING: [Pass; 3] =
        [Pass::of(Mode::Typing), Pass { begins_around: true, ..Pass::of(Mode::Typing) }, Pass::of(Mode::Slips)];
}

/// An element that has a name, before its surroundings were looked at; or a postal code without an element.
struct Candidate {
    element: Option<Element>,
    details: Details,
    spot: Spot,
    importance: f64,
    distance: u8,
    /// Metres from what it is to be near to.
    away: u32,
}

/// What a reading lies in: for each part what it means, and its words.
type Within<'a> = [(Rc<[Around]>, &'a [String])];

struct Finder<'a> {
    osm: &'a Osm,
    lists: Lists<'a>,
    surroundings: Surroundings<'a>,
    regions: HashMap<String, Rc<[Region]>>,
    /// What addresses around positions say.
    said: HashMap<Coord, Rc<[Vec<String>]>>,
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
        let some = if pass.backward { &readings.backward } else { &readings.forward };
        let found = finder.find(some, *pass, search);
        let hits = finder.told(found, search);
        if !hits.is_empty() {
            return hits;
        }
    }
    Vec::new()
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
            Wanted::Name(words) => self.names(reading, words, None, &within, pass, search),
            Wanted::House(house, street) => self.names(reading, street, Some(house), &within, pass, search),
            Wanted::Postcode => self.codes(reading, &within, pass, search),
            Wanted::Kind((key, value), near) => match self.osm.pair(key, value) {
                Some(pair) => self.kinds(reading, pair, *near, &within, pass, search),
                None => Vec::new(),
            },
        }
    }

    /// What has a name, or a house in what has it.
    fn names(
        &mut self,
        reading: &Reading,
        name: &[String],
        house: Option<&str>,
        within: &Within<'_>,
        pass: Pass,
        search: &Search<'_>,
    ) -> Vec<Candidate> {
        let scope = if pass.by_address { None } else { scope(within, search) };
        let mut found = Vec::new();
        for named in self.lists.named(name, pass.mode, reading.ends) {
            if pass.full && named.distance > 0 {
                continue;
            }
            let (pair, _) = self.lists.names.name(named.name);
            let key = self.osm.key_name(self.osm.key_of(pair));
            let house = match (house, named_by(key)) {
                (Some(house), Some(Names::Street)) => Some(house),
                (None, Some(Names::Itself)) => None,
                _ => continue,
            };
            for (kind, ordinal) in self.elements(pair, house, scope.as_deref()) {
                let distance = named.distance + reading.distance;
                let Some(candidate) = self.candidate(kind, ordinal, distance, search) else {
                    if self.left == 0 {
                        return found;
                    }
                    continue;
                };
                if (house.is_some() || reading.sort.has(&candidate.details)) && self.lies(&candidate, within, pass) {
                    found.push(candidate);
                }
            }
        }
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

    /// Where a postal code is.
    fn codes(&mut self, reading: &Reading, within: &Within<'_>, pass: Pass, search: &Search<'_>) -> Vec<Candidate> {
        let Some(code) = reading.postcode.as_ref().filter(|_| pass.mode != Mode::Typing || search.typing) else {
            return Vec::new();
        };
        let regions = self.regions(code);
        let mut found = Vec::new();
        for Region { border, details, spot, around } in regions.iter() {
            let element = border.map(|(element, _)| element);
            let is_in = !search.bounded || search.near.is_none_or(|near| near.contains(spot.at));
            if !is_in || !(search.wanted)(element, details, spot) {
                continue;
            }
            let mut candidate = Candidate {
                element,
                details: details.clone(),
                spot: *spot,
                importance: details.importance(None),
                distance: reading.distance,
                away: self.away(spot.at),
            };
            let lies = within.iter().all(|part| {
                self.lies(&candidate, std::slice::from_ref(part), pass)
                    || around.iter().any(|said| said.starts_with(part.1))
            });
            // What nobody knows beside it does not matter, where nothing else is found.
            let is_alone = pass.by_address && within.iter().all(|(around, _)| around.is_empty());
            if lies || is_alone {
                candidate.distance += u8::from(!lies);
                found.push(candidate);
            }
        }
        found
    }

    fn regions(&mut self, code: &Postcode) -> Rc<[Region]> {
        if let Some(known) = self.regions.get(&code.text) {
            return Rc::clone(known);
        }
        let regions: Rc<[Region]> = code.regions(self.osm).into();
        self.regions.insert(code.text.clone(), Rc::clone(&regions));
        regions
    }

    /// What has a tag and lies in places, or near to one.
    fn kinds(
        &mut self,
        reading: &Reading,
        pair: PairId,
        near: bool,
        within: &Within<'_>,
        pass: Pass,
        search: &Search<'_>,
    ) -> Vec<Candidate> {
        if let Some(at) = self.at {
            return self.beside(reading, pair, &Spot { bounds: point(at), at }, search);
        }
        let is_known = within.iter().all(|(around, _)| !around.is_empty());
        if near || !is_known {
            // Near to the likeliest of what is called so, where somebody says that it is a place.
            if reading.distance > 0 {
                return Vec::new();
            }
            let Some(((_, name), rest)) = within.split_first() else { return Vec::new() };
            if rest.iter().any(|(around, _)| around.is_empty()) {
                return Vec::new();
            }
            let anything = Search::of(search.question, 1, search.articles);
            let plain = Reading { sort: Sort::Any, postcode: None, ends: false, distance: 0, ..reading.clone() };
            let found = self.names(&plain, name, None, rest, pass, &anything);
            let best = found.iter().min_by_key(|candidate| order(candidate, search));
            return match best.map(|candidate| candidate.spot) {
                Some(spot) => self.beside(reading, pair, &spot, search),
                None => Vec::new(),
            };
        }
        let scope = match (within, search.near) {
            ([], None) => return Vec::new(),
            ([], Some(near)) => Some(vec![near]),
            _ => scope(within, search),
        };
        let mut found = Vec::new();
        for (kind, ordinal) in self.elements(pair, None, scope.as_deref()) {
            let Some(candidate) = self.candidate(kind, ordinal, reading.distance, search) else { continue };
            let is_in = !within.is_empty() || search.near.is_none_or(|near| near.contains(candidate.spot.at));
            if is_in && self.lies(&candidate, within, pass) {
                found.push(candidate);
            }
        }
        found
    }

    /// What has a tag and is near to a place, as far as there is enough of it.
    fn beside(&mut self, reading: &Reading, pair: PairId, place: &Spot, search: &Search<'_>) -> Vec<Candidate> {
        let corner = Coord { lat: place.bounds.north, lon: place.bounds.east };
        let half = metres(place.at.into(), corner.into()).min(BESIDE[2]);
        let mut found = Vec::new();
        for radius in BESIDE.map(|radius| radius + half) {
            found.clear();
            let area = around_box(LatLon::from(place.at), radius);
            for (kind, ordinal) in self.elements(pair, None, Some(&[area])) {
                let Some(candidate) = self.candidate(kind, ordinal, reading.distance, search) else { continue };
                let away = metres(place.at.into(), candidate.spot.at.into());
                if away <= radius {
                    found.push(Candidate { away: away as u32, ..candidate });
                }
            }
            if found.len() >= search.limit || self.left == 0 {
                break;
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
        Some(Candidate { element, details, spot, importance, distance, away: self.away(spot.at) })
    }

    fn away(&self, at: Coord) -> u32 {
        self.at.map_or(0, |here| metres(here.into(), at.into()) as u32)
    }

    /// Whether it lies in all of this: what lies in something is less than that.
    fn lies(&mut self, candidate: &Candidate, within: &Within<'_>, pass: Pass) -> bool {
        let Candidate { details, spot, .. } = candidate;
        let rank = details.rank();
        within.iter().all(|(any, words)| {
            any.iter().any(|around| self.surroundings.holds(around, rank, &spot.bounds, spot.at))
                || (pass.by_address && self.is_said(details, spot.at, words))
        })
    }

    /// Whether its address says that it lies in something, or the addresses beside it.
    fn is_said(&mut self, details: &Details, at: Coord, words: &[String]) -> bool {
        if details.said_around().any(|said| said.starts_with(words)) {
            return true;
        }
        if !self.said.contains_key(&at) {
            if self.said.len() >= BESIDE_MOST {
                return false;
            }
            self.said.insert(at, said_near(self.osm, at).into());
        }
        self.said.get(&at).is_some_and(|all| all.iter().any(|said| said.starts_with(words)))
    }

    /// The elements of a tag, those of a house's number where one is given.
    fn elements(
        &self,
        pair: PairId,
        house: Option<&str>,
        scope: Option<&[BoundingBox]>,
    ) -> Vec<(ElementType, Ordinal)> {
        let mut found = Vec::new();
        for kind in [ElementType::Relation, ElementType::Way, ElementType::Node] {
            let postings = self.osm.postings(kind, pair);
            if postings.is_empty() {
                continue;
            }
            let many = postings.len() > 64;
            let mut list: Vec<Ordinal> = match scope.filter(|_| many) {
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
            };
            if let Some(house) = house {
                let values: HashSet<String> = [house.to_owned(), house.to_lowercase(), house.to_uppercase()].into();
                let pairs: Vec<PairId> =
                    values.iter().filter_map(|value| self.osm.pair("addr:housenumber", value)).collect();
                let mut houses: Vec<Ordinal> =
                    pairs.iter().flat_map(|&pair| self.osm.postings(kind, pair).among(&list, true)).collect();
                houses.sort_unstable();
                list = houses;
            }
            found.extend(list.into_iter().take(OF_TAG).map(|ordinal| (kind, ordinal)));
        }
        found
    }

    // ---- the answer

    /// The likeliest of these, each once however many elements it has.
    fn told(&self, mut found: Vec<Candidate>, search: &Search<'_>) -> Vec<Hit> {
        found.sort_by_cached_key(|candidate| order(candidate, search));
        let mut seen = HashSet::new();
        let mut hits: Vec<Hit> = Vec::new();
        // Of what is said in full nobody means a part of a longer name.
        let nearest = found.first().map_or(0, |candidate| candidate.distance);
        for candidate in found {
            if hits.len() >= search.limit
                || (!search.typing && nearest.is_multiple_of(LONGER) && candidate.distance > nearest)
            {
                break;
            }
            budget::checkpoints(256);
            let Candidate { element, details, spot, importance, .. } = candidate;
            let address = Address::of(self.osm, element, &details, spot.at);
            if !search.countries.is_empty()
                && !address.country(&details).is_some_and(|code| search.countries.contains(&code))
            {
                continue;
            }
            let hit = Hit { element, details, importance, spot, address };
            let is_new = seen.insert(hit.same()) && !hits.iter().any(|border| self.is_node_of(&hit, border));
            if is_new || !search.once {
                hits.push(hit);
            }
        }
        hits
    }

    /// Whether a place is the node of a border that is told.
    fn is_node_of(&self, node: &Hit, border: &Hit) -> bool {
        let kinds = [node, border].map(|hit| hit.element.map(|element| element.kind));
        let is_place = node.details.tag("place").is_some() && border.spot.bounds.contains(node.spot.at);
        if kinds != [Some(ElementType::Node), Some(ElementType::Relation)] || !is_place {
            return false;
        }
        let [a, b] = [node, border].map(|hit| (words(hit.name(&[])), hit.details.rank()));
        a.0 == b.0 && a.1.abs_diff(b.1) <= ALIKE && border.details.level().is_some()
    }
}

/// Boxes outside of which nothing counts.
fn scope(within: &Within<'_>, search: &Search<'_>) -> Option<Vec<BoundingBox>> {
    match within.iter().min_by_key(|(any, _)| any.len()) {
        Some((any, _)) => Some(any.iter().map(|around| around.bounds).collect()),
        None => search.near.filter(|_| search.bounded).map(|near| vec![near]),
    }
}

/// What comes first: the lowest.
fn order(candidate: &Candidate, search: &Search<'_>) -> impl Ord + use<> {
    let Candidate { element, details, spot, importance, distance, away } = candidate;
    let distance = if search.typing { distance / LONGER } else { *distance };
    let is_far = search.near.is_some_and(|near| !near.contains(spot.at));
    let (rank, kind) = (details.rank(), element.map(|element| element.kind));
    // Who says the name of a town or a country means what is within its border.
    let is_settled = kind == Some(ElementType::Relation) && rank <= SETTLED;
    // An importance has no more digits than count.
    let steps = Reverse((importance * 1e9) as i64);
    let last = (rank, !details.has_article(), Reverse(kind), element.map(|element| element.id));
    // Who says a postal code with a town means less than the town; with a street no more than that.
    let code = match (details.is_postcode(), distance) {
        (true, 0) => -1,
        (true, _) => 1,
        (false, _) => 0,
    };
    let is_nameless = details.name_in(&[]).is_none() && details.tag("addr:housenumber").is_none();
    (distance, is_far, *away, code, !is_settled, steps, is_nameless, last)
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
