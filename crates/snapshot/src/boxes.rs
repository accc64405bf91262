//! Bounding boxes in curve order, and the search for those that intersect another box. An R-tree covers groups of
//! boxes, so that the memory built on opening stays small; the boxes are read in place.
//!
//! ```text
//! NAME          south, west, north, east of each, i32
//! NAME.groups   the bounding box of each group of 256
//! ```
//! A box whose south is above its north is empty and intersects no box.

use std::sync::{Arc, OnceLock};

use rstar::primitives::{GeomWithData, Rectangle};
use rstar::{AABB, RTree};

use super::{CheckedSection, CheckedWriter, Error, Fault, Snapshot, SnapshotWriter};

/// A box: south, west, north, east in 1e-7 degrees.
pub type Corners = [i32; 4];

/// The empty box.
const EMPTY: Corners = [i32::MAX, i32::MAX, i32::MIN, i32::MIN];
/// The length of a box in bytes.
const LEN: usize = 16;
/// The number of boxes per group. A planet's 20 million pages of nodes make 76 thousand groups, whose R-tree is built
/// in some milliseconds. A group is a quarter of a checksummed granule.
const GROUP: usize = 256;

/// Writes boxes to a section.
pub struct BoxesWriter {
    name: String,
    out: CheckedWriter,
    groups: Vec<Corners>,
    len: usize,
}

impl BoxesWriter {
    /// Begins the section `name` in `writer`, which must not be used otherwise until [`BoxesWriter::finish`] is called.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn begin(writer: &mut SnapshotWriter, name: &str) -> Result<BoxesWriter, Error> {
        let out = CheckedWriter::begin(writer, name)?;
        Ok(BoxesWriter { name: name.to_owned(), out, groups: Vec::new(), len: 0 })
    }

    /// Writes a whole section of boxes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(
        writer: &mut SnapshotWriter,
        name: &str,
        boxes: impl IntoIterator<Item = Corners>,
    ) -> Result<(), Error> {
        let mut out = BoxesWriter::begin(writer, name)?;
        boxes.into_iter().try_for_each(|one| out.push(writer, one))?;
        out.finish(writer)
    }

    /// Appends a box.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn push(&mut self, writer: &mut SnapshotWriter, one: Corners) -> Result<(), Error> {
        add(&mut self.groups, self.len, one);
        self.len += 1;
        self.out.push(writer, &bytes(one))
    }

    /// Ends the section and writes the groups.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn finish(self, writer: &mut SnapshotWriter) -> Result<(), Error> {
        self.out.finish(writer, 0)?;
        let mut groups = CheckedWriter::begin(writer, &groups(&self.name))?;
        self.groups.iter().try_for_each(|&group| groups.push(writer, &bytes(group)))?;
        groups.finish(writer, 0)
    }
}

fn groups(name: &str) -> String {
    format!("{name}.groups")
}

/// Extends the group of the box with index `at`.
fn add(groups: &mut Vec<Corners>, at: usize, one: Corners) {
    if at.is_multiple_of(GROUP) {
        groups.push(EMPTY);
    }
    if let Some(group) = groups.last_mut().filter(|_| !is_empty(&one)) {
        *group = [group[0].min(one[0]), group[1].min(one[1]), group[2].max(one[2]), group[3].max(one[3])];
    }
}

fn bytes(one: Corners) -> [u8; LEN] {
    let mut bytes = [0; LEN];
    bytes.chunks_exact_mut(4).zip(one).for_each(|(bytes, side)| bytes.copy_from_slice(&side.to_le_bytes()));
    bytes
}

fn corners(bytes: &[u8; LEN]) -> Corners {
    std::array::from_fn(|side| i32::from_le_bytes(std::array::from_fn(|byte| bytes[side * 4 + byte])))
}

fn is_empty([south, west, north, east]: &Corners) -> bool {
    south > north || west > east
}

fn meet(a: &Corners, b: &Corners) -> bool {
    a[0] <= b[2] && a[2] >= b[0] && a[1] <= b[3] && a[3] >= b[1]
}

type GroupBox = GeomWithData<Rectangle<[i64; 2]>, u32>;

/// The boxes of a section, by index.
pub struct BoxSection {
    boxes: CheckedSection,
    groups: CheckedSection,
    tree: OnceLock<RTree<GroupBox>>,
}

impl BoxSection {
    /// Opens the section `name` of `snapshot`.
    ///
    /// # Errors
    /// Returns an error if the section is missing or damaged.
    pub fn open(snapshot: &Arc<Snapshot>, name: &str, fault: &Arc<Fault>) -> Result<BoxSection, Error> {
        BoxSection::of(
            name,
            CheckedSection::open(snapshot, name, fault)?,
            CheckedSection::open(snapshot, &groups(name), fault)?,
        )
    }

    /// Returns boxes held in memory, as if read from the section `name`.
    pub fn held(name: &str, boxes: impl IntoIterator<Item = Corners>, fault: &Arc<Fault>) -> BoxSection {
        let (mut held, mut around) = (Vec::new(), Vec::new());
        for (at, one) in boxes.into_iter().enumerate() {
            add(&mut around, at, one);
            held.extend_from_slice(&bytes(one));
        }
        let around = around.into_iter().flat_map(bytes).collect();
        BoxSection {
            boxes: CheckedSection::held(name, held, 0, fault),
            groups: CheckedSection::held(name, around, 0, fault),
            tree: OnceLock::new(),
        }
    }

    fn of(name: &str, boxes: CheckedSection, groups: CheckedSection) -> Result<BoxSection, Error> {
        let count = boxes.len() / LEN;
        let whole = boxes.len().is_multiple_of(LEN) && groups.len() == count.div_ceil(GROUP) * LEN;
        match whole && u32::try_from(count).is_ok() {
            true => Ok(BoxSection { boxes, groups, tree: OnceLock::new() }),
            false => Err(Error::damaged(name, "its groups do not fit")),
        }
    }

    /// Returns the number of boxes.
    pub fn len(&self) -> u32 {
        (self.boxes.len() / LEN) as u32
    }

    /// Reports whether there are no boxes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns a box; the empty box if the index is out of range or the snapshot is damaged.
    #[inline]
    pub fn get(&self, at: u32) -> Corners {
        if at >= self.len() {
            return EMPTY;
        }
        let bytes = self.boxes.get(at as usize * LEN, LEN).and_then(|bytes| bytes.first_chunk());
        bytes.map_or(EMPTY, corners)
    }

    /// Builds the R-tree of the groups now instead of on first use, because it outlives the query that needs it first.
    pub fn prepare(&self) -> &Self {
        self.tree();
        self
    }

    fn tree(&self) -> &RTree<GroupBox> {
        self.tree.get_or_init(|| RTree::bulk_load(self.group_boxes()))
    }

    /// Returns the indexes of the boxes that intersect `area`, ascending.
    pub fn meeting(&self, area: &Corners) -> Vec<u32> {
        if is_empty(area) {
            return Vec::new();
        }
        let mut groups: Vec<u32> =
            self.tree().locate_in_envelope_intersecting(envelope(area)).map(|group| group.data).collect();
        groups.sort_unstable();
        let mut found = Vec::new();
        for group in groups {
            let first = group as usize * GROUP;
            let count = GROUP.min((self.boxes.len() / LEN).saturating_sub(first));
            let bytes = self.boxes.get(first * LEN, count * LEN).unwrap_or_default();
            let boxes = bytes.as_chunks::<LEN>().0.iter().map(corners);
            let here = |one: &Corners| !is_empty(one) && meet(one, area);
            found.extend((first as u32..).zip(boxes).filter(|(_, one)| here(one)).map(|(at, _)| at));
        }
        found
    }

    fn group_boxes(&self) -> Vec<GroupBox> {
        let bytes = self.groups.get(0, self.groups.len()).unwrap_or_default();
        let groups = (0..).zip(bytes.as_chunks::<LEN>().0.iter().map(corners));
        let solid = groups.filter(|(_, group)| !is_empty(group));
        solid.map(|(number, group)| GeomWithData::new(rectangle(&group), number)).collect()
    }
}

fn rectangle(&[south, west, north, east]: &Corners) -> Rectangle<[i64; 2]> {
    Rectangle::from_corners([west.into(), south.into()], [east.into(), north.into()])
}

fn envelope(&[south, west, north, east]: &Corners) -> AABB<[i64; 2]> {
    AABB::from_corners([west.into(), south.into()], [east.into(), north.into()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns boxes at random places; some are empty, some span half of the globe.
    fn some(count: u64) -> Vec<Corners> {
        let mut random = 88_172_645_463_325_252_u64;
        let mut next = |below: i64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random % below as u64) as i32
        };
        (0..count)
            .map(|at| match at % 97 {
                3 => EMPTY,
                5 => [-900_000_000, -1_800_000_000, next(900_000_000), next(1_800_000_000)],
                _ => {
                    let (south, west) = (next(1_800_000_000) - 900_000_000, next(3_600_000_000).wrapping_sub(i32::MAX));
                    [south, west, south.saturating_add(next(9_000_000)), west.saturating_add(next(9_000_000))]
                }
            })
            .collect()
    }

    #[test]
    fn those_that_meet_and_no_other() {
        for count in [0, 1, 255, 256, 257, 5000] {
            let boxes = some(count);
            let fault = Arc::default();
            let held = BoxSection::held("boxes", boxes.iter().copied(), &fault);
            assert_eq!(u64::from(held.len()), count);
            for area in some(60) {
                let expected: Vec<u32> = (0..)
                    .zip(&boxes)
                    .filter(|(_, one)| !is_empty(&area) && !is_empty(one) && meet(one, &area))
                    .map(|(at, _)| at)
                    .collect();
                assert_eq!(held.meeting(&area), expected);
            }
            assert!((0..held.len()).all(|at| held.get(at) == boxes[at as usize]));
            assert_eq!(held.get(held.len()), EMPTY);
        }
    }
}
