//! Ways and relations in their places, and what they refer to by ordinals.

use super::BuildError;
use super::batch::{Compound, RawMember, Record};
use super::resolve::{Ids, Links, Missing, Resolved, windows};
use crate::{BoundingBox, Coord, ElementType, hilbert};
use terrapin_base::Progress;
use terrapin_base::external_sort::{Records, Scratch, SpillBuffer};

/// Elements resolved at once, so that results in memory stay few.
pub(super) const WINDOW: usize = 1 << 14;

/// Ways or relations in their order, with their boxes.
pub struct Placed {
    /// By key and id.
    pub records: Records<Compound>,
    /// South, west, north, east of each, in the same order.
    pub boxes: Records<[i32; 4]>,
}

/// A box as four numbers.
pub fn corners(b: &BoundingBox) -> [i32; 4] {
    [b.south, b.west, b.north, b.east]
}

/// The place of a box's middle; what has no place comes last.
fn middle(b: &BoundingBox) -> u64 {
    if b.is_empty() {
        return u64::MAX;
    }
    let half = |a: i32, b: i32| ((i64::from(a) + i64::from(b)).div_euclid(2)) as i32;
    hilbert::key(Coord { lat: half(b.south, b.north), lon: half(b.west, b.east) })
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Boxed {
    compound: Compound,
    corners: [i32; 4],
}

fn sort_boxed(scratch: &Scratch, pile: SpillBuffer<Boxed>) -> Result<Placed, BuildError> {
    let sorted = pile.sort(|b| (b.compound.record.key, b.compound.record.id))?;
    let (mut records, mut boxes) = (SpillBuffer::new(scratch), SpillBuffer::new(scratch));
    for window in sorted.as_slice().chunks(WINDOW) {
        records.extend(&window.iter().map(|b| b.compound).collect::<Vec<_>>())?;
        boxes.extend(&window.iter().map(|b| b.corners).collect::<Vec<_>>())?;
    }
    Ok(Placed { records: records.seal()?, boxes: boxes.seal()? })
}

/// Ways by the box of their nodes, and the nodes of all.
pub(super) fn place_ways(
    scratch: &Scratch,
    ways: &[Compound],
    refs: &[i64],
    node_ids: &Ids,
    missing: &mut Missing,
    progress: &dyn Progress,
) -> Result<(Placed, Records<Resolved>), BuildError> {
    let mut placed = SpillBuffer::new(scratch);
    let mut resolved: SpillBuffer<Resolved> = SpillBuffer::new(scratch);
    let chunks: Vec<&[Compound]> = ways.chunks(256).collect();
    windows(
        &chunks,
        64,
        |_, chunk| {
            let (mut boxed, mut nodes_of) = (Vec::with_capacity(chunk.len()), Vec::new());
            let mut hint = 0;
            for way in *chunk {
                let mut area = BoundingBox::EMPTY;
                let parts = nodes_of.len() as u64;
                for &id in &refs[way.parts as usize..(way.parts + way.part_count) as usize] {
                    nodes_of.push(match node_ids.find(id, &mut hint) {
                        Some(node) => {
                            area.extend(Coord { lat: node.lat, lon: node.lon });
                            Resolved::present(node.ordinal)
                        }
                        None => Resolved::missing(id),
                    });
                }
                let record = Record { key: middle(&area), ..way.record };
                boxed.push(Boxed { compound: Compound { record, parts, ..*way }, corners: corners(&area) });
            }
            (boxed, nodes_of)
        },
        |(mut boxed, nodes_of)| {
            let base = resolved.len();
            boxed.iter_mut().for_each(|b| b.compound.parts += base);
            progress.advance(boxed.len() as u64);
            missing.extend(&nodes_of.iter().filter_map(|n| n.missing_id()).collect::<Vec<_>>())?;
            placed.extend(&boxed)?;
            Ok(resolved.extend(&nodes_of)?)
        },
    )?;
    Ok((sort_boxed(scratch, placed)?, resolved.seal()?))
}

/// Relations by the box of their node and way members; members that are relations do not count.
pub(super) fn place_relations(
    scratch: &Scratch,
    relations: &[Compound],
    members: &[RawMember],
    node_ids: &Ids,
    way_ids: &Ids,
    ways: &Placed,
) -> Result<Placed, BuildError> {
    let mut placed = SpillBuffer::new(scratch);
    let way_boxes = ways.boxes.as_slice();
    windows(
        relations,
        WINDOW,
        |_, relation| {
            let mut area = BoundingBox::EMPTY;
            let (mut node_hint, mut way_hint) = (0, 0);
            for member in &members[relation.parts as usize..(relation.parts + relation.part_count) as usize] {
                if member.kind == ElementType::Node as u32 {
                    if let Some(node) = node_ids.find(member.id, &mut node_hint) {
                        area.extend(Coord { lat: node.lat, lon: node.lon });
                    }
                } else if member.kind == ElementType::Way as u32
                    && let Some(way) = way_ids.find(member.id, &mut way_hint)
                {
                    let [south, west, north, east] = way_boxes[way.ordinal as usize];
                    area.union(&BoundingBox { south, west, north, east });
                }
            }
            let record = Record { key: middle(&area), ..relation.record };
            Boxed { compound: Compound { record, ..*relation }, corners: corners(&area) }
        },
        |boxed| Ok(placed.extend(&[boxed])?),
    )?;
    sort_boxed(scratch, placed)
}

/// A member with its ordinal.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct ResolvedMember {
    /// The element.
    pub element: Resolved,
    /// Its type, as [`ElementType`].
    pub kind: u32,
    /// Its role in the table of roles.
    pub role: u32,
}

type MembersAndParents = (Records<ResolvedMember>, [Links; 3]);

/// All members with their ordinals, and which relations each element is in.
pub(super) fn resolve_members(
    scratch: &Scratch,
    relations: &[Compound],
    members: &[RawMember],
    ids: [&Ids; 3],
    missing: &mut [Missing; 3],
) -> Result<MembersAndParents, BuildError> {
    let mut resolved = SpillBuffer::new(scratch);
    let mut links: [SpillBuffer<[u64; 2]>; 3] =
        [SpillBuffer::new(scratch), SpillBuffer::new(scratch), SpillBuffer::new(scratch)];
    let chunks: Vec<&[RawMember]> = members.chunks(WINDOW).collect();
    windows(
        &chunks,
        16,
        |_, chunk| {
            let mut hints = [0; 3];
            let resolve = |m: &RawMember| {
                let kind = m.kind as usize;
                ResolvedMember { element: Resolved::of(ids[kind], m.id, &mut hints[kind]), kind: m.kind, role: m.role }
            };
            chunk.iter().map(resolve).collect::<Vec<_>>()
        },
        |chunk| {
            for kind in ElementType::ALL {
                let of_kind = chunk.iter().filter(|m| m.kind == kind as u32);
                missing[kind as usize].extend(&of_kind.filter_map(|m| m.element.missing_id()).collect::<Vec<_>>())?;
            }
            Ok(resolved.extend(&chunk)?)
        },
    )?;
    let resolved = resolved.seal()?;
    for (ordinal, relation) in relations.iter().enumerate() {
        for m in &resolved.as_slice()[relation.parts as usize..(relation.parts + relation.part_count) as usize] {
            if let Some(member) = m.element.ordinal() {
                links[m.kind as usize].extend(&[[member, ordinal as u64]])?;
            }
        }
    }
    let [nodes, ways, relations] = links;
    Ok((resolved, [Links::of(nodes)?, Links::of(ways)?, Links::of(relations)?]))
}

/// Which ways each node is in.
pub(super) fn link_ways(scratch: &Scratch, ways: &[Compound], way_nodes: &[Resolved]) -> Result<Links, BuildError> {
    let mut links: SpillBuffer<[u64; 2]> = SpillBuffer::new(scratch);
    let mut window = Vec::new();
    for (ordinal, way) in ways.iter().enumerate() {
        let nodes = &way_nodes[way.parts as usize..(way.parts + way.part_count) as usize];
        window.extend(nodes.iter().filter_map(|n| n.ordinal()).map(|node| [node, ordinal as u64]));
        if window.len() >= WINDOW {
            links.extend(&window)?;
            window.clear();
        }
    }
    links.extend(&window)?;
    Links::of(links)
}
