//! Finds the street of a house without `addr:street`, and the streets and addresses near a place.

use std::collections::BTreeSet;

use terrapin_osm::names::{NameTarget, named_by, words};
use terrapin_osm::{Coord, ElementType, Ordinal, Osm, PairId};

use super::Details;
use super::details::AROUND;
use super::nearby::{each_near, each_way_near, find_pair, has_pair, pairs_of};

/// Search radii in metres for the nearest street, tried in this order.
const RADII: [f64; 2] = [40.0, 150.0];
/// Maximum distance in metres of a street or an address that belongs to a place.
pub const BESIDE: f64 = 150.0;
/// Maximum number of elements near a place to read.
const READ: usize = 64;
/// Values of `highway` for other things than streets.
const NO_STREETS: [&str; 8] =
    ["bus_stop", "platform", "services", "rest_area", "proposed", "elevator", "street_lamp", "traffic_signals"];

/// A street.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Street {
    /// Its way.
    pub way: Ordinal,
    /// Its tag `name`.
    pub name: PairId,
}

/// Returns whether these are the tags of a street.
pub fn is_street(details: &Details) -> bool {
    details.tag("highway").is_some_and(|kind| !NO_STREETS.contains(&kind))
}

/// Returns the nearest street with a name, within 150 m.
pub fn nearest_street(osm: &Osm, at: Coord) -> Option<Street> {
    let (names, highways) = (pairs_of(osm, "name"), pairs_of(osm, "highway"));
    let others: Vec<PairId> = NO_STREETS.iter().filter_map(|kind| osm.pair("highway", kind)).collect();
    RADII.iter().find_map(|&radius| {
        let mut best: Option<(f64, Street)> = None;
        each_way_near(osm, at, radius, &mut |_, way, tags, metres| {
            let is_street = find_pair(tags, &highways).is_some_and(|pair| !others.contains(&pair));
            let Some(name) = find_pair(tags, &names).filter(|_| is_street) else { return };
            let metres = metres();
            if metres <= radius && best.is_none_or(|(nearest, other)| (metres, way) < (nearest, other.way)) {
                best = Some((metres, Street { way, name }));
            }
        });
        best.map(|(_, street)| street)
    })
}

/// Returns the tags of the nearest street; `None` if the address has a street or no street is near.
pub fn street_of(osm: &Osm, details: &Details, at: Coord) -> Option<Details> {
    let says_it = ["addr:street", "addr:place", "addr:block_number"].iter().any(|key| details.tag(key).is_some());
    let is_thing = details.rank() == 30 && details.category() != ("area", "yes");
    let is_in_one = is_thing && details.tag("highway").is_none() && !says_it;
    let street = is_in_one.then(|| nearest_street(osm, at)).flatten()?;
    Some(Details::of(osm, ElementType::Way, street.way))
}

/// Streets and address tags near a place, as words without duplicates.
#[derive(Debug, Default)]
pub struct StreetContext {
    /// Towns, regions and countries in addresses.
    pub around: Vec<Vec<String>>,
    /// The names of streets.
    pub streets: Vec<Vec<String>>,
}

impl StreetContext {
    /// Reads the elements near a point. Neighbours share most of their tags, so that each tag is read once.
    pub fn near(osm: &Osm, at: Coord) -> StreetContext {
        let keys: Vec<_> = AROUND.iter().map(|key| pairs_of(osm, key)).filter(|range| !range.is_empty()).collect();
        let (names, highways) = (pairs_of(osm, "name"), pairs_of(osm, "highway"));
        let (mut around, mut streets): (BTreeSet<PairId>, Vec<(f64, Ordinal)>) = (BTreeSet::new(), Vec::new());
        each_near(osm, at, BESIDE, |kind, ordinal, tags, metres| {
            if around.len() < READ {
                around.extend(keys.iter().filter_map(|key| find_pair(tags, key)));
            }
            if kind == ElementType::Way && has_pair(tags, &highways) && has_pair(tags, &names) {
                let metres = metres();
                if metres <= BESIDE {
                    streets.push((metres, ordinal));
                }
            }
        });
        streets.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut tags: BTreeSet<PairId> = BTreeSet::new();
        for (_, way) in streets.into_iter().take(READ) {
            let (page, slot) = osm.place(ElementType::Way, way);
            tags.extend(osm.tag_page(ElementType::Way, page).tags(slot));
        }
        let is_name = |pair: &PairId| named_by(osm.key_name(osm.key_of(*pair))) == Some(NameTarget::Itself);
        let texts = |pair: PairId| osm.with_value(pair, |value| value.split(';').map(words).collect::<Vec<_>>());
        let mut said = StreetContext {
            around: around.into_iter().map(|pair| osm.with_value(pair, words)).collect(),
            streets: tags.into_iter().filter(is_name).flat_map(texts).collect(),
        };
        for list in [&mut said.around, &mut said.streets] {
            list.retain(|words| !words.is_empty());
            list.sort_unstable();
            list.dedup();
        }
        said
    }
}

/// Returns all names of an element, as words.
pub fn names_of(details: &Details) -> Vec<Vec<String>> {
    let names = details.tags.iter().filter(|(key, _)| named_by(key) == Some(NameTarget::Itself));
    names.flat_map(|(_, value)| value.split(';').map(words)).filter(|name| !name.is_empty()).collect()
}
