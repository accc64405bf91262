//! Searches without a name: postal codes, and kinds of things.

use std::rc::Rc;

use terrapin_osm::geometry::{LatLon, around_box, metres};
use terrapin_osm::{Coord, PairId};

use super::answer::order;
use super::{BESIDE, Finder, PlaceCandidate, PlaceSearch, SearchPass, Within, scope};
use crate::lists::Mode;
use crate::postcode::{Postcode, PostcodeRegion};
use crate::question::{PlaceKind, QueryReading};
use crate::spot::{PlaceSpot, point};

impl Finder<'_> {
    /// Returns the places of a postal code.
    pub(super) fn codes(
        &mut self,
        reading: &QueryReading,
        within: &Within<'_>,
        pass: SearchPass,
        search: &PlaceSearch<'_>,
    ) -> Vec<PlaceCandidate> {
        let Some(code) = reading.postcode.as_ref().filter(|_| pass.mode != Mode::Typing || search.typing) else {
            return Vec::new();
        };
        let regions = self.regions(code);
        let mut found = Vec::new();
        for PostcodeRegion { border, details, spot, around } in regions.iter() {
            let element = border.map(|(element, _)| element);
            let is_in = !search.bounded || search.near.is_none_or(|near| near.contains(spot.at));
            if !is_in || !(search.wanted)(element, details, spot) {
                continue;
            }
            let mut candidate = PlaceCandidate {
                element,
                details: details.clone(),
                spot: *spot,
                importance: details.importance(None),
                distance: reading.distance,
                away: self.away(spot.at),
                by_number: false,
            };
            let lies = within.iter().all(|part| {
                self.lies(&candidate, std::slice::from_ref(part), pass) == Some(0)
                    || around.iter().any(|said| said.starts_with(part.1))
            });
            // In the last passes unknown surroundings are ignored.
            let is_alone = pass.by_address && within.iter().all(|(around, _)| around.is_empty());
            if lies || is_alone {
                candidate.distance += u8::from(!lies);
                found.push(candidate);
            }
        }
        found
    }

    pub(super) fn regions(&mut self, code: &Postcode) -> Rc<[PostcodeRegion]> {
        if let Some(known) = self.regions.get(&code.text) {
            return Rc::clone(known);
        }
        let regions: Rc<[PostcodeRegion]> = code.regions(self.osm).into();
        self.regions.insert(code.text.clone(), Rc::clone(&regions));
        regions
    }

    /// Returns the elements with a tag in an area, or near a place.
    pub(super) fn kinds(
        &mut self,
        reading: &QueryReading,
        pair: PairId,
        near: bool,
        within: &Within<'_>,
        pass: SearchPass,
        search: &PlaceSearch<'_>,
    ) -> Vec<PlaceCandidate> {
        if let Some(at) = self.at {
            return self.beside(reading, pair, &PlaceSpot { bounds: point(at), at }, search);
        }
        let is_known = within.iter().all(|(around, _)| !around.is_empty());
        if near || !is_known {
            // Searches near the best match of the name.
            if reading.distance > 0 {
                return Vec::new();
            }
            let Some(((_, name), rest)) = within.split_first() else { return Vec::new() };
            if rest.iter().any(|(around, _)| around.is_empty()) {
                return Vec::new();
            }
            let anything = PlaceSearch::of(search.question, 1, search.articles);
            let plain =
                QueryReading { sort: PlaceKind::Any, postcode: None, ends: false, distance: 0, ..reading.clone() };
            let found = self.names(&plain, name, rest, pass, &anything);
            let best = found.iter().min_by_key(|candidate| order(candidate, search));
            return match best.map(|candidate| candidate.spot) {
                Some(spot) => self.beside(reading, pair, &spot, search),
                None => Vec::new(),
            };
        }
        let scope = match (within, search.near) {
            ([], None) => return Vec::new(),
            ([], Some(near)) => Some(vec![near]),
            _ => scope(within, search),
        };
        let mut found = Vec::new();
        for (kind, ordinal) in self.elements(pair, scope.as_deref()) {
            let Some(candidate) = self.candidate(kind, ordinal, reading.distance, search) else { continue };
            let is_in = !within.is_empty() || search.near.is_none_or(|near| near.contains(candidate.spot.at));
            if is_in {
                found.extend(self.placed(candidate, within, pass));
            }
        }
        found
    }

    /// Returns elements with a tag near a place. The radius grows until the limit is reached.
    fn beside(
        &mut self,
        reading: &QueryReading,
        pair: PairId,
        place: &PlaceSpot,
        search: &PlaceSearch<'_>,
    ) -> Vec<PlaceCandidate> {
        let corner = Coord { lat: place.bounds.north, lon: place.bounds.east };
        let half = metres(place.at.into(), corner.into()).min(BESIDE[2]);
        let mut found = Vec::new();
        for radius in BESIDE.map(|radius| radius + half) {
            found.clear();
            let area = around_box(LatLon::from(place.at), radius);
            for (kind, ordinal) in self.elements(pair, Some(&[area])) {
                let Some(candidate) = self.candidate(kind, ordinal, reading.distance, search) else { continue };
                let away = metres(place.at.into(), candidate.spot.at.into());
                if away <= radius {
                    found.push(PlaceCandidate { away: away as u32, ..candidate });
                }
            }
            if found.len() >= search.limit || self.left == 0 {
                break;
            }
        }
        found
    }
}
