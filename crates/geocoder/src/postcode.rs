//! Recognizes postal codes in a text, and locates them: by borders of postal codes, else by the elements with the code
//! in their address.

use terrapin_budget as budget;
use terrapin_osm::geometry::metres;
use terrapin_osm::names::words;
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId};

use super::spot::PlaceSpot;
use super::{Details, PlaceElement};

const KEYS: [&str; 2] = ["addr:postcode", "postal_code"];
/// Number of letters and digits of a postal code.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=10;
/// Maximum number of words of a postal code.
const WORDS: usize = 2;
/// Maximum number of elements of a code to read, for each key and type.
const LOOKED_AT: usize = 128;
/// Metres between elements with the same code in different countries.
const APART: f64 = 50_000.0;
/// Maximum number of places of one code.
const MOST: usize = 10;

/// A postal code of the snapshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Postcode {
    /// The code with the spelling of the data, such as `VLT 1234`.
    pub text: String,
    /// The tags with it.
    pairs: Vec<PairId>,
}

/// Returns the postal code for words; `None` if unknown.
pub type Codes<'a> = &'a dyn Fn(&[String]) -> Option<Postcode>;

/// A place of a postal code.
#[derive(Debug, Clone)]
pub struct PostcodeRegion {
    /// The border, if any.
    pub border: Option<(PlaceElement, Ordinal)>,
    /// The tags of the border, or of a place without an element.
    pub details: Details,
    /// Its position.
    pub spot: PlaceSpot,
    /// Towns and countries in the addresses with the code, as words.
    pub around: Vec<Vec<String>>,
}

impl Postcode {
    /// Returns the postal code for words, in any spelling; `None` if the snapshot does not have it.
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

    /// Returns the codes in a text with their ranges of words, the longest first, without overlaps.
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

    /// Returns whether an element has the code in its tags.
    pub fn is_of(&self, details: &Details) -> bool {
        KEYS.iter().filter_map(|key| details.tag(key)).any(|other| self.is(other))
    }

    /// Returns whether a text is this code; blanks and hyphens are ignored.
    pub fn is(&self, other: &str) -> bool {
        compact(&words(other)) == compact(&words(&self.text))
    }

    /// Returns its places, those with more elements first. Several countries may have the same code.
    pub fn regions(&self, osm: &Osm) -> Vec<PostcodeRegion> {
        let borders = self.borders(osm);
        if !borders.is_empty() {
            return borders;
        }
        let mut groups: Vec<ElementCluster> = Vec::new();
        for kind in ElementType::ALL {
            for &pair in &self.pairs {
                let postings = osm.postings(kind, pair);
                if postings.is_empty() {
                    continue;
                }
                let all = postings.all();
                for &ordinal in all.iter().step_by(all.len().div_ceil(LOOKED_AT)) {
                    budget::checkpoints(64);
                    if let Some(spot) = PlaceSpot::of(osm, kind, ordinal) {
                        ElementCluster::put(&mut groups, kind, ordinal, spot.at);
                    }
                }
            }
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.all.len()));
        groups.truncate(MOST);
        groups.into_iter().map(|group| self.region(osm, &group)).collect()
    }

    /// Returns the relations with `boundary=postal_code` and this code.
    fn borders(&self, osm: &Osm) -> Vec<PostcodeRegion> {
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
            let spot = PlaceSpot::of(osm, ElementType::Relation, ordinal)?;
            let id = osm.ids(ElementType::Relation, &[ordinal]).first().copied()?;
            let element = PlaceElement { kind: ElementType::Relation, id };
            Some(PostcodeRegion { border: Some((element, ordinal)), details, spot, around: Vec::new() })
        };
        all.into_iter().filter_map(border).take(MOST).collect()
    }

    fn region(&self, osm: &Osm, group: &ElementCluster) -> PostcodeRegion {
        let mut around: Vec<Vec<String>> = Vec::new();
        for &(kind, ordinal, _) in group.all.iter().step_by(group.all.len().div_ceil(16)) {
            around.extend(Details::of(osm, kind, ordinal).said_around());
        }
        around.sort_unstable();
        around.dedup();
        let tags = [("place", "postcode"), ("ref", self.text.as_str())];
        let tags = tags.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec();
        PostcodeRegion { border: None, details: Details { tags }, spot: group.spot(), around }
    }
}

impl PostcodeRegion {
    /// Returns whether a place is inside of it, or it inside of the place.
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
struct ElementCluster {
    all: Vec<(ElementType, Ordinal, Coord)>,
}

impl ElementCluster {
    /// Puts an element into the group that it is near to.
    fn put(groups: &mut Vec<ElementCluster>, kind: ElementType, ordinal: Ordinal, at: Coord) {
        let is_near =
            |group: &ElementCluster| group.all.first().is_some_and(|first| metres(first.2.into(), at.into()) <= APART);
        match groups.iter().position(is_near) {
            Some(near) => groups[near].all.push((kind, ordinal, at)),
            None if groups.len() < LOOKED_AT => groups.push(ElementCluster { all: vec![(kind, ordinal, at)] }),
            None => {}
        }
    }

    /// Returns the median of its elements, and the box of 95 % of them, because some have a wrong code.
    fn spot(&self) -> PlaceSpot {
        let side = |of: &dyn Fn(&Coord) -> i32| {
            let mut all: Vec<i32> = self.all.iter().map(|(_, _, at)| of(at)).collect();
            all.sort_unstable();
            let off = all.len() / 40;
            [all[off], all[all.len() / 2], all[all.len() - 1 - off]]
        };
        let ([south, lat, north], [west, lon, east]) = (side(&|at| at.lat), side(&|at| at.lon));
        PlaceSpot { bounds: BoundingBox { south, west, north, east }, at: Coord { lat, lon } }
    }
}

fn compact(words: &[String]) -> String {
    words.concat().to_uppercase()
}

/// Returns the spellings of a code: `SLM1640` and `SLM 1640`.
fn writings(words: &[String]) -> Vec<String> {
    let whole = compact(words);
    let is_code = whole.is_ascii() && LENGTHS.contains(&whole.len()) && whole.bytes().any(|b| b.is_ascii_digit());
    if !is_code {
        return Vec::new();
    }
    let mut all = vec![whole.clone()];
    // In the United States the data has the first five of nine digits.
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
    // Lower case is rare in the data.
    let small: Vec<String> = all.iter().map(|text| text.to_lowercase()).filter(|text| !all.contains(text)).collect();
    all.extend(small);
    all
}

/// Returns a code such as `A-1010` without its country.
fn without_country(words: &[String]) -> Option<&[String]> {
    let [country, code] = words else { return None };
    let is_country = country.len() <= 2 && country.bytes().all(|b| b.is_ascii_lowercase());
    (is_country && code.bytes().all(|b| b.is_ascii_digit())).then_some(&words[1..])
}

#[cfg(test)]
impl Postcode {
    /// Makes a code without elements.
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
            ElementCluster::put(&mut groups, ElementType::Node, 0, Coord { lat, lon });
        }
        assert_eq!(groups.iter().map(|group| group.all.len()).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(groups[0].spot().at, Coord { lat: 0, lon: 0 });
    }
}
