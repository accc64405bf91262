//! Finds houses: by `addr:street`, by the nearest street, and by `addr:interpolation`.

use std::collections::{BTreeMap, HashMap, HashSet};

use terrapin_budget as budget;
use terrapin_osm::geometry::{LatLon, around_box};
use terrapin_osm::names::{NameTarget, named_by, words};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId, PostingScope};

use super::{Finder, OF_TAG, PlaceCandidate, PlaceSearch, SearchPass, Within, is_alike, scope};
use crate::house::HouseNumber;
use crate::interpolation::Interpolation;
use crate::lists::Mode;
use crate::nearby::{find_pair, has_pair, pairs_of, ranges};
use crate::question::QueryReading;
use crate::spot::PlaceSpot;
use crate::streets::{BESIDE, is_street, names_of, nearest_street};
use crate::{Details, PlaceElement};

/// Maximum number of houses of one street to read the numbers of.
const READ: usize = 4096;
/// Maximum number of streets of one name, and of houses with that name in their address, around which houses are
/// searched.
const STREETS: usize = 64;

impl Finder<'_> {
    /// Returns the houses with a number in streets with a name.
    pub(super) fn houses(
        &mut self,
        reading: &QueryReading,
        number: &HouseNumber,
        street: &[String],
        within: &Within<'_>,
        pass: SearchPass,
        search: &PlaceSearch<'_>,
    ) -> Vec<PlaceCandidate> {
        let numbers = pairs_of(self.osm, "addr:housenumber");
        let exact: Vec<PairId> =
            number.writings().iter().filter_map(|text| self.osm.pair("addr:housenumber", text)).collect();
        // A house name must be a value of `addr:housenumber`.
        if numbers.is_empty() || (exact.is_empty() && !number.is_number()) {
            return Vec::new();
        }
        let scope = if pass.scoped { scope(within, search) } else { None };
        let mut fits = Fits { number, known: HashMap::new() };
        let (mut found, mut streets, mut addressed) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        for named in self.lists.named(street, pass.mode, reading.ends) {
            if pass.full && named.distance > 0 {
                continue;
            }
            let (pair, _) = self.lists.names.name(named.name);
            let distance = named.distance + reading.distance;
            match named_by(self.osm.key_name(self.osm.key_of(pair))) {
                Some(NameTarget::Street) => {
                    for kind in [ElementType::Relation, ElementType::Way, ElementType::Node] {
                        let list = self.ordinals(kind, pair, scope.as_deref());
                        for (ordinal, off) in self.numbered(kind, &list, &exact, &numbers, &mut fits) {
                            let candidate = self.candidate(kind, ordinal, distance + off, search);
                            let placed = candidate.and_then(|candidate| self.placed(candidate, within, pass));
                            found.extend(placed.map(|house| PlaceCandidate { by_number: true, ..house }));
                        }
                        // Interpolated houses take the street from these houses.
                        for &ordinal in list.iter().take(STREETS) {
                            if addressed.len() < STREETS
                                && let Some(spot) = PlaceSpot::of(self.osm, kind, ordinal)
                            {
                                addressed.entry((kind, ordinal)).or_insert((spot.bounds, distance));
                            }
                        }
                    }
                }
                Some(NameTarget::Itself) => {
                    for (kind, ordinal) in self.elements(pair, scope.as_deref()) {
                        if kind == ElementType::Node
                            || streets.len() >= STREETS
                            || streets.contains_key(&(kind, ordinal))
                        {
                            continue;
                        }
                        let Some(candidate) = self.candidate(kind, ordinal, distance, search) else { continue };
                        if is_street(&candidate.details) && self.placed(candidate.clone(), within, pass).is_some() {
                            streets.insert((kind, ordinal), (candidate.spot.bounds, distance));
                        }
                    }
                }
                None => {}
            }
        }
        if number.is_number() || !exact.is_empty() {
            let boxes = outermost(streets.into_values().collect(), addressed.into_values().collect());
            self.beside_streets(&boxes, street, &mut fits, within, pass, search, &mut found);
        }
        let may_be_in_place = number.is_number() || !exact.is_empty();
        if found.is_empty() && may_be_in_place && pass.mode == Mode::Whole {
            self.houses_of_place(reading, street, &exact, within, pass, search, &mut found);
        }
        self.with_code(reading, found)
    }

    /// Adds houses without a street, in a place with this name: on islands, in hamlets.
    #[allow(clippy::too_many_arguments)]
    fn houses_of_place(
        &mut self,
        reading: &QueryReading,
        place: &[String],
        exact: &[PairId],
        within: &Within<'_>,
        pass: SearchPass,
        search: &PlaceSearch<'_>,
        found: &mut Vec<PlaceCandidate>,
    ) {
        let around = self.surroundings.of(&mut self.lists, place, Mode::Whole);
        let boxes: Vec<BoundingBox> = around.iter().map(|around| around.bounds).collect();
        if boxes.is_empty() {
            return;
        }
        for kind in [ElementType::Way, ElementType::Node] {
            for &pair in exact {
                for ordinal in self.ordinals(kind, pair, Some(&boxes)).into_iter().take(STREETS) {
                    let Some(house) = self.candidate(kind, ordinal, reading.distance, search) else { continue };
                    let at = house.spot.at;
                    let is_in = around.iter().any(|around| self.surroundings.covers(around, at));
                    let has_street = house.details.tag("addr:street").is_some();
                    if is_in && !has_street && nearest_street(self.osm, at).is_none() {
                        let placed = self.placed(house, within, pass);
                        found.extend(placed.map(|house| PlaceCandidate { by_number: true, ..house }));
                    }
                }
            }
        }
    }

    /// Returns the elements with a matching number, each with its distance.
    fn numbered(
        &self,
        kind: ElementType,
        list: &[Ordinal],
        exact: &[PairId],
        numbers: &std::ops::Range<PairId>,
        fits: &mut Fits<'_>,
    ) -> Vec<(Ordinal, u8)> {
        let mut found: Vec<(Ordinal, u8)> = Vec::new();
        for &pair in exact {
            let houses = self.osm.postings(kind, pair).among(list, true);
            found.extend(houses.into_iter().take(OF_TAG).map(|ordinal| (ordinal, 0)));
        }
        if found.is_empty() && fits.number.is_number() {
            let steps = pairs_of(self.osm, "addr:interpolation");
            budget::checkpoints(list.len().min(READ) >> 3);
            for &ordinal in list.iter().take(READ) {
                let (page, slot) = self.osm.place(kind, ordinal);
                let page = self.osm.tag_page(kind, page);
                let off = find_pair(page.tags(slot), numbers)
                    .and_then(|pair| fits.off(self.osm, pair, find_pair(page.tags(slot), &steps)));
                found.extend(off.map(|off| (ordinal, off)));
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|house| house.0);
        found
    }

    /// Adds houses near streets, except those with an address on another street, and interpolated houses.
    #[allow(clippy::too_many_arguments)]
    fn beside_streets(
        &mut self,
        streets: &[(BoundingBox, u8)],
        name: &[String],
        fits: &mut Fits<'_>,
        within: &Within<'_>,
        pass: SearchPass,
        search: &PlaceSearch<'_>,
        found: &mut Vec<PlaceCandidate>,
    ) {
        let osm = self.osm;
        let [numbers, steps, streets_of, places] =
            ["addr:housenumber", "addr:interpolation", "addr:street", "addr:place"].map(|key| pairs_of(osm, key));
        let mut seen: HashSet<(ElementType, Ordinal)> = HashSet::new();
        for (area, distance) in streets {
            for kind in ElementType::ALL {
                for key in ["addr:housenumber", "addr:interpolation"] {
                    let Some(key) = osm.key(key) else { continue };
                    let near = osm.key_postings(kind, key);
                    if near.is_empty() {
                        continue;
                    }
                    for &ordinal in near.part(PostingScope::Within(&ranges(osm, kind, area))).iter() {
                        budget::checkpoint();
                        if !seen.insert((kind, ordinal)) {
                            continue;
                        }
                        let (page, slot) = osm.place(kind, ordinal);
                        let page = osm.tag_page(kind, page);
                        let tags = page.tags(slot);
                        let own_steps = find_pair(tags, &steps);
                        let Some(pair) = find_pair(tags, &numbers) else {
                            if kind == ElementType::Way && own_steps.is_some() {
                                let house = self.between(ordinal, fits.number, name, *distance, search);
                                found.extend(house.and_then(|house| self.placed(house, within, pass)));
                            }
                            continue;
                        };
                        if has_pair(tags, &places) && !has_pair(tags, &streets_of) {
                            continue;
                        }
                        let Some(off) = fits.off(osm, pair, own_steps) else { continue };
                        let Some(house) = self.candidate(kind, ordinal, distance + off, search) else { continue };
                        if self.is_beside(&house, name) {
                            let placed = self.placed(house, within, pass);
                            found.extend(placed.map(|house| PlaceCandidate { by_number: true, ..house }));
                        }
                    }
                }
            }
        }
    }

    /// Returns whether the nearest street of a house has this name, and no street nearby has the name in its address.
    fn is_beside(&mut self, house: &PlaceCandidate, name: &[String]) -> bool {
        let at = house.spot.at;
        let is_nearest = nearest_street(self.osm, at).is_some_and(|street| {
            let details = Details::of(self.osm, ElementType::Way, street.way);
            names_of(&details).iter().any(|other| is_alike(other, name))
        });
        is_nearest
            && house.details.tag("addr:street").is_none_or(|street| {
                let street = words(street);
                !self.is_said(at, &street, house.details.rank())
            })
    }

    /// Returns the house with a number on an interpolated way.
    fn between(
        &mut self,
        way: Ordinal,
        number: &HouseNumber,
        name: &[String],
        distance: u8,
        search: &PlaceSearch<'_>,
    ) -> Option<PlaceCandidate> {
        self.left = self.left.checked_sub(1)?;
        let between = Interpolation::of(self.osm, way)?;
        let number = number.value()?;
        let spot = between.house(number)?;
        let is_of_street = match &between.street {
            Some(street) => is_alike(&words(street), name),
            None => nearest_street(self.osm, spot.at).is_some_and(|street| {
                let details = Details::of(self.osm, ElementType::Way, street.way);
                names_of(&details).iter().any(|other| is_alike(other, name))
            }),
        };
        let element =
            Some(PlaceElement { kind: ElementType::Way, id: *self.osm.ids(ElementType::Way, &[way]).first()? });
        let details = between.details(number);
        let is_in = !search.bounded || search.near.is_none_or(|near| near.contains(spot.at));
        if !is_of_street || !is_in || !(search.wanted)(element, &details, &spot) {
            return None;
        }
        Some(PlaceCandidate {
            element,
            details,
            spot,
            importance: 0.0,
            distance,
            away: self.away(spot.at),
            by_number: true,
        })
    }
}

/// Returns the boxes in which the houses of streets are searched: 150 m around each street, and around each house
/// outside of these boxes with the street in its address.
fn outermost(streets: Vec<(BoundingBox, u8)>, addressed: Vec<(BoundingBox, u8)>) -> Vec<(BoundingBox, u8)> {
    let corner = |lat: i32, lon: i32| around_box(LatLon::from(Coord { lat, lon }), BESIDE);
    let widened = |bounds: &BoundingBox| {
        let mut area = corner(bounds.south, bounds.west);
        area.union(&corner(bounds.north, bounds.east));
        area
    };
    let mut all: Vec<(BoundingBox, u8)> =
        streets.iter().map(|(bounds, distance)| (widened(bounds), *distance)).collect();
    for (bounds, distance) in addressed {
        let is_inside = |(area, lowest): &(BoundingBox, u8)| {
            *lowest <= distance
                && area.contains(Coord { lat: bounds.south, lon: bounds.west })
                && area.contains(Coord { lat: bounds.north, lon: bounds.east })
        };
        if !all.iter().any(is_inside) {
            all.push((widened(&bounds), distance));
        }
    }
    all
}

/// A cache of comparisons of one number with values of `addr:housenumber`.
struct Fits<'a> {
    number: &'a HouseNumber,
    known: HashMap<(PairId, Option<PairId>), Option<u8>>,
}

impl Fits<'_> {
    fn off(&mut self, osm: &Osm, pair: PairId, steps: Option<PairId>) -> Option<u8> {
        *self.known.entry((pair, steps)).or_insert_with(|| {
            let steps = steps.map(|steps| osm.with_value(steps, str::to_owned));
            osm.with_value(pair, |value| self.number.fits(value, steps.as_deref()))
        })
    }
}
