//! Finds the place at a point: the nearest house, named thing or street within 600 m; else the smallest border around
//! it, or the nearest place node.

use terrapin_osm::areas::is_closed;
use terrapin_osm::geometry::metres;
use terrapin_osm::names::words;
use terrapin_osm::{Coord, ElementType, Ordinal, Osm};

use super::address::{Address, borders};
use super::countries::country_at;
use super::details::PlaceLayer;
use super::hit::{Articles, Hit};
use super::interpolation::{Interpolation, nearest_on};
use super::nearby::{each_near, find_pair, has_pair, pairs_of};
use super::spot::PlaceSpot;
use super::streets::{is_street, names_of, nearest_street};
use super::{Details, PlaceElement};

/// Search radii in metres, tried in this order.
const RADII: [f64; 3] = [40.0, 150.0, 600.0];
/// Metres added to the distance of a street, so that a house next to the street is nearer.
const BESIDE: f64 = 8.0;
/// Maximum distance in metres of a house from a point on its street.
const OF_STREET: f64 = 100.0;
/// Keys of things that are results even without a name.
const NAMELESS: [&str; 10] =
    ["amenity", "shop", "tourism", "leisure", "historic", "office", "craft", "aeroway", "healthcare", "club"];
/// Tags of things that are results even without a name.
const NAMELESS_TAGS: [(&str, &str); 4] =
    [("highway", "bus_stop"), ("railway", "station"), ("railway", "halt"), ("railway", "tram_stop")];

/// A query for the place at a point.
pub struct ReverseQuery<'a> {
    /// The point.
    pub at: Coord,
    /// From 3 (countries) to 18 (houses).
    pub zoom: u8,
    /// The kinds of things to return.
    pub layers: &'a [PlaceLayer],
    /// Counts of Wikipedia articles.
    pub articles: Articles<'a>,
}

/// Returns the highest rank of results at a zoom.
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

/// Returns the nearest place to a point, or `None` if no place is near.
pub fn nearest(osm: &Osm, near: &ReverseQuery<'_>) -> Option<Hit> {
    let most = most_rank(near.zoom);
    let is_addressed = near.layers.contains(&PlaceLayer::Address);
    // Rivers and peaks are results from zoom 12.
    let is_near = most >= 26 || (near.zoom >= 12 && near.layers.contains(&PlaceLayer::Natural));
    let found = if is_near { RADII.iter().find_map(|&radius| within(osm, near, most, radius)) } else { None };
    match found {
        Some(Thing::House(hit)) => Some(*hit),
        Some(Thing::Element(element)) => {
            let hit = Hit::of(osm, element, near.articles)?;
            // On a street the nearest house of the street is the result.
            let is_on_street = most == 30 && is_addressed && is_street(&hit.details);
            let house = is_on_street.then(|| house_of(osm, near, &hit.details)).flatten();
            house.or_else(|| {
                Some(Hit {
                    spot: PlaceSpot { at: closest(osm, element, near.at).unwrap_or(hit.spot.at), ..hit.spot },
                    ..hit
                })
            })
        }
        None if is_addressed => match place(osm, near, most) {
            Some(element) => Hit::of(osm, element, near.articles),
            None => country_at(near.at).map(|country| Hit::of_territory(osm, country, PlaceSpot::of_point(near.at))),
        },
        None => None,
    }
}

/// Returns the point of an open way that is nearest to `at`.
fn closest(osm: &Osm, element: PlaceElement, at: Coord) -> Option<Coord> {
    let way = Some(element).filter(|element| element.kind == ElementType::Way)?;
    let (nodes, line) = osm.way(osm.find(way.kind, way.id)?);
    let line: Vec<Coord> = line.iter().copied().filter(|at| !at.is_missing()).collect();
    if is_closed(&nodes) { None } else { nearest_on(&line, at) }
}

/// Returns the smallest border around a point, or a smaller place node near it.
fn place(osm: &Osm, near: &ReverseQuery<'_>, most: u8) -> Option<PlaceElement> {
    let mut parts = borders(osm, near.at);
    // Place nodes are those in the address of a house here.
    let tags = ["addr:housenumber", "addr:place"].map(|key| (key.to_owned(), String::new()));
    let details = Details { tags: tags.to_vec() };
    let address = Address::of(osm, None, &details, near.at);
    let has_border = !parts.is_empty();
    parts.extend(address.parts.into_iter().filter(|part| !has_border || part.element.kind == ElementType::Node));
    parts.retain(|part| part.rank <= most);
    let best = parts.into_iter().max_by_key(|part| {
        let is_border = part.element.kind == ElementType::Relation;
        (part.rank, is_border, std::cmp::Reverse((part.size, part.element.id)))
    });
    best.map(|part| part.element)
}

/// A result near a point.
enum Thing {
    Element(PlaceElement),
    /// An interpolated house.
    House(Box<Hit>),
}

/// An interpolated house: its way, its number, its position.
type HouseBetween = (Interpolation, u32, PlaceSpot);

/// Returns the nearest result within a radius in metres.
fn within(osm: &Osm, near: &ReverseQuery<'_>, most: u8, radius: f64) -> Option<Thing> {
    let [names, houses, house_names, highways, steps] =
        ["name", "addr:housenumber", "addr:housename", "highway", "addr:interpolation"].map(|key| pairs_of(osm, key));
    let typed: Vec<_> = NAMELESS.iter().map(|key| pairs_of(osm, key)).filter(|range| !range.is_empty()).collect();
    let typed_tags: Vec<_> = NAMELESS_TAGS.iter().filter_map(|(key, value)| osm.pair(key, value)).collect();
    let has_houses = most == 30 && near.layers.contains(&PlaceLayer::Address);
    let mut best: Option<(f64, PlaceElement, Option<HouseBetween>)> = None;
    each_near(osm, near.at, radius, |kind, ordinal, pairs, metres_to| {
        let is_interpolated = has_houses && kind == ElementType::Way && has_pair(pairs, &steps);
        let is_found = is_interpolated
            || [&names, &houses, &house_names].iter().any(|range| has_pair(pairs, range))
            || typed.iter().any(|range| has_pair(pairs, range))
            || typed_tags.iter().any(|pair| pairs.contains(pair));
        if !is_found {
            return;
        }
        let is_road = has_pair(pairs, &highways);
        let beside = if is_road && most == 30 { BESIDE } else { 0.0 };
        let mut away = metres_to() + beside;
        if away > radius + beside || best.as_ref().is_some_and(|(nearest, ..)| away > *nearest) {
            return;
        }
        let mut house = None;
        if is_interpolated {
            let Some(between) = Interpolation::of(osm, ordinal) else { return };
            let Some((number, spot)) = between.nearest(near.at) else { return };
            away = metres(near.at.into(), spot.at.into());
            house = Some((between, number, spot));
        } else if !is_wanted(osm, near, most, kind, ordinal) {
            return;
        }
        let Some(id) = osm.ids(kind, &[ordinal]).first().copied() else { return };
        let element = PlaceElement { kind, id };
        let key = |element: &PlaceElement| (element.kind, element.id);
        let first = best
            .as_ref()
            .is_none_or(|(nearest, other, _)| away < *nearest || (away == *nearest && key(&element) < key(other)));
        if first {
            best = Some((away, element, house));
        }
    });
    let (_, element, house) = best?;
    Some(match house {
        Some((between, number, spot)) => Thing::House(Box::new(between_others(osm, element, &between, number, spot))),
        None => Thing::Element(element),
    })
}

/// Returns whether an element is of the kinds in the query.
fn is_wanted(osm: &Osm, near: &ReverseQuery<'_>, most: u8, kind: ElementType, ordinal: Ordinal) -> bool {
    let details = Details::of(osm, kind, ordinal);
    let (rank, layer) = (details.rank(), details.layer());
    if details.category() == ("area", "yes") && details.tag("addr:housename").is_none() {
        return false;
    }
    if details.tag("boundary").is_some() {
        return false;
    }
    // Settlements are found by their reach, not by the distance of their node.
    let is_small = match layer {
        PlaceLayer::Natural => near.zoom >= 14 || (near.zoom >= 12 && rank <= most),
        _ => rank > 25 && rank <= most,
    };
    let is_house = details.tag("addr:housenumber").is_some() || details.tag("addr:housename").is_some();
    is_small && (near.layers.contains(&layer) || (is_house && near.layers.contains(&PlaceLayer::Address)))
}

/// Makes a result of an interpolated house.
fn between_others(osm: &Osm, way: PlaceElement, between: &Interpolation, number: u32, spot: PlaceSpot) -> Hit {
    Hit::of_parts(osm, Some(way), between.details(number), 0.0, spot)
}

/// Returns the nearest house of a street.
fn house_of(osm: &Osm, near: &ReverseQuery<'_>, street: &Details) -> Option<Hit> {
    let names = names_of(street);
    let [numbers, steps, streets] =
        ["addr:housenumber", "addr:interpolation", "addr:street"].map(|key| pairs_of(osm, key));
    let mut all: Vec<(f64, ElementType, Ordinal, bool)> = Vec::new();
    each_near(osm, near.at, OF_STREET, |kind, ordinal, pairs, metres_to| {
        let is_interpolated = kind == ElementType::Way && has_pair(pairs, &steps);
        if !is_interpolated && !has_pair(pairs, &numbers) {
            return;
        }
        let is_elsewhere =
            find_pair(pairs, &streets).is_some_and(|pair| !osm.with_value(pair, |value| names.contains(&words(value))));
        let away = metres_to();
        if !is_elsewhere && away <= OF_STREET {
            all.push((away, kind, ordinal, is_interpolated));
        }
    });
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let is_of_street = |at: Coord| {
        nearest_street(osm, at).is_some_and(|other| osm.with_value(other.name, |name| names.contains(&words(name))))
    };
    let mut best: Option<(f64, Hit)> = None;
    for (away, kind, ordinal, is_interpolated) in all {
        if best.as_ref().is_some_and(|(nearest, _)| away >= *nearest) {
            break;
        }
        let element = PlaceElement { kind, id: osm.ids(kind, &[ordinal]).first().copied()? };
        let (away, hit) = if is_interpolated {
            let Some(between) = Interpolation::of(osm, ordinal) else { continue };
            let Some((number, spot)) = between.nearest(near.at) else { continue };
            let is_it = match &between.street {
                Some(street) => names.contains(&words(street)),
                None => is_of_street(spot.at),
            };
            if !is_it {
                continue;
            }
            (metres(near.at.into(), spot.at.into()), between_others(osm, element, &between, number, spot))
        } else {
            let Some(hit) = Hit::of(osm, element, near.articles) else { continue };
            if hit.details.tag("addr:street").is_none() && !is_of_street(hit.spot.at) {
                continue;
            }
            (away, hit)
        };
        if best.as_ref().is_none_or(|(nearest, _)| away < *nearest) {
            best = Some((away, hit));
        }
    }
    best.map(|(_, hit)| hit)
}
