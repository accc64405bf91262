//! A tree of boxes. It requires an order in which neighbors are near each other, such as that of elements along the
//! Hilbert curve. Each group of eight consecutive boxes has one parent, so that the tree is built in one pass.

use terrapin_osm::BoundingBox;

const FANOUT: usize = 8;

/// The tree of boxes. No box in it crosses the antimeridian.
#[derive(Debug, Default)]
pub struct BoxTree {
    /// The boxes themselves, then each level above, up to a single box.
    levels: Vec<Vec<BoundingBox>>,
}

impl BoxTree {
    /// Builds the tree of these boxes.
    pub fn new(boxes: Vec<BoundingBox>) -> BoxTree {
        let mut levels = vec![boxes];
        while let Some(last) = levels.last()
            && last.len() > 1
        {
            let parents = last.chunks(FANOUT).map(|chunk| {
                chunk.iter().fold(BoundingBox::EMPTY, |mut all, b| {
                    all.union(b);
                    all
                })
            });
            levels.push(parents.collect());
        }
        BoxTree { levels }
    }

    /// Returns the box around all boxes.
    pub fn bounds(&self) -> BoundingBox {
        self.levels.last().and_then(|l| l.first()).copied().unwrap_or(BoundingBox::EMPTY)
    }

    /// Returns the boxes themselves.
    pub fn boxes(&self) -> &[BoundingBox] {
        self.levels.first().map_or(&[], Vec::as_slice)
    }

    /// Calls `f` with the index of every box that shares a point with `area`, until it returns true. Returns whether it
    /// did. `area` must not cross the antimeridian.
    pub fn any(&self, area: &BoundingBox, mut f: impl FnMut(usize) -> bool) -> bool {
        let Some(top) = self.levels.len().checked_sub(1) else { return false };
        self.any_below(top, 0..1, area, &mut f)
    }

    fn any_below(
        &self,
        level: usize,
        range: std::ops::Range<usize>,
        area: &BoundingBox,
        f: &mut impl FnMut(usize) -> bool,
    ) -> bool {
        let Some(boxes) = self.levels.get(level) else { return false };
        for (index, b) in boxes.iter().enumerate().take(range.end).skip(range.start) {
            if b.south <= area.north && b.north >= area.south && b.west <= area.east && b.east >= area.west {
                let found = match level {
                    0 => f(index),
                    _ => self.any_below(level - 1, index * FANOUT..(index + 1) * FANOUT, area, f),
                };
                if found {
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_scan_finds() {
        let boxes: Vec<BoundingBox> = (0..1000i32)
            .map(|i| {
                let (south, west) = (i * 7919 % 500, i * 104_729 % 700);
                BoundingBox { south, west, north: south + i % 13, east: west + i % 7 }
            })
            .collect();
        let tree = BoxTree::new(boxes.clone());
        for i in 0..200 {
            let area = BoundingBox { south: i * 3, west: i * 2, north: i * 3 + 20, east: i * 2 + 30 };
            let mut found = Vec::new();
            tree.any(&area, |index| {
                found.push(index);
                false
            });
            let scan: Vec<usize> = (0..boxes.len()).filter(|&k| area.intersects(&boxes[k])).collect();
            assert_eq!(found, scan);
        }
        assert!(!BoxTree::new(Vec::new()).any(&BoundingBox { south: 0, west: 0, north: 1, east: 1 }, |_| true));
        assert!(BoxTree::default().bounds().is_empty());
    }
}
