//! From a relation to the border of its area.
//!
//! The reference's rules, found by loading small relations into it:
//! - Roles and the order of members mean nothing; a way that is a member several times counts once.
//! - Nodes and relations among the members mean nothing.
//! - Every node must be an end of an even number of the ways' segments, by its id: nodes at the same position are not
//!   the same node. One that is not, be it of a stray open way beside closed rings, and there is no area.
//! - A member way that the extract does not have counts as absent, and so does one without any node there. A member
//!   way that has some of its nodes but not all, and there is no area.
//! - Without a segment there is no area; a segment from a node to itself is one.
//! - What is inside is decided by counting borders: a ring in a ring is a hole, whatever its role. Segments of two ways
//!   between the same nodes cancel out for what is inside, yet what lies on them lies on the border.

use crate::geometry::Segment;
use crate::{ElementRef, ElementType, Ordinal, Osm};

/// What became of a relation.
pub(super) enum Outcome {
    /// It is an area with this border.
    Border(Vec<Segment>),
    /// A node is an end of an odd number of segments.
    Unclosed,
    /// A member way lacks nodes, or there is no way.
    Incomplete,
}

/// The border of the relation at `relation`.
pub(super) fn border_of(osm: &Osm, relation: Ordinal) -> Outcome {
    let size = osm.page_size(ElementType::Relation).max(1);
    let page = osm.relation_page((relation / size) as u32);
    let members = page.members((relation % size) as usize).iter();
    let ways: Vec<Ordinal> =
        members.filter(|m| m.kind == ElementType::Way).filter_map(|m| m.element.ordinal()).collect();
    let ways = without_repetitions(ways);
    let mut border = Vec::new();
    let mut ends: Vec<ElementRef> = Vec::new();
    let size = osm.page_size(ElementType::Way).max(1);
    for way in ways {
        let page = osm.way_page((way / size) as u32);
        let slot = (way % size) as usize;
        let (nodes, coords) = (page.nodes(slot), page.coords(slot));
        if coords.iter().all(|c| c.is_missing()) {
            continue;
        }
        if coords.iter().any(|c| c.is_missing()) {
            return Outcome::Incomplete;
        }
        // Within a way every node ends two segments: only its first and last node can make a difference.
        if let (Some(&first), Some(&last)) = (nodes.first(), nodes.last())
            && first != last
        {
            ends.extend([first, last]);
        }
        border.extend(coords.windows(2).map(|w| Segment { a: w[0], b: w[1] }));
    }
    ends.sort_unstable();
    if ends.chunk_by(|a, b| a == b).any(|same| same.len() % 2 == 1) {
        return Outcome::Unclosed;
    }
    if border.is_empty() { Outcome::Incomplete } else { Outcome::Border(border) }
}

/// Every way once, at the place of its first mention.
fn without_repetitions(ways: Vec<Ordinal>) -> Vec<Ordinal> {
    let mut sorted: Vec<(Ordinal, usize)> = ways.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let mut first: Vec<usize> = sorted.chunk_by(|a, b| a.0 == b.0).filter_map(|same| Some(same.first()?.1)).collect();
    if first.len() == ways.len() {
        return ways;
    }
    first.sort_unstable();
    first.into_iter().filter_map(|i| ways.get(i).copied()).collect()
}
