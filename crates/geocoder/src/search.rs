//! Finding places by what people write.
//!
//! A question has several readings (`question.rs`). In the index of names each reading's words lead to names that have them
//! all, these to tags, and the tags to elements, of which those count that lie in what the reading names around them. First
//! come names that are said in full; of these towns and countries with borders; by importance; then relations before ways
//! before nodes, and the lowest id. Only where
//! nothing is found words may be the beginnings of words, and only after that written nearly so.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use terrapin_budget as budget;
use terrapin_osm::areas::is_closed;
use terrapin_osm::geometry::{LatLon, around_box, metres};
use terrapin_osm::names::{Names, named_by, words};
use terrapin_osm::{BoundingBox, Coord, ElementType, NameTable, Ordinal, Osm, PairId, Scope, Word};

use super::address::{Address, ranges, reach};
use super::question::{Question, Reading, Sort};
use super::spot::Spot;
use super::{Details, Element};

/// Names that are followed to elements, of those said in full and of the others.
const NAMES: usize = 64;
/// Elements of one tag, and of one search.
const OF_TAG: usize = 256;
const ELEMENTS: usize = 2000;
/// The highest rank of places that people live in.
const SETTLED: u8 = 20;
/// Places that a part of a text may mean.
const AROUND: usize = 32;
/// Words that are followed where one is still being typed and nothing else is said.
const BEGINNINGS: usize = 256;
/// Letters of a word from which on it may have one slip, and two.
const SLIPS: [usize; 2] = [4, 8];

/// Says how many articles there are about an item of Wikidata, by its id such as `Q233`; `None` where nobody knows.
pub type Articles<'a> = &'a dyn Fn(&str) -> Option<u64>;

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
    /// What of the places that are found is wanted.
    pub wanted: &'a dyn Fn(Element, &Details) -> bool,
    /// How many articles there are.
    pub articles: Articles<'a>,
}

/// A place that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Its element.
    pub element: Element,
    /// Where it is among those of its type.
    pub ordinal: Ordinal,
    /// Its tags.
    pub details: Details,
    /// From 0 to 1.
    pub importance: f64,
    /// Where it is.
    pub spot: Spot,
    /// What lies around it.
    pub address: Address,
}

impl Hit {
    /// An element as a place; `None` where it lies nowhere.
    pub fn of(osm: &Osm, element: Element, articles: Articles<'_>) -> Option<Hit> {
        let ordinal = osm.find(element.kind, element.id)?;
        let spot = Spot::of(osm, element.kind, ordinal)?;
        let details = Details::of(osm, element.kind, ordinal);
        let importance = details.importance(details.tag("wikidata").and_then(articles));
        let address = Address::of(osm, element, &details, spot.at);
        Some(Hit { element, ordinal, details, importance, spot, address })
    }

    /// What it is called in the first of these languages that it has a name in; else as its place calls it; empty where it
    /// has no name.
    pub fn name(&self, languages: &[String]) -> &str {
        self.details.name_in(languages).unwrap_or_default()
    }

    /// Name and address on a line, each text once.
    pub fn label(&self, languages: &[String]) -> String {
        let Address { house, road, postcode, parts } = &self.address;
        let named = |is_country: bool| {
            let some = parts.iter().filter(move |part| (part.label == "country") == is_country);
            some.filter_map(|part| part.details.name_in(languages))
        };
        let own = [Some(self.name(languages)), house.as_deref(), road.as_deref()];
        let texts = own.into_iter().flatten().chain(named(false)).chain(postcode.as_deref()).chain(named(true));
        let mut all: Vec<&str> = Vec::new();
        for text in texts {
            if !text.is_empty() && !all.contains(&text) {
                all.push(text);
            }
        }
        all.join(", ")
    }
}

/// How words may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Mode {
    /// As they stand.
    Whole,
    /// The last one may be the beginning of one.
    Typing,
    /// With slips.
    Slips,
}

/// Names that have a word, ascending, with the slips in it.
type List = Rc<[(u32, u8)]>;

/// A name that has all words, and how far it is from what was said: 0 is all of it and nothing else.
#[derive(Debug, Clone, Copy)]
struct Named {
    name: u32,
    distance: u8,
}

/// What a part of a text means as the surroundings of something.
#[derive(Debug, Clone, Copy)]
struct Around {
    place: Surroundings,
    /// Its place in the table of ranks.
    rank: u8,
}

#[derive(Debug, Clone, Copy)]
enum Surroundings {
    Area(u32),
    Near(Coord, f64),
}

/// An element that has a name, before its surroundings were looked at.
struct Candidate {
    element: Element,
    ordinal: Ordinal,
    details: Details,
    spot: Spot,
    importance: f64,
    distance: u8,
}

struct Finder<'a> {
    osm: &'a Osm,
    names: &'a NameTable,
    lists: HashMap<(String, Mode), List>,
    around: HashMap<(Vec<String>, Mode), Rc<[Around]>>,
    left: usize,
}

/// The places that a question leads to, the likeliest first; none where the snapshot has no index of names.
pub fn search(osm: &Osm, search: &Search<'_>) -> Vec<Hit> {
    let Some(names) = osm.names() else { return Vec::new() };
    let mut finder = Finder { osm, names, lists: HashMap::new(), around: HashMap::new(), left: ELEMENTS };
    let readings = search.question.readings();
    let modes: &[Mode] = match search.typing {
        true => &[Mode::Typing, Mode::Slips],
        false => &[Mode::Whole, Mode::Typing, Mode::Slips],
    };
    for &mode in modes {
        let found = finder.find(&readings, mode, search);
        let hits = finder.told(found, search);
        if !hits.is_empty() {
            return hits;
        }
    }
    Vec::new()
}

/// The areas that a text names, without slips: what is said in full, the likeliest first.
pub fn areas_named(osm: &Osm, text: &str, most: usize) -> Vec<Element> {
    let is_area = |element: Element, _: &Details| {
        let ordinal = || osm.find(ElementType::Relation, element.id);
        element.kind == ElementType::Relation
            && ordinal().is_some_and(|ordinal| osm.areas().of_relation(ordinal).is_some())
    };
    let question = Question::Text(text.to_owned());
    let search = Search {
        question: &question,
        typing: false,
        limit: most,
        near: None,
        bounded: false,
        countries: &[],
        wanted: &is_area,
        articles: &|_| None,
    };
    let Some(names) = osm.names() else { return Vec::new() };
    let mut finder = Finder { osm, names, lists: HashMap::new(), around: HashMap::new(), left: ELEMENTS };
    let mut found = finder.find(&question.readings(), Mode::Whole, &search);
    found.retain(|candidate| candidate.distance == 0);
    finder.told(found, &search).into_iter().map(|hit| hit.element).collect()
}

impl Finder<'_> {
    /// What all readings lead to, each element once.
    fn find(&mut self, readings: &[Reading], mode: Mode, search: &Search<'_>) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        let mut seen: HashMap<(ElementType, Ordinal), usize> = HashMap::new();
        for reading in readings {
            let mut within = Vec::new();
            for part in &reading.within {
                let around = self.around(part, mode);
                if around.is_empty() {
                    break;
                }
                within.push(around);
            }
            if within.len() < reading.within.len() {
                continue;
            }
            for candidate in self.read(reading, &within, mode, search) {
                match seen.get(&(candidate.element.kind, candidate.ordinal)) {
                    Some(&at) => found[at].distance = found[at].distance.min(candidate.distance),
                    None => {
                        seen.insert((candidate.element.kind, candidate.ordinal), found.len());
                        found.push(candidate);
                    }
                }
            }
        }
        found
    }

    fn read(&mut self, reading: &Reading, within: &[Rc<[Around]>], mode: Mode, search: &Search<'_>) -> Vec<Candidate> {
        let scope = self.scope(within, search);
        let mut found = Vec::new();
        for named in self.named(&reading.name, mode, reading.ends) {
            let (pair, _) = self.names.name(named.name);
            let key = self.osm.key_name(self.osm.key_of(pair));
            let Some(names) = named_by(key) else { continue };
            let house = match (&reading.house, names) {
                (Some(house), Names::Street) => Some(house.as_str()),
                (None, Names::Itself) => None,
                _ => continue,
            };
            for (kind, ordinal) in self.elements(pair, house, scope.as_deref()) {
                if self.left == 0 {
                    return found;
                }
                self.left -= 1;
                budget::checkpoints(64);
                let distance = named.distance + reading.distance;
                let Some(candidate) = self.candidate(kind, ordinal, distance, search) else { continue };
                if house.is_none() && !reading.sort.has(&candidate.details) {
                    continue;
                }
                // What lies in something is less than that.
                let (rank, at) = (candidate.details.rank(), candidate.spot.at);
                let holds = |around: &Around| around.rank < rank && self.holds(*around, at);
                if within.iter().all(|any| any.iter().any(holds)) {
                    found.push(candidate);
                }
            }
        }
        found
    }

    fn candidate(&self, kind: ElementType, ordinal: Ordinal, distance: u8, search: &Search<'_>) -> Option<Candidate> {
        let spot = Spot::of(self.osm, kind, ordinal)?;
        if search.bounded && search.near.is_some_and(|near| !near.contains(spot.at)) {
            return None;
        }
        let details = Details::of(self.osm, kind, ordinal);
        // Pieces of borders are no places, nor is what nothing is said of.
        let is_piece = kind == ElementType::Way && details.level().is_some() && !is_ring(self.osm, ordinal);
        let is_thing = (details.category() != ("area", "yes") || kind == ElementType::Relation) && !is_piece;
        let id = self.osm.ids(kind, &[ordinal]).first().copied()?;
        let element = Element { kind, id };
        if !is_thing || !(search.wanted)(element, &details) {
            return None;
        }
        let importance = details.importance(details.tag("wikidata").and_then(search.articles));
        Some(Candidate { element, ordinal, details, spot, importance, distance })
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

    /// Boxes outside of which nothing counts.
    fn scope(&self, within: &[Rc<[Around]>], search: &Search<'_>) -> Option<Vec<BoundingBox>> {
        let boxed = |around: &Around| match around.place {
            Surroundings::Area(area) => self.osm.areas().bbox(area),
            Surroundings::Near(at, metres) => around_box(LatLon::from(at), metres),
        };
        match within.iter().min_by_key(|any| any.len()) {
            Some(any) => Some(any.iter().map(boxed).collect()),
            None => search.near.filter(|_| search.bounded).map(|near| vec![near]),
        }
    }

    fn holds(&self, around: Around, at: Coord) -> bool {
        match around.place {
            Surroundings::Near(middle, reach) => metres(middle.into(), at.into()) <= reach,
            Surroundings::Area(area) => {
                let areas = self.osm.areas();
                if !areas.bbox(area).contains(at) {
                    return false;
                }
                let shape = areas.shape(self.osm, area);
                budget::checkpoints(shape.weight() >> 10);
                shape.covers(at)
            }
        }
    }

    /// What words mean as the surroundings of something: places of this name, a country's code.
    fn around(&mut self, words: &[String], mode: Mode) -> Rc<[Around]> {
        // What lies around is no beginning of a name.
        let mode = if mode == Mode::Typing { Mode::Whole } else { mode };
        if let Some(known) = self.around.get(&(words.to_vec(), mode)) {
            return Rc::clone(known);
        }
        let mut found: Vec<Around> = Vec::new();
        for named in self.named(words, mode, false).into_iter().filter(|named| named.distance.is_multiple_of(LONGER)) {
            let (pair, _) = self.names.name(named.name);
            // Names of what is no place come later.
            if self.names.rank(named.name) > 25 || found.len() >= AROUND {
                break;
            }
            for kind in [ElementType::Relation, ElementType::Node] {
                let postings = self.osm.postings(kind, pair);
                let list = if postings.len() > OF_TAG as u64 { continue } else { postings.all() };
                found.extend(list.iter().filter_map(|&ordinal| self.surroundings(kind, ordinal)));
            }
        }
        if let [code] = words
            && code.len() == 2
            && let Some(pair) = self.osm.pair("ISO3166-1:alpha2", &code.to_uppercase())
        {
            let postings = self.osm.posting(ElementType::Relation, pair);
            found.extend(postings.iter().filter_map(|&ordinal| self.surroundings(ElementType::Relation, ordinal)));
        }
        // A town's border says more than its node.
        let areas: Vec<Around> =
            found.iter().copied().filter(|around| matches!(around.place, Surroundings::Area(_))).collect();
        found.retain(|around| match around.place {
            Surroundings::Area(_) => true,
            Surroundings::Near(at, _) => !areas.iter().any(|area| self.holds(*area, at)),
        });
        found.truncate(AROUND);
        let found: Rc<[Around]> = found.into();
        self.around.insert((words.to_vec(), mode), Rc::clone(&found));
        found
    }

    fn surroundings(&self, kind: ElementType, ordinal: Ordinal) -> Option<Around> {
        budget::checkpoints(64);
        let details = || Details::of(self.osm, kind, ordinal);
        match kind {
            ElementType::Relation => {
                let area = self.osm.areas().of_relation(ordinal)?;
                let rank = details().rank();
                (rank <= 25).then_some(Around { place: Surroundings::Area(area), rank })
            }
            ElementType::Way => None,
            ElementType::Node => {
                let details = details();
                let place = Surroundings::Near(Spot::of(self.osm, kind, ordinal)?.at, reach(details.tag("place")?)?);
                Some(Around { place, rank: details.rank() })
            }
        }
    }

    // ---- names

    /// The names that have all of these words: those that are said in full, then some others, the foremost first.
    fn named(&mut self, words: &[String], mode: Mode, ends: bool) -> Vec<Named> {
        let Some((last, others)) = words.split_last() else { return Vec::new() };
        let typed = mode == Mode::Typing;
        if typed && !ends {
            return self.named(words, Mode::Whole, false);
        }
        let mut lists: Vec<List> =
            others.iter().map(|word| self.list(word, if typed { Mode::Whole } else { mode }, false)).collect();
        lists.push(self.list(last, mode, others.is_empty()));
        lists.sort_by_key(|list| list.len());
        let Some((shortest, rest)) = lists.split_first() else { return Vec::new() };
        let (mut full, mut longer) = (Vec::new(), Vec::new());
        for &(name, slips) in shortest.iter() {
            budget::checkpoint();
            let Some(slips) = rest.iter().try_fold(slips, |slips, list| {
                let at = list.binary_search_by_key(&name, |entry| entry.0).ok()?;
                Some(slips.saturating_add(list[at].1))
            }) else {
                continue;
            };
            let (_, count) = self.names.name(name);
            let distance = slips.saturating_mul(LONGER);
            if count <= words.len() || typed {
                full.push(Named { name, distance });
            } else if longer.len() < NAMES {
                longer.push(Named { name, distance: distance + 1 });
            }
            if full.len() == NAMES && longer.len() == NAMES {
                break;
            }
        }
        full.sort_by_key(|named| (named.distance, named.name));
        full.truncate(NAMES);
        full.append(&mut longer);
        full
    }

    /// The names that have a word.
    fn list(&mut self, word: &str, mode: Mode, alone: bool) -> List {
        let key = (word.to_owned(), mode);
        if let Some(known) = self.lists.get(&key) {
            return Rc::clone(known);
        }
        let words: Vec<Word> = match mode {
            Mode::Whole => self.names.word(word).into_iter().collect(),
            Mode::Typing => {
                let mut words = self.names.beginning(word);
                if alone && words.len() > BEGINNINGS {
                    // The foremost names are among the lists that begin with the foremost.
                    words.sort_by_cached_key(|word| self.names.first(word));
                    words.truncate(BEGINNINGS);
                }
                words
            }
            Mode::Slips => {
                let letters = word.chars().count();
                let most = SLIPS.iter().filter(|&&least| letters >= least).count() as u8;
                let mut words = if most > 0 { self.names.near("", word, most) } else { Vec::new() };
                if words.is_empty() {
                    words.extend(self.names.word(word));
                }
                words
            }
        };
        let list: List = match &words[..] {
            [only] => self.names.list(only).into_iter().map(|name| (name, only.edits)).collect(),
            words => {
                let mut all: Vec<(u32, u8)> = Vec::new();
                for word in words {
                    all.extend(self.names.list(word).into_iter().map(|name| (name, word.edits)));
                }
                all.sort_unstable();
                all.dedup_by_key(|entry| entry.0);
                all.into()
            }
        };
        self.lists.insert(key, Rc::clone(&list));
        list
    }

    // ---- the answer

    /// The likeliest of these, each once however many elements it has.
    fn told(&self, mut found: Vec<Candidate>, search: &Search<'_>) -> Vec<Hit> {
        let is_far = |candidate: &Candidate| search.near.is_some_and(|near| !near.contains(candidate.spot.at));
        // An importance has no more digits than count.
        let steps = |candidate: &Candidate| Reverse((candidate.importance * 1e9) as i64);
        found.sort_by_cached_key(|candidate| {
            let Element { kind, id } = candidate.element;
            let distance = if search.typing { candidate.distance / LONGER } else { candidate.distance };
            let rank = candidate.details.rank();
            // Who says the name of a town or a country means what is within its border.
            let is_settled = kind == ElementType::Relation && rank <= SETTLED;
            let order = (!candidate.details.has_article(), Reverse(kind), id);
            (distance, is_far(candidate), !is_settled, steps(candidate), rank, order)
        });
        let mut seen = HashSet::new();
        let mut hits = Vec::new();
        // Of what is said in full nobody means a part of a longer name.
        let nearest = found.first().map_or(0, |candidate| candidate.distance);
        for candidate in found {
            if hits.len() >= search.limit
                || (!search.typing && nearest.is_multiple_of(LONGER) && candidate.distance > nearest)
            {
                break;
            }
            budget::checkpoints(256);
            let Candidate { element, ordinal, details, spot, importance, .. } = candidate;
            let address = Address::of(self.osm, element, &details, spot.at);
            if !search.countries.is_empty()
                && !address.country(&details).is_some_and(|code| search.countries.contains(&code))
            {
                continue;
            }
            if seen.insert(same(&details, &address)) {
                hits.push(Hit { element, ordinal, details, importance, spot, address });
            }
        }
        hits
    }
}

fn is_ring(osm: &Osm, way: Ordinal) -> bool {
    let (page, slot) = osm.place(ElementType::Way, way);
    is_closed(osm.way_page(page).nodes(slot))
}

/// What a name is farther away for a slip in it than for words that were not said.
const LONGER: u8 = 2;

/// What two elements have in common that are one place: a town's border and its node, the parts of a street.
fn same(details: &Details, address: &Address) -> (Vec<String>, String, Vec<Element>, Option<String>) {
    let (key, value) = details.category();
    let what = match key {
        "boundary" | "place" if details.rank() <= 25 => "place".to_owned(),
        "highway" => key.to_owned(),
        _ => format!("{key}={value}"),
    };
    let around = address.parts.iter().map(|part| part.element).collect();
    let house = address.house.as_ref().map(|house| format!("{house} {:?}", address.road));
    (words(details.name_in(&[]).unwrap_or_default()), what, around, house)
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
