//! Orders candidates, merges those of one place, and builds their addresses.

use std::cmp::Reverse;
use std::collections::HashSet;

use terrapin_budget as budget;
use terrapin_osm::ElementType;
use terrapin_osm::names::{NameTarget, named_by, words};

use super::{ALIKE, Finder, PlaceCandidate, PlaceSearch, SETTLED};
use crate::hit::Hit;
use crate::linked;
use crate::lists::LONGER;
use crate::question::PlaceQuery;
use crate::spot::PlaceSpot;
use crate::{Details, PlaceElement};

impl Finder<'_> {
    /// Returns the best candidates with their addresses, each place once.
    pub(super) fn told(&self, mut found: Vec<PlaceCandidate>, search: &PlaceSearch<'_>) -> Vec<Hit> {
        found.sort_by_cached_key(|candidate| order(candidate, search));
        let mut seen = HashSet::new();
        let mut hits: Vec<Hit> = Vec::new();
        // If a name matches in full, partial matches are dropped.
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

    /// Builds the address of a candidate. The label node of a border is replaced by the border.
    fn hit(&self, candidate: PlaceCandidate, search: &PlaceSearch<'_>) -> Hit {
        let PlaceCandidate { element, mut details, mut spot, importance, .. } = candidate;
        let border = element
            .filter(|element| search.once && element.kind == ElementType::Node && details.tag("place").is_some())
            .and_then(|node| linked::border_of(self.osm, self.osm.find(node.kind, node.id)?));
        if let Some(border) = border
            && let Some(&id) = self.osm.ids(ElementType::Relation, &[border]).first()
        {
            let element = PlaceElement { kind: ElementType::Relation, id };
            let border = Hit::of(self.osm, element, search.articles);
            if let Some(border) = border.filter(|hit| (search.wanted)(hit.element, &hit.details, &hit.spot)) {
                return border;
            }
        }
        if let Some(PlaceElement { kind: ElementType::Relation, id }) = element
            && let Some(relation) = self.osm.find(ElementType::Relation, id)
        {
            spot = PlaceSpot::inside(self.osm, ElementType::Relation, relation).unwrap_or(spot);
            details = linked::details_of(self.osm, relation);
        }
        Hit::of_parts(self.osm, element, details, importance, spot)
    }

    /// Returns whether a place is the node of a border in the results.
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

/// Returns the sort key; the lowest comes first.
pub(super) fn order(candidate: &PlaceCandidate, search: &PlaceSearch<'_>) -> impl Ord + use<> {
    let PlaceCandidate { element, details, spot, importance, distance, away, by_number } = candidate;
    let distance = if search.typing { distance / LONGER } else { *distance };
    let is_far = search.near.is_some_and(|near| !near.contains(spot.at));
    let (rank, kind) = (details.rank(), element.map(|element| element.kind));
    // The border of a town or country comes before its node.
    let is_settled = kind == Some(ElementType::Relation) && rank <= SETTLED;
    // Nine digits of the importance count.
    let steps = Reverse((importance * 1e9) as i64);
    let last = (rank, !details.has_article(), Reverse(kind), element.map(|element| element.id));
    // A postal code comes before a town with the same text, and after a street.
    let code = match (details.is_postcode(), distance) {
        (true, 0) if is_at_end(search.question, details) => -1,
        (true, 0) => 0,
        (true, _) => 1,
        (false, _) => 0,
    };
    let is_nameless = details.name_in(&[]).is_none() && details.tag("addr:housenumber").is_none();
    // A query with a house number means the house, not the things in it.
    let is_in_house = *by_number && details.name_in(&[]).is_some();
    let spelled = Reverse(texts_as_written(details, search.question));
    (distance, is_far, *away, code, !is_settled, is_in_house, steps, spelled, is_nameless, last)
}

/// Returns whether a postal code is at the start or the end of a query. Within an address it belongs to the rest.
fn is_at_end(question: &PlaceQuery, details: &Details) -> bool {
    let PlaceQuery::Text(text) = question else { return true };
    let (said, code) = (words(text).concat(), words(details.name_in(&[]).unwrap_or_default()).concat());
    said.starts_with(&code) || said.ends_with(&code)
}

/// Returns how many names of an element, and of its street, are parts of the question letter by letter. Ways of one
/// street are often written in different ways: `Triq Is-Sur`, `Triq is-Sur`.
fn texts_as_written(details: &Details, question: &PlaceQuery) -> usize {
    let PlaceQuery::Text(text) = question else { return 0 };
    let is_text =
        |key: &str| named_by(key) == Some(NameTarget::Itself) || ["addr:street", "addr:housenumber"].contains(&key);
    let texts = details.tags.iter().filter(|(key, _)| is_text(key));
    texts.filter(|(_, value)| text.split(',').any(|part| part.trim() == value)).count().min(2)
}
