//! Resolves a part of a query to areas around a place: borders, islands, towns that are nodes.

use std::collections::HashMap;
use std::rc::Rc;

use terrapin_budget as budget;
use terrapin_osm::areas::{AreaShape, is_closed, shape_of_way};
use terrapin_osm::geometry::{LatLon, around_box, metres};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId};

use super::Details;
use super::address::reach;
use super::countries::{self, Territory};
use super::lists::{LONGER, Mode, NameLists};
use super::spot::PlaceSpot;

/// Maximum number of places of one part.
const MOST: usize = 32;
/// Maximum number of elements of one tag.
const OF_TAG: u64 = 256;
/// Highest rank of an area around a place.
const RANK: u8 = 25;

/// An area around a place.
#[derive(Debug, Clone, Copy)]
pub struct SurroundingArea {
    extent: AreaExtent,
    /// The box around it.
    pub bounds: BoundingBox,
    /// A point in it.
    pub at: Coord,
    /// Its rank.
    rank: u8,
}

#[derive(Debug, Clone, Copy)]
enum AreaExtent {
    /// An area of the snapshot.
    Area(u32),
    /// A closed way, by its index in `rings`.
    Ring(usize),
    /// A node and its radius in metres.
    Near(Coord, f64),
    /// A country or a region by its outline.
    Territory(&'static Territory),
}

/// A cache of the areas of parts.
pub struct SurroundingsCache<'a> {
    osm: &'a Osm,
    known: HashMap<(Vec<String>, Mode), Rc<[SurroundingArea]>>,
    rings: Vec<AreaShape>,
}

impl<'a> SurroundingsCache<'a> {
    /// Creates an empty cache.
    pub fn new(osm: &'a Osm) -> Self {
        SurroundingsCache { osm, known: HashMap::new(), rings: Vec::new() }
    }

    /// Returns whether a place is inside of an area: a point of it is, and its rank is higher or its box smaller.
    pub fn holds(&self, around: &SurroundingArea, rank: u8, bounds: &BoundingBox, at: Coord) -> bool {
        let is_more = around.rank < rank || (around.rank == rank && around.is_larger(bounds));
        is_more && self.covers(around, at)
    }

    /// Returns whether a point is inside of an area.
    pub fn covers(&self, around: &SurroundingArea, at: Coord) -> bool {
        if !around.bounds.contains(at) {
            return false;
        }
        let covers = |shape: &AreaShape| {
            budget::checkpoints(shape.weight() >> 10);
            shape.covers(at)
        };
        match around.extent {
            AreaExtent::Near(middle, reach) => metres(middle.into(), at.into()) <= reach,
            AreaExtent::Area(area) => covers(&self.osm.areas().shape(self.osm, area)),
            AreaExtent::Ring(ring) => self.rings.get(ring).is_some_and(covers),
            AreaExtent::Territory(territory) => territory.covers(at),
        }
    }

    /// Returns the areas for words: places of this name, or a country by its code.
    pub fn of(&mut self, lists: &mut NameLists<'_>, words: &[String], mode: Mode) -> Rc<[SurroundingArea]> {
        if let Some(known) = self.known.get(&(words.to_vec(), mode)) {
            return Rc::clone(known);
        }
        let mut named_alike: Vec<(PairId, SurroundingArea)> = Vec::new();
        for named in lists.named(words, mode, true).into_iter().filter(|named| named.distance.is_multiple_of(LONGER)) {
            let (pair, _) = lists.names.name(named.name);
            // Names are sorted by rank: the rest are not areas.
            if lists.names.rank(named.name) > RANK || named_alike.len() >= MOST {
                break;
            }
            for kind in [ElementType::Relation, ElementType::Way, ElementType::Node] {
                let postings = self.osm.postings(kind, pair);
                if postings.len() <= OF_TAG {
                    let all = postings.all();
                    let places = all.iter().filter_map(|&ordinal| self.around(kind, ordinal));
                    named_alike.extend(places.map(|around| (pair, around)));
                }
            }
        }
        // The name of a town with a border ends at the border, as in `Address`. Outlines of islands and quarters are
        // often narrower than the place, so that its node stays.
        let borders: Vec<(PairId, SurroundingArea)> =
            named_alike.iter().copied().filter(|(_, around)| around.is_border()).collect();
        named_alike.retain(|(pair, node)| {
            let has_border =
                |(other, border): &(PairId, SurroundingArea)| other == pair && self.covers(border, node.at);
            !node.is_node() || !borders.iter().any(has_border)
        });
        let mut found: Vec<SurroundingArea> = named_alike.into_iter().map(|(_, around)| around).collect();
        if let [code] = words
            && code.len() == 2
            && let Some(pair) = self.osm.pair("ISO3166-1:alpha2", &code.to_uppercase())
        {
            let postings = self.osm.posting(ElementType::Relation, pair);
            found.extend(postings.iter().filter_map(|&ordinal| self.around(ElementType::Relation, ordinal)));
        }
        found.truncate(MOST);
        if mode == Mode::Whole {
            found.extend(countries::named(words).into_iter().filter_map(SurroundingArea::of_territory));
        }
        let found: Rc<[SurroundingArea]> = found.into();
        self.known.insert((words.to_vec(), mode), Rc::clone(&found));
        found
    }

    fn around(&mut self, kind: ElementType, ordinal: Ordinal) -> Option<SurroundingArea> {
        budget::checkpoints(64);
        if kind == ElementType::Relation {
            self.osm.areas().of_relation(ordinal)?;
        }
        let details = Details::of(self.osm, kind, ordinal);
        let rank = details.rank();
        if rank > RANK {
            return None;
        }
        let spot = PlaceSpot::of(self.osm, kind, ordinal)?;
        let (extent, bounds) = match kind {
            ElementType::Relation => (AreaExtent::Area(self.osm.areas().of_relation(ordinal)?), spot.bounds),
            ElementType::Way => {
                let (nodes, line) = self.osm.way(ordinal);
                if !is_closed(&nodes) {
                    return None;
                }
                budget::checkpoints(line.len());
                self.rings.push(shape_of_way(&line));
                (AreaExtent::Ring(self.rings.len() - 1), spot.bounds)
            }
            ElementType::Node => {
                let reach = reach(details.tag("place")?)?;
                (AreaExtent::Near(spot.at, reach), around_box(LatLon::from(spot.at), reach))
            }
        };
        Some(SurroundingArea { extent, bounds, at: spot.at, rank })
    }
}

impl SurroundingArea {
    fn of_territory(territory: &'static Territory) -> Option<SurroundingArea> {
        let PlaceSpot { bounds, at } = territory.spot?;
        let rank = if territory.is_country() { 4 } else { 8 };
        Some(SurroundingArea { extent: AreaExtent::Territory(territory), bounds, at, rank })
    }

    fn is_border(&self) -> bool {
        matches!(self.extent, AreaExtent::Area(_))
    }

    fn is_node(&self) -> bool {
        matches!(self.extent, AreaExtent::Near(..))
    }

    /// Returns whether a border contains a whole box and is larger: an island with a town of the same rank.
    fn is_larger(&self, other: &BoundingBox) -> bool {
        let corners = [(other.south, other.west), (other.north, other.east)];
        let holds = corners.into_iter().all(|(lat, lon)| self.bounds.contains(Coord { lat, lon }));
        matches!(self.extent, AreaExtent::Area(_) | AreaExtent::Ring(_)) && holds && self.bounds != *other
    }
}
