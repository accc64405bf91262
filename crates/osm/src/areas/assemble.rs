//! Assembles the border of a relation's area.
//!
//! The reference's rules, determined by loading small relations into it:
//! - Roles and the order of members are ignored. A way that is a member several times counts once.
//! - Members that are nodes or relations are ignored, as are member ways that are missing in the extract.
//! - Every node must be an end of an even number of the ways' segments. Nodes are compared by id: two nodes at the same
//!   position are different. The rule includes nodes that are missing in the extract, and ways of which all nodes are
//!   missing. If one node violates it, even on a stray open way next to closed rings, there is no area.
//! - A way with a missing node is not part of the border. If all ways have one, there is no area; a segment from a node
//!   to itself is enough for an area.
//! - The inside is decided by the even-odd rule: a ring in a ring is a hole, whatever its role. Segments of two ways
//!   between the same nodes cancel out for the inside, but points on them are still on the border.
//!
//! If the reference's border is open because ways are excluded from it, the reference takes everything north of the
//! remaining border as inside. Here, such ways run straight across their missing nodes instead ([`bridge`]).

mod bridge;

use bridge::Bridges;

use crate::geometry::Segment;
use crate::{ElementRef, ElementType, Ordinal, Osm};

/// The outcome of assembling a relation.
pub(super) enum AssemblyOutcome {
    /// It is an area with this border.
    Border(Vec<Segment>),
    /// A node is an end of an odd number of segments.
    Unclosed,
    /// No member way has all of its nodes.
    Incomplete,
}

/// Returns the border of the relation at `relation`.
pub(super) fn border_of(osm: &Osm, relation: Ordinal) -> AssemblyOutcome {
    let size = osm.page_size(ElementType::Relation).max(1);
    let page = osm.relation_page((relation / size) as u32);
    let members = page.members((relation % size) as usize).iter();
    let ways: Vec<Ordinal> =
        members.filter(|m| m.kind == ElementType::Way).filter_map(|m| m.element.ordinal()).collect();
    let ways = without_repetitions(ways);
    let mut border = Vec::new();
    // Within a way every node ends two segments: only its first and last node can make a difference.
    let (mut ends, mut ends_of_whole): (Vec<ElementRef>, Vec<ElementRef>) = Default::default();
    let mut bridges = Bridges::default();
    let size = osm.page_size(ElementType::Way).max(1);
    for way in ways {
        let page = osm.way_page((way / size) as u32);
        let slot = (way % size) as usize;
        let (nodes, coords) = (page.nodes(slot), page.coords(slot));
        let open = match (nodes.first(), nodes.last()) {
            (Some(&first), Some(&last)) if first != last => Some([first, last]),
            _ => None,
        };
        ends.extend(open.into_iter().flatten());
        if !coords.iter().any(|c| c.is_missing()) {
            ends_of_whole.extend(open.into_iter().flatten());
            border.extend(coords.windows(2).map(|w| Segment { a: w[0], b: w[1] }));
        } else if let Some(ends) = open {
            bridges.add(ends, coords);
        }
    }
    if !all_even(&mut ends) {
        return AssemblyOutcome::Unclosed;
    }
    if border.is_empty() {
        return AssemblyOutcome::Incomplete;
    }
    if !all_even(&mut ends_of_whole) {
        bridges.build(&mut border);
    }
    AssemblyOutcome::Border(border)
}

/// Returns whether each item occurs an even number of times.
fn all_even(ends: &mut [ElementRef]) -> bool {
    ends.sort_unstable();
    ends.chunk_by(|a, b| a == b).all(|same| same.len().is_multiple_of(2))
}

/// Returns every way once, at the place of its first occurrence.
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
