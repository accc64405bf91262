//! The streets of houses: the nearest one with a name, which a house without `addr:street` belongs to, and what is said near a
//! place by streets and addresses.

use terrapin_osm::names::{Names, named_by, words};
use terrapin_osm::{Coord, ElementType, Ordinal, Osm, PairId};

use super::Details;
use super::details::AROUND;
use super::nearby::{each_near, each_way_near, find_pair, has_pair, pairs_of};

/// Metres within which the nearest street is looked for, one after another.
const RADII: [f64; 2] = [40.0, 150.0];
/// Metres within which streets and addresses belong to a place.
pub const BESIDE: f64 = 150.0;
/// Elements near a place whose names and addresses are read.
const READ: usize = 64;
/// Values of `highway` that are no streets.
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

/// Whether these tags are those of a street.
pub fn is_street(details: &Details) -> bool {
    details.tag("highway").is_some_and(|kind| !NO_STREETS.contains(&kind))
}

/// The nearest street with a name, within 150 m.
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

/// The tags of the street that a house or a thing of interest is in; `None` if its address says it, or none is near.
pub fn street_of(osm: &Osm, details: &Details, at: Coord) -> Option<Details> {
    let says_it = ["addr:street", "addr:place", "addr:block_number"].iter().any(|key| details.tag(key).is_some());
    let is_thing = details.rank() == 30 && details.category() != ("area", "yes");
    let is_in_one = is_thing && details.tag("highway").is_none() && !says_it;
    let street = is_in_one.then(|| nearest_street(osm, at)).flatten()?;
    Some(Details::of(osm, ElementType::Way, street.way))
}

/// What is said near a place, as words, each once.
#[derive(Debug, Default)]
pub struct Said {
    /// By addresses, of towns, regions and countries.
    pub around: Vec<Vec<String>>,
    /// The names of streets.
    pub streets: Vec<Vec<String>>,
}

impl Said {
    /// Near a point.
    pub fn near(osm: &Osm, at: Coord) -> Said {
        let keys: Vec<_> = AROUND.iter().map(|key| pairs_of(osm, key)).filter(|range| !range.is_empty()).collect();
        let (names, highways) = (pairs_of(osm, "name"), pairs_of(osm, "highway"));
        let (mut said, mut addresses, mut streets) = (Said::default(), 0, Vec::new());
        each_near(osm, at, BESIDE, |kind, ordinal, tags, metres| {
            if addresses < READ && keys.iter().any(|key| has_pair(tags, key)) {
                addresses += 1;
                said.around.extend(Details::of(osm, kind, ordinal).said_around());
            }
            if kind == ElementType::Way && has_pair(tags, &highways) && has_pair(tags, &names) {
                let metres = metres();
                if metres <= BESIDE {
                    streets.push((metres, ordinal));
                }
            }
        });
        streets.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, way) in streets.into_iter().take(READ) {
            said.streets.extend(names_of(&Details::of(osm, ElementType::Way, way)));
        }
        for list in [&mut said.around, &mut said.streets] {
            list.sort_unstable();
            list.dedup();
        }
        said
    }
}

/// All names of an element, as words.
pub fn names_of(details: &Details) -> Vec<Vec<String>> {
    let names = details.tags.iter().filter(|(key, _)| named_by(key) == Some(Names::Itself));
    names.flat_map(|(_, value)| value.split(';').map(words)).filter(|name| !name.is_empty()).collect()
}
