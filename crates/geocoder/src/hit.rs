//! A result with its address.

use terrapin_osm::geometry::{LatLon, around_box};
use terrapin_osm::names::words;
use terrapin_osm::{BoundingBox, Coord, ElementType, Osm};

use super::address::{Address, reach};
use super::countries::Territory;
use super::linked;
use super::spot::PlaceSpot;
use super::{Details, PlaceElement};

/// Returns the number of articles about an item of Wikidata, by its id such as `Q233`; `None` if unknown.
pub type Articles<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// Half of the side of a node's box, in 1e-7 degrees.
const OF_NODE: i32 = 500;

/// A result.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Its element; `None` for a postal code without a border.
    pub element: Option<PlaceElement>,
    /// Its tags.
    pub details: Details,
    /// Its importance, from 0 to 1.
    pub importance: f64,
    /// Its position and its box.
    pub spot: PlaceSpot,
    /// Its address.
    pub address: Address,
}

/// A key that is equal for elements of one place: a town's border and its node, the ways of a street. An element
/// without a name has its own key.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Same {
    name: Vec<String>,
    what: String,
    around: Vec<PlaceElement>,
    house: Option<String>,
    itself: Option<(Option<PlaceElement>, Coord)>,
}

impl Hit {
    /// Makes a result of an element; `None` if it has no position.
    pub fn of(osm: &Osm, element: PlaceElement, articles: Articles<'_>) -> Option<Hit> {
        let ordinal = osm.find(element.kind, element.id)?;
        let (spot, details) = match element.kind {
            ElementType::Relation => (PlaceSpot::inside(osm, element.kind, ordinal)?, linked::details_of(osm, ordinal)),
            kind => (PlaceSpot::of(osm, kind, ordinal)?, Details::of(osm, kind, ordinal)),
        };
        let importance = details.importance(details.tag("wikidata").and_then(articles));
        Some(Hit::of_parts(osm, Some(element), details, importance, spot))
    }

    /// Makes a result of tags and a position.
    pub(crate) fn of_parts(
        osm: &Osm,
        element: Option<PlaceElement>,
        details: Details,
        importance: f64,
        spot: PlaceSpot,
    ) -> Hit {
        let address = Address::of(osm, element, &details, spot.at);
        Hit { element, details, importance, spot, address }
    }

    /// Makes a result of a country or region without a border in the snapshot.
    pub(crate) fn of_territory(osm: &Osm, territory: &Territory, spot: PlaceSpot) -> Hit {
        let details = Details { tags: territory.tags() };
        let importance = details.importance(None);
        Hit::of_parts(osm, None, details, importance, spot)
    }

    /// Returns the name in the first language with a name, else the local name; empty without a name.
    pub fn name(&self, languages: &[String]) -> &str {
        self.details.name_in(languages).unwrap_or_default()
    }

    /// Returns name and address in one line, each text once.
    pub fn label(&self, languages: &[String]) -> String {
        let Address { house, road, place, postcode, parts, territory } = &self.address;
        let named = |is_country: bool| {
            let some = parts.iter().filter(move |part| (part.label == "country") == is_country);
            some.filter_map(|part| part.details.name_in(languages))
        };
        let road = road.as_ref().and_then(|road| road.name_in(languages));
        let own = [Some(self.name(languages)), house.as_deref(), road, place.as_deref()];
        let country = territory.map(|territory| territory.name(languages));
        let texts = own.into_iter().flatten().chain(named(false)).chain(postcode.as_deref());
        let texts = texts.chain(named(true)).chain(country);
        let mut all: Vec<&str> = Vec::new();
        for text in texts {
            if !text.is_empty() && !all.contains(&text) {
                all.push(text);
            }
        }
        all.join(", ")
    }

    /// Returns the box around it. The box of a node has the size of its radius, so that a map can show it.
    pub fn bounds(&self) -> BoundingBox {
        let BoundingBox { south, west, north, east } = self.spot.bounds;
        match self.details.tag("place").and_then(reach) {
            Some(metres) if self.element.is_some_and(|element| element.kind == ElementType::Node) => {
                around_box(LatLon::from(self.spot.at), metres)
            }
            // An interpolated house is a point.
            _ if (south, west) == (north, east) && self.element.is_some() => BoundingBox {
                south: south.saturating_sub(OF_NODE),
                west: west.saturating_sub(OF_NODE),
                north: north.saturating_add(OF_NODE),
                east: east.saturating_add(OF_NODE),
            },
            _ => self.spot.bounds,
        }
    }

    /// Returns the key for elements of the same place.
    pub(crate) fn same(&self) -> Same {
        let Hit { element, details, spot, address, .. } = self;
        let (key, value) = details.category();
        let what = match key {
            "boundary" | "place" if details.rank() <= 25 => "place".to_owned(),
            "highway" => key.to_owned(),
            _ => format!("{key}={value}"),
        };
        let name = words(self.name(&[]));
        let house = address.house.as_ref().map(|house| {
            format!("{house} {:?} {:?}", address.road.as_ref().and_then(|road| road.tag("name")), address.place)
        });
        // Things with one name in different streets are different places.
        let road = address.road.as_ref().filter(|_| details.rank() == 30).and_then(|road| road.tag("name"));
        let what = if house.is_none() { format!("{what} {}", road.unwrap_or_default()) } else { what };
        let itself = (name.is_empty() && house.is_none()).then_some((*element, spot.at));
        // Without a town around, streets of one name with different postal codes are different places.
        let is_in_town = address.parts.iter().any(|part| (13..=20).contains(&part.rank));
        let what = match address.postcode.as_ref().filter(|_| key == "highway" && !is_in_town) {
            Some(code) => format!("{what} {code}"),
            None => what,
        };
        Same { name, what, around: address.parts.iter().map(|part| part.element).collect(), house, itself }
    }
}
