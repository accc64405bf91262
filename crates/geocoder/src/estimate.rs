//! Postal codes of places that have none: that of the addresses in a border, or of the nearest address.
//!
//! Nominatim's documentation calls these codes estimated. They are in addresses only: a search for a code finds the
//! places that have it as a tag.

use terrapin_budget as budget;
use terrapin_osm::areas::AreaShape;
use terrapin_osm::geometry::{LatLon, around_box, metres};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PostingScope};

use super::nearby::{find_pair, pairs_of, ranges};
use super::spot::PlaceSpot;

/// Radii in metres of the successive searches for an address.
const RADII: [f64; 4] = [150.0, 600.0, 2_500.0, 6_000.0];
/// Maximum number of addresses to read for one radius, and for a border.
const READ: usize = 512;
/// Minimum number of addresses in a border for an estimate.
const FEWEST: usize = 3;

/// Returns the postal code of the nearest address within 6 km for which `is_in_country` holds.
pub fn nearest_code(osm: &Osm, at: Coord, is_in_country: &dyn Fn(Coord) -> bool) -> Option<String> {
    let here = LatLon::from(at);
    RADII.iter().find_map(|&radius| {
        let mut near: Vec<(f64, ElementType, Ordinal, Coord)> = addresses(osm, &around_box(here, radius))
            .into_iter()
            .map(|(kind, ordinal, there)| (metres(here, there.into()), kind, ordinal, there))
            .filter(|address| address.0 <= radius)
            .collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        near.into_iter()
            .find_map(|(_, kind, ordinal, there)| code_of(osm, kind, ordinal).filter(|_| is_in_country(there)))
    })
}

/// Returns the postal code that more than half of the addresses in a border have. Of more than 512 addresses, evenly
/// spread ones are read.
pub fn common_code(osm: &Osm, border: &AreaShape) -> Option<String> {
    let mut codes: Vec<String> = addresses(osm, border.bbox())
        .into_iter()
        .filter(|address| {
            budget::checkpoints(border.weight() >> 10);
            border.covers(address.2)
        })
        .filter_map(|(kind, ordinal, _)| code_of(osm, kind, ordinal))
        .collect();
    if codes.len() < FEWEST {
        return None;
    }
    // The code of more than half is also in the middle.
    codes.sort_unstable();
    let middle = codes[codes.len() / 2].clone();
    let count = codes.iter().filter(|code| **code == middle).count();
    (count * 2 > codes.len()).then_some(middle)
}

/// Returns nodes and ways with `addr:postcode` on the pages that meet a box, with their positions.
fn addresses(osm: &Osm, within: &BoundingBox) -> Vec<(ElementType, Ordinal, Coord)> {
    let Some(key) = osm.key("addr:postcode") else { return Vec::new() };
    let mut found = Vec::new();
    for kind in [ElementType::Node, ElementType::Way] {
        let postings = osm.key_postings(kind, key);
        if postings.is_empty() {
            continue;
        }
        let list = postings.part(PostingScope::Within(&ranges(osm, kind, within)));
        for &ordinal in list.iter().step_by(list.len().div_ceil(READ).max(1)) {
            budget::checkpoints(16);
            found.extend(PlaceSpot::of(osm, kind, ordinal).map(|spot| (kind, ordinal, spot.at)));
        }
    }
    found
}

/// Returns the postal code of an address. Lists and texts without a digit are not estimates for other places.
fn code_of(osm: &Osm, kind: ElementType, ordinal: Ordinal) -> Option<String> {
    let (page, slot) = osm.place(kind, ordinal);
    let page = osm.tag_page(kind, page);
    let pair = find_pair(page.tags(slot), &pairs_of(osm, "addr:postcode"))?;
    osm.with_value(pair, |value| {
        let value = value.trim();
        let is_code = (3..=10).contains(&value.len())
            && !value.contains([';', ','])
            && value.bytes().any(|byte| byte.is_ascii_digit());
        // Of nine digits of the United States, those after the hyphen are a block of houses.
        let value = value.split_once('-').map_or(value, |(front, block)| {
            let is_digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
            if is_digits(front, 5) && is_digits(block, 4) { front } else { value }
        });
        is_code.then(|| value.to_owned())
    })
}
