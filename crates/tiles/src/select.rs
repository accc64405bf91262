//! Selection of the elements that may be in a tile. At low zooms few tags matter: elements come from the posting lists
//! of these tags, on pages in the box. At high zooms nearly all tags matter, and pages are scanned.

use std::ops::Range;

use terrapin_osm::{ElementType, Ordinal, Osm, PairId, PostingScope};

use super::lines::extent;
use super::place::{BUFFER, TileId};
use super::tags::Rules;

/// The first zoom at which pages are scanned.
const THROUGH: u8 = 12;
/// The least width or height of a page with visible areas, in units: half a pixel.
const LEAST: i32 = 4;

/// Some elements of a page.
pub struct PageSelection {
    /// Their type.
    pub kind: ElementType,
    /// The page.
    pub page: u32,
    /// The slots of the elements; an empty list means all.
    pub slots: Vec<usize>,
}

/// Returns the elements that may be in the tile, page by page.
pub fn parts(osm: &Osm, rules: &Rules, tile: TileId) -> Vec<PageSelection> {
    let bounds = tile.bounds(BUFFER);
    let mut parts = Vec::new();
    for kind in ElementType::ALL {
        if tile.zoom() >= THROUGH {
            let pages = osm.pages_in(kind, &bounds).into_iter();
            parts.extend(pages.map(|page| PageSelection { kind, page, slots: Vec::new() }));
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
        // A way within one unit is neither a line nor an area, but a node is a point.
        let drawn = if kind == ElementType::Node { pages.clone() } else { spanning(1) };
        let mut found = listed(osm, kind, &lines, &ranges(osm, kind, &drawn));
        found.extend(listed(osm, kind, &areas, &ranges(osm, kind, &spanning(LEAST))));
        found.sort_unstable();
        found.dedup();
        let size = osm.page_size(kind);
        parts.extend(found.chunk_by(|a, b| a / size == b / size).map(|same| PageSelection {
            kind,
            page: (same[0] / size) as u32,
            slots: same.iter().map(|ordinal| (ordinal % size) as usize).collect(),
        }));
    }
    parts
}

/// Returns the elements of pages, as ranges.
pub fn ranges(osm: &Osm, kind: ElementType, pages: &[u32]) -> Vec<Range<Ordinal>> {
    let size = osm.page_size(kind);
    let runs = pages.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| u64::from(run[0]) * size..(u64::from(run[run.len() - 1]) + 1) * size).collect()
}

/// Returns the elements in these ranges with one of the tags.
pub fn listed(osm: &Osm, kind: ElementType, pairs: &[PairId], ranges: &[Range<Ordinal>]) -> Vec<Ordinal> {
    if ranges.is_empty() {
        return Vec::new();
    }
    pairs.iter().flat_map(|pair| osm.postings(kind, *pair).part(PostingScope::Within(ranges)).to_vec()).collect()
}

/// Returns whether the bounding box of a page is at least `units` wide or high.
pub fn spans(osm: &Osm, kind: ElementType, page: u32, tile: TileId, units: i32) -> bool {
    extent(osm, kind, page, tile).is_some_and(|(low, high)| high.x - low.x >= units || high.y - low.y >= units)
}
