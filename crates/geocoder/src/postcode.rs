//! Postal codes: which words of a text are one, and where it is. The tags of elements know it: borders of postal codes where
//! there are any, else everything with the code in its address.

use terrapin_budget as budget;
use terrapin_osm::geometry::metres;
use terrapin_osm::names::words;
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId};

use super::spot::Spot;
use super::{Details, Element};

const KEYS: [&str; 2] = ["addr:postcode", "postal_code"];
/// Letters and digits of a postal code.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=10;
/// Words of a text that are one postal code.
const WORDS: usize = 2;
/// Elements of a code that are looked at, of each key and type.
const LOOKED_AT: usize = 128;
/// Elements beyond so many metres from the others have the code in another country.
const APART: f64 = 50_000.0;
/// Places that one code may mean.
const MOST: usize = 10;

/// A postal code that the snapshot has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postcode {
    /// As the data writes it.
    pub text: String,
    /// The tags that say it.
    pairs: Vec<PairId>,
}

/// Says which postal code words are.
pub type Codes<'a> = &'a dyn Fn(&[String]) -> Option<Postcode>;

/// Where a postal code is.
#[derive(Debug, Clone)]
pub struct Region {
    /// The border; `None` where there is none.
    pub border: Option<(Element, Ordinal)>,
    /// Its tags; those of a place without an element where there is no border.
    pub details: Details,
    /// Where it is.
    pub spot: Spot,
    /// What the addresses in it say of towns and countries, as words.
    pub around: Vec<Vec<String>>,
}

impl Postcode {
    /// The postal code that words are, as they may be written; `None` where the snapshot has none of them.
    pub fn of(osm: &Osm, words: &[String]) -> Option<Postcode> {
        let known = |writings: Vec<String>| {
            let mut pairs: Vec<PairId> = Vec::new();
            let mut text = None;
            for written in writings {
                budget::checkpoints(64);
                for key in KEYS {
                    if let Some(pair) = osm.pair(key, &written) {
                        pairs.push(pair);
                        text.get_or_insert_with(|| written.clone());
                    }
                }
            }
            Some(Postcode { text: text?, pairs })
        };
        known(writings(words)).or_else(|| known(writings(without_country(words)?)))
    }

    /// The codes in words of a text, and where they are: the longest first, each word in one at most.
    pub fn all_in(codes: Codes<'_>, text: &[String]) -> Vec<(std::ops::Range<usize>, Postcode)> {
        let mut found: Vec<(std::ops::Range<usize>, Postcode)> = Vec::new();
        for length in (1..=WORDS.min(text.len())).rev() {
            for from in 0..=text.len() - length {
                let range = from..from + length;
                let is_taken = found.iter().any(|(other, _)| other.start < range.end && range.start < other.end);
                if !is_taken && let Some(code) = codes(&text[range.clone()]) {
                    found.push((range, code));
                }
            }
        }
        found
    }

    /// Whether an element has the code in its address.
    pub fn is_of(&self, details: &Details) -> bool {
        let own = compact(&words(&self.text));
        KEYS.iter().filter_map(|key| details.tag(key)).any(|other| compact(&words(other)) == own)
    }

    /// Where it is, the place with the most elements first: one code may be of several countries.
    pub fn regions(&self, osm: &Osm) -> Vec<Region> {
        let borders = self.borders(osm);
        if !borders.is_empty() {
            return borders;
        }
        let mut groups: Vec<Group> = Vec::new();
        for kind in ElementType::ALL {
            for &pair in &self.pairs {
                let postings = osm.postings(kind, pair);
                if postings.is_empty() {
                    continue;
                }
                let all = postings.all();
                for &ordinal in all.iter().step_by(all.len().div_ceil(LOOKED_AT)) {
                    budget::checkpoints(64);
                    if let Some(spot) = Spot::of(osm, kind, ordinal) {
                        Group::put(&mut groups, kind, ordinal, spot.at);
                    }
                }
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.all.len()));
        groups.truncate(MOST);
        groups.into_iter().map(|group| self.region(osm, &group)).collect()
    }

    /// The borders of the code: relations with `boundary=postal_code`.
    fn borders(&self, osm: &Osm) -> Vec<Region> {
        let lists = self.pairs.iter().map(|&pair| osm.posting(ElementType::Relation, pair));
        let mut all: Vec<Ordinal> = lists.flat_map(|list| list.to_vec()).collect();
        all.sort_unstable();
        all.dedup();
        let border = |ordinal: Ordinal| {
            budget::checkpoints(64);
            let details = Details::of(osm, ElementType::Relation, ordinal);
            if details.tag("boundary") != Some("postal_code") {
                return None;
            }
            let spot = Spot::of(osm, ElementType::Relation, ordinal)?;
            let id = osm.ids(ElementType::Relation, &[ordinal]).first().copied()?;
            let element = Element { kind: ElementType::Relation, id };
            Some(Region { border: Some((element, ordinal)), details, spot, around: Vec::new() })
        };
        all.into_iter().filter_map(border).take(MOST).collect()
    }

    fn region(&self, osm: &Osm, group: &Group) -> Region {
        let mut around: Vec<Vec<String>> = Vec::new();
        for &(kind, ordinal, _) in group.all.iter().step_by(group.all.len().div_ceil(16)) {
            around.extend(Details::of(osm, kind, ordinal).said_around());
        }
        around.sort_unstable();
        around.dedup();
        let tags = [("place", "postcode"), ("ref", self.text.as_str())];
        let tags = tags.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        Region { border: None, details: Details { tags }, spot: group.spot(), around }
    }
}

impl Region {
    /// Whether a place lies in it, or it in the place.
    pub fn is_with(&self, osm: &Osm, at: Coord, bounds: &BoundingBox) -> bool {
        if bounds.contains(self.spot.at) {
            return true;
        }
        if !self.spot.bounds.contains(at) {
            return false;
        }
        let area = self.border.and_then(|(_, ordinal)| osm.areas().of_relation(ordinal));
        area.is_none_or(|area| {
            let shape = osm.areas().shape(osm, area);
            budget::checkpoints(shape.weight() >> 10);
            shape.covers(at)
        })
    }
}

/// Elements near each other.
struct Group {
    all: Vec<(ElementType, Ordinal, Coord)>,
}

impl Group {
    /// Puts an element into the group that it is near to.
    fn put(groups: &mut Vec<Group>, kind: ElementType, ordinal: Ordinal, at: Coord) {
        let is_near = |group: &Group| group.all.first().is_some_and(|first| metres(first.2.into(), at.into()) <= APART);
        match groups.iter().position(is_near) {
            Some(near) => groups[near].all.push((kind, ordinal, at)),
            None if groups.len() < LOOKED_AT => groups.push(Group { all: vec![(kind, ordinal, at)] }),
            None => {}
        }
    }

    /// The middle of its elements, by their number, and the box of nearly all of them: some have a code that is wrong.
    fn spot(&self) -> Spot {
        let side = |of: &dyn Fn(&Coord) -> i32| {
            let mut all: Vec<i32> = self.all.iter().map(|(_, _, at)| of(at)).collect();
            all.sort_unstable();
            let off = all.len() / 40;
            [all[off], all[all.len() / 2], all[all.len() - 1 - off]]
        };
        let ([south, lat, north], [west, lon, east]) = (side(&|at| at.lat), side(&|at| at.lon));
        Spot { bounds: BoundingBox { south, west, north, east }, at: Coord { lat, lon } }
    }
}

fn compact(words: &[String]) -> String {
    words.concat().to_uppercase()
}

/// The ways in which a code may be written that somebody wrote in these words: `SLM1640` and `SLM 1640`.
fn writings(words: &[String]) -> Vec<String> {
    let whole = compact(words);
    let is_code = whole.is_ascii() && LENGTHS.contains(&whole.len()) && whole.bytes().any(|b| b.is_ascii_digit());
    if !is_code {
        return Vec::new();
    }
    let mut all = vec![whole.clone()];
    // Of nine digits of the United States the first five are the code that data has.
    if let [first, second] = words
        && (first.len(), second.len()) == (5, 4)
        && whole.bytes().all(|b| b.is_ascii_digit())
    {
        all.push(first.clone());
    }
    let mut split =
        |at: usize| all.extend([" ", "-"].map(|between| format!("{}{between}{}", &whole[..at], &whole[at..])));
    match words {
        [_] => (2..whole.len()).for_each(split),
        [first, _] => split(first.len()),
        _ => {}
    }
    // Few write them in small letters.
    let small: Vec<String> = all.iter().map(|text| text.to_lowercase()).filter(|text| !all.contains(text)).collect();
    all.extend(small);
    all
}

/// A code with the country in front, as `A-1010`, without it.
fn without_country(words: &[String]) -> Option<&[String]> {
    let [country, code] = words else { return None };
    let is_country = country.len() <= 2 && country.bytes().all(|b| b.is_ascii_lowercase());
    (is_country && code.bytes().all(|b| b.is_ascii_digit())).then_some(&words[1..])
}

#[cfg(test)]
impl Postcode {
    /// Of no element.
    pub fn named(text: &str) -> Postcode {
        Postcode { text: text.to_owned(), pairs: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<String> {
        writings(&words(text))
    }

    #[test]
    fn a_code_is_written_in_several_ways() {
        assert!(written("slm1640").contains(&"SLM 1640".to_owned()));
        assert_eq!(written("SLM 1640")[..3], ["SLM1640", "SLM 1640", "SLM-1640"]);
        assert!(written("SLM 1640").contains(&"slm 1640".to_owned()));
        assert!(written("36067-1111").contains(&"36067".to_owned()));
        assert_eq!(without_country(&words("A-1010")).unwrap(), ["1010"]);
        assert!(["SLM 1640", "12 1010", "A B1"].iter().all(|text| without_country(&words(text)).is_none()));
        assert!(written("ec1m3he").contains(&"EC1M 3HE".to_owned()));
        for none in ["12", "Valletta", "東1234", "12345678901", ""] {
            assert!(written(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn codes_of_several_countries_are_apart() {
        let mut groups = Vec::new();
        for (lat, lon) in [(0, 0), (1_000_000, 0), (500_000_000, 0), (0, 1_000_000)] {
            Group::put(&mut groups, ElementType::Node, 0, Coord { lat, lon });
        }
        assert_eq!(groups.iter().map(|group| group.all.len()).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(groups[0].spot().at, Coord { lat: 0, lon: 0 });
    }
}
