//! `relation/...` and `relations/...`.

use serde::Serialize;

use super::rows::TYPES;
use super::{ServiceAnswer, TaginfoRequest, TaginfoRow};
use terrapin_osm::ElementType;
use terrapin_tags::{
    MemberRole, MemberRoles, RelationType, RelationTypeSorting, RoleSorting, RolesWanted, RowPage, TypeCounts, Which,
    fraction,
};

/// The share of a type's members from which on a role is prevalent.
const PREVALENT: f64 = 0.01;

#[derive(Serialize)]
struct RelationTypeRow {
    rtype: String,
    count: u64,
    count_fraction: f64,
    prevalent_roles: Vec<PrevalentRole>,
}

impl TaginfoRow for RelationTypeRow {
    const COLUMNS: &'static [&'static str] = &[];
}

#[derive(Serialize)]
struct PrevalentRole {
    role: String,
    count: u64,
    fraction: f64,
}

#[derive(Serialize)]
struct MemberStatsRow {
    r#type: &'static str,
    count: u64,
}

impl TaginfoRow for MemberStatsRow {
    const COLUMNS: &'static [&'static str] = &["type", "count"];
}

#[derive(Serialize)]
struct RoleRow {
    rtype: String,
    /// `None` for the sum of all roles that are not listed.
    role: Option<String>,
    count_all_members: u64,
    count_all_members_fraction: f64,
    count_node_members: u64,
    count_node_members_fraction: f64,
    count_way_members: u64,
    count_way_members_fraction: f64,
    count_relation_members: u64,
    count_relation_members_fraction: f64,
}

impl TaginfoRow for RoleRow {
    const COLUMNS: &'static [&'static str] = &[
        "rtype",
        "role",
        "count_all_members",
        "count_all_members_fraction",
        "count_node_members",
        "count_node_members_fraction",
        "count_way_members",
        "count_way_members_fraction",
        "count_relation_members",
        "count_relation_members_fraction",
    ];
}

impl RoleRow {
    /// Computes the shares of `whole`, the members of all relations of the type.
    fn new(rtype: String, role: Option<String>, members: TypeCounts, whole: TypeCounts) -> RoleRow {
        let share = |kind| fraction(members.0[kind], whole.0[kind]);
        let [count_node_members, count_way_members, count_relation_members] = members.0;
        RoleRow {
            rtype,
            role,
            count_all_members: members.all(),
            count_all_members_fraction: fraction(members.all(), whole.all()),
            count_node_members,
            count_node_members_fraction: share(0),
            count_way_members,
            count_way_members_fraction: share(1),
            count_relation_members,
            count_relation_members_fraction: share(2),
        }
    }
}

#[derive(Serialize)]
struct RoleOfTypeRow {
    role: String,
    rtype: String,
    count_all: u64,
    count_nodes: u64,
    count_ways: u64,
    count_relations: u64,
}

impl TaginfoRow for RoleOfTypeRow {
    const COLUMNS: &'static [&'static str] =
        &["role", "rtype", "count_all", "count_nodes", "count_ways", "count_relations"];
}

/// Answers `relations/all`.
pub fn answer_types(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let sortings = [("rtype", RelationTypeSorting::Name), ("count", RelationTypeSorting::Count)];
    let (sorting, descending) = parameters.sorting(&sortings, (RelationTypeSorting::Count, true))?;
    let listed = request.tags.relation_types(parameters.query(), sorting, descending, parameters.part()?);
    let (roles, all) = (request.tags.member_roles(), request.elements().of(Which::Only(ElementType::Relation)));
    request.answer_page(listed, |RelationType { rtype, relations }| RelationTypeRow {
        prevalent_roles: prevalent_roles(&roles, &rtype),
        rtype,
        count: relations,
        count_fraction: fraction(relations, all),
    })
}

fn prevalent_roles(roles: &MemberRoles<'_>, rtype: &str) -> Vec<PrevalentRole> {
    let wanted = RolesWanted {
        rtype: Some(rtype),
        query: "",
        min_fraction: PREVALENT,
        sorting: RoleSorting::Members(Which::All),
        descending: true,
        part: RowPage::default(),
    };
    let whole = roles.members_of(rtype).all();
    let role = |MemberRole { role, members, .. }| {
        let count = members.all();
        PrevalentRole { role, count, fraction: fraction(count, whole) }
    };
    roles.list(&wanted).rows.into_iter().map(role).collect()
}

/// Answers `relations/roles`.
pub fn answer_roles(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let sortings = [
        ("role", RoleSorting::Role),
        ("rtype", RoleSorting::Type),
        ("count_all", RoleSorting::Members(Which::All)),
        ("count_nodes", RoleSorting::Members(Which::Only(ElementType::Node))),
        ("count_ways", RoleSorting::Members(Which::Only(ElementType::Way))),
        ("count_relations", RoleSorting::Members(Which::Only(ElementType::Relation))),
    ];
    let wanted = roles_wanted(request, &sortings)?;
    request.answer_page(request.tags.member_roles().list(&wanted), |MemberRole { rtype, role, members }| {
        let [count_nodes, count_ways, count_relations] = members.0;
        RoleOfTypeRow { role, rtype, count_all: members.all(), count_nodes, count_ways, count_relations }
    })
}

/// Returns the roles of any type that the request is for, the most frequent first by default.
fn roles_wanted<'a>(
    request: &'a TaginfoRequest<'_>,
    sortings: &[(&str, RoleSorting)],
) -> Result<RolesWanted<'a>, String> {
    let parameters = &request.parameters;
    let (sorting, descending) = parameters.sorting(sortings, (RoleSorting::Members(Which::All), true))?;
    let (query, part) = (parameters.query(), parameters.part()?);
    Ok(RolesWanted { rtype: None, query, min_fraction: 0.0, sorting, descending, part })
}

/// Answers `relation/roles`. If the list is cut by `min_fraction` alone, its first row is the sum of the other roles.
pub fn answer_roles_of_type(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let parameters = &request.parameters;
    let rtype = parameters.needed("rtype")?;
    let sortings = [
        ("role", RoleSorting::Role),
        ("count_all_members", RoleSorting::Members(Which::All)),
        ("count_node_members", RoleSorting::Members(Which::Only(ElementType::Node))),
        ("count_way_members", RoleSorting::Members(Which::Only(ElementType::Way))),
        ("count_relation_members", RoleSorting::Members(Which::Only(ElementType::Relation))),
    ];
    let min_fraction = parameters.fraction("min_fraction")?;
    let wanted = RolesWanted {
        rtype: Some(rtype),
        min_fraction: min_fraction.unwrap_or_default(),
        ..roles_wanted(request, &sortings)?
    };
    let roles = request.tags.member_roles();
    let whole = roles.members_of(rtype);
    let mut listed = roles.list(&wanted).map(|found| (Some(found.role), found.members));
    if min_fraction.is_some() && wanted.query.is_empty() && wanted.part.take.is_none() {
        let mut rest = whole;
        for (_, members) in &listed.rows {
            rest.0.iter_mut().zip(members.0).for_each(|(rest, listed)| *rest -= listed);
        }
        if rest.all() > 0 {
            listed.rows.insert(0, (None, rest));
            listed.total += 1;
        }
    }
    request.answer_page(listed, |(role, members)| RoleRow::new(rtype.to_owned(), role, members, whole))
}

/// Answers `relation/stats`.
pub fn answer_stats(request: &TaginfoRequest<'_>) -> ServiceAnswer {
    let members = request.tags.member_roles().members_of(request.parameters.needed("rtype")?);
    let rows = TYPES.map(|(r#type, which)| MemberStatsRow { r#type, count: members.of(which) });
    request.answer_whole(&rows)
}
