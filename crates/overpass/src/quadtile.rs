//! The order of `out qt`: by quadtile, then by id. The reference also iterates over sets in this order.
//!
//! Found by experiment. The world is divided into tiles of 65,536 × 65,536 units of 1e-7 degrees. A tile's number
//! interleaves the bits of its row and its column. A node is in its tile. A way, relation or area is in a square of 1,
//! 2, 8, 32, ... 8192 tiles per side, aligned to its size: the smallest one that covers it together with its three
//! neighbors to the north and the east. Its number is that of the square's first tile plus a mark for the size. The
//! mark is one bit, therefore elements in a single tile may be sorted between two sizes of squares. An element that no
//! such square covers comes first. A relation covers the squares of its member ways.

use std::collections::BTreeSet;

use crate::reader::StoreReader;
use crate::set::AreaOrdinal;
use terrapin_osm::history::changed_since;
use terrapin_osm::radix;
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm};

/// The sort key of an element within its type, without the id: the number, and whether it belongs to a square.
pub type Key = (u32, bool);

/// The key of elements without a known location.
const NOWHERE: Key = (0xfe, true);
/// The key of elements that four squares of the largest size do not cover.
const WORLD: Key = (0x80, true);

/// The tiles that an element covers: first and last row, first and last column, inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TileRange {
    rows: (u32, u32),
    columns: (u32, u32),
}

impl TileRange {
    const NONE: TileRange = TileRange { rows: (u32::MAX, 0), columns: (u32::MAX, 0) };

    fn of(bounds: &BoundingBox) -> TileRange {
        if bounds.is_empty() {
            return TileRange::NONE;
        }
        TileRange { rows: (row(bounds.south), row(bounds.north)), columns: (column(bounds.west), column(bounds.east)) }
    }

    fn is_none(&self) -> bool {
        self.rows.0 > self.rows.1
    }

    fn union(&mut self, other: TileRange) {
        self.rows = (self.rows.0.min(other.rows.0), self.rows.1.max(other.rows.1));
        self.columns = (self.columns.0.min(other.columns.0), self.columns.1.max(other.columns.1));
    }

    /// Returns the exponent of the square's size and its mark; `None` if no square is large enough or if there are no
    /// tiles.
    fn square(&self) -> Option<(u32, u32)> {
        if self.is_none() {
            return None;
        }
        if self.rows.0 == self.rows.1 && self.columns.0 == self.columns.1 {
            return Some((0, 0));
        }
        (0..7u32).map(|level| (2 * level + 1, 1 << level)).find(|&(size, _)| {
            (self.rows.1 >> size) - (self.rows.0 >> size) <= 1
                && (self.columns.1 >> size) - (self.columns.0 >> size) <= 1
        })
    }

    fn key(&self) -> Key {
        if self.is_none() {
            return NOWHERE;
        }
        match self.square() {
            Some((size, mark)) => {
                let first = interleave(self.rows.0 >> size << size, self.columns.0 >> size << size);
                (first | mark, mark > 0)
            }
            None => WORLD,
        }
    }

    /// Returns the blocks of 16 × 16 tiles that contain these tiles. The reference stores the location of an area only
    /// in blocks.
    fn blocks(&self) -> TileRange {
        let whole = |(first, last): (u32, u32)| (first & !15, last | 15);
        TileRange { rows: whole(self.rows), columns: whole(self.columns) }
    }

    /// Returns the box of these tiles, smaller by one unit on each side.
    fn inner(&self) -> BoundingBox {
        let lat = |units: u32| (i64::from(units) - 910_000_000).min(i64::from(i32::MAX)) as i32;
        let lon = |units: u32| (units ^ 0x8000_0000) as i32;
        BoundingBox {
            south: lat((self.rows.0 << 16) + 1),
            west: lon((self.columns.0 << 16) + 1),
            north: lat((self.rows.1 << 16 | 0xffff) - 1),
            east: lon((self.columns.1 << 16 | 0xffff) - 1),
        }
    }

    /// Returns the tiles of the square and its neighbors. The location of a relation is computed only from these tiles
    /// of its members.
    fn covered(&self) -> TileRange {
        if self.is_none() {
            return *self;
        }
        match self.square() {
            Some((0, _)) => *self,
            Some((size, _)) => {
                let widen = |first: u32| (first >> size << size, (first >> size << size) + (2 << size) - 1);
                TileRange { rows: widen(self.rows.0), columns: widen(self.columns.0) }
            }
            None => TileRange { rows: (0, 0xffff), columns: (0, 0xffff) },
        }
    }
}

fn row(lat: i32) -> u32 {
    (i64::from(lat) + 910_000_000).clamp(0, i64::from(u32::MAX)) as u32 >> 16
}

fn column(lon: i32) -> u32 {
    (lon as u32 ^ 0x8000_0000) >> 16
}

/// Interleaves two numbers: row bits at the odd positions, column bits at the even ones.
fn interleave(row: u32, column: u32) -> u32 {
    let spread = |mut v: u32| {
        v = (v | v << 8) & 0x00ff_00ff;
        v = (v | v << 4) & 0x0f0f_0f0f;
        v = (v | v << 2) & 0x3333_3333;
        (v | v << 1) & 0x5555_5555
    };
    spread(row) << 1 | spread(column)
}

/// Returns the key of a node.
pub fn node_key(c: Coord) -> Key {
    if c.is_missing() { NOWHERE } else { (interleave(row(c.lat), column(c.lon)), false) }
}

/// Returns the key of an area. The reference stores its location only in blocks of 16 × 16 tiles.
pub fn area_key(bounds: &BoundingBox) -> Key {
    let mut tiles = TileRange::of(bounds);
    if !tiles.is_none() {
        let blocks = tiles.blocks();
        tiles = TileRange {
            rows: (blocks.rows.0, blocks.rows.1 & !15),
            columns: (blocks.columns.0, blocks.columns.1 & !15),
        };
    }
    tiles.key()
}

/// Returns whether the squares of an element meet a box. The reference looks up a box by these squares.
pub fn near(bounds: &BoundingBox, area: &BoundingBox) -> bool {
    meets(TileRange::of(bounds), area, |tiles| tiles)
}

/// Returns whether the squares of an element meet the tiles of a box. `made` converts the box's own tiles to the tiles
/// to test.
fn meets(tiles: TileRange, area: &BoundingBox, made: impl Fn(TileRange) -> TileRange) -> bool {
    let tiles = tiles.covered();
    let (parts, n) = area.split();
    parts.iter().take(n).map(|part| made(TileRange::of(part))).any(|area| {
        tiles.rows.0 <= area.rows.1
            && tiles.rows.1 >= area.rows.0
            && tiles.columns.0 <= area.columns.1
            && tiles.columns.1 >= area.columns.0
    })
}

/// Returns the block of 16 × 16 tiles that contains a node.
pub fn node_block(c: Coord) -> BoundingBox {
    TileRange { rows: (row(c.lat), row(c.lat)), columns: (column(c.lon), column(c.lon)) }.blocks().inner()
}

/// Returns whether `holds` is true for the blocks in which the reference searches for a way with these nodes. These are
/// the blocks of its square. If the square is larger than two tiles, `holds` must also be true for the blocks of one of
/// its segments.
pub fn in_blocks(coords: &[Coord], holds: impl Fn(&BoundingBox) -> bool) -> bool {
    let blocks = |coords: &[Coord]| {
        let mut bounds = BoundingBox::EMPTY;
        coords.iter().for_each(|&c| bounds.extend(c));
        let tiles = TileRange::of(&bounds);
        let near = !tiles.is_none() && holds(&tiles.covered().blocks().inner());
        (near, tiles.square().is_none_or(|(size, _)| size > 1))
    };
    match blocks(coords) {
        (true, true) => coords.windows(2).any(|segment| segment.iter().all(|c| !c.is_missing()) && blocks(segment).0),
        (near, _) => near,
    }
}

/// Returns whether the reference knows the location of a way with these nodes. For a way that fits into a square of at
/// most two tiles per side, it stores the positions of all nodes or of none. For a way in a larger square, it stores
/// the known ones.
pub fn has_place(coords: &[Coord]) -> bool {
    let mut bounds = BoundingBox::EMPTY;
    coords.iter().for_each(|&c| bounds.extend(c));
    let is_wide = || TileRange::of(&bounds).square().is_none_or(|(size, _)| size > 1);
    !bounds.is_empty() && (!coords.iter().any(|c| c.is_missing()) || is_wide())
}

/// Returns the lines by which the reference finds a way. If no node is missing, this is the way itself. Otherwise these
/// are the parts between missing nodes that do not fit into one tile.
fn indexed_lines(coords: &[Coord]) -> impl Iterator<Item = &[Coord]> {
    let is_whole = !coords.iter().any(|c| c.is_missing());
    let coords = if has_place(coords) { coords } else { &[] };
    coords.split(|c| c.is_missing()).filter(move |line| {
        let mut bounds = BoundingBox::EMPTY;
        line.iter().for_each(|&c| bounds.extend(c));
        !bounds.is_empty() && (is_whole || TileRange::of(&bounds).square().is_none_or(|(size, _)| size > 0))
    })
}

/// Returns whether the reference finds a way in a region that contains all of its known nodes.
pub fn is_indexed(coords: &[Coord]) -> bool {
    indexed_lines(coords).next().is_some()
}

/// Returns whether the reference considers a way when it searches some boxes. It always considers a way without missing
/// nodes. A way with missing nodes is considered only if a segment of its indexed lines is in the tiles of the boxes;
/// for areas, in their blocks.
///
/// All known nodes and segments of the way then decide whether it is in the region.
pub fn is_looked_at(coords: &[Coord], boxes: &[BoundingBox], by_blocks: bool) -> bool {
    if !coords.iter().any(|c| c.is_missing()) {
        return true;
    }
    let made = |tiles: TileRange| if by_blocks { tiles.blocks() } else { tiles };
    let is_near = |segment: &[Coord]| {
        let mut bounds = BoundingBox::EMPTY;
        segment.iter().for_each(|&c| bounds.extend(c));
        boxes.iter().any(|area| meets(TileRange::of(&bounds), area, made))
    };
    indexed_lines(coords).any(|line| line.windows(2).any(is_near))
}

fn way_tiles(reader: &mut StoreReader<'_>, way: Ordinal) -> TileRange {
    TileRange::of(&reader.way_box(way))
}

fn relation_tiles(reader: &mut StoreReader<'_>, relation: Ordinal) -> TileRange {
    let (page, slot) = reader.relation(relation);
    let mut tiles = TileRange::NONE;
    for member in page.members(slot) {
        match (member.kind, member.element.ordinal()) {
            (ElementType::Node, Some(node)) => {
                let c = reader.coord(node);
                tiles.union(TileRange { rows: (row(c.lat), row(c.lat)), columns: (column(c.lon), column(c.lon)) });
            }
            (ElementType::Way, Some(way)) => tiles.union(way_tiles(reader, way).covered()),
            _ => {}
        }
    }
    tiles
}

/// Returns the keys, ids and ordinals of these elements, in order.
pub fn keyed(reader: &mut StoreReader<'_>, kind: ElementType, list: &[Ordinal]) -> Vec<(Key, i64, Ordinal)> {
    let osm = reader.osm();
    let ids = osm.ids(kind, list);
    let keys: Vec<Key> = match kind {
        ElementType::Node => osm.coords(list).into_iter().map(node_key).collect(),
        ElementType::Way => list.iter().map(|&way| way_tiles(reader, way).key()).collect(),
        ElementType::Relation => list.iter().map(|&relation| relation_tiles(reader, relation).key()).collect(),
    };
    let mut keyed: Vec<_> = keys.into_iter().zip(ids).zip(list).map(|((key, id), &o)| (key, id, o)).collect();
    radix::sort(&mut keyed, |&(_, id, _)| radix::signed(id));
    radix::sort(&mut keyed, |&((number, square), ..)| u64::from(number) << 1 | u64::from(square));
    // For a date, the reference returns the elements first that have not changed since.
    let changed = changed_since(reader.osm(), kind);
    if !changed.is_empty() {
        radix::sort(&mut keyed, |&(.., ordinal)| u64::from(changed.binary_search(&ordinal).is_ok()));
    }
    keyed
}

/// Returns the elements in order.
pub fn order(osm: &Osm, kind: ElementType, list: &[Ordinal]) -> Vec<Ordinal> {
    if list.len() < 2 {
        return list.to_vec();
    }
    keyed(&mut StoreReader::new(osm), kind, list).into_iter().map(|(_, _, ordinal)| ordinal).collect()
}

/// Returns the areas whose tags the reference misses when it reads areas by location. These are areas in a square of
/// several blocks if the first block also contains areas that fit into it alone.
pub fn shadowed_areas(osm: &Osm) -> Vec<AreaOrdinal> {
    let areas = osm.areas();
    let keys: Vec<Key> = (0..areas.count()).map(|area| area_key(&areas.bbox(area))).collect();
    let block = |(number, _): &Key| number >> 8;
    let alone: BTreeSet<u32> = keys.iter().filter(|(_, square)| !square).map(block).collect();
    let shadowed = |key: &Key| key.1 && alone.contains(&block(key));
    (0..).zip(&keys).filter(|(_, key)| shadowed(key)).map(|(area, _)| area).collect()
}

/// Returns areas made from relations, in order.
pub fn areas(osm: &Osm, list: &[AreaOrdinal]) -> Vec<AreaOrdinal> {
    let known = osm.areas();
    let ids = known.ids(osm, list);
    let keys = list.iter().map(|&area| area_key(known.shape(osm, area).bbox()));
    let mut keyed: Vec<(Key, i64, AreaOrdinal)> =
        keys.zip(ids).zip(list).map(|((key, id), &area)| (key, id, area)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, _, area)| area).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(rows: (u32, u32), columns: (u32, u32)) -> Key {
        TileRange { rows, columns }.key()
    }

    #[test]
    fn what_spans_two_squares_takes_the_smaller_size() {
        // Observed: these tiles share a square of 2, these need one of 8.
        assert_eq!(key((19381, 19383), (34936, 34939)), (interleave(19380, 34936) | 1, true));
        assert_eq!(key((19381, 19382), (34937, 34940)), (interleave(19376, 34936) | 2, true));
        assert_eq!(key((10967, 10977), (6841, 6851)), (interleave(10944, 6816) | 4, true));
    }

    /// As in the reference: elements in the first tiles of a square are sorted by number, with the larger squares
    /// between them.
    #[test]
    fn sizes_of_squares_are_bits() {
        let (row, column) = (16_384, 40_960);
        let wide = |level: u32| key((row, row + (3 << level) / 2), (column, column + (1 << level) / 2));
        let single = |number: u32| (interleave(row, column) + number, false);
        for (level, after) in [(1, 1), (3, 2), (5, 4), (7, 8), (9, 16), (11, 32), (13, 64)] {
            assert!(single(after) < wide(level) && wide(level) < single(after + 1), "{level}");
        }
    }

    #[test]
    fn one_tile_is_its_own_number() {
        assert_eq!(key((19381, 19381), (34938, 34938)), (interleave(19381, 34938), false));
        assert_eq!(node_key(Coord { lat: 0, lon: 0 }), (interleave(910_000_000 >> 16, 0x8000), false));
    }

    /// As observed with a missing node: by the row and column of the first node within eight tiles, and by the distance
    /// of the second node.
    #[test]
    fn a_way_with_a_missing_node_has_a_place_in_great_squares_only() {
        let place =
            |row: i32, column: i32| Coord { lat: row * 0x10000 + 100 - 910_000_000, lon: column * 0x10000 + 100 };
        let with_gap = |(row, column), (rows, columns)| {
            has_place(&[
                place(15408 + row, 3048 + column),
                Coord::MISSING,
                place(15408 + row + rows, 3048 + column + columns),
            ])
        };
        assert!(!with_gap((0, 0), (0, 3)) && with_gap((3, 3), (0, 3)));
        assert!(!with_gap((0, 0), (3, 3)) && with_gap((7, 7), (3, 3)));
        assert!(!with_gap((7, 7), (2, 2)) && with_gap((0, 0), (1, 4)));
        let one = place(15408, 3048);
        assert!(has_place(&[one]) && has_place(&[one, one]) && !has_place(&[one, Coord::MISSING]));
        assert!(!has_place(&[Coord::MISSING]) && !has_place(&[]));
    }

    #[test]
    fn great_things_come_first() {
        assert_eq!(key((15769, 15769), (39737, 56121)), WORLD);
        assert_eq!(TileRange::NONE.key(), NOWHERE);
        assert_eq!(TileRange::of(&BoundingBox::EMPTY).key(), NOWHERE);
    }
}
