//! What geocoders say of a place beside where it is: made from its tags alone.

use terrapin_osm::{ElementType, Ordinal, Osm};

/// Keys that say what a thing is. The first that an element has counts.
const MAIN_KEYS: [&str; 19] = [
    "boundary",
    "place",
    "amenity",
    "shop",
    "tourism",
    "historic",
    "leisure",
    "aeroway",
    "railway",
    "highway",
    "man_made",
    "military",
    "office",
    "craft",
    "emergency",
    "natural",
    "waterway",
    "landuse",
    "building",
];

/// The rank of what has no other.
const LAST_RANK: u32 = 30;

/// An element's tags, and what follows from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// All tags, in byte order.
    pub tags: Vec<(String, String)>,
}

impl Details {
    /// Of an element.
    pub fn of(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Details {
        let (page, slot) = osm.place(kind, ordinal);
        let page = osm.tag_page(kind, page);
        let pairs = page.tags(slot).iter();
        let text = |&pair| (osm.key_name(osm.key_of(pair)).to_owned(), osm.with_value(pair, str::to_owned));
        Details { tags: pairs.map(text).collect() }
    }

    /// A tag's value.
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.tags.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Key and value of the tag that says what it is.
    pub fn category(&self) -> (&str, &str) {
        let main = MAIN_KEYS.iter().find_map(|key| Some((*key, self.tag(key)?)));
        main.unwrap_or(("area", "yes"))
    }

    /// Its place in the table of ranks of Nominatim's documentation, from 4 (countries) to 30 (everything else). An
    /// administrative border has twice its level.
    pub fn rank(&self) -> u32 {
        if let Some(level) = self.level() {
            return (2 * level).min(LAST_RANK);
        }
        match self.tag("place").unwrap_or_default() {
            "continent" | "ocean" | "sea" => 2,
            "country" => 4,
            "state" | "region" | "province" => 8,
            "county" | "district" => 12,
            "city" | "municipality" | "island" => 16,
            "town" | "borough" => 18,
            "village" | "suburb" => 19,
            "hamlet" | "farm" | "neighbourhood" | "quarter" => 20,
            "isolated_dwelling" | "city_block" => 22,
            _ => LAST_RANK,
        }
    }

    /// From 0 to 1. Other geocoders ask who reads about a place; here it is the rank and nothing else.
    pub fn importance(&self) -> f64 {
        f64::from(LAST_RANK - self.rank()) / 40.0
    }

    /// What it is as a part of an address.
    pub fn address_type(&self) -> &str {
        if let Some(place) = self.tag("place") {
            return place;
        }
        match self.level() {
            Some(0..=2) => "country",
            Some(3 | 4) => "state",
            Some(5 | 6) => "county",
            Some(7 | 8) => "city",
            Some(9) => "city_district",
            Some(10) => "suburb",
            Some(_) => "neighbourhood",
            None => self.category().1,
        }
    }

    /// Of an administrative border.
    fn level(&self) -> Option<u32> {
        if self.tag("boundary") != Some("administrative") {
            return None;
        }
        self.tag("admin_level")?.parse().ok().filter(|level| *level <= 15)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(tags: &[(&str, &str)]) -> Details {
        Details { tags: tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect() }
    }

    #[test]
    fn what_a_place_is() {
        let said = |tags: &[(&str, &str)]| {
            let details = details(tags);
            let (key, value) = details.category();
            let all = (key.to_owned(), value.to_owned(), details.address_type().to_owned(), details.rank());
            (all.0, all.1, all.2, all.3, details.importance())
        };
        let expect = |key: &str, value: &str, kind: &str, rank, importance| {
            (key.to_owned(), value.to_owned(), kind.to_owned(), rank, importance)
        };
        let border = [("admin_level", "8"), ("boundary", "administrative")];
        assert_eq!(said(&border), expect("boundary", "administrative", "city", 16, 0.35));
        let town = [("admin_level", "8"), ("boundary", "administrative"), ("place", "town")];
        assert_eq!(said(&town), expect("boundary", "administrative", "town", 16, 0.35));
        assert_eq!(said(&[("place", "village")]), expect("place", "village", "village", 19, 0.275));
        assert_eq!(said(&[("building", "yes"), ("leisure", "park")]), expect("leisure", "park", "park", 30, 0.0));
        let odd = [("admin_level", "99"), ("boundary", "administrative")];
        assert_eq!(said(&odd), expect("boundary", "administrative", "administrative", 30, 0.0));
        assert_eq!(said(&[("name", "X")]), expect("area", "yes", "yes", 30, 0.0));
    }
}
