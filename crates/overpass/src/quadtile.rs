//! The order of `out qt`, which is also the order in which the reference goes through a set: by quadtile, then by id.
//!
//! Found by experiment. The world is cut into tiles of 65,536 × 65,536 units of 1e-7 degrees; a tile's number
//! interleaves the bits of its row and its column. A node is in its tile. Way, relation and area are in the smallest
//! square of 1, 2, 8, 32, ... 8192 tiles, aligned to its size, that together with its three neighbours to the north
//! and the east covers them, and are numbered by that square's first tile plus a mark of its size, which is a bit (so that what is in one tile may
//! stand between two sizes of squares); what no such square
//! covers stands first. A relation covers the squares of its way members.

use std::collections::BTreeSet;

use crate::reader::Reader;
use crate::set::AreaOrdinal;
use terrapin_osm::history::changed_since;
use terrapin_osm::radix;
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm};

/// The place of an element among those of its type, without regard to its id: the number, and whether it is a square's.
pub type Key = (u32, bool);

/// What nothing is known of the place of.
const NOWHERE: Key = (0xfe, true);
/// What covers more than four of the greatest squares.
const WORLD: Key = (0x80, true);

/// Tiles that an element covers: rows and columns, the last ones included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tiles {
    rows: (u32, u32),
    columns: (u32, u32),
}

impl Tiles {
    const NONE: Tiles = Tiles { rows: (u32::MAX, 0), columns: (u32::MAX, 0) };

    fn of(bounds: &BoundingBox) -> Tiles {
        if bounds.is_empty() {
            return Tiles::NONE;
        }
        Tiles { rows: (row(bounds.south), row(bounds.north)), columns: (column(bounds.west), column(bounds.east)) }
    }

    fn is_none(&self) -> bool {
        self.rows.0 > self.rows.1
    }

    fn union(&mut self, other: Tiles) {
        self.rows = (self.rows.0.min(other.rows.0), self.rows.1.max(other.rows.1));
        self.columns = (self.columns.0.min(other.columns.0), self.columns.1.max(other.columns.1));
    }

    /// The exponent of the size of the square, and its mark; none for the whole world, and for no tiles.
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

    /// All of the blocks of 16 × 16 tiles that these tiles are in: all that the reference knows of where an area is.
    fn blocks(&self) -> Tiles {
        let whole = |(first, last): (u32, u32)| (first & !15, last | 15);
        Tiles { rows: whole(self.rows), columns: whole(self.columns) }
    }

    /// The box of these tiles, without a step on each side.
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

    /// The tiles of the square and its neighbours, which is all that a relation knows of its members.
    fn covered(&self) -> Tiles {
        if self.is_none() {
            return *self;
        }
        match self.square() {
            Some((0, _)) => *self,
            Some((size, _)) => {
                let widen = |first: u32| (first >> size << size, (first >> size << size) + (2 << size) - 1);
                Tiles { rows: widen(self.rows.0), columns: widen(self.columns.0) }
            }
            None => Tiles { rows: (0, 0xffff), columns: (0, 0xffff) },
        }
    }
}

fn row(lat: i32) -> u32 {
    (i64::from(lat) + 910_000_000).clamp(0, i64::from(u32::MAX)) as u32 >> 16
}

fn column(lon: i32) -> u32 {
    (lon as u32 ^ 0x8000_0000) >> 16
}

/// Row bits on the odd places, column bits on the even ones.
fn interleave(row: u32, column: u32) -> u32 {
    let spread = |mut v: u32| {
        v = (v | v << 8) & 0x00ff_00ff;
        v = (v | v << 4) & 0x0f0f_0f0f;
        v = (v | v << 2) & 0x3333_3333;
        (v | v << 1) & 0x5555_5555
    };
    spread(row) << 1 | spread(column)
}

/// The key of a node.
pub fn node_key(c: Coord) -> Key {
    if c.is_missing() { NOWHERE } else { (interleave(row(c.lat), column(c.lon)), false) }
}

/// The key of an area, of which the reference only knows blocks of 16 × 16 tiles.
pub fn area_key(bounds: &BoundingBox) -> Key {
    let mut tiles = Tiles::of(bounds);
    if !tiles.is_none() {
        let blocks = tiles.blocks();
        tiles =
            Tiles { rows: (blocks.rows.0, blocks.rows.1 & !15), columns: (blocks.columns.0, blocks.columns.1 & !15) };
    }
    tiles.key()
}

/// Whether the squares of something meet a box: what the reference looks up for a box.
pub fn near(bounds: &BoundingBox, area: &BoundingBox) -> bool {
    meets(Tiles::of(bounds), area, |tiles| tiles)
}

/// Whether the squares of something meet the tiles of a box, which are made of the box's own tiles.
fn meets(tiles: Tiles, area: &BoundingBox, made: impl Fn(Tiles) -> Tiles) -> bool {
    let tiles = tiles.covered();
    let (parts, n) = area.split();
    parts.iter().take(n).map(|part| made(Tiles::of(part))).any(|area| {
        tiles.rows.0 <= area.rows.1
            && tiles.rows.1 >= area.rows.0
            && tiles.columns.0 <= area.columns.1
            && tiles.columns.1 >= area.columns.0
    })
}

/// The block of 16 × 16 tiles that a node is in.
pub fn node_block(c: Coord) -> BoundingBox {
    Tiles { rows: (row(c.lat), row(c.lat)), columns: (column(c.lon), column(c.lon)) }.blocks().inner()
}

/// Whether `holds` does for the blocks in which the reference looks for a way with these nodes: for those of its square,
/// and, if the square is a great one, for those of one of its segments' squares.
pub fn in_blocks(coords: &[Coord], holds: impl Fn(&BoundingBox) -> bool) -> bool {
    let blocks = |coords: &[Coord]| {
        let mut bounds = BoundingBox::EMPTY;
        coords.iter().for_each(|&c| bounds.extend(c));
        let tiles = Tiles::of(&bounds);
        let near = !tiles.is_none() && holds(&tiles.covered().blocks().inner());
        (near, tiles.square().is_none_or(|(size, _)| size > 1))
    };
    match blocks(coords) {
        (true, true) => coords.windows(2).any(|segment| segment.iter().all(|c| !c.is_missing()) && blocks(segment).0),
        (near, _) => near,
    }
}

/// Whether the reference knows where a way with these nodes is. What fits into a square of up to two tiles has its
/// nodes' places, all of them or none; a way with a greater square has those that are known.
pub fn has_place(coords: &[Coord]) -> bool {
    let mut bounds = BoundingBox::EMPTY;
    coords.iter().for_each(|&c| bounds.extend(c));
    let is_wide = || Tiles::of(&bounds).square().is_none_or(|(size, _)| size > 1);
    !bounds.is_empty() && (!coords.iter().any(|c| c.is_missing()) || is_wide())
}

/// The lines of a way by which the reference finds it: the way itself if no node is missing. If one is, those between
/// missing nodes that do not lie in one tile.
fn indexed_lines(coords: &[Coord]) -> impl Iterator<Item = &[Coord]> {
    let is_whole = !coords.iter().any(|c| c.is_missing());
    let coords = if has_place(coords) { coords } else { &[] };
    coords.split(|c| c.is_missing()).filter(move |line| {
        let mut bounds = BoundingBox::EMPTY;
        line.iter().for_each(|&c| bounds.extend(c));
        !bounds.is_empty() && (is_whole || Tiles::of(&bounds).square().is_none_or(|(size, _)| size > 0))
    })
}

/// Whether the reference finds a way in a place that holds all that it knows of.
pub fn is_indexed(coords: &[Coord]) -> bool {
    indexed_lines(coords).next().is_some()
}

/// Whether the reference looks at a way that lacks nodes if it looks for what is in some boxes: one of the segments by
/// which it finds the way is in their tiles, or, for areas, in their blocks. All others it looks at.
///
/// Whether the way is there is then for all of its known nodes and segments to decide.
pub fn is_looked_at(coords: &[Coord], boxes: &[BoundingBox], by_blocks: bool) -> bool {
    if !coords.iter().any(|c| c.is_missing()) {
        return true;
    }
    let made = |tiles: Tiles| if by_blocks { tiles.blocks() } else { tiles };
    let is_near = |segment: &[Coord]| {
        let mut bounds = BoundingBox::EMPTY;
        segment.iter().for_each(|&c| bounds.extend(c));
        boxes.iter().any(|area| meets(Tiles::of(&bounds), area, made))
    };
    indexed_lines(coords).any(|line| line.windows(2).any(is_near))
}

fn way_tiles(reader: &mut Reader<'_>, way: Ordinal) -> Tiles {
    Tiles::of(&reader.way_box(way))
}

fn relation_tiles(reader: &mut Reader<'_>, relation: Ordinal) -> Tiles {
    let (page, slot) = reader.relation(relation);
    let mut tiles = Tiles::NONE;
    for member in page.members(slot) {
        match (member.kind, member.element.ordinal()) {
            (ElementType::Node, Some(node)) => {
                let c = reader.coord(node);
                tiles.union(Tiles { rows: (row(c.lat), row(c.lat)), columns: (column(c.lon), column(c.lon)) });
            }
            (ElementType::Way, Some(way)) => tiles.union(way_tiles(reader, way).covered()),
            _ => {}
        }
    }
    tiles
}

/// Keys, ids and ordinals of these elements, in order.
pub fn keyed(reader: &mut Reader<'_>, kind: ElementType, list: &[Ordinal]) -> Vec<(Key, i64, Ordinal)> {
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
    // at a date, what has not changed since comes first, as the reference finds it
    let changed = changed_since(reader.osm(), kind);
    if !changed.is_empty() {
        radix::sort(&mut keyed, |&(.., ordinal)| u64::from(changed.binary_search(&ordinal).is_ok()));
    }
    keyed
}

/// The elements in order.
pub fn order(osm: &Osm, kind: ElementType, list: &[Ordinal]) -> Vec<Ordinal> {
    if list.len() < 2 {
        return list.to_vec();
    }
    keyed(&mut Reader::new(osm), kind, list).into_iter().map(|(_, _, ordinal)| ordinal).collect()
}

/// The areas whose tags the reference overlooks where it reads them by place: those in a square of several blocks, if
/// others are in its first block alone.
pub fn shadowed_areas(osm: &Osm) -> Vec<AreaOrdinal> {
    let areas = osm.areas();
    let keys: Vec<Key> = (0..areas.count()).map(|area| area_key(&areas.bbox(area))).collect();
    let block = |(number, _): &Key| number >> 8;
    let alone: BTreeSet<u32> = keys.iter().filter(|(_, square)| !square).map(block).collect();
    let shadowed = |key: &Key| key.1 && alone.contains(&block(key));
    (0..).zip(&keys).filter(|(_, key)| shadowed(key)).map(|(area, _)| area).collect()
}

/// Areas made from relations in order.
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
        Tiles { rows, columns }.key()
    }

    #[test]
    fn what_spans_two_squares_takes_the_smaller_size() {
        // Observed: these tiles share a square of 2, these need one of 8.
        assert_eq!(key((19381, 19383), (34936, 34939)), (interleave(19380, 34936) | 1, true));
        assert_eq!(key((19381, 19382), (34937, 34940)), (interleave(19376, 34936) | 2, true));
        assert_eq!(key((10967, 10977), (6841, 6851)), (interleave(10944, 6816) | 4, true));
    }

    /// As in the reference: what is in the tiles of a square's beginning, by number, and the greater squares between.
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

    /// As observed, with a node that is missing: by the row and column of the first node within eight tiles, and how far
    /// away the second is.
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
        assert_eq!(Tiles::NONE.key(), NOWHERE);
        assert_eq!(Tiles::of(&BoundingBox::EMPTY).key(), NOWHERE);
    }
}
