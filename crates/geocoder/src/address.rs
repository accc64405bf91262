//! Builds the address of a point, from the street to the country. Towns and quarters come from borders; without a
//! border, from the nearest place node.

use terrapin_budget as budget;
use terrapin_osm::geometry::{LatLon, around_box, metres};
use terrapin_osm::names::words;
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PostingScope};

use super::countries::{Territory, country_at};
use super::details::PlaceLayer;
use super::estimate::{common_code, nearest_code};
use super::linked;
use super::nearby::ranges;
use super::spot::{extent, point};
use super::streets::street_of;
use super::{Details, PlaceElement};

/// Place nodes: the value of `place`, the radius in metres, and the kind of which an address has one.
const NODES: [(&str, f64, SettlementKind); 8] = [
    ("city", 15_000.0, SettlementKind::Settlement),
    ("town", 6_000.0, SettlementKind::Settlement),
    ("village", 3_000.0, SettlementKind::Settlement),
    ("hamlet", 1_500.0, SettlementKind::Settlement),
    ("isolated_dwelling", 500.0, SettlementKind::Settlement),
    ("suburb", 2_500.0, SettlementKind::Quarter),
    ("quarter", 1_200.0, SettlementKind::Quarter),
    ("neighbourhood", 1_000.0, SettlementKind::Quarter),
];

/// The lowest rank of places with an estimated postal code: towns.
const ESTIMATED: u8 = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettlementKind {
    Settlement,
    Quarter,
}

/// Returns the radius of a place node in metres; `None` for other values of `place`.
pub fn reach(place: &str) -> Option<f64> {
    let large = [("country", 250_000.0), ("state", 100_000.0), ("region", 100_000.0), ("county", 30_000.0)];
    let small = NODES.iter().map(|(name, reach, _)| (*name, *reach));
    small
        .chain(large)
        .chain([("island", 20_000.0), ("locality", 1_000.0)])
        .find(|(name, _)| *name == place)
        .map(|(_, reach)| reach)
}

/// An area or place around a point.
#[derive(Debug, Clone)]
pub struct AddressPart {
    /// Its label in an address: `city`, `state`.
    pub label: String,
    /// Its element.
    pub element: PlaceElement,
    /// Its tags.
    pub details: Details,
    /// Its rank.
    pub rank: u8,
    /// The size of its box, for comparison; 0 for a node.
    pub size: i64,
}

/// An address.
#[derive(Debug, Clone, Default)]
pub struct Address {
    /// The number of the house.
    pub house: Option<String>,
    /// The street.
    pub road: Option<Details>,
    /// The value of `addr:place`, instead of a street.
    pub place: Option<String>,
    /// The postal code.
    pub postcode: Option<String>,
    /// Areas and places around it, the smallest first.
    pub parts: Vec<AddressPart>,
    /// The country by its outline, if the snapshot has no border around the point.
    pub territory: Option<&'static Territory>,
}

impl Address {
    /// Builds the address of an element at a point of it. The element itself is left out.
    pub fn of(osm: &Osm, element: Option<PlaceElement>, details: &Details, at: Coord) -> Address {
        let tag = |key: &str| details.tag(key).map(str::to_owned);
        let street = |name: String| Details { tags: vec![("name".to_owned(), name)] };
        let rank = details.rank();
        let mut parts = borders(osm, at);
        let own = details.tag("name").map(words);
        let is_larger = |part: &AddressPart| {
            Some(part.element) != element && part.rank < rank && part.details.tag("name").map(words) != own
        };
        // The node of a town and its border have the same code.
        let is_own = |part: &&AddressPart| Some(part.element) == element || part.details.tag("name").map(words) == own;
        let border = parts.iter().filter(|_| rank <= 25 && own.is_some()).find(is_own).map(|part| part.element);
        parts.retain(is_larger);
        let settled = |kind: SettlementKind| {
            let has = |label: &str| NODES.iter().any(|(name, _, of)| *of == kind && *name == label);
            parts.iter().any(|part| has(&part.label))
        };
        let missing: Vec<SettlementKind> =
            [SettlementKind::Settlement, SettlementKind::Quarter].into_iter().filter(|kind| !settled(*kind)).collect();
        // A town is not part of the town nearby.
        let lies_in_one = rank > 20
            || details
                .tag("place")
                .is_some_and(|place| NODES.iter().any(|node| node.0 == place && node.2 == SettlementKind::Quarter));
        if lies_in_one {
            // Villages inside of a town's border are parts of the address.
            let town = parts.iter().filter(|part| NODES.iter().any(|node| node.0 == part.label)).map(|part| {
                (part.rank, osm.find(part.element.kind, part.element.id).and_then(|o| osm.areas().of_relation(o)))
            });
            let town = town.max_by_key(|(rank, _)| *rank).and_then(|(rank, area)| Some((rank, area?)));
            let nodes = nearest(osm, at, &missing, town);
            parts.extend(nodes.into_iter().filter(is_larger));
        }
        parts.sort_by_key(|part| {
            (std::cmp::Reverse(part.rank), part.element.kind != ElementType::Relation, part.size, part.element.id)
        });
        // Of an island that is a country, or a town that is a district, the larger one stays.
        let names: Vec<Option<String>> = parts.iter().map(|part| part.details.tag("name").map(str::to_owned)).collect();
        let mut number = 0;
        parts.retain(|_| {
            number += 1;
            !names[number..].contains(&names[number - 1])
        });
        relabel(&mut parts);
        let has_country = rank <= 4 || parts.iter().any(|part| part.rank <= 4);
        let territory = if has_country { None } else { country_at(at) };
        let road = tag("addr:street").map(street).or_else(|| street_of(osm, details, at));
        let code_of_road = road
            .as_ref()
            .and_then(|road| road.tag("addr:postcode").or_else(|| road.tag("postal_code")).map(str::to_owned));
        Address {
            house: tag("addr:housenumber"),
            place: tag("addr:place").filter(|_| road.is_none()),
            road,
            territory,
            postcode: details
                .name_in(&[])
                .filter(|_| details.is_postcode())
                .map(str::to_owned)
                .or_else(|| tag("addr:postcode"))
                .or_else(|| tag("postal_code"))
                .or_else(|| code_of_road.clone())
                .or_else(|| postcode(&parts))
                .or_else(|| estimated(osm, details, border, at, &parts, territory)),
            parts,
        }
    }

    /// Returns the ISO code of the country, in lower case.
    pub fn country(&self, own: &Details) -> Option<String> {
        let code = |details: &Details| {
            let keys = ["ISO3166-1:alpha2", "ISO3166-1", "country_code_iso3166_1_alpha_2"];
            keys.iter().find_map(|key| details.tag(key)).map(str::to_lowercase)
        };
        let of = |details: &Details| (details.rank() <= 4).then(|| code(details)).flatten();
        of(own)
            .or_else(|| self.parts.iter().find_map(|part| of(&part.details)))
            .or_else(|| self.territory.map(|territory| territory.code.to_lowercase()))
            .or_else(|| own.tag("addr:country").map(str::to_lowercase))
            .filter(|code| code.len() == 2)
    }
}

/// Estimates the postal code of a town or of a smaller place that has none. `border` is the border with its name, if
/// any.
fn estimated(
    osm: &Osm,
    details: &Details,
    border: Option<PlaceElement>,
    at: Coord,
    parts: &[AddressPart],
    territory: Option<&Territory>,
) -> Option<String> {
    if details.rank() < ESTIMATED || details.layer() == PlaceLayer::Natural {
        return None;
    }
    let shape_of = |element: PlaceElement| {
        let relation = Some(element).filter(|element| element.kind == ElementType::Relation)?;
        let area = osm.areas().of_relation(osm.find(relation.kind, relation.id)?)?;
        Some(osm.areas().shape(osm, area))
    };
    if let Some(border) = border.and_then(shape_of) {
        return common_code(osm, &border);
    }
    let country = parts.iter().find(|part| part.rank <= 4).and_then(|part| shape_of(part.element));
    let is_in_country = |there: Coord| match (&country, territory) {
        (Some(border), _) => {
            budget::checkpoints(border.weight() >> 10);
            border.covers(there)
        }
        (None, Some(territory)) => territory.covers(there),
        (None, None) => true,
    };
    nearest_code(osm, at, &is_in_country)
}

fn postcode(parts: &[AddressPart]) -> Option<String> {
    parts.iter().filter(|part| part.rank > 12).find_map(|part| part.details.tag("postal_code")).map(str::to_owned)
}

/// Gives borders of two levels with the same label different labels.
fn relabel(parts: &mut Vec<AddressPart>) {
    const OTHERS: [(&str, &[&str]); 9] = [
        ("city", &["municipality", "county", "state_district"]),
        ("town", &["municipality", "city", "county"]),
        ("village", &["municipality", "town", "city"]),
        ("hamlet", &["locality", "village", "municipality"]),
        ("island", &["islet", "archipelago", "region"]),
        ("county", &["state_district", "region"]),
        ("state", &["region"]),
        ("suburb", &["city_district", "borough"]),
        ("neighbourhood", &["quarter", "suburb"]),
    ];
    let mut taken: Vec<String> = Vec::new();
    parts.retain_mut(|part| {
        let others = OTHERS.iter().find(|(label, _)| *label == part.label).map_or(&[][..], |(_, others)| others);
        let free = |label: &&str| !taken.iter().any(|other| other == label);
        let label = [part.label.as_str()].into_iter().chain(others.iter().copied()).find(free).map(str::to_owned);
        match label {
            Some(label) => {
                taken.push(label.clone());
                part.label = label;
                true
            }
            None => false,
        }
    });
}

/// Returns the areas around a point that are parts of addresses.
pub fn borders(osm: &Osm, at: Coord) -> Vec<AddressPart> {
    let areas = osm.areas();
    let mut parts = Vec::new();
    for area in areas.in_box(&point(at)) {
        let Some(ordinal) = areas.relation(area) else { continue };
        let details = linked::details_of(osm, ordinal);
        let rank = details.rank();
        if details.tag("name").is_none() || !(2..=25).contains(&rank) || !is_settled(&details) {
            continue;
        }
        let shape = areas.shape(osm, area);
        budget::checkpoints(shape.weight() >> 10);
        if !shape.covers(at) {
            continue;
        }
        let id = osm.ids(ElementType::Relation, &[ordinal]).first().copied().unwrap_or_default();
        let element = PlaceElement { kind: ElementType::Relation, id };
        let size = extent(&areas.bbox(area));
        parts.push(AddressPart { label: details.address_type().to_owned(), element, details, rank, size });
    }
    parts
}

fn is_settled(details: &Details) -> bool {
    details.level().is_some()
        || details.tag("place").is_some_and(|place| !["ocean", "sea", "continent", "archipelago"].contains(&place))
}

/// Returns the nearest place nodes: one for each missing kind, and a smaller settlement within the border of a town.
fn nearest(osm: &Osm, at: Coord, missing: &[SettlementKind], town: Option<(u8, u32)>) -> Vec<AddressPart> {
    let here = LatLon::from(at);
    let mut found = Vec::new();
    for kind in [SettlementKind::Settlement, SettlementKind::Quarter] {
        let inside = town.filter(|_| kind == SettlementKind::Settlement && !missing.contains(&kind));
        if inside.is_none() && !missing.contains(&kind) {
            continue;
        }
        // Distances are compared relative to the radius.
        let mut best: Option<(f64, Ordinal, &str)> = None;
        let is_smaller = |place: &str| {
            let rank = Details { tags: vec![("place".to_owned(), place.to_owned())] }.rank();
            inside.is_none_or(|(town, _)| rank > town.max(18))
        };
        for (place, reach, _) in NODES.iter().filter(|(place, _, of)| *of == kind && is_smaller(place)) {
            for ordinal in nodes_with(osm, "place", place, &around_box(here, *reach)) {
                let Some(&there) = osm.coords(&[ordinal]).first().filter(|there| !there.is_missing()) else { continue };
                let near = metres(here, there.into()) / reach;
                let is_in = || inside.is_none_or(|(_, area)| osm.areas().shape(osm, area).covers(there));
                if near <= 1.0 && best.is_none_or(|(nearest, ..)| near < nearest) && is_in() {
                    best = Some((near, ordinal, place));
                }
            }
        }
        let Some((_, ordinal, label)) = best else { continue };
        let details = Details::of(osm, ElementType::Node, ordinal);
        let id = osm.ids(ElementType::Node, &[ordinal]).first().copied().unwrap_or_default();
        // The name of a town with a border ends at the border.
        let is_bordered = inside.is_none()
            && osm.coords(&[ordinal]).first().is_some_and(|there| {
                borders(osm, *there).iter().any(|part| part.details.tag("name") == details.tag("name"))
            });
        if details.tag("name").is_some() && !is_bordered {
            let (rank, element) = (details.rank(), PlaceElement { kind: ElementType::Node, id });
            found.push(AddressPart { label: label.to_owned(), element, details, rank, size: 0 });
        }
    }
    found
}

/// Returns the nodes with a tag on the pages that meet a box.
fn nodes_with(osm: &Osm, key: &str, value: &str, within: &BoundingBox) -> Vec<Ordinal> {
    let Some(pair) = osm.pair(key, value) else { return Vec::new() };
    let postings = osm.postings(ElementType::Node, pair);
    if postings.is_empty() {
        return Vec::new();
    }
    postings.part(PostingScope::Within(&ranges(osm, ElementType::Node, within))).to_vec()
}
