//! Lines of ways in units of a tile. At low zooms the bounding box of a page of nodes is mostly within one unit; the
//! positions of its nodes are not read. The result is the same as with all positions.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::{Coord, ElementRef, ElementType, NodePage, Osm};

use super::place::{TileId, TilePoint};

/// Number of pages in the cache.
const PAGES: usize = 1024;

/// Projects lines for one tile.
pub struct LineProjector<'o> {
    osm: &'o Osm,
    tile: TileId,
    pages: FxHashMap<u32, Nodes>,
}

/// A page of nodes.
enum Nodes {
    /// All are in one unit.
    In(TilePoint),
    /// They are in several units.
    Read(Arc<NodePage>),
}

impl<'o> LineProjector<'o> {
    /// Returns the lines for a tile.
    pub fn new(osm: &'o Osm, tile: TileId) -> LineProjector<'o> {
        LineProjector { osm, tile, pages: FxHashMap::default() }
    }

    /// Returns the tile.
    pub fn tile(&self) -> TileId {
        self.tile
    }

    /// Returns the positions of a line in units, without missing positions and repetitions.
    pub fn points(&mut self, nodes: &[ElementRef]) -> Vec<TilePoint> {
        budget::checkpoints(nodes.len() / 8);
        let tile = self.tile;
        let mut points: Vec<TilePoint> = Vec::new();
        for ordinal in nodes.iter().filter_map(|node| node.ordinal()) {
            let (page, slot) = self.osm.place(ElementType::Node, ordinal);
            let point = match self.page(page) {
                Nodes::In(point) => Some(*point),
                Nodes::Read(nodes) => nodes.coords.get(slot).filter(|c| !c.is_missing()).map(|c| tile.point(*c)),
            };
            points.extend(point.filter(|point| points.last() != Some(point)));
        }
        points
    }

    fn page(&mut self, page: u32) -> &Nodes {
        if self.pages.len() >= PAGES && !self.pages.contains_key(&page) {
            self.pages.clear();
        }
        let (osm, tile) = (self.osm, self.tile);
        self.pages.entry(page).or_insert_with(|| match extent(osm, ElementType::Node, page, tile) {
            Some((low, high)) if low == high => Nodes::In(low),
            _ => Nodes::Read(osm.node_page(page)),
        })
    }
}

/// Returns the north-western and the south-eastern corner of the bounding box of a page in units, or `None` if its
/// elements have no position.
pub fn extent(osm: &Osm, kind: ElementType, page: u32, tile: TileId) -> Option<(TilePoint, TilePoint)> {
    let bounds = osm.page_box(kind, page);
    let corners = [Coord { lat: bounds.north, lon: bounds.west }, Coord { lat: bounds.south, lon: bounds.east }];
    (!bounds.is_empty()).then(|| (tile.point(corners[0]), tile.point(corners[1])))
}
