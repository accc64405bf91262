//! What is at a point: the nearest house, place of interest or street within some hundreds of metres; else the smallest
//! border around it, or the place that is nearest.

use terrapin_osm::geometry::metres;
use terrapin_osm::names::words;
use terrapin_osm::{Coord, ElementType, Ordinal, Osm};

use super::address::{Address, borders};
use super::countries::country_at;
use super::details::Layer;
use super::hit::{Articles, Hit};
use super::interpolation::Interpolation;
use super::nearby::{each_near, find_pair, has_pair, pairs_of};
use super::spot::Spot;
use super::streets::{is_street, names_of, nearest_street};
use super::{Details, Element};

/// Metres within which something is looked for, one after another.
const RADII: [f64; 3] = [40.0, 150.0, 600.0];
/// A street is taken for so many metres farther away than it is where houses are wanted, too: these stand beside it.
const BESIDE: f64 = 8.0;
/// Metres within which houses belong to a street that somebody stands on.
const OF_STREET: f64 = 100.0;
/// Keys of what is worth finding without a name.
const NAMELESS: [&str; 10] =
    ["amenity", "shop", "tourism", "leisure", "historic", "office", "craft", "aeroway", "healthcare", "club"];
/// Tags of the same.
const NAMELESS_TAGS: [(&str, &str); 4] =
    [("highway", "bus_stop"), ("railway", "station"), ("railway", "halt"), ("railway", "tram_stop")];

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
    let is_addressed = near.layers.contains(&Layer::Address);
    // Of nature, rivers and peaks are found at low zooms, too.
    let is_near = most >= 26 || (near.zoom >= 12 && near.layers.contains(&Layer::Natural));
    let found = if is_near { RADII.iter().find_map(|&radius| within(osm, near, most, radius)) } else { None };
    match found {
        Some(Thing::House(hit)) => Some(*hit),
        Some(Thing::Element(element)) => {
            let hit = Hit::of(osm, element, near.articles)?;
            // Who stands on a street is told the house beside it.
            let is_on_street = most == 30 && is_addressed && is_street(&hit.details);
            let house = is_on_street.then(|| house_of(osm, near, &hit.details)).flatten();
            house.or(Some(hit))
        }
        None if is_addressed => match place(osm, near, most) {
            Some(element) => Hit::of(osm, element, near.articles),
            None => country_at(near.at).map(|country| Hit::of_territory(osm, country, Spot::of_point(near.at))),
        },
        None => None,
    }
}

/// The smallest border around a point, or a place that is a node and smaller.
fn place(osm: &Osm, near: &Near<'_>, most: u8) -> Option<Element> {
    let mut parts = borders(osm, near.at);
    // The nodes of places are as the address of a house has them.
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

/// What was found at a point.
enum Thing {
    Element(Element),
    /// A house between others, along a way.
    House(Box<Hit>),
}

/// A house between two others: the way along which it stands, its number, its place.
type HouseBetween = (Interpolation, u32, Spot);

/// The nearest of what is wanted within so many metres.
fn within(osm: &Osm, near: &Near<'_>, most: u8, radius: f64) -> Option<Thing> {
    let [names, houses, house_names, highways, steps] =
        ["name", "addr:housenumber", "addr:housename", "highway", "addr:interpolation"].map(|key| pairs_of(osm, key));
    let typed: Vec<_> = NAMELESS.iter().map(|key| pairs_of(osm, key)).filter(|range| !range.is_empty()).collect();
    let typed_tags: Vec<_> = NAMELESS_TAGS.iter().filter_map(|(key, value)| osm.pair(key, value)).collect();
    let has_houses = most == 30 && near.layers.contains(&Layer::Address);
    let mut best: Option<(f64, Element, Option<HouseBetween>)> = None;
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
        let element = Element { kind, id };
        let key = |element: &Element| (element.kind, element.id);
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

/// Whether an element is of the kinds that are looked for.
fn is_wanted(osm: &Osm, near: &Near<'_>, most: u8, kind: ElementType, ordinal: Ordinal) -> bool {
    let details = Details::of(osm, kind, ordinal);
    let (rank, layer) = (details.rank(), details.layer());
    if details.category() == ("area", "yes") && details.tag("addr:housename").is_none() {
        return false;
    }
    if details.tag("boundary").is_some() {
        return false;
    }
    // Names of towns reach farther than their nodes.
    let is_small = match layer {
        Layer::Natural => near.zoom >= 12 && (near.zoom >= 13 || rank <= 18),
        _ => rank > 25 && rank <= most,
    };
    let is_house = details.tag("addr:housenumber").is_some() || details.tag("addr:housename").is_some();
    is_small && (near.layers.contains(&layer) || (is_house && near.layers.contains(&Layer::Address)))
}

/// A house between others.
fn between_others(osm: &Osm, way: Element, between: &Interpolation, number: u32, spot: Spot) -> Hit {
    Hit::of_parts(osm, Some(way), between.details(number), 0.0, spot)
}

/// The nearest house of a street.
fn house_of(osm: &Osm, near: &Near<'_>, street: &Details) -> Option<Hit> {
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
        let element = Element { kind, id: osm.ids(kind, &[ordinal]).first().copied()? };
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
