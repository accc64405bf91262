//! Runs `local`: splits a set into pieces that a tile renderer can process one by one. Found by experiment.
//!
//! A node becomes a `vertex`. A way is cut into `link`s at every position that ways pass more than once, even if they
//! use different nodes there. A node of the set with tags counts as one more pass. A relation becomes the pieces of its
//! members, called `trigraph`s. Each names the piece before and after it, and ways are reversed if they then continue
//! each other. Elements without tags are left out. Pieces with the same ends in the same direction are numbered. Only
//! the ways of the set, those of its relations, and ways without other nodes are counted for this.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::filters::in_box;
use super::topology::{MemberRole, Topology};
use super::{RunContext, moment};
use crate::plan::{BoxRegion, SearchRegion};
use crate::quadtile;
use crate::reader::StoreReader;
use crate::set::{DegreePosition, Derived, DerivedGeometry, ElementSet};
use crate::sorted;
use crate::syntax::{Local, LocalDetail};
use terrapin_base::deferred::Deferred;
use terrapin_budget as budget;
use terrapin_osm::ElementType::{Node, Relation, Way};
use terrapin_osm::history::changed_since;
use terrapin_osm::{Coord, ElementRef, ElementType, Ordinal, RelationMember};

/// The number of elements processed between two checks of the budget.
const STEP: usize = 256;

/// Runs the statement.
pub fn run(ctx: &mut RunContext, Local { from, into, detail, bbox }: &Local) {
    let set = ctx.set(from);
    let cuts = Cuts::of(ctx, &set);
    let mut pieces = WayPieces {
        reader: StoreReader::new(ctx.osm),
        cuts,
        refs: *detail == LocalDetail::Llb,
        relations: *detail != LocalDetail::Full,
        changed: set.ways.iter().any(|way| changed_since(ctx.osm, Way).binary_search(way).is_ok()),
        bbox: bbox.as_ref().map(in_box),
        last_id: ctx.last_derived_id,
        made: Deferred::default(),
    };
    for kind in ElementType::ALL {
        let ordered = quadtile::keyed(&mut pieces.reader, kind, set.part(kind));
        for (step, (_, id, ordinal)) in ordered.into_iter().enumerate() {
            if step.is_multiple_of(STEP) {
                budget::work(STEP);
                budget::ensure_memory(pieces.bytes());
            }
            match kind {
                Node => pieces.vertex(ordinal, id),
                Way => pieces.links(ordinal, id),
                Relation => pieces.trigraphs(ordinal, id),
            }
        }
    }
    ctx.last_derived_id = pieces.last_id;
    ctx.assign(
        into,
        ElementSet { derived: pieces.made.take().into_iter().map(Arc::new).collect(), ..ElementSet::default() },
    );
}

/// A sortable position: latitude and longitude.
type Spot = (i32, i32);

/// The first and the last node of a piece.
type Ends = (ElementRef, ElementRef);

/// The positions at which ways are cut, and the numbers of pieces with the same ends.
struct Cuts {
    /// The positions that ways pass more than once, ascending.
    shared: Vec<Spot>,
    /// The numbered pieces by their ends: way, and index of the piece in it.
    numbered: BTreeMap<Ends, Vec<(Ordinal, usize)>>,
    /// The numbers of nodes that share a position, from 1, in order of id.
    twins: BTreeMap<Ordinal, usize>,
}

/// Returns the positions of the nodes in ways that were created after the query's date and still exist. As in the
/// reference, ways are also cut there.
fn later_ways(ctx: &RunContext, reader: &mut StoreReader<'_>, nodes: &[Ordinal]) -> Vec<Spot> {
    let Some(now) = moment::elsewhere(Node, nodes, ctx.osm, ctx.current) else { return Vec::new() };
    let ways = ctx.current.ways_of_nodes(&now);
    budget::work(ways.len());
    let mut current = StoreReader::new(ctx.current);
    let mut spots = Vec::new();
    for (id, &way) in ctx.current.ids(Way, &ways).into_iter().zip(&ways) {
        if ctx.osm.find(Way, id).is_some() {
            continue;
        }
        let (page, slot) = current.way(way);
        let known =
            page.nodes(slot).iter().filter_map(|node| node.ordinal()).filter(|node| sorted::contains(&now, *node));
        for node in known.collect::<Vec<_>>() {
            let then = ctx.osm.find(Node, current.id(Node, node));
            spots.extend(then.map(|node| spot(reader.coord(node))));
        }
    }
    spots
}

impl Cuts {
    fn of(ctx: &RunContext, set: &ElementSet) -> Cuts {
        let topology = Topology::new(ctx);
        let members = topology.members(&set.relations, Way, MemberRole::Any, &[]);
        let nodes = topology.nodes_of_ways(&sorted::union(&set.ways, &members), &[]);
        let nodes = sorted::union(&set.nodes, &nodes);
        let mut reader = StoreReader::new(ctx.osm);
        // As in the reference, ways that are hidden at the query's date also count.
        let ways = topology.ways_of_nodes(&nodes, &[]);
        let mut passed: Vec<Spot> = Vec::new();
        for (step, &way) in ways.iter().enumerate() {
            if step.is_multiple_of(STEP) {
                budget::work(STEP);
                budget::ensure_memory((passed.len() * size_of::<Spot>()) as u64);
            }
            let (page, slot) = reader.way(way);
            let known = |node: &ElementRef| node.ordinal().is_some_and(|node| sorted::contains(&nodes, node));
            let places = page.nodes(slot).iter().zip(page.coords(slot));
            passed.extend(places.filter(|(node, _)| known(node)).map(|(_, &c)| spot(c)));
        }
        passed.extend(later_ways(ctx, &mut reader, &nodes));
        for &node in &set.nodes {
            if !reader.tags(Node, node).is_empty() {
                passed.push(spot(reader.coord(node)));
            }
        }
        passed.sort_unstable_by(|a, b| {
            budget::checkpoint();
            a.cmp(b)
        });
        let shared = passed.chunk_by(|a, b| a == b).filter(|run| run.len() > 1).filter_map(|run| run.first().copied());
        let mut cuts = Cuts { shared: shared.collect(), numbered: BTreeMap::new(), twins: twins(ctx, &nodes) };
        cuts.number(ctx, &mut reader, &nodes, &ways);
        cuts
    }

    /// Numbers the pieces of the ways that consist only of these nodes, in order of the ways' ids.
    fn number(&mut self, ctx: &RunContext, reader: &mut StoreReader<'_>, nodes: &[Ordinal], ways: &[Ordinal]) {
        let mut by_id: Vec<(i64, Ordinal)> = ctx.osm.ids(Way, ways).into_iter().zip(ways.iter().copied()).collect();
        by_id.sort_unstable();
        for (step, (_, way)) in by_id.into_iter().enumerate() {
            if step.is_multiple_of(STEP) {
                budget::work(STEP);
                budget::ensure_memory((self.numbered.len() * 96) as u64);
            }
            let (page, slot) = reader.way(way);
            let refs = page.nodes(slot);
            if !refs.iter().filter_map(|r| r.ordinal()).all(|node| sorted::contains(nodes, node)) {
                continue;
            }
            for (place, piece) in self.pieces(page.coords(slot)).into_iter().enumerate() {
                if let Some(ends) = ends(refs, piece) {
                    self.numbered.entry(ends).or_default().push((way, place));
                }
            }
        }
        self.numbered.retain(|_, list| list.len() > 1);
    }

    /// Returns the pieces of a way: first and last index.
    fn pieces(&self, line: &[Coord]) -> Vec<(usize, usize)> {
        let mut pieces = Vec::new();
        let Some(last) = line.len().checked_sub(1) else { return pieces };
        let mut first = 0;
        for (at, &coord) in line.iter().enumerate().take(last).skip(1) {
            if self.shared.binary_search(&spot(coord)).is_ok() {
                pieces.push((first, at));
                first = at;
            }
        }
        pieces.push((first, last));
        pieces
    }

    /// Returns the number of a piece, from 1.
    fn number_of(&self, ends: Option<Ends>, way: Ordinal, place: usize) -> Option<usize> {
        let list = self.numbered.get(&ends?)?;
        list.iter().position(|&piece| piece == (way, place)).map(|at| at + 1)
    }
}

fn ends(refs: &[ElementRef], (first, last): (usize, usize)) -> Option<Ends> {
    Some((*refs.get(first)?, *refs.get(last)?))
}

fn spot(c: Coord) -> Spot {
    (c.lat, c.lon)
}

/// Returns the numbers of the nodes that share their position with another one of them.
fn twins(ctx: &RunContext, nodes: &[Ordinal]) -> BTreeMap<Ordinal, usize> {
    let spots = ctx.osm.coords(nodes).into_iter().map(spot);
    let ids = ctx.osm.ids(Node, nodes).into_iter();
    let mut all: Vec<(Spot, i64, Ordinal)> =
        spots.zip(ids).zip(nodes).map(|((spot, id), &node)| (spot, id, node)).collect();
    all.sort_unstable_by(|a, b| {
        budget::checkpoint();
        a.cmp(b)
    });
    let groups = all.chunk_by(|a, b| a.0 == b.0).filter(|group| group.len() > 1);
    groups.flat_map(|group| group.iter().enumerate().map(|(at, &(_, _, node))| (node, at + 1))).collect()
}

/// A builder of pieces.
struct WayPieces<'a> {
    reader: StoreReader<'a>,
    cuts: Cuts,
    /// Whether pieces name the elements that they are made from. If so, elements without tags also become pieces.
    refs: bool,
    /// Whether members that are relations also become pieces, without a geometry.
    relations: bool,
    /// Whether a way of the set, or one of its nodes, has changed since the query's date. As in the reference, if none
    /// has, relations that have changed themselves or in their members make no pieces.
    changed: bool,
    bbox: Option<BoxRegion>,
    last_id: i64,
    made: Deferred<Vec<Derived>>,
}

/// A piece of a way: its line and its number.
struct WayPiece {
    line: Vec<Coord>,
    number: Option<usize>,
    /// The number of its first node among those at the same position; `to` is that of its last node.
    from: Option<usize>,
    to: Option<usize>,
}

impl WayPieces<'_> {
    fn vertex(&mut self, node: Ordinal, id: i64) {
        let coord = self.reader.coord(node);
        let mut tags = self.tags(Node, node);
        if (tags.is_empty() && !self.refs) || self.hides(&[coord]) {
            return;
        }
        if self.refs {
            tags.push(("_node_ref".to_owned(), id.to_string()));
        }
        tags.extend(self.cuts.twins.get(&node).map(|number| ("_local_id".to_owned(), number.to_string())));
        self.push("vertex", tags, Some(DerivedGeometry::Point(coord.into())));
    }

    fn links(&mut self, way: Ordinal, id: i64) {
        let mut common = self.tags(Way, way);
        if common.is_empty() && !self.refs {
            return;
        }
        if self.refs {
            common.push(("_way_ref".to_owned(), id.to_string()));
        }
        for piece in self.pieces_of(way).into_iter().flatten() {
            let mut tags = common.clone();
            for (key, number) in [("_local_id", piece.number), ("_local_from", piece.from), ("_local_to", piece.to)] {
                tags.extend(number.map(|number| (key.to_owned(), number.to_string())));
            }
            self.push("link", tags, Some(line(&piece.line)));
        }
    }

    fn trigraphs(&mut self, relation: Ordinal, id: i64) {
        if !self.changed && changed_since(self.reader.osm(), Relation).binary_search(&relation).is_ok() {
            return;
        }
        let mut common = self.tags(Relation, relation);
        if common.is_empty() && !self.refs {
            return;
        }
        if self.refs {
            common.push(("_relation_ref".to_owned(), id.to_string()));
        }
        let mut first = self.made.len();
        let (page, slot) = self.reader.relation(relation);
        let turned = self.turned(page.members(slot));
        for (member, turned) in page.members(slot).iter().zip(turned) {
            let child = self.refs.then(|| self.reader.ref_id(member.kind, member.element).to_string());
            let child = |name: &str| child.clone().map(|id| (name.to_owned(), id));
            match (member.kind, member.element.ordinal()) {
                (Node, node) => {
                    let coord = node.map(|node| self.reader.coord(node));
                    let hidden = coord.map_or(self.bbox.is_some(), |coord| self.hides(&[coord]));
                    if hidden {
                        first = self.made.len();
                    } else {
                        let mut tags = common.clone();
                        tags.extend(child("_child_node_ref"));
                        self.chain(
                            first,
                            tags,
                            Some(DerivedGeometry::Point(coord.map_or(DegreePosition::UNKNOWN, DegreePosition::from))),
                        );
                    }
                }
                // The pieces before and after a missing or hidden one do not name each other.
                (Way, None) => first = self.made.len(),
                (Way, Some(ordinal)) => {
                    let mut pieces = self.pieces_of(ordinal);
                    if turned {
                        pieces.reverse();
                        for piece in pieces.iter_mut().flatten() {
                            piece.line.reverse();
                            std::mem::swap(&mut piece.from, &mut piece.to);
                        }
                    }
                    for piece in pieces {
                        let Some(piece) = piece else {
                            first = self.made.len();
                            continue;
                        };
                        let mut tags = common.clone();
                        tags.extend(child("_child_way_ref"));
                        let local = [
                            ("_local_ref", piece.number),
                            ("_vertex_local_from", piece.from),
                            ("_vertex_local_to", piece.to),
                        ];
                        for (key, number) in local {
                            tags.extend(number.map(|number| (key.to_owned(), number.to_string())));
                        }
                        self.chain(first, tags, Some(line(&piece.line)));
                    }
                }
                (Relation, _) if self.relations => {
                    let mut tags = common.clone();
                    tags.extend(child("_child_relation_ref"));
                    self.chain(first, tags, None);
                }
                (Relation, _) => {}
            }
        }
    }

    /// Returns which members are ways that must be reversed to continue the way before. Members of other types between
    /// them do not matter.
    fn turned(&mut self, members: &[RelationMember]) -> Vec<bool> {
        let mut ends_of = |member: &RelationMember| -> Option<Ends> {
            let way = member.element.ordinal().filter(|_| member.kind == Way)?;
            let (page, slot) = self.reader.way(way);
            // Hidden pieces count as missing.
            let pieces = self.cuts.pieces(page.coords(slot)).into_iter();
            let mut shown = pieces.filter(|&(first, last)| {
                let line = page.coords(slot).get(first..=last).unwrap_or_default();
                !line.iter().all(|c| c.is_missing()) && !self.hides(line)
            });
            let (first, last) = shown.next()?;
            let last = shown.next_back().map_or(last, |(_, last)| last);
            Some((*page.nodes(slot).get(first)?, *page.nodes(slot).get(last)?))
        };
        let ends: Vec<Option<Ends>> = members.iter().map(&mut ends_of).collect();
        let mut turned = Vec::with_capacity(members.len());
        let mut reached = None;
        for (at, (own, member)) in ends.iter().zip(members).enumerate() {
            let Some((first, last)) = *own else {
                turned.push(false);
                if member.kind == Way {
                    reached = None;
                }
                continue;
            };
            let next = ends.get(at + 1).copied().flatten();
            let meets_next = |node: ElementRef| next.is_some_and(|(a, b)| node == a || node == b);
            let turn = if reached == Some(first) {
                false
            } else if reached == Some(last) {
                true
            } else {
                !meets_next(last) && meets_next(first)
            };
            reached = Some(if turn { first } else { last });
            turned.push(turn);
        }
        turned
    }

    /// Adds a piece of a relation whose pieces start at index `first`, and links it with the one before.
    fn chain(&mut self, first: usize, mut tags: Vec<(String, String)>, geometry: Option<DerivedGeometry>) {
        let next = self.last_id + 1;
        let chained = self.made.len() > first;
        if let Some(previous) = self.made.last_mut().filter(|_| chained) {
            previous.tags.push(("_next".to_owned(), next.to_string()));
            tags.push(("_previous".to_owned(), previous.id.to_string()));
        }
        self.push("trigraph", tags, geometry);
    }

    fn push(&mut self, type_name: &str, mut tags: Vec<(String, String)>, geometry: Option<DerivedGeometry>) {
        budget::checkpoint();
        self.last_id += 1;
        tags.sort();
        let type_name = type_name.to_owned();
        self.made.push(Derived { type_name, id: self.last_id, tags, geometry });
    }

    /// Returns the pieces of a way; `None` for hidden ones.
    fn pieces_of(&mut self, way: Ordinal) -> Vec<Option<WayPiece>> {
        let (page, slot) = self.reader.way(way);
        let (refs, coords) = (page.nodes(slot), page.coords(slot));
        let mut pieces = Vec::new();
        for (place, (first, last)) in self.cuts.pieces(coords).into_iter().enumerate() {
            let line = coords.get(first..=last).unwrap_or_default();
            let line: Vec<Coord> = line.iter().copied().filter(|c| !c.is_missing()).collect();
            if line.is_empty() || self.hides(&line) {
                pieces.push(None);
            } else {
                let ends = ends(refs, (first, last));
                let number = self.cuts.number_of(ends, way, place);
                let twin = |node: ElementRef| self.cuts.twins.get(&node.ordinal()?).copied();
                let (from, to) = ends.map_or((None, None), |(first, last)| (twin(first), twin(last)));
                pieces.push(Some(WayPiece { line, number, from, to }));
            }
        }
        pieces
    }

    /// Returns whether a line is outside the statement's box.
    fn hides(&self, line: &[Coord]) -> bool {
        self.bbox.as_ref().is_some_and(|bbox| match line {
            // Compared with the box like a node of a relation, not like a node in a query.
            [one] => !bbox.counts_for_relations(*one),
            line => !bbox.has_way(line),
        })
    }

    fn tags(&mut self, kind: ElementType, ordinal: Ordinal) -> Vec<(String, String)> {
        let pairs = self.reader.tags(kind, ordinal).to_vec();
        let text = |pair| {
            let (key, value) = self.reader.tag_text(pair);
            (key.to_owned(), value.to_owned())
        };
        pairs.into_iter().map(text).collect()
    }

    /// Returns the approximate size of the derived elements in bytes.
    fn bytes(&self) -> u64 {
        let each = self.made.last().map_or(0, Derived::bytes);
        each * self.made.len() as u64
    }
}

fn line(coords: &[Coord]) -> DerivedGeometry {
    DerivedGeometry::Line(coords.iter().map(|&c| DegreePosition::from(c)).collect())
}
