//! Collects the printed parts of an element from its pages into an item, which the output format borrows.

use crate::extent::ExtentBuilder;
use crate::output::{ItemTags, MemberGeometry, MemberItem, OutputItem, OutputMeta, Projection};
use crate::quadtile;
use crate::reader::StoreReader;
use crate::set::{DegreePosition, Derived};
use crate::syntax::{self, Detail, Out};
use terrapin_budget as budget;
use terrapin_osm::geometry::{Segment, segment_meets_box};
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, Osm, PairId, RelationMember};

/// The parts of an element to write.
#[derive(Debug, Clone, Copy)]
pub(super) struct WrittenParts {
    pub(super) ids: bool,
    /// A node's coordinates.
    skeleton: bool,
    /// A way's nodes, a relation's members.
    parts: bool,
    tags: bool,
    pub(super) meta: bool,
    place: GeometryDetail,
    bbox: Option<BoundingBox>,
    /// The output is the difference between two moments. Boxes and centers then ignore nodes outside the output box,
    /// and centers are rounded like coordinates.
    differing: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GeometryDetail {
    None,
    Center,
    Bounds,
    Full,
}

impl WrittenParts {
    pub(super) fn of(out: &Out, projection: Projection) -> WrittenParts {
        let (skeleton, tags, meta) = match out.detail {
            Detail::Ids | Detail::Count => (false, false, false),
            Detail::Skel => (true, false, false),
            Detail::Body => (true, true, false),
            Detail::Tags => (false, true, false),
            Detail::Meta => (true, true, true),
        };
        let place = if out.geometry.full {
            GeometryDetail::Full
        } else if out.geometry.bounds {
            GeometryDetail::Bounds
        } else if out.geometry.center {
            GeometryDetail::Center
        } else {
            GeometryDetail::None
        };
        let bbox = out.bbox.map(|syntax::QlBoundingBox { south, west, north, east, .. }| BoundingBox {
            south,
            west,
            north,
            east,
        });
        WrittenParts {
            ids: !out.noids || projection.every_id,
            skeleton,
            parts: skeleton && projection.parts,
            tags: tags && projection.tags,
            meta: meta && projection.meta,
            place,
            bbox,
            differing: false,
        }
    }

    /// Returns the same parts, for the difference between two moments.
    pub(super) fn differing(self) -> WrittenParts {
        WrittenParts { differing: true, ..self }
    }

    /// Returns whether hidden or missing nodes count as a point in the far south-west, as in the reference.
    fn has_nowhere(&self) -> bool {
        self.place != GeometryDetail::Full && !self.differing
    }

    /// Returns the center of an element's box.
    fn center(&self, bounds: &BoundingBox) -> DegreePosition {
        let center = DegreePosition::plain_middle(bounds);
        if self.differing { center.encoded() } else { center }
    }

    /// Sets the box or the center of an item.
    fn place_box(&self, item: &mut OutputItem<'_>, bounds: BoundingBox) {
        match self.place {
            GeometryDetail::None => {}
            GeometryDetail::Center => item.center = Some(self.center(&bounds)),
            GeometryDetail::Bounds | GeometryDetail::Full => {
                item.bounds = Some(bounds);
                item.label = Some(DegreePosition::middle(&bounds));
            }
        }
    }

    /// Adds the visible part of a line to an extent. If only the box or the center is written, nodes outside the output
    /// box count as a point in the far south-west, as in the reference.
    fn add_line(&self, extent: &mut ExtentBuilder, line: &[Coord]) {
        let hidden = if self.bbox.is_some() && self.has_nowhere() { ExtentBuilder::NULL } else { Coord::MISSING };
        line.iter().for_each(|&c| extent.add(if c.is_missing() { hidden } else { c }));
    }
}

/// Buffers that are reused for each element.
#[derive(Default)]
pub(super) struct OutScratch {
    pairs: Vec<PairId>,
    tags: ItemTags,
    nodes: Vec<i64>,
    geometry: Vec<Coord>,
    /// The coordinates of the nodes of all member ways.
    lines: Vec<Coord>,
    members: Vec<LocatedMember>,
}

/// Type, id, role and location of a member.
type LocatedMember = (ElementType, i64, u32, MemberLocation);

/// The location of a member. A line is a range of [`Scratch::lines`].
#[derive(Debug, Clone, Copy)]
enum MemberLocation {
    No,
    Point(Coord),
    Line(usize, usize),
}

impl OutScratch {
    /// Reads the tags of an element.
    fn read_tags(&mut self, reader: &mut StoreReader<'_>, kind: ElementType, ordinal: Ordinal) {
        self.tags.clear();
        self.pairs.clear();
        self.pairs.extend_from_slice(reader.tags(kind, ordinal));
        for &pair in &self.pairs {
            let (key, value) = reader.tag_text(pair);
            self.tags.push(key, value);
        }
    }

    /// Reads the nodes and the line of a way. Returns the box of the line's visible part.
    fn read_way(&mut self, reader: &mut StoreReader<'_>, shown: WrittenParts, ordinal: Ordinal) -> Option<BoundingBox> {
        if shown.parts {
            self.nodes.clear();
            reader.way_nodes(ordinal, &mut self.nodes);
        }
        if shown.place == GeometryDetail::None {
            return None;
        }
        let (page, slot) = reader.way(ordinal);
        self.geometry.clear();
        cut(page.coords(slot), shown.bbox.as_ref(), &mut self.geometry);
        let mut extent = ExtentBuilder::EMPTY;
        shown.add_line(&mut extent, &self.geometry);
        if shown.place == GeometryDetail::Full { extent.around() } else { extent.plain() }
    }

    /// Reads the members of a relation. Returns the box of their visible parts.
    fn read_relation(
        &mut self,
        reader: &mut StoreReader<'_>,
        shown: WrittenParts,
        ordinal: Ordinal,
    ) -> Option<BoundingBox> {
        let extent = self.read_members(reader, shown, ordinal);
        match shown.place {
            GeometryDetail::None => None,
            GeometryDetail::Full => extent.around(),
            _ if shown.differing => extent.turned().or(Some(ExtentBuilder::NOWHERE)),
            _ => extent.turned_or_unknown(),
        }
    }

    /// Reads the members of a relation and the lines of its ways. Returns the extent of their visible parts.
    fn read_members(&mut self, reader: &mut StoreReader<'_>, shown: WrittenParts, ordinal: Ordinal) -> ExtentBuilder {
        let mut extent = ExtentBuilder::EMPTY;
        self.members.clear();
        self.lines.clear();
        if !shown.parts && shown.place == GeometryDetail::None {
            return extent;
        }
        let (page, slot) = reader.relation(ordinal);
        for member in page.members(slot) {
            let located = match shown.place {
                GeometryDetail::None => MemberLocation::No,
                _ => self.locate(reader, shown, member, &mut extent),
            };
            if shown.parts {
                let id = reader.ref_id(member.kind, member.element);
                let located = if shown.place == GeometryDetail::Full { located } else { MemberLocation::No };
                self.members.push((member.kind, id, member.role, located));
            }
        }
        extent
    }

    /// Returns the location of a member, and adds its visible part to the extent.
    fn locate(
        &mut self,
        reader: &mut StoreReader<'_>,
        shown: WrittenParts,
        member: &RelationMember,
        extent: &mut ExtentBuilder,
    ) -> MemberLocation {
        match (member.kind, member.element.ordinal()) {
            (ElementType::Node, node) => {
                let coord = node.map(|node| reader.coord(node));
                match coord.filter(|&c| shown.bbox.is_none_or(|bbox| bbox.contains(c))) {
                    Some(c) => {
                        extent.add(c);
                        return MemberLocation::Point(c);
                    }
                    None if node.is_none() && shown.place == GeometryDetail::Bounds => extent.add_unknown(),
                    None if shown.has_nowhere() => extent.add(ExtentBuilder::NULL),
                    None => {}
                }
                MemberLocation::No
            }
            (ElementType::Way, Some(way)) => {
                let from = self.lines.len();
                let (page, slot) = reader.way(way);
                member_line(page.coords(slot), shown.bbox.as_ref(), &mut self.lines);
                // As in the reference, which does not know the location of other ways.
                if quadtile::has_place(page.coords(slot)) {
                    shown.add_line(extent, &self.lines[from..]);
                }
                MemberLocation::Line(from, self.lines.len())
            }
            (ElementType::Way, None) => MemberLocation::Line(0, 0),
            (ElementType::Relation, _) => MemberLocation::No,
        }
    }

    /// Returns the members of the last relation read.
    fn members<'s>(&'s self, osm: &'s Osm) -> Vec<MemberItem<'s>> {
        let geometry = |located| match located {
            MemberLocation::No => MemberGeometry::None,
            MemberLocation::Point(c) => MemberGeometry::Point(c),
            MemberLocation::Line(from, to) => MemberGeometry::Line(&self.lines[from..to]),
        };
        let item = |&(kind, id, role, located): &LocatedMember| MemberItem {
            kind,
            id,
            role: osm.role(role),
            geometry: geometry(located),
        };
        self.members.iter().map(item).collect()
    }
}

/// A reader of elements that fills one item at a time.
pub(super) struct ElementWriter<'a> {
    pub(super) reader: StoreReader<'a>,
    pub(super) shown: WrittenParts,
    pub(super) scratch: OutScratch,
}

impl ElementWriter<'_> {
    /// Collects the printed parts of an element and passes them to `write`.
    pub(super) fn element<R>(
        &mut self,
        kind: ElementType,
        ordinal: Ordinal,
        id: i64,
        write: impl FnOnce(&OutputItem<'_>) -> R,
    ) -> R {
        budget::checkpoint();
        let ElementWriter { reader, shown, scratch } = self;
        let shown = *shown;
        let mut item = OutputItem { type_name: kind.name(), id: shown.ids.then_some(id), ..OutputItem::default() };
        if shown.meta {
            item.meta = Some(meta(reader, kind, ordinal));
        }
        if shown.tags {
            scratch.read_tags(reader, kind, ordinal);
        }
        let bounds = match kind {
            ElementType::Node => None,
            ElementType::Way => scratch.read_way(reader, shown, ordinal),
            ElementType::Relation => scratch.read_relation(reader, shown, ordinal),
        };
        if let Some(bounds) = bounds {
            shown.place_box(&mut item, bounds);
        }
        // From here on, the item borrows the buffers.
        let scratch = &*scratch;
        item.tags = shown.tags.then_some(&scratch.tags);
        let members;
        match kind {
            ElementType::Node => {
                if shown.skeleton || shown.place != GeometryDetail::None {
                    item.position = Some(reader.coord(ordinal));
                }
            }
            ElementType::Way => {
                item.nodes = shown.parts.then_some(&scratch.nodes);
                item.geometry = (shown.place == GeometryDetail::Full).then_some(&scratch.geometry);
            }
            ElementType::Relation => {
                if shown.parts {
                    members = scratch.members(reader.osm());
                    item.members = Some(&members);
                }
            }
        }
        write(&item)
    }

    /// Like [`element`](Self::element), with the id and metadata only.
    pub(super) fn bare<R>(
        &mut self,
        kind: ElementType,
        ordinal: Ordinal,
        id: i64,
        write: impl FnOnce(&OutputItem<'_>) -> R,
    ) -> R {
        let mut item = OutputItem { type_name: kind.name(), id: self.shown.ids.then_some(id), ..OutputItem::default() };
        if self.shown.meta {
            item.meta = Some(meta(&mut self.reader, kind, ordinal));
        }
        write(&item)
    }

    /// Like [`bare`](Self::bare), for an element before it entered the set. As in the reference, the box or the center
    /// of a relation is in the far south-west.
    pub(super) fn earlier<R>(
        &mut self,
        kind: ElementType,
        ordinal: Ordinal,
        id: i64,
        write: impl FnOnce(&OutputItem<'_>) -> R,
    ) -> R {
        let shown = self.shown;
        self.bare(kind, ordinal, id, |item| {
            let mut item = OutputItem { ..*item };
            if kind == ElementType::Relation && shown.place != GeometryDetail::Full {
                shown.place_box(&mut item, ExtentBuilder::NOWHERE);
            }
            write(&item)
        })
    }

    /// Writes an element that entered the set, as the block of a `compare` shows it: by id only. As in the reference, a
    /// way has a box outside the globe.
    pub(super) fn nameless<R>(&self, kind: ElementType, id: i64, write: impl FnOnce(&OutputItem<'_>) -> R) -> R {
        const NOWHERE: BoundingBox =
            BoundingBox { south: 1_000_000_000, west: 2_000_000_000, north: 1_000_000_000, east: 2_000_000_000 };
        let boxed = kind == ElementType::Way && self.shown.place == GeometryDetail::Full;
        let bounds = boxed.then_some(NOWHERE);
        write(&OutputItem { type_name: kind.name(), id: self.shown.ids.then_some(id), bounds, ..OutputItem::default() })
    }

    /// Writes an area: its id and the tags of its relation.
    pub(super) fn area<R>(&mut self, relation: Ordinal, id: i64, write: impl FnOnce(&OutputItem<'_>) -> R) -> R {
        let mut item = OutputItem { type_name: "area", id: self.shown.ids.then_some(id), ..OutputItem::default() };
        if self.shown.tags {
            self.scratch.read_tags(&mut self.reader, ElementType::Relation, relation);
            item.tags = Some(&self.scratch.tags);
        }
        write(&item)
    }

    /// Collects the printed parts of a derived element and passes them to `write`.
    pub(super) fn derived<R>(&mut self, derived: &Derived, write: impl FnOnce(&OutputItem<'_>) -> R) -> R {
        let shown = self.shown;
        let tags = &mut self.scratch.tags;
        let mut item =
            OutputItem { type_name: &derived.type_name, id: shown.ids.then_some(derived.id), ..OutputItem::default() };
        if shown.tags {
            tags.clear();
            derived.tags.iter().for_each(|(key, value)| tags.push(key, value));
            item.tags = Some(tags);
        }
        let cut;
        if let Some(geometry) = &derived.geometry {
            if shown.skeleton || shown.place != GeometryDetail::None {
                item.label = geometry.middle();
            }
            match shown.place {
                GeometryDetail::None => {}
                GeometryDetail::Center => item.center = geometry.middle(),
                GeometryDetail::Bounds => item.bounds = geometry.bounding_box(),
                GeometryDetail::Full if geometry.leaves_globe() => {
                    cut = geometry.on_globe();
                    item.shape = cut.as_ref();
                }
                GeometryDetail::Full => item.shape = Some(geometry),
            }
        }
        write(&item)
    }
}

fn meta<'a>(reader: &mut StoreReader<'a>, kind: ElementType, ordinal: Ordinal) -> OutputMeta<'a> {
    let meta = reader.meta(kind, ordinal);
    OutputMeta {
        version: meta.version,
        timestamp: meta.timestamp,
        changeset: meta.changeset,
        uid: meta.uid,
        user: reader.osm().user_name(meta.user),
    }
}

/// Appends the line of a member to `to`. With a box, only the points inside it and their neighbors keep their
/// coordinates. A line far from the box is left out.
fn member_line(line: &[Coord], bbox: Option<&BoundingBox>, to: &mut Vec<Coord>) {
    let Some(bbox) = bbox else { return to.extend_from_slice(line) };
    let mut bounds = BoundingBox::EMPTY;
    line.iter().for_each(|&c| bounds.extend(c));
    if !quadtile::near(&bounds, bbox) {
        return;
    }
    let shown = |at: usize| line.get(at).is_some_and(|&c| !c.is_missing() && bbox.contains(c));
    to.extend(
        line.iter()
            .enumerate()
            .map(|(at, &c)| if shown(at) || shown(at + 1) || at > 0 && shown(at - 1) { c } else { Coord::MISSING }),
    );
}

/// Appends a line to `to`. With a box, only points inside it and the ends of segments that meet it keep their
/// coordinates.
fn cut(line: &[Coord], bbox: Option<&BoundingBox>, to: &mut Vec<Coord>) {
    let Some(bbox) = bbox else { return to.extend_from_slice(line) };
    let from = to.len();
    to.extend(line.iter().map(|&c| if !c.is_missing() && bbox.contains(c) { c } else { Coord::MISSING }));
    for (i, pair) in line.windows(2).enumerate() {
        let (a, b) = (pair[0], pair[1]);
        if !a.is_missing() && !b.is_missing() && segment_meets_box(Segment::undirected(a, b), bbox) {
            to[from + i] = a;
            to[from + i + 1] = b;
        }
    }
}
