//! The filters `(w)`, `(r)`, `(bn)`, `(bw)`, `(br)`, `(way_cnt)` and `(way_link)`.

use crate::run::RunContext;
use crate::run::topology::{MemberRole, Topology};
use crate::syntax::{RecurseFilter, RecurseFilterKind, WayCount};
use terrapin_osm::ElementType::{Node, Relation, Way};
use terrapin_osm::{ElementType, Ordinal};

/// Returns the elements of one type that pass a recursion filter.
pub fn elements(ctx: &RunContext, kind: ElementType, filter: &RecurseFilter) -> Vec<Ordinal> {
    let set = ctx.set(&filter.set);
    let topology = Topology::new(ctx);
    let role = MemberRole::named(ctx.osm, filter.role.as_deref());
    let positions = filter.positions.as_slice();
    match (filter.kind, kind) {
        (RecurseFilterKind::W, Node) => topology.nodes_of_ways(&set.ways, positions),
        (RecurseFilterKind::R, kind) => topology.members(&set.relations, kind, role, positions),
        (RecurseFilterKind::Bn | RecurseFilterKind::BnWr, Way) => topology.ways_of_nodes(&set.nodes, positions),
        (RecurseFilterKind::Bn | RecurseFilterKind::BnWr, Relation) => {
            topology.relations_of(Node, &set.nodes, role, positions)
        }
        (RecurseFilterKind::Bw, Relation) => topology.relations_of(Way, &set.ways, role, positions),
        (RecurseFilterKind::Br, Relation) => topology.relations_of(Relation, &set.relations, role, positions),
        _ => Vec::new(),
    }
}

/// Returns the nodes that are in a given number of ways; with `link`, those at which a given number of ways' segments
/// start or end.
pub fn counted(ctx: &RunContext, kind: ElementType, filter: &WayCount) -> Vec<Ordinal> {
    if kind != Node {
        return Vec::new();
    }
    let wanted = filter.lower..=filter.upper.unwrap_or(u64::MAX);
    let uses = Topology::new(ctx).uses_of_nodes(&ctx.set(&filter.set).ways, filter.link);
    let mut nodes = Vec::new();
    for run in uses.chunk_by(|a, b| a == b) {
        if let Some(&node) = run.first()
            && wanted.contains(&(run.len() as u64))
        {
            nodes.push(node);
        }
    }
    nodes
}
