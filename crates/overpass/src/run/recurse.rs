//! Runs `>`, `>>`, `<`, `<<`.
//!
//! The start elements are in the result only if they are reached again. As in the reference, all recursions except `>`
//! also keep the relations they start from.

use super::topology::{MemberRole, Topology};
use super::{RunContext, date};
use crate::set::ElementSet;
use crate::sorted;
use crate::syntax::{Recurse, RecurseAll, Recursion};
use terrapin_osm::ElementType::{Node, Way};
use terrapin_osm::{ElementType, Ordinal};

/// Runs the statement.
pub fn run(ctx: &mut RunContext, Recursion { kind, from, into }: &Recursion) {
    let from = ctx.set(from);
    let topology = Topology::new(ctx);
    let result = match kind {
        Recurse::Down => down(&topology, &from),
        Recurse::DownRel => down_rel(&topology, &from),
        Recurse::Up => up(&topology, &from),
        Recurse::UpRel => up_rel(&topology, &from),
    };
    let result = date::restrict(ctx, result);
    ctx.assign(into, result);
}

/// Returns the elements of one type that a recursion reaches as a filter of a query. As in the reference, unlike the
/// statement, it goes down only from relations, and only `up-rel` keeps them.
pub fn as_filter(ctx: &RunContext, filter: &RecurseAll, wanted: ElementType) -> Vec<Ordinal> {
    let from = ctx.set(&filter.set);
    let topology = Topology::new(ctx);
    let above = ElementSet { relations: from.relations.clone(), ..ElementSet::default() };
    let below = ElementSet { nodes: from.nodes.clone(), ways: from.ways.clone(), ..ElementSet::default() };
    let mut found = match filter.kind {
        Recurse::Down => down(&topology, &above),
        Recurse::DownRel => down_rel(&topology, &above),
        Recurse::Up => up(&topology, &below),
        Recurse::UpRel => up_rel(&topology, &from),
    };
    std::mem::take(found.part_mut(wanted))
}

/// Returns the nodes of the ways, the nodes and ways of the relations, and the nodes of those ways.
fn down(topology: &Topology, from: &ElementSet) -> ElementSet {
    let ways = topology.members(&from.relations, Way, MemberRole::Any, &[]);
    let nodes = topology.members(&from.relations, Node, MemberRole::Any, &[]);
    let all_ways = sorted::union(&from.ways, &ways);
    let way_nodes = topology.nodes_of_ways(&all_ways, &[]);
    ElementSet { nodes: sorted::union(&nodes, &way_nodes), ways, ..ElementSet::default() }
}

/// Like [`down`], also through relations of relations.
fn down_rel(topology: &Topology, from: &ElementSet) -> ElementSet {
    let relations = topology.relations_below(&from.relations);
    let all = ElementSet {
        relations: sorted::union(&from.relations, &relations),
        ways: from.ways.clone(),
        ..ElementSet::default()
    };
    let below = down(topology, &all);
    ElementSet { relations: all.relations, ..below }
}

/// Returns the ways of the nodes, and the relations of the nodes and of the ways.
fn up(topology: &Topology, from: &ElementSet) -> ElementSet {
    let ways = topology.ways_of_nodes(&from.nodes, &[]);
    let all_ways = sorted::union(&from.ways, &ways);
    let of_nodes = topology.relations_of(Node, &from.nodes, MemberRole::Any, &[]);
    let of_ways = topology.relations_of(Way, &all_ways, MemberRole::Any, &[]);
    let relations = sorted::union(&from.relations, &sorted::union(&of_nodes, &of_ways));
    ElementSet { ways, relations, ..ElementSet::default() }
}

/// Like [`up`], also through relations of relations.
fn up_rel(topology: &Topology, from: &ElementSet) -> ElementSet {
    let mut set = up(topology, from);
    let above = topology.relations_above(&set.relations);
    set.relations = sorted::union(&set.relations, &above);
    set
}
