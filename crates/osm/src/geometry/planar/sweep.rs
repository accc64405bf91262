//! A sweep over segments from south to north. Checks in O(n log n) whether two of them meet anywhere but in a common
//! end (Shamos and Hoey), and finds the western neighbour of each segment.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use terrapin_budget as budget;

use super::{NONE, Planar};
use crate::geometry::LineSide;

/// The results of the sweep. For a segment along a parallel, the northern side counts as the western one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// For each segment, its western neighbour at its southern end, or [`NONE`].
    pub western: Vec<u32>,
    /// For each point that is no end of a segment, the segment directly to its west, or [`NONE`]. [`NONE`] also for
    /// the ends of segments.
    pub west_of_point: Vec<u32>,
    /// All segments, each after those on its western side.
    pub order: Vec<u32>,
}

/// Sweeps over the segments. Returns `None` if two of them meet anywhere but in a common end.
///
/// `points` are all ends and maybe others, ascending; `segments` are pairs of places in it, the lesser one first,
/// ascending, each once.
pub fn sweep<P: Planar>(points: &[P], segments: &[[u32; 2]]) -> Option<Swept> {
    let span = |id: u32| {
        let [a, b] = segments[id as usize];
        SweepSegment { a: points[a as usize], b: points[b as usize], id }
    };
    // The segments by the point at which they end.
    let mut ending: Vec<u32> = (0..segments.len() as u32).collect();
    ending.sort_unstable_by_key(|&id| (segments[id as usize][1], id));
    let mut ending = ending.into_iter().peekable();
    let mut beginning = (0..segments.len() as u32).peekable();

    let mut swept = Swept {
        western: vec![NONE; segments.len()],
        west_of_point: vec![NONE; points.len()],
        order: Vec::with_capacity(segments.len()),
    };
    let mut status: BTreeSet<SweepKey<P>> = BTreeSet::new();
    let mut begun: Vec<SweepSegment<P>> = Vec::new();
    for (place, &point) in points.iter().enumerate() {
        budget::checkpoint();
        let mut is_end = false;
        while let Some(id) = ending.next_if(|&id| segments[id as usize][1] as usize == place) {
            is_end = true;
            status.remove(&SweepKey::Span(span(id)));
        }
        begun.clear();
        while let Some(id) = beginning.next_if(|&id| segments[id as usize][0] as usize == place) {
            begun.push(span(id));
        }
        begun.sort_unstable();
        let west = neighbour(status.range(..SweepKey::Before(point)).next_back());
        let east = neighbour(status.range(SweepKey::Before(point)..).next());
        if east.is_some_and(|east| P::side(east.a, east.b, point) == LineSide::On) {
            return None;
        }
        let mut before = west;
        for &next in begun.iter().chain(&east) {
            if before.is_some_and(|before| before.conflicts(&next)) {
                return None;
            }
            before = Some(next);
        }
        let mut before = west.map_or(NONE, |west| west.id);
        if !is_end && begun.is_empty() {
            swept.west_of_point[place] = before;
        }
        for &next in &begun {
            swept.western[next.id as usize] = before;
            swept.order.push(next.id);
            before = next.id;
            status.insert(SweepKey::Span(next));
        }
    }
    Some(swept)
}

fn neighbour<P: Copy>(key: Option<&SweepKey<P>>) -> Option<SweepSegment<P>> {
    match key {
        Some(SweepKey::Span(span)) => Some(*span),
        _ => None,
    }
}

/// A segment that the sweep line meets, from its southern end to its northern one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SweepSegment<P> {
    a: P,
    b: P,
    id: u32,
}

impl<P: Planar> SweepSegment<P> {
    /// Returns whether two segments that the sweep line meets at once meet anywhere but in a common end.
    fn conflicts(&self, other: &SweepSegment<P>) -> bool {
        let (s, t) = (self, other);
        if s.a == t.a {
            P::side(s.a, s.b, t.b) == LineSide::On
        } else if s.b == t.b {
            P::side(s.a, s.b, t.a) == LineSide::On
        } else {
            // Their spans along the sweep overlap, so collinear ones meet.
            let meets_line = |s: &SweepSegment<P>, t: &SweepSegment<P>| {
                let (p, q) = (P::side(s.a, s.b, t.a), P::side(s.a, s.b, t.b));
                p != q || p == LineSide::On
            };
            meets_line(s, t) && meets_line(t, s)
        }
    }
}

/// From west to east along the sweep line. Segments that do not meet have an order that no other segment changes.
impl<P: Planar> Ord for SweepSegment<P> {
    fn cmp(&self, other: &SweepSegment<P>) -> Ordering {
        let (s, t) = (self, other);
        if s.a < t.a {
            return other.cmp(self).reverse();
        }
        // The later one begins east or west of the other, or on it and leads there.
        let from = if s.a == t.a { LineSide::On } else { P::side(t.a, t.b, s.a) };
        let at = if from == LineSide::On { P::side(t.a, t.b, s.b) } else { from };
        match at {
            LineSide::Right => Ordering::Greater,
            LineSide::Left => Ordering::Less,
            LineSide::On => self.id.cmp(&other.id),
        }
    }
}

impl<P: Planar> PartialOrd for SweepSegment<P> {
    fn partial_cmp(&self, other: &SweepSegment<P>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The key of the sweep line's order: a segment that it meets, or a position to search for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SweepKey<P> {
    Span(SweepSegment<P>),
    /// Just before the segments on which this point lies.
    Before(P),
}

impl<P: Planar> Ord for SweepKey<P> {
    fn cmp(&self, other: &SweepKey<P>) -> Ordering {
        match (self, other) {
            (SweepKey::Span(s), SweepKey::Span(t)) => s.cmp(t),
            (SweepKey::Span(s), SweepKey::Before(point)) => match P::side(s.a, s.b, *point) {
                LineSide::Right => Ordering::Less,
                LineSide::Left | LineSide::On => Ordering::Greater,
            },
            (SweepKey::Before(_), SweepKey::Span(_)) => other.cmp(self).reverse(),
            (SweepKey::Before(p), SweepKey::Before(q)) => p.cmp(q),
        }
    }
}

impl<P: Planar> PartialOrd for SweepKey<P> {
    fn partial_cmp(&self, other: &SweepKey<P>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
