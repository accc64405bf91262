//! Follows references between elements, down and up: the basis of recursions.

use rayon::prelude::*;

use super::RunContext;
use crate::sorted;
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal, Osm};

/// The number of pages that a thread takes at once.
const PAGES_AT_ONCE: usize = 16;
/// The minimum number of pages to use several threads.
const PARALLEL_PAGES: usize = 48;

/// The number of elements whose ways or relations are looked up between two checks of the budget.
const LOOKED_UP_AT_ONCE: usize = 1 << 16;

/// Returns whether index `index` (from 0) of a list of length `len` is one of the positions. An empty list of positions
/// means all.
fn at_position(positions: &[i64], index: usize, len: usize) -> bool {
    let absolute = |p: i64| if p < 0 { p.saturating_add(len as i64).saturating_add(1) } else { p };
    let place = index as i64 + 1;
    positions.is_empty() || positions.iter().any(|&position| absolute(position) == place)
}

/// The work on the elements of one page: page number, slots, output.
type PageWork<'a> = dyn Fn(u32, &mut dyn Iterator<Item = usize>, &mut Vec<Ordinal>) + Sync + 'a;

/// Runs `f` on the elements of a list page by page. Returns the set of elements that it appends.
fn over_pages(osm: &Osm, kind: ElementType, list: &[Ordinal], f: &PageWork) -> Vec<Ordinal> {
    let size = osm.page_size(kind);
    let runs = sorted::pages(list, size);
    let some = |runs: &[(u32, std::ops::Range<usize>)]| {
        let mut out = Vec::new();
        for (page, range) in runs {
            let before = out.len();
            let slots = list.get(range.clone()).unwrap_or_default();
            f(*page, &mut slots.iter().map(|&o| (o % size) as usize), &mut out);
            budget::work(out.len() - before);
        }
        out
    };
    let found = if runs.len() < PARALLEL_PAGES {
        some(&runs)
    } else {
        let current = budget::current();
        let parts: Vec<Vec<Ordinal>> =
            runs.par_chunks(PAGES_AT_ONCE).map(|runs| current.share(|| some(runs))).collect();
        parts.concat()
    };
    budget::ensure_memory(found.len() as u64 * size_of::<Ordinal>() as u64);
    sorted::from_unsorted(found)
}

/// A view of the references between elements, for one running query.
pub struct Topology<'a> {
    osm: &'a Osm,
}

impl<'a> Topology<'a> {
    /// Creates a view of the query's data, within its limits.
    pub fn new(ctx: &RunContext<'a>) -> Topology<'a> {
        Topology { osm: ctx.osm }
    }

    /// Returns the nodes of ways, all or those at some positions.
    pub fn nodes_of_ways(&self, ways: &[Ordinal], positions: &[i64]) -> Vec<Ordinal> {
        over_pages(self.osm, ElementType::Way, ways, &|page, slots, out| {
            let page = self.osm.way_page(page);
            for slot in slots {
                let nodes = page.nodes(slot);
                if positions.is_empty() {
                    out.extend(nodes.iter().filter_map(|n| n.ordinal()));
                } else {
                    let placed = nodes.iter().enumerate().filter(|(i, _)| at_position(positions, *i, nodes.len()));
                    out.extend(placed.filter_map(|(_, n)| n.ordinal()));
                }
            }
        })
    }

    /// Returns the nodes of ways, ascending. Each is repeated as often as ways contain it; with `links`, as often as a
    /// segment of one of the ways starts or ends there.
    pub fn uses_of_nodes(&self, ways: &[Ordinal], links: bool) -> Vec<Ordinal> {
        let size = self.osm.page_size(ElementType::Way);
        let (mut uses, mut own) = (Vec::new(), Vec::new());
        for (page, range) in sorted::pages(ways, size) {
            let page = self.osm.way_page(page);
            budget::work(range.len());
            for &way in ways.get(range).unwrap_or_default() {
                let nodes = page.nodes((way % size) as usize);
                if links {
                    let starts = nodes.iter().take(nodes.len().saturating_sub(1));
                    uses.extend(starts.chain(nodes.iter().skip(1)).filter_map(|n| n.ordinal()));
                } else {
                    own.clear();
                    own.extend(nodes.iter().filter_map(|n| n.ordinal()));
                    own.sort_unstable();
                    own.dedup();
                    uses.append(&mut own);
                }
            }
            budget::ensure_memory(uses.len() as u64 * size_of::<Ordinal>() as u64);
        }
        uses.sort_unstable();
        uses
    }

    /// Returns the members of one type of relations, all or those with a role and at some positions.
    pub fn members(
        &self,
        relations: &[Ordinal],
        kind: ElementType,
        role: MemberRole,
        positions: &[i64],
    ) -> Vec<Ordinal> {
        if role == MemberRole::Unknown {
            return Vec::new();
        }
        over_pages(self.osm, ElementType::Relation, relations, &|page, slots, out| {
            let page = self.osm.relation_page(page);
            for slot in slots {
                let members = page.members(slot);
                let fitting = members.iter().enumerate().filter(|(i, m)| {
                    m.kind == kind && role.accepts(m.role) && at_position(positions, *i, members.len())
                });
                out.extend(fitting.filter_map(|(_, m)| m.element.ordinal()));
            }
        })
    }

    /// Returns the results of `find` for a list, ascending. Checks the limits between parts of the list.
    fn looked_up(&self, list: &[Ordinal], find: impl Fn(&[Ordinal]) -> Vec<Ordinal>) -> Vec<Ordinal> {
        let mut found = Vec::new();
        for part in list.chunks(LOOKED_UP_AT_ONCE) {
            budget::work(part.len());
            found.append(&mut find(part));
            budget::ensure_memory((found.len() * size_of::<Ordinal>()) as u64);
        }
        if list.len() > LOOKED_UP_AT_ONCE {
            found.sort_unstable();
            found.dedup();
        }
        found
    }

    /// Returns the ways that contain one of these nodes, anywhere or at some positions.
    pub fn ways_of_nodes(&self, nodes: &[Ordinal], positions: &[i64]) -> Vec<Ordinal> {
        let ways = self.looked_up(nodes, |part| self.osm.ways_of_nodes(part));
        if positions.is_empty() {
            return ways;
        }
        let size = self.osm.page_size(ElementType::Way);
        over_pages(self.osm, ElementType::Way, &ways, &|number, slots, out| {
            let page = self.osm.way_page(number);
            for slot in slots {
                let refs = page.nodes(slot);
                let has = |(i, n): (usize, &terrapin_osm::ElementRef)| {
                    n.ordinal().is_some_and(|o| sorted::contains(nodes, o)) && at_position(positions, i, refs.len())
                };
                if refs.iter().enumerate().any(has) {
                    out.push(u64::from(number) * size + slot as u64);
                }
            }
        })
    }

    /// Returns the relations that contain one of these elements as a member, in any role or in one, at any or at some
    /// positions.
    pub fn relations_of(
        &self,
        kind: ElementType,
        members: &[Ordinal],
        role: MemberRole,
        positions: &[i64],
    ) -> Vec<Ordinal> {
        if role == MemberRole::Unknown {
            return Vec::new();
        }
        let relations = self.looked_up(members, |part| self.osm.relations_of(kind, part));
        if role == MemberRole::Any && positions.is_empty() {
            return relations;
        }
        let size = self.osm.page_size(ElementType::Relation);
        over_pages(self.osm, ElementType::Relation, &relations, &|number, slots, out| {
            let page = self.osm.relation_page(number);
            for slot in slots {
                let list = page.members(slot);
                let has = |(i, m): (usize, &terrapin_osm::RelationMember)| {
                    m.kind == kind
                        && role.accepts(m.role)
                        && m.element.ordinal().is_some_and(|o| sorted::contains(members, o))
                        && at_position(positions, i, list.len())
                };
                if list.iter().enumerate().any(has) {
                    out.push(u64::from(number) * size + slot as u64);
                }
            }
        })
    }

    /// Returns the relations that are members of these, of those, and so on. The given relations are included only if
    /// they are members themselves.
    pub fn relations_below(&self, relations: &[Ordinal]) -> Vec<Ordinal> {
        self.closure(relations, |level| self.members(level, ElementType::Relation, MemberRole::Any, &[]))
    }

    /// Returns the relations that have these as members, and so on upwards.
    pub fn relations_above(&self, relations: &[Ordinal]) -> Vec<Ordinal> {
        self.closure(relations, |level| self.relations_of(ElementType::Relation, level, MemberRole::Any, &[]))
    }

    /// Returns the elements reached by one or more steps. Each element is expanded once, therefore cycles end.
    fn closure(&self, start: &[Ordinal], step: impl Fn(&[Ordinal]) -> Vec<Ordinal>) -> Vec<Ordinal> {
        let mut reached = Vec::new();
        let mut level = start.to_vec();
        while !level.is_empty() {
            budget::check();
            level = sorted::difference(&step(&level), &reached);
            reached = sorted::union(&reached, &level);
        }
        reached
    }
}

/// The role that a member must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberRole {
    /// Any role.
    Any,
    /// This role: [`Osm::role`].
    Known(u32),
    /// A role that no member in the data has.
    Unknown,
}

impl MemberRole {
    /// Returns the role of a filter.
    pub fn named(osm: &Osm, name: Option<&str>) -> MemberRole {
        match name {
            None => MemberRole::Any,
            Some(name) => osm.find_role(name).map_or(MemberRole::Unknown, MemberRole::Known),
        }
    }

    fn accepts(self, role: u32) -> bool {
        match self {
            MemberRole::Any => true,
            MemberRole::Known(known) => known == role,
            MemberRole::Unknown => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions() {
        let at = |position, index| at_position(&[position], index, 5);
        assert!(at(1, 0) && !at(1, 1));
        assert!(at(-1, 4) && !at(-1, 3));
        assert!(!at(0, 0));
        assert!(!at(i64::MIN, 0));
        assert!(at_position(&[2, -1], 1, 5) && at_position(&[2, -1], 4, 5) && !at_position(&[2, -1], 3, 5));
        assert!(at_position(&[], 3, 5));
    }
}
