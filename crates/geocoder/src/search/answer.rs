//! The answer: the likeliest of what was found, with its address, each place once.

use std::cmp::Reverse;
use std::collections::HashSet;

use terrapin_budget as budget;
use terrapin_osm::ElementType;
use terrapin_osm::names::words;

use super::{ALIKE, Candidate, Finder, SETTLED, Search};
use crate::Element;
use crate::hit::Hit;
use crate::linked;
use crate::lists::LONGER;
use crate::spot::Spot;

impl Finder<'_> {
    /// The likeliest of these, each once however many elements it has.
    pub(super) fn told(&self, mut found: Vec<Candidate>, search: &Search<'_>) -> Vec<Hit> {
        found.sort_by_cached_key(|candidate| order(candidate, search));
        let mut seen = HashSet::new();
        let mut hits: Vec<Hit> = Vec::new();
        // Of what is said in full nobody means a part of a longer name.
        let nearest = found.first().map_or(0, |candidate| candidate.distance);
        for candidate in found {
            if hits.len() >= search.limit
                || (!search.typing && nearest.is_multiple_of(LONGER) && candidate.distance > nearest)
            {
                break;
            }
            budget::checkpoints(256);
            let hit = self.hit(candidate, search);
            if !search.countries.is_empty()
                && !hit.address.country(&hit.details).is_some_and(|code| search.countries.contains(&code))
            {
                continue;
            }
            let is_new = seen.insert(hit.same()) && !hits.iter().any(|border| self.is_node_of(&hit, border));
            if is_new || !search.once {
                hits.push(hit);
            }
        }
        hits
    }

    /// A candidate with its address; the label of a border as that border.
    fn hit(&self, candidate: Candidate, search: &Search<'_>) -> Hit {
        let Candidate { element, mut details, mut spot, importance, .. } = candidate;
        let border = element
            .filter(|element| search.once && element.kind == ElementType::Node && details.tag("place").is_some())
            .and_then(|node| linked::border_of(self.osm, self.osm.find(node.kind, node.id)?));
        if let Some(border) = border
            && let Some(&id) = self.osm.ids(ElementType::Relation, &[border]).first()
        {
            let element = Element { kind: ElementType::Relation, id };
            let border = Hit::of(self.osm, element, search.articles);
            if let Some(border) = border.filter(|hit| (search.wanted)(hit.element, &hit.details, &hit.spot)) {
                return border;
            }
        }
        if let Some(Element { kind: ElementType::Relation, id }) = element
            && let Some(relation) = self.osm.find(ElementType::Relation, id)
        {
            spot = Spot::inside(self.osm, ElementType::Relation, relation).unwrap_or(spot);
            details = linked::details_of(self.osm, relation);
        }
        Hit::of_parts(self.osm, element, details, importance, spot)
    }

    /// Whether a place is the node of a border that is told.
    fn is_node_of(&self, node: &Hit, border: &Hit) -> bool {
        let kinds = [node, border].map(|hit| hit.element.map(|element| element.kind));
        let is_place = node.details.tag("place").is_some() && border.spot.bounds.contains(node.spot.at);
        if kinds != [Some(ElementType::Node), Some(ElementType::Relation)] || !is_place {
            return false;
        }
        let [a, b] = [node, border].map(|hit| (words(hit.name(&[])), hit.details.rank()));
        a.0 == b.0 && a.1.abs_diff(b.1) <= ALIKE && border.details.level().is_some()
    }
}

/// What comes first: the lowest.
pub(super) fn order(candidate: &Candidate, search: &Search<'_>) -> impl Ord + use<> {
    let Candidate { element, details, spot, importance, distance, away, by_number } = candidate;
    let distance = if search.typing { distance / LONGER } else { *distance };
    let is_far = search.near.is_some_and(|near| !near.contains(spot.at));
    let (rank, kind) = (details.rank(), element.map(|element| element.kind));
    // Who says the name of a town or a country means what is within its border.
    let is_settled = kind == Some(ElementType::Relation) && rank <= SETTLED;
    // An importance has no more digits than count.
    let steps = Reverse((importance * 1e9) as i64);
    let last = (rank, !details.has_article(), Reverse(kind), element.map(|element| element.id));
    // Who says a postal code with a town means less than the town; with a street no more than that.
    let code = match (details.is_postcode(), distance) {
        (true, 0) => -1,
        (true, _) => 1,
        (false, _) => 0,
    };
    let is_nameless = details.name_in(&[]).is_none() && details.tag("addr:housenumber").is_none();
    // Who says a number means the house before what is in it.
    let is_in_house = *by_number && details.name_in(&[]).is_some();
    (distance, is_far, *away, code, !is_settled, is_in_house, steps, is_nameless, last)
}
