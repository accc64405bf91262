//! What a part of a text means as the surroundings of something: borders, islands, towns that are only nodes.

use std::collections::HashMap;
use std::rc::Rc;

use terrapin_budget as budget;
use terrapin_osm::areas::{Shape, is_closed, shape_of_way};
use terrapin_osm::geometry::{LatLon, around_box, metres};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm};

use super::Details;
use super::address::reach;
use super::countries::{self, Territory};
use super::lists::{LONGER, Lists, Mode};
use super::spot::Spot;

/// Places that a part of a text may mean.
const MOST: usize = 32;
/// Elements of one tag.
const OF_TAG: u64 = 256;
/// The highest rank of what something may lie in.
const RANK: u8 = 25;

/// A place that something may lie in.
#[derive(Debug, Clone, Copy)]
pub struct Around {
    extent: Extent,
    /// The box around it.
    pub bounds: BoundingBox,
    /// A point of it.
    pub at: Coord,
    /// Its place in the table of ranks.
    rank: u8,
}

#[derive(Debug, Clone, Copy)]
enum Extent {
    /// An area of the snapshot.
    Area(u32),
    /// A closed way, by its place among those that were read.
    Ring(usize),
    /// A node, whose name reaches so many metres.
    Near(Coord, f64),
    /// A country or a region by its outline.
    Territory(&'static Territory),
}

/// What parts of texts mean, as far as it was looked up.
pub struct Surroundings<'a> {
    osm: &'a Osm,
    known: HashMap<(Vec<String>, Mode), Rc<[Around]>>,
    rings: Vec<Shape>,
}

impl<'a> Surroundings<'a> {
    /// Nothing is looked up yet.
    pub fn new(osm: &'a Osm) -> Self {
        Surroundings { osm, known: HashMap::new(), rings: Vec::new() }
    }

    /// Whether something lies in a place: a point of it, and its box and its rank, as a town does not lie in a street.
    pub fn holds(&self, around: &Around, rank: u8, bounds: &BoundingBox, at: Coord) -> bool {
        let is_more = around.rank < rank || (around.rank == rank && around.is_larger(bounds));
        is_more && self.covers(around, at)
    }

    /// Whether a point lies in a place.
    pub fn covers(&self, around: &Around, at: Coord) -> bool {
        if !around.bounds.contains(at) {
            return false;
        }
        let covers = |shape: &Shape| {
            budget::checkpoints(shape.weight() >> 10);
            shape.covers(at)
        };
        match around.extent {
            Extent::Near(middle, reach) => metres(middle.into(), at.into()) <= reach,
            Extent::Area(area) => covers(&self.osm.areas().shape(self.osm, area)),
            Extent::Ring(ring) => self.rings.get(ring).is_some_and(covers),
            Extent::Territory(territory) => territory.covers(at),
        }
    }

    /// What words mean: places of this name, a country's code.
    pub fn of(&mut self, lists: &mut Lists<'_>, words: &[String], mode: Mode) -> Rc<[Around]> {
        if let Some(known) = self.known.get(&(words.to_vec(), mode)) {
            return Rc::clone(known);
        }
        let mut found: Vec<Around> = Vec::new();
        for named in lists.named(words, mode, true).into_iter().filter(|named| named.distance.is_multiple_of(LONGER)) {
            let (pair, _) = lists.names.name(named.name);
            // Names of what is no place come later.
            if lists.names.rank(named.name) > RANK || found.len() >= MOST {
                break;
            }
            for kind in [ElementType::Relation, ElementType::Way, ElementType::Node] {
                let postings = self.osm.postings(kind, pair);
                if postings.len() <= OF_TAG {
                    found.extend(postings.all().iter().filter_map(|&ordinal| self.around(kind, ordinal)));
                }
            }
        }
        if let [code] = words
            && code.len() == 2
            && let Some(pair) = self.osm.pair("ISO3166-1:alpha2", &code.to_uppercase())
        {
            let postings = self.osm.posting(ElementType::Relation, pair);
            found.extend(postings.iter().filter_map(|&ordinal| self.around(ElementType::Relation, ordinal)));
        }
        // A town's border says more than its node.
        let borders: Vec<Around> = found.iter().copied().filter(|around| !around.is_node()).collect();
        found.retain(|around| !around.is_node() || !borders.iter().any(|border| self.covers(border, around.at)));
        found.truncate(MOST);
        if mode == Mode::Whole {
            found.extend(countries::named(words).into_iter().filter_map(Around::of_territory));
        }
        let found: Rc<[Around]> = found.into();
        self.known.insert((words.to_vec(), mode), Rc::clone(&found));
        found
    }

    fn around(&mut self, kind: ElementType, ordinal: Ordinal) -> Option<Around> {
        budget::checkpoints(64);
        if kind == ElementType::Relation {
            self.osm.areas().of_relation(ordinal)?;
        }
        let details = Details::of(self.osm, kind, ordinal);
        let rank = details.rank();
        if rank > RANK {
            return None;
        }
        let spot = Spot::of(self.osm, kind, ordinal)?;
        let (extent, bounds) = match kind {
            ElementType::Relation => (Extent::Area(self.osm.areas().of_relation(ordinal)?), spot.bounds),
            ElementType::Way => {
                let (nodes, line) = self.osm.way(ordinal);
                if !is_closed(&nodes) {
                    return None;
                }
                budget::checkpoints(line.len());
                self.rings.push(shape_of_way(&line));
                (Extent::Ring(self.rings.len() - 1), spot.bounds)
            }
            ElementType::Node => {
                let reach = reach(details.tag("place")?)?;
                (Extent::Near(spot.at, reach), around_box(LatLon::from(spot.at), reach))
            }
        };
        Some(Around { extent, bounds, at: spot.at, rank })
    }
}

impl Around {
    fn of_territory(territory: &'static Territory) -> Option<Around> {
        let Spot { bounds, at } = territory.spot?;
        let rank = if territory.is_country() { 4 } else { 8 };
        Some(Around { extent: Extent::Territory(territory), bounds, at, rank })
    }

    fn is_node(&self) -> bool {
        matches!(self.extent, Extent::Near(..))
    }

    /// Whether a border is around a whole box and more: an island with a town that has the same rank.
    fn is_larger(&self, other: &BoundingBox) -> bool {
        let corners = [(other.south, other.west), (other.north, other.east)];
        let holds = corners.into_iter().all(|(lat, lon)| self.bounds.contains(Coord { lat, lon }));
        matches!(self.extent, Extent::Area(_) | Extent::Ring(_)) && holds && self.bounds != *other
    }
}
