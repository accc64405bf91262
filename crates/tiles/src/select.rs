//! Which elements may be in a tile. At low zooms few tags count, and elements come from these tags' posting lists, as far
//! as they lie on pages in the box; at high zooms nearly all count, and pages are read through.

use std::ops::Range;

use terrapin_osm::{ElementType, Ordinal, Osm, PairId, Scope};

use super::lines::extent;
use super::place::{BUFFER, Place};
use super::tags::Rules;

/// From this zoom on pages are read through.
const THROUGH: u8 = 12;
/// An area whose page is smaller than this on both sides, in units, is too small to be seen, which is half of what a
/// screen shows.
const LEAST: i32 = 4;

/// Some elements of a page.
pub struct Part {
    /// Their type.
    pub kind: ElementType,
    /// The page.
    pub page: u32,
    /// Which of its slots; all where there are none.
    pub slots: Vec<usize>,
}

/// What may be in the tile, page by page.
pub fn parts(osm: &Osm, rules: &Rules, tile: Place) -> Vec<Part> {
    let bounds = tile.bounds(BUFFER);
    let mut parts = Vec::new();
    for kind in ElementType::ALL {
        if tile.zoom() >= THROUGH {
            let pages = osm.pages_in(kind, &bounds).into_iter();
            parts.extend(pages.map(|page| Part { kind, page, slots: Vec::new() }));
            continue;
        }
        let (lines, areas) = rules.pairs(kind, tile.zoom());
        if lines.is_empty() && areas.is_empty() {
            continue;
        }
        let pages = osm.pages_in(kind, &bounds);
        let spanning = |units: i32| -> Vec<u32> {
            pages.iter().copied().filter(|&page| spans(osm, kind, page, tile, units)).collect()
        };
        // What lies in one unit is neither a line nor an area, but a node is a point.
        let drawn = if kind == ElementType::Node { pages.clone() } else { spanning(1) };
        let mut found = listed(osm, kind, &lines, &ranges(osm, kind, &drawn));
        found.extend(listed(osm, kind, &areas, &ranges(osm, kind, &spanning(LEAST))));
        found.sort_unstable();
        found.dedup();
        let size = osm.page_size(kind);
        parts.extend(found.chunk_by(|a, b| a / size == b / size).map(|same| Part {
            kind,
            page: (same[0] / size) as u32,
            slots: same.iter().map(|ordinal| (ordinal % size) as usize).collect(),
        }));
    }
    parts
}

/// The elements of pages, as ranges.
pub fn ranges(osm: &Osm, kind: ElementType, pages: &[u32]) -> Vec<Range<Ordinal>> {
    let size = osm.page_size(kind);
    let runs = pages.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| u64::from(run[0]) * size..(u64::from(run[run.len() - 1]) + 1) * size).collect()
}

/// The elements in these ranges that have one of the tags.
pub fn listed(osm: &Osm, kind: ElementType, pairs: &[PairId], ranges: &[Range<Ordinal>]) -> Vec<Ordinal> {
    if ranges.is_empty() {
        return Vec::new();
    }
    pairs.iter().flat_map(|pair| osm.postings(kind, *pair).part(Scope::Within(ranges)).to_vec()).collect()
}

/// Whether the box of a page has this length on any side, in units.
pub fn spans(osm: &Osm, kind: ElementType, page: u32, tile: Place, units: i32) -> bool {
    extent(osm, kind, page, tile).is_some_and(|(low, high)| high.x - low.x >= units || high.y - low.y >= units)
}
