//! What is at a point: the nearest house, place of interest or street within some hundreds of metres; else the smallest
//! border around it, or the place that is nearest.

use terrapin_budget as budget;
use terrapin_osm::geometry::{LatLon, LineVectors, Segment, around_box, metres};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId};

use super::address::{Address, borders};
use super::details::{AROUND, Layer};
use super::hit::{Articles, Hit};
use super::{Details, Element};

/// Metres within which something is looked for, one after another.
const RADII: [f64; 3] = [40.0, 150.0, 600.0];
/// A street is taken for so many metres farther away than it is where houses are wanted, too: these stand beside it.
const BESIDE: f64 = 8.0;

/// What is looked for at a point.
pub struct Near<'a> {
    /// The point.
    pub at: Coord,
    /// From 3, countries, to 18, houses.
    pub zoom: u8,
    /// Which kinds of things.
    pub layers: &'a [Layer],
    /// How many articles there are.
    pub articles: Articles<'a>,
}

/// The highest rank of what is looked for at each zoom.
fn most_rank(zoom: u8) -> u8 {
    match zoom {
        0..=4 => 4,
        5..=7 => 8,
        8 | 9 => 12,
        10 | 11 => 16,
        12 => 18,
        13 => 19,
        14 => 22,
        15 => 25,
        16 => 26,
        17 => 27,
        _ => 30,
    }
}

/// What is at a point; `None` where nothing is near.
pub fn nearest(osm: &Osm, near: &Near<'_>) -> Option<Hit> {
    let most = most_rank(near.zoom);
    let found = if most >= 26 { RADII.iter().find_map(|&radius| within(osm, near, most, radius)) } else { None };
    let element = match found {
        Some(element) => element,
        None if near.layers.contains(&Layer::Address) => place(osm, near, most)?,
        None => return None,
    };
    let mut hit = Hit::of(osm, element, near.articles)?;
    // A house or a shop says which street it is in, or the street beside it does.
    if hit.address.road.is_none() && most == 30 && hit.details.tag("highway").is_none() && hit.details.rank() > 25 {
        hit.address.road = street(osm, hit.spot.at);
    }
    Some(hit)
}

/// The smallest border around a point, or a place that is a node and smaller.
fn place(osm: &Osm, near: &Near<'_>, most: u8) -> Option<Element> {
    let mut parts = borders(osm, near.at);
    if let Some(last) = parts.iter().max_by_key(|part| (part.rank, part.element.id)) {
        // The nodes of places are as the address of a house has them.
        let details = Details { tags: vec![("addr:housenumber".to_owned(), String::new())] };
        let address = Address::of(osm, Some(last.element), &details, near.at);
        parts.extend(address.parts.into_iter().filter(|part| part.element.kind == ElementType::Node));
    } else {
        let details = Details { tags: vec![("addr:housenumber".to_owned(), String::new())] };
        parts.extend(Address::of(osm, None, &details, near.at).parts);
    }
    parts.retain(|part| part.rank <= most);
    let best =
        parts.into_iter().max_by_key(|part| (part.rank, part.element.kind == ElementType::Relation, -part.element.id));
    best.map(|part| part.element)
}

/// The tags that make something worth finding.
struct Tags {
    names: std::ops::Range<PairId>,
    houses: std::ops::Range<PairId>,
    highways: std::ops::Range<PairId>,
}

impl Tags {
    fn of(osm: &Osm) -> Tags {
        let pairs = |key| osm.key(key).map_or(0..0, |key| osm.pairs_of(key));
        Tags { names: pairs("name"), houses: pairs("addr:housenumber"), highways: pairs("highway") }
    }

    fn has(pairs: &[PairId], range: &std::ops::Range<PairId>) -> bool {
        let at = pairs.partition_point(|&pair| pair < range.start);
        pairs.get(at).is_some_and(|pair| range.contains(pair))
    }
}

/// The nearest of what is wanted within so many metres.
fn within(osm: &Osm, near: &Near<'_>, most: u8, radius: f64) -> Option<Element> {
    let tags = Tags::of(osm);
    let mut best: Option<(f64, Element)> = None;
    each_near(osm, near.at, radius, |kind, ordinal, pairs, metres| {
        let named = Tags::has(pairs, &tags.names);
        if !named && !Tags::has(pairs, &tags.houses) {
            return;
        }
        let is_street = Tags::has(pairs, &tags.highways);
        let beside = if is_street && most == 30 { BESIDE } else { 0.0 };
        let metres = metres() + beside;
        if metres > radius + beside || best.as_ref().is_some_and(|(nearest, _)| metres > *nearest) {
            return;
        }
        let details = Details::of(osm, kind, ordinal);
        let rank = details.rank();
        // Names of towns reach farther than their nodes; what nothing is said of but a name is not there to be seen.
        let wanted = rank > 25 && rank <= most && near.layers.contains(&details.layer());
        if !wanted || details.category() == ("area", "yes") || details.tag("boundary").is_some() {
            return;
        }
        let Some(id) = osm.ids(kind, &[ordinal]).first().copied() else { return };
        let element = Element { kind, id };
        let key = |element: &Element| (element.kind, element.id);
        let first = best.as_ref().is_none_or(|(nearest, other)| metres < *nearest || key(&element) < key(other));
        if first {
            best = Some((metres, element));
        }
    });
    best.map(|(_, element)| element)
}

/// The name of the nearest street.
fn street(osm: &Osm, at: Coord) -> Option<String> {
    let tags = Tags::of(osm);
    let name = osm.key("name")?;
    RADII[..2].iter().find_map(|&radius| {
        let mut best: Option<(f64, Ordinal, PairId)> = None;
        each_near(osm, at, radius, |kind, ordinal, pairs, metres| {
            let is_street = kind == ElementType::Way && Tags::has(pairs, &tags.highways);
            let Some(&pair) = pairs.iter().find(|&&pair| is_street && osm.pairs_of(name).contains(&pair)) else {
                return;
            };
            let metres = metres();
            if metres <= radius && best.is_none_or(|(nearest, other, _)| (metres, ordinal) < (nearest, other)) {
                best = Some((metres, ordinal, pair));
            }
        });
        best.map(|(_, _, pair)| osm.with_value(pair, str::to_owned))
    })
}

/// Metres within which addresses say what a place lies in, and how many of them are read.
const BESIDE_PLACE: f64 = 150.0;
const ADDRESSES: usize = 32;

/// What the addresses beside a point say of towns, regions and countries, as words, each once.
pub fn said_near(osm: &Osm, at: Coord) -> Vec<Vec<String>> {
    let keys = AROUND.iter().filter_map(|key| Some(osm.pairs_of(osm.key(key)?)));
    let keys: Vec<std::ops::Range<PairId>> = keys.collect();
    let (mut said, mut read) = (Vec::new(), 0);
    each_near(osm, at, BESIDE_PLACE, |kind, ordinal, pairs, _| {
        if read < ADDRESSES && keys.iter().any(|key| Tags::has(pairs, key)) {
            read += 1;
            said.extend(Details::of(osm, kind, ordinal).said_around());
        }
    });
    said.sort_unstable();
    said.dedup();
    said
}

/// Calls `each` with the nodes and ways that have tags and may be within so many metres of a point: with what they are,
/// their tags, and how to find the distance.
fn each_near(
    osm: &Osm,
    at: Coord,
    radius: f64,
    mut each: impl FnMut(ElementType, Ordinal, &[PairId], &dyn Fn() -> f64),
) {
    let here = LatLon::from(at);
    let area = around_box(here, radius);
    for page in osm.pages_in(ElementType::Node, &area) {
        let (nodes, tags) = (osm.node_page(page), osm.tag_page(ElementType::Node, page));
        budget::checkpoints(nodes.coords.len() >> 3);
        for (slot, &coord) in nodes.coords.iter().enumerate() {
            let own = tags.tags(slot);
            if !own.is_empty() && area.contains(coord) {
                let ordinal = u64::from(page) * osm.page_size(ElementType::Node) + slot as u64;
                each(ElementType::Node, ordinal, own, &|| metres(here, coord.into()));
            }
        }
    }
    for page in osm.pages_in(ElementType::Way, &area) {
        let (ways, tags) = (osm.way_page(page), osm.tag_page(ElementType::Way, page));
        budget::checkpoints(ways.ids.len());
        for slot in 0..ways.ids.len() {
            let (own, line) = (tags.tags(slot), ways.coords(slot));
            if own.is_empty() || !may_meet(line, &area) {
                continue;
            }
            let ordinal = u64::from(page) * osm.page_size(ElementType::Way) + slot as u64;
            each(ElementType::Way, ordinal, own, &|| {
                let is_ring = line.len() > 3 && line.first() == line.last();
                if is_ring && !is_way_of_traffic(osm, own) && contains(line, at) {
                    // Of things in each other the smaller one is meant.
                    return 0.0;
                }
                LineVectors::new(line).metres_to(here)
            });
        }
    }
}

/// A closed street is a line.
fn is_way_of_traffic(osm: &Osm, pairs: &[PairId]) -> bool {
    osm.key("highway").is_some_and(|key| Tags::has(pairs, &osm.pairs_of(key)))
}

fn may_meet(line: &[Coord], area: &BoundingBox) -> bool {
    let mut bounds = BoundingBox::EMPTY;
    line.iter().for_each(|at| bounds.extend(*at));
    !bounds.is_empty() && area.intersects(&bounds)
}

/// Whether a point is inside a ring.
fn contains(ring: &[Coord], at: Coord) -> bool {
    let sides = ring.windows(2).map(|side| Segment { a: side[0], b: side[1] });
    let crossed = sides
        .filter(|Segment { a, b }| !a.is_missing() && !b.is_missing() && (a.lat > at.lat) != (b.lat > at.lat))
        .filter(|Segment { a, b }| {
            let (dx, dy) = (i128::from(b.lon) - i128::from(a.lon), i128::from(b.lat) - i128::from(a.lat));
            let left = (i128::from(at.lon) - i128::from(a.lon)) * dy - (i128::from(at.lat) - i128::from(a.lat)) * dx;
            (left < 0) == (dy > 0)
        });
    crossed.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_in_rings() {
        let ring: Vec<Coord> =
            [(0, 0), (0, 10), (10, 10), (10, 0), (0, 0)].iter().map(|&(lat, lon)| Coord { lat, lon }).collect();
        assert!(contains(&ring, Coord { lat: 5, lon: 5 }));
        assert!(!contains(&ring, Coord { lat: 5, lon: 15 }) && !contains(&ring, Coord { lat: 5, lon: -5 }));
        assert!(!contains(&ring, Coord { lat: 15, lon: 5 }));
    }
}
