//! Countries and their larger regions, independent of the snapshot: names in all languages, codes, coarse outlines.
//! Extracts of regions have no national borders, but queries name the country.
//!
//! `data/countries.tsv` and `data/regions.tsv` are made by `scripts/countries`; outlines are the crate
//! `country-boundaries`.

use std::collections::HashMap;
use std::sync::OnceLock;

use country_boundaries::{BOUNDARIES_ODBL_60X30, CountryBoundaries, LatLon};
use terrapin_osm::names::words;
use terrapin_osm::{BoundingBox, Coord};

use super::point::coord;
use super::spot::PlaceSpot;

const COUNTRIES: &str = include_str!("../data/countries.tsv");
const REGIONS: &str = include_str!("../data/regions.tsv");

/// A country, or a region of one.
#[derive(Debug, PartialEq)]
pub struct Territory {
    /// Its code: `MT`, `US-HI`.
    pub code: &'static str,
    /// Its code of three letters; empty if it has none.
    alpha3: &'static str,
    /// The official language with the most speakers.
    language: &'static str,
    /// Its position; `None` without an outline.
    pub spot: Option<PlaceSpot>,
    /// Names separated by `|`; each has its languages after `=`.
    names: &'static str,
}

impl Territory {
    fn names(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.names.split('|').map(|name| name.split_once('=').unwrap_or((name, "")))
    }

    /// Returns its name in a language, also for a language with a country such as `de-AT`.
    fn name_in(&self, language: &str) -> Option<&'static str> {
        let base = language.split(['-', '_']).next().unwrap_or_default();
        let find = |wanted: &str| {
            self.names().find(|(_, languages)| languages.split(',').any(|other| other == wanted)).map(|(name, _)| name)
        };
        if language.is_empty() { None } else { find(language).or_else(|| find(base)) }
    }

    /// Returns its name in the first language with a name, else in its own.
    pub fn name(&self, languages: &[String]) -> &'static str {
        let wanted = languages.iter().find_map(|language| self.name_in(language));
        let own = || self.name_in(self.language).or_else(|| self.name_in("en"));
        wanted.or_else(own).or_else(|| self.names().next().map(|(name, _)| name)).unwrap_or(self.code)
    }

    /// Returns its names, its code and `place` as tags.
    pub fn tags(&self) -> Vec<(String, String)> {
        let mut tags: Vec<(String, String)> = self
            .names()
            .flat_map(|(name, languages)| {
                languages.split(',').filter(|language| !language.is_empty()).map(move |language| (language, name))
            })
            .map(|(language, name)| (format!("name:{language}"), name.to_owned()))
            .collect();
        tags.push(("name".to_owned(), self.name(&[]).to_owned()));
        let (key, place) = if self.is_country() { ("ISO3166-1:alpha2", "country") } else { ("ISO3166-2", "state") };
        tags.push((key.to_owned(), self.code.to_owned()));
        tags.push(("place".to_owned(), place.to_owned()));
        tags.sort_unstable();
        tags
    }

    /// Returns whether it is a country, not a region.
    pub fn is_country(&self) -> bool {
        self.code.len() == 2
    }

    /// Returns whether a point is inside of its outline.
    pub fn covers(&self, at: Coord) -> bool {
        outlines().zip(position(at)).is_some_and(|(outlines, at)| outlines.is_in(at, self.code))
    }
}

fn territories() -> &'static [Territory] {
    static ALL: OnceLock<Vec<Territory>> = OnceLock::new();
    ALL.get_or_init(|| {
        let rows = |table: &'static str| table.lines().filter(|line| !line.starts_with('#'));
        let countries = rows(COUNTRIES).filter_map(|line| {
            let mut fields = line.split('\t');
            let mut next = || fields.next();
            let (code, alpha3, language, place, names) = (next()?, next()?, next()?, next()?, next()?);
            Some(Territory { code, alpha3, language, spot: spot(place), names })
        });
        let regions = rows(REGIONS).filter_map(|line| {
            let mut fields = line.split('\t');
            let (code, place, names) = (fields.next()?, fields.next()?, fields.next()?);
            Some(Territory { code, alpha3: "", language: "", spot: spot(place), names })
        });
        countries.chain(regions).collect()
    })
}

/// Parses a point, and south, west, north and east of the box around it, in degrees.
fn spot(text: &str) -> Option<PlaceSpot> {
    let numbers: Option<Vec<f64>> = text.split(',').map(|number| number.parse().ok()).collect();
    let &[lat, lon, south, west, north, east] = numbers.as_deref()? else { return None };
    let (low, high) = (coord(south, west)?, coord(north, east)?);
    let bounds = BoundingBox { south: low.lat, west: low.lon, north: high.lat, east: high.lon };
    Some(PlaceSpot { at: coord(lat, lon)?, bounds })
}

fn outlines() -> Option<&'static CountryBoundaries> {
    static ALL: OnceLock<Option<CountryBoundaries>> = OnceLock::new();
    ALL.get_or_init(|| CountryBoundaries::from_reader(BOUNDARIES_ODBL_60X30).ok()).as_ref()
}

fn position(at: Coord) -> Option<LatLon> {
    LatLon::new(f64::from(at.lat) / 1e7, f64::from(at.lon) / 1e7).ok()
}

/// Returns the countries and regions with this name or code; for a region also the code without its country, `BC`.
pub fn named(said: &[String]) -> Vec<&'static Territory> {
    static BY_NAME: OnceLock<HashMap<String, Vec<u16>>> = OnceLock::new();
    let by_name = BY_NAME.get_or_init(|| {
        let mut all: HashMap<String, Vec<u16>> = HashMap::new();
        for (number, territory) in (0..).zip(territories()) {
            let region = territory.code.split_once('-').map(|(_, region)| region);
            let codes = [Some(territory.code), Some(territory.alpha3), region].into_iter().flatten();
            for text in territory.names().map(|(name, _)| name).chain(codes.filter(|code| !code.is_empty())) {
                let list = all.entry(words(text).join(" ")).or_default();
                if list.last() != Some(&number) {
                    list.push(number);
                }
            }
        }
        all
    });
    let numbers = by_name.get(&said.join(" ")).map_or(&[][..], Vec::as_slice);
    numbers.iter().filter_map(|&number| territories().get(usize::from(number))).collect()
}

/// Returns the names of the countries and regions with a name or a code: those in English first.
pub fn territory_names(text: &str) -> Vec<&'static str> {
    let territories = named(&words(text));
    let english = territories.iter().filter_map(|territory| territory.name_in("en"));
    let all = territories.iter().flat_map(|territory| territory.names().map(|(name, _)| name));
    english.chain(all).collect()
}

/// Returns the name of a country in a language, by its code of two capital letters.
pub fn name_of(code: &str, language: &str) -> Option<&'static str> {
    territories().iter().find(|territory| territory.is_country() && territory.code == code)?.name_in(language)
}

/// Returns the country around a point, by its outline.
pub fn country_at(at: Coord) -> Option<&'static Territory> {
    let ids = outlines()?.ids(position(at)?);
    let code = ids.into_iter().find(|id| id.len() == 2)?;
    territories().iter().find(|territory| territory.code == code)
}

/// Returns a country by its code, in any case.
#[cfg(test)]
fn country(code: &str) -> Option<&'static Territory> {
    territories().iter().find(|territory| territory.is_country() && territory.code.eq_ignore_ascii_case(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(text: &str) -> Vec<&'static str> {
        named(&words(text)).iter().map(|territory| territory.code).collect()
    }

    /// Names of CLDR 48.
    #[test]
    fn countries_have_names_in_all_languages() {
        for (text, code) in [
            ("Suomi", "FI"),
            ("Finland", "FI"),
            ("Финляндия", "FI"),
            ("USA", "US"),
            ("Vereinigtes Königreich", "GB"),
            ("UK", "GB"),
            ("日本", "JP"),
            ("Hawaii", "US-HI"),
            ("British Columbia", "CA-BC"),
            ("BC", "CA-BC"),
        ] {
            assert!(codes(text).contains(&code), "{text}: {:?}", codes(text));
        }
        assert!(codes("Atlantis").is_empty() && codes("").is_empty());
        let finland = country("fi").unwrap();
        let name = |languages: &[&str]| finland.name(&languages.iter().map(|l| (*l).to_owned()).collect::<Vec<_>>());
        assert_eq!([name(&[]), name(&["xx", "de-AT"]), name(&["sv"])], ["Suomi", "Finnland", "Finland"]);
        assert!(finland.tags().contains(&("name:de".to_owned(), "Finnland".to_owned())));
    }

    #[test]
    fn names_of_a_country_are_found_by_each_other() {
        assert_eq!(territory_names("Deutschland").first(), Some(&"Germany"));
        assert_eq!(territory_names("DE").first(), Some(&"Germany"));
        assert!(territory_names("Germany").contains(&"Allemagne") && territory_names("Atlantis").is_empty());
    }

    /// Positions of capitals, and of Suva on Fiji, where the country's box crosses the antimeridian.
    #[test]
    fn points_lie_in_countries() {
        for (lat, lon, code) in
            [(60.17, 24.94, "FI"), (35.9, 14.51, "MT"), (49.28, -123.12, "CA"), (-18.14, 178.44, "FJ")]
        {
            let at = coord(lat, lon).unwrap();
            let found = country_at(at).unwrap();
            assert_eq!(found.code, code);
            assert!(found.covers(at) && found.spot.unwrap().bounds.contains(at));
        }
        assert!(country_at(coord(30.0, -45.0).unwrap()).is_none());
    }
}
