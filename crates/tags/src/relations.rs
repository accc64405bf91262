//! Relation types (the values of the key `type` on relations) and the roles of their members. Counts of types are
//! lengths of posting lists. Roles are in no posting list; therefore the members of all relations with a type are
//! counted once, on several threads and within the budget of the caller. The result is cached.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use terrapin_budget as budget;
use terrapin_osm::{ElementType, Ordinal, Osm, PairId};

use super::TagStatistics;
use super::counts::{TypeCounts, Which, fraction};
use super::listed::{Listed, PageCollector, RowPage, sorted};
use super::needle::Needle;
use super::spans::reduce_spans;

/// The key with the type of a relation.
const TYPE: &str = "type";
/// Number of ordinals that one task counts.
const SPAN: u64 = 1 << 14;
/// Maximum number of cached entries, 13 MB. A larger list is counted again for each request.
const MOST: usize = 400_000;

/// A relation type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationType {
    /// The value of the key `type`.
    pub rtype: String,
    /// Number of relations.
    pub relations: u64,
}

/// A role in the relations of one type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberRole {
    /// The relation type.
    pub rtype: String,
    /// The role; may be empty.
    pub role: String,
    /// Number of members with this role, by the type of the member.
    pub members: TypeCounts,
}

/// The sort order of relation types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelationTypeSorting {
    /// Byte order of the types.
    Name,
    /// Number of relations; ties are in byte order.
    Count,
}

/// The sort order of roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleSorting {
    /// Byte order of the roles, then of the relation types.
    Role,
    /// Byte order of the relation types, then of the roles.
    Type,
    /// Number of members, of the selected types; ties are in byte order of relation type and role.
    Members(Which),
}

/// Filter, sort order and page of a list of roles.
#[derive(Debug, Clone, Copy)]
pub struct RolesWanted<'a> {
    /// The relation type; `None` for all.
    pub rtype: Option<&'a str>,
    /// Case-insensitive substring of the roles; empty for all.
    pub query: &'a str,
    /// Minimum share of the members of the relation type that have the role, from 0 to 1.
    pub min_fraction: f64,
    /// The sort order.
    pub sorting: RoleSorting,
    /// Whether the order is descending.
    pub descending: bool,
    /// The rows to return.
    pub part: RowPage,
}

/// The count of one role in the relations of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RoleEntry {
    rtype: PairId,
    role: u32,
    members: TypeCounts,
}

/// The roles in relations, by relation type. A request that needs them several times keeps them, because a long list is
/// not cached.
pub struct MemberRoles<'a> {
    osm: &'a Osm,
    /// By relation type, then by role, in byte order.
    entries: Arc<[RoleEntry]>,
}

/// Counts by relation type and role.
type RoleCounts = FxHashMap<(PairId, u32), TypeCounts>;

impl TagStatistics {
    /// Lists the relation types that contain `query`, ignoring case.
    pub fn relation_types(
        &self,
        query: &str,
        sorting: RelationTypeSorting,
        descending: bool,
        part: RowPage,
    ) -> Listed<RelationType> {
        let mut first = PageCollector::new(part);
        let needle = Needle::new(query);
        let Some(key) = self.osm.key(TYPE) else { return Listed { total: 0, rows: Vec::new() } };
        let from_end = descending && sorting == RelationTypeSorting::Name;
        self.osm.for_values(key, |pair, value| {
            let relations = self.osm.posting_len(ElementType::Relation, pair);
            if relations > 0 && needle.fits(value).is_some() {
                first.push(match sorting {
                    RelationTypeSorting::Name => (0, if descending { !pair } else { pair }),
                    RelationTypeSorting::Count => (sorted(relations, descending), pair),
                });
            }
        });
        first.listed().map(|(_, pair)| {
            let pair = if from_end { !pair } else { pair };
            let relations = self.osm.posting_len(ElementType::Relation, pair);
            RelationType { rtype: self.osm.with_value(pair, str::to_owned), relations }
        })
    }

    /// Returns the roles in relations. The first caller counts them within its budget.
    pub fn member_roles(&self) -> MemberRoles<'_> {
        MemberRoles { osm: &self.osm, entries: self.role_entries() }
    }

    fn role_entries(&self) -> Arc<[RoleEntry]> {
        if let Some(made) = self.roles.get() {
            return Arc::clone(made);
        }
        let counted = self.count_roles();
        budget::charge(counted.len() as u64 * 2 * size_of::<RoleEntry>() as u64);
        let mut entries: Vec<RoleEntry> = counted
            .into_iter()
            .map(|((rtype, role), members)| {
                budget::checkpoint();
                RoleEntry { rtype, role, members }
            })
            .collect();
        // Numbers of roles and of pairs ascend in byte order.
        entries.par_sort_unstable_by_key(|entry| (entry.rtype, entry.role));
        if entries.len() > MOST {
            return entries.into();
        }
        let made = budget::unwatched(|| entries.as_slice().into());
        // Another thread may have been faster; both counted the same.
        Arc::clone(self.roles.get_or_init(|| made))
    }

    fn count_roles(&self) -> RoleCounts {
        let Some(key) = self.osm.key(TYPE) else { return RoleCounts::default() };
        let kind = ElementType::Relation;
        let (types, postings) = (self.osm.pairs_of(key), self.osm.key_postings(kind, key));
        reduce_spans(&self.osm, kind, &postings, SPAN, |list| self.count_roles_in(&types, list), merged)
    }

    /// Counts the roles in the listed relations, whose types are among `types`.
    fn count_roles_in(&self, types: &Range<PairId>, list: &[Ordinal]) -> RoleCounts {
        let kind = ElementType::Relation;
        let mut counted = RoleCounts::default();
        let mut rest = list;
        while let Some(&first) = rest.first() {
            let (page, _) = self.osm.place(kind, first);
            let end = (u64::from(page) + 1) * self.osm.page_size(kind);
            let (here, others) = rest.split_at(rest.partition_point(|&ordinal| ordinal < end));
            let (tags, relations) = (self.osm.tag_page(kind, page), self.osm.relation_page(page));
            for &ordinal in here {
                let slot = self.osm.place(kind, ordinal).1;
                let own = tags.tags(slot);
                let Some(&rtype) = own.iter().find(|pair| types.contains(pair)) else { continue };
                let members = relations.members(slot);
                budget::checkpoints(1 + own.len() + members.len() * 4);
                for member in members {
                    counted.entry((rtype, member.role)).or_default().0[member.kind as usize] += 1;
                }
            }
            rest = others;
        }
        counted
    }
}

impl MemberRoles<'_> {
    /// Returns the number of members of all relations of a type, by the type of the member.
    pub fn members_of(&self, rtype: &str) -> TypeCounts {
        self.osm.pair(TYPE, rtype).map_or_else(TypeCounts::default, |pair| self.sum_of(pair))
    }

    /// Lists the roles in relations that have a type.
    pub fn list(&self, wanted: &RolesWanted<'_>) -> Listed<MemberRole> {
        let RolesWanted { rtype, query, min_fraction, sorting, descending, part } = *wanted;
        let entries = &self.entries;
        let all = match rtype {
            None => 0..entries.len(),
            Some(rtype) => self.osm.pair(TYPE, rtype).map_or(0..0, |pair| self.range_of(pair)),
        };
        let needle = Needle::new(query);
        let (mut first, mut whole) = (PageCollector::new(part), None);
        for at in all {
            budget::checkpoint();
            let RoleEntry { rtype, role, members } = entries[at];
            if needle.fits(self.osm.role(role)).is_none() {
                continue;
            }
            if min_fraction > 0.0 {
                let of_type = match whole {
                    Some((pair, of_type)) if pair == rtype => of_type,
                    _ => self.sum_of(rtype).all(),
                };
                whole = Some((rtype, of_type));
                if fraction(members.all(), of_type) < min_fraction {
                    continue;
                }
            }
            let inverted = |number: u32| if descending { !number } else { number };
            first.push(match sorting {
                RoleSorting::Role => (0, inverted(role), inverted(rtype), at),
                RoleSorting::Type => (0, inverted(rtype), inverted(role), at),
                RoleSorting::Members(which) => (sorted(members.of(which), descending), rtype, role, at),
            });
        }
        first.listed().map(|(.., at)| {
            let RoleEntry { rtype, role, members } = entries[at];
            let role = self.osm.role(role).to_owned();
            MemberRole { rtype: self.osm.with_value(rtype, str::to_owned), role, members }
        })
    }

    fn range_of(&self, rtype: PairId) -> Range<usize> {
        let start = self.entries.partition_point(|entry| entry.rtype < rtype);
        start..start + self.entries[start..].partition_point(|entry| entry.rtype == rtype)
    }

    fn sum_of(&self, rtype: PairId) -> TypeCounts {
        let mut all = TypeCounts::default();
        for entry in &self.entries[self.range_of(rtype)] {
            budget::checkpoint();
            all += entry.members;
        }
        all
    }
}

fn merged(a: RoleCounts, b: RoleCounts) -> RoleCounts {
    let (mut more, less) = if a.len() < b.len() { (b, a) } else { (a, b) };
    for (role, members) in less {
        budget::checkpoint();
        *more.entry(role).or_default() += members;
    }
    more
}
