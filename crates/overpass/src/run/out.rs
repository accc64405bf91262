//! `out`: writes a set, type by type, in order of id or of quadtile.

mod changes;
mod parallel;

use std::io;
use std::sync::Arc;

use rayon::prelude::*;

use super::diff::Phase;
use super::{Context, uses_areas};
use crate::Failure;
use crate::extent::Extent;
use crate::introsort;
use crate::output::{Action, Answer, Counts, Item, MemberGeometry, MemberItem, Meta, Projection, Tags, disconnected};
use crate::quadtile;
use crate::reader::Reader;
use crate::set::{AreaOrdinal, Derived, Position, Set};
use crate::sorted;
use crate::syntax::{self, Detail, Order, Out};
use terrapin_budget as budget;
use terrapin_osm::areas::RELATION_AREAS;
use terrapin_osm::geometry::{Segment, segment_meets_box};
use terrapin_osm::radix;
use terrapin_osm::{BoundingBox, Coord, ElementType, Ordinal, PairId};

/// Elements written between two looks at the budget.
const STEP: usize = 256;

/// So many elements of each type are worth printing on all cores.
const PARALLEL: [usize; 3] = [1 << 10, 1 << 8, 1 << 4];

/// So many ids are worth looking up on all cores, and so many at once.
const IDS_AT_ONCE: usize = 1 << 14;

/// Runs the `out` that stands at `place` in the text.
pub fn run(ctx: &mut Context, out: &Out, place: usize) -> Result<(), Failure> {
    let frame = match ctx.diff.as_ref().map(|diff| diff.phase) {
        None => None,
        Some(Phase::Older | Phase::Newer) => return changes::run(ctx, out, place),
        Some(Phase::Initial) => Some("show_initial"),
        Some(Phase::Final) => Some("show_final"),
    };
    let set = ctx.set(&out.from);
    if out.detail == Detail::Count {
        let counts = counts(ctx, &set, !out.noids);
        return framed(ctx.answer, frame, |answer| answer.count(&counts)).map_err(disconnected);
    }
    let mut left = out.limit.unwrap_or(u64::MAX);
    let shown = WrittenParts::of(out, ctx.answer.projection());
    let renderer = if frame.is_some() { None } else { ctx.answer.renderer() };
    let bare = ctx.diff.as_ref().map(|diff| Arc::clone(&diff.bare)).unwrap_or_default();
    let reader = ctx.reader.take().unwrap_or_else(|| Reader::new(ctx.osm));
    let mut writer = Writer { reader, shown, scratch: Scratch::default() };
    for kind in ElementType::ALL {
        let list = ordered(&mut writer.reader, kind, set.part(kind), out.order, left);
        left -= list.len() as u64;
        match &renderer {
            Some(renderer) if list.len() >= PARALLEL[kind as usize] => {
                parallel::write(ctx, renderer, shown, kind, &list)?
            }
            _ => {
                for (step, &(id, ordinal)) in list.iter().enumerate() {
                    if step.is_multiple_of(STEP) {
                        ctx.budget.check()?;
                    }
                    let answer = &mut *ctx.answer;
                    let write = |item: &Item<'_>| framed(answer, frame, |answer| answer.element(item));
                    if sorted::contains(bare.part(kind), ordinal) {
                        writer.nameless(kind, id, write).map_err(disconnected)?;
                    } else {
                        writer.element(kind, ordinal, id, write).map_err(disconnected)?;
                    }
                }
            }
        }
    }
    for (id, relation) in areas(&mut writer.reader, &set.areas, out.order, left) {
        left -= 1;
        writer.area(ctx, frame, relation, id)?;
    }
    let mut derived: Vec<&Arc<Derived>> = set.derived.iter().collect();
    if out.order == Order::Asc {
        introsort::sort(&mut derived, |a, b| a.key() < b.key());
    }
    for derived in derived.into_iter().take(usize::try_from(left).unwrap_or(usize::MAX)) {
        budget::checkpoints(16);
        let answer = &mut *ctx.answer;
        let write = |item: &Item<'_>| framed(answer, frame, |answer| answer.element(item));
        writer.derived(derived, write).map_err(disconnected)?;
    }
    ctx.reader = Some(writer.reader);
    Ok(())
}

/// Writes something, with an action around it where there is one.
fn framed(
    answer: &mut dyn Answer,
    frame: Option<&'static str>,
    write: impl FnOnce(&mut dyn Answer) -> io::Result<()>,
) -> io::Result<()> {
    let Some(frame) = frame else { return write(answer) };
    answer.action(Action::Begin(frame))?;
    write(answer)?;
    answer.action(Action::End)
}

fn counts(ctx: &Context, set: &Set, with_id: bool) -> Counts {
    Counts {
        with_id,
        nodes: set.nodes.len() as u64,
        ways: set.ways.len() as u64,
        relations: set.relations.len() as u64,
        areas: uses_areas(&ctx.script.statements).then_some(set.areas.len() as u64),
    }
}

/// Ids and ordinals in the order of the answer, at most `limit` of them.
fn ordered(
    reader: &mut Reader<'_>,
    kind: ElementType,
    list: &[Ordinal],
    order: Order,
    limit: u64,
) -> Vec<(i64, Ordinal)> {
    if limit == 0 || list.is_empty() {
        return Vec::new();
    }
    let mut pairs: Vec<(i64, Ordinal)> = match order {
        Order::Asc => {
            let mut pairs: Vec<(i64, Ordinal)> = if list.len() < 2 * IDS_AT_ONCE {
                list.iter().map(|&ordinal| (reader.id(kind, ordinal), ordinal)).collect()
            } else {
                let osm = reader.osm();
                let current = budget::current();
                let part = |part: &'_ [Ordinal]| current.share(|| osm.ids(kind, part).into_iter().zip(part.to_vec()));
                list.par_chunks(IDS_AT_ONCE).flat_map_iter(part).collect()
            };
            radix::sort(&mut pairs, |&(id, _)| radix::signed(id));
            pairs
        }
        Order::Quadtile => quadtile::keyed(reader, kind, list).into_iter().map(|(_, id, o)| (id, o)).collect(),
    };
    pairs.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    pairs
}

/// The ids of areas and their relations, in the order of the answer, at most `limit` of them.
fn areas(reader: &mut Reader<'_>, list: &[AreaOrdinal], order: Order, limit: u64) -> Vec<(i64, Ordinal)> {
    let known = reader.osm().areas();
    let mut keyed: Vec<(quadtile::Key, i64, Ordinal)> = list
        .iter()
        .filter_map(|&area| {
            let relation = known.relation(area)?;
            let key = match order {
                Order::Asc => quadtile::Key::default(),
                Order::Quadtile => quadtile::area_key(known.shape(reader.osm(), area).bbox()),
            };
            Some((key, RELATION_AREAS + reader.id(ElementType::Relation, relation), relation))
        })
        .collect();
    keyed.sort_unstable();
    keyed.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    keyed.into_iter().map(|(_, id, relation)| (id, relation)).collect()
}

/// Which parts of an element are written.
#[derive(Debug, Clone, Copy)]
struct WrittenParts {
    ids: bool,
    /// A node's position.
    skeleton: bool,
    /// A way's nodes, a relation's members.
    parts: bool,
    tags: bool,
    meta: bool,
    place: GeometryDetail,
    bbox: Option<BoundingBox>,
    /// Whether it is written what differs between two moments: boxes and centres then do not count what the output
    /// box hides, and centres are coordinates.
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
    fn of(out: &Out, projection: Projection) -> WrittenParts {
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
        let bbox =
            out.bbox.map(|syntax::BoundingBox { south, west, north, east }| BoundingBox { south, west, north, east });
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

    /// Whether the reference takes what is hidden or missing for a place in the far south-west.
    fn has_nowhere(&self) -> bool {
        self.place != GeometryDetail::Full && !self.differing
    }

    /// The centre of an element's box.
    fn center(&self, bounds: &BoundingBox) -> Position {
        let center = Position::plain_middle(bounds);
        if self.differing { center.encoded() } else { center }
    }

    /// Adds what is shown of a line to an extent. Where only the box or the centre is asked for, the reference takes
    /// what the output box hides for a place in the far south-west.
    fn add_line(&self, extent: &mut Extent, line: &[Coord]) {
        let hidden = if self.bbox.is_some() && self.has_nowhere() { Extent::NULL } else { Coord::MISSING };
        line.iter().for_each(|&c| extent.add(if c.is_missing() { hidden } else { c }));
    }
}

/// Memory used for one element after another.
#[derive(Default)]
struct Scratch {
    pairs: Vec<PairId>,
    tags: Tags,
    nodes: Vec<i64>,
    geometry: Vec<Coord>,
    /// The positions of the nodes of all members that are ways.
    lines: Vec<Coord>,
    members: Vec<LocatedMember>,
}

/// Type, id, role and place of a member.
type LocatedMember = (ElementType, i64, u32, Located);

/// Where a member is: a range is one of [`Scratch::lines`].
#[derive(Debug, Clone, Copy)]
enum Located {
    No,
    Point(Coord),
    Line(usize, usize),
}

struct Writer<'a> {
    reader: Reader<'a>,
    shown: WrittenParts,
    scratch: Scratch,
}

impl Writer<'_> {
    /// Gathers what is to be written of an element and hands it to `write`.
    fn element<R>(&mut self, kind: ElementType, ordinal: Ordinal, id: i64, write: impl FnOnce(&Item<'_>) -> R) -> R {
        budget::checkpoint();
        let Writer { reader, shown, scratch } = self;
        let osm = reader.osm();
        let mut item = Item { type_name: kind.name(), id: shown.ids.then_some(id), ..Item::default() };
        if shown.meta {
            item.meta = Some(meta(reader, kind, ordinal));
        }
        if shown.tags {
            tags(reader, kind, ordinal, &mut scratch.pairs, &mut scratch.tags);
            item.tags = Some(&scratch.tags);
        }
        let mut bounds = None;
        let mut members = Vec::new();
        match kind {
            ElementType::Node => {
                if shown.skeleton || shown.place != GeometryDetail::None {
                    item.position = Some(reader.coord(ordinal));
                }
            }
            ElementType::Way => {
                if shown.parts {
                    scratch.nodes.clear();
                    reader.way_nodes(ordinal, &mut scratch.nodes);
                    item.nodes = Some(&scratch.nodes);
                }
                if shown.place != GeometryDetail::None {
                    let (page, slot) = reader.way(ordinal);
                    scratch.geometry.clear();
                    cut(page.coords(slot), shown.bbox.as_ref(), &mut scratch.geometry);
                    let mut extent = Extent::EMPTY;
                    shown.add_line(&mut extent, &scratch.geometry);
                    bounds = if shown.place == GeometryDetail::Full { extent.around() } else { extent.plain() };
                    if shown.place == GeometryDetail::Full {
                        item.geometry = Some(&scratch.geometry);
                    }
                }
            }
            ElementType::Relation => {
                let extent = relation(reader, *shown, ordinal, &mut scratch.members, &mut scratch.lines);
                bounds = if shown.place == GeometryDetail::Full { extent.around() } else { extent.turned() };
                if shown.differing && matches!(shown.place, GeometryDetail::Center | GeometryDetail::Bounds) {
                    bounds = bounds.or(Some(Extent::NOWHERE));
                }
                if shown.parts {
                    members.extend(scratch.members.iter().map(|&(kind, id, role, located)| MemberItem {
                        kind,
                        id,
                        role: osm.role(role),
                        geometry: match located {
                            Located::No => MemberGeometry::None,
                            Located::Point(c) => MemberGeometry::Point(c),
                            Located::Line(from, to) => MemberGeometry::Line(&scratch.lines[from..to]),
                        },
                    }));
                    item.members = Some(&members);
                }
            }
        }
        if let Some(bounds) = bounds {
            match shown.place {
                GeometryDetail::Center => item.center = Some(shown.center(&bounds)),
                GeometryDetail::Bounds | GeometryDetail::Full => {
                    item.bounds = Some(bounds);
                    item.label = Some(Position::middle(&bounds));
                }
                GeometryDetail::None => {}
            }
        }
        write(&item)
    }

    /// The same for the id and the metadata alone.
    fn bare<R>(&mut self, kind: ElementType, ordinal: Ordinal, id: i64, write: impl FnOnce(&Item<'_>) -> R) -> R {
        let mut item = Item { type_name: kind.name(), id: self.shown.ids.then_some(id), ..Item::default() };
        if self.shown.meta {
            item.meta = Some(meta(&mut self.reader, kind, ordinal));
        }
        write(&item)
    }

    /// The same for what the block of a `compare` knows of an element that only came into the set. The reference
    /// shows ways with a box that is nowhere.
    fn nameless<R>(&self, kind: ElementType, id: i64, write: impl FnOnce(&Item<'_>) -> R) -> R {
        const NOWHERE: BoundingBox =
            BoundingBox { south: 1_000_000_000, west: 2_000_000_000, north: 1_000_000_000, east: 2_000_000_000 };
        let boxed = kind == ElementType::Way && self.shown.place == GeometryDetail::Full;
        let bounds = boxed.then_some(NOWHERE);
        write(&Item { type_name: kind.name(), id: self.shown.ids.then_some(id), bounds, ..Item::default() })
    }

    /// An area is its id and the tags of its relation.
    fn area(
        &mut self,
        ctx: &mut Context,
        frame: Option<&'static str>,
        relation: Ordinal,
        id: i64,
    ) -> Result<(), Failure> {
        let mut item = Item { type_name: "area", id: self.shown.ids.then_some(id), ..Item::default() };
        if self.shown.tags {
            let Scratch { pairs, tags: to, .. } = &mut self.scratch;
            tags(&mut self.reader, ElementType::Relation, relation, pairs, to);
            item.tags = Some(&self.scratch.tags);
        }
        framed(ctx.answer, frame, |answer| answer.element(&item)).map_err(disconnected)
    }

    /// Gathers what is to be written of a derived element and hands it to `write`.
    fn derived<R>(&mut self, derived: &Derived, write: impl FnOnce(&Item<'_>) -> R) -> R {
        let shown = self.shown;
        let tags = &mut self.scratch.tags;
        let mut item = Item { type_name: &derived.type_name, id: shown.ids.then_some(derived.id), ..Item::default() };
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

fn meta<'a>(reader: &mut Reader<'a>, kind: ElementType, ordinal: Ordinal) -> Meta<'a> {
    let meta = reader.meta(kind, ordinal);
    Meta {
        version: meta.version,
        timestamp: meta.timestamp,
        changeset: meta.changeset,
        uid: meta.uid,
        user: reader.osm().user_name(meta.user),
    }
}

fn tags(reader: &mut Reader<'_>, kind: ElementType, ordinal: Ordinal, pairs: &mut Vec<PairId>, to: &mut Tags) {
    to.clear();
    pairs.clear();
    pairs.extend_from_slice(reader.tags(kind, ordinal));
    for &pair in pairs.iter() {
        let (key, value) = reader.tag_text(pair);
        to.push(key, value);
    }
}

/// Lists the members of a relation and the lines of those that are ways; gives the box of what is shown of them.
fn relation(
    reader: &mut Reader<'_>,
    shown: WrittenParts,
    ordinal: Ordinal,
    members: &mut Vec<LocatedMember>,
    lines: &mut Vec<Coord>,
) -> Extent {
    let mut extent = Extent::EMPTY;
    members.clear();
    lines.clear();
    if !shown.parts && shown.place == GeometryDetail::None {
        return extent;
    }
    let (page, slot) = reader.relation(ordinal);
    for member in page.members(slot) {
        let mut located = Located::No;
        if shown.place != GeometryDetail::None {
            match (member.kind, member.element.ordinal()) {
                (ElementType::Node, node) => {
                    let coord = node.map(|node| reader.coord(node));
                    match coord.filter(|&c| shown.bbox.is_none_or(|bbox| bbox.contains(c))) {
                        Some(c) => {
                            extent.add(c);
                            located = Located::Point(c);
                        }
                        None if shown.has_nowhere() => extent.add(Extent::NULL),
                        None => {}
                    }
                }
                (ElementType::Way, Some(way)) => {
                    let from = lines.len();
                    let (page, slot) = reader.way(way);
                    member_line(page.coords(slot), shown.bbox.as_ref(), lines);
                    shown.add_line(&mut extent, &lines[from..]);
                    located = Located::Line(from, lines.len());
                }
                (ElementType::Way, None) => located = Located::Line(0, 0),
                _ => {}
            }
        }
        if shown.parts {
            let id = reader.ref_id(member.kind, member.element);
            members.push((
                member.kind,
                id,
                member.role,
                if shown.place == GeometryDetail::Full { located } else { Located::No },
            ));
        }
    }
    extent
}

/// Adds the line of a member to `to`. With a box, only the points in it and their neighbours keep their position; of a
/// line that is far from it nothing is added.
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

/// Adds a line to `to`. With a box, only the ends of segments that meet it keep their position.
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
