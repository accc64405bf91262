//! A place that was found, with what lies around it.

use terrapin_osm::geometry::{LatLon, around_box};
use terrapin_osm::names::words;
use terrapin_osm::{BoundingBox, Coord, ElementType, Osm};

use super::address::{Address, reach};
use super::countries::Territory;
use super::linked;
use super::spot::Spot;
use super::{Details, Element};

/// Says how many articles there are about an item of Wikidata, by its id such as `Q233`; `None` where nobody knows.
pub type Articles<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// What a thing which is a node reaches around it, in 1e-7 degrees.
const OF_NODE: i32 = 500;

/// A place that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Its element; `None` of a postal code that has no border.
    pub element: Option<Element>,
    /// Its tags.
    pub details: Details,
    /// From 0 to 1.
    pub importance: f64,
    /// Where it is.
    pub spot: Spot,
    /// What lies around it.
    pub address: Address,
}

/// What two elements have in common that are one place: a town's border and its node, the parts of a street. What has no
/// name is only itself.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Same {
    name: Vec<String>,
    what: String,
    around: Vec<Element>,
    house: Option<String>,
    itself: Option<(Option<Element>, Coord)>,
}

impl Hit {
    /// An element as a place; `None` where it lies nowhere.
    pub fn of(osm: &Osm, element: Element, articles: Articles<'_>) -> Option<Hit> {
        let ordinal = osm.find(element.kind, element.id)?;
        let (spot, details) = match element.kind {
            ElementType::Relation => (Spot::inside(osm, element.kind, ordinal)?, linked::details_of(osm, ordinal)),
            kind => (Spot::of(osm, kind, ordinal)?, Details::of(osm, kind, ordinal)),
        };
        let importance = details.importance(details.tag("wikidata").and_then(articles));
        Some(Hit::of_parts(osm, Some(element), details, importance, spot))
    }

    /// Of tags and a place.
    pub(crate) fn of_parts(osm: &Osm, element: Option<Element>, details: Details, importance: f64, spot: Spot) -> Hit {
        let address = Address::of(osm, element, &details, spot.at);
        Hit { element, details, importance, spot, address }
    }

    /// A country or a region that the snapshot has no border of.
    pub(crate) fn of_territory(osm: &Osm, territory: &Territory, spot: Spot) -> Hit {
        let details = Details { tags: territory.tags() };
        let importance = details.importance(None);
        Hit::of_parts(osm, None, details, importance, spot)
    }

    /// What it is called in the first of these languages that it has a name in; else as its place calls it; empty where it
    /// has no name.
    pub fn name(&self, languages: &[String]) -> &str {
        self.details.name_in(languages).unwrap_or_default()
    }

    /// Name and address on a line, each text once.
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

    /// The box around it; of a node one as large as its name reaches, so that a map has something to show.
    pub fn bounds(&self) -> BoundingBox {
        let BoundingBox { south, west, north, east } = self.spot.bounds;
        match self.details.tag("place").and_then(reach) {
            Some(metres) if self.element.is_some_and(|element| element.kind == ElementType::Node) => {
                around_box(LatLon::from(self.spot.at), metres)
            }
            // A house between others, along a way, is a point, too.
            _ if (south, west) == (north, east) && self.element.is_some() => BoundingBox {
                south: south.saturating_sub(OF_NODE),
                west: west.saturating_sub(OF_NODE),
                north: north.saturating_add(OF_NODE),
                east: east.saturating_add(OF_NODE),
            },
            _ => self.spot.bounds,
        }
    }

    /// What it has in common with other elements that are the same place.
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
        // Two things of interest with one name in different streets are two.
        let road = address.road.as_ref().filter(|_| details.rank() == 30).and_then(|road| road.tag("name"));
        let what = if house.is_none() { format!("{what} {}", road.unwrap_or_default()) } else { what };
        let itself = (name.is_empty() && house.is_none()).then_some((*element, spot.at));
        Same { name, what, around: address.parts.iter().map(|part| part.element).collect(), house, itself }
    }
}
