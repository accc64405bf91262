//! A place that was found, with what lies around it.

use terrapin_osm::geometry::{LatLon, around_box};
use terrapin_osm::names::words;
use terrapin_osm::{BoundingBox, Coord, ElementType, Osm};

use super::address::{Address, reach};
use super::spot::Spot;
use super::{Details, Element};

/// Says how many articles there are about an item of Wikidata, by its id such as `Q233`; `None` where nobody knows.
pub type Articles<'a> = &'a dyn Fn(&str) -> Option<u64>;

/// Metres that a thing which is a node reaches around it.
const OF_NODE: f64 = 5.0;

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
        let spot = Spot::of(osm, element.kind, ordinal)?;
        let details = Details::of(osm, element.kind, ordinal);
        let importance = details.importance(details.tag("wikidata").and_then(articles));
        let address = Address::of(osm, Some(element), &details, spot.at);
        Some(Hit { element: Some(element), details, importance, spot, address })
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

    /// The box around it; of a node one as large as its name reaches, so that a map has something to show.
    pub fn bounds(&self) -> BoundingBox {
        match self.element {
            Some(Element { kind: ElementType::Node, .. }) => {
                let metres = self.details.tag("place").and_then(reach).unwrap_or(OF_NODE);
                around_box(LatLon::from(self.spot.at), metres)
            }
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
        let house = address.house.as_ref().map(|house| format!("{house} {:?}", address.road));
        let itself = (name.is_empty() && house.is_none()).then_some((*element, spot.at));
        Same { name, what, around: address.parts.iter().map(|part| part.element).collect(), house, itself }
    }
}
