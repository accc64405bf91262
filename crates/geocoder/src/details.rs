//! Derives category, rank, importance and names of a place from its tags.

use terrapin_osm::names::{NameTarget, named_by, rank, words};
use terrapin_osm::{ElementType, Ordinal, Osm};

use super::countries;

/// Main keys, by precedence: the first key of an element is its category.
const MAIN_KEYS: [&str; 20] = [
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
    "water",
    "natural",
    "waterway",
    "landuse",
    "building",
];

/// Address keys for areas around a place.
pub const AROUND: [&str; 13] = [
    "addr:city",
    "addr:quarter",
    "addr:neighbourhood",
    "addr:hamlet",
    "addr:place",
    "addr:suburb",
    "addr:district",
    "addr:subdistrict",
    "addr:municipality",
    "addr:county",
    "addr:province",
    "addr:state",
    "addr:country",
];

/// The key for the `place` value of a border's label node.
pub const LINKED: &str = "linked_place";

/// The rank of postal codes: below towns and above streets.
const POSTCODE: u8 = 21;

/// Number of articles for the importance 1.
const MOST_ARTICLES: f64 = 500.0;

/// An element's tags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Details {
    /// All tags, in byte order.
    pub tags: Vec<(String, String)>,
}

impl Details {
    /// Reads the tags of an element.
    pub fn of(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Details {
        let (page, slot) = osm.place(kind, ordinal);
        let page = osm.tag_page(kind, page);
        let pairs = page.tags(slot).iter();
        let text = |&pair| (osm.key_name(osm.key_of(pair)).to_owned(), osm.with_value(pair, str::to_owned));
        Details { tags: pairs.map(text).collect() }
    }

    /// Returns the value of a key.
    pub fn tag(&self, key: &str) -> Option<&str> {
        self.tags.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// Returns key and value of the main tag.
    pub fn category(&self) -> (&str, &str) {
        let main = MAIN_KEYS.iter().find_map(|key| Some((*key, self.tag(key)?)));
        main.unwrap_or(if self.is_bare_address() { ("place", "house") } else { ("area", "yes") })
    }

    /// Returns the rank by the table in Nominatim's documentation, from 2 (continents) to 30 (everything else). The
    /// rank of an administrative border is twice its level.
    pub fn rank(&self) -> u8 {
        if self.is_postcode() { POSTCODE } else { rank::of(|key| self.tag(key)) }
    }

    /// Returns whether it is the area or the point of a postal code.
    pub fn is_postcode(&self) -> bool {
        self.tag("boundary") == Some("postal_code") || self.tag("place") == Some("postcode")
    }

    /// Returns the importance from 0 to 1, by the rank or by the number of articles, whichever is higher.
    pub fn importance(&self, articles: Option<u64>) -> f64 {
        let ranked = f64::from(rank::LAST - self.rank().min(rank::LAST)) / 40.0;
        let read = |articles: u64| libm::log1p(articles as f64) / libm::log1p(MOST_ARTICLES);
        ranked.max(articles.map_or(0.0, read).min(1.0))
    }

    /// Returns whether it has a `wikidata` or `wikipedia` tag.
    pub fn has_article(&self) -> bool {
        self.tag("wikidata").or_else(|| self.tag("wikipedia")).is_some()
    }

    /// Returns the name in the first language with a name, else the local name. Countries have names in all languages
    /// of CLDR.
    pub fn name_in(&self, languages: &[String]) -> Option<&str> {
        let code = self.tag("ISO3166-1:alpha2").or_else(|| self.tag("ISO3166-1")).filter(|_| self.rank() <= 4);
        let translated = languages.iter().find_map(|language| {
            let key = format!("name:{language}");
            self.tag(&key).or_else(|| countries::name_of(code?, language))
        });
        let others =
            ["name", "int_name", "name:en", "official_name", "short_name", "loc_name", "addr:housename", "ref"];
        let any = || {
            self.tags.iter().find(|(key, _)| named_by(key) == Some(NameTarget::Itself)).map(|(_, value)| value.as_str())
        };
        let code = || self.tag("postal_code").filter(|_| self.is_postcode());
        translated.or_else(code).or_else(|| others.iter().find_map(|key| self.tag(key))).or_else(any)
    }

    /// Returns the words of the address tags for towns, regions and countries.
    pub fn said_around(&self) -> impl Iterator<Item = Vec<String>> {
        AROUND.iter().filter_map(|key| self.tag(key)).map(words).filter(|words| !words.is_empty())
    }

    /// Returns the layer.
    pub fn layer(&self) -> PlaceLayer {
        match self.category().0 {
            "highway" if self.rank() > 27 => PlaceLayer::Poi,
            "leisure" if self.tag("leisure") == Some("park") => PlaceLayer::ManMade,
            "boundary" | "place" | "highway" => PlaceLayer::Address,
            "building" if self.tag("addr:housenumber").is_some() => PlaceLayer::Address,
            "amenity" | "shop" | "tourism" | "historic" | "leisure" | "aeroway" | "office" | "craft" | "emergency" => {
                PlaceLayer::Poi
            }
            "railway" => PlaceLayer::Railway,
            "natural" | "waterway" | "water" => PlaceLayer::Natural,
            _ => PlaceLayer::ManMade,
        }
    }

    /// Returns the label in an address: `city`, `road`.
    pub fn address_type(&self) -> &str {
        if self.is_postcode() {
            return "postcode";
        }
        if let Some(place) = self.tag("place").or_else(|| self.tag(LINKED)) {
            return place;
        }
        if self.is_bare_address() {
            return "place";
        }
        match self.level() {
            Some(0..=2) => "country",
            Some(3 | 4) => "state",
            Some(5 | 6) => "county",
            Some(7 | 8) => "city",
            Some(9) => "city_district",
            Some(10) => "suburb",
            Some(_) => "neighbourhood",
            None => match self.category().0 {
                "highway" => "road",
                key => key,
            },
        }
    }

    /// Returns the level of an administrative border.
    pub fn level(&self) -> Option<u8> {
        rank::admin_level(|key| self.tag(key))
    }

    /// Returns whether it is a house number without a main tag.
    fn is_bare_address(&self) -> bool {
        self.tag("addr:housenumber").is_some() && !MAIN_KEYS.iter().any(|key| self.tag(key).is_some())
    }
}

/// Kinds of things, as in Nominatim's parameter `layer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceLayer {
    /// Houses, streets, settlements and areas.
    Address,
    /// Points of interest.
    Poi,
    /// Railways.
    Railway,
    /// Mountains and waters.
    Natural,
    /// Everything else.
    ManMade,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn details(tags: &[(&str, &str)]) -> Details {
        Details { tags: tags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect() }
    }

    #[test]
    fn articles_count() {
        let island = details(&[("place", "island")]);
        assert_eq!((island.importance(None), island.importance(Some(500))), (0.35, 1.0));
        assert!(island.importance(Some(100)) > island.importance(Some(50)));
    }

    #[test]
    fn names_in_languages() {
        let gozo = details(&[("name", "Għawdex"), ("name:en", "Gozo"), ("name:it", "Gozzo")]);
        let name = |languages: &[&str]| {
            let languages: Vec<String> = languages.iter().map(|&language| language.to_owned()).collect();
            gozo.name_in(&languages).map(str::to_owned)
        };
        assert_eq!(name(&[]).as_deref(), Some("Għawdex"));
        assert_eq!(name(&["xx", "it", "en"]).as_deref(), Some("Gozzo"));
    }

    #[test]
    fn what_a_place_is() {
        let said = |tags: &[(&str, &str)]| {
            let details = details(tags);
            let (key, value) = details.category();
            let all = (key.to_owned(), value.to_owned(), details.address_type().to_owned(), details.rank());
            (all.0, all.1, all.2, all.3, details.importance(None))
        };
        let expect = |key: &str, value: &str, kind: &str, rank, importance| {
            (key.to_owned(), value.to_owned(), kind.to_owned(), rank, importance)
        };
        let border = [("admin_level", "8"), ("boundary", "administrative")];
        assert_eq!(said(&border), expect("boundary", "administrative", "city", 16, 0.35));
        let town = [("admin_level", "8"), ("boundary", "administrative"), ("place", "town")];
        assert_eq!(said(&town), expect("boundary", "administrative", "town", 16, 0.35));
        assert_eq!(said(&[("place", "village")]), expect("place", "village", "village", 19, 0.275));
        assert_eq!(said(&[("building", "yes"), ("leisure", "park")]), expect("leisure", "park", "leisure", 30, 0.0));
        let odd = [("admin_level", "99"), ("boundary", "administrative")];
        assert_eq!(said(&odd), expect("boundary", "administrative", "boundary", 30, 0.0));
        assert_eq!(said(&[("addr:housenumber", "5")]), expect("place", "house", "place", 30, 0.0));
        assert_eq!(said(&[("highway", "residential")]), expect("highway", "residential", "road", 26, 0.1));
        assert_eq!(said(&[("name", "X")]), expect("area", "yes", "area", 30, 0.0));
    }
}
